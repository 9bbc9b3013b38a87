"""Flags on the desk: counted, filtered, confirmed or rejected; dialogues taken out of play and put back."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogues.models import Dialogue, StudyItem
from dialogues.transcripts import services as transcripts
from studies.models import AuditLine
from tests import factories

pytestmark = pytest.mark.django_db


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


@pytest.fixture
def leaking(cast: Any, client: Client) -> Dialogue:
    """A dialogue of the cast's study in which B says what it is; the researcher is at the desk."""
    made: Dialogue = factories.DialogueFactory(external_id="leak", kind="human_machine")
    factories.StudyItemFactory(study=cast.study, dialogue=made)
    made.turns.filter(index=1).update(text="I'm just a program.")
    transcripts.scan(dialogue=made)
    client.force_login(cast.researcher)
    return made


def test_the_page_shows_what_was_found_and_keeps_who_decided(
    client: Client, cast: Any, leaking: Dialogue
) -> None:
    page = client.get(url("dialogue", leaking.code)).content.decode()
    assert "B says it is a machine" in page
    assert "I&#x27;m just a program" in page
    flag = leaking.flags.get(turn=None)
    for review in ("rejected", "confirmed"):
        answer = client.post(url("flag", leaking.code), {"flag": flag.pk, "review": review})
        assert answer["Location"].endswith("#flags")
        flag.refresh_from_db()
        assert (flag.review, flag.reviewed_by) == (review, cast.researcher)
        assert flag.reviewed_at is not None
        assert set(leaking.flags.values_list("review", flat=True)) == {review}
    client.post(url("flag", leaking.code), {"flag": flag.pk, "review": ""})
    flag.refresh_from_db()
    assert (flag.review, flag.reviewed_by, flag.reviewed_at) == ("", None, None)
    assert AuditLine.objects.filter(action="flag.reviewed").count() == 3


@pytest.mark.parametrize("data", [{}, {"flag": "x"}, {"flag": "9" * 30}, {"flag": "1", "review": "maybe"}])
def test_a_flag_that_is_not_there_is_told(client: Client, leaking: Dialogue, data: dict[str, str]) -> None:
    answer = client.post(url("flag", leaking.code), data, follow=True)
    assert answer.status_code == 200
    assert list(answer.context["messages"])
    assert not leaking.flags.exclude(review="").exists()


def test_another_dialogues_flag_cannot_be_decided(client: Client, leaking: Dialogue) -> None:
    other = factories.DialogueFactory()
    flag = other.flags.create(rule="duration")
    client.post(url("flag", leaking.code), {"flag": flag.pk, "review": "rejected"})
    flag.refresh_from_db()
    assert flag.review == ""


def test_a_reviewer_marks_aggressive_content_with_a_reason(
    client: Client, cast: Any, leaking: Dialogue
) -> None:
    empty = client.post(url("aggressive", leaking.code), {"reason": "  "})
    assert empty.status_code == 400
    assert empty.context["mark_form"].errors["reason"]
    client.post(url("aggressive", leaking.code), {"reason": "A threatens B."})
    client.post(url("aggressive", leaking.code), {"reason": "A threatens B, twice."})
    flag = leaking.flags.get(rule="aggressive")
    assert (flag.source, flag.review, flag.reviewed_by) == ("review", "confirmed", cast.researcher)
    assert flag.evidence == {"reason": "A threatens B, twice."}
    assert "A threatens B, twice." in client.get(url("dialogue", leaking.code)).content.decode()
    transcripts.scan(dialogue=leaking)
    assert leaking.flags.filter(rule="aggressive").exists()
    client.post(url("flag", leaking.code), {"flag": flag.pk, "review": "rejected"})  # taken back, and kept
    assert leaking.flags.get(rule="aggressive").review == "rejected"


def test_the_list_counts_rules_and_leaves_rejected_flags_out(
    client: Client, cast: Any, leaking: Dialogue
) -> None:
    short = factories.DialogueFactory(external_id="short")
    factories.StudyItemFactory(study=cast.study, dialogue=short)
    for dialogue in (short, leaking):
        dialogue.flags.create(rule="duration", value=12.0)
    factories.DialogueFactory().flags.create(rule="duration")  # of nobody here
    page = client.get(url("dialogues") + f"?study={cast.study.slug}")
    assert [(rule, n) for rule, _name, n in page.context["counts"]] == [
        ("duration", 2), ("identity-disclosure", 1),
    ]  # fmt: skip
    leaking.flags.filter(rule="duration").update(review="rejected", reviewed_at="2026-03-02T12:00Z")
    page = client.get(url("dialogues") + f"?study={cast.study.slug}&flag=duration")
    assert [row["dialogue"].external_id for row in page.context["rows"]] == ["short"]
    assert [n for _rule, _name, n in page.context["counts"]] == [1, 1]


def test_studies_are_chosen_by_title(client: Client, cast: Any, leaking: Dialogue) -> None:
    page = client.get(url("dialogues")).content.decode()
    assert f"Short conversations ({cast.study.slug})" in page
    assert f"Short conversations ({cast.study.slug})" in client.get(url("import_new")).content.decode()


class TestInPlay:
    @pytest.fixture
    def three(self, cast: Any, leaking: Dialogue) -> list[Dialogue]:
        made = [leaking]
        for name in ("one", "two"):
            made.append(factories.DialogueFactory(external_id=name))
            factories.StudyItemFactory(study=cast.study, dialogue=made[-1])
        return made

    def active(self) -> set[str]:
        return set(StudyItem.objects.filter(is_active=True).values_list("dialogue__external_id", flat=True))

    def test_what_fits_the_filters_goes_out_of_play_and_comes_back(
        self, client: Client, cast: Any, three: list[Dialogue]
    ) -> None:
        wanted = {"study": cast.study.slug, "flag": "identity-disclosure"}
        page = client.get(url("dialogues"), wanted)
        assert page.context["play"] == {"inside": 1, "outside": 0}
        answer = client.post(url("in_play"), {**wanted, "do": "take_out", "take_out_n": "1"}, follow=True)
        assert "1 dialogue is out of play." in answer.content.decode()
        assert self.active() == {"one", "two"}
        line = AuditLine.objects.get(action="items.taken_out")
        assert (line.study, line.actor, line.detail["items"]) == (cast.study, cast.researcher, 1)
        out = client.get(url("dialogues"), {"study": cast.study.slug, "play": "out"})
        assert [row["dialogue"].external_id for row in out.context["rows"]] == ["leak"]
        client.post(url("in_play"), {**wanted, "do": "put_back", "put_back_n": "1"})
        assert self.active() == {"leak", "one", "two"}

    def test_a_list_that_changed_moves_nothing(
        self, client: Client, cast: Any, three: list[Dialogue]
    ) -> None:
        data = {"study": cast.study.slug, "do": "take_out", "take_out_n": "2"}
        answer = client.post(url("in_play"), data, follow=True)
        assert "The list has changed: 3 dialogues now." in answer.content.decode()
        assert len(self.active()) == 3

    @pytest.mark.parametrize("who", ["colleague", "stranger"])
    def test_only_who_manages_the_study_may(
        self, client: Client, cast: Any, three: list[Dialogue], who: str
    ) -> None:
        client.force_login(getattr(cast, who))
        data = {"study": cast.study.slug, "do": "take_out"}
        assert client.post(url("in_play"), data).status_code == 404
        assert len(self.active()) == 3
        page = client.get(url("dialogues"), {"study": cast.study.slug})
        assert page.context["play"] is None

    def test_without_a_study_nothing_moves(self, client: Client, three: list[Dialogue]) -> None:
        assert client.post(url("in_play"), {"do": "take_out"}).status_code == 404
        assert len(self.active()) == 3
