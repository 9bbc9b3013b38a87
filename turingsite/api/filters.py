"""Filters of the lists, one set a table; what each may be given is checked, never passed over."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import django_filters as filters  # type: ignore[import-untyped]
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from drf_spectacular.drainage import set_override

from annotation.models import BatchItem, Layer, Score
from dialogues.models import Dialogue, Kind, Party, StudyItem, Verdict
from studies.models import EndState, Language, Participant
from turingsite.api.selectors import JUDGED

CODE = r"^[-a-zA-Z0-9_]{1,120}$"
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
ANALYSED = "none"  # in ``exclusion``: verdicts that are in the analysis set *all*


class MomentField(forms.CharField):
    """A time as ISO 8601 with offset; what lies outside of our calendar becomes its end."""

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        if not text:
            return None
        try:
            found = parse_datetime(text.upper())
        except ValueError:
            found = None
        if found is None or found.tzinfo is None:
            raise ValidationError(
                _("Write a time like 2026-03-02T12:00:00Z, with its offset from UTC."), "bad_time"
            )
        try:
            return found.astimezone(UTC)
        except OverflowError:
            return FIRST if found.year == 1 else LAST


class MomentFilter(filters.Filter):  # type: ignore[misc]
    field_class = MomentField

    def __init__(self, *, label: Any, **kwargs: Any) -> None:
        super().__init__(label=label, **kwargs)
        _describe(self, type="string", format="date-time", description=label)


class TruthFilter(filters.TypedChoiceFilter):  # type: ignore[misc]
    """``true`` or ``false``; anything else is refused, not taken for “both”."""

    def __init__(self, *, label: Any, **kwargs: Any) -> None:
        choices = [("true", "true"), ("false", "false")]
        super().__init__(choices=choices, coerce=lambda value: value == "true", label=label, **kwargs)
        _describe(self, type="boolean", description=label)


class CodeFilter(filters.Filter):  # type: ignore[misc]
    """A code as the platform writes it, exactly."""

    field_class = forms.RegexField

    def __init__(self, *, label: Any, **kwargs: Any) -> None:
        super().__init__(label=label, regex=CODE, strip=False, **kwargs)
        _describe(self, type="string", pattern=CODE, description=label)


def _describe(one: filters.Filter, **schema: Any) -> None:
    """Say in the schema what is taken: a filter's form field would leave out the half of it."""
    set_override(one, "field", schema)


def _spoken_by(rows: QuerySet[Any], dialogue: str, code: str) -> QuerySet[Any]:
    """Rows whose dialogue has the system of that code as speaker B."""
    spoken = Party.objects.filter(dialogue=OuterRef(dialogue), label=JUDGED, system__code=code)
    return rows.filter(Exists(spoken))


class ParticipantFilter(filters.FilterSet):  # type: ignore[misc]
    state = filters.ChoiceFilter(choices=Participant.State.choices, label=_("How far they came."))
    end_state = filters.ChoiceFilter(choices=EndState.choices, label=_("How the participation ended."))
    judging_language = filters.ChoiceFilter(choices=Language.choices, label=_("Language they judge in."))
    is_pilot = TruthFilter(label=_("Came while the study was a pilot."))
    is_test = TruthFilter(label=_("Test participants."))
    joined_from = MomentFilter(field_name="joined_at", lookup_expr="gte", label=_("Came then or later."))
    joined_before = MomentFilter(field_name="joined_at", lookup_expr="lt", label=_("Came before that."))


class DialogueFilter(filters.FilterSet):  # type: ignore[misc]
    language = filters.ChoiceFilter(choices=Language.choices, label=_("Language spoken."))
    kind = filters.ChoiceFilter(choices=Kind.choices, label=_("Who speaker B is."))
    system = CodeFilter(method="by_system", label=_("Code of the system that speaks as B."))
    state = filters.ChoiceFilter(choices=Dialogue.State.choices, label=_("Whether it can be played."))
    role = filters.ChoiceFilter(choices=StudyItem.Role.choices, label=_("What it is for in the study."))
    is_active = TruthFilter(label=_("Still given to people."))

    def by_system(self, rows: QuerySet[Dialogue], name: str, code: str) -> QuerySet[Dialogue]:
        return _spoken_by(rows, "pk", code)


class ScoreFilter(filters.FilterSet):  # type: ignore[misc]
    layer = filters.ChoiceFilter(choices=Layer.choices, label=_("Layer of labels."))
    dimension = CodeFilter(field_name="dimension__key", label=_("Key of the dimension."))
    taxonomy = CodeFilter(field_name="dimension__taxonomy__name", label=_("Name of the taxonomy."))
    language = filters.ChoiceFilter(
        field_name="dialogue__language", choices=Language.choices, label=_("Language spoken.")
    )
    kind = filters.ChoiceFilter(
        field_name="dialogue__kind", choices=Kind.choices, label=_("Who speaker B is.")
    )
    system = CodeFilter(method="by_system", label=_("Code of the system that speaks as B."))
    dialogue = CodeFilter(field_name="dialogue__code", label=_("Code of the dialogue."))
    participant = CodeFilter(field_name="rater__participant__code", label=_("Code of the person."))
    purpose = filters.ChoiceFilter(
        field_name="put_for", choices=BatchItem.Purpose.choices, label=_("What the rater was given it for.")
    )
    evidence = TruthFilter(label=_("There was evidence."))
    exclusion = filters.ChoiceFilter(
        method="by_exclusion",
        choices=[(ANALYSED, _("analysed")), *((v, label) for v, label in Score.Exclusion.choices if v)],
        label=_("Why it is left out of the analysis; “none” for those that are in it."),
    )
    given_from = MomentFilter(field_name="given_at", lookup_expr="gte", label=_("Given then or later."))
    given_before = MomentFilter(field_name="given_at", lookup_expr="lt", label=_("Given before that."))

    def by_system(self, rows: QuerySet[Score], name: str, code: str) -> QuerySet[Score]:
        return _spoken_by(rows, "dialogue", code)

    def by_exclusion(self, rows: QuerySet[Score], name: str, reason: str) -> QuerySet[Score]:
        wanted = {"why": "" if reason == ANALYSED else reason}  # see selectors.scores_of
        return rows.filter(**wanted)


class VerdictFilter(filters.FilterSet):  # type: ignore[misc]
    language = filters.ChoiceFilter(
        field_name="dialogue__language", choices=Language.choices, label=_("Language spoken.")
    )
    kind = filters.ChoiceFilter(
        field_name="dialogue__kind", choices=Kind.choices, label=_("Who speaker B is.")
    )
    system = CodeFilter(method="by_system", label=_("Code of the system that speaks as B."))
    dialogue = CodeFilter(field_name="dialogue__code", label=_("Code of the dialogue."))
    participant = CodeFilter(field_name="rater__participant__code", label=_("Code of the person."))
    exclusion = filters.ChoiceFilter(
        method="by_exclusion",
        choices=[(ANALYSED, _("analysed")), *((v, label) for v, label in Verdict.Exclusion.choices if v)],
        label=_("Why it is left out of the analysis; “none” for those that are in it."),
    )
    round_finished = TruthFilter(label=_("Its round was finished."))
    given_from = MomentFilter(field_name="given_at", lookup_expr="gte", label=_("Given then or later."))
    given_before = MomentFilter(field_name="given_at", lookup_expr="lt", label=_("Given before that."))

    def by_system(self, rows: QuerySet[Verdict], name: str, code: str) -> QuerySet[Verdict]:
        return _spoken_by(rows, "dialogue", code)

    def by_exclusion(self, rows: QuerySet[Verdict], name: str, reason: str) -> QuerySet[Verdict]:
        return rows.filter(exclusion="" if reason == ANALYSED else reason)
