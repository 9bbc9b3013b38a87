"""Reference sets on the desk: proposed from reviewed dialogues with one click, made with the second."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import AnnotationSettings, ReferenceDialogue
from annotation.proposing import lacking, propose, reviewed_dialogues
from annotation.services.material import tries_by_language
from annotation.services.references import activate, make_reference, retire
from annotation.services.settings import settings_of
from dialogues.models import Dialogue
from studies.models import Language, Study
from studies.selectors import access_desk_study
from turingsite.desk.annotation_forms import ProposalForm
from turingsite.desk.doors import access_managed_study, manages, sees_outcomes, tell
from turingsite.errors import DomainError


def references(request: HttpRequest, slug: str) -> HttpResponse:
    """Dialogues with known scores: for calibration, and as gold items among the work."""
    study = access_desk_study(slug, request.user)
    settings = settings_of(study)
    settings.study = study
    if request.method == "POST":
        _changed(request, access_managed_study(slug, request.user))
        return redirect("admin:desk_references", slug)
    form = ProposalForm(request.GET or None, calibrates=settings.calibration)
    manager = manages(request.user, study)
    rows = ReferenceDialogue.objects.filter(study=study).select_related("dialogue", "added_by")
    context: dict[str, Any] = {
        "study": study,
        "title": _("Reference sets"),
        "manages": manager,
        "settings": settings,
        "rows": rows.order_by("-is_active", "role", "-added_at", "-pk"),
        "tries": [(Language(code).label, one) for code, one in tries_by_language(settings).items()],
    }
    if manager and "role" in request.GET and form.is_valid():
        context |= _proposal(request, settings, form)
    elif manager:
        context["reviewed"] = reviewed_dialogues(settings).count()
    return render(request, "desk/references.html", context)


def _proposal(request: HttpRequest, settings: AnnotationSettings, form: ProposalForm) -> dict[str, Any]:
    """What the first click shows. The share against the truth is an outcome: hidden while the study runs."""
    n = form.cleaned_data["n"] or settings.calibration_dialogues
    role = ReferenceDialogue.Role(form.cleaned_data.get("role") or ReferenceDialogue.Role.CALIBRATION)
    if not settings.calibration:  # nobody would be given them
        role = ReferenceDialogue.Role.GOLD
    found = propose(settings, n)
    return {
        "form": ProposalForm({"n": n, "role": role}, calibrates=settings.calibration),
        "role": role,
        "asked": n * len(settings.study.languages),
        "proposal": found,
        "enough": not lacking(found.candidates, settings.calibration_against),
        "share": 100 * found.share
        if found.share is not None and sees_outcomes(request, settings.study)
        else None,
        "wanted": 100 * settings.calibration_against,
        "reviewed": found.pool,
    }


def _changed(request: HttpRequest, study: Study) -> None:
    do = request.POST.get("do", "")
    if do == "make":
        _make(request, study)
        return
    found = ReferenceDialogue.objects.filter(study=study, dialogue__code=request.POST.get("code", "")).first()
    if found is None:
        return
    try:
        (retire if do == "retire" else activate)(reference=found, user=request.user)
    except DomainError as error:
        tell(request, error)
    else:
        words = _("Out of use: %(code)s.") if do == "retire" else _("In use again: %(code)s.")
        messages.success(request, words % {"code": found.dialogue.external_id})


def _make(request: HttpRequest, study: Study) -> None:
    """The second click: make references of what was proposed, as far as it still holds."""
    dialogues = Dialogue.objects.filter(code__in=request.POST.getlist("dialogue")[:1000]).order_by("pk")
    try:
        made = make_reference(
            study=study, dialogues=dialogues, role=request.POST.get("role", ""), user=request.user
        )
    except DomainError as error:
        tell(request, error)
        return
    n = len(made.references)
    if n:
        words = ngettext("%(n)s reference is made.", "%(n)s references are made.", n)
        messages.success(request, words % {"n": n})
    names = {one.code: one.external_id for one in dialogues}
    for code, reason in made.refused.items():
        messages.error(request, f"{names.get(code, code)}: {reason}")
