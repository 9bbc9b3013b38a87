"""Every report of a study with 100,000 verdicts beside the bare query of what it reads; its page too.

The anchor asks PostgreSQL for the same columns over the project's own connection and makes nothing of them.
Wall time, the database's part included, shortest of some runs taken in turn. Pages are whole answers of the
desk: report, figures, tables, the look in the audit trail. Their seconds are shown, never judged.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from bench.servers import HOST, run, workspace

VERDICTS, EACH, DIALOGUES, RUNS, BOUND = 100_000, 10, 1_200, 5, 3.0
SLUG = "bench"
PROFILE = {
    "age": ["18-25", "26-35", "36-45", "46+"],
    "gender": ["female", "male", "other"],
    "education": ["high_school", "junior_college", "bachelor", "master", "phd"],
    "familiarity": ["never", "seldom", "sometimes", "often", "very"],
}
#: What a report on verdicts needs of each, as the database has it.
ANCHOR = """
    SELECT p.code, m.sha256, d.code, v.activity, v.choice, v.exclusion, v.round_number, v.round_finished,
           v.protocol_breaks::text, (v.evidence -> 'length')::text, v.given_at
    FROM dialogues_verdict v
    JOIN studies_rater r ON r.id = v.rater_id JOIN dialogues_dialogue d ON d.id = v.dialogue_id
    LEFT JOIN studies_participant p ON p.id = r.participant_id
    LEFT JOIN studies_machineconfig m ON m.id = r.machine_id
    WHERE v.study_id = %s AND (p.id IS NULL OR p.erased_at IS NULL) ORDER BY v.id
"""


def prepare() -> None:
    """In a process of its own: the study with everything that the reports read."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from django.db import connection

    seed()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def seed() -> None:
    from dialogues import models as corpus
    from games.speech import models as speech
    from studies import models as studies
    from tests import factories

    rng = np.random.default_rng(1)
    study = factories.StudyFactory(slug=SLUG, languages=["en", "zh"], status="closed")
    factories.UserFactory(username=SLUG, is_staff=True, is_superuser=True)
    factories.SpeechSettingsFactory(study=study)
    questions = [
        {"key": key, "kind": "single", "required": True, "text": {"en": key},
         "options": [{"value": one, "label": {"en": one}} for one in scale]}
        for key, scale in PROFILE.items()
    ]  # fmt: skip
    profile = factories.QuestionnaireFactory(study=study, key="profile", questions=questions)
    clips = _dialogues(study)
    people = VERDICTS // EACH
    now, first = factories.NOW, iter(count(1))
    participants = [
        studies.Participant(
            pk=next(first), study=study, state="active", judging_language=("en", "zh")[at % 2],
            source=("", "club", "panel")[at % 3], device_class=("desktop", "phone")[at % 2],
            joined_at=now, consented_at=now,
        )
        for at in range(people)
    ]  # fmt: skip
    copy(participants)
    copy(studies.Rater(pk=one.pk, participant=one) for one in participants)
    copy(
        studies.Answer(
            pk=len(PROFILE) * one.pk + place, rater_id=one.pk, questionnaire=profile, question=key,
            value=scale[int(rng.integers(len(scale)))], scale=[*scale, "prefer_not"], language="en",
            answered_at=now,
        )
        for one in participants
        for place, (key, scale) in enumerate(PROFILE.items())
    )  # fmt: skip
    copy(
        speech.SpeechPlayer(pk=one.pk, participant=one, human_left=True, sound_passed=True)
        for one in participants
    )
    copy(
        speech.Round(
            pk=2 * one.pk + number, player_id=one.pk, number=number + 1, state="finished", language="en",
            answered=5, correct=3, points=30, started_at=now, finished_at=now,
        )
        for one in participants
        for number in range(EACH // 5)
    )  # fmt: skip
    ability = dict(zip((one.pk for one in participants), rng.normal(0, 0.3, people), strict=True))
    verdicts, exposures, trials = [], [], []
    for one in participants:
        for place, clip in enumerate(rng.permutation(len(clips) // 2)[:EACH]):
            dialogue = clips[2 * int(clip) + one.pk % 2]
            key = EACH * one.pk + place
            chance = (0.7 if dialogue.kind == "human_human" else 0.3) + 0.2 * ability[one.pk]
            choice = "human" if rng.random() < chance else "machine"
            length = dialogue.play_duration
            verdicts.append(
                corpus.Verdict(
                    pk=key, rater_id=one.pk, study=study, dialogue=dialogue, activity="speech",
                    choice=choice, first_choice=choice, round_number=place // 5 + 1, position=place % 5 + 1,
                    round_finished=True, given_at=now + timedelta(minutes=place),
                    protocol_breaks=["too_fast"] if rng.random() < 0.03 else [],
                    evidence={"heard": 1.0, "replays": 0, "pauses": 0, "hidden": 0.0,
                              "answer_ms": int(rng.integers(400, 9000)), "device": "phone",
                              "left": "human", "gate": "ended", "length": length},
                )
            )  # fmt: skip
            exposures.append(
                corpus.Exposure(pk=key, rater_id=one.pk, study=study, dialogue=dialogue, given_at=now)
            )
            trials.append(
                speech.Trial(
                    pk=key, round_id=2 * one.pk + place // 5, position=place % 5 + 1, dialogue=dialogue,
                    exposure_id=key, verdict_id=key, state="done", gate="ended", drawn_at=now,
                    lease_until=now,
                    draw={"seed": 1, "counter": key, "chosen": dialogue.pk, "candidates": 12, "weight": 0.25,
                          "odds": {"human_human": 0.5, "human_machine": 0.25, "pseudo_human": 0.25}},
                    ranges=[[0, length]], heard=1.0, plays=1, answer=choice,
                )
            )  # fmt: skip
    copy(verdicts)
    copy(exposures)
    copy(trials)


def _dialogues(study: Any) -> list[Any]:
    """Dialogues of 8 systems and of people, in turn English and Chinese, with what processing measures."""
    from dialogues import models as corpus
    from tests import factories

    rng = np.random.default_rng(2)
    now = factories.NOW
    systems = [
        factories.SystemFactory(name=f"System {n}", code=f"s{n}", benchmark={"MMAU": 40.0 + n})
        for n in range(8)
    ]
    topics = [factories.TopicFactory() for _ in range(10)]
    strategies = [factories.StrategyFactory() for _ in range(3)]
    kinds = ("human_human", "human_machine", "human_human", "pseudo_human")
    clips = []
    for number in range(DIALOGUES):
        kind = kinds[number // 2 % 4]
        clips.append(
            corpus.Dialogue(
                pk=number + 1, external_id=f"d{number}", content_hash=f"{number:064}", kind=kind,
                language=("en", "zh")[number % 2], topic=topics[number % 10], opening=f"o{number // 4}",
                strategy=strategies[number % 3] if kind == "human_machine" else None,
                origin=("curated", "recorded")[number // 8 % 2] if kind == "human_human" else "",
                state="ready", play_duration=float(rng.uniform(20, 60)), imported_at=now,
                quality=_quality(rng),
            )
        )  # fmt: skip
    copy(clips)
    copy(
        corpus.Party(
            pk=2 * clip.pk + place, dialogue=clip, label="AB"[place],
            nature="machine" if place and clip.kind != "human_human" else "human",
            system=systems[clip.pk // 8 % 8] if place and clip.kind != "human_human" else None,
        )
        for clip in clips
        for place in (0, 1)
    )  # fmt: skip
    copy(
        corpus.StudyItem(
            pk=clip.pk, study=study, dialogue=clip, added_at=now, block=1 + (clip.pk // 8 % 8 == 7)
        )
        for clip in clips
    )
    copy(
        corpus.Flag(pk=clip.pk, dialogue=clip, rule="identity-disclosure", source="quality", raised_at=now)
        for clip in clips[::31]
    )
    return clips


def _quality(rng: np.random.Generator) -> dict[str, Any]:
    a, b = (float(one) for one in rng.normal(-23, 1, 2))
    return {
        "play": {"duration": 30.0, "bytes_per_second": 6000.0},
        "source": {"format": "WAV", "subtype": "PCM_16", "sample_rate": 16000, "channels": 2},
        "gaps": {"heard": {"mean": 0.4}, "after": {"mean": float(rng.normal(0.4, 0.1))}},
        "loudness": {"before": {"A": a - 3, "B": b}, "after": {"A": a, "B": b}},
        "result": {
            "turn_count": int(rng.integers(4, 12)), "overlaps": {"count": 1},
            "speech_share": {"A": 0.5, "B": 0.5}, "noise_floor": {"A": a - 40, "B": b - 40},
            "bandwidth_hz": float(rng.normal(7500, 200)), "leading_silence": 0.1,
        },
    }  # fmt: skip


def copy(rows: Iterable[Any]) -> None:
    """Rows of one model into its table with COPY, their keys given."""
    from django.db import connection

    made = list(rows)
    fields = made[0]._meta.concrete_fields
    columns = ", ".join(f'"{field.column}"' for field in fields)
    table = made[0]._meta.db_table
    with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" ({columns}) FROM STDIN') as into:
        for one in made:
            into.write_row(
                [field.get_db_prep_save(getattr(one, field.attname), connection) for field in fields]
            )


def measure() -> None:
    """In a process of its own: seconds of the anchor, of every report and of its page, as JSON on stdout."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from studies.models import Study
    from studies.registry import reports
    from studies.reports import run_report

    study = Study.objects.get(slug=SLUG)
    client = Client(headers={"host": HOST})
    client.force_login(get_user_model().objects.get(username=SLUG))

    def anchor() -> None:
        with connection.cursor() as cursor:
            cursor.execute(ANCHOR, [study.pk])
            if len(cursor.fetchall()) != VERDICTS:
                raise RuntimeError("verdicts are missing")

    def page(key: str) -> None:
        answer = client.get(reverse("admin:desk_report", args=[SLUG, key]))
        if answer.status_code != 200:
            raise RuntimeError(f"{key}: {answer.status_code}")

    timed: dict[str, Callable[[], Any]] = {"anchor": anchor}
    for one in reports:
        timed[one.key] = partial(run_report, one.key, study)
        timed[f"page {one.key}"] = partial(page, one.key)
    shortest = dict.fromkeys(timed, float("inf"))
    for _ in range(RUNS):
        for name, call in timed.items():
            start = time.perf_counter()
            call()
            shortest[name] = min(shortest[name], time.perf_counter() - start)
    print(json.dumps(shortest))


def main() -> int:
    with workspace("postgresql") as environment:
        run(environment, "manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        run(environment, "-m", "bench.reports", "prepare")
        seconds: dict[str, float] = json.loads(run(environment, "-m", "bench.reports", "measure"))
    anchor = seconds.pop("anchor")
    pages = {name: seconds.pop(name) for name in list(seconds) if name.startswith("page ")}
    print(f"anchor: the bare query of {VERDICTS:,} verdicts  {anchor:6.3f} s")
    for name, taken in seconds.items():
        ratio = f"ratio {taken / anchor:5.2f}  (≤ {BOUND:g})"
        print(f"{name:16} {taken:6.3f} s  {ratio}   whole page {pages[f'page {name}']:6.3f} s")
    return 0 if max(seconds.values()) <= BOUND * anchor else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare"]:
            prepare()
        case ["measure"]:
            measure()
        case _:
            sys.exit(main())
