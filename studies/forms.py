"""Shapes of what participants send. Rules are checked by services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from studies.characters import CleanedField
from studies.models import Language, Questionnaire, Study
from studies.questions import choices_of
from studies.texts import content_language, pick

OPEN_QUESTION = _("This question is still open.")
CHOOSE_LANGUAGE = _("Choose one of the languages on this page.")
LANGUAGE_NAMES = {Language.EN: "English", Language.ZH: "中文（普通话）"}  # each in its own language


class AgeForm(forms.Form):
    adult = forms.ChoiceField(
        choices=[("yes", _("Yes")), ("no", _("No"))], error_messages={"required": _("Choose yes or no.")}
    )


class ConsentForm(forms.Form):
    """Three separate choices, none ticked beforehand; ``activity`` and ``version`` are the text they read."""

    activity = forms.CharField(widget=forms.HiddenInput, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)
    part = forms.BooleanField(
        label=_("I have read this and take part."),
        help_text=_("Needed to begin."),
        error_messages={"required": _("Tick this to take part. If you would rather not, say so below.")},
    )
    publish = forms.BooleanField(
        label=_("What I write in my own words may be published."), help_text=_("Your choice."), required=False
    )
    again = forms.BooleanField(
        label=_("You may contact me again."), help_text=_("Your choice."), required=False
    )

    def read(self) -> tuple[str, int]:
        """Activity and version of the text that was read."""
        return self.cleaned_data["activity"], self.cleaned_data["version"]


class LanguageForm(forms.Form):
    def __init__(self, study: Study, data: Any = None) -> None:
        super().__init__(data)
        self.fields["language"] = forms.ChoiceField(
            choices=[(code, LANGUAGE_NAMES[Language(code)]) for code in study.languages],
            error_messages={"required": CHOOSE_LANGUAGE, "invalid_choice": CHOOSE_LANGUAGE},
        )


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Your code"),
        max_length=60,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
        error_messages={
            "required": _("Type the code."),
            "max_length": _("We do not know this code. Check it letter by letter."),
        },
    )


class WithdrawForm(CodeForm):
    code = forms.CharField(
        label=_("Your receipt code"),
        max_length=60,
        widget=CodeForm.base_fields["code"].widget,
        error_messages=CodeForm.base_fields["code"].error_messages,
    )
    choice = forms.ChoiceField(
        label=_("What should happen?"),
        widget=forms.RadioSelect,
        choices=[
            ("stop", _("Stop. What I gave so far may stay, under a random code.")),
            ("erase", _("Stop and erase everything I gave.")),
        ],
        error_messages={"required": _("Choose one of the two.")},
    )


def questionnaire_form(questionnaire: Questionnaire, data: Any = None) -> forms.Form:
    """The form of a questionnaire in the interface language; keeps what was given."""
    form = forms.Form(data)
    for question in questionnaire.questions:
        form.fields[question["key"]] = _field(question)
    return form


def _field(question: dict[str, Any]) -> forms.Field:
    language = content_language()
    common: dict[str, Any] = {
        "label": pick(question["text"]),
        "help_text": pick(question["hint"]) if question.get("hint") else "",
        "required": bool(question.get("required")),
        "error_messages": {
            "required": OPEN_QUESTION,
            "invalid_choice": _("Choose one of the answers on this page."),
        },
    }
    kind = question["kind"]
    if kind in ("single", "scale"):
        return forms.ChoiceField(widget=forms.RadioSelect, choices=choices_of(question, language), **common)
    if kind == "multi":
        choices = choices_of(question, language)
        return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, choices=choices, **common)
    if kind == "text":
        return CleanedField(
            widget=forms.Textarea(attrs={"rows": 4}), max_length=question.get("max_length", 1000), **common
        )
    raise ValueError(f"question {question['key']!r} is of the unknown kind {kind!r}")
