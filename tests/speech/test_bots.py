"""Bots against a running site: they come through where all is well, and say so where it is not."""

from __future__ import annotations

import io
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from django.conf import settings
from django.core.management import CommandError, call_command

from dialogues.models import Dialogue, Verdict
from games.speech import presenters
from games.speech.bots import Bot, Plan
from games.speech.bots.watch import points_fit
from games.speech.models import SpeechSettings
from games.speech.services import listening
from studies import registry
from studies import services as studies
from studies.bots import Watch
from studies.bots.forms import read_forms
from studies.models import Participant, Study
from tests import factories

LENGTH = 1.5


@pytest.fixture
def game(transactional_db: None) -> Study:
    """An open study from the built-in template, with clips that can be fetched."""
    study = studies.create_study(
        slug="bots",
        title_en="Bots",
        user=None,
        host="A university",
        contact="a@example.org",
        test_participants=True,
    )
    clip = io.BytesIO()
    tone = 0.1 * np.sin(2 * np.pi * 220 * np.arange(int(24_000 * LENGTH)) / 24_000)
    soundfile.write(clip, tone, 24_000, format="MP3", bitrate_mode="CONSTANT", compression_level=0.75)
    topics = [factories.TopicFactory() for _ in range(5)]
    for language in ("en", "zh"):
        for number in range(20):
            kind = ("human_human", "human_human", "human_machine", "pseudo_human")[number % 4]
            dialogue = factories.add_dialogue(
                study, kind=kind, language=language, play_duration=LENGTH, topic=topics[number % 5]
            )
            path = Path(settings.MEDIA_ROOT) / dialogue.play_path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(clip.getvalue())
    return studies.change_status(study=study, to=Study.Status.OPEN)


def plan(live_server: Any, **changes: Any) -> Plan:
    fields = {"base": live_server.url, "slug": "bots", "number": 1, "seed": 1, "rounds": 1, "clumsy": False}
    return Plan(**fields | changes)


def test_bots_play_to_the_debrief_valid_and_clumsy(game: Study, live_server: Any) -> None:
    out = io.StringIO()
    call_command(
        "play_speech_game",
        study="bots",
        bots=3,
        rounds=2,
        seed=7,
        listen="claimed",
        base_url=live_server.url,
        stdout=out,
    )
    assert "3 bots, 6 rounds, 30 verdicts" in out.getvalue()
    people = Participant.objects.filter(study=game)
    assert people.count() == 3  # the clumsy one clicked twice on "Take part"
    assert set(people.values_list("state", "is_test")) == {(Participant.State.COMPLETED, True)}
    assert Verdict.objects.filter(study=game).count() == 30
    assert set(people.values_list("speech__sound_passed", flat=True)) == {True}


def test_bots_meet_spoken_instructions_without_noticing(game: Study, live_server: Any) -> None:
    for language in ("en", "zh"):
        for expected in ("human", "machine"):
            dialogue = factories.DialogueFactory(language=language, play_duration=LENGTH)
            factories.StudyItemFactory(study=game, dialogue=dialogue, role="attention", expected=expected)
            path = Path(settings.MEDIA_ROOT) / dialogue.play_path
            path.write_bytes(next(path.parent.glob("*.mp3")).read_bytes())
    result = Bot(plan(live_server, listen="claimed", clumsy=True), Watch()).run()
    assert result.findings == []
    assert result.reached_debrief
    reasons = list(Verdict.objects.filter(study=game).values_list("exclusion", flat=True))
    assert sorted(reasons) == ["check", *["test"] * 5]


def test_the_same_bots_may_play_a_study_again(game: Study, live_server: Any) -> None:
    for _ in range(2):
        call_command("play_speech_game", study="bots", bots=4, seed=7, listen="claimed",
                     base_url=live_server.url, stdout=io.StringIO())  # fmt: skip
    assert Participant.objects.filter(study=game).exclude(nickname="").count() >= 2


def test_a_bot_that_really_listens_takes_its_time(game: Study, live_server: Any) -> None:
    result = Bot(plan(live_server, listen="real"), Watch()).run()
    assert result.findings == []
    assert result.reached_debrief
    verdicts = list(Verdict.objects.filter(study=game))
    assert len(verdicts) == 5
    assert {verdict.exclusion for verdict in verdicts} == {Verdict.Exclusion.TEST}
    for verdict in verdicts:
        served = datetime.fromisoformat(verdict.evidence["served_at"])
        assert verdict.evidence["heard"] > 0.97
        assert (verdict.given_at - served).total_seconds() >= 0.9 * verdict.evidence["length"]


def test_a_leak_before_the_verdict_is_found(game: Study, live_server: Any, monkeypatch: Any) -> None:
    whole = presenters.trial_json

    def leaking(trial: Any, **rest: Any) -> dict[str, Any]:
        return whole(trial, **rest) | {"hint": Dialogue.objects.get(pk=trial.dialogue_id).kind}

    monkeypatch.setattr(presenters, "trial_json", leaking)
    result = Bot(plan(live_server), Watch()).run()
    assert any("before the verdict" in finding for finding in result.findings)


def test_answers_that_open_too_early_are_found(game: Study, live_server: Any, monkeypatch: Any) -> None:
    def opened(trial: Any, *, now: Any, **rest: Any) -> None:
        trial.gate, trial.unlocked_at = "ended", now

    monkeypatch.setattr(listening, "open_gate", opened)
    result = Bot(plan(live_server), Watch()).run()
    assert any(finding.startswith("a verdict before listening") for finding in result.findings)


def test_wrong_points_are_found(game: Study, live_server: Any, monkeypatch: Any) -> None:
    whole = presenters.round_page

    def generous(*args: Any, **rest: Any) -> dict[str, Any]:
        page = whole(*args, **rest)
        page["round"]["points"] += 1
        return page

    monkeypatch.setattr(presenters, "round_page", generous)
    result = Bot(plan(live_server), Watch()).run()
    assert any("points for" in finding for finding in result.findings)


def test_claimed_listening_is_refused_where_there_are_no_test_participants(db: None) -> None:
    factories.StudyFactory(slug="strict")
    with pytest.raises(CommandError, match="takes no test participants"):
        call_command("play_speech_game", study="strict", listen="claimed")


def test_a_site_that_is_not_there_ends_with_an_error(db: None) -> None:
    with pytest.raises(CommandError, match="no connection"):
        call_command(
            "play_speech_game", study="none", bots=1, base_url="http://127.0.0.1:9", stdout=io.StringIO()
        )


def test_an_unknown_study_ends_with_an_error(live_server: Any) -> None:
    with pytest.raises(CommandError, match="404"):
        call_command("play_speech_game", study="none", bots=1, base_url=live_server.url, stdout=io.StringIO())


@pytest.mark.parametrize(
    ("points", "correct", "fits"),
    [(25, 4, True), (10, 2, True), (35, 5, True), (80, 4, True), (30, 4, False)],
)
def test_points_of_five(points: int, correct: int, fits: bool) -> None:
    assert points_fit(points, correct, 5) is fits


def test_a_form_is_sent_as_a_browser_sends_it() -> None:
    [form] = read_forms(
        '<form method="post" action="/x/"><input type="hidden" name="token" value="t">'
        '<input type="radio" name="age" value="1"><input type="radio" name="age" value="2" checked>'
        '<input type="checkbox" name="yes"><textarea name="why">so</textarea>'
        '<button>Send</button><button name="refuse" value="1">No</button></form>'
    )
    assert form.filled({}) == [("token", "t"), ("age", "2"), ("why", "so")]
    assert form.filled({"age": "1", "yes": "on"}, "refuse=1") == [
        ("token", "t"), ("why", "so"), ("age", "1"), ("yes", "on"), ("refuse", "1"),
    ]  # fmt: skip


def test_the_study_of_the_tests_is_the_published_one(game: Study) -> None:
    assert SpeechSettings.objects.get(study=game).round_size == 5
    assert "speech" in registry.activities
