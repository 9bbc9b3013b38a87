"""Imports on the desk: upload, look at what each row would do, confirm, watch, stop, go on."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dialogues import tasks
from dialogues.importing import services, uploads
from dialogues.importing.columns import template_csv
from dialogues.importing.manifest import read_manifest
from dialogues.importing.notes import worded
from dialogues.models import ImportBatch, ImportRow, ProcessingJob
from dialogues.selectors import access_import, desk_imports
from turingsite.desk.corpus_forms import ImportForm
from turingsite.desk.doors import access_desk, tell
from turingsite.desk.paging import newest_first
from turingsite.desk.wake import wake
from turingsite.errors import DomainError, NotFound

SHOWN = 500  # rows on a page
State = ImportBatch.State


@require_safe
def batches(request: HttpRequest) -> HttpResponse:
    access_desk(request.user)
    page = newest_first(request, desk_imports(request.user).select_related("study", "user"))
    return render(request, "desk/imports.html", {"page": page})


def new(request: HttpRequest) -> HttpResponse:
    """Upload; the rows are checked by a worker, and nothing is taken in before somebody confirms."""
    access_desk(request.user)
    form = ImportForm(request.POST or None, request.FILES or None, user=request.user)
    if request.method == "POST" and form.is_valid():
        try:
            made = _take(form, request.user)
        except DomainError as error:
            form.refuse(error)
        else:
            wake(tasks.run_import, made.pk)
            return redirect("admin:desk_import", made.pk)
    context = {"form": form, "title": _("Import dialogues")}
    return render(request, "desk/upload.html", context, status=400 if form.errors else 200)


def _take(form: ImportForm, user: Any) -> ImportBatch:
    upload = uploads.receive(form.cleaned_data["upload"])
    try:
        manifest = read_manifest(upload.manifest, upload.name)
        return services.create_batch(
            name=upload.name,
            manifest=manifest,
            study=form.cleaned_data["study"],
            user=user,
            folder=upload.folder,
            preview=True,
        )
    except BaseException:
        uploads.discard(ImportBatch(folder=upload.folder))
        raise


@require_safe
def template(request: HttpRequest) -> HttpResponse:
    """A manifest to fill in. The mark at its start makes spreadsheets read it as UTF-8."""
    access_desk(request.user)
    response = HttpResponse("\ufeff" + template_csv(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="manifest.csv"'
    return response


@require_safe
def batch(request: HttpRequest, pk: int) -> HttpResponse:
    """An import's rows and what becomes of them; renews itself while a worker is at it."""
    found = access_import(pk, request.user)
    counts = services.tally(found.pk)
    total, pending = sum(counts.values()), counts.get(ImportRow.State.PENDING, 0)
    state = request.GET.get("state", "")
    rows = found.rows.select_related("dialogue").order_by("line")
    if state in ImportRow.State.values:
        rows = rows.filter(state=state)
    jobs = _jobs(found)
    questions = [m for m in _messages(found) if m["level"] == "question"]
    context = {
        "batch": found,
        "mine": request.user.is_superuser or found.user_id == request.user.pk,
        "busy": found.state in (State.QUEUED, State.RUNNING)
        or (found.state == State.PREVIEW and pending > 0),
        "checked": found.state == State.PREVIEW and pending == 0,
        "total": total,
        "done": total - pending,
        "counts": [(s.value, s.label, counts[s.value]) for s in ImportRow.State if counts.get(s.value)],
        "good": sum(counts.get(s, 0) for s in ("accepted", "warned", "unchanged")),
        "trouble": worded({"message": found.trouble}) if found.trouble else "",
        "notes": [worded(note) for note in found.notes],
        "questions": len(questions),
        "jobs": jobs,
        "state": state,
        "rows": [
            {
                "row": row,
                "messages": [worded(m) for m in row.messages if m["message"]],
                "asks": bool(questions) and any(m["level"] == "question" for m in row.messages),
            }
            for row in rows[:SHOWN]
        ],
        "more": total > SHOWN,
        "shown": SHOWN,
    }
    return render(request, "desk/import.html", context)


def _jobs(found: ImportBatch) -> dict[str, int]:
    """Of a finished import: how many of its dialogues have sound, how many are processed, how many failed."""
    if found.state not in (State.DONE, State.STOPPED):
        return {"total": 0, "done": 0, "failed": 0, "waiting": 0}
    jobs = ProcessingJob.objects.filter(dialogue__in=found.rows.exclude(dialogue=None).values("dialogue"))
    counts = jobs.aggregate(
        total=Count("pk"),
        done=Count("pk", filter=Q(state=ProcessingJob.State.DONE)),
        failed=Count("pk", filter=Q(state=ProcessingJob.State.FAILED)),
    )
    return {**counts, "waiting": counts["total"] - counts["done"] - counts["failed"]}


def _messages(found: ImportBatch) -> list[dict[str, Any]]:
    if found.state != State.PREVIEW:
        return []
    refused = found.rows.filter(state=ImportRow.State.REFUSED).values_list("messages", flat=True)
    return [message for stored in refused for message in stored]


@require_POST
def step(request: HttpRequest, pk: int, step: str) -> HttpResponse:
    """Confirm, stop, or go on; by whoever uploaded it, or an operator."""
    found = access_import(pk, request.user)
    if not request.user.is_superuser and found.user_id != request.user.pk:
        raise NotFound("no_import", _("There is no such import."))
    try:
        if step == "confirm":
            create = request.POST.get("create_systems") == "yes"
            services.confirm_batch(batch=found, user=request.user, create_systems=create)
        elif step == "stop":
            services.stop_batch(batch=found, user=request.user)
        elif step == "resume" and found.folder:
            services.resume_batch(batch=found, user=request.user)
        else:
            raise NotFound("no_step", _("There is nothing at this address."))
    except NotFound:
        raise
    except DomainError as error:
        tell(request, error)
    else:
        if step != "stop":
            wake(tasks.run_import, found.pk)
    return redirect("admin:desk_import", pk)
