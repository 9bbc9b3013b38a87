"""Calibration through the browser: what the intro says, what feedback shows and hides, how it ends."""

from __future__ import annotations

import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse

from annotation.models import Annotator, Attempt, Batch, BatchItem
from annotation.selectors_raters import rows_of
from annotation.services.settings import settings_of
from dialogues.models import Dialogue, Kind
from studies.models import EndState, Participant, Study
from tests import factories
from tests.annotation.test_calibration import ACCENT, RHYTHM, STRESS, calibrating, finish
from tests.annotation.walking import Walker, words
from turingsite.desk.annotator_sheet import sheet_context

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def walker_of(study: Study) -> Walker:
    walker = Walker(factories.ParticipantFactory(study=study))
    walker.read_guidelines()
    return walker


def start(walker: Walker) -> Batch:
    answer = walker.post("calibration/")
    assert answer.url == reverse("annotation:batch", args=[walker.slug])
    return Batch.objects.exclude(state=Batch.State.FINISHED).get(annotator__participant=walker.participant)


def calibrate(walker: Walker, values: dict[str, int | None], choice: str = "human") -> str:
    """One batch scored alike; the page that comes after it."""
    batch = start(walker)
    finish(batch, values, choice)
    return walker.page(f"batch/{batch.number}/")


def test_guidelines_come_before_calibration() -> None:
    study, _settings = calibrating()
    walker = Walker(factories.ParticipantFactory(study=study))
    assert walker.get("calibration/").url == reverse("annotation:guidelines", args=[study.slug])
    assert walker.post("calibration/").url == reverse("annotation:guidelines", args=[study.slug])
    assert not Batch.objects.exists()


def test_the_intro_says_how_many_which_limits_and_which_try() -> None:
    study, _settings = calibrating(
        calibration_dialogues=10, batch_size=5, calibration_difference=1.0, calibration_clear=0.6
    )
    page = words(walker_of(study).page("calibration/"))
    assert "10 dialogues · in batches of 5" in page
    assert "by at most 1 on average" in page
    assert "at least 60 % of the time" in page
    assert "This is number 1 of 3, each with new dialogues." in page
    assert "paid" not in page


def test_a_paying_study_says_that_the_time_is_paid() -> None:
    study, _settings = calibrating(rate_per_hour=30)
    assert "The time is paid like all other work." in words(walker_of(study).page("calibration/"))


def test_starting_twice_gives_one_batch() -> None:
    study, _settings = calibrating()
    walker = walker_of(study)
    assert start(walker) == start(walker)
    assert Batch.objects.count() == 1


def test_feedback_shows_where_scores_differ_the_largest_first() -> None:
    study, _settings = calibrating(known={RHYTHM: 5, STRESS: 2, ACCENT: None, "intonation": 4})
    page = calibrate(walker_of(study), {RHYTHM: 4, STRESS: 5, ACCENT: 2, "intonation": 4})
    rows = [words(row) for row in re.findall(r"<summary>(.*?)</summary>", page, re.DOTALL)]
    assert len(rows) == 6  # three differ in each of two dialogues; intonation is as known
    assert rows[:3] == [
        "Stress You: 5 · agreed: 2 · on the other side 2 5",
        "Rhythm You: 4 · agreed: 5 4 5",
        "Accent You: 2 · agreed: no evidence 2",
    ]
    assert "None or misplaced" in page  # a pole of stress, with its description
    assert rows[3:] == rows[:3]


def test_a_middle_score_and_no_evidence_are_on_neither_side_of_a_clear_one() -> None:
    study, _settings = calibrating(known={RHYTHM: 5, STRESS: 2, ACCENT: 3})
    page = calibrate(walker_of(study), {RHYTHM: 3, STRESS: None, ACCENT: 1})
    rows = [words(row) for row in re.findall(r"<summary>(.*?)</summary>", page, re.DOTALL)]
    assert rows[:3] == [
        "Rhythm You: 3 · agreed: 5 · on neither side 3 5",
        "Accent You: 1 · agreed: 3 1 3",
        "Stress You: no evidence · agreed: 2 · on neither side 2",
    ]


def test_figures_so_far_stand_beside_the_limits() -> None:
    # Two of four dialogues: rhythm 1 off and right, stress 3 off and wrong. Mean 2, two of four right.
    study, _settings = calibrating(known={RHYTHM: 5, STRESS: 2})
    page = words(calibrate(walker_of(study), {RHYTHM: 4, STRESS: 5}))
    assert "After 2 of 4 dialogues" in page
    assert "Average difference from the agreed scores 2.00 △ not yet at most 1" in page
    assert "Clear scores on the same side 50 % (2 of 4) △ not yet at least 60 %" in page


def test_the_sound_can_be_heard_again() -> None:
    study, _settings = calibrating()
    walker = walker_of(study)
    page = calibrate(walker, {RHYTHM: 4})
    tokens = set(re.findall(r'<audio[^>]+src="/media/([^"]+)"', page))
    given = BatchItem.objects.filter(batch__annotator__participant=walker.participant)
    assert tokens == set(given.values_list("exposure__token", flat=True))


def test_all_as_known_is_said_in_words() -> None:
    study, _settings = calibrating(known={RHYTHM: 4})
    page = words(calibrate(walker_of(study), {RHYTHM: 4}))
    assert page.count("All your scores are the agreed ones.") == 2


def test_passing_leads_to_the_work() -> None:
    study, _settings = calibrating(known={RHYTHM: 4}, references=4)
    walker = walker_of(study)
    calibrate(walker, {RHYTHM: 4})
    page = calibrate(walker, {RHYTHM: 4})
    assert "You have passed" in page
    assert reverse("annotation:play", args=[study.slug]) in page
    assert Annotator.objects.get().state == Annotator.State.WORKING
    assert walker.get("calibration/").url == reverse("annotation:play", args=[study.slug])


def test_not_passing_leads_to_a_try_with_other_dialogues() -> None:
    study, _settings = calibrating(known={RHYTHM: 5}, references=8)
    walker = walker_of(study)
    calibrate(walker, {RHYTHM: 1})
    page = words(calibrate(walker, {RHYTHM: 1}))
    assert "Not close enough yet" in page
    assert "You can try 2 times more, with new dialogues." in page
    assert "This is number 2 of 3" in words(walker.page("calibration/"))
    before = set(BatchItem.objects.values_list("dialogue", flat=True))
    again = start(walker)
    assert again.attempt is not None
    assert again.attempt.number == 2
    assert not before & set(again.items.values_list("dialogue", flat=True))


def test_after_the_last_try_kind_words_and_an_end_that_is_paid() -> None:
    study, _settings = calibrating(known={RHYTHM: 5}, references=8, calibration_tries=1, rate_per_hour=20)
    walker = walker_of(study)
    calibrate(walker, {RHYTHM: 1})
    page = words(calibrate(walker, {RHYTHM: 1}))
    assert "It stops here, with our thanks" in page
    assert "All the time you have spent on it is paid." in page
    assert "Try again" not in page
    assert Participant.objects.get(pk=walker.participant.pk).end_state == EndState.FAILED_CHECK
    assert "It stops here, with our thanks" in words(walker.page("calibration/"))
    assert walker.post("calibration/").status_code == 302
    assert Attempt.objects.count() == 1
    assert walker.client.get(reverse("studies:go", args=[study.slug])).url == reverse(
        "studies:debrief", args=[study.slug]
    )


def test_material_that_runs_out_is_told_as_ours_and_ends_nothing() -> None:
    study, _settings = calibrating(known={RHYTHM: 5}, references=6, rate_per_hour=20)
    walker = walker_of(study)
    calibrate(walker, {RHYTHM: 1})
    page = words(calibrate(walker, {RHYTHM: 1}))
    assert "at the moment we have run out of them" in page
    page = words(walker.page("calibration/"))
    assert "We have run out of dialogues" in page
    assert "This is our doing, not yours." in page
    assert "is paid, whether you come back or not" in page
    assert "It stops here" not in page
    assert walker.post("calibration/").url == reverse("annotation:calibration", args=[study.slug])
    assert Participant.objects.get(pk=walker.participant.pk).end_state == ""
    for _ in range(2):
        factories.known_dialogue(study)
    start(walker)


def skip(walker: Walker, how: str) -> tuple[int, dict[str, Any]]:
    """Leave the item in hand out, as the page does; status and body."""
    walker.get("batch/")
    item = BatchItem.objects.filter(state="open", batch__annotator__participant=walker.participant)
    url = walker.url(f"item/{item.order_by('batch', 'position')[0].code}/{how}/")
    answer = walker.client.post(url, {"why": "no_sound"}, content_type="application/json")
    return answer.status_code, answer.json()


def test_nobody_chooses_what_they_are_measured_on() -> None:
    study, settings = calibrating(references=30, calibration_dialogues=6, batch_size=3)
    walker = walker_of(study)
    start(walker)
    for how in ("known", "failed", "known"):
        assert skip(walker, how)[0] == 200
    for how in ("known", "failed"):
        status, body = skip(walker, how)
        assert (status, body["error"]["code"]) == (409, "left_out_enough")
    assert BatchItem.objects.filter(state="skipped").count() == 3
    item = BatchItem.objects.filter(state="open").order_by("position")[0]
    walker.post(f"item/{item.code}/known/")
    assert "Please score this one all the same." in words(walker.page("batch/"))
    person = Annotator.objects.get()
    (row,) = rows_of(settings)
    assert [flag.key for flag in row.flags] == ["left_out"]
    assert flags_on_the_sheet(settings, person) == ["left_out"]


def flags_on_the_sheet(settings: Any, person: Annotator) -> list[str]:
    return [flag.key for flag in sheet_context(settings, person, ZoneInfo("UTC"))["flags"]]


def test_a_sound_that_fails_all_the_time_halts_calibration_for_a_while() -> None:
    study, _settings = calibrating(references=40, calibration_dialogues=6, batch_size=6)
    walker = walker_of(study)
    start(walker)
    for _ in range(6):
        assert skip(walker, "failed")[0] == 200
    pause = reverse("annotation:pause", args=[study.slug])
    assert walker.get("batch/").url == pause
    assert walker.client.get(pause).context["reason"] == "sound"
    assert walker.post("calibration/").url == pause
    assert Batch.objects.count() == 1
    BatchItem.objects.update(opened_at=factories.NOW)  # long ago
    walker.get("batch/")
    assert Batch.objects.count() == 2


def test_nobody_begins_while_the_study_or_the_person_is_paused() -> None:
    study, _settings = calibrating()
    walker = walker_of(study)
    Study.objects.filter(pk=study.pk).update(status=Study.Status.PAUSED)
    assert walker.post("calibration/").status_code == 302
    Study.objects.filter(pk=study.pk).update(status=Study.Status.OPEN)
    Annotator.objects.update(paused_at=factories.NOW, paused_reason="Let us talk first")
    assert walker.post("calibration/").status_code == 302
    assert not Batch.objects.exists()


def test_a_study_that_stopped_calibrating_sends_people_to_work() -> None:
    study, settings = calibrating()
    walker = walker_of(study)
    type(settings).objects.update(calibration=False)
    assert walker.get("calibration/").url == reverse("annotation:play", args=[study.slug])
    assert walker.post("calibration/").url == reverse("annotation:play", args=[study.slug])
    assert not Batch.objects.exists()


def test_another_persons_batch_is_not_there() -> None:
    study, _settings = calibrating()
    walker = walker_of(study)
    calibrate(walker, {RHYTHM: 4})
    assert walker_of(study).get("batch/1/").status_code == 404


def test_pages_are_the_same_whatever_speaker_b_is() -> None:
    """The same known and own scores on dialogues of every kind: pages differ in codes alone."""
    pages: dict[str, set[str]] = {}
    for kind in Kind.values:
        study = factories.StudyFactory(slug=f"kind-{kind.replace('_', '-')}", activities=["annotation"])
        factories.AnnotationSettingsFactory(
            study=study, calibration=True, calibration_dialogues=4, batch_size=2
        )
        for _ in range(4):
            factories.known_dialogue(study, {RHYTHM: 5, STRESS: 2}, kind=kind)
        walker = walker_of(study)
        shown = [walker.page("calibration/"), walker.page("guidelines/")]
        for choice in ("human", "machine"):
            shown += [
                calibrate(walker, {RHYTHM: 4, STRESS: 4}, choice),
                walker.get("calibration/").content.decode(),
            ]
        secrets = {
            study.slug,
            *Dialogue.objects.filter(study_items__study=study).values_list("code", flat=True),
        }
        pages[kind] = {plain(page, study.slug) for page in shown}
        text = " ".join(shown)
        assert not any(code in text for code in secrets - {study.slug})
    assert len({frozenset(shown) for shown in pages.values()}) == 1


def plain(page: str, slug: str) -> str:
    """A page without what differs from person to person."""
    page = page.replace(slug, "SLUG")
    page = re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]+"', r"\1", page)
    page = re.sub(r'(name="stamp" value=)"[^"]+"', r"\1", page)
    return re.sub(r"/media/[\w-]+", "/media/TOKEN", page)


def test_settings_of_the_study_decide_not_the_defaults() -> None:
    study, _settings = calibrating(calibration_tries=7)
    assert settings_of(study).calibration_tries == 7
    assert "number 1 of 7" in words(walker_of(study).page("calibration/"))
