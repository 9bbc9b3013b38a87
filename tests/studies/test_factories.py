"""The factories make rows that the database's own rules accept, all of them in one go."""

from __future__ import annotations

import pytest
from django.db.models import JSONField
from factory.django import DjangoModelFactory

from tests import factories

FACTORIES = [
    value
    for value in vars(factories).values()
    if isinstance(value, type) and issubclass(value, DjangoModelFactory) and value is not DjangoModelFactory
]


@pytest.mark.both
@pytest.mark.django_db
@pytest.mark.parametrize("make", FACTORIES, ids=lambda factory: factory.__name__)
def test_a_factory_makes_two_valid_rows(make):
    for row in (make(), make()):
        # An empty list or object is what most JSON fields start with, allowed in a form or not.
        row.full_clean(exclude=[f.name for f in row._meta.fields if isinstance(f, JSONField)])


def test_the_cast_meets_in_one_study(cast):
    assert cast.participant.study == cast.annotator.study == cast.study
    assert cast.participant.rater.participant == cast.participant
    assert not cast.study.members.filter(user=cast.stranger).exists()
