"""Shapes of what the desk's pages of the corpus send: uploads, filters, marks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from dialogues.models import Dialogue, Kind
from dialogues.services import LONGEST_REASON
from studies.models import Language, Study
from turingsite.audio.gaps import PROFILES
from turingsite.desk.forms import Answering


def study_label(study: Study) -> str:
    """What a study is called where one is chosen."""
    return f"{study.title} ({study.slug})"


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One or more files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class StudyField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Studies by their title; the address tells two of the same title apart."""

    def label_from_instance(self, obj: Study) -> str:
        return study_label(obj)


class ImportForm(Answering):
    upload = ManyFilesField(
        label=_("Files"),
        widget=ManyFiles(attrs={"multiple": True}),
        help_text=_("One zip, or the manifest (CSV or JSONL) together with the sound and turn files."),
        error_messages={"required": _("Choose the files first."), "empty": _("One of the files is empty.")},
    )
    study = StudyField(
        label=_("Study"),
        queryset=Study.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label=_("none, only into the corpus"),
        help_text=_("The dialogues become items of this study."),
    )

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["study"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101
        field.queryset = Study.objects.visible_to(user)
        files = self.fields["upload"]
        assert isinstance(files, forms.FileField)  # noqa: S101
        files.allow_empty_file = True  # an empty recording is told by its row


class DialogueFilter(forms.Form):
    """Filters of the dialogue list, kept in the address. ``studies`` and ``flags`` are (value, words)."""

    q = forms.CharField(label=_("Id begins with"), required=False, max_length=120)
    study = forms.ChoiceField(label=_("Study"), required=False)
    kind = forms.ChoiceField(label=_("Kind"), required=False, choices=[("", _("any")), *Kind.choices])
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("any")), *Language.choices]
    )
    state = forms.ChoiceField(
        label=_("State"), required=False, choices=[("", _("any")), *Dialogue.State.choices]
    )
    flag = forms.ChoiceField(label=_("Flag"), required=False)
    play = forms.ChoiceField(
        label=_("In play"),
        required=False,
        choices=[("", _("any")), ("in", _("in play")), ("out", _("taken out"))],
        help_text=_("Of the study chosen above."),
    )

    def __init__(
        self, data: Any, *, studies: Sequence[tuple[str, Any]], flags: Sequence[tuple[str, Any]]
    ) -> None:
        super().__init__(data)
        for name, choices in (("study", studies), ("flag", flags)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101
            field.choices = [("", _("any")), *choices]


#: What each gap profile does, beside its name.
GAP_RULES = {
    "own-1": _("gaps over 0.8 s redrawn from people's gaps"),
    "published-1": _("every gap redrawn from 180–230 ms"),
    "as-recorded-1": _("gaps as recorded"),
}


class ProcessForm(Answering):
    profile = forms.ChoiceField(
        label=_("Gap profile"),
        choices=[(name, format_lazy("{}: {}", name, GAP_RULES[name])) for name in PROFILES],
    )


class AggressiveForm(Answering):
    """A reviewer's mark; the reason is for whoever reads it later."""

    reason = forms.CharField(
        label=_("What is aggressive?"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("A few words: who, and what they say."),
    )
