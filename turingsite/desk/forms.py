"""Shapes of what the desk sends. Rules are checked by services; their answers are put beside the fields."""

from __future__ import annotations

from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dialogues.models import Dialogue, Kind
from games.speech.models import SpeechSettings
from games.speech.services.settings import SETTINGS as SPEECH
from studies.models import Completion, Language, Study, StudyMember
from studies.services.paying import COLUMNS
from studies.services.running import SETTINGS
from turingsite.audio.gaps import PROFILES
from turingsite.errors import DomainError
from turingsite.middleware import translated

LANGUAGES = forms.CheckboxSelectMultiple


class Answering(forms.Form):
    """A form that takes the answer of a rule beside its fields."""

    def refuse(self, error: DomainError) -> None:
        named = {name: text for name, text in error.fields.items() if name in self.fields}
        for name, text in named.items():
            self.add_error(name, str(text))
        if not named:
            self.add_error(None, translated(error))


class NewStudyForm(Answering):
    title_en = forms.CharField(label=_("Title (English)"), max_length=120)
    title_zh = forms.CharField(label=_("Title (Chinese)"), max_length=120, required=False)
    slug = forms.CharField(
        label=_("Address"),
        max_length=60,
        help_text=_("The last part of the study's link: letters, figures and dashes."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )
    languages = forms.MultipleChoiceField(
        label=_("Judging languages"), choices=Language.choices, widget=LANGUAGES, initial=Language.values
    )
    host = forms.CharField(
        label=_("Run by"),
        max_length=200,
        required=False,
        help_text=_("Needed before it opens, like the contact address. People read it on the first page."),
    )
    contact = forms.EmailField(label=_("Contact"), required=False)
    approval = forms.CharField(label=_("Ethics approval"), max_length=200, required=False)


class StudyForm(Answering, forms.ModelForm):  # type: ignore[type-arg]
    """The study's settings; written by the service, never by ``save``."""

    languages = forms.MultipleChoiceField(
        label=_("Judging languages"), choices=Language.choices, widget=LANGUAGES
    )
    recruiter_params = forms.CharField(
        label=_("Recruiter parameters"),
        required=False,
        help_text=_(
            "Names of the address parameters to keep, the person's id first: PROLIFIC_PID STUDY_ID SESSION_ID"
        ),
    )
    time_zone = forms.CharField(label=_("Time zone"), max_length=60)

    class Meta:
        model = Study
        fields = SETTINGS
        widgets: ClassVar[dict[str, Any]] = {
            "profile_at": forms.RadioSelect,
            "erasure_until": forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
            "notice_en": forms.Textarea(attrs={"rows": 3}),
            "notice_zh": forms.Textarea(attrs={"rows": 3}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["recruiter_params"] = " ".join(self.instance.recruiter_params)

    def clean_recruiter_params(self) -> list[str]:
        words = self.cleaned_data["recruiter_params"].replace(",", " ").split()
        if len(words) > 5 or any(
            len(w) > 60 or not w.replace("_", "").isalnum() or not w.isascii() for w in words
        ):
            raise forms.ValidationError(gettext("At most five names of letters, figures and underscores."))
        return list(dict.fromkeys(words))

    def clean_time_zone(self) -> str:
        name = str(self.cleaned_data["time_zone"]).strip()
        if name not in available_timezones():
            raise forms.ValidationError(gettext("There is no such time zone. Write it like Asia/Shanghai."))
        return name

    def _post_clean(self) -> None:
        """Leave the instance as it is: the service compares it with what is asked for."""


class SpeechForm(Answering, forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = SpeechSettings
        fields = SPEECH
        widgets: ClassVar[dict[str, Any]] = {
            "mix": forms.RadioSelect,
            "reveal": forms.RadioSelect,
            "points": forms.RadioSelect,
        }

    def _post_clean(self) -> None:
        """Leave the instance as it is: the service compares it with what is asked for."""


class MemberForm(Answering):
    username = forms.CharField(
        label=_("Account name"),
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    role = forms.ChoiceField(
        label=_("Part"),
        choices=StudyMember.Role.choices,
        widget=forms.RadioSelect,
        initial=StudyMember.Role.COLLEAGUE,
    )


class CompletionForm(forms.ModelForm):  # type: ignore[type-arg]
    link = forms.URLField(
        label=_("Return link"), max_length=500, required=False, assume_scheme="https", widget=forms.URLInput
    )

    class Meta:
        model = Completion
        fields = COLUMNS


CompletionRows = forms.modelformset_factory(Completion, form=CompletionForm, extra=0)


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """One or more files."""

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class ImportForm(Answering):
    upload = ManyFilesField(
        label=_("Files"),
        widget=ManyFiles(attrs={"multiple": True}),
        help_text=_("One zip, or the manifest (CSV or JSONL) together with the sound and turn files."),
        error_messages={"required": _("Choose the files first."), "empty": _("One of the files is empty.")},
    )
    study = forms.ModelChoiceField(
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
    """Filters of the dialogue list, kept in the address."""

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

    def __init__(self, data: Any, *, studies: list[str], flags: list[str]) -> None:
        super().__init__(data)
        for name, values in (("study", studies), ("flag", flags)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101
            field.choices = [("", _("any")), *((value, value) for value in values)]


class ProcessForm(Answering):
    profile = forms.ChoiceField(label=_("Gap profile"), choices=[(name, name) for name in PROFILES])


class TurnsForm(Answering):
    """Turns as lines: speaker, start and end in seconds of the original."""

    lines = forms.CharField(
        label=_("Turns"),
        help_text=_("One turn a line: speaker, start, end, in seconds of the original. Example: A 0.0 3.65"),
        widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"}),
        max_length=100_000,
    )

    def clean_lines(self) -> list[tuple[str, float, float]]:
        found = []
        for number, line in enumerate(self.cleaned_data["lines"].splitlines(), 1):
            words = line.replace(",", " ").split()
            if not words:
                continue
            try:
                speaker, start, end = words[0].upper(), float(words[1]), float(words[2])
            except (IndexError, ValueError) as error:
                raise forms.ValidationError(
                    gettext("Line %(line)s is not “speaker start end”.") % {"line": number}
                ) from error
            if len(words) > 3 or not 0 <= start < end < 1e6:
                raise forms.ValidationError(
                    gettext("Line %(line)s: a turn ends after it starts.") % {"line": number}
                )
            found.append((speaker, start, end))
        return found
