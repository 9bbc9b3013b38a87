"""Annotators on the desk over HTTP: list, sheet, decisions, pay as a file, what stays hidden."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import Annotator, Attempt, BatchItem, ReferenceDialogue, ReferenceScore
from annotation.selectors_raters import rows_of
from annotation.services.settings import settings_of
from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Dialogue
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW
from tests.site.test_blind_desk import crawl


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(cast: Any) -> Study:
    """Two raters of three dialogues, the first with a gold item, a hidden repeat and an attempt."""
    made = factories.annotated_study("scored", dialogues=3, raters=2, values={"rhythm": 2, "accent": None})
    factories.StudyMemberFactory(study=made, user=cast.researcher)
    one = Annotator.objects.order_by("pk")[0]
    batch = one.batches.get()
    gold = factories.annotate(factories.BatchItemFactory(batch=batch, purpose="gold"), 4)
    reference = ReferenceDialogue.objects.create(
        study=made, dialogue=gold.dialogue, role="gold", source="import", added_at=NOW
    )
    for row in default_taxonomy().dimensions.all():
        ReferenceScore.objects.create(reference=reference, dimension=row, value=5)
    first = batch.items.order_by("pk")[0]
    factories.annotate(
        factories.BatchItemFactory(
            batch=batch, dialogue=first.dialogue, purpose="repeat", repeat=1, exposure=first.exposure
        ),
        4,
    )
    Attempt.objects.create(
        annotator=one, number=1, state="passed", dialogues=10, mean_difference=0.75, clear_share=0.65,
        choices_right=7, started_at=NOW, ended_at=NOW,
    )  # fmt: skip
    one.sessions.create(started_at=NOW, last_at=NOW, active_seconds=1800)
    return made


@pytest.fixture
def rater(study: Study) -> Annotator:
    return Annotator.objects.select_related("participant").order_by("pk")[0]


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


def test_the_list_has_everybody_with_figures(researcher: Any, study: Study, rater: Annotator) -> None:
    settings = settings_of(study)
    settings.rate_per_hour = 20
    settings.save()
    study.currency, study.pay_floor = "€", 25
    study.save()
    page = researcher.get(url("annotators", "scored"))
    text = page.content.decode()
    assert len(page.context["rows"]) == 2
    for words in (rater.participant.code, "€10.00", "0.75", "Pay is too low.", "1.00"):
        assert words in text, words
    Annotator.objects.filter(pk=rater.pk).update(set_aside_at=NOW, set_aside_reason="x")
    assert "set aside" in researcher.get(url("annotators", "scored")).content.decode()


def test_a_sheet_tells_gold_repeats_and_scores(researcher: Any, rater: Annotator) -> None:
    page = researcher.get(url("annotator", "scored", rater.participant.code))
    assert page.status_code == 200
    figures = page.context["figures"]
    assert (figures.gold.items, figures.gold.difference.value) == (1, 1)
    assert (figures.repeats, figures.retest.n) == (1, 17)
    rhythm = next(one for one in page.context["spreads"] if one.name == "Rhythm")
    assert (rhythm.n, rhythm.counts) == (4, [0, 3, 0, 1, 0, 0])
    accent = next(one for one in page.context["spreads"] if one.name == "Accent")
    assert accent.counts[-1] == 3
    assert [one.difference for one in page.context["gold"]] == [1]
    assert researcher.get(url("annotator", "scored", "NOBODY")).status_code == 404


def test_pausing_asks_for_a_reason_and_resuming_takes_it_back(researcher: Any, rater: Annotator) -> None:
    page = url("annotator", "scored", rater.participant.code)
    refused = researcher.post(page, {"do": "pause", "reason": "  "})
    assert refused.status_code == 400
    assert 'id="pause-error"' in refused.content.decode()
    assert 'id="aside-error"' not in refused.content.decode()
    shown = researcher.post(page, {"do": "pause", "reason": "Please write to us."}, follow=True)
    assert "Please write to us." in shown.content.decode()
    rater.refresh_from_db()
    assert rater.paused_by is not None
    assert AuditLine.objects.get(action="annotator.paused").target == rater.participant.code
    researcher.post(page, {"do": "resume"})
    rater.refresh_from_db()
    assert rater.paused_at is None


def test_scores_are_set_aside_and_taken_back(researcher: Any, rater: Annotator) -> None:
    page = url("annotator", "scored", rater.participant.code)
    shown = researcher.post(page, {"do": "set_aside", "reason": "Careless."}, follow=True)
    assert "Dialogues set aside: 5. Places that others will fill again: 3." in shown.content.decode()
    assert not BatchItem.objects.filter(batch__annotator=rater, exclusion="").exists()
    told = researcher.post(page, {"do": "resume"}, follow=True).content.decode()
    assert "Take the scores back in first" in told
    shown = researcher.post(page, {"do": "take_back"}, follow=True)
    assert "5 dialogues are analysed again." in shown.content.decode()
    assert not BatchItem.objects.filter(batch__annotator=rater).exclude(exclusion="").exists()


def test_a_failed_rater_can_be_let_try_again(researcher: Any, rater: Annotator) -> None:
    page = url("annotator", "scored", rater.participant.code)
    assert "Let them try once more" not in researcher.get(page).content.decode()
    Annotator.objects.filter(pk=rater.pk).update(state="failed")
    assert "Let them try once more" in researcher.get(page).content.decode()
    researcher.post(page, {"do": "again"})
    rater.refresh_from_db()
    assert rater.state == "calibrating"


def test_pay_is_a_file_without_formulas(researcher: Any, study: Study, rater: Annotator) -> None:
    settings = settings_of(study)
    settings.rate_per_hour = 20
    settings.save()
    Study.objects.filter(pk=study.pk).update(currency="=1+1")
    answer = researcher.get(url("annotation_pay", "scored"))
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(rows) == 2
    assert rows[0] == {
        "code": rater.participant.code, "arm": "raw", "state": "working", "account": "",
        "invitation": "", "recruiter_id": "", "dialogues": "5", "active_minutes": "30.0",
        "minutes_per_dialogue": "6.0", "rate_per_hour": "20.0", "pay": "10.0", "currency": "'=1+1",
    }  # fmt: skip


def pages(study: Study) -> list[str]:
    people = study.participants.values_list("code", flat=True)
    return [
        url("annotation", "scored"), url("annotators", "scored"), url("annotation_pay", "scored"),
        *(url("annotator", "scored", code) for code in people), url("references", "scored"),
    ]  # fmt: skip


def swap() -> None:
    """All that a choice or a truth could change: choices, hits among them, what B of a dialogue is."""
    for row in BatchItem.objects.exclude(choice=""):
        row.choice = "machine" if row.choice == "human" else "human"
        row.save(update_fields=["choice"])
    Attempt.objects.update(choices_right=1)
    Dialogue.objects.filter(kind="human_human").update(kind="swapped")
    Dialogue.objects.filter(kind="pseudo_human").update(kind="human_human")
    Dialogue.objects.filter(kind="swapped").update(kind="pseudo_human")


def test_nothing_on_these_pages_differs_by_choices_or_the_truth(researcher: Any, study: Study) -> None:
    starts = pages(study)
    before = crawl(researcher, starts, follow=False)
    swap()
    after = crawl(researcher, starts, follow=False)
    assert all(text.startswith("200") for text in before.values())
    assert [path for path in before if before[path] != after[path]] == []


def test_right_choices_are_shown_once_outcomes_are(researcher: Any, rater: Annotator) -> None:
    page = url("annotator", "scored", rater.participant.code)
    assert "choices right" not in researcher.get(page).content.decode()
    researcher.post(url("look", "scored"))
    assert "7 of 10 choices right" in researcher.get(page).content.decode()


def test_people_who_had_everything_erased_are_gone(researcher: Any, study: Study, rater: Annotator) -> None:
    study.participants.filter(pk=rater.participant.pk).update(erased_at=NOW)
    assert len(researcher.get(url("annotators", "scored")).context["rows"]) == 1
    assert researcher.get(url("annotator", "scored", rater.participant.code)).status_code == 404


def test_a_batch_in_which_nothing_was_finished_counts_for_nobody(study: Study, rater: Annotator) -> None:
    settings = settings_of(study)
    before = {row.annotator.pk: row.batches for row in rows_of(settings)}
    batch = factories.BatchFactory(annotator=rater, state="finished", finished_at=NOW)
    item = factories.BatchItemFactory(batch=batch, dialogue=factories.add_dialogue(study), state="skipped")
    assert {row.annotator.pk: row.batches for row in rows_of(settings)} == before
    factories.annotate(item)
    assert {row.annotator.pk: row.batches for row in rows_of(settings)} == before | {
        rater.pk: before[rater.pk] + 1
    }


def test_the_list_says_what_was_published_of_pay(researcher: Any, study: Study, rater: Annotator) -> None:
    page = researcher.get(f"/admin/study/{study.slug}/annotation/annotators/").content.decode()
    assert "36 raters, 20 to 30 minutes a batch of five" in page
