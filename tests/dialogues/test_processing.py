"""A job per dialogue: claimed once, run outside transactions, taken back, failed with a reason."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
import soundfile
import time_machine
from django.conf import settings
from django.core import signing
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dialogues import tasks, time_line
from dialogues.models import Dialogue, Exposure, Kind, Nature, ProcessingJob, Recording, Turn
from dialogues.processing import flags, services
from dialogues.processing.correcting import Corrected, correct_turns
from dialogues.processing.gaps import human_gaps
from studies import access
from studies.models import AuditLine, Study
from tests import factories
from tests.sounds import RATE, case, silence, talk
from turingsite.audio import turns as heard
from turingsite.audio.encode import make_playable, read_mp3
from turingsite.audio.process import process
from turingsite.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db

State = ProcessingJob.State
PLAN = [("A", 0.4, 1.0), ("B", 1.6, 1.0), ("A", 0.1, 0.6)]


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "media" / "originals").mkdir(parents=True)
    return tmp_path / "media"


@pytest.fixture
def make(media: Path) -> Callable[..., ProcessingJob]:
    """A waiting dialogue with its job; ``sound`` is samples, or the bytes of a file."""

    def made(
        name: str = "d1",
        sound: Any = None,
        turns: list[heard.Turn] | None = None,
        *,
        kind: str = Kind.HUMAN_MACHINE,
        study: Study | None = None,
        profile: str = "own-1",
        channels: str = "",
    ) -> ProcessingJob:
        if sound is None:
            sound, turns = talk(PLAN, tail=0.5, levels={"A": -18, "B": -30})
        path = media / "originals" / f"{name}.wav"
        if isinstance(sound, bytes):
            path.write_bytes(sound)
        else:
            soundfile.write(path, sound, RATE, subtype="FLOAT")
        recording = Recording.objects.create(
            sha256=hashlib.sha256(name.encode()).hexdigest(), path=f"originals/{name}.wav", duration=10.0
        )
        dialogue = Dialogue.objects.create(
            external_id=name,
            content_hash="0" * 64,
            kind=kind,
            language="en",
            recording=recording,
            channels=channels,
        )
        machine = kind != Kind.HUMAN_HUMAN
        parties = {
            "A": dialogue.parties.create(label="A", nature=Nature.HUMAN),
            "B": dialogue.parties.create(label="B", nature=Nature.MACHINE if machine else Nature.HUMAN),
        }
        for index, turn in enumerate(turns or []):
            dialogue.turns.create(
                party=parties[turn.speaker],
                index=index,
                start=turn.start,
                end=turn.end,
                text=f"words {index}",
            )
        if study is not None:
            factories.StudyItemFactory(study=study, dialogue=dialogue)
        return ProcessingJob.objects.create(dialogue=dialogue, seed=7, gap_profile=profile)

    return made


def files(media: Path) -> list[Path]:
    return sorted(p for p in (media / "play").rglob("*") if p.is_file()) if (media / "play").exists() else []


def heard_by(exposure: Exposure) -> bytes:
    """The sound that the address of the exposure gives to its owner."""
    participant = exposure.rater.participant
    assert participant is not None
    client, slug = Client(), participant.study.slug
    key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{slug}")
    client.cookies[access.cookie_name(slug)] = key
    return bytes(client.get(reverse("dialogues:media", args=[exposure.token])).content)


def rules(dialogue: Dialogue) -> set[str]:
    return set(dialogue.flags.values_list("rule", flat=True))


def test_a_dialogue_becomes_playable(make: Callable[..., ProcessingJob], media: Path) -> None:
    job = make()
    original = (media / "originals" / "d1.wav").read_bytes()
    done = services.run(job_id=job.pk)
    assert done is not None
    assert (done.state, done.claim, done.reason) == (State.DONE, "", "")
    dialogue = Dialogue.objects.get()
    assert dialogue.state == Dialogue.State.READY
    assert dialogue.trouble == ""
    [path] = files(media)
    assert str(path.relative_to(media)) == dialogue.play_path
    info = read_mp3(path.read_bytes())
    assert info.bitrates == (48_000,)
    assert info.extra == 0
    assert dialogue.play_duration == pytest.approx(info.duration)
    assert dialogue.play_size == path.stat().st_size
    assert len(dialogue.peaks) == 600
    assert (media / "originals" / "d1.wav").read_bytes() == original
    quality = dialogue.quality
    assert quality["loudness"]["before"]["A"] - quality["loudness"]["before"]["B"] > 8
    assert quality["loudness"]["difference"] <= 0.2
    assert quality["gaps"]["before"]["each"] == [1.6, 0.1]
    assert quality["gaps"]["after"]["longest"] <= 0.8
    assert quality["play"]["bytes_per_second"] == pytest.approx(6000)
    assert AuditLine.objects.filter(action="dialogue.processed", target=str(dialogue.pk)).count() == 1


def test_turns_get_their_place_in_the_playing_file(make: Callable[..., ProcessingJob]) -> None:
    services.run(job_id=make().pk)
    turns = list(Turn.objects.order_by("index"))
    assert [t.source for t in turns] == [Turn.Source.MANIFEST] * 3
    assert [t.text for t in turns] == ["words 0", "words 1", "words 2"]
    assert turns[1].start == pytest.approx(3.0)  # the original's time stays
    for turn in turns:
        assert turn.play_start is not None
        assert turn.play_end is not None
        assert turn.play_end - turn.play_start == pytest.approx((turn.end or 0) - (turn.start or 0), abs=0.05)
    ends = [(t.play_start or 0, t.play_end or 0) for t in turns]
    assert 0.1 <= ends[0][0] < 0.25
    assert ends[1][0] - ends[0][1] <= 0.8
    assert ends[2][1] <= (Dialogue.objects.get().play_duration or 0)


def test_the_name_tells_nothing_and_the_time_is_the_same_for_all(
    make: Callable[..., ProcessingJob], media: Path
) -> None:
    for name in ("gpt-4o_17", "human_3"):
        services.run(job_id=make(name).pk)
    one, two = files(media)
    assert one.stat().st_mtime == two.stat().st_mtime
    assert len(one.stem) >= 32
    for path in (one, two):
        assert not any(word in str(path.relative_to(media)) for word in ("gpt", "human", "000000"))


def test_size_follows_length_alone(make: Callable[..., ProcessingJob]) -> None:
    noise = silence(3.0, level=-12)
    tone = (0.3 * np.sin(np.arange(3 * RATE) / 8)).astype(np.float32)
    for name, sound in (("noise", noise), ("tone", tone)):
        services.run(job_id=make(name, sound, []).pk)
    assert len(set(Dialogue.objects.values_list("play_size", flat=True))) == 1


def test_missing_turns_are_found_and_marked_as_detected(make: Callable[..., ProcessingJob]) -> None:
    samples, turns = talk(PLAN, tail=0.5)
    sides = np.stack([silence(len(samples) / RATE, seed=s)[: len(samples)] for s in (1, 2)], axis=1)
    for turn in turns:
        sides[round(turn.start * RATE) : round(turn.end * RATE), 0 if turn.speaker == "A" else 1] += samples[
            round(turn.start * RATE) : round(turn.end * RATE)
        ]
    job = make(sound=sides, turns=[], channels="ab")
    services.run(job_id=job.pk)
    rows = list(Turn.objects.order_by("index").values_list("party__label", "source"))
    assert rows == [(label, Turn.Source.DETECTED) for label in "ABA"]
    assert Turn.objects.filter(play_start=None).count() == 0
    # once more: found anew, not added
    services.queue(dialogue=job.dialogue)
    services.run(job_id=job.pk)
    assert Turn.objects.count() == 3


def test_corrected_turns_are_kept_and_processed(make: Callable[..., ProcessingJob]) -> None:
    job = make()
    services.run(job_id=job.pk)
    dialogue = job.dialogue
    wanted = [Corrected("A", 0.4, 1.4, was=0), Corrected("B", 3.0, 4.7, was=1)]
    correct_turns(dialogue=dialogue, turns=wanted)
    assert services.waiting() == [job.pk]
    services.run(job_id=job.pk)
    rows = list(dialogue.turns.order_by("index"))
    assert [(t.party.label, t.source, t.text) for t in rows] == [
        ("A", Turn.Source.CORRECTED, "words 0"),
        ("B", Turn.Source.CORRECTED, "words 1"),
    ]
    assert all(t.play_end for t in rows)


@pytest.mark.parametrize(
    ("turns", "code"),
    [
        ([], "no_turns"),
        ([Corrected("C", 0, 1)], "unknown_speaker"),
        ([Corrected("A", 2, 1)], "bad_turn"),
        ([Corrected("A", 2, 99)], "bad_turn"),
    ],
)
def test_impossible_corrections_are_refused(
    make: Callable[..., ProcessingJob], turns: list[Corrected], code: str
) -> None:
    dialogue = make().dialogue
    with pytest.raises(Invalid) as caught:
        correct_turns(dialogue=dialogue, turns=turns)
    assert caught.value.code == code
    assert dialogue.turns.count() == 3


class TestClaims:
    def test_a_job_is_done_once(self, make: Callable[..., ProcessingJob], media: Path) -> None:
        job = make()
        assert services.run(job_id=job.pk) is not None
        assert services.run(job_id=job.pk) is None
        assert len(files(media)) == 1
        assert ProcessingJob.objects.get().attempts == 1

    def test_a_held_job_is_not_claimed_again(self, make: Callable[..., ProcessingJob]) -> None:
        job = make()
        assert services.claim(job_id=job.pk) is not None
        assert services.claim(job_id=job.pk) is None
        assert services.run(job_id=job.pk) is None
        assert services.waiting() == []
        assert services.sweep() == []

    @pytest.mark.django_db(transaction=True)
    def test_of_two_workers_one_does_it(self, make: Callable[..., ProcessingJob], media: Path) -> None:
        job = make()
        start, results = threading.Barrier(4), []

        def work() -> None:
            start.wait()
            try:
                results.append(services.run(job_id=job.pk))
            finally:
                connection.close()

        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert len(results) == 4
        assert sum(result is not None for result in results) == 1
        assert len(files(media)) == 1

    @pytest.mark.django_db(transaction=True)
    def test_sound_is_decoded_outside_transactions(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = []
        for name in ("decode", "process", "make_playable"):
            real = getattr(services, name)

            def watched(*args: Any, real: Any = real, **kwargs: Any) -> Any:
                seen.append(connection.in_atomic_block)
                return real(*args, **kwargs)

            monkeypatch.setattr(services, name, watched)
        services.run(job_id=make().pk)
        assert seen == [False, False, False]

    def test_a_killed_workers_job_comes_back(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch, media: Path
    ) -> None:
        job = make()

        def killed(*args: Any, **kwargs: Any) -> None:
            raise SystemExit(137)

        with monkeypatch.context() as patch:
            patch.setattr(services, "make_playable", killed)
            with pytest.raises(SystemExit):
                services.run(job_id=job.pk)
        assert ProcessingJob.objects.get().state == State.RUNNING
        assert services.sweep() == []  # the lease still holds
        with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1)):
            assert services.sweep() == [job.pk]
            done = services.run(job_id=job.pk)
        assert done is not None
        assert (done.state, done.attempts) == (State.DONE, 2)
        assert len(files(media)) == 1

    def test_a_late_finisher_changes_nothing(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch, media: Path
    ) -> None:
        job = make()
        real = make_playable

        def slow(samples: Any, **known: Any) -> Any:
            ProcessingJob.objects.update(claim="somebody else")
            return real(samples, **known)

        monkeypatch.setattr(services, "make_playable", slow)
        assert services.run(job_id=job.pk) is None
        assert files(media) == []
        assert Dialogue.objects.get().state == Dialogue.State.WAITING
        assert ProcessingJob.objects.get().claim == "somebody else"

    def test_a_recording_that_ends_its_worker_fails_in_the_end(
        self, make: Callable[..., ProcessingJob]
    ) -> None:
        job, other = make(), make("d2")
        for _ in range(services.TRIES):
            assert services.claim(job_id=job.pk) is not None
            ProcessingJob.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        assert services.claim(job_id=job.pk) is None
        assert services.sweep() == [other.pk]
        job.refresh_from_db()
        assert job.state == State.FAILED
        assert "ended the worker 3 times" in job.reason
        assert "ended the worker" in Dialogue.objects.get(external_id="d1").trouble

    @pytest.mark.django_db(transaction=True)
    def test_a_worker_killed_outright_loses_nothing(
        self, make: Callable[..., ProcessingJob], media: Path
    ) -> None:
        """kill -9 in the middle of a long recording, in a process of its own on the same database."""
        samples, turns = talk([("A", 0.3, 8.0), ("B", 0.5, 8.0)] * 4)
        job = make("long", samples, turns)
        database = connection.settings_dict
        env = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "turingsite.settings.test",
            "TEST_VAR_DIR": str(media.parent),
        }
        if connection.vendor == "sqlite":
            env["DATABASE_URL"] = f"sqlite:///{database['NAME']}"
        else:
            place = f"{database['HOST'] or 'localhost'}:{database['PORT'] or 5432}"
            login = ":".join(quote(str(database[k])) for k in ("USER", "PASSWORD") if database[k])
            env["DATABASE_URL"] = f"postgres://{login}@{place}/{database['NAME']}"
        command = [sys.executable, "manage.py", "process_dialogues"]
        worker = subprocess.Popen(command, env=env, cwd=settings.BASE_DIR, stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while ProcessingJob.objects.get().state != State.RUNNING:
                assert time.monotonic() < deadline
                assert worker.poll() is None
                time.sleep(0.02)
        finally:
            worker.kill()
            worker.wait()
        held = ProcessingJob.objects.get()
        assert (held.state, held.attempts) == (State.RUNNING, 1)
        assert Dialogue.objects.get().state == Dialogue.State.WAITING
        assert services.run(job_id=job.pk) is None
        with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1)):
            assert services.sweep() == [job.pk]
            done = services.run(job_id=job.pk)
        assert done is not None
        assert (done.state, done.attempts) == (State.DONE, 2)
        assert Dialogue.objects.get().state == Dialogue.State.READY

    def test_files_that_no_row_names_are_removed_after_a_while(
        self, make: Callable[..., ProcessingJob], media: Path
    ) -> None:
        services.run(job_id=make().pk)
        [named] = files(media)
        (media / "play" / "zz").mkdir()
        for name in ("orphan.mp3", ".incoming-half"):
            (media / "play" / "zz" / name).write_bytes(b"x")
        assert services.tidy_files() == 0  # they may be named in a moment
        with time_machine.travel(timezone.now() + services.KEEP_UNNAMED + timedelta(minutes=1)):
            tasks.tidy_play_files()
        assert files(media) == [named]
        assert (media / "originals" / "d1.wav").exists()


class TestFailures:
    @pytest.mark.parametrize(
        ("sound", "words"),
        [
            (b"", "empty"),
            (b"no sound at all" * 9, "not a sound file"),
            (b"\0\0\0\x20ftypM4A junk" * 9, "M4A"),
        ],
    )
    def test_a_refused_recording_keeps_its_reason_and_stops_no_other(
        self, make: Callable[..., ProcessingJob], media: Path, sound: bytes, words: str
    ) -> None:
        bad, good = make("bad", sound), make("good")
        assert services.run_waiting() == 2
        bad.refresh_from_db()
        good.refresh_from_db()
        assert (bad.state, good.state) == (State.FAILED, State.DONE)
        assert words in bad.reason
        assert bad.attempts == 1
        dialogue = Dialogue.objects.get(external_id="bad")
        assert dialogue.state == Dialogue.State.FAILED
        assert words in dialogue.trouble
        assert len(files(media)) == 1

    def test_a_missing_original_fails(self, make: Callable[..., ProcessingJob], media: Path) -> None:
        job = make()
        (media / "originals" / "d1.wav").unlink()
        done = services.run(job_id=job.pk)
        assert done is not None
        assert done.state == State.FAILED
        assert "missing" in done.reason

    def test_what_nobody_foresaw_fails_one_job(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = process

        def sometimes(decoded: Any, *args: Any, **kwargs: Any) -> Any:
            if decoded.source.duration > 6:
                raise ZeroDivisionError("a strange sound")
            return real(decoded, *args, **kwargs)

        monkeypatch.setattr(services, "process", sometimes)
        job, other = make("long", *talk([("A", 0.5, 3.0), ("B", 0.5, 3.0)])), make("short")
        services.run_waiting()
        job.refresh_from_db()
        other.refresh_from_db()
        assert (job.state, other.state) == (State.FAILED, State.DONE)
        assert job.reason == "ZeroDivisionError: a strange sound"

    def test_a_passing_fault_is_tried_again_later_and_not_for_ever(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch, media: Path
    ) -> None:
        job = make()

        def full(*args: Any) -> Any:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("dialogues.processing.files.os.replace", full)
        now = timezone.now()
        for attempt in range(1, services.TRIES + 1):
            with time_machine.travel(now, tick=False):
                done = services.run(job_id=job.pk)
                assert done is not None
                assert done.attempts == attempt
                assert "No space left" in done.reason
                assert services.waiting() == []  # not at once
            now += timedelta(hours=1)
        job.refresh_from_db()
        assert job.state == State.FAILED
        assert files(media) == []  # no half-written file stays

    def test_a_passing_fault_that_passes_does_no_harm(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        job = make()
        with monkeypatch.context() as patch:
            patch.setattr(
                "dialogues.processing.files.os.fsync",
                lambda handle: (_ for _ in ()).throw(OSError(5, "I/O error")),
            )
            services.run(job_id=job.pk)
        assert Dialogue.objects.get().state == Dialogue.State.WAITING
        with time_machine.travel(timezone.now() + timedelta(minutes=5)):
            assert services.sweep() == [job.pk]
            services.run(job_id=job.pk)
        assert Dialogue.objects.get().state == Dialogue.State.READY

    def test_a_withdrawn_dialogue_stays_withdrawn(self, make: Callable[..., ProcessingJob]) -> None:
        job = make()
        Dialogue.objects.update(state=Dialogue.State.WITHDRAWN)
        services.run(job_id=job.pk)
        assert Dialogue.objects.get().state == Dialogue.State.WITHDRAWN


class TestAgain:
    @pytest.mark.django_db(transaction=True)
    def test_processing_again_replaces_the_file_and_plays_until_then(
        self, make: Callable[..., ProcessingJob], media: Path
    ) -> None:
        job = make()
        services.run(job_id=job.pk)
        [old] = files(media)
        services.queue(dialogue=job.dialogue, profile="published-1")
        assert Dialogue.objects.get().state == Dialogue.State.READY
        assert old.exists()
        services.run(job_id=job.pk)
        new = media / Dialogue.objects.get().play_path
        assert files(media) == sorted([old, new])
        assert new != old
        gaps = Dialogue.objects.get().quality["gaps"]
        assert gaps["profile"] == "published-1"
        assert all(0.17 <= gap <= 0.24 for gap in gaps["after"]["each"])

    @pytest.mark.django_db(transaction=True)
    def test_whoever_was_given_the_old_file_goes_on_with_it_for_hours(
        self, make: Callable[..., ProcessingJob], media: Path
    ) -> None:
        job = make()
        services.run(job_id=job.pk)
        [old] = files(media)
        os.utime(old, (0, 0))
        playing = factories.ExposureFactory(dialogue=job.dialogue)
        first, changed = heard_by(playing), timezone.now()
        with time_machine.travel(changed + services.KEEP_UNNAMED * 2):
            assert services.tidy_files() == 0  # nothing was replaced yet
        services.queue(dialogue=job.dialogue, profile="published-1")
        services.run(job_id=job.pk)
        new = (media / Dialogue.objects.get().play_path).read_bytes()
        assert new != old.read_bytes()
        assert (heard_by(playing), first) == (old.read_bytes(), old.read_bytes())
        assert heard_by(factories.ExposureFactory(dialogue=job.dialogue)) == new
        assert old.stat().st_mtime == 946_684_800  # like every other
        with time_machine.travel(changed + services.KEEP_UNNAMED - timedelta(minutes=1)):
            assert services.tidy_files() == 0
        with time_machine.travel(timezone.now() + services.KEEP_UNNAMED + timedelta(minutes=1)):
            assert services.tidy_files() == 1
        assert not old.exists()
        assert heard_by(playing) == new

    @pytest.mark.django_db(transaction=True)
    def test_the_age_of_an_old_file_counts_from_its_replacement(
        self, make: Callable[..., ProcessingJob], media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(services, "KEEP_UNNAMED", timedelta(seconds=3))
        job = make()
        services.run(job_id=job.pk)
        [old] = files(media)
        time.sleep(3.2)  # the file system's clock knows no other time
        services.queue(dialogue=job.dialogue, profile="published-1")
        services.run(job_id=job.pk)
        assert services.tidy_files() == 0
        assert old.exists()

    def test_the_same_job_gives_the_same_sound(self, make: Callable[..., ProcessingJob], media: Path) -> None:
        job = make()
        services.run(job_id=job.pk)
        first, quality = files(media)[0].read_bytes(), Dialogue.objects.get().quality
        services.queue(dialogue=job.dialogue)
        services.run(job_id=job.pk)
        again = media / Dialogue.objects.get().play_path
        assert again.read_bytes() == first
        assert Dialogue.objects.get().quality == quality

    def test_a_failed_second_time_leaves_the_first_result(
        self, make: Callable[..., ProcessingJob], media: Path
    ) -> None:
        job = make()
        services.run(job_id=job.pk)
        (media / "originals" / "d1.wav").write_bytes(b"")
        services.queue(dialogue=job.dialogue)
        services.run(job_id=job.pk)
        dialogue = Dialogue.objects.get()
        assert dialogue.state == Dialogue.State.READY
        assert "empty" in dialogue.trouble
        assert (media / dialogue.play_path).exists()

    def test_what_is_at_work_or_unknown_is_refused(self, make: Callable[..., ProcessingJob]) -> None:
        job = make()
        services.claim(job_id=job.pk)
        with pytest.raises(Conflict, match="being processed"):
            services.queue(dialogue=job.dialogue)
        with pytest.raises(Invalid, match="mine-1"):
            services.queue(dialogue=job.dialogue, profile="mine-1")
        Dialogue.objects.update(recording=None)
        with pytest.raises(Conflict, match="no recording"):
            services.queue(dialogue=Dialogue.objects.get())


class TestHumanGaps:
    @pytest.fixture
    def people(self, make: Callable[..., ProcessingJob], cast: Any) -> Study:
        """Thirty human gaps of 0.3 s, two of 1.5 s and an overlap, in the study."""
        at, turns = 0.0, []
        for index in range(34):
            gap = {5: 1.5, 9: 1.5, 12: -0.4}.get(index, 0.3)
            turns.append(heard.Turn("AB"[index % 2], at + gap, at + gap + 0.5))
            at += gap + 0.5
        make("people", None, None, kind=Kind.HUMAN_HUMAN, study=cast.study)
        human = Dialogue.objects.get(external_id="people")
        human.turns.all().delete()
        parties = {p.label: p for p in human.parties.all()}
        for index, turn in enumerate(turns):
            human.turns.create(party=parties[turn.speaker], index=index, start=turn.start, end=turn.end)
        human.job.delete()
        return cast.study

    def test_a_long_gap_is_drawn_from_the_studys_people(
        self, make: Callable[..., ProcessingJob], people: Study
    ) -> None:
        job = make("machine", study=people)
        pool = human_gaps(job.dialogue, "own-1")
        assert pool.source == "study"
        assert sum(0.29 < gap < 0.31 for gap in pool.gaps) == 30
        services.run(job_id=job.pk)
        gaps = Dialogue.objects.get(external_id="machine").quality["gaps"]
        assert (gaps["pool"], gaps["pool_from"], gaps["pool_size"]) == ("human", "study", 30)
        assert gaps["after"]["each"][0] == pytest.approx(0.3, abs=0.002)

    def test_outside_the_study_the_corpus_is_drawn_from(
        self, make: Callable[..., ProcessingJob], people: Study
    ) -> None:
        assert human_gaps(make("machine").dialogue, "own-1").source == "corpus"
        elsewhere = make("other", study=factories.StudyFactory())
        assert human_gaps(elsewhere.dialogue, "own-1").source == "corpus"

    def test_without_people_the_built_in_spread_is_named(self, make: Callable[..., ProcessingJob]) -> None:
        services.run(job_id=make().pk)
        gaps = Dialogue.objects.get().quality["gaps"]
        assert (gaps["pool"], gaps["pool_from"]) == ("built-in", "none")

    def test_people_whose_turns_are_to_be_found_go_first(self, make: Callable[..., ProcessingJob]) -> None:
        machine = make("machine")
        human = make("human", kind=Kind.HUMAN_HUMAN)
        assert services.waiting() == [human.pk, machine.pk]
        Turn.objects.filter(dialogue=human.dialogue).delete()
        assert services.waiting() == [human.pk]
        services.claim(job_id=human.pk)
        assert services.waiting() == []
        ProcessingJob.objects.filter(pk=human.pk).update(state=State.FAILED)
        assert services.waiting() == [machine.pk]


class TestFlags:
    def numbers(self, **changes: Any) -> dict[str, Any]:
        base: dict[str, Any] = {
            "result": {
                "duration": 30.0,
                "speech_seconds": 20.0,
                "utterance_share": {"A": 0.5, "B": 0.5},
                "speech_share": {"A": 0.5, "B": 0.5},
                "overlaps": {"count": 0, "seconds": 0.0, "longest": 0.0, "at": []},
            },
            "loudness": {"gain": {"A": 3.0, "B": 5.0}, "is_even": True, "difference": 0.1, "after": {}},
            "source": {"clipped": 0.0, "peak_db": -3.0, "warnings": [], "duration": 30.0},
            "turns": {"given": 4, "used": 4, "found_by": "given"},
        }
        for key, value in changes.items():
            part, name = key.split("__")
            base[part][name] = value
        return base

    @pytest.mark.parametrize(
        ("change", "raised"),
        [
            ({}, {}),
            ({"result__duration": 19.9}, {"duration": 19.9}),
            ({"result__duration": 60.1}, {"duration": 60.1}),
            ({"result__duration": 20.0}, {}),
            ({"result__duration": 60.0}, {}),
            ({"result__utterance_share": {"A": 1.0}}, {"few_speakers": 1.0}),
            ({"result__utterance_share": {}}, {"few_speakers": 0.0}),
            ({"result__utterance_share": {"A": 0.6, "B": 0.4}}, {}),
            ({"result__utterance_share": {"A": 0.625, "B": 0.375}}, {"balance": 0.375}),
            (
                {"result__overlaps": {"count": 1, "seconds": 0.6, "longest": 0.6, "at": [3.0]}},
                {"interruptions": 0.6},
            ),
            ({"result__overlaps": {"count": 1, "seconds": 0.5, "longest": 0.5, "at": [3.0]}}, {}),
            (
                {"result__overlaps": {"count": 6, "seconds": 0.6, "longest": 0.1, "at": [3.0]}},
                {"interruptions": 0.1},
            ),
            ({"turns__given": 0}, {"detected-turns": 4.0}),
            ({"source__clipped": 0.01}, {"clipping": 0.01}),
            ({"result__speech_seconds": 0.0}, {"no_speech": 0.0}),
            ({"loudness__gain": {"A": 31.0}}, {"faint": 31.0}),
            ({"loudness__is_even": False, "loudness__difference": 0.9}, {"uneven_loudness": 0.9}),
            (
                {"source__warnings": [{"code": "truncated", "message": "", "params": {"seconds": 1}}]},
                {"truncated": 30.0},
            ),
        ],
    )
    def test_each_rule_has_its_number(self, change: dict[str, Any], raised: dict[str, float]) -> None:
        assert {f.rule: f.value for f in flags.raised(self.numbers(**change))} == raised

    def test_flags_are_written_renewed_and_lifted(self, make: Callable[..., ProcessingJob]) -> None:
        sound, turns = talk([("A", 0.2, 1.0), ("A", 0.3, 1.0)])
        job = make(sound=sound, turns=turns)
        dialogue = job.dialogue
        dialogue.flags.create(rule="aggressive", source="review")
        services.run(job_id=job.pk)
        assert rules(dialogue) == {"duration", "few_speakers", "aggressive"}
        few = dialogue.flags.get(rule="few_speakers")
        assert (few.value, few.source) == (1.0, "quality")
        assert few.evidence == {"low": 2, "speakers": ["A"]}
        correct_turns(dialogue=dialogue, turns=[Corrected("A", 0.2, 1.2), Corrected("B", 1.5, 2.5)])
        services.run(job_id=job.pk)
        assert rules(dialogue) == {"duration", "aggressive"}


class TestEdges:
    def test_the_task_runs_a_job_and_may_come_twice(self, make: Callable[..., ProcessingJob]) -> None:
        job = make()
        tasks.process_dialogue(job.pk)
        tasks.process_dialogue(job.pk)
        tasks.process_dialogue(987_654_321)
        job.refresh_from_db()
        assert (job.state, job.attempts) == (State.DONE, 1)

    def test_the_sweep_sends_what_waits(
        self, make: Callable[..., ProcessingJob], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent: list[int] = []
        monkeypatch.setattr(tasks.process_dialogue, "delay", sent.append)
        jobs = [make("d1"), make("d2")]
        tasks.sweep_processing()
        assert sent == [job.pk for job in jobs]

    def test_the_sweep_is_on_the_clock(self) -> None:
        from turingsite.celery import app

        scheduled = {entry["task"] for entry in app.conf.beat_schedule.values()}
        assert tasks.sweep_processing.name in scheduled
        assert tasks.sweep_processing.name in app.tasks

    def test_the_command_processes_and_says_what_failed(
        self, make: Callable[..., ProcessingJob], capsys: pytest.CaptureFixture[str], cast: Any
    ) -> None:
        make("good", study=cast.study)
        make("bad", b"")
        call_command("process_dialogues")
        out = capsys.readouterr().out
        assert "good  done" in out
        assert "bad  failed  The file is empty" in out
        call_command("process_dialogues", "--failed")
        assert "bad  failed" in capsys.readouterr().out
        call_command("process_dialogues", "--again", cast.study.slug, "--gap-profile", "published-1")
        assert "good  done" in capsys.readouterr().out
        assert Dialogue.objects.get(external_id="good").quality["gaps"]["profile"] == "published-1"
        with pytest.raises(CommandError):
            call_command("process_dialogues", "--again", "no-such-study")
        with pytest.raises(CommandError):
            call_command("process_dialogues", "--gap-profile", "own-1")


class TestAwkwardInputs:
    TURNS = (
        heard.Turn("A", 0.0, 3.655),
        heard.Turn("B", 5.455, 9.92),
        heard.Turn("A", 9.97, 12.633),
        heard.Turn("B", 15.033, 17.538),
    )

    @pytest.mark.parametrize(
        ("name", "known", "expected"),
        [
            ("mixed_16k_s16.wav", True, {"duration"}),
            ("two_channel_A_left_B_right.flac", False, {"duration", "detected-turns"}),
            ("float32_over_full_scale.wav", True, {"duration"}),
            ("vbr_tagged.mp3", True, {"duration"}),
            ("streaming_header.wav", True, {"duration"}),
            ("clipped.flac", True, {"duration", "clipping"}),
            ("silence_25s.flac", False, {"no_speech", "few_speakers"}),
            ("truncated.wav", True, {"duration", "truncated", "few_speakers"}),
        ],
    )
    def test_it_becomes_playable_with_the_flags_it_deserves(
        self, make: Callable[..., ProcessingJob], name: str, known: bool, expected: set[str]
    ) -> None:
        job = make(sound=case(name).read_bytes(), turns=list(self.TURNS) if known else [])
        done = services.run(job_id=job.pk)
        assert done is not None
        assert (done.state, done.reason) == (State.DONE, "")
        assert rules(job.dialogue) == expected

    @pytest.mark.parametrize("name", ["not_audio.wav", "empty.wav", "header_only.wav"])
    def test_it_fails_with_the_reason(self, make: Callable[..., ProcessingJob], name: str) -> None:
        done = services.run(job_id=make(sound=case(name).read_bytes(), turns=[]).pk)
        assert done is not None
        assert done.state == State.FAILED
        assert len(done.reason) > 20


@pytest.mark.django_db(transaction=True)
def test_whoever_goes_on_with_the_old_file_keeps_its_time_line(make: Callable[..., ProcessingJob]) -> None:
    job = make()
    services.run(job_id=job.pk)
    playing = factories.ExposureFactory(dialogue=job.dialogue)
    before = Dialogue.objects.get()
    length, line = time_line.length(playing, before), time_line.turns(playing, before)
    correct_turns(dialogue=before, turns=[Corrected("A", 0.4, 1.4), Corrected("B", 3.0, 3.6)])
    services.run(job_id=job.pk)
    playing.refresh_from_db()
    now = Dialogue.objects.get()
    assert now.play_duration != length
    assert (time_line.length(playing, now), time_line.turns(playing, now)) == (length, line)
    later = factories.ExposureFactory(dialogue=now)
    assert time_line.length(later, now) == now.play_duration
    assert len(time_line.turns(later, now)) == 2
    with time_machine.travel(timezone.now() + services.KEEP_UNNAMED * 2):
        services.tidy_files()
    playing.refresh_from_db()
    assert time_line.length(playing, now) == now.play_duration
