"""The group game on the desk over HTTP: set up, settings, list, monitor, levers, waiting room, reports."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from games.group.agent.offline import OFFLINE
from games.group.agent.thinking import kinds
from games.group.models import BotCall, Game, GroupSettings
from games.room.models import Concern, Event
from studies.models import AuditLine, Study
from tests import factories
from tests.group.at_the_desk import said, step
from tests.rooms import AgentFactory, GameFactory, GroupSettingsFactory


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(cast: Any) -> Study:
    study: Study = cast.study
    study.activities = ["group"]
    study.save()
    GroupSettingsFactory(study=study)
    return study


@pytest.fixture
def game(study: Study) -> Game:
    """A game that began ten seconds ago, in which somebody and the AI have said something."""
    now = timezone.now()
    made = GameFactory(
        room__study=study,
        room__opened_at=now - timedelta(seconds=10),
        room__phase_started_at=now - timedelta(seconds=10),
        room__deadline=now + timedelta(seconds=140),
    )
    said(made, 0, "Hello, anybody here?")
    said(made, 2, "hi, yes")
    return made


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


def text(answer: Any) -> str:
    return answer.content.decode()


def test_the_game_is_set_up_with_a_button_by_those_who_manage(client: Any, cast: Any) -> None:
    slug, page = cast.study.slug, url("group", cast.study.slug)
    client.force_login(cast.colleague)
    assert "A researcher of this study can set it up" in text(client.get(page))
    assert client.post(page).status_code == 404
    client.force_login(cast.researcher)
    assert "Set up the group game" in text(client.get(url("study", slug)))
    done = client.post(page, follow=True)
    settings = GroupSettings.objects.get(study=cast.study)
    assert (settings.people, settings.discussion_seconds, settings.agents.count()) == (5, 150, 1)
    assert "Set up the group game" not in text(done)
    assert page in text(client.get(url("study", slug)))


def test_outsiders_find_nothing(client: Any, cast: Any, game: Game) -> None:
    slug = game.study.slug
    paths = [
        *(url(name, slug) for name in ("group", "group_agents", "group_waiting", "group_concerns")),
        *(url(name, slug, game.code) for name in ("group_game", "group_news")),
    ]
    for user, status in ((cast.colleague, 200), (cast.stranger, 404), (cast.reviewer, 404)):
        client.force_login(user)
        client.post(url("group_watch", slug, game.code))
        assert [client.get(path).status_code for path in paths] == [status] * len(paths), user
    client.force_login(cast.colleague)
    assert client.get(url("group_settings", slug)).status_code == 404
    other = GameFactory(room__study=factories.StudyFactory(activities=["group"]))
    assert client.get(url("group_game", slug, other.code)).status_code == 404


def filled(**changes: Any) -> dict[str, Any]:
    """The settings as the form sends them, unchanged but for ``changes``."""
    row = GroupSettings.objects.get()
    names = [field.name for field in GroupSettings._meta.fields if field.name not in ("id", "study")]
    held = {name: getattr(row, name) for name in names}
    sent = {
        name: "on" if value is True else value for name, value in held.items() if value not in (None, False)
    }
    return {**sent, "agents": [agent.pk for agent in row.agents.all()], **changes}


def test_settings_are_stored_and_fixed_once_people_have_played(researcher: Any, study: Study) -> None:
    page, agent = url("group_settings", study.slug), AgentFactory(told_en="x", told_zh="x")
    assert "scripted, offline" in text(researcher.get(page))
    sent = filled(people=4, topic_en="The weather", agents=[agent.pk], bots_after="")
    assert researcher.post(page, sent).status_code == 302
    row = GroupSettings.objects.get()
    assert (row.people, row.topic_en, row.bots_after, list(row.agents.all())) == (
        4,
        "The weather",
        None,
        [agent],
    )
    wrong = researcher.post(page, filled(least_people=9))
    assert wrong.status_code == 400
    assert "need more people than it has" in text(wrong)
    GameFactory(room__study=study)
    assert "people have played" in text(researcher.get(page))
    assert researcher.post(page, filled(people=5)).status_code == 400
    assert researcher.post(page, filled(gone_after=240)).status_code == 302
    row.refresh_from_db()
    assert (row.people, row.gone_after) == (4, 240)
    trail = text(researcher.get(url("audit", study.slug)))
    assert "changed the group game&#x27;s settings" in trail
    assert "180 → 240" in trail


def test_the_list_says_who_is_here_and_what_wants_a_look(researcher: Any, game: Game) -> None:
    slug, now = game.study.slug, timezone.now()
    here, away = game.room.seats.filter(nature="human")[:2]
    here.seen_at = now
    here.save()
    away.left_at, away.left_why = now, "gone"
    away.save()
    Concern.objects.create(room=game.room, seat=here, event=game.room.events.first(), text="Rude", at=now)
    here.held_back.create(what="phone", at=now)
    step(game, "send", "failed", why="timeout")
    GameFactory(room__study=game.study, room__is_test=True)
    Game.objects.filter(pk=game.pk).update(agent_lease_until=now + timedelta(seconds=4))
    assert "nobody plays the agent" not in text(researcher.get(url("group", slug)))
    Game.objects.filter(pk=game.pk).update(agent_lease_until=now - timedelta(seconds=11))
    page = text(researcher.get(url("group", slug)))
    assert "nobody plays the agent" in page
    assert "Nobody plays the agent." in text(researcher.get(url("group_game", slug, game.code)))
    assert "Discussion" in page
    assert "1 of 5" in page
    assert "1 left" in page
    for words in ("1 reported", "agent failed 1×", "1 held back"):
        assert words in page
    assert page.count('scope="row"') == 1, "tests are listed on demand alone"
    assert text(researcher.get(url("group", slug) + "?tests=on")).count('scope="row"') == 2
    assert text(researcher.get(url("group", slug) + "?state=played")).count('scope="row"') == 0


def test_a_blind_study_opens_a_game_knowingly_and_notes_the_look(
    researcher: Any, game: Game, cast: Any
) -> None:
    slug, page = game.study.slug, url("group_game", game.study.slug, game.code)
    GameFactory(room__study=game.study, end="survived", ended_at=timezone.now())
    shut = text(researcher.get(page))
    assert "hi, yes" not in shut
    assert "Machine" not in shut
    assert researcher.get(url("group_news", slug, game.code)).status_code == 403
    seat = game.room.seats.get(position=0)
    lever = url("group_lever", slug, game.code)
    assert researcher.post(lever, {"do": "remove", "seat": seat.code}, follow=True).status_code == 200
    seat.refresh_from_db()
    assert seat.left_why == ""
    opened = text(researcher.post(url("group_watch", slug, game.code), follow=True))
    assert "hi, yes" in opened
    researcher.get(page)
    line = AuditLine.objects.get(action="group.watched")
    assert (line.actor, line.detail) == (cast.researcher, {"n": 1, "of": "games", "status": "open"})
    plan = text(researcher.get(url("plan", slug)))
    assert "opened a group game" in plan
    other = GameFactory(room__study=game.study)
    assert "Open it, and note it" in text(researcher.get(url("group_game", slug, other.code)))


def opened(client: Any, game: Game) -> str:
    return text(client.post(url("group_watch", game.study.slug, game.code), follow=True))


def test_the_monitor_shows_log_seats_and_what_the_agent_weighed(researcher: Any, game: Game) -> None:
    step(game, "wait", "waited", reason="Nobody asked anything.")
    note = game.notes.create(worker="participation", value={"share": 0.5}, started_at=timezone.now())
    step(
        game, "send", "sent", "hi, yes", "good evening",
        reason="Somebody greets.", review="The short one.", notes={"participation": note.pk},
        thinking_seconds=0.4, typing_seconds=2.5,
    )  # fmt: skip
    step(game, "send", "failed", why="The model gave no answer.")
    game.notes.create(
        worker="outside facts",
        failure="No such source.",
        started_at=timezone.now(),
        finished_at=timezone.now(),
    )
    page = opened(researcher, game)
    for words in (
        "Hello, anybody here?", "hi, yes", "good evening", "Somebody greets.", "The short one.",
        "participation", "typed 2.5 s", "The agent failed 1 time", "The model gave no answer.",
        "The background worker “outside facts” failed.", "Nobody asked anything.", "round 1",
    ):  # fmt: skip
        assert words in page, words
    assert page.count("is m") >= 2, "the AI is marked at its seat and at what it says"


def test_only_what_is_new_is_sent_and_a_step_under_way_comes_again(researcher: Any, game: Game) -> None:
    opened(researcher, game)
    step(game, "wait", "waited")
    under_way = step(game, "", "", started_at=timezone.now())
    address = url("group_news", game.study.slug, game.code)
    first = researcher.get(address, {"seq": 0, "mark": 0}).json()
    assert (first["seq"], first["mark"], first["over"]) == (2, 1, False)
    assert "Hello, anybody here?" in first["events"]
    said(game, 1, "A third line")
    under_way.decision, under_way.outcome, under_way.finished_at = "send", "dropped", timezone.now()
    under_way.save()
    second = researcher.get(address, {"seq": 2, "mark": 1}).json()
    assert "A third line" in second["events"]
    assert "Hello" not in second["events"]
    assert ("step 1" in second["steps"], "step 2" in second["steps"]) == (False, True)
    assert second["mark"] == 2
    third = researcher.get(address, {"seq": 3, "mark": 2}).json()
    assert (third["events"], third["steps"]) == ("", "")
    assert "3" in third["now"]


@pytest.mark.parametrize("do", ["extend", "next", "remove", "cancel"])
def test_each_lever_asks_once_and_is_logged(researcher: Any, game: Game, do: str) -> None:
    slug, room = game.study.slug, game.room
    opened(researcher, game)
    seat = game.room.seats.get(position=0)
    address, sent = url("group_lever", slug, game.code), {"do": do, "seat": seat.code, "seconds": "120"}
    asked = researcher.post(address, sent)
    assert 'name="sure" value="yes"' in text(asked)
    assert not AuditLine.objects.exclude(action="group.watched").exists()
    sure = {**sent, "sure": "yes", "phase": str(asked.context["phase_number"]), "ends": asked.context["ends"]}
    deadline = room.deadline
    assert deadline is not None
    done = text(researcher.post(address, sure, follow=True))
    room.refresh_from_db()
    game.refresh_from_db()
    seat.refresh_from_db()
    changed = {
        "extend": (room.deadline or deadline) > deadline + timedelta(seconds=119),
        "next": room.phase == "vote",
        "remove": seat.left_why == "removed",
        "cancel": game.end == "cancelled",
    }
    assert changed == {one: one == do for one in changed}
    said_so = {
        "extend": "120 seconds more",
        "next": "The phase is over",
        "remove": "is removed",
        "cancel": "stopped",
    }
    assert said_so[do] in done
    trail = text(researcher.get(url("audit", slug) + "?group=games"))
    assert f"group game {game.number}" in trail
    if do == "next":
        again = text(researcher.post(address, sure, follow=True))
        assert "has moved on by itself" in again
        assert AuditLine.objects.filter(action="group.next_phase").count() == 1
    if do == "extend":  # a double click, or a colleague at the same time
        for ends in (sure["ends"], "", "never"):
            assert "has changed meanwhile" in text(
                researcher.post(address, {**sure, "ends": ends}, follow=True)
            )
        room.refresh_from_db()
        assert room.deadline == deadline + timedelta(seconds=120)


def test_a_report_is_read_in_its_context_and_marked_once(researcher: Any, game: Game, cast: Any) -> None:
    page = url("group_concerns", game.study.slug)
    for n in range(8):
        said(game, n % 2, f"line {n}")
    event = Event.objects.get(text="line 5")
    concern = Concern.objects.create(
        room=game.room,
        seat=game.room.seats.get(position=3),
        event=event,
        text="Asks for my name",
        at=event.at,
    )
    shown = text(researcher.get(page))
    assert "Asks for my name" in shown
    assert [f"line {n}" in shown for n in range(8)] == [n >= 1 for n in range(8)]
    assert "Machine" not in shown
    researcher.post(page, {"concern": concern.pk})
    concern.refresh_from_db()
    assert concern.seen_by == cast.researcher
    first = concern.seen_at
    researcher.post(page, {"concern": concern.pk})
    concern.refresh_from_db()
    assert concern.seen_at == first
    assert "Nothing to look at" in text(researcher.get(page))
    assert "looked at by researcher" in text(researcher.get(page + "?all=1"))
    assert AuditLine.objects.filter(action="group.concern_seen").count() == 1
    other = Concern.objects.create(room=GameFactory().room, seat=game.room.seats.all()[0], at=event.at)
    assert "There is no such report" in text(researcher.post(page, {"concern": other.pk}, follow=True))
    other.refresh_from_db()
    assert other.seen_at is None


def test_the_waiting_room_and_calls_for_bots(researcher: Any, study: Study) -> None:
    page, now = url("group_waiting", study.slug), timezone.now()
    person = factories.ParticipantFactory(study=study)
    study.tickets.create(
        participant=person, language="en", state="ready", joined_at=now - timedelta(seconds=75), seen_at=now,
        ready_at=now - timedelta(seconds=5), patience_until=now + timedelta(minutes=9),
    )  # fmt: skip
    shown = text(researcher.get(page))
    assert person.code in shown
    assert "1:15" in shown
    assert "this study takes none" in shown
    assert researcher.post(page, {"language": "en", "bots": 5}).status_code == 400
    assert not BotCall.objects.exists()
    study.test_participants = True
    study.save()
    assert researcher.post(page, {"language": "en", "bots": 0}).status_code == 400
    assert researcher.post(page, {"language": "en", "bots": 5}).status_code == 302
    call = BotCall.objects.get()
    assert (call.bots, call.language, call.state) == (5, "en", "queued")
    call.state, call.findings = "failed", ["bot 2: the vote never came"]
    call.save()
    assert "bot 2: the vote never came" in text(researcher.get(page))


def test_agents_are_listed_with_what_they_were_told(
    researcher: Any, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = AgentFactory(
        told_en="Pass for a person.", parameters={"candidates": 3}, workers=[{"worker": "memory", "every": 5}]
    )
    study.group.agents.add(agent)
    AgentFactory(thinking="llm", model="some-model", key="other", name="Other")
    page = text(researcher.get(url("group_agents", study.slug)))
    for words in ("Pass for a person.", "candidates", "memory", "scripted, offline", "Some-model"):
        assert words.lower() in page.lower(), words
    assert page.count("plays in this study") == 1
    monkeypatch.setitem(kinds._items, "llm", replace(OFFLINE, key="llm", title="asks a model"))
    assert "Asks a model · some-model" in text(researcher.get(url("group_agents", study.slug)))


def test_the_study_page_counts_and_says_no_outcome(researcher: Any, game: Game) -> None:
    study, now = game.study, timezone.now()
    seat = game.room.seats.filter(nature="human")[0]
    seat.left_at, seat.left_why = now, "left"
    seat.save()
    step(game, "send", "failed", started_at=now)
    for end in ("survived", "agent_out", "cancelled"):
        GameFactory(room__study=study, room__closed_at=now, room__writable=False, end=end, ended_at=now)
    GameFactory(room__study=study, room__is_preview=True)
    study.tickets.create(
        participant=factories.ParticipantFactory(study=study), language="en", joined_at=now, seen_at=now,
        patience_until=now,
    )  # fmt: skip
    live = researcher.get(url("live", study.slug)).context["live"]
    assert live["group"]._asdict() == {
        "waiting": 1, "playing": 4, "games": 1, "finished": 2, "stopped": 1,
        "seated": 20, "left": 1, "failed": 1,
    }  # fmt: skip
    assert not live["plays"]
    page = text(researcher.get(url("live", study.slug)))
    assert "in a group game" in page
    assert "sounds failed" not in page
