"""Nicknames: readable, no trap for a spreadsheet, and none that passes for another's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies import services
from studies.models import Participant
from studies.services.naming import clean, look_alike_key
from tests import factories
from turingsite.errors import Conflict, DomainError, Invalid


@pytest.fixture
def two(db):
    study = factories.StudyFactory()
    return [factories.ParticipantFactory(study=study) for _n in range(2)]


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("Sparrow", "Sparrow"),
        ("  two   words  ", "two words"),
        ("小麻雀", "小麻雀"),
        ("Zoë", "Zoë"),
        ("a-b + c", "a-b + c"),
        ("<b>&amp;", "<b>&amp;"),  # escaped where it is shown
        ("x" * 24, "x" * 24),
        ("", ""),
        ("   ", ""),
    ],
)
@pytest.mark.both
def test_a_name_is_stored_trimmed(two, typed, stored):
    assert services.set_nickname(participant=two[0], nickname=typed) == stored
    assert Participant.objects.get(pk=two[0].pk).nickname == stored


@pytest.mark.parametrize(
    "typed",
    [
        "x" * 25,
        "x" * 10_000,
        "=SUM(A1)",
        "+1",
        "-1",
        "@here",
        "＝1",
        "\t=1",
        "a\nb",
        "a\x00b",
        "abc\u202etxt",  # turns the direction
        "a\u200bb",  # takes no space
        "\u2066a",
        "a\ufe0fb",
        "\u3164",  # a letter that cannot be seen
        "x\u0301\u0302\u0303",
        "\ud800",
    ],
)
def test_a_name_that_cannot_stand_is_refused_with_the_field(two, typed):
    with pytest.raises(Invalid) as error:
        services.set_nickname(participant=two[0], nickname=typed)
    assert error.value.code == "bad_nickname"
    assert "nickname" in error.value.fields
    assert Participant.objects.get(pk=two[0].pk).nickname == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Sparrow", "sparrow"),
        ("Sparrow", "Spаrrоw"),  # Cyrillic а and о
        ("Sparrow", "Ｓｐａｒｒｏｗ"),
        ("Sparrow", "Sparr0w"),
        ("Sparrow", "S p a r r o w"),
        ("Sparrow", "Sparrow."),
        ("Ivan", "lvan"),
        ("modern", "rnodern"),
        ("Jose", "José"),
        ("Ἀlpha", "Alpha"),
    ],
)
@pytest.mark.both
def test_a_look_alike_of_another_name_is_refused_in_the_study_only(two, first, second):
    services.set_nickname(participant=two[0], nickname=first)
    with pytest.raises(Conflict) as error:
        services.set_nickname(participant=two[1], nickname=second)
    assert error.value.code == "nickname_taken"
    assert Participant.objects.get(pk=two[1].pk).nickname == ""
    services.set_nickname(participant=factories.ParticipantFactory(), nickname=second)


@pytest.mark.parametrize(
    ("first", "second"), [("Sparrow", "Swallow"), ("小麻雀", "大麻雀"), ("😀😀", "😀"), ("", "")]
)
@pytest.mark.both
def test_different_names_live_side_by_side(two, first, second):
    services.set_nickname(participant=two[0], nickname=first)
    services.set_nickname(participant=two[1], nickname=second)


@pytest.mark.both
def test_one_may_change_the_spelling_of_ones_own_name_or_drop_it(two):
    services.set_nickname(participant=two[0], nickname="Sparrow")
    assert services.set_nickname(participant=two[0], nickname="SPARROW") == "SPARROW"
    services.set_nickname(participant=two[0], nickname="")
    services.set_nickname(participant=two[1], nickname="Sparrow")


@given(st.text(max_size=60))
def test_whatever_is_typed_is_refused_or_harmless(typed):
    try:
        name = clean(typed)
    except DomainError:
        return
    assert len(name) <= 24
    assert name == name.strip()
    assert not name.startswith(("=", "+", "-", "@"))
    assert len(look_alike_key(name)) <= 100
    assert bool(look_alike_key(name)) == bool(name)
    assert clean(name) == name
