"""The headlines of the group game that go into every export, and the script that checks them.

Survival as in the report ``group-survival``, first votes as in ``group-votes``, messages and words as in
``group-participation``; points only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games.group.datasets.games import ELIMINATIONS, GAMES, SEATS, VOTES
from games.group.datasets.talk import MESSAGES
from games.group.models import Game
from games.group.reports import given, participation, survival, talking, votes
from studies.models import Study
from studies.registry import Companion, companions
from studies.reports import Options, ReportResult, Tables
from studies.tables import Table

FORMAT = 1
ALL = "all"
BASELINES = (given.ELIMINATION, given.SILENT)


def headlines(study: Study, language: str = "") -> str:
    """JSON, or nothing for a study without a game that counts."""
    tables: Tables = {
        one.key: Table.of(one.read(study, language)) for one in (GAMES, SEATS, ELIMINATIONS, VOTES, MESSAGES)
    }
    counted = given.given(tables, Options())
    if not counted.games:
        return ""
    scopes = ["", *counted.languages] if len(counted.languages) > 1 else [""]
    rows = [row for scope in scopes for row in _rows(tables, study, scope)]
    content = {"format": FORMAT, "study": study.slug, "headlines": rows}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _rows(tables: Tables, study: Study, language: str) -> Iterator[dict[str, Any]]:
    options, head = Options(language=language), {"language": language or ALL}
    against = survival.build(tables, study=study.slug, options=options)
    for row in _of(against, "against_chance"):
        if row.get("baseline") in BASELINES:
            yield {
                "report": survival.KEY, **head, "baseline": row["baseline"], "n": row["games"],
                "survived": row["survived"], "share": row["share"], "chance": row["chance"],
                "difference": None if row["share"] is None else row["share"] - row["chance"],
            }  # fmt: skip
    for row in _of(votes.build(tables, study=study.slug, options=options), "first_round"):
        yield {
            "report": votes.KEY, **head, "n": row["n"], "on_agent": row["on_agent"],
            "share": row["on_agent"] / row["n"] if row["n"] >= given.FEWEST else None,
            "chance": row["chance"],
        }  # fmt: skip
    data = given.given(tables, options)
    messages = talking.messages_of(data, tables)
    turns = talking.turns_of(data, messages)
    for who in (False, True):
        for measure in (participation.MESSAGES, participation.WORDS):
            values = [one[0] for one in participation.values_of(measure, messages, turns) if one[1] == who]
            yield {
                "report": participation.KEY, **head, "measure": measure,
                "who": "agent" if who else "people", "n": len(values),
                "value": sum(values) / len(values) if len(values) >= given.FEWEST else None,
            }  # fmt: skip


def _of(result: ReportResult, table: str) -> list[dict[str, Any]]:
    found = next(one for one in result.tables if one.key == table)
    return [dict(row) for row in found.rows if row["by"] == given.ALL]


def script(study: Study, language: str = "") -> str:
    """The script that makes the headlines anew; nothing where there are none."""
    if not Game.objects.filter(study=study, end__in=Game.PLAYED).exists():
        return ""
    return (Path(__file__).parent / "reproduce_group.py").read_text(encoding="utf-8")


def register() -> None:
    """Called once when the app starts."""
    companions.add(Companion("headlines_group.json", headlines))
    companions.add(Companion("reproduce_group.py", script))
