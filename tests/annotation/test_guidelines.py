"""The guidelines: shown with the study's own limits, confirmed once for the words that were read."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.urls import reverse

from annotation.models import AnnotationSettings, Annotator, GuidelineConfirmation, Taxonomy
from annotation.services.guidelines import hash_of, stamp
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy
from studies.models import Study
from tests import factories
from tests.annotation.walking import Walker, stamp_in, words
from tests.factories import NOW

pytestmark = [pytest.mark.both, pytest.mark.django_db]
State = Annotator.State


@pytest.fixture
def study() -> Study:
    made: Study = factories.StudyFactory(slug="read", languages=["en"], activities=["annotation"])
    factories.AnnotationSettingsFactory(
        study=made,
        calibration=True,
        calibration_difference=0.75,
        calibration_clear=0.55,
        calibration_dialogues=12,
    )
    return made


@pytest.fixture
def walker(study: Study) -> Walker:
    return Walker(factories.ParticipantFactory(study=study))


def annotator_of(walker: Walker) -> Annotator:
    return Annotator.objects.get(participant=walker.participant)


def test_the_limits_in_the_text_are_the_studys(walker: Walker) -> None:
    page = words(walker.page("guidelines/"))
    assert "over at least 12 dialogues" in page
    assert "by no more than 0.75 on average" in page
    assert "at least 55 % of the time" in page
    assert "{" not in page.replace("{ n }", "")


def test_a_study_that_does_not_calibrate_describes_no_calibration(study: Study, walker: Walker) -> None:
    assert "Before the work come a few batches" in words(walker.page("guidelines/"))
    AnnotationSettings.objects.filter(study=study).update(calibration=False)
    page = words(walker.page("guidelines/"))
    assert "Before the work come a few batches" not in page
    assert "Calibration" not in page
    assert "Batches and breaks" in page


def test_every_dimension_is_there_with_poles_description_and_examples(walker: Walker) -> None:
    page = walker.page("guidelines/")
    dimensions = list(default_taxonomy().dimensions.all())
    assert page.count("<details") == len(dimensions) == 18
    plain = words(page).replace("&quot;", '"').replace("&#x27;", "'")
    for one in dimensions:
        for text in (one.name_en, one.low_en, one.high_en, one.description_en, *one.examples_en):
            assert text in plain, one.key
    order = [plain.index(category.name_en) for category in default_taxonomy().categories.order_by("position")]
    assert order == sorted(order)


def test_markdown_of_the_sections_is_rendered_and_nothing_typed_is_html(study: Study, walker: Walker) -> None:
    settings = AnnotationSettings.objects.get(study=study)
    copy = copy_taxonomy(taxonomy=settings.taxonomy, study=study)
    copy.guidelines = {
        "sections": [{"title": {"en": "<i>T</i>"}, "text": {"en": "**bold** <script>alert(1)</script>"}}]
    }
    copy.save()
    AnnotationSettings.objects.filter(study=study).update(taxonomy=copy)
    page = walker.page("guidelines/")
    assert "<strong>bold</strong> &lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;i&gt;T&lt;/i&gt;" in page


def test_chinese_readers_get_chinese_words(study: Study) -> None:
    walker = Walker(factories.ParticipantFactory(study=study), accept_language="zh-CN")
    page = walker.page("guidelines/")
    assert "您要做什么" in page
    assert "记忆一致性" in page
    assert "不低于 55%" in page
    walker.read_guidelines()
    assert GuidelineConfirmation.objects.get().language == "zh"


def test_confirming_stores_words_language_and_time_and_leads_on(walker: Walker) -> None:
    with time_machine.travel(NOW, tick=False) as travel:
        shown = stamp_in(walker.page("guidelines/"))
        assert annotator_of(walker).state == State.READING
        travel.shift(timedelta(seconds=240))
        answer = walker.post("guidelines/", stamp=shown)
    assert answer.url == reverse("annotation:play", args=[walker.slug])
    given = GuidelineConfirmation.objects.get()
    assert (given.annotator, given.taxonomy) == (annotator_of(walker), default_taxonomy())
    assert given.sha256 == hash_of(default_taxonomy())
    assert (given.language, given.seconds) == ("en", 240)
    assert annotator_of(walker).state == State.CALIBRATING


def test_without_calibration_the_work_comes_next(study: Study, walker: Walker) -> None:
    AnnotationSettings.objects.filter(study=study).update(calibration=False)
    walker.read_guidelines()
    assert annotator_of(walker).state == State.WORKING


def test_confirming_twice_is_confirming_once(walker: Walker) -> None:
    shown = stamp_in(walker.page("guidelines/"))
    for _ in range(2):
        assert walker.post("guidelines/", stamp=shown).status_code == 302
    assert GuidelineConfirmation.objects.count() == 1


@pytest.mark.parametrize("sent", [{}, {"stamp": ""}, {"stamp": "nonsense"}, {"stamp": "WyJhIl0:1:x"}])
def test_what_was_not_shown_cannot_be_confirmed(walker: Walker, sent: dict[str, str]) -> None:
    answer = walker.post("guidelines/", **sent)
    assert answer.status_code == 400
    assert "Load the page again" in answer.content.decode()
    assert not GuidelineConfirmation.objects.exists()
    assert annotator_of(walker).state == State.READING


def test_words_that_changed_meanwhile_are_read_again(study: Study, walker: Walker) -> None:
    shown = stamp_in(walker.page("guidelines/"))
    copy = copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    AnnotationSettings.objects.filter(study=study).update(taxonomy=copy)
    answer = walker.post("guidelines/", stamp=shown)
    assert answer.status_code == 409
    assert "have changed while you read them" in answer.content.decode()
    assert not GuidelineConfirmation.objects.exists()
    assert walker.post("guidelines/", stamp=stamp_in(answer.content.decode())).status_code == 302
    assert GuidelineConfirmation.objects.get().taxonomy == copy


def test_an_edited_copy_is_confirmed_anew(study: Study, walker: Walker) -> None:
    copy = copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    AnnotationSettings.objects.filter(study=study).update(taxonomy=copy)
    walker.read_guidelines()
    assert "Back to the work" in walker.page("guidelines/")
    Taxonomy.objects.filter(pk=copy.pk).update(summary_en="Other words")
    assert 'name="stamp"' in walker.page("guidelines/")
    walker.read_guidelines()
    assert GuidelineConfirmation.objects.filter(taxonomy=copy).count() == 2


def test_once_confirmed_they_can_be_read_again_without_a_question(walker: Walker) -> None:
    walker.read_guidelines()
    page = walker.page("guidelines/")
    assert 'name="stamp"' not in page
    assert reverse("annotation:play", args=[walker.slug]) in page


def test_without_scripts_the_button_is_open_and_stands_after_the_text(walker: Walker) -> None:
    page = walker.page("guidelines/")
    assert "aria-disabled" not in page
    assert page.rindex("</details>") < page.index("I have read this")


def test_a_clock_set_back_counts_no_negative_time(walker: Walker) -> None:
    walker.page("guidelines/")
    late = stamp(default_taxonomy(), "en", NOW + timedelta(days=400))
    with time_machine.travel(NOW, tick=False):
        walker.post("guidelines/", stamp=late)
    assert GuidelineConfirmation.objects.get().seconds == 0


def test_people_who_do_not_annotate_find_nothing_here(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(activities=["speech"])
    study.refresh_from_db()
    walker = Walker(factories.ParticipantFactory(study=study))
    for path in ("guidelines/", "calibration/"):
        assert walker.get(path).status_code == 404
        assert walker.post(path).status_code == 404
    assert not Annotator.objects.exists()


def test_language_and_profile_come_first(study: Study) -> None:
    factories.QuestionnaireFactory(study=study)
    walker = Walker(factories.ParticipantFactory(study=study))
    assert walker.get("guidelines/").url == reverse("studies:questionnaire", args=["read", "profile"])
    undecided = Walker(factories.ParticipantFactory(study=study, judging_language=""))
    assert undecided.get("guidelines/").url == reverse("studies:language", args=["read"])
