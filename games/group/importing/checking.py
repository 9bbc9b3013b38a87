"""What must hold of any game from a file before it is written; every fault is told, not only the first."""

from __future__ import annotations

from collections import Counter

from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import shortened
from games.group.importing.shapes import LEAST_PLAYERS, MOST_PLAYERS, FileGame
from games.group.models import Game


def check(game: FileGame) -> None:
    """Add what contradicts itself to the game's notes."""
    _seats(game)
    if game.refused:
        return
    _votes(game)
    _eliminations(game)
    _answers(game)
    _end(game)


def _refuse(game: FileGame, code: str, message: str, **params: object) -> None:
    game.notes.append(notes.refused(code, message, **params))


def _seats(game: FileGame) -> None:
    if not LEAST_PLAYERS <= len(game.seats) <= MOST_PLAYERS:
        _refuse(
            game, "players", gettext_noop("There are %(n)s players. A game has %(least)s to %(most)s."),
            n=len(game.seats), least=LEAST_PLAYERS, most=MOST_PLAYERS,
        )  # fmt: skip
    for what, message in (
        ("key", gettext_noop("Two seats are called “%(name)s”.")),
        ("pseudonym", gettext_noop("Two players have the name “%(name)s”.")),
        ("person", gettext_noop("The person “%(name)s” sits on two seats.")),
    ):
        counted = Counter(getattr(seat, what) for seat in game.seats if what != "person" or not seat.is_agent)
        for name in (one for one, n in counted.items() if n > 1):
            _refuse(game, f"double_{what}", message, name=shortened(name))
    agents = sum(seat.is_agent for seat in game.seats)
    if agents != 1:
        _refuse(game, "agents", gettext_noop("There are %(n)s machines at the table, not one."), n=agents)


def _answers(game: FileGame) -> None:
    agents = {seat.key for seat in game.seats if seat.is_agent}
    counted = Counter((one.seat, one.question) for one in game.answers)
    for seat, question in (one for one, n in counted.items() if n > 1):
        message = gettext_noop("%(seat)s answers “%(question)s” twice.")
        _refuse(game, "answered_twice", message, seat=shortened(seat), question=shortened(question))
    for seat in {one.seat for one in game.answers} & agents:
        _refuse(game, "agent_answers", gettext_noop("%(seat)s is the AI and answers the survey."), seat=seat)


def _votes(game: FileGame) -> None:
    seen: set[tuple[int, str]] = set()
    late = 0
    out = {seat.key: seat.out_round for seat in game.seats}
    for vote in game.votes:
        said = {"voter": shortened(vote.voter), "round": vote.round}
        if (vote.round, vote.voter) in seen:
            _refuse(game, "voted_twice", gettext_noop("%(voter)s votes twice in round %(round)s."), **said)
        seen.add((vote.round, vote.voter))
        if vote.voter == vote.target:
            message = gettext_noop("%(voter)s votes for themselves in round %(round)s.")
            _refuse(game, "yourself", message, **said)
        late += any(
            gone is not None and gone < vote.round
            for gone in (out.get(vote.voter), out.get(vote.target or ""))
        )
    if late:
        message = gettext_noop("%(n)s votes are by or for players who were out; they are kept as they are.")
        game.notes.append(notes.warning("votes_of_the_out", message, n=late))


def _eliminations(game: FileGame) -> None:
    out = {seat.key: seat.out_round for seat in game.seats}
    rounds = Counter(one.round for one in game.eliminations)
    for number in (one for one, n in rounds.items() if n > 1):
        _refuse(game, "two_out", gettext_noop("Two are voted out in round %(round)s."), round=number)
    whom = Counter(one.seat for one in game.eliminations)
    for seat in (one for one, n in whom.items() if n > 1):
        _refuse(game, "out_twice", gettext_noop("%(seat)s is voted out twice."), seat=shortened(seat))
    for one in game.eliminations:
        if out.get(one.seat) != one.round:
            message = gettext_noop("%(seat)s is voted out in round %(round)s, but their seat says otherwise.")
            _refuse(game, "other_round", message, seat=shortened(one.seat), round=one.round)


def _end(game: FileGame) -> None:
    agent = next(seat for seat in game.seats if seat.is_agent)
    if game.end == Game.End.AGENT_OUT and agent.out_round is None:
        message = gettext_noop("The game ended with the AI out, but its seat was never put out.")
        _refuse(game, "end_contradicts", message)
    if game.end == Game.End.SURVIVED and agent.out_round is not None:
        message = gettext_noop("The AI survived, but its seat was put out in round %(round)s.")
        _refuse(game, "end_contradicts", message, round=agent.out_round)
    last = max((seat.out_round or 0 for seat in game.seats), default=0)
    if last > game.rounds:
        message = gettext_noop("Somebody goes out in round %(round)s of %(rounds)s.")
        _refuse(game, "too_few_rounds", message, round=last, rounds=game.rounds)
