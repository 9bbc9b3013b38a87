"""Does the agent survive more often than by chance: whole games, rounds, and each round by itself."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.group.reports.given import (
    ELIMINATION,
    OWN,
    SILENT,
    Given,
    Played,
    given,
    headline,
    out_level,
    rounds_level,
    rounds_played_level,
    survival_level,
)
from games.group.reports.parts import GAMES, SCOPE, SELECTED, cells, interval
from studies.estimates import FEWEST_OPINIONS, NOTE, not_enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats
from turingsite.stats import chance

KEY = "group-survival"
BASELINE = Heading(
    "baseline",
    gettext_lazy("baseline"),
    "text",
    {
        ELIMINATION: gettext_lazy("random elimination (and random voting where the agent votes)"),
        SILENT: gettext_lazy("random voting, the agent silent"),
        OWN: gettext_lazy("random voting, each game by its own rule"),
    },
)
HEADLINE = Heading(
    "headline", gettext_lazy("headline"), "text", {"yes": gettext_lazy("yes"), "no": gettext_lazy("no")}
)


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """Survival against chance; rounds survived; elimination in each round."""
    data = given(tables, options)
    return ReportResult(
        key=KEY,
        title=_("Survival of the agent"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(
            _survival(data),
            _baselines(data),
            _rounds(data),
            _distribution(data),
            _per_round(data),
        ),
        notes=tuple(_notes(data)),
    )


def _notes(data: Given) -> list[str]:
    votes = {game.agent_votes for game in data.games}
    said = [
        {
            frozenset(): "",
            frozenset({True}): _("The agent votes in every game: the headline is random elimination."),
            frozenset({False}): _(
                "The agent is silent in every vote: the headline is random voting, by which it goes more "
                "often than one in m."
            ),
            frozenset({None}): _("Whether the agent voted is not known: the headline is random elimination."),
        }.get(
            frozenset(votes),
            _(
                "The agent votes in some games only: each is compared with its own rule; unknown counts as "
                "voting."
            ),
        ),
        _("Test games, pilots and games that were cancelled or abandoned are left out."),
    ]
    if any(not game.own_rules for game in data.games):
        said.append(
            _(
                "Imported games with other rules may end otherwise: for them there is no chance level of a "
                "whole game."
            )
        )
    return [one for one in said if one]


def _groups(data: Given) -> list[tuple[str, str, list[Played]]]:
    found = [
        (scope.by, scope.level, [game for game in data.games if scope.holds(game)]) for scope in data.scopes()
    ]
    sizes = sorted({game.players for game in data.games})
    if len(sizes) > 1:
        found += [
            ("players", str(size), [game for game in data.games if game.players == size]) for size in sizes
        ]
    return found


def _survival(data: Given) -> ReportTable:
    """Shares that stay in, of all games, whatever their rules."""
    rows = []
    for by, level, games in _groups(data):
        survived = sum(game.survived for game in games)
        rows.append(
            {
                "by": by,
                "level": level,
                "games": len(games),
                "survived": survived,
                **cells(stats.wilson(survived, len(games)), "share", len(games)),
            }
        )
    return ReportTable(
        "survival",
        gettext_lazy("How often the agent survived"),
        (
            *SCOPE,
            GAMES,
            Heading("survived", gettext_lazy("survived"), "count"),
            *interval("share", gettext_lazy("share")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Survived: never voted out until one person was left with it. Wilson's interval at 95 %, a game "
            "counting once."
        ),
    )


def _baselines(data: Given) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for by, level, of_scope in _groups(data):
        games = [game for game in of_scope if game.own_rules]
        if of_scope and not games:
            rows.append({"by": by, "level": level, "games": 0, "note": _("other rules: no chance level")})
            continue
        chosen = headline(games)
        shown = [*([OWN] if chosen == OWN else []), ELIMINATION, SILENT]
        for baseline in sorted(shown, key=lambda one: one != chosen):
            rows.append(
                {
                    "by": by,
                    "level": level,
                    "baseline": baseline,
                    "headline": "yes" if baseline == chosen else "no",
                    **_against(games, baseline),
                }
            )
    return ReportTable(
        "against_chance",
        gettext_lazy("Survival against chance"),
        (
            *SCOPE,
            BASELINE,
            HEADLINE,
            GAMES,
            Heading("survived", gettext_lazy("survived"), "count"),
            Heading("share", gettext_lazy("share")),
            Heading("chance", gettext_lazy("by chance")),
            *interval("difference", gettext_lazy("difference")),
            Heading("p_at_least", gettext_lazy("P(so many or more)"), "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Each game has its own level: with n players 2/n where one goes at random in each round, and "
            "where all vote at random and the agent votes, too; lower where it is silent, for it can be "
            "named by all others and a person by one fewer (counted over all ballots). Difference: mean of "
            "outcome minus level, interval at 95 % by drawing whole games anew (percentiles, seeded). The "
            "last column is exact: that chance alone keeps the agent in so many games or more."
        ),
    )


def _against(games: Sequence[Played], baseline: str) -> dict[str, Any]:
    outcomes = [float(game.survived) for game in games]
    found = chance.against_chance(outcomes, [survival_level(game, baseline) for game in games])
    known = len(games) >= FEWEST_OPINIONS
    return {
        "games": len(games),
        "survived": int(sum(outcomes)),
        "share": found.observed.value if known else None,
        "chance": found.chance,
        **cells(found.difference, "difference", len(games)),
        "p_at_least": found.p_at_least if known else None,
    }


def _rounds(data: Given) -> ReportTable:
    rows = []
    for by, level, of_scope in _groups(data):
        games = [game for game in of_scope if game.own_rules]
        survived = [float(game.rounds_survived) for game in games]
        estimate = chance.games_mean(survived)
        rows.append(
            {
                "by": by,
                "level": level,
                "games": len(games),
                **cells(estimate, "mean", len(games)),
                "chance": fmean(float(rounds_level(game)) for game in games) if games else None,
                "played": sum(game.last_round for game in games),
                "played_chance": float(sum(map(rounds_played_level, games))) if games else None,
            }
        )
    return ReportTable(
        "rounds",
        gettext_lazy("Rounds survived"),
        (
            *SCOPE,
            GAMES,
            *interval("mean", gettext_lazy("rounds survived, mean")),
            Heading("chance", gettext_lazy("by chance")),
            Heading("played", gettext_lazy("rounds played"), "count"),
            Heading("played_chance", gettext_lazy("by chance, all games"), decimals=1),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "With N people the agent survives 0 to N − 1 rounds. Chance by each game's own rule. Interval at "
            "95 % by drawing games anew."
        ),
    )


def _distribution(data: Given) -> ReportTable:
    rows = []
    games = [game for game in data.games if game.own_rules]
    for size in sorted({game.players for game in games}):
        own = [game for game in games if game.players == size]
        for number in range(size - 1):
            count = sum(game.rounds_survived == number for game in own)
            known = len(own) >= FEWEST_OPINIONS
            rows.append(
                {
                    "players": size,
                    "survived": number,
                    "n": count,
                    "games": len(own),
                    "share": count / len(own) if known else None,
                    "chance": fmean(_exactly(game, number) for game in own),
                    "note": "" if known else not_enough(len(own)),
                }
            )
    return ReportTable(
        "distribution",
        gettext_lazy("Games by rounds survived"),
        (
            Heading("players", gettext_lazy("players"), "count"),
            Heading("survived", gettext_lazy("rounds survived"), "count"),
            Heading("n", gettext_lazy("games with so many"), "count"),
            GAMES,
            Heading("share", gettext_lazy("share")),
            Heading("chance", gettext_lazy("by chance")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy("Players count the agent. The last row of each size is survival."),
    )


def _exactly(game: Played, number: int) -> float:
    """Chance to survive just so many rounds, by the game's own rule."""
    level = 1.0
    for m in range(game.players, game.players - number, -1):
        level *= 1 - float(out_level(game, m, OWN))
    last = game.players - number
    return level if last <= chance.LAST else level * float(out_level(game, last, OWN))


def _per_round(data: Given) -> ReportTable:
    """Of the games in which the agent was still there, how often it went in each round."""
    rows = []
    reached = max((game.last_round for game in data.games), default=0)
    for number in range(1, reached + 1):
        at_risk = [
            (game, one)
            for game in data.games
            for one in game.rounds
            if one.number == number and game.has_agent(number) and one.living > chance.LAST
        ]
        if not at_risk:
            continue
        out = sum(game.seats[one.seat].is_agent for game, one in at_risk)
        estimate = stats.wilson(out, len(at_risk))
        rows.append(
            {
                "round": str(number),
                "selected": "yes" if number > 1 else "no",
                "games": len(at_risk),
                "out": out,
                **cells(estimate, "share", len(at_risk)),
                "one_in_m": fmean(1 / one.living for _game, one in at_risk),
                "chance": fmean(float(out_level(game, one.living, OWN)) for game, one in at_risk),
                "living": fmean(one.living for _game, one in at_risk),
            }
        )
    return ReportTable(
        "per_round",
        gettext_lazy("Elimination in each round"),
        (
            Heading("round", gettext_lazy("round"), "text"),
            SELECTED,
            GAMES,
            Heading("living", gettext_lazy("players, mean"), decimals=2),
            Heading("out", gettext_lazy("agent voted out"), "count"),
            *interval("share", gettext_lazy("share")),
            Heading("one_in_m", "1/m"),
            Heading("chance", gettext_lazy("by random voting")),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Of the games in which the agent was still there, those in which it was voted out. 1/m: one of "
            "the m players at random; beside it random voting by each game's rule. From the second round on "
            "these are the games that it had survived so far, so they say nothing of agents in general."
        ),
    )
