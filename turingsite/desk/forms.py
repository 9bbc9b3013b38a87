"""Shapes of what the desk sends. Rules are checked by services; their answers are put beside the fields."""

from __future__ import annotations

from typing import Any, ClassVar
from zoneinfo import available_timezones

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from games.speech.models import SpeechSettings
from games.speech.services.settings import SETTINGS as SPEECH
from games.speech.study_file import refusal
from studies.characters import TypedForm
from studies.models import Completion, Language, Study, StudyMember
from studies.refusals import translated
from studies.services.paying import COLUMNS
from studies.services.running import FIXED_ONCE_OPENED, SETTINGS
from turingsite.errors import DomainError

LANGUAGES = forms.CheckboxSelectMultiple


class Answering(TypedForm):
    """A form that takes the answer of a rule beside its fields."""

    def refuse(self, error: DomainError) -> None:
        named = {name: text for name, text in error.fields.items() if name in self.fields}
        for name, text in named.items():
            self.add_error(name, str(text))
        if not named:
            self.add_error(None, translated(error))

    def lock(self, name: str, reason: str = "") -> None:
        """Show a field that may not change now, and why.

        A browser sends nothing of it, so its value stays. What is sent all the same goes to the service,
        which refuses a change: the page may be older than the reason.
        """
        field = self.fields[name]
        field.disabled = self.add_prefix(name) not in self.data
        field.widget.attrs["disabled"] = True
        field.help_text = reason or field.help_text


class NewStudyForm(Answering):
    template = forms.ChoiceField(
        label=_("What people do"),
        choices=[
            ("speech", _("The speech game: human or machine?")),
            ("annotation", _("Annotation: score dialogues dimension by dimension")),
            ("group", _("The group game: find the AI in the chat")),
        ],
        initial="speech",
        required=False,
        widget=forms.RadioSelect,
    )
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

    def clean_template(self) -> str:
        return self.cleaned_data["template"] or "speech"


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
        if self.instance.participants.exists():
            for name in FIXED_ONCE_OPENED:
                self.lock(name, gettext("This can't be changed any more: people have taken part."))

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

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in self.fields:
            if reason := str(refusal(self.instance.study, name)):
                self.lock(name, reason)

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


class CompletionForm(TypedForm, forms.ModelForm):  # type: ignore[type-arg]
    link = forms.URLField(
        label=_("Return link"), max_length=500, required=False, assume_scheme="https", widget=forms.URLInput
    )

    class Meta:
        model = Completion
        fields = COLUMNS


CompletionRows = forms.modelformset_factory(Completion, form=CompletionForm, extra=0)
