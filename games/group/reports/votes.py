"""Do people's votes fall on the agent more often than by chance; how ties were decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from games.group.reports.given import DATASETS, Given, Played, Round, Scope, given
from games.group.reports.parts import GAMES, SCOPE, SELECTED, cells, interval, why_not
from studies.estimates import FEWEST_OPINIONS, NOTE, not_enough
from studies.reports import Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats
from turingsite.stats import chance

KEY = "group-votes"
TABLES = (*DATASETS, "group_votes")
COLUMNS = {"group_votes": ("game", "round", "voter", "target")}

DRAWN, FIRST, UNSAID = "drawn", "first", "unsaid"
COUNTS = (
    Heading("n", gettext_lazy("votes"), "count"),
    Heading("voters", gettext_lazy("people who voted"), "count"),
    GAMES,
)
SHARES = (
    Heading("on_agent", gettext_lazy("on the agent"), "count"),
    *interval("share", gettext_lazy("share")),
    Heading("chance", gettext_lazy("by chance")),
    *interval("difference", gettext_lazy("difference"), "d_"),
    Heading("abstained", gettext_lazy("abstained"), "count"),
    NOTE,
)
HOW = gettext_lazy(
    "People's votes alone, in rounds in which the agent was there. Chance: a voter among m players has m − 1 "
    "to choose from, so 1/(m − 1), pooled over the votes. Intervals at 95 %: voters and games are both "
    "samples (two-way variance)."
)


class Ballot(NamedTuple):
    """One person's vote in a round with the agent; ``target``: "" for an abstention."""

    game: Played
    number: int
    voter: str
    target: str
    living: int

    @property
    def on_agent(self) -> bool:
        return bool(self.target) and self.game.seats[self.target].is_agent


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """The share of first votes on the agent against chance; the same by round; ties."""
    data = given(tables, options)
    ballots = list(ballots_of(data, tables))
    return ReportResult(
        key=KEY,
        title=_("Votes on the agent"),
        study=study,
        analysis_set="",
        language=options.language,
        basis=data.basis,
        tables=(_first_round(data, ballots), _by_round(ballots), _ties(data, tables)),
        notes=(
            _("The agent's own votes are in no share."),
            _("Test games, pilots and games that were cancelled or abandoned are left out."),
        ),
    )


def ballots_of(data: Given, tables: Tables) -> Iterable[Ballot]:
    games = {game.code: game for game in data.games}
    table = tables["group_votes"]
    for code, number, voter, target in zip(
        *(table.column(name) for name in COLUMNS["group_votes"]), strict=True
    ):
        game = games.get(code)
        if game is None or game.seats[voter].is_agent or not game.has_agent(number):
            continue
        yield Ballot(game, number, voter, target or "", _living(game, number))


def _living(game: Played, number: int) -> int:
    decided = next((one.living for one in game.rounds if one.number == number), None)
    return len(game.living(number)) if decided is None else decided


def _row(ballots: Sequence[Ballot]) -> dict[str, Any]:
    voted = [one for one in ballots if one.target]
    who = [one.game.seats[one.voter].person or one.voter for one in voted]
    where = [one.game.code for one in voted]
    y = [float(one.on_agent) for one in voted]
    levels = [float(chance.vote_chance(one.living)) for one in voted]
    games = len(set(where))
    share = stats.proportion(y, who, where)
    difference = stats.mean([a - b for a, b in zip(y, levels, strict=True)], who, where)
    lacking = why_not(difference, games)
    return {
        "n": len(voted),
        "voters": len(set(who)),
        "games": games,
        "on_agent": int(sum(y)),
        **cells(share, "share", games),
        "chance": fmean(levels) if levels else None,
        **{
            f"d_{key}": None if lacking else value
            for key, value in (
                ("difference", difference.value), ("low", difference.low), ("high", difference.high),
            )
        },
        "abstained": len(ballots) - len(voted),
    }  # fmt: skip


def _first_round(data: Given, ballots: Sequence[Ballot]) -> ReportTable:
    first = [one for one in ballots if one.number == 1]

    def of(scope: Scope) -> dict[str, Any]:
        return _row([one for one in first if scope.holds(one.game)])

    return ReportTable(
        "first_round",
        gettext_lazy("First votes on the agent"),
        (*SCOPE, *COUNTS, *SHARES),
        tuple({"by": scope.by, "level": scope.level, **of(scope)} for scope in data.scopes()),
        HOW,
    )


def _by_round(ballots: Sequence[Ballot]) -> ReportTable:
    rows = [
        {
            "round": str(number),
            "selected": "yes" if number > 1 else "no",
            **_row([one for one in ballots if one.number == number]),
        }
        for number in sorted({one.number for one in ballots})
    ]
    return ReportTable(
        "by_round",
        gettext_lazy("Votes on the agent by round"),
        (Heading("round", gettext_lazy("round"), "text"), SELECTED, *COUNTS, *SHARES),
        tuple(rows),
        gettext_lazy(
            "From the second round on these are the games in which the agent was still there, and the people "
            "left in them: they say nothing of agents or people in general."
        ),
    )


def _ties(data: Given, tables: Tables) -> ReportTable:
    """How often who went next had most votes, how ties were decided, whether the first seat was favoured."""
    rows = []
    voted = _tallies(data, tables)
    went = [(game, tally, _next_out(game, number)) for game, number, tally in voted]
    by_draw: dict[str, list[tuple[Played, Round]]] = {}
    for game in data.games:
        for one in game.rounds:
            if len(one.tied) > 1:
                by_draw.setdefault(_how(one.draw), []).append((game, one))
    consistent = sum(one is not None and _has_most(one, tally) for _game, tally, one in went)
    head = {"rounds": len(voted), "consistent": consistent}
    for how in (DRAWN, FIRST, UNSAID):
        tied = by_draw.get(how, [])
        if not tied:
            continue
        firsts = sum(_is_first(game, one) for game, one in tied)
        levels = [1 / len(one.tied) for _game, one in tied]
        known = len(tied) >= FEWEST_OPINIONS
        rows.append(
            {
                "decided": how,
                **head,
                "ties": len(tied),
                "first": firsts,
                "chance": sum(levels),
                "p_first": chance.at_least(levels, firsts) if known else None,
                "note": "" if known else not_enough(len(tied)),
            }
        )
    if not rows and voted:
        rows.append({"decided": "", **head, "ties": 0, "note": _("no ties")})
    return ReportTable(
        "ties",
        gettext_lazy("Ties, and how they were decided"),
        (
            Heading(
                "decided",
                gettext_lazy("how"),
                "text",
                {
                    DRAWN: gettext_lazy("drawn with a stored seed"),
                    FIRST: gettext_lazy("no draw: the first in the order of players"),
                    UNSAID: gettext_lazy("not recorded"),
                },
            ),
            Heading("rounds", gettext_lazy("rounds with votes"), "count"),
            Heading("consistent", gettext_lazy("most-voted went"), "count"),
            Heading("ties", gettext_lazy("ties"), "count"),
            Heading("first", gettext_lazy("first of the tied went"), "count"),
            Heading("chance", gettext_lazy("by an even draw"), decimals=1),
            Heading("p_first", gettext_lazy("P(so many or more)"), "p"),
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "Most-voted went: nobody had more votes than the one who went next. First: in the order in which "
            "players sat. An even draw takes the first of k tied in one of k; the last column is exact."
        ),
    )


def _how(draw: Mapping[str, Any]) -> str:
    if "seed" in draw:
        return DRAWN
    return FIRST if draw.get("rule") == FIRST else UNSAID


def _tallies(data: Given, tables: Tables) -> list[tuple[Played, int, Counter[str]]]:
    """Votes by target of every round in which somebody voted, the agent's included."""
    games = {game.code: game for game in data.games}
    found: dict[tuple[str, int], Counter[str]] = {}
    table = tables["group_votes"]
    for code, number, _voter, target in zip(
        *(table.column(name) for name in COLUMNS["group_votes"]), strict=True
    ):
        if code in games and target:
            found.setdefault((code, number), Counter())[target] += 1
    return [(games[code], number, tally) for (code, number), tally in found.items()]


def _next_out(game: Played, number: int) -> Round | None:
    """Who went by the vote of that round, or of the next one that had a consequence."""
    return next((one for one in game.rounds if one.number >= number), None)


def _has_most(one: Round, tally: Mapping[str, int]) -> bool:
    return one.seat in one.tied or tally.get(one.seat, 0) == max(tally.values(), default=0)


def _is_first(game: Played, one: Round) -> bool:
    return one.seat == min(one.tied, key=lambda code: game.seats[code].position)
