"""Exposures and verdicts: what raters were given, and what they said; none of erased people."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Substr

from dialogues.models import Choice, Exposure, Nature, Verdict
from studies.in_sql import Inside, Without, inside
from studies.models import Study
from studies.tidy import Made, column, dataset


def of_raters_present() -> Q:
    return Q(rater__participant__isnull=True) | Q(rater__participant__erased_at=None)


def _exposures(study: Study) -> QuerySet[Exposure]:
    return Exposure.objects.filter(of_raters_present(), study=study).order_by("pk")


def _verdicts(study: Study) -> QuerySet[Verdict]:
    return Verdict.objects.filter(of_raters_present(), study=study).order_by("pk")


RATER = ("rater__participant__code", "rater__machine__sha256")


def rater_code(participant: str | None, machine: str | None) -> str:
    """What tells raters apart outside: a person's code, the hash of a machine's frozen parameters."""
    return participant or (machine or "")[:16]


def rater_code_in_sql(study: Study) -> Any:
    return Coalesce("rater__participant__code", Substr("rater__machine__sha256", 1, 16))


def rater_kind(participant: str | None, machine: str | None) -> str:
    if participant:
        return "participant"
    return "machine" if machine else "staff"


def rater_kind_in_sql(study: Study) -> Any:
    return Case(
        When(rater__participant__isnull=False, then=Value("participant")),
        When(rater__machine__isnull=False, then=Value("machine")),
        default=Value("staff"),
    )


def shown_reason(reason: Any, may_publish: bool | None) -> Any:
    """The reason's ticks; its free text only of people who agreed to its publication."""
    if may_publish:
        return reason
    ticked = reason.items() if isinstance(reason, dict) else ()
    return {key: value for key, value in ticked if key != "text"}


def _shown_reason_in_sql(study: Study) -> Any:
    agreed = When(rater__participant__consent__publish_text=True, then=F("reason"))
    return Case(agreed, default=Without("reason", "text"))


def _heard(name: str, meaning: str, *, type: str = "string", **rest: Any) -> Made:
    """A column from the evidence that was stored with the verdict; empty where that is of another type."""
    return column(
        name,
        meaning,
        "evidence",
        type=type,
        make=lambda evidence: inside(evidence, name, type),
        sql=lambda study: Inside("evidence", name, type),
        **rest,
    )


EXPOSURES = dataset(
    "exposures",
    "Dialogues that raters were given, judged or not",
    models=("dialogues.Exposure",),
    query=_exposures,
    language="dialogue__language",
    primary_key=("rater", "dialogue"),
    columns=(
        column("rater", "code of the person or machine", RATER, make=rater_code, sql=rater_code_in_sql),
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("given_at", "when it was given", type="datetime"),
        column("first_byte_at", "when its sound was first asked for", type="datetime"),
        column("heard_at", "when playing was first reported", type="datetime"),
    ),
)

VERDICTS = dataset(
    "verdicts",
    "Opinions on who speaker B is",
    models=("dialogues.Verdict",),
    query=_verdicts,
    language="dialogue__language",
    primary_key=("rater", "dialogue", "repeat"),
    counted="exclusion",
    outcomes=True,
    columns=(
        column("rater", "code of the person or machine", RATER, make=rater_code, sql=rater_code_in_sql),
        column(
            "rater_kind",
            "what the rater is",
            RATER,
            levels=("participant", "machine", "staff"),
            make=rater_kind,
            sql=rater_kind_in_sql,
        ),
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("activity", "activity in which it was given"),
        column("repeat", "repeat of the same question to a machine; people have 0", type="integer"),
        column("choice", "the verdict", levels=Choice.values),
        column("first_choice", "what was chosen first, before any change", levels=Choice.values),
        column("confidence", "1 unsure to 5 certain; empty where not asked", type="integer", unit="step"),
        column(
            "reason",
            "reasons ticked; free text only with consent to publish it",
            ("reason", "rater__participant__consent__publish_text"),
            type="object",
            make=shown_reason,
            sql=_shown_reason_in_sql,
        ),
        _heard("heard", "share of the clip that was heard", type="number", unit="share"),
        _heard("replays", "times it was played again", type="integer"),
        _heard("pauses", "pauses while playing", type="integer"),
        _heard("answer_ms", "from unlocking to the answer", type="integer", unit="ms"),
        _heard("first_answer_ms", "to the first choice, where it was changed", type="integer", unit="ms"),
        _heard("hidden", "time for which the page was not in view", type="number", unit="s"),
        _heard("device", "kind of device"),
        _heard("left", "answer that stood left", levels=Nature.values),
        _heard("gate", "what unlocked the answers", levels=("ended", "covered", "timeout")),
        _heard("length", "length of the clip when it was judged", type="number", unit="s"),
        column("round_number", "round in which it was given, from 1", type="integer"),
        column("position", "place in the round, from 1", type="integer"),
        column("round_finished", "the round was finished", type="boolean"),
        column(
            "exclusion",
            "why it is in no analysis; empty where it is analysed",
            levels=[value for value in Verdict.Exclusion.values if value],
        ),
        column("protocol_breaks", "what keeps it out of the set per_protocol", type="array"),
        column("given_at", "when it was first given", type="datetime"),
        column("changed_at", "when it was last changed; empty if never", type="datetime"),
    ),
)
