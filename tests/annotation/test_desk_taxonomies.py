"""Taxonomies on the desk over HTTP: reading, copying, editing a copy, choosing, files."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotation.models import Taxonomy
from annotation.services.settings import prepare, settings_of
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy, freeze
from studies.models import AuditLine, Study
from tests import factories
from tests.factories import NOW


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def study(cast: Any) -> Study:
    made = factories.StudyFactory(slug="mine", languages=["en", "zh"])
    factories.StudyMemberFactory(study=made, user=cast.researcher)
    prepare(made)
    return made


@pytest.fixture
def copy(study: Study) -> Taxonomy:
    return copy_taxonomy(taxonomy=default_taxonomy(), study=study)


@pytest.fixture
def researcher(client: Any, cast: Any, study: Study) -> Any:
    client.force_login(cast.researcher)
    return client


def page(taxonomy: Taxonomy, name: str = "taxonomy", *more: object) -> str:
    return url(name, "mine", taxonomy.name, taxonomy.version, *more)


DIMENSION = {
    "category": "emotion", "key": "warmth", "name_en": "Warmth", "name_zh": "温度", "low_en": "Cold",
    "low_zh": "冷", "high_en": "Warm", "high_zh": "暖", "examples_en": "1: “No.”\n\n 5: “Sure!” ",
}  # fmt: skip


def test_all_words_are_shown_in_both_languages(researcher: Any) -> None:
    text = researcher.get(page(default_taxonomy())).content.decode()
    for words in ("Loses what was said", "忘记或弄错前文", "No leaning", "无倾向", "Ships with the product."):
        assert words in text, words
    assert "Edit words" not in text


def test_the_shipped_one_is_copied_and_the_copy_edited(researcher: Any, study: Study) -> None:
    shipped = default_taxonomy()
    assert researcher.get(page(shipped, "taxonomy_words")).status_code == 404
    done = researcher.post(page(shipped), {"do": "copy"})
    made = Taxonomy.objects.get(study=study)
    assert done.url == page(made)
    assert "Yours to edit." in researcher.get(done.url).content.decode()
    assert AuditLine.objects.get(action="taxonomy.copied").target == str(made)


def test_a_dimension_is_added_changed_moved_and_taken_out(researcher: Any, copy: Taxonomy) -> None:
    assert researcher.post(page(copy, "taxonomy_dimension_new"), DIMENSION).status_code == 302
    row = copy.dimensions.get(key="warmth")
    assert (row.position, row.category.key, row.examples_en) == (19, "emotion", ["1: “No.”", "5: “Sure!”"])
    changed = DIMENSION | {"category": "semantics", "low_en": "Icy"}
    researcher.post(page(copy, "taxonomy_dimension", "warmth"), changed)
    row.refresh_from_db()
    assert (row.position, row.category.key, row.low_en) == (8, "semantics", "Icy")
    researcher.post(page(copy), {"do": "up", "sort": "dimension", "key": "warmth"})
    row.refresh_from_db()
    assert row.position == 7
    assert sorted(copy.dimensions.values_list("position", flat=True)) == list(range(1, 20))
    researcher.post(page(copy), {"do": "remove", "sort": "dimension", "key": "warmth"})
    assert not copy.dimensions.filter(key="warmth").exists()


def test_categories_are_added_moved_and_taken_out_when_empty(researcher: Any, copy: Taxonomy) -> None:
    data = {"key": "humour", "name_en": "Humour", "name_zh": "幽默"}
    researcher.post(page(copy, "taxonomy_category_new"), data)
    researcher.post(page(copy), {"do": "up", "sort": "category", "key": "humour"})
    assert list(copy.categories.order_by("position").values_list("key", flat=True))[-2:] == [
        "humour",
        "emotion",
    ]
    told = researcher.post(page(copy), {"do": "remove", "sort": "category", "key": "emotion"}, follow=True)
    assert "Move or remove its dimensions first." in told.content.decode()
    researcher.post(page(copy), {"do": "remove", "sort": "category", "key": "humour"})
    assert copy.categories.count() == 5
    researcher.post(page(copy, "taxonomy_category", "emotion"), {"key": "feeling", "name_en": "Feeling"})
    assert copy.categories.get(key="feeling").name_zh == ""
    assert "Chinese is missing:" in researcher.get(page(copy)).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("key", "rhythm"), ("key", "Not a key"), ("low_en", ""), ("high_en", " "), ("category", "nothing")],
)
def test_wrong_words_are_told_at_their_field(researcher: Any, copy: Taxonomy, field: str, value: str) -> None:
    answer = researcher.post(page(copy, "taxonomy_dimension_new"), DIMENSION | {field: value})
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    assert copy.dimensions.count() == 18


def words_of(answer: Any) -> dict[str, Any]:
    """What the page of words would send as it is."""
    form, rows = answer.context["form"], answer.context["rows"]
    data = {field.html_name: field.value() or "" for one in (form, *rows) for field in one}
    data |= {field.html_name: field.value() for field in rows.management_form}
    return {name: value for name, value in data.items() if not name.endswith("DELETE")}


def test_words_and_guidelines_are_edited(researcher: Any, copy: Taxonomy) -> None:
    address = page(copy, "taxonomy_words")
    sent = words_of(researcher.get(address))
    researcher.post(address, sent)
    before = copy.guidelines
    copy.refresh_from_db()
    assert copy.guidelines == before
    last = len(before["sections"])
    sent |= {
        "title_en": "Mine", "scale_0_en": "Not heard", "section-1-DELETE": "on",
        f"section-{last}-title_en": "New", f"section-{last}-text_en": "Listen **twice**.",
        f"section-{last}-ORDER": "1", "section-0-ORDER": "2",
    }  # fmt: skip
    assert researcher.post(address, sent).status_code == 302
    copy.refresh_from_db()
    assert (copy.title_en, copy.scale["0"]["en"]) == ("Mine", "Not heard")
    titles = [one["title"]["en"] for one in copy.guidelines["sections"]]
    assert titles[:2] == ["New", before["sections"][0]["title"]["en"]]
    assert len(titles) == last
    wrong = researcher.post(address, sent | {"scale_4_en": ""})
    assert wrong.status_code == 400


def test_what_people_work_by_is_frozen(researcher: Any, copy: Taxonomy) -> None:
    freeze(taxonomy=copy, now=NOW)
    text = researcher.get(page(copy)).content.decode()
    assert "Frozen." in text
    assert "Edit words" not in text
    assert researcher.post(page(copy, "taxonomy_dimension_new"), DIMENSION).status_code == 409
    told = researcher.post(page(copy), {"do": "remove", "sort": "dimension", "key": "rhythm"}, follow=True)
    assert "People work by this version already." in told.content.decode()
    assert copy.dimensions.count() == 18


def test_a_version_is_chosen_until_people_have_annotated(
    researcher: Any, study: Study, copy: Taxonomy
) -> None:
    researcher.post(page(copy), {"do": "choose"})
    assert settings_of(study).taxonomy == copy
    factories.BatchFactory(annotator__participant__study=study)
    told = researcher.post(page(default_taxonomy()), {"do": "choose"}, follow=True).content.decode()
    assert "can&#x27;t be changed any more" in told
    assert settings_of(study).taxonomy == copy


def test_other_studies_words_are_not_found(researcher: Any, study: Study) -> None:
    other = factories.StudyFactory()
    theirs = copy_taxonomy(taxonomy=default_taxonomy(), study=other)
    for name in ("taxonomy", "taxonomy_yaml", "taxonomy_words"):
        assert researcher.get(page(theirs, name)).status_code == 404


def test_files_are_saved_and_loaded_with_lines_of_what_is_wrong(
    researcher: Any, study: Study, copy: Taxonomy
) -> None:
    saved = researcher.get(page(copy, "taxonomy_yaml"))
    assert f'filename="{copy.name}-v1.yaml"' in saved["Content-Disposition"]
    text = saved.content.decode()
    wrong = text.replace("key: rhythm", "key: fillers")
    line = wrong[: wrong.rindex("key: fillers")].count("\n") + 1
    upload = {"upload": SimpleUploadedFile("x.yaml", wrong.encode())}
    told = researcher.post(url("taxonomy_file", "mine"), upload)
    assert told.status_code == 400
    assert [one.line for one in told.context["problems"]] == [line]
    assert Taxonomy.objects.filter(study=study).count() == 1
    loaded = researcher.post(url("taxonomy_file", "mine"), {"text": text.replace("\n", "\r\n")})
    made = Taxonomy.objects.get(study=study, version=2)
    assert loaded.url == page(made)
    assert made.dimensions.count() == 18
    empty = researcher.post(url("taxonomy_file", "mine"), {"text": ""})
    assert empty.status_code == 400
