"""The agent's loop in one game, hop by hop: between two hops nothing is held, no thread and no connection.

A hop does what is due now and says in how many seconds the next one is.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from random import Random

from django.db import DatabaseError, connection
from django.utils import timezone

from dialogues.models import Nature
from games.group.agent import speaking, trace
from games.group.agent.claims import STOPPED
from games.group.agent.delays import between, delays_of
from games.group.agent.drafts import MOVED_ON, Draft, draft_of, times, what_hinders
from games.group.agent.table import Table
from games.group.agent.thinking import Call, Proposal, Thinking, ThinkingFailed
from games.group.agent.thoughts import Thought, thinking_of, told, what_to_say, whom_to_vote_for
from games.group.agent.view import View
from games.group.models import AgentStep, Game, Vote
from games.group.phases import DISCUSSION, VOTE
from games.room import hub
from games.room.models import Room, Seat
from games.room.services import hold

TYPING_EVERY = 3.0  # seconds between two signs that somebody types, at least; a page's, see composer.js
NEXT_KEY = 0.3  # seconds on average until a key is pressed after that: a page gives its signs at keys
VOTES_TRIED = 3  # failures in a row after which it does not vote
SOON = 0.2  # seconds
LEAST_PAUSE = 1.0  # between two looks near the end of a phase
LONGEST_REST = 30.0  # seconds, after failures of the thinking
LONGEST_PAUSE = 3.0  # seconds between two looks while there is nothing to do

Outcome, Decides = AgentStep.Outcome, AgentStep.Decision


def release() -> None:
    """Give the connection back while there is something to wait for, unless a caller's transaction runs."""
    if not connection.in_atomic_block:
        connection.close()


class Play:
    """The agent of one game, in the runner that holds ``claim``."""

    def __init__(self, game_id: int, claim: str, clock: Callable[[], datetime] = timezone.now) -> None:
        self.game_id, self.claim, self.clock = game_id, claim, clock
        self.view: View | None = None  # the newest look; workers read it
        self.calls: list[Call] = []
        self._draft: Draft | None = None
        self._voted = 0  # the newest round in which nothing is left to do for the vote
        self._failures = 0  # of the thinking, in a row
        self._signs_from: datetime | None = None  # no sign of typing before, whatever is typed

    def begin(self, failure: BaseException | None = None) -> float | None:
        """Sit down, also in the place of a runner that has stopped, or anew after ``failure``."""
        game = Game.objects.select_related("agent", "room").get(pk=self.game_id)
        seat = Seat.objects.filter(room=game.room_id, nature=Nature.MACHINE).first()
        if game.agent is None or seat is None or game.end:
            return None
        self.agent = game.agent
        self.table = Table(game, seat, self.claim)
        self.delays = delays_of(self.agent.delays)
        self.moved_on = int(self.agent.parameters.get("moved_on", MOVED_ON))
        self._number = trace.last_number(self.game_id)
        self._draft = None
        self._close_open_steps(failure)
        self.thinking: Thinking = thinking_of(self.agent, self.calls.append)
        return SOON

    def _close_open_steps(self, failure: BaseException | None) -> None:
        """Close what was begun and not ended; a message that was being typed is typed on."""
        now = self.clock()
        with speaking.floor(self.table):
            room = hold(self.table.room_id)
            if failure is None:
                trace.end_notes(game_id=self.game_id, why=STOPPED, now=now)
            steps = trace.open_steps(self.game_id)
            for step in steps:
                event = speaking.sent_already(table=self.table, step=step)
                votes = Vote.objects.filter(voter=self.table.seat, round=step.round)
                if event is not None:
                    trace.close_step(step=step, outcome=Outcome.SENT, event=event, now=now)
                elif step.decision == Decides.VOTE and votes.exists():
                    trace.close_step(step=step, outcome=Outcome.VOTED, now=now)
                elif failure is not None and not isinstance(failure, DatabaseError):
                    trace.keep_calls(calls=self.calls, step=step, now=now)
                    trace.close_step(step=step, outcome=Outcome.FAILED, why=told(failure), now=now)
                elif step is steps[-1] and (room.phase, room.round) == (step.phase, step.round):
                    self._draft = self._taken_up(step)
                if self._draft is None and not step.outcome:
                    trace.close_step(step=step, outcome=Outcome.CUT, why=STOPPED, now=now)

    def _taken_up(self, step: AgentStep) -> Draft | None:
        chosen = step.candidates.filter(chosen=True).first()
        if chosen is None or not step.client_id:
            return None
        proposal = Proposal(chosen.purpose, chosen.text)
        return draft_of(step=step, proposal=proposal, seconds=step.typing_seconds or 0.0, reading=0.0)

    def turn(self) -> float | None:
        """One hop; seconds to the next one, None where the game is over. Lost: somebody else plays it."""
        now = self.clock()
        if self._draft is not None and now < self._draft.due:
            return self._type(self._draft, now)
        view = self.view = self.table.look(now)
        draft, self._draft = self._draft, None
        if view is None:
            if draft is not None:
                trace.close_step(step=draft.step, outcome=Outcome.DROPPED, why="the game is over", now=now)
            return None
        if draft is not None:
            self._finish(draft, view)
        elif view.phase == DISCUSSION and view.may_write and view.remaining != 0:
            if (early := self._too_early(view)) > 0:
                return early
            self._talk(view)
        elif view.phase == VOTE and view.votes_for and self._voted < view.round:
            if (early := self._too_early(view)) > 0:
                return early
            self._vote(view)
        return self._pause(view)

    def _too_early(self, view: View) -> float:
        """Seconds until the first word of a round or the vote may come: people need a moment, too."""
        began = view.phase_began or view.now
        if view.phase == VOTE:
            whole = None if view.remaining is None else view.since(began) + view.remaining
            first = self.delays.voting(whole, view.chance("vote", view.round, "time"))
        else:
            first = between(self.delays.first, view.chance("first", view.round))
        return max(0.0, first - view.since(began))

    def _pause(self, view: View) -> float:
        """Seconds until the next look."""
        if self._draft is not None:
            return self._type(self._draft, self.clock())
        if view.phase == DISCUSSION and view.may_write:
            seconds = between(self.delays.look, view.chance("look", self._number, view.seq))
        else:
            seconds = LONGEST_PAUSE
        if self._failures:
            seconds = max(seconds, min(LONGEST_REST, 2.0**self._failures))
        return seconds if view.remaining is None else max(LEAST_PAUSE, min(seconds, view.remaining))

    def _type(self, draft: Draft, now: datetime) -> float:
        """Show that somebody types, where the room shows it; seconds until the next sign or the end."""
        left = (draft.due - now).total_seconds()
        if not self.table.shows_typing:
            return max(left, 0.0)
        early = (max(draft.types_at, self._signs_from or now) - now).total_seconds()
        if early > 0:
            return max(0.0, min(left, early))
        # As a page, which cannot say so once nobody may write.
        if left > 0 and Room.objects.filter(pk=self.table.room_id, phase=draft.phase, writable=True).exists():
            hub.typing(self.table.room_id, self.table.seat.code)
        key = Random(f"{self.claim}/{draft.step.pk}/{now.timestamp()}").expovariate(1 / NEXT_KEY)
        self._signs_from = now + timedelta(seconds=TYPING_EVERY + key)
        return max(0.0, min(left, TYPING_EVERY + key))

    def _open(self, view: View) -> AgentStep:
        self._number += 1
        return trace.open_step(game_id=self.game_id, number=self._number, view=view, now=self.clock())

    def _think(self, how: Callable[[Thinking, View], Thought], view: View) -> tuple[AgentStep, Thought]:
        """A step with its thought; the connection is given back while it thinks."""
        step = self._open(view)
        release()
        thought = how(self.thinking, view)
        trace.keep_calls(calls=self.calls, step=step, now=self.clock())
        self._failures = self._failures + 1 if thought.outcome == Outcome.FAILED else 0
        if thought.weighed:
            trace.keep_candidates(step=step, weighed=thought.weighed)
        if thought.outcome:
            trace.close_step(
                step=step, outcome=thought.outcome, why=thought.why, now=self.clock(), **thought.fields
            )
        return step, thought

    def _talk(self, view: View) -> None:
        step, thought = self._think(what_to_say, view)
        if thought.chosen is None:
            return
        typing, reading = times(thought.chosen.text, view, self.delays)
        name, seconds = trace.new_client_id(), round(reading + typing, 3)
        trace.keep_draft(step=step, client_id=name, typing_seconds=seconds, **thought.fields)
        self._draft = draft_of(step=step, proposal=thought.chosen, seconds=typing, reading=reading)

    def _vote(self, view: View) -> None:
        step, thought = self._think(whom_to_vote_for, view)
        if thought.outcome != Outcome.FAILED or self._failures >= VOTES_TRIED:
            self._voted = view.round
        if thought.ballot is None:
            return
        trace.keep_draft(step=step, **thought.fields)
        speaking.vote(table=self.table, step=step, target=thought.ballot.target, now=self.clock())
        self.table.forget_state()

    def _finish(self, draft: Draft, view: View) -> None:
        """Typed: look again, then send it or drop it."""
        release()
        try:
            hindered = what_hinders(draft, view, self.thinking, self.moved_on)
        except ThinkingFailed as broken:
            hindered = (Outcome.FAILED, told(broken))
        now = self.clock()
        trace.keep_calls(calls=self.calls, step=draft.step, now=now)
        if hindered is not None:
            outcome, why = hindered
            trace.close_step(step=draft.step, outcome=outcome, why=why, now=now)
            return
        speaking.send(table=self.table, step=draft.step, text=draft.proposal.text, now=now)
