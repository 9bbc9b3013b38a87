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

from studies import files
from studies.files.schema import LARGEST
from studies.models import Study
from studies.selectors import access_desk_study
from studies.services.filing import apply_study_file
from turingsite.desk.doors import access_managed_study, manages
from turingsite.desk.forms import Answering
from turingsite.errors import DomainError, NotFound


class StudyFileForm(Answering):
    """A file, or the text of one as shown before."""

    upload = forms.FileField(label=gettext_lazy("Study file (YAML)"), required=False, allow_empty_file=True)
    text = forms.CharField(
        label=gettext_lazy("The file's text"),
        required=False,
        strip=False,
        max_length=LARGEST,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "mono"}),
        help_text=gettext_lazy("Mend it here, or in your file and upload it again."),
    )

    def data_given(self) -> bytes:
        """What is to be checked; empty where nothing was given."""
        upload = self.cleaned_data["upload"]
        if upload is not None:
            # One byte more than allowed tells that it is too large.
            data: bytes = upload.read(LARGEST + 1)
            return data
        return str(self.cleaned_data["text"]).replace("\r\n", "\n").encode()


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
    context: dict[str, Any] = {
        "study": study,
        "title": _("Study file") if study is not None else _("New study from a file"),
        "templates": files.TEMPLATES,
    }
    form = StudyFileForm(request.POST or None, request.FILES or None)
    if request.method != "POST":
        return render(request, "desk/plan_study_file.html", {**context, "form": form})
    status = 200
    if form.is_valid():
        data = form.data_given()
        checked = files.check(data)
        values = checked.values
        context |= {
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
        elif not form.errors:
            status = 400
        form = _with_text(form, data)
    return render(
        request,
        "desk/plan_study_file.html",
        {**context, "form": form},
        status=400 if form.errors else status,
    )


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
