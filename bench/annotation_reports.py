"""Reports on the annotation beside the bare query: 1,500 dialogues × 3 raters × 18 dimensions, many revised.

The anchor asks PostgreSQL for the same columns of the scores and makes nothing of them. Wall time, the
database's part included, shortest of some runs taken in turn. Seconds are shown, never judged.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from bench.reports import copy
from bench.servers import HOST, run, workspace

DIALOGUES, RATERS, EACH, RUNS, BOUND = 1_500, 36, 3, 5, 8.0
SLUG = "bench"
REPORTS = ("agreement", "revision-impact", "dimension-profile", "rater-quality")
#: What a report on scores needs of each, as the database has it.
ANCHOR = """
    SELECT p.code, m.sha256, d.code, n.key, s.layer, s.repeat, i.purpose, s.value, s.evidence, i.exclusion
    FROM annotation_score s
    JOIN studies_rater r ON r.id = s.rater_id JOIN dialogues_dialogue d ON d.id = s.dialogue_id
    JOIN annotation_dimension n ON n.id = s.dimension_id
    LEFT JOIN annotation_batchitem i ON i.id = s.item_id
    LEFT JOIN studies_participant p ON p.id = r.participant_id
    LEFT JOIN studies_machineconfig m ON m.id = r.machine_id
    WHERE s.study_id = %s ORDER BY s.id
"""


def prepare() -> None:
    """In a process of its own: the study with its scores."""
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    from django.db import connection

    seed()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")


def seed(dialogues: int = DIALOGUES, raters: int = RATERS, each: int = EACH) -> None:
    """Scores of raters with a bias and a halo of their own, a tenth of them revised towards the truth; gold
    items and hidden repeats; a careless rater, the last one."""
    from annotation import models as annotation
    from annotation.services.taxonomies import default_taxonomy
    from dialogues import models as corpus
    from studies import models as studies
    from tests import factories

    rng = np.random.default_rng(4)
    now = factories.NOW
    study = factories.StudyFactory(
        slug=SLUG, languages=["en", "zh"], status="closed", activities=["annotation"]
    )
    factories.UserFactory(username=SLUG, is_staff=True, is_superuser=True)
    factories.AnnotationSettingsFactory(study=study, raters=each, gold_share=0.05)
    dimensions = list(default_taxonomy().dimensions.order_by("position"))
    clips = _dialogues(study, dialogues)
    people = [
        studies.Participant(
            pk=n + 1, study=study, state="active", judging_language=("en", "zh")[n % 2], joined_at=now,
            code=f"rater{n:04}",
        )
        for n in range(raters)
    ]  # fmt: skip
    copy(people)
    copy(studies.Rater(pk=one.pk, participant=one) for one in people)
    categories = [row.key for row in default_taxonomy().categories.order_by("position")]
    copy(
        annotation.Annotator(
            pk=one.pk, participant=one, state="working", joined_at=now, passed_at=now,
            category_order=[*categories[one.pk % 5 :], *categories[: one.pk % 5]],
        )
        for one in people
    )  # fmt: skip
    copy(
        annotation.Attempt(
            pk=one.pk, annotator_id=one.pk, number=1, state="passed", dialogues=10, compared=150,
            mean_difference=0.6 + 0.3 * rng.random(), clear=120, clear_share=0.6 + 0.3 * rng.random(),
            against=0.25, started_at=now, ended_at=now,
        )
        for one in people
    )  # fmt: skip
    copy(
        annotation.Batch(
            pk=one.pk, annotator_id=one.pk, number=1, kind="work", state="finished", started_at=now,
            lease_until=now, finished_at=now,
        )
        for one in people
    )  # fmt: skip
    machine = np.array([clip.kind != "human_human" for clip in clips])
    weight = np.linspace(0.2, 1.6, len(dimensions))
    centre = 3.4 - np.outer(machine * rng.uniform(0.6, 1.4, len(clips)), weight)
    centre += rng.normal(0, 0.5, centre.shape)
    gold = range(0, len(clips), max(1, len(clips) // 8))
    silent = rng.uniform(0.02, 0.5, len(dimensions))
    bias = rng.normal(0, 0.3, raters)
    keys, items_at = count(1), count(1)
    exposures: list[Any] = []
    items: list[Any] = []
    scores: list[Any] = []
    shown: list[Any] = []
    references: list[Any] = []

    def work(person: Any, at: int, purpose: str, repeat: int = 0) -> None:
        key, exposure = next(items_at), None
        dialogue, careless = clips[at], person.pk == raters
        mood = rng.normal(0, 0.5)
        if not repeat:
            exposures.append(
                corpus.Exposure(pk=key, rater_id=person.pk, study=study, dialogue=dialogue, given_at=now)
            )
            exposure = key
        heard = centre[at] + bias[person.pk - 1] + mood + rng.normal(0, 0.7, len(dimensions))
        human = bool(heard.mean() > 2.9)
        items.append(
            annotation.BatchItem(
                pk=key, study=study, rater_id=person.pk, dialogue=dialogue, batch_id=person.pk,
                position=key % 30_000, purpose=purpose, repeat=repeat,
                exposure_id=exposure or first[person.pk, at], state="finished", given_at=now,
                finished_at=now + timedelta(minutes=key % 30_000),
                place=places[at] if purpose == "work" else None,
                choice="human" if human else "machine", confidence=3, heard=1.0, gate="ended",
                active_seconds=float(rng.normal(dialogue.play_duration + (15 if careless else 150), 12)),
            )
        )  # fmt: skip
        first.setdefault((person.pk, at), key)
        for place, dimension in enumerate(dimensions):
            evidence = bool(rng.random() > silent[place])
            value = 3 if careless and rng.random() < 0.9 else int(np.clip(np.rint(heard[place]), 1, 5))
            score = annotation.Score(
                pk=next(keys), study=study, rater_id=person.pk, dialogue=dialogue, dimension=dimension,
                repeat=repeat, item_id=key, value=value if evidence else 3, evidence=evidence, given_at=now,
            )  # fmt: skip
            scores.append(score)
            if purpose == "work" and at % 2 == 0:
                shown.append(score)

    first: dict[tuple[int, int], int] = {}
    places = [0] * len(clips)
    for at in range(len(clips)):
        for n, rater in enumerate(rng.permutation(raters)[:each].tolist(), 1):
            places[at] = n
            work(people[rater], at, "work")
    for person in people:
        done = [at for pk, at in first if pk == person.pk]
        for at in done[: len(done) // 20 + 1]:
            work(person, at, "repeat", 1)
    for at in gold:
        for person in people[:: max(1, raters // 12)]:
            if (person.pk, at) not in first:
                work(person, at, "gold")
    revised = [_revised(next(keys), one, machine[one.dialogue_id - 1], rng) for one in shown]
    for place, at in enumerate(gold):
        references.append(
            annotation.ReferenceDialogue(
                pk=place + 1, study=study, dialogue=clips[at], role="gold", source="review", added_at=now
            )
        )
    for rows in (exposures, items, scores, revised, references):
        copy(rows)
    copy(
        annotation.ReferenceScore(
            pk=len(dimensions) * place + at + 1, reference_id=place + 1, dimension=dimension,
            value=int(np.clip(np.rint(centre[clip][at]), 1, 5)),
        )
        for place, clip in enumerate(gold)
        for at, dimension in enumerate(dimensions)
    )  # fmt: skip


def _revised(key: int, raw: Any, machine: bool, rng: np.random.Generator) -> Any:
    from annotation import models as annotation

    moved = rng.random() < 0.25
    step = int(rng.choice([1, 2, 3])) * (-1 if machine else 1) * (1 if rng.random() < 0.8 else -1)
    value = int(np.clip(raw.value + step, 1, 5)) if moved else raw.value
    return annotation.Score(
        pk=key, study_id=raw.study_id, rater_id=raw.rater_id, dialogue_id=raw.dialogue_id,
        dimension_id=raw.dimension_id, layer="truth-shown", revises_id=raw.pk, value=value,
        evidence=raw.evidence or value != 3, given_at=raw.given_at,
    )  # fmt: skip


def _dialogues(study: Any, number: int) -> list[Any]:
    """Dialogues of six systems and of people, in turn English and Chinese."""
    from dialogues import models as corpus
    from tests import factories

    rng = np.random.default_rng(5)
    now = factories.NOW
    names = ("Aria 2", "Baritone", "Cadence Duplex", "Delta", "Echo-Omni 7B", "Fable")
    systems = [factories.SystemFactory(name=name, code=name.split()[0].lower()) for name in names]
    kinds = ("human_human", "human_machine", "human_human", "pseudo_human", "human_machine")
    clips = [
        corpus.Dialogue(
            pk=n + 1, external_id=f"d{n:05}", code=f"d{n:05}", content_hash=f"{n:064}", kind=kinds[n % 5],
            language=("en", "zh")[n % 2], state="ready", play_duration=float(rng.uniform(20, 60)),
            imported_at=now, origin="recorded" if kinds[n % 5] == "human_human" else "",
        )
        for n in range(number)
    ]  # fmt: skip
    copy(clips)
    copy(
        corpus.Party(
            pk=2 * clip.pk + place, dialogue=clip, label="AB"[place],
            nature="machine" if place and clip.kind != "human_human" else "human",
            system=systems[clip.pk % 6] if place and clip.kind != "human_human" else None,
        )
        for clip in clips
        for place in (0, 1)
    )  # fmt: skip
    copy(corpus.StudyItem(pk=clip.pk, study=study, dialogue=clip, added_at=now) for clip in clips)
    return clips


def measure() -> None:
    """In a process of its own: seconds of the anchor, of every report and of its page, as JSON on stdout."""
    import django

    django.setup()
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.urls import reverse

    from studies.models import Study
    from studies.reports import run_report

    study = Study.objects.get(slug=SLUG)
    client = Client(headers={"host": HOST})
    client.force_login(get_user_model().objects.get(username=SLUG))

    def anchor() -> None:
        with connection.cursor() as cursor:
            cursor.execute(ANCHOR, [study.pk])
            if len(cursor.fetchall()) < DIALOGUES * EACH * 18:
                raise RuntimeError("scores are missing")

    def page(key: str) -> None:
        answer = client.get(reverse("admin:desk_report", args=[SLUG, key]))
        if answer.status_code != 200:
            raise RuntimeError(f"{key}: {answer.status_code}")

    timed: dict[str, Callable[[], Any]] = {"anchor": anchor}
    for key in REPORTS:
        timed[key] = partial(run_report, key, study)
        timed[f"page {key}"] = partial(page, key)
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
        run(environment, "-m", "bench.annotation_reports", "prepare")
        seconds: dict[str, float] = json.loads(run(environment, "-m", "bench.annotation_reports", "measure"))
    anchor = seconds.pop("anchor")
    print(f"anchor: the bare query of all scores  {anchor:6.3f} s")
    for name in REPORTS:
        taken, page = seconds[name], seconds[f"page {name}"]
        print(
            f"{name:18} {taken:6.3f} s  ratio {taken / anchor:5.2f}  (≤ {BOUND:g})  whole page {page:6.3f} s"
        )
    return 0 if max(seconds[name] for name in REPORTS) <= BOUND * anchor else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare"]:
            prepare()
        case ["measure"]:
            measure()
        case _:
            sys.exit(main())
