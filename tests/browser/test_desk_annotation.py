"""The annotation on the desk in a browser: every page accessible and narrow enough, and what keys do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import (
    AnnotationSettings,
    Annotator,
    Attempt,
    BatchItem,
    ReferenceDialogue,
    ReferenceScore,
    Resolution,
    ReviewCase,
    Score,
)
from annotation.services.invitations import make_invitation
from annotation.services.quality import set_aside
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy
from tests import factories
from tests.browser.playing import DESK, PHONE, Game, rows
from tests.browser.test_desk import Contexts, check, sign_in
from tests.browser.test_desk import desk as desk  # the fixture
from tests.factories import NOW

TABLET = {"width": 820, "height": 1180}
SHOTS = os.environ.get("SHOTS", "")


def work(person: Annotator, dialogues: list[Any], rng: Any, *, careless: bool) -> None:
    """A rater's finished batches over ``dialogues``: scores around a mean, or one answer throughout."""
    keys = list(default_taxonomy().dimensions.values_list("key", flat=True))
    for at in range(0, len(dialogues), 5):
        batch = factories.BatchFactory(
            annotator=person, state="finished", finished_at=NOW, number=at // 5 + 1
        )
        for dialogue in dialogues[at : at + 5]:
            values = {
                key: 4 if careless else (None if rng.random() < 0.1 else int(rng.integers(1, 6)))
                for key in keys
            }
            item = factories.annotate(factories.BatchItemFactory(batch=batch, dialogue=dialogue), values)
            item.active_seconds = 20 if careless else float(rng.integers(150, 320))
            item.finished_at = timezone.now()
            item.save()


def review(case_of: Any, study: Any) -> None:
    """Close the review of a dialogue, every score as it was."""
    case = ReviewCase.objects.create(
        study=study, dialogue=case_of, state="closed", made_at=NOW, closed_at=NOW, disagreement=1
    )
    for score in Score.objects.filter(study=study, dialogue=case_of, layer="raw"):
        result = Score.objects.create(
            study=study, rater=score.rater, dialogue=case_of, dimension=score.dimension, layer="truth-shown",
            value=score.value, evidence=score.evidence, revises=score, given_at=NOW,
        )  # fmt: skip
        Resolution.objects.create(case=case, score=score, result=result, how="unanimous", closed_at=NOW)


@pytest.fixture
def annotated(desk: Game) -> Game:
    """The game's study annotates as well: three raters, a careless one among them, and one who failed."""
    study = desk.study
    AnnotationSettings.objects.create(
        study=study, taxonomy=default_taxonomy(), rate_per_hour=12, calibration_dialogues=2
    )
    study.pay_floor, study.currency = 15, "€"
    study.save()
    rng = np.random.default_rng(3)
    dialogues = [item.dialogue for item in study.items.order_by("pk")]
    for n in range(3):
        person = factories.AnnotatorFactory(participant=factories.ParticipantFactory(study=study))
        Attempt.objects.create(
            annotator=person, number=1, state="passed", dialogues=10, compared=160, mean_difference=0.8,
            clear=100, clear_share=0.7, against=0.26, choices_right=6, started_at=NOW, ended_at=NOW,
        )  # fmt: skip
        person.sessions.create(started_at=NOW, last_at=NOW, active_seconds=2400, ended_at=NOW)
        work(person, dialogues[: 10 - n], rng, careless=n == 2)
    failed = factories.AnnotatorFactory(
        participant=factories.ParticipantFactory(study=study), state="failed", passed_at=None
    )
    Attempt.objects.create(
        annotator=failed, number=1, state="failed", mean_difference=1.7, clear_share=0.4, dialogues=10,
        started_at=NOW, ended_at=NOW,
    )  # fmt: skip
    gold = dialogues[11]
    reference = ReferenceDialogue.objects.create(
        study=study, dialogue=gold, role="gold", source="import", added_at=NOW
    )
    for dimension in default_taxonomy().dimensions.all():
        ReferenceScore.objects.create(reference=reference, dimension=dimension, value=int(rng.integers(1, 6)))
    first = Annotator.objects.order_by("pk")[0]
    factories.annotate(
        factories.BatchItemFactory(batch=first.batches.order_by("number")[0], dialogue=gold, purpose="gold")
    )
    for dialogue in dialogues[:4]:
        review(dialogue, study)
    make_invitation(study=study, label="First round", places=20)
    copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    set_aside(annotator=Annotator.objects.order_by("pk")[2], reason="One answer throughout.")
    return desk


def paths(game: Game) -> dict[str, str]:
    people = list(Annotator.objects.order_by("pk").values_list("participant__code", flat=True))
    mine = f"taxonomies/{game.study.slug}-human-likeness-18/1/"
    return {
        "overview": "",
        "settings": "settings/",
        "invitations": "invitations/",
        "annotators": "annotators/",
        "annotator": f"annotators/{people[0]}/",
        "careless": f"annotators/{people[2]}/",
        "failed": f"annotators/{people[3]}/",
        "references": "references/",
        "proposal": "references/?role=calibration",
        "taxonomies": "taxonomies/",
        "shipped": f"taxonomies/human-likeness-18/{default_taxonomy().version}/",
        "copy": mine,
        "words": f"{mine}words/",
        "category": f"{mine}category/",
        "dimension": f"{mine}dimension/rhythm/",
        "file": "taxonomies/file/",
    }


def shot(page: Page, name: str) -> None:
    """A picture of the whole page, where SHOTS names a folder."""
    if SHOTS:
        page.screenshot(
            path=Path(SHOTS) / f"{name}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": (page.viewport_size or DESK)["width"], "height": 2000},
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "locale", "scheme"),
    [(PHONE, "en-GB", "light"), (TABLET, "zh-CN", "dark"), (DESK, "en-GB", "light"), (DESK, "zh-CN", "dark")],
)
def test_pages_of_the_annotation(
    annotated: Game, context: Contexts, viewport: Any, locale: str, scheme: str
) -> None:
    found = rows(lambda: paths(annotated))
    page = sign_in(context(viewport=viewport, locale=locale, color_scheme=scheme), annotated)
    console: list[str] = []
    page.on("console", lambda m: console.append(m.text) if m.type == "error" else None)
    for name, path in found.items():
        answer = page.goto(f"{annotated.site}/admin/study/{annotated.study.slug}/annotation/{path}")
        assert answer is not None
        assert answer.status == 200, path
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        check(page)
        if name == "annotators" and viewport == DESK:  # every column is in sight
            table = page.locator(".scroll").first
            assert table.evaluate("(one) => one.scrollWidth <= one.clientWidth")
        shot(page, f"{name}-{viewport['width']}-{locale[:2]}-{scheme}")
    assert not console


def test_a_rater_is_paused_by_keyboard_alone(annotated: Game, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), annotated)
    found = rows(lambda: paths(annotated))
    page.goto(f"{annotated.site}/admin/study/{annotated.study.slug}/annotation/{found['annotator']}")
    page.focus("#pause-reason")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#pause-error")).to_be_visible()
    expect(page.locator("#pause-reason")).to_have_attribute("aria-invalid", "true")
    check(page)
    page.focus("#pause-reason")
    page.keyboard.type("Please write to us before you go on.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The person reads:")).to_be_visible()
    assert rows(lambda: Annotator.objects.order_by("pk")[0].paused_reason).startswith("Please write")


def test_a_reference_set_takes_two_clicks(annotated: Game, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), annotated)
    page.goto(f"{annotated.site}/admin/study/{annotated.study.slug}/annotation/")
    page.get_by_role("link", name="Make a reference set").click()
    page.get_by_role("button", name="Make it").click()
    expect(page.locator(".notice").first).to_contain_text("references are made")
    assert rows(lambda: ReferenceDialogue.objects.filter(role="calibration").count()) == 2
    check(page)


def test_an_invitation_is_copied(annotated: Game, context: Contexts) -> None:
    made = context(viewport=DESK, permissions=["clipboard-read", "clipboard-write"])
    page = sign_in(made, annotated)
    page.goto(f"{annotated.site}/admin/study/{annotated.study.slug}/annotation/invitations/")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "/annotation/join/" in copied
    page.goto(copied)
    assert rows(lambda: BatchItem.objects.count()) > 20  # nothing was lost on the way


def test_a_dimension_of_a_copy_is_edited(annotated: Game, context: Contexts) -> None:
    page = sign_in(context(viewport=DESK), annotated)
    found = rows(lambda: paths(annotated))
    page.goto(f"{annotated.site}/admin/study/{annotated.study.slug}/annotation/{found['dimension']}")
    page.fill("[name=low_en]", "")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#id_low_en_error")).to_be_visible()
    check(page)
    page.fill("[name=low_en]", "Like a metronome")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Like a metronome")).to_be_visible()
