"""The sound of an exposure: for its owner alone, in any part a player asks for, alike for every kind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import signing
from django.test import Client
from django.urls import reverse

from dialogues import media
from dialogues.media import Span, Unsatisfiable, span_asked_for
from dialogues.models import Dialogue, Exposure
from studies import access
from studies.models import Participant
from tests import factories
from tests.factories import NOW

SIZE = 1000
SOUND = bytes(n % 251 for n in range(SIZE))


@pytest.mark.parametrize(
    ("header", "span"),
    [
        ("bytes=0-1", Span(0, 1)),
        ("bytes=0-", Span(0, 999)),
        ("bytes=0-999", Span(0, 999)),
        ("bytes=0-99999", Span(0, 999)),
        ("bytes=999-", Span(999, 999)),
        ("bytes=-1", Span(999, 999)),
        ("bytes=-5000", Span(0, 999)),
        ("Bytes = 5 - 9", Span(5, 9)),
        ("bytes=9-5", None),
        ("bytes=-", None),
        ("bytes=a-b", None),
        ("bytes=0-1,5-6", None),
        ("items=0-1", None),
        ("bytes=\u0661-\u0662", None),
        ("bytes=" + "9" * 30 + "-", None),
        ("", None),
    ],
)
def test_range_header(header: str, span: Span | None) -> None:
    assert span_asked_for(header, SIZE) == span


@pytest.mark.parametrize("header", ["bytes=1000-", "bytes=1000-1001", "bytes=-0"])
def test_range_beyond_the_file_is_unsatisfiable(header: str) -> None:
    with pytest.raises(Unsatisfiable):
        span_asked_for(header, SIZE)


class Listener:
    """A browser that holds the cookie of a participant."""

    def __init__(self, participant: Participant) -> None:
        self.client = Client()
        slug = participant.study.slug
        key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{slug}")
        self.client.cookies[access.cookie_name(slug)] = key

    def get(self, exposure: Exposure, **headers: str) -> Any:
        return self.client.get(reverse("dialogues:media", args=[exposure.token]), headers=headers)


@pytest.fixture
def exposure(db: None, settings: Any, tmp_path: Path) -> Exposure:
    settings.MEDIA_ROOT = tmp_path
    found: Exposure = factories.ExposureFactory()
    path = tmp_path / found.dialogue.play_path
    path.parent.mkdir(parents=True)
    path.write_bytes(SOUND)
    return found


@pytest.fixture
def owner(exposure: Exposure) -> Listener:
    assert exposure.rater.participant is not None
    return Listener(exposure.rater.participant)


def test_whole_file(owner: Listener, exposure: Exposure) -> None:
    answer = owner.get(exposure)
    assert (answer.status_code, answer.content) == (200, SOUND)
    assert answer.headers["Content-Length"] == "1000"
    assert answer.headers["Content-Type"] == "audio/mpeg"
    assert answer.headers["Accept-Ranges"] == "bytes"
    assert answer.headers["Cache-Control"] == "private, max-age=3600"
    for absent in ("ETag", "Last-Modified", "Content-Disposition", "Content-Range"):
        assert absent not in answer.headers


@pytest.mark.parametrize(
    ("asked", "first", "last"), [("bytes=0-1", 0, 1), ("bytes=500-", 500, 999), ("bytes=-100", 900, 999)]
)
def test_part_of_the_file(owner: Listener, exposure: Exposure, asked: str, first: int, last: int) -> None:
    answer = owner.get(exposure, range=asked)
    assert answer.status_code == 206
    assert answer.content == SOUND[first : last + 1]
    assert answer.headers["Content-Range"] == f"bytes {first}-{last}/1000"
    assert answer.headers["Content-Length"] == str(last - first + 1)


def test_range_out_of_the_file(owner: Listener, exposure: Exposure) -> None:
    answer = owner.get(exposure, range="bytes=1000-")
    assert (answer.status_code, answer.content) == (416, b"")
    assert answer.headers["Content-Range"] == "bytes */1000"
    assert Exposure.objects.get().first_byte_at is None


@pytest.mark.parametrize(
    "headers",
    [
        {"range": "bytes=0-1,4-5"},
        {"range": "nonsense"},
        {"range": "bytes=0-1", "if-range": '"x"'},
        {"if-none-match": "*"},
        {"if-none-match": '"x"'},
        {"if-modified-since": "Fri, 01 Jan 2038 00:00:00 GMT"},
    ],
)
def test_conditions_and_several_ranges_get_the_whole_file(
    owner: Listener, exposure: Exposure, headers: dict[str, str]
) -> None:
    answer = owner.get(exposure, **headers)
    assert (answer.status_code, answer.content) == (200, SOUND)


def test_head_has_the_length_and_no_body(owner: Listener, exposure: Exposure) -> None:
    answer = owner.client.head(reverse("dialogues:media", args=[exposure.token]))
    assert (answer.status_code, answer.content, answer.headers["Content-Length"]) == (200, b"", "1000")
    assert Exposure.objects.get().first_byte_at is None


def test_only_get_and_head(owner: Listener, exposure: Exposure) -> None:
    assert owner.client.post(reverse("dialogues:media", args=[exposure.token])).status_code == 405


def test_first_byte_is_noted_once(owner: Listener, exposure: Exposure) -> None:
    owner.get(exposure, range="bytes=0-1")
    noted = Exposure.objects.get().first_byte_at
    assert noted is not None
    owner.get(exposure)
    media.note_first_byte(exposure=exposure.pk, now=noted + timedelta(hours=1))
    assert Exposure.objects.get().first_byte_at == noted


def test_part_is_read_without_the_rest(
    owner: Listener, exposure: Exposure, settings: Any, tmp_path: Path
) -> None:
    path = tmp_path / exposure.dialogue.play_path
    with path.open("wb") as file:
        file.truncate(20_000_000_000)  # sparse: reading all of it would not fit in memory
    answer = owner.get(exposure, range="bytes=19999999990-")
    assert (answer.status_code, answer.content) == (206, bytes(10))


class TestOutsiders:
    def test_without_cookie(self, exposure: Exposure) -> None:
        assert Client().get(reverse("dialogues:media", args=[exposure.token])).status_code == 404

    def test_participant_of_the_same_study(self, exposure: Exposure) -> None:
        other = Listener(factories.ParticipantFactory(study=exposure.study))
        answer = other.get(exposure, range="bytes=0-1")
        assert answer.status_code == 404
        assert "Content-Range" not in answer.headers

    def test_participant_with_an_exposure_of_the_same_dialogue(self, exposure: Exposure) -> None:
        own = factories.ExposureFactory(
            rater=factories.RaterFactory(participant__study=exposure.study), dialogue=exposure.dialogue
        )
        assert own.rater.participant is not None
        listener = Listener(own.rater.participant)
        assert listener.get(own).status_code == 200
        assert listener.get(exposure).status_code == 404

    def test_forged_cookie(self, exposure: Exposure) -> None:
        client = Client()
        assert exposure.rater.participant is not None
        client.cookies[access.cookie_name(exposure.study.slug)] = exposure.rater.participant.resume_code
        assert client.get(reverse("dialogues:media", args=[exposure.token])).status_code == 404

    @pytest.mark.parametrize("token", ["x", "%00", "a" * 500, "..%2Fsecret_key"])
    def test_unknown_token(self, owner: Listener, token: str) -> None:
        assert owner.client.get(f"/media/{token}").status_code == 404

    def test_person_who_withdrew(self, owner: Listener, exposure: Exposure) -> None:
        Participant.objects.update(withdrawn_at=NOW)
        assert owner.get(exposure).status_code == 404


class TestWithdrawnSound:
    def test_dialogue(self, owner: Listener, exposure: Exposure) -> None:
        Dialogue.objects.update(state=Dialogue.State.WITHDRAWN)
        assert owner.get(exposure).status_code == 404

    def test_recording(self, owner: Listener, exposure: Exposure) -> None:
        recording = exposure.dialogue.recording
        assert recording is not None
        recording.may_play = False
        recording.save()
        assert owner.get(exposure).status_code == 404

    @pytest.mark.parametrize("label", ["A", "B"])
    @pytest.mark.parametrize("field", [{"withdrawn_at": NOW}, {"may_play": False}])
    def test_speaker(self, owner: Listener, exposure: Exposure, label: str, field: dict[str, Any]) -> None:
        speaker = exposure.dialogue.parties.get(label=label).speaker
        assert speaker is not None
        type(speaker).objects.filter(pk=speaker.pk).update(**field)
        assert owner.get(exposure).status_code == 404

    def test_file_that_is_missing(self, owner: Listener, exposure: Exposure, tmp_path: Path) -> None:
        (tmp_path / exposure.dialogue.play_path).unlink()
        assert owner.get(exposure).status_code == 404


def test_web_server_sends_the_file_where_it_can(owner: Listener, exposure: Exposure, settings: Any) -> None:
    settings.MEDIA_X_ACCEL = "/protected/"
    answer = owner.get(exposure, range="bytes=0-1")
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["X-Accel-Redirect"] == f"/protected/{exposure.dialogue.play_path}"
    assert answer.headers["Content-Type"] == "audio/mpeg"
    assert answer.headers["Cache-Control"] == "private, max-age=3600"


def test_one_query_and_one_more_the_first_time(
    owner: Listener, exposure: Exposure, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(2):
        owner.get(exposure)
    with django_assert_num_queries(1):
        owner.get(exposure)
