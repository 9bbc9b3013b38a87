"""The leak crawl: until a verdict is stored, nothing that reaches a browser tells one kind of dialogue from
another.

Recordings that could not be more different by kind go through the importer and the processing; then somebody
plays, and every page, JSON answer, header and media file is kept under the kind of the dialogue it belonged
to. What remains when codes and numbers are taken out must be one and the same for all kinds.
"""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import time_machine
from django.core.management import call_command
from django.test import Client

from annotation.models import Annotator, BatchItem
from dialogues.models import Dialogue, Kind, Recording, StudyItem, System
from games.speech.models import ContentCheck, SpeechSettings, Trial
from studies.models import Study
from tests import factories
from tests.annotation.annotating import Rater, keys
from tests.annotation.walking import stamp_in
from tests.clock import START, Clock
from tests.speech.conftest import Person
from turingsite.audio.encode import BITRATE, read_mp3

pytestmark = pytest.mark.django_db

EACH = 3  # dialogues per kind
SECONDS = 21.0
TURNS = [("A", 0.3, 4.8), ("B", 5.4, 10.2), ("A", 10.9, 15.1), ("B", 15.8, 20.6)]
# Suffix, sample rate, channels by kind: as different as recordings from different sources are.
SOURCES = {
    Kind.HUMAN_HUMAN: ("wav", 44_100, 2),
    Kind.HUMAN_MACHINE: ("ogg", 24_000, 1),
    Kind.PSEUDO_HUMAN: ("flac", 16_000, 1),
}
SECRET = "Zorbatron"


def speech_like(rate: int, channels: int, seed: int) -> np.ndarray[Any, Any]:
    """Bursts of modulated noise where somebody talks; digital silence or a noise floor between, by kind."""
    rng = np.random.default_rng(seed)
    at = np.arange(int(SECONDS * rate)) / rate
    sound = np.zeros_like(at) if channels == 1 else rng.normal(0, 0.0005, at.size)
    for who, start, end in TURNS:
        inside = (at >= start) & (at < end)
        pitch = 110 if who == "A" else 180
        voice = sum(np.sin(2 * np.pi * pitch * n * at[inside]) / n for n in range(1, 12))
        syllables = 0.55 + 0.45 * np.sin(2 * np.pi * (3.1 + 0.1 * (seed % 5)) * at[inside])
        sound[inside] += 0.08 * voice * syllables + rng.normal(0, 0.004, int(inside.sum()))
    return np.column_stack([sound] * channels) if channels > 1 else sound


@pytest.fixture
def study(settings: Any, tmp_path: Path) -> Study:
    settings.MEDIA_ROOT = tmp_path / "media"
    study: Study = factories.StudyFactory(slug="blind", languages=["en"])
    factories.SpeechSettingsFactory(
        study=study,
        sound_check=False,
        content_checks=0,
        round_size=3 * EACH,
        ask_confidence=True,
        ask_reason=True,
    )
    topics = ["cooking", "travel", "weather", "music"]
    for topic in topics:
        factories.TopicFactory(code=topic, label_en=topic.title())
    audio = tmp_path / "audio"
    audio.mkdir()
    rows: list[dict[str, str]] = []
    for kind, (suffix, rate, channels) in SOURCES.items():
        for n in range(EACH):
            name = f"{kind}-{SECRET}-{n}"
            sound = speech_like(rate, channels, seed=hash_of(name))
            with soundfile.SoundFile(audio / f"{name}.{suffix}", "w", rate, channels) as file:
                file.title = f"{SECRET} {kind}"
                file.artist = SECRET
                file.write(sound)
            system = ""
            if kind != Kind.HUMAN_HUMAN:
                system = f"{SECRET.lower()}-{kind.replace('_', '-')}-{n}"
                factories.SystemFactory(code=system, name=f"{SECRET} {kind} {n}", vendor=f"{SECRET} Works")
            rows.append(
                {
                    "id": name,
                    "kind": str(kind),
                    "language": "en",
                    "topic": topics[(n + len(rows)) % 4],
                    "system": system,
                    "audio": f"{name}.{suffix}",
                    "turns": json.dumps(
                        [{"speaker": who, "start": s, "end": e, "text": "Words."} for who, s, e in TURNS]
                    ),
                    "opening": f"opening-{name}",
                    "speaker_a": f"voice-a-{name}",
                    "speaker_b": f"voice-b-{name}" if kind == Kind.HUMAN_HUMAN else "",
                    "speaker_consent": "recorded played cloned published",
                    "licence": "CC0",
                }
            )
    manifest = audio / "manifest.csv"
    with manifest.open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    call_command("import_dialogues", manifest, study=study.slug, verbosity=0)
    troubles = list(
        Dialogue.objects.exclude(state=Dialogue.State.READY).values_list("external_id", "trouble")
    )
    assert troubles == []
    assert StudyItem.objects.filter(study=study).count() == 3 * EACH
    return study


def hash_of(name: str) -> int:
    return sum(ord(c) * (n + 1) for n, c in enumerate(name))


@dataclass
class Crawl:
    """Everything a browser received, and what it looks like by kind once codes and numbers are taken out."""

    texts: list[str] = field(default_factory=list)
    shapes: dict[str, dict[str, set[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set))
    )

    def keep(self, what: str, answer: Any, kind: str | None = None) -> Any:
        body = answer.content
        headers = "\n".join(f"{name}: {value}" for name, value in sorted(answer.headers.items()))
        is_text = not answer.headers.get("Content-Type", "").startswith("audio/")
        self.texts.append(headers + "\n" + (body.decode() if is_text else body.decode("latin-1")))
        if kind is not None:
            page = plain(body.decode()) if is_text else ""
            self.shapes[what][kind].add(plain(headers) + "\n" + page)
        return answer


CODES = [
    (re.compile(r"X-Request-ID: \w+"), "X-Request-ID: ID"),
    (re.compile(r'(csrfmiddlewaretoken" value=")[^"]+'), r"\1CSRF"),
    (re.compile(r"csrftoken=[^;]+"), "csrftoken=CSRF"),
    (re.compile(r"/media/[\w-]+"), "/media/TOKEN"),
    (re.compile(r"/(trial|item)/[\w-]+/"), r"/\1/CODE/"),
    (re.compile(r'("code": ")[^"]+'), r"\1CODE"),
    (re.compile(r"\d+(\.\d+)?"), "#"),
]


def plain(text: str) -> str:
    for pattern, place in CODES:
        text = pattern.sub(place, text)
    # The dots of the round move on and the last trial has nothing to preload, whatever the kinds are.
    text = re.sub(r'<i( class="\w+")?></i>', "<i></i>", text)
    text = re.sub("Next dialogue|Finish the batch", "NEXT", text)
    return re.sub(r'"preload": ("/media/TOKEN"|null)', '"preload": X', text)


@pytest.fixture
def crawl(study: Study) -> Crawl:
    found = Crawl()
    with time_machine.travel(START, tick=False) as travel:
        person = Person(factories.ParticipantFactory(study=study), Clock(travel))
        for page in (
            "",
            "age/",
            "consent/",
            "go/",
            "language/",
            "leave/",
            "debrief/",
            "withdraw/",
            "resume/",
        ):
            found.keep(page, person.client.get(f"/s/{study.slug}/{page}"))
        for page in ("", "pause/", "board/", "nickname/", "round/1/", "sound/"):
            found.keep(page, person.get(page))
        for _ in range(3 * EACH):
            play(person, found)
    return found


def play(person: Person, found: Crawl) -> None:
    """One trial up to, and without, its verdict being answered by the server: then it is left."""
    trial = person.trial()
    kind: str | None = str(Trial.objects.get(code=trial["code"]).dialogue.kind)
    if trial["position"] == 1:
        kind = None  # the first page also has the instruction, whatever its kind
    code = trial["code"]
    found.keep("page", person.get("trial/"), kind)
    found.keep("json", person.client.get(person.url("trial/"), {"format": "json"}), kind)
    early = {"choice": "human"}
    found.keep("early verdict", person.post(f"trial/{code}/verdict/", **early), kind)
    found.keep("known", person.post(f"trial/{code}/known/", known=True), kind)
    found.keep("known", person.post(f"trial/{code}/known/", known=False), kind)
    for headers in ({}, {"range": "bytes=0-1"}, {"range": "bytes=99999999-"}, {"if-none-match": "*"}):
        name = f"media {headers}"
        found.keep(name, person.client.get(trial["audio"], headers=headers), kind)
    found.keep("head", person.client.head(trial["audio"]), kind)
    found.keep("listening", person.listen(trial, seconds=3, ended=False), kind)
    found.keep("listened", person.listen(trial), kind)
    found.keep("unlocked page", person.get("trial/"), kind)
    found.keep("verdict", person.answer(trial), kind)
    found.keep("answered page", person.get("trial/"), kind)
    answer = person.next(trial)
    if "trial" in answer.json():
        found.keep("next", answer, kind)


def test_nothing_tells_the_kinds_apart_before_the_verdict(crawl: Crawl, settings: Any) -> None:
    """One test, because the recordings are made and processed anew for each."""
    assert set(crawl.shapes["page"]) == set(Kind.values)
    assert len(crawl.texts) > 15 * 3 * EACH
    no_secret_is_in_anything(crawl.texts)
    what_remains_is_the_same(crawl.shapes)
    files_differ_in_length_and_sound_only(Path(settings.MEDIA_ROOT))
    names_do_not_sort_by_kind()


def no_secret_is_in_anything(texts: list[str]) -> None:
    words = {
        SECRET.lower(),
        "human_",
        "pseudo",
        "human-machine",
        "human–machine",
        "lavc",
        "xing\x00",  # as it stands in a file: annotators read of mixing
        "id3\x03",
        "id3\x04",
    }
    for dialogue in Dialogue.objects.all():
        words |= {
            dialogue.code,
            dialogue.external_id,
            dialogue.opening,
            dialogue.content_hash,
            dialogue.play_path,
        }
    words |= set(Recording.objects.values_list("sha256", flat=True))
    words |= set(Recording.objects.values_list("path", flat=True))
    words |= set(System.objects.values_list("code", flat=True))
    for text in texts:
        lower = text.lower()
        found = [word for word in words if word.lower() in lower]
        assert not found, f"{found} in {text[:300]}"


def what_remains_is_the_same(
    shapes: dict[str, dict[str, set[str]]], sorts: Collection[str] = Kind.values
) -> None:
    for what, by_kind in shapes.items():
        assert set(by_kind) == set(sorts) or what == "next", what
        every = set().union(*by_kind.values())
        for kind, own in by_kind.items():
            assert own == every, f"{what} looks different for {kind}: {first_difference(own, every)}"


def first_difference(one: set[str], other: set[str]) -> str:
    """Where two texts part, for the message of a failed test."""
    if not one or not other - one:
        return ""
    a, b = next(iter(one)), next(iter(other - one))
    place = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return f"{a[max(place - 60, 0) : place + 60]!r} / {b[max(place - 60, 0) : place + 60]!r}"


def files_differ_in_length_and_sound_only(root: Path) -> None:
    looks: dict[str, set[tuple[bytes, int, int, int]]] = defaultdict(set)
    for dialogue in Dialogue.objects.all():
        data = (root / dialogue.play_path).read_bytes()
        info = read_mp3(data)
        assert (info.extra, info.has_info_frame, info.bitrates) == (0, False, (BITRATE,))
        assert len(data) * 8 / info.duration == pytest.approx(BITRATE, rel=1e-3)
        looks[dialogue.kind].add((data[:4], info.samplerate, info.channels, info.bitrates[0]))
    assert len(set().union(*looks.values())) == 1


def names_do_not_sort_by_kind() -> None:
    """Names of files are drawn at random: neither their folder nor their form goes with the kind."""
    rows = list(Dialogue.objects.values_list("play_path", "kind"))
    assert all(re.fullmatch(r"play/([\w-]{2})/\1[\w-]{20,}\.mp3", path) for path, _kind in rows)
    assert len({path for path, _kind in rows}) == 3 * EACH


def test_answers_come_with_the_reveal_and_not_before(study: Study) -> None:
    SpeechSettings.objects.update(content_checks=3, max_rounds=1)
    with time_machine.travel(START, tick=False) as travel:
        person = Person(factories.ParticipantFactory(study=study), Clock(travel))
        said: dict[str, Any] = {}
        for position in range(3 * EACH):
            assert person.get("round/1/").status_code == 404
            for page in (f"/s/{study.slug}/debrief/", person.url("board/"), person.url("pause/")):
                assert SECRET not in person.client.get(page).content.decode(), (position, page)
            said = person.judge()
            if "/check/" in said.get("goto", ""):
                check = person.client.get(said["goto"]).content.decode()
                assert SECRET not in check
                assert "Cooking" in check or "Travel" in check or "Weather" in check
                person.client.post(said["goto"], {"topic": "0"})
        person.get("")
        assert SECRET in person.get("round/1/").content.decode()
        assert ContentCheck.objects.count() == 3

        SpeechSettings.objects.update(reveal="never", content_checks=0)
        other = Person(factories.ParticipantFactory(study=study), Clock(travel))
        for _ in range(3 * EACH):
            other.judge("machine")
        text = other.get("round/1/").content.decode()
        assert "Round 1" in text
        assert SECRET not in text
        assert person.client.get(person.url("board/")).status_code == 404


def test_an_outsider_gets_nothing(db: None) -> None:
    study = factories.speech_study(slug="closed-to-outsiders", systems=1)
    for page in ("trial/", "board/", "round/1/", "pause/", "nickname/", "sound/"):
        assert Client().get(f"/s/{study.slug}/speech/{page}").status_code == 403


# -- the annotation


class Scoring:
    """An annotator in front of the study's dialogues; what they receive is kept by kind and by purpose."""

    def __init__(self, rater: Rater, kinds: Crawl, purposes: Crawl) -> None:
        self.rater, self.kinds, self.purposes = rater, kinds, purposes

    def item(self) -> str:
        """One dialogue from first sight to its end: every page, answer and part of the sound; its kind."""
        rater, first = self.rater, keys()[0]
        item = rater.item()
        row = BatchItem.objects.select_related("dialogue").get(code=item["code"])

        def keep(what: str, answer: Any) -> None:
            self.kinds.keep(what, answer, str(row.dialogue.kind))
            self.purposes.keep(what, answer, str(row.purpose))

        as_json = {"accept": "application/json"}
        keep("page", rater.get("batch/"))
        keep("json", rater.get("batch/", headers=as_json))
        keep("early", rater.score(item))
        for headers in ({}, {"range": "bytes=0-1"}, {"range": "bytes=99999999-"}, {"if-none-match": "*"}):
            keep(f"media {headers}", rater.client.get(item["audio"], headers=headers))
        keep("head", rater.client.head(item["audio"]))
        keep("listening", rater.listen(item, seconds=3.0))
        keep("listened", rater.listen(item))
        keep("half", rater.save(item, scores={first: {"value": 2, "version": 0}}))
        keep("conflict", rater.save(item, scores={first: {"value": 3, "version": 0}}))
        keep("incomplete", rater.next(item))
        keep("half a page", rater.get("batch/"))
        scores = {key: {"value": 4, "version": 0} for key in keys()} | {first: {"value": 2, "version": 1}}
        keep("scored", rater.score(item, scores=scores))
        keep("scored page", rater.get("batch/"))
        answer = rater.next(item)
        if "item" in answer.json():
            self.kinds.keep("next", answer, str(row.dialogue.kind))
        else:
            self.kinds.keep("done", rater.client.get(answer.json()["goto"]))
        return str(row.dialogue.kind)


def test_nothing_tells_an_annotator_the_kinds_or_purposes_apart(study: Study) -> None:
    """Work, known scores and repeats of every kind: pages, answers, headers and sound all look the same."""
    Study.objects.update(activities=["annotation"])
    study.refresh_from_db()
    rules = {"gold_share": 0.4, "repeat_share": 0.3, "repeat_after_batches": 1, "repeat_after_hours": 0}
    factories.AnnotationSettingsFactory(study=study, batch_size=3, **rules)
    for kind in Kind.values:
        gold = Dialogue.objects.filter(kind=kind).order_by("pk")[0]
        study.reference_dialogues.create(dialogue=gold, role="gold", source="import", added_at=factories.NOW)
    kinds, purposes = Crawl(), Crawl()
    with time_machine.travel(START, tick=False) as travel:
        for number in range(3):
            rater = Rater(study, Clock(travel), code=f"BLIND{number}")  # the code decides the draws
            for page in ("", "break/", "returned/", "batch/9/", "guidelines/", "calibration/"):
                kinds.keep(page, rater.get(page))
            while "item" in rater.state() or "/batch/" in rater.state()["goto"]:
                if "item" in rater.state():
                    Scoring(rater, kinds, purposes).item()
                else:
                    kinds.keep("summary", rater.client.get(rater.state()["goto"]))
            kinds.keep("nothing left", rater.get("break/"))
    assert len(kinds.texts) > 15 * 3 * EACH
    no_secret_is_in_anything(kinds.texts)
    what_remains_is_the_same(kinds.shapes)
    what_remains_is_the_same(purposes.shapes, {"work", "gold", "repeat"})


def test_calibration_and_its_feedback_tell_no_kinds_apart(study: Study) -> None:
    """Batches of one dialogue, so that what is said after it is about its kind alone; all are known alike."""
    Study.objects.update(activities=["annotation"])
    study.refresh_from_db()
    rules = {"calibration": True, "calibration_dialogues": 3 * EACH, "batch_size": 1}
    settings = factories.AnnotationSettingsFactory(study=study, **rules)
    for dialogue in Dialogue.objects.all():
        reference = study.reference_dialogues.create(
            dialogue=dialogue, role="calibration", source="import", added_at=factories.NOW
        )
        for dimension in settings.taxonomy.dimensions.all():
            reference.scores.create(dimension=dimension, value=4)
    kinds, purposes = Crawl(), Crawl()
    with time_machine.travel(START, tick=False) as travel:
        rater = Rater(study, Clock(travel), code="BLIND")
        Annotator.objects.update(state=Annotator.State.READING)
        rater.form("guidelines/", stamp=stamp_in(rater.get("guidelines/").content.decode()))
        for number in range(1, 3 * EACH + 1):
            kinds.keep("intro", rater.get("calibration/"))
            rater.form("calibration/")
            kind = Scoring(rater, kinds, purposes).item()
            last = number == 3 * EACH  # says that it is passed
            kinds.keep("feedback", rater.get(f"batch/{number}/"), None if last else kind)
    assert Annotator.objects.get().state == Annotator.State.WORKING
    assert set(purposes.shapes["page"]) == {"calibration"}
    assert "agreed: 4" in kinds.texts[-1]
    no_secret_is_in_anything(kinds.texts)
    what_remains_is_the_same(kinds.shapes)


def test_whoever_annotates_finds_no_review_even_with_an_account(study: Study) -> None:
    """The review has the truth beside the scores: only reviewers of the study get there."""
    factories.AnnotationSettingsFactory(study=study)
    dialogue = Dialogue.objects.filter(kind=Kind.PSEUDO_HUMAN)[0]
    case = study.review_cases.create(dialogue=dialogue, made_at=factories.NOW)
    user = factories.UserFactory(is_staff=False)
    rater = Rater(study, user=user)
    researcher = Client()
    researcher.force_login(factories.StudyMemberFactory(study=study).user)
    reviewer = Client()
    reviewer.force_login(factories.StudyMemberFactory(study=study, role="reviewer").user)
    pages = [f"/review/{study.slug}/{case.code}/", f"/review/{study.slug}/{case.code}/sound"]
    for logged_in in (False, True):
        if logged_in:
            rater.client.force_login(user)
        found = Crawl()
        for page in ("/review/", f"/review/{study.slug}/", *pages):
            answer = found.keep(page, rater.client.get(page))
            assert answer.status_code in (302, 404), page
        no_secret_is_in_anything(found.texts)
    assert [researcher.get(page).status_code for page in pages] == [404, 404]
    assert SECRET not in researcher.get(f"/review/{study.slug}/").content.decode()
    shown = reviewer.get(pages[0]).content.decode()
    assert SECRET in shown  # the crawl would see it
