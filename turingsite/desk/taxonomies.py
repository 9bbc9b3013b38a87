"""Taxonomies on the desk: versions, all words in both languages, copies, choosing, loading a file."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from annotation.models import Category, Dimension, Taxonomy
from annotation.selectors_desk import access_taxonomy, taxonomies_for, without_chinese
from annotation.services.settings import settings_of
from annotation.services.taxonomies import copy_taxonomy
from annotation.services.taxonomy_editing import choose_taxonomy, load_taxonomy, move, remove
from annotation.study_file import refusal
from annotation.taxonomy_file import as_yaml, check
from studies.models import Study
from studies.selectors import access_desk_study
from turingsite.desk.doors import access_managed_study, manages, tell
from turingsite.desk.taxonomy_forms import POINTS, TaxonomyFileForm
from turingsite.errors import DomainError


@require_safe
def taxonomies(request: HttpRequest, slug: str) -> HttpResponse:
    """The versions that this study may score by."""
    study = access_desk_study(slug, request.user)
    context = {
        "study": study,
        "title": _("Taxonomies"),
        "manages": manages(request.user, study),
        "chosen": settings_of(study).taxonomy,
        "fixed": refusal(study, "taxonomy"),
        "rows": taxonomies_for(study),
    }
    return render(request, "desk/taxonomies.html", context)


def taxonomy(request: HttpRequest, slug: str, taxonomy: str, version: int) -> HttpResponse:
    """All words of a version, English beside Chinese; copying, choosing, moving and taking out."""
    study = access_desk_study(slug, request.user)
    found = access_taxonomy(study, taxonomy, version)
    if request.method == "POST":
        study = access_managed_study(slug, request.user)
        to = _changed(request, study, found)
        return redirect("admin:desk_taxonomy", slug, to.name, to.version)
    chosen = settings_of(study).taxonomy
    context = {
        "study": study,
        "title": f"{found.title} · {found}",
        "manages": manages(request.user, study),
        "taxonomy": found,
        "chosen": chosen.pk == found.pk,
        "fixed": refusal(study, "taxonomy"),
        "editable": may_edit(request.user, study, found),
        "categories": found.categories.prefetch_related("dimensions").order_by("position"),
        "scale": [(point, found.scale.get(point, {})) for point in POINTS],
        "sections": found.guidelines.get("sections", []),
        "without_chinese": without_chinese(found),
    }
    return render(request, "desk/taxonomy.html", context)


def may_edit(user: Any, study: Study, found: Taxonomy) -> bool:
    """Whether ``user`` may change its words: their study's own, and nobody works by it yet."""
    return manages(user, study) and found.study_id == study.pk and found.frozen_at is None


def _changed(request: HttpRequest, study: Study, found: Taxonomy) -> Taxonomy:
    """Do what a button asks for; the version to show then."""
    do, key = request.POST.get("do", ""), request.POST.get("key", "")
    try:
        if do == "copy":
            made = copy_taxonomy(taxonomy=found, study=study, user=request.user)
            messages.success(request, _("The copy is there. Edit it, then choose it for the study."))
            return made
        if do == "choose":
            choose_taxonomy(study=study, taxonomy=found, user=request.user)
            messages.success(request, _("The study scores by this version."))
        row = _part(found, request.POST.get("sort", ""), key)
        if row is not None and do in ("up", "down"):
            move(taxonomy=found, row=row, by=-1 if do == "up" else 1, user=request.user)
        elif row is not None and do == "remove":
            remove(taxonomy=found, row=row, user=request.user)
            messages.success(request, _("“%(key)s” is taken out.") % {"key": key})
    except DomainError as error:
        tell(request, error)
    return found


def _part(found: Taxonomy, sort: str, key: str) -> Category | Dimension | None:
    if sort == "category":
        return found.categories.filter(key=key).first()
    return found.dimensions.filter(key=key).first() if sort == "dimension" else None


@require_safe
def taxonomy_yaml(request: HttpRequest, slug: str, taxonomy: str, version: int) -> HttpResponse:
    """The version as a file."""
    study = access_desk_study(slug, request.user)
    found = access_taxonomy(study, taxonomy, version)
    response = HttpResponse(as_yaml(found), content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.name}-v{found.version}.yaml"'
    return response


def taxonomy_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Load a version of the study's own from a file; what is wrong is told by line."""
    study = access_managed_study(slug, request.user)
    settings_of(study)
    form = TaxonomyFileForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"study": study, "title": _("Load a taxonomy"), "form": form}
    if request.method == "POST" and form.is_valid():
        data = form.data_given()
        checked = check(data)
        if checked.values is not None:
            made = load_taxonomy(study=study, body=checked.values, user=request.user)
            messages.success(request, _("Loaded as %(name)s.") % {"name": made})
            return redirect("admin:desk_taxonomy", slug, made.name, made.version)
        shown = TaxonomyFileForm({"text": data.decode("utf-8", "replace")})
        context |= {"form": shown, "checked": True, "problems": checked.errors}
    status = 400 if request.method == "POST" else 200
    return render(request, "desk/taxonomy_file.html", context, status=status)
