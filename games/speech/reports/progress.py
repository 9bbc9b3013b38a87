"""Funnel: how far people came, from consent to the last round, where they came from, and how they left.

Counts only, no outcomes: it may be read while a study runs. Test participants are left out, and so are those
whose answers were erased: no table holds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.speech.models import Round, Trial
from studies.models import EndState, TurnedAway
from studies.reports import Basis, Heading, Options, ReportResult, ReportTable, Tables
from studies.selectors import PROFILE

DATASETS = ("participants", "answers", "players", "rounds", "trials", "turned_away")
#: What is read of the large tables.
COLUMNS = {
    "answers": ("participant", "questionnaire"),
    "rounds": ("participant", "round", "state"),
    "trials": ("participant", "dialogue", "is_check", "state", "judged", "gate", "known"),
}
SHOWN_ROUNDS = 5

Row = Mapping[str, Any]

STEPS = {
    "consented": gettext_lazy("Consented"),
    "language": gettext_lazy("Chose a language"),
    "profile": gettext_lazy("Answered the profile"),
    "sound": gettext_lazy("Did the sound check"),
    "verdict": gettext_lazy("Gave a verdict"),
    "round_1": gettext_lazy("Finished round 1"),
    "round_2": gettext_lazy("Finished round 2"),
    "round_3": gettext_lazy("Finished round 3"),
    "round_4": gettext_lazy("Finished round 4"),
    "round_5": gettext_lazy("Finished round 5"),
    "done": gettext_lazy("Done"),
}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """People by step, in all and by source; turned away; ends; how listening went.

    The analysis set plays no part; ``language`` takes the people who judge in it.
    """
    people = {
        str(row["participant"]): row
        for row in tables["participants"]
        if row["consented_at"] is not None
        and not row["is_test"]
        and options.language in ("", row["judging_language"])
    }
    trials = [row for row in tables["trials"] if str(row["participant"]) in people and not row["is_check"]]
    answered = [row for row in trials if row["state"] == Trial.State.DONE]
    reached = _reached(tables, people, trials)
    return ReportResult(
        key="funnel",
        title=_("Funnel"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=Basis(
            n=len(answered),
            persons=len({row["participant"] for row in answered}),
            dialogues=len({row["dialogue"] for row in answered}),
        ),
        tables=(
            _steps(reached),
            _sources(people, reached),
            _ends(people),
            _turned_away(tables),
            _listening(trials),
        ),
        notes=(
            _("Test participants and people whose answers were erased are left out."),
            _("Of those who consented, %(n)s took part in the pilot.")
            % {"n": sum(bool(row.get("is_pilot")) for row in people.values())},
            _("People brought in from elsewhere never came through these steps and are not in it."),
        ),
    )


def _reached(tables: Tables, people: Mapping[str, Row], trials: list[Row]) -> dict[str, set[str]]:
    """Who reached each step. Steps may be skipped: a study without sound check has nobody there."""
    finished = [row for row in tables["rounds"] if row["state"] == Round.State.FINISHED]
    most: dict[str, int] = {}
    for row in finished:
        most[str(row["participant"])] = max(most.get(str(row["participant"]), 0), int(row["round"]))
    found = {
        "consented": set(people),
        "language": {code for code, row in people.items() if row["judging_language"]},
        "profile": {str(row["participant"]) for row in tables["answers"] if row["questionnaire"] == PROFILE},
        "sound": {str(row["participant"]) for row in tables["players"] if row["sound_passed"] is not None},
        "verdict": {str(row["participant"]) for row in trials if row["judged"]},
        **{
            f"round_{number}": {code for code, last in most.items() if last >= number}
            for number in range(1, SHOWN_ROUNDS + 1)
        },
        "done": {code for code, row in people.items() if row["end_state"] == EndState.DONE},
    }
    return {step: codes & set(people) for step, codes in found.items()}


def _steps(reached: Mapping[str, set[str]]) -> ReportTable:
    everybody = len(reached["consented"])
    rows = []
    for step in STEPS:
        people = len(reached[step])
        rows.append(
            {
                "step": step,
                "people": people,
                "share": people / everybody if everybody else None,
                "note": "" if everybody else _("nobody yet"),
            }
        )
    return ReportTable(
        "steps",
        gettext_lazy("How far people came"),
        (
            Heading("step", gettext_lazy("step"), "text", STEPS),
            Heading("people", gettext_lazy("people"), "count"),
            Heading("share", gettext_lazy("of those who consented")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("A person counts at a step once they reached it, whatever came after."),
    )


def _sources(people: Mapping[str, Row], reached: Mapping[str, set[str]]) -> ReportTable:
    rows = []
    for source in sorted({str(row["source"] or "") for row in people.values()}):
        own = {code for code, row in people.items() if str(row["source"] or "") == source}
        rows.append(
            {
                "source": source or _("(none)"),
                **{step: len(reached[step] & own) for step in ("consented", "verdict", "round_1", "done")},
                "share": len(reached["round_1"] & own) / len(own),
            }
        )
    return ReportTable(
        "sources",
        gettext_lazy("By recruiting source"),
        (
            Heading("source", gettext_lazy("recruiting source"), "text"),
            *(Heading(step, STEPS[step], "count") for step in ("consented", "verdict", "round_1", "done")),
            Heading("share", gettext_lazy("finished a round, of those who consented")),
        ),
        tuple(rows),
        gettext_lazy("The source is the tag of the link by which a person came."),
    )


def _ends(people: Mapping[str, Row]) -> ReportTable:
    counted = Counter(str(row["end_state"] or "") for row in people.values())
    return ReportTable(
        "ends",
        gettext_lazy("How participation ended"),
        (
            Heading(
                "end_state",
                gettext_lazy("end state"),
                "text",
                {"": gettext_lazy("still going on"), **dict(EndState.choices)},
            ),
            Heading("people", gettext_lazy("people"), "count"),
        ),
        tuple({"end_state": state, "people": n} for state, n in sorted(counted.items())),
    )


def _turned_away(tables: Tables) -> ReportTable:
    counted: Counter[str] = Counter()
    for row in tables["turned_away"]:
        counted[str(row["reason"])] += int(row["count"])
    return ReportTable(
        "turned_away",
        gettext_lazy("Turned away"),
        (
            Heading("reason", gettext_lazy("reason"), "text", dict(TurnedAway.Reason.choices)),
            Heading("visits", gettext_lazy("visits"), "count"),
        ),
        tuple({"reason": reason, "visits": n} for reason, n in sorted(counted.items())),
        gettext_lazy("Visits, not people: nothing is stored of those who went no further."),
    )


def _listening(trials: list[Row]) -> ReportTable:
    total = len(trials)
    counted = {
        "answered": sum(row["state"] == Trial.State.DONE for row in trials),
        "failed": sum(row["state"] == Trial.State.FAILED for row in trials),
        "waited": sum(row["gate"] == Trial.Gate.TIMEOUT for row in trials),
        "known": sum(bool(row["known"]) for row in trials),
    }
    return ReportTable(
        "listening",
        gettext_lazy("How listening went"),
        (
            Heading("what", gettext_lazy("what became of it"), "text", LISTENING),
            Heading("n", gettext_lazy("dialogues given"), "count"),
            Heading("share", gettext_lazy("share")),
            NOTE,
        ),
        tuple(
            {
                "what": what,
                "n": n,
                "share": n / total if total else None,
                "note": "" if total else _("nobody yet"),
            }
            for what, n in counted.items()
        ),
        gettext_lazy("Of all dialogues drawn for somebody; checks are left out."),
    )


LISTENING = {
    "answered": gettext_lazy("answered"),
    "failed": gettext_lazy("replaced, as the sound failed"),
    "waited": gettext_lazy("unlocked by waiting"),
    "known": gettext_lazy("known to the person"),
}
NOTE = Heading("note", gettext_lazy("note"), "text")
