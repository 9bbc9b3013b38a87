"""Annotators on the desk: the list with figures and flags, one person's sheet, pay as a file."""

from __future__ import annotations

import csv
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.models import Annotator
from annotation.selectors_raters import access_annotator, pay_of, rows_of, total_of
from annotation.services.pausing import pause, resume
from annotation.services.quality import another_try, set_aside, take_back
from annotation.services.settings import settings_of
from studies.cells import written
from studies.models import Study
from studies.selectors import access_desk_study
from turingsite.desk.annotation_forms import ReasonForm
from turingsite.desk.annotator_sheet import sheet_context
from turingsite.desk.doors import access_managed_study, manages, sees_outcomes, tell
from turingsite.errors import DomainError

PAY_COLUMNS = (
    ("code", "string"), ("arm", "string"), ("state", "string"), ("account", "string"),
    ("invitation", "string"), ("recruiter_id", "string"), ("dialogues", "integer"),
    ("active_minutes", "number"),
    ("minutes_per_dialogue", "number"), ("rate_per_hour", "number"), ("pay", "number"),
    ("currency", "string"),
)  # fmt: skip


@require_safe
def annotators(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who annotates, with what their work looks like. Nothing of it needs the truth."""
    study = access_desk_study(slug, request.user)
    settings = settings_of(study)
    settings.study = study
    rows = rows_of(settings)
    context = {
        "study": study,
        "title": _("Annotators"),
        "manages": manages(request.user, study),
        "settings": settings,
        "rows": rows,
        "total": total_of(settings, [row.pay for row in rows]),
        "flagged": sum(bool(row.flags) for row in rows),
    }
    return render(request, "desk/annotators.html", context)


@require_safe
def pay(request: HttpRequest, slug: str) -> HttpResponse:
    """Minutes and pay of everybody as CSV; no cell can be run by a spreadsheet.

    What a recruiter or an account calls somebody is for those who manage the study alone: they pay.
    """
    study = access_desk_study(slug, request.user)
    settings = settings_of(study)
    settings.study = study
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-annotators.csv"'
    writer = csv.writer(response)
    writer.writerow([name for name, _kind in PAY_COLUMNS])
    rate = settings.rate_per_hour
    manager = manages(request.user, study)
    for one in pay_of(settings):
        row: list[Any] = [
            one.annotator.participant.code, one.annotator.layer, *_who(one.annotator, named=manager),
            one.dialogues, round(one.minutes, 2),
            None if one.per_dialogue is None else round(one.per_dialogue, 2),
            None if rate is None else float(rate),
            None if one.amount is None else float(one.amount), study.currency,
        ]  # fmt: skip
        cells = zip(row, PAY_COLUMNS, strict=True)
        writer.writerow([written(value, kind) for value, (_name, kind) in cells])
    return response


def _who(person: Annotator, *, named: bool) -> tuple[str, str, str, str]:
    """State, account, invitation and recruiter's id of somebody who is paid."""
    state = "set_aside" if person.set_aside_at else "paused" if person.paused_at else person.state
    participant = person.participant
    account = participant.user.get_username() if named and participant.user else ""
    label = person.invitation.label if person.invitation else ""
    return str(state), account, label, participant.recruiter_key if named else ""


def annotator(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """One person's sheet; pausing, setting aside, letting try again."""
    study = access_desk_study(slug, request.user)
    form = ReasonForm()
    if request.method == "POST":
        study = access_managed_study(slug, request.user)
        form = ReasonForm(request.POST)
        if _done(request, access_annotator(study, code), form):
            return redirect("admin:desk_annotator", slug, code)
    return _sheet(request, study, code, form)


def _sheet(request: HttpRequest, study: Study, code: str, form: ReasonForm) -> HttpResponse:
    settings = settings_of(study)
    settings.study = study
    person = access_annotator(study, code)
    context = {
        "study": study,
        "title": person.participant.code,
        "zone": study.time_zone,
        "manages": manages(request.user, study),
        "settings": settings,
        "form": form,
        "asked": request.POST.get("do", ""),
        "open": sees_outcomes(request, study),
        **sheet_context(settings, person, ZoneInfo(study.time_zone)),
    }
    return render(request, "desk/annotator.html", context, status=400 if form.errors else 200)


def _done(request: HttpRequest, person: Annotator, form: ReasonForm) -> bool:
    """Do what was asked; False where a reason is missing, which the form then says."""
    do = request.POST.get("do", "")
    try:
        if do in ("pause", "set_aside"):
            if not form.is_valid():
                return False
            words = _with_reason(do, person, request.user, form.cleaned_data["reason"])
        else:
            words = _without_reason(do, person, request.user)
    except DomainError as error:
        if "reason" in error.fields:
            form.refuse(error)
            return False
        tell(request, error)
        return True
    if words:
        messages.success(request, words)
    return True


def _with_reason(do: str, person: Annotator, user: Any, reason: str) -> str:
    if do == "pause":
        pause(annotator=person, user=user, reason=reason)
        return _("Paused. The person reads your words when they come back.")
    done = set_aside(annotator=person, user=user, reason=reason)
    words = _("Dialogues set aside: %(items)s. Places that others will fill again: %(places)s.")
    return words % done._asdict()


def _without_reason(do: str, person: Annotator, user: Any) -> str:
    if do == "resume":
        resume(annotator=person, user=user)
        return _("The person can go on.")
    if do == "again":
        another_try(annotator=person, user=user)
        return _("The person can try once more.")
    if do != "take_back":
        return ""
    done = take_back(annotator=person, user=user)
    words = _("%(items)s dialogues are analysed again.") % {"items": done.items}
    if done.given_away:
        words += " " + _("%(n)s are not: others have filled their places.") % {"n": done.given_away}
    return words
