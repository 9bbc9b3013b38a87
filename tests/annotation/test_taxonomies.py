"""Taxonomies: the one that ships, copies, and that words people work by never change."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Dimension, Taxonomy
from annotation.services.settings import prepare
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy, freeze, refuse_frozen
from tests.factories import NOW, StudyFactory
from turingsite.errors import Conflict


@pytest.mark.both
@pytest.mark.django_db
def test_the_shipped_taxonomy_is_stored_once() -> None:
    first, second = default_taxonomy(), default_taxonomy()
    assert first == second
    assert first.dimensions.count() == 18
    assert [c.dimensions.count() for c in first.categories.all()] == [7, 4, 3, 2, 2]
    assert set(first.scale) == {"0", "1", "2", "3", "4", "5"}
    assert len(first.sha256) == 64


@pytest.mark.both
@pytest.mark.django_db
def test_words_people_work_by_never_change() -> None:
    taxonomy = default_taxonomy()
    freeze(taxonomy=taxonomy, now=NOW)
    for change in (
        lambda: Taxonomy.objects.filter(pk=taxonomy.pk).update(title_en="Something else"),
        lambda: Dimension.objects.filter(taxonomy=taxonomy).update(low_en="Something else"),
        lambda: taxonomy.categories.update(name_en="Something else"),
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            change()
    with pytest.raises(Conflict):
        refuse_frozen(taxonomy)


@pytest.mark.both
@pytest.mark.django_db
def test_a_copy_can_be_edited_and_the_study_moves_to_it() -> None:
    study = StudyFactory()
    settings = prepare(study)
    freeze(taxonomy=settings.taxonomy, now=NOW)
    copy = copy_taxonomy(taxonomy=settings.taxonomy, study=study)
    assert (copy.study, copy.copied_from, copy.version) == (study, settings.taxonomy, 1)
    assert list(copy.dimensions.values_list("key", "low_zh")) == list(
        settings.taxonomy.dimensions.values_list("key", "low_zh")
    )
    assert all(one.category.taxonomy_id == copy.pk for one in copy.dimensions.select_related("category"))
    copy.dimensions.update(low_en="Something else")
    assert copy_taxonomy(taxonomy=copy, study=study).version == 2
