"""The simulated people play: every step goes through the services, on the person's own clock."""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from games.speech import services as speech
from games.speech import sound_words
from games.speech.models import Trial
from games.speech.services import Listening, Place
from studies import codes
from studies import services as studies
from studies.models import Participant, Study
from studies.selectors import current_consent_text, current_questionnaire
from turingsite.demo.people import Person, arrivals, draw_people, judgement
from turingsite.errors import Conflict

WORDS = {
    "en": (
        ["quiet", "early", "green", "paper", "second", "winter", "plain", "sleepy", "copper", "round"],
        ["kettle", "river", "button", "lantern", "pencil", "harbour", "sparrow", "ladder", "cloud", "teapot"],
    ),
    "zh": (
        ["早起的", "爱喝茶的", "路过的", "安静的", "冬天的", "慢半拍的"],
        ["麻雀", "铅笔", "小河", "茶壶", "云", "纽扣"],
    ),
}
SOURCES = ["", "", "share", "poster", "newsletter"]


def play(
    study: Study,
    human: dict[int, float],
    *,
    seed: int,
    rounds: int,
    until: datetime,
    say: Callable[[str], None],
) -> int:
    """People play about ``rounds`` rounds; how many were finished. ``human``: dialogue → how human it is."""
    people = draw_people(seed, rounds)
    times = arrivals(random.Random(f"{seed}/arrivals"), len(people), until=until, days=12)
    finished = 0
    for number, (person, at) in enumerate(zip(people, times, strict=True), 1):
        with transaction.atomic():
            if isinstance(person, str):
                studies.turn_away(study=study, reason=person, now=at)
            else:
                person.now = at
                code = "".join(person.rng.choices(codes.ALPHABET, k=10))
                # somebody who is here played before a seeding was broken off
                if not study.participants.filter(code=code).exists():
                    finished += _take_part(study, person, code, human)
        if number % 20 == 0:
            say(f"  {number} of {len(people)} people, {finished} rounds")
    return finished


def _take_part(study: Study, person: Person, code: str, human: dict[int, float]) -> int:
    participant = join(study, person, code)
    finished = 0
    for _ in range(person.rounds):
        if not _round(participant, person, human, stop_after=99):
            break
        finished += 1
        if person.rng.random() < 0.2:  # pauses, comes back later
            person.wait(1800, 3600)
    if finished and person.rng.random() < 0.5:
        _name(participant, person)
    if person.leaves_within:
        _round(participant, person, human, stop_after=person.rng.randint(1, 3))
    _end(participant, person)
    return finished


def join(study: Study, person: Person, code: str) -> Participant:
    """Consent, language and profile; the person is where the study's activities begin."""
    rng = person.rng
    text = current_consent_text(study)
    assert text is not None  # noqa: S101  (an open study has one)
    participant = studies.consent(
        study=study,
        text=text,
        key=codes.resume_code(),
        language="zh-hans" if person.language == "zh" else "en",
        publish_text=rng.random() < 0.7,
        contact_again=rng.random() < 0.3,
        source=rng.choice(SOURCES),
        device_class=rng.choices(["phone", "desktop", "tablet"], [60, 33, 7])[0],
        now=person.wait(40, 120),
    )
    participant.code = code  # draws hang on it: a seeded one makes the demo the same every time
    participant.save(update_fields=["code"])
    studies.choose_language(participant=participant, language=person.language)
    profile = current_questionnaire(study, "profile")
    if profile is not None:
        values: dict[str, Any] = {}
        for question in profile.questions:
            options = [option["value"] for option in question["options"]]
            values[question["key"]] = "prefer_not" if rng.random() < 0.03 else rng.choice(options)
        studies.record_answers(
            participant=participant,
            questionnaire=profile,
            values=values,
            language="zh" if person.language == "zh" else "en",
            now=person.wait(25, 90),
        )
    studies.begin(participant=participant)
    return participant


def _round(participant: Participant, person: Person, human: dict[int, float], *, stop_after: int) -> bool:
    """Play one round to its reveal; False where the person stopped before it or nothing is left to play."""
    answered = 0
    place = speech.start_or_resume(participant=participant, now=person.now)
    while True:
        if place.name == "sound":
            _sound(participant, place, person)
            place = speech.start_or_resume(participant=participant, now=person.now)
        elif place.name == "check":
            _check(participant, place, person)
            place = speech.start_or_resume(participant=participant, now=person.now)
        elif place.name == "trial" and place.trial is not None:
            if answered >= stop_after:
                return False
            answered += 1
            place = _judge(participant, place.trial, person, human)
        elif place.name == "round" and place.round is not None:
            speech.mark_round_seen(round_=place.round, now=person.wait(10, 40))
            return True
        else:
            return False


def _sound(participant: Participant, place: Place, person: Person) -> None:
    """Type the word heard; a few people hear nothing and go on after three tries."""
    word = sound_words.word(place.player.sound_word, person.language)
    hears = person.rng.random() < (0.92 if person.attentive else 0.5)
    typed = next(iter(word.accept)) if word is not None and hears else "hm"
    speech.answer_sound(participant=participant, typed=typed, now=person.wait(5, 15))


def _check(participant: Participant, place: Place, person: Person) -> None:
    """Say what was talked about: almost always right for those who listen, a guess for the others."""
    check = place.check
    assert check is not None  # noqa: S101  (the place is a check)
    right = check.order.index(check.correct_id)
    guess = person.rng.randrange(len(check.order))
    option = right if person.attentive and person.rng.random() < 0.96 else guess
    speech.answer_check(participant=participant, code=check.code, option=option, now=person.wait(3, 9))


def _name(participant: Participant, person: Person) -> None:
    """Take a nickname; where it is taken already, stay without."""
    first, second = WORDS[person.language]
    glue = " " if person.language == "en" else ""
    with contextlib.suppress(Conflict):
        studies.set_nickname(
            participant=participant, nickname=f"{person.rng.choice(first)}{glue}{person.rng.choice(second)}"
        )


def _end(participant: Participant, person: Person) -> None:
    """Some say that they stop, some withdraw, most just close the page."""
    at = person.wait(5, 60)
    if person.ending == "stop":
        studies.stop(participant=participant, now=at)
    elif person.ending in ("withdraw", "erase"):
        studies.withdraw(participant=participant, erase_answers=person.ending == "erase", now=at)


def _judge(participant: Participant, trial: Trial, person: Person, human: dict[int, float]) -> Place:
    """Hear one dialogue, answer and go on. Now and then the sound fails, or the recording is known."""
    rng = person.rng
    length = trial.dialogue.play_duration or 20.0
    who: Any = {"participant": participant, "code": trial.code}
    if rng.random() < 0.012:
        return speech.report_failure(**who, why="no_sound", now=person.wait(5, 20))
    person.wait(2, 6)
    replayed = rng.random() < 0.12
    if rng.random() < 0.25:  # a page reports every five seconds; the last report holds all, so few will do
        half = Listening(ranges=((0.0, length / 2),), plays=1, playing=True)
        now = person.now + timedelta(seconds=length / 2)
        speech.record_listening(**who, report=half, now=now)
    person.wait(length, length + 1.5)
    if replayed:
        person.wait(length * 0.5, length)
    whole = Listening(
        ranges=((0.0, length),),
        plays=2 if replayed else 1,
        pauses=rng.choices([0, 1, 2], [85, 12, 3])[0],
        hidden=rng.uniform(3, 12) if rng.random() < 0.04 else 0.0,
        ended=True,
    )
    answer = math.exp(rng.gauss(7.6, 0.6))
    choice = judgement(person, human.get(trial.dialogue_id, 0.0))
    now = person.wait(answer / 1000, answer / 1000 + 0.3)
    speech.give_verdict(**who, choice=choice, answer_ms=round(answer), report=whole, now=now)
    if rng.random() < 0.01:
        speech.mark_known(**who, known=True, now=person.now)
    if rng.random() < 0.05:  # another opinion, before going on
        other = "machine" if choice == "human" else "human"
        speech.give_verdict(**who, choice=other, now=person.wait(1, 3))
    return speech.next_trial(**who, now=person.wait(1, 4))
