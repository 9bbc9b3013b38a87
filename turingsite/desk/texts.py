"""The words people read before and after: edited as plain text in both languages, stored as a new version."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import builtin, registry
from studies.files.describing import TEMPLATES
from studies.models import Study
from studies.selectors import activities_with_texts, source_of
from studies.services import publish_consent_text
from studies.texts import LANGUAGES, place_names
from turingsite.desk.doors import access_managed_study, tell
from turingsite.desk.forms import Answering
from turingsite.errors import Conflict, DomainError, NotFound

NAMES = {"en": gettext_lazy("English"), "zh": gettext_lazy("Chinese")}
#: Parts of a text as people meet them: rows of label and words, or headings with words below.
ROWS = {"welcome": gettext_lazy("Welcome, in short"), "summary": gettext_lazy("Consent, in short")}
BLOCKS = {"sections": gettext_lazy("Consent, in full"), "debrief": gettext_lazy("Debrief")}
HOW_ROWS = gettext_lazy("One line each: label, colon, words.")
HOW_BLOCKS = gettext_lazy("A heading begins with #, its words stand below.")
Pairs = list[list[str]]


def as_rows(pairs: Pairs) -> str:
    return "\n".join(f"{label}: {words}" for label, words in pairs)


def as_blocks(pairs: Pairs) -> str:
    return "\n\n".join(f"# {heading}\n{words}" for heading, words in pairs)


def read_rows(text: str) -> Pairs:
    """Lines ``label: words``. ValidationError names the line that is none."""
    pairs = []
    for line in filter(None, map(str.strip, text.splitlines())):
        parts = re.split(r"[:：]\s*", line, maxsplit=1)
        if len(parts) < 2 or not parts[0].strip() or not parts[1].strip():
            raise forms.ValidationError(_("“%(line)s” is not “label: words”.") % {"line": line[:60]})
        pairs.append([parts[0].strip(), parts[1].strip()])
    return pairs


def read_blocks(text: str) -> Pairs:
    """Headings that begin with #, each with words below it. ValidationError where one lacks the other."""
    pairs: Pairs = []
    for line in text.splitlines():
        if line.startswith("#"):
            pairs.append([line.lstrip("#").strip(), ""])
        elif pairs:
            pairs[-1][1] += f"{line.rstrip()}\n"
        elif line.strip():
            raise forms.ValidationError(_("Begin with a heading: a line that starts with #."))
    pairs = [[heading, words.strip()] for heading, words in pairs]
    if not all(heading and words for heading, words in pairs):
        raise forms.ValidationError(_("Every heading needs words below it."))
    return pairs


class TextsForm(Answering):
    """A tagline and four parts in each language; ``body`` is the text in the shape it is stored in."""

    def __init__(self, body: dict[str, Any], data: Any = None) -> None:
        super().__init__(data)
        self._body = body
        first = _("First sentence")  # outside of the f-string, where xgettext finds it
        for language in LANGUAGES:
            words, name = body.get(language, {}), NAMES[language]
            self.fields[f"tagline_{language}"] = forms.CharField(
                label=f"{first} ({name})", max_length=300, initial=words.get("tagline", "")
            )
            for part, label in {**ROWS, **BLOCKS}.items():
                stored = words.get(part, [])
                self.fields[f"{part}_{language}"] = forms.CharField(
                    label=f"{label} ({name})",
                    help_text=HOW_ROWS if part in ROWS else HOW_BLOCKS,
                    required=part != "welcome",
                    max_length=50_000,
                    initial=as_rows(stored) if part in ROWS else as_blocks(stored),
                    widget=forms.Textarea(attrs={"rows": 6 if part in ROWS else 14}),
                )

    def clean(self) -> dict[str, Any]:
        for language in LANGUAGES:
            for part in (*ROWS, *BLOCKS):
                name = f"{part}_{language}"
                if name not in self.cleaned_data:
                    continue
                text = self.cleaned_data[name].replace("\r\n", "\n")
                try:
                    self.cleaned_data[name] = read_rows(text) if part in ROWS else read_blocks(text)
                except forms.ValidationError as error:
                    self.add_error(name, error)
        return self.cleaned_data

    def body(self) -> dict[str, Any]:
        made = {key: value for key, value in self._body.items() if key != "of"}
        for language in LANGUAGES:
            words = dict(made.get(language, {}), tagline=self.cleaned_data[f"tagline_{language}"])
            for part in (*ROWS, *BLOCKS):
                words[part] = self.cleaned_data[f"{part}_{language}"]
            made[language] = words
        return made


def texts(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit what people agree to and are told at the end. Who has agreed keeps the version they read."""
    study = access_managed_study(slug, request.user)
    activity = request.GET.get("for", "")
    if activity and activity not in activities_with_texts(study):
        raise NotFound("no_text", _("This study has no texts of that kind."))
    before = _newest(study, activity)
    form = TextsForm(before, request.POST or None)
    locked = study.status in Study.JOINABLE
    for name in form.fields if locked else ():
        form.lock(name)
    if request.method == "POST" and form.is_valid():
        try:
            if locked:
                raise Conflict("running", _("Pause the study before you change what people agree to."))
            if form.body() != before or source_of(study, activity) is None:
                publish_consent_text(study=study, body=form.body(), activity=activity, user=request.user)
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, _("Saved. It is the text from now on."))
            return redirect("admin:desk_study", slug)
    if request.method != "POST" and locked:
        tell(request, Conflict("running", _("Pause the study before you change what people agree to.")))
    context = {
        "study": study,
        "forms": [form],
        "title": _("Texts"),
        "kinds": _kinds(study, activity),
        "submit": "" if locked else _("Save"),
        "places": ", ".join(f"{{{name}}}" for name in place_names()),
    }
    return render(request, "desk/form.html", context, status=400 if form.errors else 200)


def _kinds(study: Study, activity: str) -> list[dict[str, Any]]:
    """The texts there are: everybody's, and those of activities people are invited to; none if only one."""
    keys = activities_with_texts(study)
    names = [("", _("for everybody"))] + [(key, str(registry.activities.get(key).title)) for key in keys]
    return [{"key": key, "name": name, "here": key == activity} for key, name in names] if keys else []


def _newest(study: Study, activity: str = "") -> dict[str, Any]:
    """The newest text as written: with its places ({host}, …), not as filled in at opening.

    An activity that has none yet begins with what ships for it.
    """
    source = source_of(study, activity)
    if source is None and activity in TEMPLATES:
        return dict(builtin.load(activity)["consent"])
    return dict(source.body) if source else {}
