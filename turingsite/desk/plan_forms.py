"""Forms of the plan and the planner. What a plan may say is checked by its service."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from studies import plans
from turingsite.desk.forms import Answering
from turingsite.desk.reports import SETS

AREA = forms.Textarea(attrs={"rows": 4})


class PlanForm(Answering):
    """The keys of ``plans.EMPTY``, as people decide them."""

    hypothesis = forms.CharField(label=plans.LABELS["hypothesis"], required=False, widget=AREA)
    outcome = forms.ChoiceField(label=plans.LABELS["outcome"], required=False)
    analysis_set = forms.ChoiceField(
        label=plans.LABELS["analysis_set"],
        choices=[(name, SETS[name]) for name in plans.ANALYSIS_SETS],
        widget=forms.RadioSelect,
        help_text=_("It becomes the headline of every report of this study."),
    )
    families = forms.MultipleChoiceField(
        label=plans.LABELS["families"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("p values within a family are adjusted together (Holm)."),
    )
    target_n = forms.IntegerField(
        label=plans.LABELS["target_n"],
        min_value=0,
        help_text=_(
            "Outcomes become visible when every cell has so many. 0: not before the study is closed."
        ),
    )
    target_by = forms.ChoiceField(
        label=plans.LABELS["target_by"],
        choices=[("system", plans.CELLS["system"]), ("kind", plans.CELLS["kind"])],
        widget=forms.RadioSelect,
    )
    planning = forms.CharField(
        label=plans.LABELS["planning"],
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("The planner fills this in."),
    )
    stopping = forms.CharField(label=plans.LABELS["stopping"], required=False, widget=AREA)
    exclusions = forms.CharField(label=plans.LABELS["exclusions"], required=False, widget=AREA)
    margin = forms.FloatField(label=plans.LABELS["margin"], help_text=_("A share, for example 0.1."))
    notes = forms.CharField(label=plans.LABELS["notes"], required=False, widget=AREA)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, options in (
            ("outcome", [("", _("not decided")), *plans.outcomes().items()]),
            ("families", list(plans.families().items())),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)  # noqa: S101
            field.choices = options


class FreezeForm(Answering):
    reason = forms.CharField(
        label=_("Why is the plan changed?"),
        max_length=500,
        required=False,
        help_text=_("It stands beside every figure from now on."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )


class PlannerForm(Answering):
    """What is expected, as shares of verdicts that say “human”. Kept in the address."""

    aim = forms.ChoiceField(
        label=_("What the study is to do"),
        choices=[("test", _("tell the rate from another one")), ("interval", _("measure the rate"))],
        widget=forms.RadioSelect,
        initial="test",
    )
    expected = forms.FloatField(
        label=_("Success rate expected"), min_value=0.001, max_value=0.999, initial=0.4
    )
    against = forms.FloatField(
        label=_("against"), min_value=0, max_value=1, initial=0.5, help_text=_("To tell it from this rate.")
    )
    power = forms.FloatField(label=_("Power"), min_value=0.01, max_value=0.999, initial=0.8)
    half_width = forms.FloatField(
        label=_("Half-width"),
        min_value=0.001,
        max_value=0.5,
        initial=0.1,
        help_text=_("To measure it to plus or minus this."),
    )
    each = forms.FloatField(
        label=_("Verdicts per person on a system"), min_value=0.01, max_value=1000, initial=2
    )
    dialogues = forms.IntegerField(
        label=_("Dialogues per system and language"), min_value=1, max_value=10_000, initial=30
    )
    icc_person = forms.FloatField(
        label=_("Correlation of two verdicts of a person"), min_value=0, max_value=0.99, initial=0.07
    )
    icc_dialogue = forms.FloatField(
        label=_("Correlation of two verdicts on a dialogue"), min_value=0, max_value=0.99, initial=0.10
    )

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        same = values.get("aim") == "test" and values.get("expected") == values.get("against")
        if same and values.get("expected") is not None:
            self.add_error("against", _("Expected and the rate to tell it from have to differ."))
        return values
