"""Study files on the desk: save one, upload one, see what is wrong or what would change, apply it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from studies import codes, files
from studies.files.schema import LARGEST
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
    """Ask for a file; what was sent is kept and shown at an address of its own, so that one can go back."""
    if request.method != "POST":
        text = _kept(request)
        if text is None:
            return _answer(request, study, StudyFileForm())
        form = StudyFileForm({"text": text})
        form.full_clean()
        return _checked(request, study, form, text.encode())
    form = StudyFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _answer(request, study, form, status=400)
    data = form.data_given()
    text = _text_of(data)
    if text is None or "apply" in request.POST:
        return _checked(request, study, form, data)
    code = codes.public_code()
    request.session[KEPT] = {"code": code, "path": request.path, "text": text}
    return redirect(f"{request.path}?checked={code}")


def _text_of(data: bytes) -> str | None:
    """The file's text; ``None`` where there is none to be mended: not UTF-8, or too large."""
    try:
        return data.decode() if len(data) <= LARGEST else None
    except UnicodeDecodeError:
        return None


def _kept(request: HttpRequest) -> str | None:
    """The text this person sent last, where this address was given for it."""
    kept = request.session.get(KEPT, {})
    if not kept or (kept["code"], kept["path"]) != (request.GET.get("checked"), request.path):
        return None
    return str(kept["text"])


def _checked(request: HttpRequest, study: Study | None, form: StudyFileForm, data: bytes) -> HttpResponse:
    """What is wrong with the file, or what it would change; applied where that was asked for."""
    checked = files.check(data)
    values = checked.values
    context: dict[str, Any] = {
        "checked": True,
        "problems": [one for one in checked.problems if one.is_error],
        "hints": [one for one in checked.problems if not one.is_error],
    }
    if values is not None and not _belongs(form, study, str(values["slug"])):
        values = None
    if values is not None:
        changes = files.compare(study, values)
        if "apply" in request.POST and (answer := _applied(request, form, study, values)) is not None:
            return answer
        context |= {
            "lines": list(files.shown(changes)),
            "refused": any(one.refusal for one in changes),
            "nothing": all(one.state in ("unchanged", "kept") for one in changes),
            "slug": values["slug"],
        }
    wrong = request.method == "POST" and (values is None or form.errors)
    return _answer(request, study, _with_text(form, data), status=400 if wrong else 200, **context)


def _answer(
    request: HttpRequest, study: Study | None, form: StudyFileForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    context = {
        "study": study,
        "title": _("Study file") if study is not None else _("New study from a file"),
        "templates": files.TEMPLATES,
        "form": form,
    }
    return render(request, "desk/plan_study_file.html", context | more, status=status)


def _belongs(form: StudyFileForm, study: Study | None, slug: str) -> bool:
    """Whether the file is for the study it was given to; a new one needs an address of its own."""
    if study is not None and slug != study.slug:
        form.add_error(None, _("This is a file of the study “%(slug)s”, not of this one.") % {"slug": slug})
        return False
    if study is None and Study.objects.filter(slug=slug).exists():
        form.add_error(None, _("Another study has this address. Choose another slug in the file."))
        return False
    return True


def _applied(
    request: HttpRequest, form: StudyFileForm, study: Study | None, values: dict[str, Any]
) -> HttpResponse | None:
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


def _with_text(form: StudyFileForm, data: bytes) -> StudyFileForm:
    """The same form with the file's text in it, so that it can be mended and applied; its errors stay."""
    shown = StudyFileForm({"text": data.decode("utf-8", "replace")[:LARGEST]})
    shown.full_clean()
    for error in form.non_field_errors():
        shown.add_error(None, str(error))
    return shown


def _saved(text: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type="application/yaml; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
