"""Study files on the desk: save one, upload one, see what is wrong or what would change, apply it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from studies import codes, files
from studies.files.schema import LARGEST
from studies.files.shapes import Problem
from studies.models import Study
from studies.selectors import access_desk_study
from studies.services.filing import apply_study_file
from turingsite.desk.doors import access_managed_study, manages
from turingsite.desk.file_form import FileOrText
from turingsite.errors import DomainError, NotFound

KEPT = "desk_study_file"  # in the session: the file that was sent last, until it is applied


class StudyFileForm(FileOrText):
    upload = forms.FileField(label=gettext_lazy("Study file (YAML)"), required=False, allow_empty_file=True)


@require_safe
def study_yaml(request: HttpRequest, slug: str) -> HttpResponse:
    """The study as a file; completion codes only for those who manage it."""
    study = access_desk_study(slug, request.user)
    text = files.as_yaml(files.describe(study, with_codes=manages(request.user, study)))
    return _saved(text, f"{study.slug}.yaml")


@require_safe
def template(request: HttpRequest, name: str) -> HttpResponse:
    """A built-in study to fill in."""
    if name not in files.TEMPLATES:
        raise NotFound("no_page", _("There is nothing at this address."))
    return _saved(files.as_yaml(files.template(name), to_fill=True), f"{name}.yaml")


def study_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload a file for this study, see what it would change, apply it."""
    return _page(request, access_managed_study(slug, request.user))


def new_study_file(request: HttpRequest) -> HttpResponse:
    """A new study from a file."""
    return _page(request, None)


def _page(request: HttpRequest, study: Study | None) -> HttpResponse:
    """Ask for a file; whatever is sent is answered at an address of its own, so that one can go back."""
    if request.method == "POST":
        return _sent(request, study)
    kept = _kept(request)
    if kept is None:
        return _answer(request, study, StudyFileForm())
    form = StudyFileForm({"text": kept["text"]})
    form.full_clean()
    form.errors.clear()  # those of what was sent are kept
    for name, words in kept["errors"].items():
        form.add_error(None if name == NON_FIELD_ERRORS else name, words)
    if kept["problems"]:
        return _answer(request, study, form, problems=[Problem(*one) for one in kept["problems"]])
    return _checked(request, study, form, kept["text"]) if kept["text"] else _answer(request, study, form)


def _sent(request: HttpRequest, study: Study | None) -> HttpResponse:
    """Apply what was sent, where that was asked for and can be; else keep it and lead to what it says."""
    form = StudyFileForm(request.POST, request.FILES)
    text, problems = "", []
    if form.is_valid():
        data = form.data_given()
        if "apply" in request.POST and (answer := _applied(request, form, study, data)) is not None:
            return answer
        text = _text_of(data)
        if not text:
            problems = [(one.line, one.column, one.key, str(one.message)) for one in files.check(data).errors]
    code = codes.public_code()
    errors = {name: [str(one) for one in words] for name, words in form.errors.items()}
    request.session[KEPT] = {
        "code": code, "path": request.path, "text": text, "errors": errors, "problems": problems,
    }  # fmt: skip
    return redirect(f"{request.path}?checked={code}")


def _text_of(data: bytes) -> str:
    """The file's text; empty where there is none to be mended: not UTF-8, or too large."""
    try:
        return data.decode() if len(data) <= LARGEST else ""
    except UnicodeDecodeError:
        return ""


def _kept(request: HttpRequest) -> dict[str, Any] | None:
    """What this person sent last, where this address was given for it."""
    kept: dict[str, Any] = request.session.get(KEPT, {})
    if not kept or (kept["code"], kept["path"]) != (request.GET.get("checked"), request.path):
        return None
    return kept


def _checked(request: HttpRequest, study: Study | None, form: StudyFileForm, text: str) -> HttpResponse:
    """What is wrong with the file, or what it would change."""
    checked = files.check(text.encode())
    context: dict[str, Any] = {
        "checked": True,
        "problems": [one for one in checked.problems if one.is_error],
        "hints": [one for one in checked.problems if not one.is_error],
    }
    values = checked.values
    if values is not None and (foreign := _foreign(study, str(values["slug"]))):
        form.add_error(None, foreign)
    elif values is not None:
        changes = files.compare(study, values)
        context |= {
            "lines": list(files.shown(changes)),
            "refused": any(one.refusal for one in changes),
            "nothing": all(one.state in ("unchanged", "kept") for one in changes),
            "slug": values["slug"],
        }
    return _answer(request, study, form, **context)


def _answer(request: HttpRequest, study: Study | None, form: StudyFileForm, **more: Any) -> HttpResponse:
    context = {
        "study": study,
        "title": _("Study file") if study is not None else _("New study from a file"),
        "templates": files.TEMPLATES,
        "form": form,
    }
    return render(request, "desk/plan_study_file.html", context | more)


def _foreign(study: Study | None, slug: str) -> str:
    """Why the file is not for the study it was given to; a new one needs an address of its own."""
    if study is not None and slug != study.slug:
        return _("This is a file of the study “%(slug)s”, not of this one.") % {"slug": slug}
    if study is None and Study.objects.filter(slug=slug).exists():
        return _("Another study has this address. Choose another slug in the file.")
    return ""


def _applied(
    request: HttpRequest, form: StudyFileForm, study: Study | None, data: bytes
) -> HttpResponse | None:
    """The way to the study, once the file is applied; None where it is not, the reason in the form.

    What the file itself says wrong is found again where it is shown.
    """
    values = files.check(data).values
    if values is None or _foreign(study, str(values["slug"])):
        return None
    try:
        made, changes = apply_study_file(values=values, only_new=study is None, user=request.user)
    except DomainError as error:
        form.refuse(error)
        for name, words in error.fields.items():
            form.add_error(None, f"{name}: {words}")
        return None
    request.session.pop(KEPT, None)
    messages.success(request, _("Applied: %(n)s changes.") % {"n": len(changes)})
    return redirect("admin:desk_study", made.slug)


def _saved(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
