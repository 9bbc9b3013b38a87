"""A study with very many verdicts, for the benchmarks of exports and lists: people and dialogues through the
ORM, verdicts in bulk. Run in a process of its own: ``python -m bench.many_verdicts N``."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import django

SLUG = "very-many"
EACH = 25  # verdicts a person
CLIPS = 1_500
COLUMNS = (
    "study_id", "rater_id", "dialogue_id", "activity", "repeat", "choice", "first_choice", "confidence",
    "reason", "evidence", "round_number", "position", "round_finished", "exclusion", "protocol_breaks",
    "given_at", "changed_at",
)  # fmt: skip
START = datetime(2026, 3, 2, 8, tzinfo=UTC)


def seed(count: int) -> None:
    """``count`` verdicts of ``count / 25`` people on 1,500 dialogues, as the speech game stores them."""
    from django.db import connection, transaction

    from dialogues.models import Dialogue, Party, StudyItem, System
    from studies.models import Participant, Rater, Study

    draw = random.Random(7)
    with transaction.atomic():
        study = Study.objects.create(
            slug=SLUG, title_en="Very many verdicts", title_zh="很多判断", activities=["speech"], seed=7
        )
        systems = System.objects.bulk_create(System(code=f"system-{n}", name=f"System {n}") for n in range(4))
        dialogues = Dialogue.objects.bulk_create(
            Dialogue(
                external_id=f"m{n:05}",
                content_hash=f"{n:064x}",
                modality="speech",
                kind=("human_human", "human_machine", "pseudo_human")[n % 3],
                language=("en", "zh")[n % 2],
                state="ready",
                play_duration=20 + n % 40 + 0.25,
            )
            for n in range(CLIPS)
        )
        Party.objects.bulk_create(
            Party(
                dialogue=one,
                label="B",
                nature="human" if one.kind == "human_human" else "machine",
                system=None if one.kind == "human_human" else systems[n % 4],
            )
            for n, one in enumerate(dialogues)
        )
        StudyItem.objects.bulk_create(StudyItem(study=study, dialogue=one) for one in dialogues)
        people = Participant.objects.bulk_create(
            (
                Participant(
                    study=study,
                    state="completed",
                    judging_language=("en", "zh")[n % 2],
                    device_class="phone",
                    joined_at=START,
                    consented_at=START,
                )
                for n in range(count // EACH)
            ),
            batch_size=2_000,
        )
        raters = Rater.objects.bulk_create((Rater(participant=one) for one in people), batch_size=2_000)
        rows = _rows(study.pk, [one.pk for one in raters], [one.pk for one in dialogues], draw)
        names = ", ".join(COLUMNS)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                with cursor.copy(f"COPY dialogues_verdict ({names}) FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
            else:
                places = ", ".join(["%s"] * len(COLUMNS))
                cursor.executemany(f"INSERT INTO dialogues_verdict ({names}) VALUES ({places})", list(rows))  # noqa: S608
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _rows(study: int, raters: list[int], clips: list[int], draw: random.Random) -> Iterator[tuple[Any, ...]]:
    for person, rater in enumerate(raters):
        for place, clip in enumerate(draw.sample(clips, EACH)):
            at = START + timedelta(seconds=person * 7 + place * 41, microseconds=draw.randrange(1_000_000))
            heard = round(draw.uniform(0.2, 1), 4)
            evidence = {
                "heard": heard,
                "ranges": [[0.0, round(draw.uniform(10, 60), 2)]],
                "replays": draw.randrange(3),
                "pauses": draw.randrange(2),
                "served_at": at.isoformat(),
                "answer_ms": draw.randrange(500, 20_000),
                "hidden": round(draw.random() * 3, 1),
                "device": ("phone", "desktop")[person % 2],
                "left": ("human", "machine")[person % 2],
                "gate": "ended" if heard > 0.9 else "covered",
                "length": round(draw.uniform(20, 60), 2),
                "build": "0123456789abcdef",
            }
            breaks = ["too_fast"] if draw.random() < 0.05 else []
            reason = {"ticks": ["voice"]} if draw.random() < 0.2 else {}
            yield (
                study, rater, clip, "speech", 0, draw.choice(("human", "machine")), "", None,
                json.dumps(reason), json.dumps(evidence), place // 5 + 1, place % 5 + 1, True,
                "known" if draw.random() < 0.02 else "", json.dumps(breaks),
                str(at.replace(tzinfo=None)), None,
            )  # fmt: skip


if __name__ == "__main__":
    django.setup()
    seed(int(sys.argv[1]))
