"""The annotation of a study on the desk: how far it is, its settings, its invitations."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from annotation.models import AnnotationSettings, ReferenceDialogue
from annotation.selectors_desk import (
    LayerProgress,
    annotator_counts,
    invitations_of,
    problems_of,
    progress_of,
)
from annotation.services.annotators import ACTIVITY
from annotation.services.everybody import let_everybody, why_settled
from annotation.services.invitations import close_invitation, make_invitation
from annotation.services.settings import change_annotation_settings, prepare, settings_of
from studies.models import Study
from studies.selectors import access_desk_study
from turingsite.desk.annotation_forms import AnnotationForm, InvitationForm
from turingsite.desk.doors import access_managed_study, manages, tell
from turingsite.errors import DomainError


def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """How far the raters are and what stands against it; where nothing is set up, the button to do so."""
    study = access_desk_study(slug, request.user)
    if request.method == "POST":
        prepare(access_managed_study(slug, request.user), user=request.user)
        messages.success(request, _("The annotation is set up, with the settings of the protocol."))
        return redirect("admin:desk_annotation", slug)
    settings = AnnotationSettings.objects.select_related("taxonomy").filter(study=study).first()
    context: dict[str, Any] = {
        "study": study,
        "title": _("Annotation"),
        "manages": manages(request.user, study),
        "settings": settings,
    }
    if settings is not None:
        settings.study = study
        context |= _standing(settings)
    return render(request, "desk/annotation.html", context)


def _standing(settings: AnnotationSettings) -> dict[str, Any]:
    progress = progress_of(settings)
    references = ReferenceDialogue.objects.filter(study=settings.study, is_active=True)
    return {
        "progress": progress,
        "layers": [(layer, _bars(layer)) for layer in progress.layers],
        "problems": problems_of(settings),
        "people": annotator_counts(settings.study),
        "invitations": sum(one.closed_at is None for one, _n in invitations_of(settings.study)),
        "references": [(role.label, references.filter(role=role).count()) for role in ReferenceDialogue.Role],
    }


def _bars(layer: LayerProgress) -> list[dict[str, Any]]:
    """Dialogues by how many raters have finished them, as rows with a bar."""
    total = sum(layer.counts)
    return [
        {"raters": n, "dialogues": count, "width": f"{100 * count / total if total else 0:.1f}%"}
        for n, count in enumerate(layer.counts)
    ]


def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """How the study annotates; what is fixed once people work says so."""
    study = access_managed_study(slug, request.user)
    found = settings_of(study)
    found.study = study
    if "everybody" in request.POST:
        return _everybody(request, study)
    form = AnnotationForm(request.POST if request.method == "POST" else None, instance=found)
    if request.method == "POST" and form.is_valid():
        try:
            change_annotation_settings(study=study, user=request.user, **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, _("Saved."))
            return redirect("admin:desk_annotation", slug)
    context = {
        "study": study,
        "title": _("Annotation settings"),
        "form": form,
        "settings": found,
        "everybody": ACTIVITY in study.activities,
        "settled": why_settled(study),
    }
    return render(request, "desk/annotation_settings.html", context, status=400 if form.errors else 200)


def _everybody(request: HttpRequest, study: Study) -> HttpResponse:
    """Annotation becomes an activity of everybody, or of invited people alone."""
    try:
        let_everybody(study=study, annotate=request.POST["everybody"] == "yes", user=request.user)
    except DomainError as error:
        tell(request, error)
    else:
        messages.success(request, _("Saved."))
    return redirect("admin:desk_annotation_settings", study.slug)


def invitations(request: HttpRequest, slug: str) -> HttpResponse:
    """Links by which people become annotators: make one, copy it, close it."""
    study = access_desk_study(slug, request.user)
    settings_of(study)
    form = InvitationForm()
    if request.method == "POST":
        study = access_managed_study(slug, request.user)
        form, done = _changed(request, study)
        if done:
            return redirect("admin:desk_annotation_invitations", slug)
    return _invitations(request, study, form)


def _changed(request: HttpRequest, study: Study) -> tuple[InvitationForm, bool]:
    """Make or close one, as asked; the form with what was wrong, and whether something was done."""
    code = request.POST.get("close", "")
    form = InvitationForm(None if code else request.POST)
    try:
        if code:
            close_invitation(study=study, code=code, user=request.user)
            messages.success(request, _("The invitation is closed."))
            return form, True
        if form.is_valid():
            make_invitation(study=study, user=request.user, **form.cleaned_data)
            messages.success(request, _("The invitation is made. Copy its link and send it."))
            return form, True
    except DomainError as error:
        if code:
            tell(request, error)
            return form, True
        form.refuse(error)
    return form, False


def _invitations(request: HttpRequest, study: Study, form: InvitationForm) -> HttpResponse:
    rows = [
        {
            "row": row,
            "joined": joined,
            "full": bool(row.places) and joined >= row.places,
            "link": request.build_absolute_uri(f"/s/{study.slug}/annotation/join/{row.code}/"),
        }
        for row, joined in invitations_of(study)
    ]
    context = {
        "study": study,
        "title": _("Invitations"),
        "manages": manages(request.user, study),
        "rows": rows,
        "form": form,
        "joinable": study.status in Study.JOINABLE,
    }
    return render(request, "desk/annotation_invitations.html", context, status=400 if form.errors else 200)
