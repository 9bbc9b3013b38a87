"""Bots that annotate a running site: every dialogue gets its raters, and what is wrong is said."""

from __future__ import annotations

import io
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation import presenters
from annotation.bots import Simulated, hear
from annotation.bots.hearing import EVIDENCE
from annotation.models import Batch, BatchItem, Score
from annotation.services.invitations import make_invitation
from annotation.services.rater_places import TRIAL_PLACES
from annotation.services.taxonomies import default_taxonomy, shipped
from dialogues.models import Verdict
from studies import services as studies
from studies.models import Participant, Study
from tests import factories

LENGTH = 1.5


def annotated(*, dialogues: int, **changes: Any) -> Study:
    """An open study whose dialogues can be fetched, in one language, with the defaults of the protocol."""
    study = studies.create_study(
        slug="bots",
        title_en="Bots",
        user=None,
        host="A university",
        contact="a@example.org",
        test_participants=True,
    )
    study.activities, study.languages = ["annotation"], ["en"]
    study.save()
    factories.AnnotationSettingsFactory(study=study, **changes)
    clip = io.BytesIO()
    tone = 0.1 * np.sin(2 * np.pi * 220 * np.arange(int(24_000 * LENGTH)) / 24_000)
    soundfile.write(clip, tone, 24_000, format="MP3", bitrate_mode="CONSTANT", compression_level=0.75)
    for number in range(dialogues):
        kind = ("human_human", "human_machine", "pseudo_human")[number % 3]
        dialogue = factories.add_dialogue(study, kind=kind, language="en", play_duration=LENGTH)
        path = Path(settings.MEDIA_ROOT) / dialogue.play_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(clip.getvalue() + str(number).encode())  # each its own bytes
    return studies.change_status(study=study, to=Study.Status.OPEN)


def annotate(live_server: Any, **options: Any) -> str:
    out = io.StringIO()
    fields = {"study": "bots", "bots": 3, "seed": 5, "listen": "claimed", "base_url": live_server.url}
    call_command("annotate", **fields | options, stdout=out)
    return out.getvalue()


@pytest.mark.slow
def test_forty_dialogues_get_exactly_three_raters_at_once(transactional_db: None, live_server: Any) -> None:
    annotated(dialogues=40)
    said = annotate(live_server, bots=5)
    assert "120 dialogues, 2160 scores" in said
    done = BatchItem.objects.filter(state="finished", purpose="work")
    by_dialogue = Counter(done.values_list("dialogue", flat=True))
    assert len(by_dialogue) == 40
    assert set(by_dialogue.values()) == {3}
    assert set(Counter(done.values_list("dialogue", "rater")).values()) == {1}
    for places in done.values_list("dialogue").distinct():
        held = done.filter(dialogue=places[0]).values_list("place", flat=True)
        assert set(held) == {TRIAL_PLACES + n for n in (1, 2, 3)}
    assert Score.objects.count() == 120 * 18
    assert Verdict.objects.filter(activity="annotation").count() == 120
    assert not Batch.objects.exclude(state="finished").exists()


def test_bots_come_by_an_invitation_beside_players(transactional_db: None, live_server: Any) -> None:
    study = annotated(dialogues=5)
    study.activities = ["speech"]
    study.save()
    with pytest.raises(CommandError, match="--invitation"):
        annotate(live_server)
    said = annotate(live_server, invitation=make_invitation(study=study).code, batches=1)
    for number in (1, 2, 3):  # each says at once how far it is
        mine = [line for line in said.splitlines() if line.startswith(f"bot {number}")]
        assert [line.split(":")[1].split(",")[0].strip() for line in mine] == [
            "begins", "batch 1 done", "0 of calibration",
        ]  # fmt: skip
    assert "15 dialogues" in said
    people = Participant.objects.filter(study=study)
    assert [(one.activities, one.state, one.is_test) for one in people] == [
        (["annotation"], Participant.State.COMPLETED, True)
    ] * 3


def test_a_bot_says_what_it_finds_wrong(
    transactional_db: None, live_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    annotated(dialogues=5)
    true = presenters.item_json
    monkeypatch.setattr(presenters, "item_json", lambda *given: true(*given) | {"note": "pseudo_human"})
    with pytest.raises(CommandError, match="says 'pseudo_human' before the verdict"):
        annotate(live_server, bots=1, batches=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quality": "brilliant"}, "A quality is one of"),
        ({"bots": 0}, "At least one bot"),
        ({"base_url": "nowhere"}, "is no address"),
        ({"invitation": "no-such"}, "no open invitation"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    transactional_db: None, live_server: Any, options: dict[str, Any], words: str
) -> None:
    annotated(dialogues=6)
    with pytest.raises(CommandError, match=words):
        annotate(live_server, **options)


def test_raters_differ_as_their_quality_says() -> None:
    keys = [one["key"] for group in shipped()["categories"] for one in group["dimensions"]]
    apart: dict[str, list[float]] = {"good": [], "average": [], "careless": []}
    runs = Counter[str]()
    for quality, found in apart.items():
        rater = Simulated.drawn(quality, f"test/{quality}")
        for number in range(60):
            heard = hear(f"dialogue {number}", keys, human=random.Random(number).uniform(-1, 1))
            given = rater.scores(heard)
            assert set(given) == set(keys)
            assert set(given.values()) <= {0, 1, 2, 3, 4, 5}
            found += [abs(given[key] - heard[key].level) for key in keys if given[key]]
            values = list(given.values())
            runs[quality] += sum(one == other for one, other in pairwise(values))
    means = {quality: sum(found) / len(found) for quality, found in apart.items()}
    assert means["good"] < means["average"] < means["careless"]
    assert runs["careless"] > 1.5 * runs["good"]


@pytest.mark.django_db
def test_the_shipped_dimensions_are_what_bots_know() -> None:
    assert set(EVIDENCE) <= set(default_taxonomy().dimensions.values_list("key", flat=True))
