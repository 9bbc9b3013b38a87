"""Shapes of what the desk sends about the annotation: its settings, invitations, reasons, reference sets."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from annotation.models import AnnotationSettings, Layer, ReferenceDialogue
from annotation.services.invitations import ARMS, LONGEST_LABEL, MOST_PLACES
from annotation.services.pausing import LONGEST
from annotation.services.settings import SETTINGS
from annotation.study_file import refusal
from turingsite.desk.forms import Answering

#: The settings as the page groups them; every one stands in one group.
GROUPS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (
        _("Raters and batches"),
        ("raters", "expert_raters", "batch_size", "least_batches", "max_batches", "lease_minutes"),
    ),
    (
        _("Calibration"),
        (
            "calibration", "calibration_dialogues", "calibration_difference", "calibration_clear",
            "calibration_against", "calibration_tries",
        ),
    ),
    (_("Hidden checks"), ("gold_share", "repeat_share", "repeat_after_batches", "repeat_after_hours")),
    (_("Expert review"), ("reviewers",)),
    (_("Time and pay"), ("rate_per_hour", "break_minutes", "idle_seconds")),
)  # fmt: skip

HELP: dict[str, Any] = {
    "raters": _("A dialogue never gets more. Five where agreement on single dimensions decides."),
    "expert_raters": _("For people who are invited as blind experts; they count apart from the raters."),
    "least_batches": _("Whoever stops after so many is done, not withdrawn."),
    "lease_minutes": _("Finished dialogues stay; the rest is free for others and offered again on return."),
    "calibration_dialogues": _("How many with known scores a person scores before work."),
    "calibration_difference": _(
        "Passing needs at most so many steps between score and known score on average."
    ),
    "calibration_clear": _("Of the known scores 1, 2, 4 and 5. Passing needs both."),
    "calibration_against": _(
        "Calibration dialogues are chosen so that about this share of clear scores points against the truth: "
        "nobody passes by guessing who is human."
    ),
    "gold_share": _("Between 0 and 0.5. Dialogues with known scores among the work; people can't tell them."),
    "repeat_share": _("Between 0 and 0.5. They come back to the same person and count for no place."),
    "reviewers": _("A score stands when so many reviewers have approved it."),
    "rate_per_hour": _("Multiplied by active hours. Leave it empty without pay."),
    "break_minutes": _("Of active work. A break is offered, never forced."),
    "idle_seconds": _("Longer gaps count as so many seconds of work."),
}


class AnnotationForm(Answering, forms.ModelForm):  # type: ignore[type-arg]
    """How the study annotates; written by the service, never by ``save``."""

    class Meta:
        model = AnnotationSettings
        fields = SETTINGS
        help_texts: ClassVar[dict[str, Any]] = HELP

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if currency := self.instance.study.currency:
            self.fields["rate_per_hour"].label = _("Pay per hour (%(currency)s)") % {"currency": currency}
        for name, field in self.fields.items():
            if isinstance(field, forms.FloatField):
                field.widget.attrs["step"] = "any"
            if reason := str(refusal(self.instance.study, name)):
                self.lock(name, reason)

    def groups(self) -> list[tuple[Any, list[BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in GROUPS]

    def _post_clean(self) -> None:
        """Leave the instance as it is: the service compares it with what is asked for."""


class InvitationForm(Answering):
    label = forms.CharField(
        label=_("For whom"),
        max_length=LONGEST_LABEL,
        required=False,
        help_text=_("A note for the desk, such as the round or the agency. No names."),
    )
    layer = forms.ChoiceField(
        label=_("Arm"),
        choices=[(arm.value, arm.label) for arm in ARMS],
        initial=Layer.RAW,
        widget=forms.RadioSelect,
        help_text=_("Blind experts score without the truth, in places and figures of their own."),
    )
    places = forms.IntegerField(
        label=_("Places, 0 for no limit"), min_value=0, max_value=MOST_PLACES, initial=0
    )


class ReasonForm(Answering):
    """A reason in words; what it is for is said by the page."""

    reason = forms.CharField(label=_("Reason"), max_length=LONGEST, widget=forms.Textarea(attrs={"rows": 2}))


class ProposalForm(Answering):
    """Which reference set is to be proposed; stays in the address."""

    role = forms.ChoiceField(
        label=_("For"), choices=ReferenceDialogue.Role.choices, initial="calibration", required=False
    )
    n = forms.IntegerField(label=_("Dialogues a language"), min_value=1, max_value=200, required=False)

    def __init__(self, data: Any = None, *, calibrates: bool) -> None:
        """``calibrates``: people calibrate here; where they don't, all that is proposed are gold items."""
        super().__init__(data)
        if not calibrates:
            del self.fields["role"]
