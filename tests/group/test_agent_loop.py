"""The agent's loop in a real room, hop by hop, by a clock that moves when told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import count, pairwise
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from dialogues.models import Nature
from games.group.agent import trace
from games.group.agent.beside import beside
from games.group.agent.loop import TYPING_EVERY, Play
from games.group.agent.thinking import (
    Ballot,
    Call,
    Decision,
    Proposal,
    Report,
    Review,
    ThinkingFailed,
)
from games.group.agent.trace import Lost
from games.group.agent.view import View
from games.group.models import Agent, AgentNote, AgentStep, Game, Vote
from games.group.services.agents import ensure_offline_agent
from games.room.models import Event, Seat
from games.room.services import advance, send_message
from tests.factories import NOW
from tests.rooms import GameFactory, RoomFactory

pytestmark = [pytest.mark.django_db, pytest.mark.both]
ids = count()


class Told:
    """A thinking that does what a test tells it."""

    def __init__(self, **does: Any) -> None:
        self.does = does
        self.reviews: list[Sequence[Proposal]] = []

    def __call__(self, agent: Agent, report: Report) -> Told:
        self.report = report
        return self

    def _or_fail(self, what: str, default: Any) -> Any:
        found = self.does.get(what, default)
        if isinstance(found, Exception):
            raise found
        return found

    def decide(self, view: View) -> Decision:
        self.report(Call("scheduler", "model-1", "ab" * 32, 100, 5, 0.4))
        return Decision(self._or_fail("decide", True), "as told")

    def propose(self, view: View) -> Sequence[Proposal]:
        return self._or_fail("propose", [Proposal("greet", "hello there"), Proposal("ask", "who is who")])

    def review(self, view: View, candidates: Sequence[Proposal]) -> Review:
        self.reviews.append(candidates)
        is_second = "again" in self.does and len(self.reviews) > 1
        return Review(
            self._or_fail("again" if is_second else "review", 0),
            "the first is best",
            ["good", "too much"][: len(candidates)],
        )

    def vote(self, view: View) -> Ballot:
        return Ballot(self._or_fail("vote", view.votes_for[0]), "as told")


class Sitting:
    """One game whose agent is played by hand; the clock stands still but for ``go``."""

    def __init__(self, travel: Any, thinking: Any = None, **room: Any) -> None:
        self.travel = travel
        agent = ensure_offline_agent()
        self.game = GameFactory(
            room=RoomFactory(seed=room.pop("seed", 7), **room), agent=agent, rules={"vote_seconds": 30}
        )
        self.room = self.game.room
        Event.objects.create(
            room=self.room, seq=1, kind="phase", round=1, phase="discussion", at=NOW, data={"seconds": 150}
        )
        type(self.room).objects.filter(pk=self.room.pk).update(last_seq=1)
        self.seat = self.room.seats.get(nature=Nature.MACHINE)
        self.people = list(self.room.seats.filter(nature=Nature.HUMAN))
        self.play = self.sit_down("first")
        if thinking is not None:
            self.play.thinking = thinking(agent, self.play.calls.append)

    @property
    def now(self) -> Any:
        return self.play.clock()

    def sit_down(self, claim: str) -> Play:
        Game.objects.filter(pk=self.game.pk).update(agent_claim=claim)
        play = Play(self.game.pk, claim)
        assert play.begin() is not None
        return play

    def go(self, seconds: float) -> None:
        self.travel.shift(timedelta(seconds=seconds))

    def say(self, text: str, person: int = 0) -> None:
        send_message(seat_id=self.people[person].pk, text=text, client_id=f"c{next(ids)}", now=self.now)

    def until(self, done: Callable[[], object], seconds: float = 200) -> float:
        """Turn after turn, each when it is due, until ``done``; how many seconds that took."""
        passed = 0.0
        while not done():
            assert passed < seconds, [(s.outcome, s.why, s.reason) for s in self.steps()]
            wait = self.play.turn()
            assert wait is not None
            self.go(wait + 0.001)
            passed += wait
        return passed

    def steps(self) -> list[AgentStep]:
        return list(self.game.steps.order_by("number"))

    def said(self) -> list[str]:
        return list(self.seat.events.messages().order_by("seq").values_list("text", flat=True))

    def last(self) -> AgentStep:
        return self.steps()[-1]

    def typed(self) -> AgentStep:
        """The step whose message is being typed now."""
        self.until(lambda: self.game.steps.filter(outcome="").exclude(client_id="").exists())
        return self.last()


@pytest.fixture
def travel() -> Any:
    with time_machine.travel(NOW, tick=False) as found:
        yield found


def test_a_turn_is_thought_typed_looked_at_again_and_sent_with_all_that_led_to_it(travel) -> None:
    told = Told()
    sitting = Sitting(travel, told)
    waited = sitting.until(sitting.said)
    step = sitting.last()
    assert sitting.said() == ["hello there"]
    assert (step.decision, step.outcome, step.reason) == ("send", "sent", "as told")
    assert step.event is not None
    assert step.typing_seconds is not None
    assert (step.review, step.event.text, step.after_seq) == ("the first is best", "hello there", 1)
    assert step.event.client_id == step.client_id
    assert [(c.purpose, c.text, c.chosen, c.verdict) for c in step.candidates.all()] == [
        ("greet", "hello there", True, "good"),
        ("ask", "who is who", False, "too much"),
    ]
    [call] = step.calls.all()
    assert (call.purpose, call.model, call.tokens_in, call.seconds) == ("scheduler", "model-1", 100, 0.4)
    assert 3 <= (step.started_at - NOW).total_seconds() <= 14, "the first word takes people a moment"
    assert 11 * 0.15 < step.typing_seconds < 12
    assert (step.event.at - step.started_at).total_seconds() >= step.typing_seconds - 0.01
    assert waited < 30
    assert len(told.reviews) == 1, "nobody wrote meanwhile: nothing to ask again"
    assert Seat.objects.get(pk=sitting.seat.pk).seen_at is None


def test_what_others_do_while_it_types_makes_it_drop_the_message(travel) -> None:
    def dropped(meanwhile: Callable[[Sitting], None], **does: Any) -> AgentStep:
        sitting = Sitting(travel, Told(**does))
        step = sitting.typed()
        meanwhile(sitting)
        sitting.until(lambda: sitting.game.steps.get(pk=step.pk).outcome)
        assert sitting.said() == []
        return sitting.game.steps.get(pk=step.pk)

    def vote_begins(sitting: Sitting) -> None:
        assert advance(room_id=sitting.room.pk, phase_number=1, now=sitting.now, by_hand=True)

    def many_write(sitting: Sitting) -> None:
        for number in range(8):
            sitting.say(f"message {number}", person=number % 5)

    step = dropped(vote_begins)
    assert (step.outcome, step.why) == ("dropped", "the phase is vote now")
    step = dropped(lambda sitting: sitting.say("Hello there!"))
    assert (step.outcome, step.why) == ("dropped", "somebody has said it")
    step = dropped(many_write)
    assert (step.outcome, step.why) == ("dropped", "the talk has moved on by 8 messages")
    step = dropped(lambda sitting: sitting.say("no greetings please"), again=None)
    assert (step.outcome, step.why) == ("dropped", "after newer messages: good")
    step = dropped(lambda sitting: sitting.say("hm"), again=ThinkingFailed("no_answer", "The model is gone."))
    assert (step.outcome, step.why) == ("failed", "ThinkingFailed: The model is gone.")


def test_a_failure_never_speaks_and_says_why(travel) -> None:
    broken = ThinkingFailed("no_answer", "The model does not answer.")
    for does in ({"decide": broken}, {"propose": broken}, {"review": broken}, {"review": 7}):
        sitting = Sitting(travel, Told(**does))
        sitting.until(lambda: len(sitting.steps()) == 3)  # noqa: B023
        assert {step.outcome for step in sitting.steps()} == {"failed"}
        assert all("ThinkingFailed" in step.why for step in sitting.steps())
        assert all(step.calls.count() == 1 for step in sitting.steps()), "calls that led to it are kept"
        assert sitting.said() == []
        times = [step.started_at for step in sitting.steps()]
        assert times[2] - times[1] >= timedelta(seconds=3.9), "it is asked ever more seldom"
    Agent.objects.update(thinking="gone")
    sitting = Sitting(travel)
    sitting.play.begin()
    sitting.until(sitting.steps)
    assert "No way to think is called" in sitting.last().why


def test_what_breaks_in_the_middle_is_kept_as_failed_and_it_goes_on(travel) -> None:
    """Not only failures that are foreseen: the runner begins anew with what was raised."""
    sitting = Sitting(travel, Told(decide=KeyError("tokens")))
    with pytest.raises(KeyError) as raised:
        sitting.until(sitting.said)
    assert sitting.play.begin(raised.value) is not None
    assert (sitting.last().outcome, sitting.last().why) == ("failed", "KeyError: 'tokens'")
    assert sitting.last().calls.count() == 1
    sitting.say("hi all")
    sitting.until(sitting.said)


def test_the_filter_stops_candidates_and_what_has_become_a_repetition(travel) -> None:
    bad = [Proposal("a", "As an AI, I have no breakfast"), Proposal("b", "Error: rate limit reached")]
    sitting = Sitting(travel, Told(propose=bad))
    sitting.until(sitting.steps)
    assert (sitting.last().outcome, sitting.last().why) == ("filtered", "itself")
    assert [c.verdict for c in sitting.last().candidates.all()] == ["itself", "workings"]
    sitting = Sitting(travel, Told(propose=[*bad, Proposal("c", "toast")]))
    sitting.until(sitting.said)
    assert sitting.said() == ["toast"]
    sitting.until(lambda: sitting.last().outcome == "filtered")
    assert sitting.said() == ["toast"], "it repeats itself"
    sitting = Sitting(travel, Told(propose=[]))
    sitting.until(sitting.steps)
    assert sitting.last().outcome == "nothing"


def test_what_the_room_refuses_is_kept(travel) -> None:
    sitting = Sitting(travel, Told(propose=[Proposal("contact", "write to me at someone@example.org")]))
    sitting.until(lambda: sitting.steps() and sitting.last().outcome)
    assert (sitting.last().outcome, sitting.last().why) == ("refused", "held_back")
    assert sitting.said() == []


def test_it_votes_once_not_at_once_and_not_for_somebody_who_is_out(travel) -> None:
    sitting = Sitting(travel)
    advance(room_id=sitting.room.pk, phase_number=1, now=sitting.now, by_hand=True)
    sitting.until(lambda: Vote.objects.filter(voter=sitting.seat).exists())
    vote = Vote.objects.get(voter=sitting.seat)
    assert 3 <= (vote.at - NOW).total_seconds() <= 20
    assert (sitting.last().decision, sitting.last().outcome) == ("vote", "voted")
    assert vote.target is not None
    assert vote.target.pseudonym in sitting.last().reason
    steps = len(sitting.steps())
    for _ in range(3):
        sitting.play.turn()
    assert len(sitting.steps()) == steps
    silent = Sitting(travel, Told(vote="nobody-here"))
    advance(room_id=silent.room.pk, phase_number=1, now=silent.now, by_hand=True)
    silent.until(lambda: len(silent.steps()) == 3)
    assert {step.why for step in silent.steps()} == {"it named nobody who can be voted for"}
    for _ in range(3):
        silent.play.turn()
    assert len(silent.steps()) == 3
    mute = Sitting(travel)
    Game.objects.filter(pk=mute.game.pk).update(rules={"agent_votes": False})
    advance(room_id=mute.room.pk, phase_number=1, now=mute.now, by_hand=True)
    mute.go(25)
    mute.play.turn()
    assert mute.steps() == []


def test_a_whole_game_of_the_script_in_both_languages_is_the_same_for_the_same_seed(travel) -> None:
    def played(seed: int, language: str) -> list[tuple[str, str]]:
        travel.move_to(NOW)
        sitting = Sitting(travel, seed=seed, language=language)
        [worker] = beside(sitting.play)
        for number in range(1, 30):
            sitting.say(
                ["hi all", "who is the AI", "I like tea", "lol"][number % 4] + f" {number}", number % 5
            )
            end = sitting.now + timedelta(seconds=5)
            while sitting.now < end:
                wait = sitting.play.turn()
                assert wait is not None
                sitting.go(min(wait, (end - sitting.now).total_seconds()) + 0.001)
            worker.turn()
        assert 2 <= len(sitting.said()) <= 14
        assert len(set(sitting.said())) == len(sitting.said())
        assert all(step.reason.startswith("Script:") for step in sitting.steps())
        note = AgentNote.objects.filter(game=sitting.game).order_by("pk").last()
        assert note is not None
        assert 30 <= note.value["messages"] <= len(sitting.said()) + 29
        assert any(step.notes for step in sitting.steps())
        return [(step.outcome, step.event.text if step.event else "") for step in sitting.steps()]

    assert played(7, "en") == played(7, "en")
    assert played(7, "en") != played(8, "en")
    assert played(9, "zh")


def test_who_takes_over_types_on_what_was_being_typed_and_the_other_writes_no_more(travel) -> None:
    sitting = Sitting(travel, Told())
    step = sitting.typed()
    old = sitting.play
    sitting.go(1)
    sitting.play = sitting.sit_down("second")
    sitting.until(sitting.said)
    assert sitting.said() == ["hello there"]
    step.refresh_from_db()
    assert step.event is not None
    assert (step.outcome, step.event.client_id) == ("sent", step.client_id)
    with pytest.raises(Lost):
        old.turn()
    assert sitting.said() == ["hello there"]


def test_what_was_sent_before_the_kill_is_not_sent_again(travel) -> None:
    """The process stopped between the message and the note of it."""
    sitting = Sitting(travel, Told())
    step = sitting.typed()
    sitting.go(15)
    send_message(seat_id=sitting.seat.pk, text="hello there", client_id=step.client_id, now=sitting.now)
    sitting.play = sitting.sit_down("second")
    step.refresh_from_db()
    assert step.event is not None
    assert (step.outcome, step.event.text) == ("sent", "hello there")
    sitting.play.turn()
    assert sitting.said() == ["hello there"]


def test_what_was_thought_or_typed_when_the_phase_ended_is_cut(travel) -> None:
    sitting = Sitting(travel, Told())
    typed = sitting.typed()
    thinking = AgentStep.objects.create(
        game=sitting.game, number=90, round=1, phase="discussion", after_seq=1, started_at=sitting.now
    )
    AgentNote.objects.create(game=sitting.game, worker="participation", started_at=sitting.now)
    advance(room_id=sitting.room.pk, phase_number=1, now=sitting.now, by_hand=True)
    sitting.play = sitting.sit_down("second")
    for step in (typed, thinking):
        step.refresh_from_db()
        assert (step.outcome, step.why) == ("cut", "the process stopped")
    assert AgentNote.objects.get().failure == "the process stopped"
    assert sitting.said() == []
    sitting.until(lambda: Vote.objects.filter(voter=sitting.seat).exists())
    assert sitting.last().number == 91


def test_the_loop_ends_with_the_game(travel) -> None:
    sitting = Sitting(travel, Told())
    step = sitting.typed()
    Game.objects.filter(pk=sitting.game.pk).update(end="cancelled", ended_at=sitting.now)
    sitting.go(20)
    assert sitting.play.turn() is None
    step.refresh_from_db()
    assert (step.outcome, step.why) == ("dropped", "the game is over")


def test_what_was_open_when_a_game_ended_without_a_runner_is_cut(travel) -> None:
    sitting = Sitting(travel, Told())
    step = sitting.typed()
    Game.objects.filter(pk=sitting.game.pk).update(end="cancelled", ended_at=sitting.now)
    AgentNote.objects.create(game=sitting.game, worker="participation", started_at=sitting.now)
    assert trace.close_leftovers(now=sitting.now + timedelta(seconds=20)) == 0, "its runner may still think"
    sitting.go(31)
    assert trace.close_leftovers(now=sitting.now) == 1
    step.refresh_from_db()
    assert (step.outcome, step.why) == ("cut", "the process stopped")
    assert AgentNote.objects.get().failure == "the process stopped"
    with pytest.raises(Lost):
        sitting.play.turn()
    assert sitting.said() == []


def test_typing_is_shown_as_a_page_shows_it(travel, monkeypatch) -> None:
    shown: list[float] = []
    monkeypatch.setattr("games.room.hub.typing", lambda room, seat: shown.append(timezone.now().timestamp()))
    sitting = Sitting(travel, Told(propose=[Proposal("greet", "hello, and how are you all")]), typing=True)
    sitting.until(sitting.said)
    assert len(shown) >= 3
    assert 0.5 < shown[0] - sitting.last().started_at.timestamp() < 3
    twice = (("me too", lambda: len(sitting.said()) > 1), ("and how are you doing today", sitting.typed))
    for text, done in twice:
        sitting.play.thinking = Told(propose=[Proposal("ask", text)])(
            sitting.game.agent, sitting.play.calls.append
        )
        sitting.until(done)
    apart = [round(b - a, 2) for a, b in pairwise(shown)]
    assert (min(apart) >= TYPING_EVERY, len(set(apart))) == (True, len(apart)), "as pages do, and by no clock"
    advance(room_id=sitting.room.pk, phase_number=1, now=sitting.now, by_hand=True)
    shown.clear()
    sitting.until(lambda: sitting.last().outcome)
    assert shown == [], "who may not write any more cannot be seen typing"
