"""Simulated people play one group game with the agent: every step goes through the services, on one clock."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from games.group.agent import claims
from games.group.agent.loop import Play
from games.group.bots import talk
from games.group.models import Game
from games.group.phases import DISCUSSION, VOTE
from games.group.selectors import living, survey_of
from games.group.services import lobby
from games.group.services.surveys import answer_survey
from games.group.services.voting import cast_vote
from games.room.models import Room, Seat
from games.room.services import advance, note_seen, send_message
from studies import services as studies
from studies.models import Participant, Study
from turingsite.demo.people import Person
from turingsite.errors import DomainError

RUNNER = "demo"
SEEN_EVERY = 8.0  # seconds
LONGEST = timedelta(hours=1)
Player = tuple[Participant, Person]


def play(study: Study, players: Sequence[Player], *, seed: str, now: datetime) -> Game:
    """From the waiting room to the survey; ``now`` is when they have all come."""
    for participant, _person in players:
        lobby.join(participant=participant, now=now)
        lobby.ready(participant=participant, now=now)
    game = lobby.try_start(study=study, language=players[0][1].language, now=now)
    if game is None:
        raise RuntimeError("no game began")
    table = _Table(game, seed, now)
    table.play()
    return table.end(players)


class _Table:
    """One game on a clock of its own: who is next does something, and says when they are next again."""

    def __init__(self, game: Game, seed: str, now: datetime) -> None:
        self.game = game
        self.now = now
        self.until = now + LONGEST
        self.rng = random.Random(seed)
        self._order = itertools.count()
        self._due: list[tuple[datetime, int, Callable[[], float | None]]] = []
        self._said: set[str] = set()
        claim = claims.claim_games(runner=RUNNER, turn=game.pk, most=1, now=now)[game.pk]
        self.agent = Play(game.pk, claim, clock=lambda: self.now)

    def play(self) -> None:
        self.agent.begin()
        self._at(0.0, self._clock)
        self._at(1.0, self.agent.turn)
        for seat in self._people():
            self._at(self.rng.uniform(2, 12), lambda seat=seat: self._person(seat.pk))  # type: ignore[misc]
        while self._due and self.now < self.until:
            at, _number, act = heapq.heappop(self._due)
            self.now = max(self.now, at)
            if self.room().closed_at is not None:
                return
            following = act()
            if following is not None:
                self._at(following, act)

    def room(self) -> Room:
        return Room.objects.get(pk=self.game.room_id)

    def _people(self) -> list[Seat]:
        return list(self.game.room.seats.filter(participant__isnull=False))

    def _at(self, seconds: float, act: Callable[[], float | None]) -> None:
        moment = self.now + timedelta(seconds=max(seconds, 0.05))
        heapq.heappush(self._due, (moment, next(self._order), act))

    def _clock(self) -> float:
        """Everybody's page is open; a phase that is over is ended."""
        note_seen(seat_ids=[seat.pk for seat in self._people()], now=self.now)
        room = self.room()
        if room.deadline is None:
            return SEEN_EVERY
        if room.deadline <= self.now:
            advance(room_id=room.pk, phase_number=room.phase_number, now=self.now)
            return 0.1
        return min(SEEN_EVERY, (room.deadline - self.now).total_seconds())

    def _person(self, pk: int) -> float | None:
        """Write or vote, as the phase has it; seconds to the next thing."""
        seat = Seat.objects.select_related("room").get(pk=pk)
        if seat.out_at is not None:
            return None
        try:
            if seat.room.phase == VOTE:
                return self._vote(seat)
            if seat.room.phase == DISCUSSION:
                return self._say(seat)
        except DomainError:  # a moment too late, as people are
            pass
        return self.rng.uniform(2, 5)

    def _vote(self, seat: Seat) -> float:
        others = [one for one in living(seat.room) if one.pk != seat.pk]
        if self.rng.random() < 0.92:
            target = self.rng.choice(others)
            cast_vote(seat=seat, target_code=target.code, round=seat.room.round, now=self.now)
        return self.rng.uniform(20, 30)

    def _say(self, seat: Seat) -> float:
        lines = talk.LINES[seat.room.language]
        text = self.rng.choice([line for line in lines if line not in self._said] or lines)
        self._said.add(text)
        send_message(
            seat_id=seat.pk,
            text=text,
            client_id=f"{self.rng.getrandbits(64):016x}",
            client_at=self.now - timedelta(seconds=self.rng.uniform(0.05, 0.4)),
            now=self.now,
        )
        return self.rng.uniform(8, 35)

    def end(self, players: Sequence[Player]) -> Game:
        """Most answer the survey; then they stop, having done enough."""
        game = Game.objects.select_related("questionnaire").get(pk=self.game.pk)
        for participant, person in players:
            seat = Seat.objects.select_related("room").get(room=game.room_id, participant=participant)
            person.now = self.now
            if person.rng.random() < 0.9:
                answer_survey(
                    participant=participant,
                    seat=seat,
                    game=game,
                    values=_answers(game, person),
                    language=person.language,
                    now=person.wait(20, 80),
                )
            studies.stop(participant=participant, now=person.wait(2, 10))
        return game


def _answers(game: Game, person: Person) -> dict[str, Any]:
    sheet = survey_of(game)
    values: dict[str, Any] = {}
    for question in sheet.questions if sheet is not None else []:
        options = [option["value"] for option in question.get("options", [])]
        if options and person.rng.random() < 0.95:
            values[question["key"]] = person.rng.choice(options)
    return values
