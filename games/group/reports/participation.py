"""How much and how agent and people take part: messages, words, questions, answers, how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.group.reports.given import ALL, Scope, given
from games.group.reports.parts import AGENT, GAMES, PEOPLE, SCOPE, SELECTED, WHO, cells, interval
from games.group.reports.talking import ANSWER_WITHIN, Message, Turn, messages_of, turns_of
from studies.estimates import FEWEST_OPINIONS, NOTE, not_enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

KEY = "group-participation"
MESSAGES, WORDS, CHARACTERS, QUESTIONS, ANSWERS = (
    "messages", "words", "characters", "questions", "answers",
)  # fmt: skip
MEASURE = Heading(
    "measure",
    gettext_lazy("what"),
    "text",
    {
        MESSAGES: gettext_lazy("messages per active player and round"),
        WORDS: gettext_lazy("words per message"),
        CHARACTERS: gettext_lazy("characters per message"),
        QUESTIONS: gettext_lazy("questions (share of messages)"),
        ANSWERS: gettext_lazy("answers (share of messages)"),
    },
)
SHARES = (QUESTIONS, ANSWERS)
QUANTILES = (("p10", 0.1), ("p25", 0.25), ("median", 0.5), ("p75", 0.75), ("p90", 0.9))
#: A value with who, and in which game: what an estimate over persons and games needs.
Value = tuple[float, bool, str, str]
OF_MESSAGE: dict[str, Callable[[Message], float | None]] = {
    WORDS: lambda one: one.words,
    CHARACTERS: lambda one: one.characters,
    QUESTIONS: lambda one: None if one.question is None else float(one.question),
    ANSWERS: lambda one: float(one.answers),
}


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Measures for people and agent, their difference, latencies, messages by round."""
    data = given(tables, options)
    messages = messages_of(data, tables)
    turns = turns_of(data, messages)
    return ReportResult(
        key=KEY,
        title=_("Participation of agent and people"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(
            _talk(data.scopes(), messages, turns),
            _difference(data.scopes(), messages, turns),
            _latency(messages),
            _by_round(turns),
        ),
        notes=(
            _("Only what was written in discussions counts; there were %(n)s messages.")
            % {"n": len(messages)},
            _(
                "Words: runs between blanks. In scripts without blanks (Chinese, Japanese) every character "
                "is a word, so compare words within a language only."
            ),
            _("Withdrawn messages count as messages, but their words and questions are gone."),
        ),
    )


def values_of(measure: str, messages: Sequence[Message], turns: Sequence[Turn]) -> Iterator[Value]:
    """The measure of every message, or player and round, with who and where."""
    if measure == MESSAGES:
        for turn in turns:
            yield float(turn.messages), turn.is_agent, turn.seat, turn.game.code
        return
    read = OF_MESSAGE[measure]
    for one in messages:
        value = read(one)
        if value is not None:
            yield float(value), one.is_agent, one.seat, one.game.code


def _scoped(
    scopes: Sequence[Scope], messages: Sequence[Message], turns: Sequence[Turn]
) -> Iterator[tuple[Scope, str, list[Value]]]:
    for scope in scopes:
        own = [one for one in messages if scope.holds(one.game)]
        theirs = [one for one in turns if scope.holds(one.game)]
        for measure in MEASURE.words:
            yield scope, measure, list(values_of(measure, own, theirs))


def _talk(scopes: Sequence[Scope], messages: Sequence[Message], turns: Sequence[Turn]) -> ReportTable:
    rows = []
    for scope, measure, values in _scoped(scopes, messages, turns):
        for who in (PEOPLE, AGENT, ALL):
            own = [one for one in values if who == ALL or one[1] == (who == AGENT)]
            rows.append(
                {
                    "by": scope.by,
                    "level": scope.level,
                    "measure": measure,
                    "who": who,
                    "n": len(own),
                    "players": len({seat for _y, _is_agent, seat, _game in own}),
                    **_estimated(measure, own),
                }
            )
    return ReportTable(
        "talk",
        gettext_lazy("How agent and people write"),
        (
            *SCOPE,
            MEASURE,
            WHO,
            Heading("n", "n", "count"),
            Heading("players", gettext_lazy("players"), "count"),
            GAMES,
            *interval("value", gettext_lazy("mean or share")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "n counts messages; of the first measure, players in rounds. Active: at the table in that round, "
            "also who writes nothing. A question has a question mark. An answer is the writer's first "
            "message after somebody else's question in that round, within %(seconds)s seconds. Intervals at "
            "95 %%: players and games are both samples (two-way variance)."
        )
        % {"seconds": int(ANSWER_WITHIN)},
    )


def _estimated(measure: str, own: Sequence[Value]) -> dict[str, Any]:
    y, _is_agent, seats, codes = _columns(own)
    games = len(set(codes))
    estimate = stats.proportion(y, seats, codes) if measure in SHARES else stats.mean(y, seats, codes)
    return {"games": games, **cells(estimate, "value", games)}


def _columns(own: Sequence[Value]) -> tuple[list[float], list[bool], list[str], list[str]]:
    return (
        [one[0] for one in own],
        [one[1] for one in own],
        [one[2] for one in own],
        [one[3] for one in own],
    )


def _difference(scopes: Sequence[Scope], messages: Sequence[Message], turns: Sequence[Turn]) -> ReportTable:
    rows = []
    for scope, measure, values in _scoped(scopes, messages, turns):
        y, is_agent, seats, codes = _columns(values)
        games = len(set(codes))
        fewest = min(sum(is_agent), len(y) - sum(is_agent))
        estimate = stats.difference(y, is_agent, seats, codes)
        test = stats.difference_test(estimate)
        found = cells(estimate, "difference", games, n=fewest)
        rows.append(
            {
                "by": scope.by,
                "level": scope.level,
                "measure": measure,
                "games": games,
                **found,
                "p": None if found["note"] else test.p,
            }
        )
    return ReportTable(
        "difference",
        gettext_lazy("Agent minus people"),
        (
            *SCOPE,
            MEASURE,
            GAMES,
            *interval("difference", gettext_lazy("difference")),
            Heading("p", "p", "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Above 0: the agent does more of it. Players and games are both samples; t with the smaller "
            "number of them on either side, less one."
        ),
    )


def _latency(messages: Sequence[Message]) -> ReportTable:
    rows = []
    for who in (PEOPLE, AGENT):
        own = [one for one in messages if one.latency is not None and one.is_agent == (who == AGENT)]
        seconds = np.array([one.latency for one in own], dtype=np.float64)
        known = len(own) >= FEWEST_OPINIONS
        rows.append(
            {
                "who": who,
                "n": len(own),
                "games": len({one.game.code for one in own}),
                **{key: float(np.quantile(seconds, share)) if known else None for key, share in QUANTILES},
                "note": "" if known else not_enough(len(own)),
            }
        )
    return ReportTable(
        "latency",
        gettext_lazy("How soon after somebody else's message"),
        (
            WHO,
            Heading("n", pgettext_lazy("group game", "messages"), "count"),
            GAMES,
            Heading("p10", gettext_lazy("10 % (s)"), decimals=1),
            Heading("p25", gettext_lazy("25 % (s)"), decimals=1),
            Heading("median", gettext_lazy("median (s)"), decimals=1),
            Heading("p75", gettext_lazy("75 % (s)"), decimals=1),
            Heading("p90", gettext_lazy("90 % (s)"), decimals=1),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Seconds since the message before, where that was somebody else's in the same round. Quantiles: "
            "so many of a hundred messages came at least as soon."
        ),
    )


def _by_round(turns: Sequence[Turn]) -> ReportTable:
    rows = []
    for number in sorted({turn.number for turn in turns}):
        for who in (PEOPLE, AGENT):
            own = [turn for turn in turns if turn.number == number and turn.is_agent == (who == AGENT)]
            values: list[Value] = [
                (float(turn.messages), turn.is_agent, turn.seat, turn.game.code) for turn in own
            ]
            rows.append(
                {
                    "round": str(number),
                    "selected": "yes" if number > 1 else "no",
                    "who": who,
                    "n": len(own),
                    **_estimated(MESSAGES, values),
                }
            )
    return ReportTable(
        "by_round",
        gettext_lazy("Messages per active player by round"),
        (
            Heading("round", gettext_lazy("round"), "text"),
            SELECTED,
            WHO,
            Heading("n", gettext_lazy("players"), "count"),
            GAMES,
            *interval("value", pgettext_lazy("group game", "messages")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("From the second round on these are the players and games that were left."),
    )
