"""Freezing asks twice: the draft is saved, its file shown with the hash, and frozen as it was shown."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from studies import plans
from studies.models import Study
from studies.outcomes import apart, counts_of
from studies.services import freeze_plan, save_draft, to_be_frozen
from turingsite.desk.doors import tell
from turingsite.desk.plan_forms import FreezeForm, PlanForm
from turingsite.errors import Conflict, DomainError

#: Seconds for which what was shown may be frozen.
SHOWN_FOR = 600
#: What the plan says, in English like its file, where its target is no longer the planner's.
BY_HAND = "The target was changed by hand afterwards."


def saved(request: HttpRequest, study: Study, form: PlanForm) -> bool:
    """Save the draft as the form has it; False with the rule's answer beside the fields."""
    try:
        save_draft(study=study, content=_marked(study, form.cleaned_data), user=request.user)
    except DomainError as error:
        form.refuse(error)
        return False
    return True


def asked(request: HttpRequest, study: Study, form: PlanForm, freeze: FreezeForm) -> HttpResponse | None:
    """The page that shows what would be frozen; ``None`` with the rule's answer beside the fields."""
    reason, at = freeze.cleaned_data["reason"], timezone.now()
    verdicts, others = apart(counts_of(study))
    try:
        draft = to_be_frozen(study=study, verdicts=verdicts, others=others, reason=reason, now=at)
    except DomainError as error:
        (freeze if set(error.fields) & set(freeze.fields) else form).refuse(error)
        return None
    shown = {
        "at": at.isoformat(),
        "n": verdicts,
        "others": others,
        "reason": reason,
        "sha256": draft.sha256,
    }
    context = {
        "study": study,
        "title": _("Freeze the plan"),
        "draft": draft,
        "shown": signing.dumps(shown, salt=_salt(study)),
    }
    return render(request, "desk/plan_freeze.html", context)


def confirmed(request: HttpRequest, study: Study) -> HttpResponse:
    """Freeze what was shown, with its time and hash; nothing where it would be another file by now."""
    try:
        _freeze(study, request.POST.get("shown", ""), request.user)
    except DomainError as error:
        tell(request, error)
    else:
        messages.success(request, _("The plan is frozen. Every report names it from now on."))
    return redirect("admin:desk_plan", study.slug)


def _freeze(study: Study, token: str, user: Any) -> None:
    again = Conflict("moved_on", _("The plan or the study has changed meanwhile. Read it again."))
    try:
        shown = signing.loads(token, salt=_salt(study), max_age=SHOWN_FOR)
    except signing.BadSignature as problem:
        raise again from problem
    # More answers are no other plan, but the first ones make it exploratory.
    none = not any((shown["n"], *shown.get("others", {}).values()))
    if none and any(counts_of(study).values()):
        raise again
    freeze_plan(
        study=study,
        verdicts=shown["n"],
        others=shown.get("others"),
        reason=shown["reason"],
        agreed=shown["sha256"],
        user=user,
        now=datetime.fromisoformat(shown["at"]),
    )


def _marked(study: Study, content: dict[str, Any]) -> dict[str, Any]:
    """``content``, marked where a target that was planned is changed and the note on it is not."""
    before = plans.content_of(plans.draft_of(study) or plans.frozen_plan(study))
    note = "\n".join(content["planning"].strip().splitlines())
    moved = any(content[key] != before[key] for key in ("target_n", "target_by"))
    if moved and note and note == before["planning"] and BY_HAND not in note:
        return {**content, "planning": f"{note}\n{BY_HAND}"}
    return content


def _salt(study: Study) -> str:
    return f"plan.freeze.{study.pk}"
