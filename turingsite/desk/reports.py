"""A study's reports on a page and as files, and its export."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from dialogues.models import Verdict
from studies.exports import DEFAULT_TIER, EXPORT_TIERS, export_study
from studies.figures import PICTURES
from studies.models import Language
from studies.plans import headline
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, access_report, run_report
from studies.selectors import access_desk_study
from studies.services.running import note_reading
from turingsite.desk.doors import confirm_look, manages, sees_outcomes
from turingsite.desk.report_parts import picture_file, tables_of
from turingsite.desk.wording import REASONS, called

SETS = {
    "all": gettext_lazy("all valid"),
    "published": gettext_lazy("finished rounds (published)"),
    "first_round": gettext_lazy("first round"),
    "per_protocol": gettext_lazy("per protocol"),
}
OUTCOMES = "verdicts"  # a report that is given this table shows what people said
TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def report(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """One report: figures, tables, how each is computed; the same function as the command's."""
    study = access_desk_study(slug, request.user)
    kind = access_report(key)
    asked = request.GET.get("set", "")
    language = request.GET.get("language", "")
    options = Options(
        analysis_set=asked if asked in ANALYSIS_SETS else headline(study),
        language=language if language in Language.values else "",
    )
    context: dict[str, Any] = {
        "study": study,
        "title": kind.title,
        "key": key,
        "options": options,
        "set_words": SETS.get(options.analysis_set, options.analysis_set),
        "sets": [(name, SETS.get(name, name)) for name in ANALYSIS_SETS],
        "languages": [("", _("pooled")), *Language.choices],
        "query": request.GET.urlencode(),
        "outcomes": OUTCOMES in kind.datasets,
        "n": Verdict.objects.filter(study=study, exclusion="").count(),
    }
    outcomes = OUTCOMES in kind.datasets
    if outcomes and not sees_outcomes(request, study):
        return render(request, "desk/report.html", {**context, "blind": True})
    result = run_report(key, study, options)
    if outcomes:
        note_reading(
            study=study,
            report=key,
            analysis_set=options.analysis_set,
            verdicts=result.basis.n,
            user=request.user,
        )
    wanted = request.GET.get("format", "")
    if wanted in FORMATS:
        response = HttpResponse(FORMATS[wanted](result), content_type=f"{TYPES[wanted]}; charset=utf-8")
        return _named(response, slug, key, options.analysis_set, ending=wanted)
    if wanted in PICTURES:
        figure, picture, kind_of_file = picture_file(result, wanted, request.GET.get("figure", ""))
        response = HttpResponse(picture, content_type=kind_of_file)
        return _named(response, slug, key, figure.key, options.analysis_set, ending=wanted)
    shown = {
        "result": result,
        "left_out": [(called(REASONS, reason), n) for reason, n in result.basis.excluded.items()],
        "tables": tables_of(result),
        "pictures": PICTURES,
        "formats": list(FORMATS),
        "all_open": request.GET.get("tables") == "open",
    }
    return render(request, "desk/report.html", {**context, **shown})


def _named(response: HttpResponse, *parts: str, ending: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{"-".join(parts)}.{ending}"'
    return response


@require_POST
def export(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The study's export as a zip, made now. Recruiter ids and nicknames only for those who manage it."""
    study = access_desk_study(slug, request.user)
    tier = request.POST.get("tier", DEFAULT_TIER)
    if tier not in EXPORT_TIERS or (tier == "internal" and not manages(request.user, study)):
        messages.error(request, _("This export is not for you to make."))
        return redirect("admin:desk_study", slug)
    if (asked := confirm_look(request, study)) is not None:
        return asked
    folder = Path(settings.EXPORT_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{study.slug}-{timezone.now():%Y%m%d-%H%M%S}-{tier}.zip"
    with tempfile.NamedTemporaryFile(
        dir=folder, prefix=f"{study.slug}-", suffix=".zip", delete=False
    ) as place:
        path = Path(place.name)
    try:
        export_study(study=study, path=path, tier=tier, bom=True, user=request.user)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return FileResponse(path.open("rb"), as_attachment=True, filename=name)
