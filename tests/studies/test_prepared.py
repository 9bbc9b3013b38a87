"""A prepared query gives what the plain query gives, whatever it is asked and whoever asks first."""

from __future__ import annotations

import threading

import pytest
from django.db import connection
from django.forms.models import model_to_dict

from studies.models import Participant
from studies.prepared import (
    Prepared,
    PreparedCreate,
    PreparedInsert,
    PreparedRows,
    PreparedUpdate,
    PreparedValues,
)
from tests import factories

pytestmark = [pytest.mark.both, pytest.mark.django_db]


def by_code() -> Prepared[Participant]:
    return Prepared(
        lambda slug, key: Participant.objects.select_related("study", "rater").filter(
            study__slug=slug, resume_code=key, consented_at__isnull=False
        ),
        slug="?slug?",
        key="?key?",
    )


def test_row_and_related_rows_equal_those_of_the_plain_query(django_assert_num_queries) -> None:
    prepared = by_code()
    people = [
        factories.ParticipantFactory(recruiter={"id": f"p{number}"}, is_test=number == 1)
        for number in range(3)
    ]
    for person in people:
        plain = Participant.objects.select_related("study", "rater").get(pk=person.pk)
        with django_assert_num_queries(1):
            found = prepared.get(slug=person.study.slug, key=person.resume_code)
            assert found is not None
            assert (found.study.pk, found.rater.pk) == (plain.study.pk, plain.rater.pk)
        for one, other in ((found, plain), (found.study, plain.study), (found.rater, plain.rater)):
            assert model_to_dict(one) == model_to_dict(other)
        assert found.joined_at == plain.joined_at
        assert found._state.db == "default"
        assert not found._state.adding


def test_no_row_is_none() -> None:
    person = factories.ParticipantFactory()
    assert by_code().get(slug="elsewhere", key=person.resume_code) is None


def test_missing_related_row_is_missing_as_in_the_plain_query() -> None:
    person = factories.ParticipantFactory(rater=None)
    found = by_code().get(slug=person.study.slug, key=person.resume_code)
    assert found is not None
    assert not hasattr(found, "rater")


def test_values_are_values_and_no_sql() -> None:
    person = factories.ParticipantFactory()
    assert by_code().get(slug=person.study.slug, key="' OR 1=1 --") is None


def test_a_sample_without_a_place_is_refused() -> None:
    prepared = Prepared(
        lambda slug, key: Participant.objects.filter(study__slug=slug), slug="?slug?", key="?key?"
    )
    with pytest.raises(ValueError, match="key"):
        prepared.get(slug="a", key="b")


def test_values_equal_those_of_the_plain_query() -> None:
    names = ("pk", "joined_at", "recruiter", "is_test", "study__slug", "rater__id")
    prepared = PreparedValues(
        lambda key: Participant.objects.filter(resume_code=key).values_list(*names), key="?key?"
    )
    for number in range(2):
        person = factories.ParticipantFactory(recruiter={"id": f"p{number}"})
        plain = Participant.objects.filter(pk=person.pk).values_list(*names).get()
        assert prepared.get(key=person.resume_code) == plain
    assert prepared.get(key="nobody's") is None


def test_deferred_fields_stay_deferred_and_can_be_read() -> None:
    person = factories.ParticipantFactory(recruiter={"id": "p"})
    prepared = Prepared(
        lambda key: (
            Participant.objects.select_related("study")
            .defer("recruiter", "study__seed")
            .filter(resume_code=key)
        ),
        key="?key?",
    )
    found = prepared.get(key=person.resume_code)
    assert found is not None
    assert found.get_deferred_fields() == {"recruiter"}
    assert found.study.get_deferred_fields() == {"seed"}
    assert (found.recruiter, found.study.seed) == ({"id": "p"}, person.study.seed)


@pytest.mark.django_db(transaction=True)
def test_threads_share_the_plan_and_use_their_own_connection() -> None:
    prepared = by_code()
    people = [factories.ParticipantFactory() for _ in range(4)]
    wrong: list[str] = []

    def look(person: Participant) -> None:
        for _ in range(20):
            found = prepared.get(slug=person.study.slug, key=person.resume_code)
            if found is None or found.pk != person.pk:
                wrong.append(person.code)
        connection.close()

    threads = [threading.Thread(target=look, args=(person,)) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_rows_are_all_rows_in_the_order_of_the_plain_query() -> None:
    study = factories.StudyFactory()
    people = [factories.ParticipantFactory(study=study) for _ in range(3)]
    prepared = PreparedRows(
        lambda study: (
            Participant.objects.filter(study=study).order_by("-code").values_list("code", "recruiter")
        ),
        study=-1,
    )
    assert prepared.all(study=study.pk) == sorted(((one.code, {}) for one in people), reverse=True)
    assert prepared.all(study=0) == []


def test_a_prepared_insert_stores_what_the_plain_one_does() -> None:
    plain = factories.ParticipantFactory(rater=None, recruiter={"id": "p"}, is_test=True)
    twin = Participant(**{f.attname: getattr(plain, f.attname) for f in plain._meta.concrete_fields})
    twin.pk, twin.code, twin.resume_code, twin.receipt_code = None, "T", "TR", "TC"
    PreparedInsert(Participant).write(twin)
    stored = Participant.objects.get(code="T")
    own = {"id": stored.pk, "code": "T", "resume_code": "TR", "receipt_code": "TC"}
    assert model_to_dict(stored) == model_to_dict(plain) | own
    assert stored.joined_at == plain.joined_at


def test_a_prepared_create_gives_the_row_its_key() -> None:
    first, second = factories.ParticipantFactory(rater=None), factories.ParticipantFactory.build()
    second.study, second.consented_at = first.study, first.consented_at
    PreparedCreate(Participant).write(second)
    stored = Participant.objects.get(code=second.code)
    assert second.pk == stored.pk != first.pk
    assert model_to_dict(second) == model_to_dict(stored)
    second.recruiter = {"id": "p"}
    second.save(update_fields=["recruiter"])  # a row that is there, not one to be added
    assert Participant.objects.get(pk=stored.pk).recruiter == {"id": "p"}


def test_a_prepared_update_writes_where_the_row_is_as_it_was_read() -> None:
    person, other = factories.ParticipantFactory(), factories.ParticipantFactory()
    update = PreparedUpdate(Participant, "completed_at", "recruiter", guard="joined_at")
    later = factories.NOW.replace(year=2027)
    assert update.write(person.pk, later, {"id": "p"}, was=person.joined_at)
    assert not update.write(person.pk, None, {}, was=later)
    person.refresh_from_db()
    other.refresh_from_db()
    assert (person.completed_at, person.recruiter) == (later, {"id": "p"})
    assert (other.completed_at, other.recruiter) == (None, {})
