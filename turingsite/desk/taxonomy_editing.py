"""Editing a copy of a taxonomy on the desk: its words and guidelines, a category, a dimension."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from annotation.models import Taxonomy
from annotation.selectors_desk import access_taxonomy
from annotation.services.taxonomies import refuse_frozen
from annotation.services.taxonomy_editing import change_words, save_category, save_dimension
from studies.models import Study
from turingsite.desk.doors import access_managed_study
from turingsite.desk.taxonomy_forms import (
    CategoryForm,
    DimensionForm,
    SectionRows,
    WordsForm,
    sections_of,
    sections_sent,
)
from turingsite.errors import DomainError, NotFound


def _editable(request: HttpRequest, slug: str, taxonomy: str, version: int) -> tuple[Study, Taxonomy]:
    """The study and its version, for somebody who may edit it; Conflict where people work by it."""
    study = access_managed_study(slug, request.user)
    found = access_taxonomy(study, taxonomy, version)
    if found.study_id != study.pk:
        raise NotFound("no_page", _("There is nothing at this address."))
    refuse_frozen(found)
    return study, found


def words(request: HttpRequest, slug: str, taxonomy: str, version: int) -> HttpResponse:
    """Title, summary, source, the words of the scale, the guidelines."""
    study, found = _editable(request, slug, taxonomy, version)
    posted = request.POST if request.method == "POST" else None
    form = WordsForm(posted, taxonomy=found)
    rows = SectionRows(posted, initial=sections_of(found), prefix="section")
    if posted is not None and form.is_valid() & rows.is_valid():
        guidelines = found.guidelines | {"sections": sections_sent(rows)}
        try:
            change_words(taxonomy=found, user=request.user, guidelines=guidelines, **form.columns())
        except DomainError as error:
            form.refuse(error)
        else:
            return _saved(request, slug, found)
    return _form(request, study, found, form, _("Words and guidelines"), rows=rows, wrong=any(rows.errors))


def category(request: HttpRequest, slug: str, taxonomy: str, version: int, part: str = "") -> HttpResponse:
    """A category's words, or a new category."""
    study, found = _editable(request, slug, taxonomy, version)
    row = found.categories.filter(key=part).first()
    if part and row is None:
        raise NotFound("no_page", _("There is nothing at this address."))
    form = CategoryForm(request.POST if request.method == "POST" else None, row=row)
    if form.is_bound and form.is_valid():
        try:
            save_category(taxonomy=found, row=row, user=request.user, **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            return _saved(request, slug, found)
    return _form(request, study, found, form, _("Category") if row else _("New category"))


def dimension(request: HttpRequest, slug: str, taxonomy: str, version: int, part: str = "") -> HttpResponse:
    """A dimension's words, or a new dimension."""
    study, found = _editable(request, slug, taxonomy, version)
    row = found.dimensions.filter(key=part).select_related("category").first()
    if part and row is None:
        raise NotFound("no_page", _("There is nothing at this address."))
    form = DimensionForm(request.POST if request.method == "POST" else None, taxonomy=found, row=row)
    if form.is_bound and form.is_valid():
        fields = dict(form.cleaned_data)
        into = found.categories.get(key=fields.pop("category"))
        try:
            save_dimension(taxonomy=found, category=into, row=row, user=request.user, **fields)
        except DomainError as error:
            form.refuse(error)
        else:
            return _saved(request, slug, found)
    return _form(request, study, found, form, _("Dimension") if row else _("New dimension"))


def _saved(request: HttpRequest, slug: str, found: Taxonomy) -> HttpResponse:
    messages.success(request, _("Saved."))
    return redirect("admin:desk_taxonomy", slug, found.name, found.version)


def _form(
    request: HttpRequest,
    study: Study,
    found: Taxonomy,
    form: Any,
    title: str,
    *,
    rows: Any = None,
    wrong: bool = False,
) -> HttpResponse:
    context = {"study": study, "taxonomy": found, "form": form, "title": title, "rows": rows, "wrong": wrong}
    return render(request, "desk/taxonomy_form.html", context, status=400 if form.errors or wrong else 200)
