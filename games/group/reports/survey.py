"""What people said after the game: means with what they rest on, each on the scale it was asked on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.group.reports.given import DATASETS, Given, Scope, given
from games.group.reports.parts import GAMES, SCOPE, cells, interval
from games.group.selectors import SURVEY
from studies.estimates import NOTE
from studies.questions import DECLINE
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

KEY = "group-survey"
TABLES = (*DATASETS, "answers")
COLUMNS = {"answers": ("participant", "questionnaire", "question", "value", "scale", "about")}
QUESTION = Heading(
    "question",
    gettext_lazy("question"),
    "text",
    {
        "human_likeness": gettext_lazy("the AI was like a human"),
        "timing": gettext_lazy("natural timing and pacing"),
        "relevance": gettext_lazy("relevant and coherent"),
        "enjoyment": gettext_lazy("enjoyed the game"),
        "identified": gettext_lazy("thought they knew the AI"),
        "gave_away": gettext_lazy("what gave it away (own words)"),
    },
)
MOST_LEVELS = 11  # of a scale whose single answers are listed


class Said(NamedTuple):
    """One answer about a game that counts; ``scale``: the numbers that were offered, () for own words."""

    question: str
    scale: tuple[str, ...]
    value: str
    person: str
    game: str


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Means by question and scale; how often each answer was given; who answered at all."""
    data = given(tables, options)
    said = list(_said(data, tables))
    return ReportResult(
        key=KEY,
        title=_("Survey after the game"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(_means(data, said), _distribution(said), _answered(data, said)),
        notes=(
            _("Every item may be left open; so n differs between them."),
            _("Answers on different scales are never taken together."),
        ),
    )


def _said(data: Given, tables: Tables) -> list[Said]:
    games = {game.code for game in data.games}
    table = tables["answers"]
    columns = (table.column(name) for name in COLUMNS["answers"])
    return [
        Said(str(question), _numbers(scale), str(value), str(person), str(about))
        for person, form, question, value, scale, about in zip(*columns, strict=True)
        if form == SURVEY and about in games and value != DECLINE
    ]


def _numbers(scale: Sequence[Any] | None) -> tuple[str, ...]:
    return tuple(str(one) for one in scale or () if str(one) != DECLINE)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _range(scale: Sequence[str]) -> str:
    return f"{scale[0]}–{scale[-1]}" if scale else ""


def _keys(said: Sequence[Said]) -> list[tuple[str, tuple[str, ...]]]:
    """Questions with their scales, the known ones first."""
    order = list(QUESTION.words)
    found = {(one.question, one.scale) for one in said if one.scale and _number(one.scale[0]) is not None}
    return sorted(
        found, key=lambda key: (order.index(key[0]) if key[0] in order else len(order), key[0], len(key[1]))
    )


def _means(data: Given, said: Sequence[Said]) -> ReportTable:
    by_game = {game.code: game for game in data.games}

    def of(scope: Scope, key: tuple[str, tuple[str, ...]]) -> Mapping[str, Any]:
        own = [
            one
            for one in said
            if (one.question, one.scale) == key
            and scope.holds(by_game[one.game])
            and _number(one.value) is not None
        ]
        games = len({one.game for one in own})
        values = [_number(one.value) or 0.0 for one in own]
        # Of yes and no it is a share, whose interval stays between 0 and 1.
        estimator = stats.proportion if key[1] == ("0", "1") else stats.mean
        estimate = estimator(values, [one.person for one in own], [one.game for one in own])
        return {
            "by": scope.by,
            "level": scope.level,
            "question": key[0],
            "scale": _range(key[1]),
            "n": len(own),
            "games": games,
            **cells(estimate, "mean", games),
        }

    rows = [of(scope, key) for scope in data.scopes() for key in _keys(said)]
    return ReportTable(
        "means",
        gettext_lazy("Means"),
        (
            *SCOPE,
            QUESTION,
            Heading("scale", gettext_lazy("scale"), "text"),
            Heading("n", gettext_lazy("answers"), "count"),
            GAMES,
            *interval("mean", gettext_lazy("mean")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "On the scale that was shown. Intervals at 95 %: people and games are both samples (two-way "
            "variance)."
        ),
    )


def _distribution(said: Sequence[Said]) -> ReportTable:
    rows = []
    for question, scale in _keys(said):
        if len(scale) > MOST_LEVELS:
            continue
        own = [one.value for one in said if (one.question, one.scale) == (question, scale)]
        for level in scale:
            rows.append(
                {
                    "question": question,
                    "scale": _range(scale),
                    "answer": level,
                    "n": own.count(level),
                    "share": own.count(level) / len(own) if own else None,
                }
            )
    return ReportTable(
        "distribution",
        gettext_lazy("How often each answer was given"),
        (
            QUESTION,
            Heading("scale", gettext_lazy("scale"), "text"),
            Heading("answer", gettext_lazy("answer"), "text"),
            Heading("n", gettext_lazy("answers"), "count"),
            Heading("share", gettext_lazy("share")),
        ),
        tuple(rows),
    )


def _answered(data: Given, said: Sequence[Said]) -> ReportTable:
    """People who answered each item, of all who sat in the games that count."""
    people = sum(not seat.is_agent for game in data.games for seat in game.seats.values())
    questions = [*dict.fromkeys(one.question for one in said)]
    order = list(QUESTION.words)
    questions.sort(key=lambda key: (order.index(key) if key in order else len(order), key))
    rows = []
    for question in ("", *questions):
        who = {(one.person, one.game) for one in said if question in ("", one.question)}
        rows.append(
            {
                "question": question,
                "answered": len(who),
                "people": people,
                "share": len(who) / people if people else None,
                "note": "" if people else _("nobody yet"),
            }
        )
    return ReportTable(
        "answered",
        gettext_lazy("Who answered"),
        (
            Heading(
                "question", gettext_lazy("question"), "text", {"": gettext_lazy("any item"), **QUESTION.words}
            ),
            Heading("answered", gettext_lazy("people who answered"), "count"),
            Heading("people", gettext_lazy("people in the games"), "count"),
            Heading("share", gettext_lazy("share")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("Own words are counted here, not read."),
    )
