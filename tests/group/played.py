"""Finished group games as rows, made quickly: a few by hand, or the published fifty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from dialogues.models import Nature
from games.group.models import Agent, Elimination, Game, Vote
from games.room.models import Event, Room, Seat
from studies.models import Participant, Rater, Study
from tests.factories import NOW, StudyFactory
from tests.rooms import NAMES, AgentFactory

ROUND = 200  # s
#: The round in which the agent went out of each of the published fifty; None: it survived. The first 34 have
#: five people, the others four; together 135 rounds.
PUBLISHED = (
    *((5, None),) * 10, *((5, 1),) * 6, *((5, 2),) * 7, *((5, 3),) * 7, *((5, 4),) * 4,
    *((4, None),) * 5, *((4, 1),) * 3, *((4, 2),) * 4, *((4, 3),) * 4,
)  # fmt: skip


class Tables:
    """A study and its games. Places are named by their position; the agent sits at ``agent_at``."""

    def __init__(self, study: Study | None = None) -> None:
        self.study = study or StudyFactory(activities=["group"])
        self.agent: Agent = AgentFactory()

    def game(
        self,
        *,
        people: int = 5,
        out: int | None = None,
        on_agent: int = 0,
        agent_at: int = 2,
        rules: Mapping[str, Any] | None = None,
        end: str | None = None,
        language: str = "en",
        said: Sequence[tuple[Any, ...]] = (),
    ) -> Game:
        """``out``: the round in which the agent goes, None: it survives. ``on_agent``: first votes of people
        on it. ``said``: (round, position, seconds into the round, text)."""
        number = self.study.group_games.count() + 1
        last = people - 1 if out is None else out
        over = end if end is not None else Game.End.SURVIVED if out is None else Game.End.AGENT_OUT
        ended = NOW + timedelta(seconds=ROUND * last) if over else None
        room = Room.objects.create(
            study=self.study, game="group", language=language, seed=number, phase="end" if over else "vote",
            round=last, phase_started_at=NOW, opened_at=NOW, closed_at=ended,
        )  # fmt: skip
        game = Game.objects.create(
            study=self.study, room=room, number=number, agent=self.agent, people=people, end=over,
            ended_at=ended, rules={"agent_votes": True, **(rules or {})},
        )  # fmt: skip
        seats = self._seats(room, people, agent_at)
        self._rounds(game, seats, last, out, on_agent)
        events = [
            Event(
                room=room, seq=at + 1, kind="message", seat=seats[position], round=round_, phase="discussion",
                text=text, length=len(text), at=NOW + timedelta(seconds=ROUND * (round_ - 1) + second),
            )
            for at, (round_, position, second, text) in enumerate(said)
        ]  # fmt: skip
        Event.objects.bulk_create(events)
        Room.objects.filter(pk=room.pk).update(last_seq=len(events))
        return game

    def published(self, **rest: Any) -> None:
        """Fifty games with the published sizes, ends, rounds and 53 first votes of people on the agent."""
        more = 35  # games in which it stayed that also got one vote
        for people, out in PUBLISHED:
            on_agent = 2 if out == 1 else min(1, more)
            more -= on_agent if out != 1 else 0
            self.game(people=people, out=out, on_agent=on_agent, **rest)

    def _seats(self, room: Room, people: int, agent_at: int) -> list[Seat]:
        persons = Participant.objects.bulk_create(
            Participant(study=self.study, state="completed", judging_language=room.language, joined_at=NOW)
            for _one in range(people)
        )
        raters = Rater.objects.bulk_create(Rater(participant=one) for one in persons)
        sitting: list[Any] = list(zip(persons, raters, strict=True))
        sitting.insert(agent_at, (None, self.agent.machine.rater))
        return Seat.objects.bulk_create(
            Seat(
                room=room, position=at, pseudonym=NAMES[at], participant=person, rater=rater,
                nature=Nature.HUMAN if person else Nature.MACHINE,
            )
            for at, (person, rater) in enumerate(sitting)
        )  # fmt: skip

    def _rounds(self, game: Game, seats: list[Seat], last: int, out: int | None, on_agent: int) -> None:
        living = list(seats)
        agent = next(seat for seat in seats if seat.nature == Nature.MACHINE)
        votes, eliminations = [], []
        for number in range(1, last + 1):
            people = [seat for seat in living if seat is not agent]
            gone = agent if number == out else people[-1]
            ballots = _ballots(people, agent, gone, on_agent if number == 1 else 0)
            if game.rules["agent_votes"]:
                ballots.append((agent, people[0] if gone is agent else gone))
            at = NOW + timedelta(seconds=ROUND * number)
            votes += [
                Vote(game=game, round=number, voter=who, target=whom, at=at) for who, whom in ballots
            ]  # fmt: skip
            tally: dict[str, int] = {}
            for _who, whom in ballots:
                tally[whom.code] = tally.get(whom.code, 0) + 1
            eliminations.append(
                Elimination(game=game, round=number, seat=gone, living=len(living), tally=tally, at=at)
            )
            gone.out_round, gone.out_at = number, at
            living.remove(gone)
        Vote.objects.bulk_create(votes)
        Elimination.objects.bulk_create(eliminations)
        Seat.objects.bulk_update(seats, ["out_round", "out_at"])


def _ballots(people: list[Seat], agent: Seat, gone: Seat, on_agent: int) -> list[tuple[Seat, Seat]]:
    """One vote of each person, so that ``gone`` has most; ``on_agent`` of them on the agent."""
    if gone is agent:
        count = on_agent or len(people)
        scattered = [(who, people[at - 1]) for at, who in enumerate(people)]
        return [(who, agent) if at < count else (who, whom) for at, (who, whom) in enumerate(scattered)]
    others = [seat for seat in people if seat is not gone]
    found = [(who, agent if at < on_agent else gone) for at, who in enumerate(others)]
    return [*found, (gone, others[0] if others else agent)]
