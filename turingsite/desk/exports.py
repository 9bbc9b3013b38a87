"""A study's exports on the desk: ask for one, see how far it is, stop it, fetch it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from studies import tasks
from studies.export_jobs import access_export, fetch, file_name, is_small, path_of, request_export, run, stop
from studies.exported import withheld_in
from studies.exports import DEFAULT_TIER, EXPORT_TIERS
from studies.models import ExportJob, Study
from studies.selectors import access_desk_study
from studies.sheets import FORMATS
from turingsite.desk.doors import confirm_look, manages, tell
from turingsite.desk.paging import newest_first
from turingsite.desk.wake import wake
from turingsite.errors import DomainError, NotFound

TIERS = {
    "controlled": (
        gettext_lazy("For people who signed for it"),
        gettext_lazy("Exact times and full profiles under random codes. No nicknames, no recruiter ids."),
    ),
    "public": (
        gettext_lazy("Fit to publish"),
        gettext_lazy(
            "Days in the place of times; profiles coarsened until each is shared by five people. "
            "Free text only of people who agreed to its publication."
        ),
    ),
    "internal": (
        gettext_lazy("For your team alone"),
        gettext_lazy("With nicknames and recruiter ids: people can be recognised. Never pass it on."),
    ),
}
KINDS = {
    "csv": ("CSV", gettext_lazy("for spreadsheets and every program")),
    "jsonl": ("JSON Lines", gettext_lazy("an object a line, text as it is")),
    "parquet": ("Parquet", gettext_lazy("typed columns, for R, Python and databases")),
}


@require_safe
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    """What can be exported, in plain words, and the exports there are; renews itself while one is made."""
    study = access_desk_study(slug, request.user)
    page = newest_first(
        request, _seen_by(request.user, study).select_related("file", "requested_by", "study")
    )
    may_manage = manages(request.user, study)
    context = {
        "study": study,
        "title": _("Exports"),
        "tiers": [(key, *TIERS[key]) for key in TIERS if key != "internal" or may_manage],
        "default": DEFAULT_TIER,
        "kinds": [(key, *KINDS[key]) for key in FORMATS],
        "languages": [one for one in study.languages if len(study.languages) > 1],
        "page": page,
        "rows": [_row(job) for job in page.rows],
        "busy": any(job.state in ExportJob.LIVE for job in page.rows),
    }
    return render(request, "desk/exports.html", context)


def _seen_by(user: Any, study: Study) -> QuerySet[ExportJob]:
    """Colleagues neither make nor fetch the internal tier, so they do not see it either."""
    jobs = ExportJob.objects.filter(study=study)
    return jobs if manages(user, study) else jobs.exclude(tier="internal")


def _row(job: ExportJob) -> dict[str, Any]:
    return {
        "job": job,
        "tier": TIERS[job.tier][0],
        "formats": ", ".join(KINDS[one][0] for one in job.formats.split(",")),
        "done": f"{job.rows_done:,}",
        "total": f"{job.rows_total:,}",
        "withheld": withheld_in(path_of(job)) if job.tier == "public" and job.can_be_fetched else None,
        "stale": job.file is not None and job.file.stale_since is not None,
        "live": job.state in ExportJob.LIVE,
        "error": _(job.error) if job.error else "",
        "percent": min(100, 100 * job.rows_done // job.rows_total) if job.rows_total else 0,
    }


@require_POST
def make(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Make an export: at once where it is small, else by a worker. Some tiers only for who manages it."""
    study = access_desk_study(slug, request.user)
    tier = request.POST.get("tier", DEFAULT_TIER)
    if tier not in EXPORT_TIERS or (tier == "internal" and not manages(request.user, study)):
        messages.error(request, _("This export is not for you to make."))
        return redirect("admin:desk_study", slug)
    if (asked := confirm_look(request, study)) is not None:
        return asked
    try:
        job = request_export(
            study=study,
            tier=tier,
            formats=[one for one in FORMATS if request.POST.get(one)] or ["csv"],
            bom=request.POST.get("bom", "yes") == "yes",
            language=request.POST.get("language", ""),
            user=request.user,
        )
    except DomainError as error:
        tell(request, error)
        return redirect("admin:desk_exports", slug)
    if not is_small(job):
        wake(tasks.run_export, job.pk)
        return redirect("admin:desk_exports", slug)
    ended = run(job_id=job.pk)
    if ended is None or ended.state != ExportJob.State.DONE:
        messages.error(request, _(ended.error) if ended and ended.error else _("The export was not made."))
        return redirect("admin:desk_exports", slug)
    return _handed_out(request, ended)


@require_POST
def cancel(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    job = _access(request, slug, code)
    try:
        stop(job=job, user=request.user)
    except DomainError as error:
        tell(request, error)
    return redirect("admin:desk_exports", slug)


@require_safe
def download(request: HttpRequest, slug: str, code: str) -> HttpResponseBase:
    """The file, to whoever may have its tier; not once it is out of date."""
    job = _access(request, slug, code)
    try:
        return _handed_out(request, job)
    except DomainError as error:
        tell(request, error)
        return redirect("admin:desk_exports", slug)


def _handed_out(request: HttpRequest, job: ExportJob) -> FileResponse:
    path: Path = fetch(job=job, user=request.user)
    return FileResponse(path.open("rb"), as_attachment=True, filename=file_name(job))


def _access(request: HttpRequest, slug: str, code: str) -> ExportJob:
    study = access_desk_study(slug, request.user)
    job = access_export(study, code)
    if job.tier == "internal" and not manages(request.user, study):
        raise NotFound("no_export", _("There is no such export."))
    return job
