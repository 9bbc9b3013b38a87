"""The plan on the desk: draft, freezing, file, how far the target is, who looked; the soft launch."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from dialogues.targets import cells_of, outcomes_open
from games.speech.funnel import listening_of, technical_of
from studies import plans
from studies.looks import is_early, looks_of
from studies.models import AuditLine, Plan, Study
from studies.outcomes import counted_in, counted_words
from studies.pay import pay_of
from studies.registry import reports
from studies.selectors import access_desk_study, opening_problems, soft_launched
from studies.services import discard_draft
from studies.services.launching import paused_by_soft_launch, people_of_launch
from turingsite.desk.doors import access_managed_study, manages
from turingsite.desk.plan_forms import FreezeForm, PlanForm
from turingsite.desk.plan_freezing import asked, confirmed, saved
from turingsite.desk.reports import SETS
from turingsite.desk.wording import ACTORS, DEVICES, GATES, called
from turingsite.errors import NotFound

HOW_SEEN = {
    "study.looked_early": gettext_lazy("looked early"),
    "group.watched": gettext_lazy("opened a group game"),
    "report.read": gettext_lazy("read a report"),
    "study.exported": gettext_lazy("made an export"),
    "export.fetched": gettext_lazy("fetched an export"),
}


def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """The plan that holds, its draft, the target by cell, every early look."""
    study = access_desk_study(slug, request.user)
    form = freeze = None
    if request.method == "POST":
        study = access_managed_study(slug, request.user)
        if request.POST.get("do") in ("discard", "discarded"):
            return _discarding(request, study)
        if request.POST.get("do") == "frozen":
            return confirmed(request, study)
        freezing = request.POST.get("do") == "freeze"
        form, freeze = PlanForm(request.POST), FreezeForm(request.POST)
        if form.is_valid() and freeze.is_valid() and saved(request, study, form):
            answer = asked(request, study, form, freeze) if freezing else None
            if answer is not None:
                return answer
            if not freezing:
                messages.success(request, _("The draft is saved. Nothing is fixed before you freeze it."))
                return redirect("admin:desk_plan", slug)
    return _plan(request, study, form, freeze)


def _discarding(request: HttpRequest, study: Study) -> HttpResponse:
    """Throwing a draft away asks first; nothing where there is none by now."""
    draft = plans.draft_of(study)
    if draft is not None and request.POST["do"] == "discard":
        context = {"study": study, "title": _("Throw the draft away"), "draft": draft}
        return render(request, "desk/plan_discard.html", context)
    if draft is not None:
        discard_draft(study=study, user=request.user)
        messages.success(request, _("The draft is thrown away."))
    return redirect("admin:desk_plan", study.slug)


def _plan(
    request: HttpRequest, study: Study, form: PlanForm | None, freeze: FreezeForm | None
) -> HttpResponse:
    draft, frozen = plans.draft_of(study), plans.frozen_plan(study)
    content = plans.content_of(draft or frozen)
    holds = plans.content_of(frozen)
    cells = cells_of(study, holds["target_by"], holds["analysis_set"]) if holds["target_n"] else []
    zone, seen = ZoneInfo(study.time_zone), looks_of(study)
    context = {
        "study": study,
        "title": _("Plan"),
        "manages": manages(request.user, study),
        "draft": draft,
        "frozen": frozen,
        "note": plans.note_of(study),
        "content": _in_words(holds) if frozen is not None else [],
        "form": form or PlanForm(initial=content),
        "freeze_form": freeze or FreezeForm(),
        "open_form": draft is not None or frozen is None or form is not None,
        "next_version": draft.version if draft else frozen.version + 1 if frozen else 1,
        "missing": [plans.LABELS[key] for key in plans.NEEDED if not str(content[key]).strip()],
        "versions": study.plans.frozen(),
        "cells": cells,
        "target_n": holds["target_n"],
        "visible": outcomes_open(study),
        "looks": [_seen(line, zone) for line in seen if is_early(line)],
        "readings": [_seen(line, zone) for line in seen if not is_early(line)],
    }
    wrong = any(one is not None and one.errors for one in (form, freeze))
    return render(request, "desk/plan.html", context, status=400 if wrong else 200)


def _seen(line: AuditLine, zone: ZoneInfo) -> dict[str, Any]:
    what = line.target if line.action == "report.read" else ""
    return {
        "at": line.at.astimezone(zone).strftime("%Y-%m-%d %H:%M"),
        "who": str(line.actor) if line.actor else called(ACTORS, line.actor_kind),
        "how": HOW_SEEN[line.action],
        "what": reports.get(what).title if what in reports else _("Verdicts") if what else "",
        "closed": line.detail.get("status") == Study.Status.CLOSED,
        "n": line.detail.get("n", ""),
        "counted": counted_words(counted_in(line)),
    }


def _in_words(content: dict[str, Any]) -> list[tuple[Any, Any]]:
    """The plan that holds, as rows of label and words."""
    words = {
        **content,
        "outcome": plans.outcomes().get(content["outcome"], content["outcome"]),
        "analysis_set": SETS.get(content["analysis_set"], content["analysis_set"]),
        "families": "; ".join(str(plans.families().get(one, one)) for one in content["families"]),
        "target_by": plans.CELLS[content["target_by"]],
        "target_n": content["target_n"] or "",
    }
    return [(plans.LABELS[key], words[key]) for key in plans.EMPTY if words[key] not in ("", None)]


@require_safe
def plan_file(request: HttpRequest, slug: str, version: int) -> HttpResponse:
    """The file of a frozen version, byte for byte what its hash was taken of."""
    study = access_desk_study(slug, request.user)
    found: Plan | None = study.plans.frozen().filter(version=version).first()
    if found is None:
        raise NotFound("no_page", _("There is nothing at this address."))
    response = HttpResponse(found.markdown.encode(), content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-plan-v{version}.md"'
    return response


@require_safe
def soft_launch(request: HttpRequest, slug: str) -> HttpResponse:
    """How the first people fared: what to look at before the study opens. No outcomes."""
    study = access_desk_study(slug, request.user)
    people = people_of_launch(study)
    technical = technical_of(study, people)
    context = {
        "study": study,
        "title": _("Soft launch"),
        "manages": manages(request.user, study),
        "problems": opening_problems(study),
        "technical": technical,
        "gates": [(called(GATES, gate), n) for gate, n in technical.gates.items()],
        "devices": [(called(DEVICES, name) or _("unknown"), n) for name, n in technical.devices.items()],
        "minutes": listening_of(study, people).minutes,
        **beside_study(study),
        "pay": pay_of(study, people),
    }
    return render(request, "desk/plan_soft_launch.html", context)


def beside_study(study: Study) -> dict[str, Any]:
    """What the study's page says of plan, soft launch and pay."""
    pay = pay_of(study)
    return {
        "plan_note": plans.note_of(study),
        "plan_draft": plans.draft_of(study),
        "launched": soft_launched(study),
        "soft_launch_done": paused_by_soft_launch(study),
        "pay": pay,
        "underpaid": [row for row in pay if row.below],
    }
