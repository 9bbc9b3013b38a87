"""A study's figures of this moment: what they count, who may ask for them, when there are none."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.urls import reverse
from django.utils import timezone

from annotation.live import live_of as work_of
from games.speech.live import live_of
from studies.models import Participant
from tests import factories
from tests.annotation.annotating import Rater, work_study
from tests.clock import Clock
from tests.speech.conftest import Person
from turingsite import heartbeat


@pytest.fixture(autouse=True)
def no_cache():
    cache.clear()


def ask(client, study):
    return client.get(reverse("admin:desk_live", args=[study.slug]))


@pytest.mark.both
def test_who_plays_who_left_and_what_failed(db, clock: Clock) -> None:
    study = factories.speech_study()

    def person(**fields: object) -> Person:
        made = factories.ParticipantFactory(study=study, consented_at=clock.now, **fields)
        return Person(made, clock)

    gone, playing, finished, bot = person(), person(), person(), person(is_test=True)
    gone.trial()
    finished.play_round()
    clock.pass_(45 * 60)
    playing.trial()
    bot.trial()
    assert playing.post(f"trial/{playing.trial()['code']}/failed/", why="decode").status_code == 200
    fresh = person()
    now = live_of(study, now=clock.now)
    assert (now.playing, now.consented, now.done) == (1, 4, 0)
    assert now.left == 1, "who finished a round has not left, nor who came or played lately"
    assert (now.served, now.failed) == (1 + 5 + 2, 1), "the first, a round, the failed and its heir"
    assert now.joined == 4
    fresh.client.post(f"/s/{study.slug}/leave/", {"choice": "stop"})
    clock.pass_(50 * 60)
    later = live_of(study, now=clock.now)
    assert (later.playing, later.left, later.joined) == (0, 3, 1)
    assert (later.served, later.failed) == (2, 1)


@pytest.mark.both
def test_who_annotates_what_was_scored_and_what_failed(db, clock: Clock) -> None:
    study = work_study()
    rater, other, bot = Rater(study, clock), Rater(study, clock), Rater(study, clock, is_test=True)
    rater.annotate()
    other.item()
    bot.item()
    other.post(f"item/{other.item()['code']}/failed/", why="decode")
    assert work_of(study, now=clock.now) == (2, 1, 4, 1), "the failed one has an heir, each its next"
    clock.pass_(11 * 60)
    other.item()
    assert work_of(study, now=clock.now) == (1, 1, 4, 1)
    clock.pass_(61 * 60)
    assert work_of(study, now=clock.now) == (0, 0, 0, 0)


def test_an_annotating_study_shows_its_work_and_nothing_of_a_game(client, cast, clock: Clock) -> None:
    study = work_study()
    study.members.create(user=cast.researcher, role="researcher")
    Rater(study, clock).item()
    client.force_login(cast.researcher)
    page = ask(client, study).content.decode()
    assert "annotating" in page
    for words in ("playing", "verdicts analysed", "left without a finished round"):
        assert words not in page


@pytest.mark.both
def test_annotators_have_not_left_the_game(db, clock: Clock) -> None:
    study = factories.speech_study()
    fields = {"study": study, "consented_at": clock.now}
    factories.ParticipantFactory(**fields)
    factories.ParticipantFactory(**fields, activities=["annotation"])
    clock.pass_(45 * 60)
    now = live_of(study, now=clock.now)
    assert (now.left, now.consented, now.joined) == (1, 1, 2)


@pytest.mark.parametrize(
    ("who", "status"), [("researcher", 200), ("colleague", 200), ("reviewer", 404), ("stranger", 404)]
)
def test_figures_open_to_the_studys_people_only(client, cast, who, status):
    client.force_login(getattr(cast, who))
    assert ask(client, cast.study).status_code == status


def test_the_part_of_the_page_comes_alone_and_is_in_the_page(client, cast):
    client.force_login(cast.researcher)
    part = ask(client, cast.study)
    assert part.headers["Cache-Control"].startswith("max-age=0")
    assert b"<html" not in part.content
    assert b"playing" in part.content
    page = client.get(reverse("admin:desk_study", args=[cast.study.slug])).content.decode()
    assert f'data-live="{reverse("admin:desk_live", args=[cast.study.slug])}"' in page
    assert "agreed in the last hour" in page, "also without scripts"


@pytest.mark.parametrize(("status", "there"), [("draft", False), ("paused", True), ("closed", False)])
def test_only_where_somebody_can_be_in_the_study(client, cast, status, there):
    cast.study.status = status
    cast.study.save()
    client.force_login(cast.researcher)
    assert (b"playing" in ask(client, cast.study).content) is there
    page = client.get(reverse("admin:desk_study", args=[cast.study.slug])).content
    assert (b"data-live" in page) is there


def test_a_silent_worker_is_told(client, cast, monkeypatch):
    client.force_login(cast.researcher)
    for age, words in [
        (20.0, "Background work runs."),
        (600.0, "Background work has given no sign for 10 minutes."),
        (None, "Background work has never given a sign."),
    ]:
        cache.clear()
        monkeypatch.setattr(heartbeat, "age", lambda now, age=age: age)
        assert words in ask(client, cast.study).content.decode()


def test_all_who_look_share_one_count(client, cast, django_assert_max_num_queries):
    client.force_login(cast.researcher)
    ask(client, cast.study)
    Participant.objects.filter(study=cast.study).update(consented_at=timezone.now() - timedelta(minutes=1))
    with django_assert_max_num_queries(4):
        ask(client, cast.study)
