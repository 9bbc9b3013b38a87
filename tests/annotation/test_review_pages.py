"""Expert review by its pages: the queue, a case, deciding, the conflict page, who gets in."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.models import (
    BatchItem,
    Resolution,
    ReviewCase,
    ReviewComment,
    ReviewDecision,
    Score,
)
from annotation.review.access import seen_in_review
from annotation.services import review_cases
from annotation.services.review_cases import refresh_cases, scores_of
from annotation.services.reviewing import approve_lot, comment, decide
from dialogues.models import Dialogue, Exposure, Kind, Speaker, System
from studies.models import Participant, Study, StudyMember
from tests import factories
from tests.annotation.reviewers import fresh, make_reviewer
from tests.factories import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(db: None) -> Study:
    """Two dialogues by three raters each; they are apart on the second, which a system speaks in."""
    study = factories.annotated_study(dialogues=2)
    machine = Dialogue.objects.get(kind=Kind.PSEUDO_HUMAN)
    one = BatchItem.objects.filter(dialogue=machine).order_by("pk")[0]
    Score.objects.filter(item=one, dimension__key="rhythm").update(value=1)
    Score.objects.filter(item=one, dimension__key="stress").update(value=3, evidence=False)
    System.objects.update(name="Zorbatron")
    return study


@pytest.fixture
def case(study: Study) -> ReviewCase:
    refresh_cases(study, NOW)
    return ReviewCase.objects.order_by("-disagreement")[0]


@pytest.fixture
def three(study: Study) -> list[Any]:
    return [make_reviewer(study, name) for name in ("ada", "ben", "cho")]


@pytest.fixture
def ada(three: list[Any]) -> Client:
    return signed_in(three[0])


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def place(case: ReviewCase, part: str = "") -> str:
    return f"/review/{case.study.slug}/{case.code}/{part}"


def send(client: Client, case: ReviewCase, act: str, **fields: Any) -> Any:
    return client.post(place(case, f"{act}/"), {"version": fresh(case).version} | fields)


def text_of(answer: Any) -> str:
    """What stands on a page, without tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


# --- The queue ---


def test_a_reviewer_finds_the_studies_and_the_queue_by_disagreement(case: ReviewCase, ada: Client) -> None:
    assert "Short conversations" in text_of(ada.get("/review/"))
    answer = ada.get(f"/review/{case.study.slug}/")
    codes = re.findall(r'class="code" href="[^"]+/(\w+)/"', answer.content.decode())
    assert codes == list(ReviewCase.objects.order_by("-disagreement").values_list("code", flat=True))
    assert "54 of 54" in text_of(answer)
    assert "0 of 2 dialogues closed" in text_of(answer)
    assert "Zorbatron" not in answer.content.decode()  # the truth waits on the page of the case


def test_the_queue_makes_cases_by_itself(study: Study, ada: Client) -> None:
    assert not ReviewCase.objects.exists()
    assert "2 wait for you" in text_of(ada.get(f"/review/{study.slug}/"))
    assert ReviewCase.objects.count() == 2


def test_a_large_queue_is_made_bit_by_bit(study: Study, ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(review_cases, "AT_ONCE", 1)
    page = ada.get("/review/scored/?show=all").content.decode()
    assert ReviewCase.objects.count() == 1
    assert "1 more dialogue has its ratings" in page
    assert "1 more dialogue" in ada.get("/review/scored/?show=all").content.decode(), "asked again too soon"
    cache.clear()
    assert "1 more dialogue" not in ada.get("/review/scored/?show=all").content.decode()
    assert ReviewCase.objects.count() == 2


def test_the_queue_shows_what_waits_what_is_discussed_and_what_is_closed(
    case: ReviewCase, three: list[Any], ada: Client
) -> None:
    other = ReviewCase.objects.exclude(pk=case.pk).get()
    for who in three:
        approve_lot(case=other, reviewer=who, version=fresh(other).version, now=NOW)
    score = scores_of(case)[0]
    for who, value in ((three[1], 1), (three[2], 2)):
        decide(
            case=case, score=score, reviewer=who, decision="propose", value=value, reason="So.",
            version=fresh(case).version, now=NOW,
        )  # fmt: skip

    def shown(show: str) -> set[str]:
        body = ada.get(f"/review/{case.study.slug}/?show={show}").content.decode()
        return {one for one in (case.code, other.code) if one in body}

    assert shown("mine") == {case.code}
    assert shown("discussion") == {case.code}
    assert shown("closed") == {other.code}
    assert shown("all") == shown("all") | {case.code, other.code}
    fourth = signed_in(make_reviewer(case.study, "dee"))
    approve_lot(case=case, reviewer=three[0], version=fresh(case).version, now=NOW)
    page = fourth.get(f"/review/{case.study.slug}/?show=all")
    assert "has its reviewers" in text_of(page)
    assert "Nothing waits for you" in text_of(fourth.get(f"/review/{case.study.slug}/"))


def test_long_queues_have_pages_and_every_case_is_on_one(study: Study, ada: Client) -> None:
    for number in range(120):
        dialogue = factories.DialogueFactory()
        ReviewCase.objects.create(study=study, dialogue=dialogue, made_at=NOW, disagreement=(number % 7) / 10)
    codes: list[str] = []
    address = "?show=all&after=1~0"  # beyond the start nothing is refreshed
    while address:
        body = ada.get(f"/review/{study.slug}/{address}").content.decode()
        codes += re.findall(r'class="code" href="[^"]+/(\w+)/"', body)
        found = re.search(r'href="(\?show=all&amp;after=[^"]+)"', body)
        address = found[1].replace("&amp;", "&") if found else ""
    assert len(codes) == len(set(codes)) == 120
    by = dict(ReviewCase.objects.values_list("code", "disagreement"))
    assert [by[code] for code in codes] == sorted(by.values(), reverse=True)
    for odd in ("x", "1~x", "nan~1", "2~1", "~", "1~" + "9" * 30):
        assert ada.get(f"/review/{study.slug}/", {"after": odd}).status_code == 200


# --- A case ---


def test_a_case_shows_truth_turns_and_every_score_by_number_and_no_name(
    case: ReviewCase, ada: Client
) -> None:
    answer = ada.get(place(case))
    body, text = answer.content.decode(), text_of(answer)
    for expected in ("Zorbatron", "pseudo-human", "Machine", "Rater 1", "Rater 3", "3 apart", "4 turns"):
        assert expected in text
    assert 'aria-label="Rater 1, Rhythm: 1. 0 of 3 decided."' in body
    assert 'aria-label="Rater 1, Stress: no evidence. 0 of 3 decided."' in body
    assert len(re.findall(r'name="score" value="[\w-]+\.[123]"', body)) == 54
    for person in Participant.objects.all():
        assert person.code not in body
        assert person.resume_code not in body


def test_opening_a_case_is_noted_and_lets_the_sound_be_heard(
    case: ReviewCase, three: list[Any], ada: Client, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    file = tmp_path / case.dialogue.play_path
    file.parent.mkdir(parents=True)
    file.write_bytes(b"0123456789")
    assert ada.get(place(case, "sound")).status_code == 404  # not opened yet
    ada.get(place(case))
    ada.get(place(case))
    exposure = Exposure.objects.get(rater__user=three[0])
    assert exposure.dialogue == case.dialogue
    assert list(seen_in_review(three[0])) == [case.dialogue]
    answer = ada.get(place(case, "sound"), headers={"Range": "bytes=2-4"})
    assert (answer.status_code, answer.content) == (206, b"234")
    exposure.refresh_from_db()
    assert exposure.first_byte_at is not None
    assert signed_in(three[1]).get(place(case, "sound")).status_code == 404
    Speaker.objects.update(withdrawn_at=NOW)
    assert ada.get(place(case, "sound")).status_code == 404
    assert "may not be played" in text_of(ada.get(place(case)))


def test_one_score_a_dimension_and_the_lot_are_approved(
    case: ReviewCase, three: list[Any], ada: Client
) -> None:
    answer = send(ada, case, "approve", score="rhythm.2")
    assert answer.url == place(case) + "#d-rhythm"
    assert ReviewDecision.objects.get().score.dimension.key == "rhythm"
    answer = send(ada, case, "approve", dimension="rhythm", open="stress")
    assert answer.url == place(case) + "?open=stress#d-rhythm"
    assert ReviewDecision.objects.count() == 3
    send(ada, case, "approve", lot="all")
    assert ReviewDecision.objects.count() == 54
    page = ada.get(place(case))
    assert "Stored: 51 scores approved." in text_of(page)
    assert 'name="lot"' not in page.content.decode()


def test_a_value_is_proposed_for_several_raters_and_those_who_gave_it_are_approved(
    case: ReviewCase, ada: Client
) -> None:
    names = ["rhythm.1", "rhythm.2", "rhythm.3"]
    send(ada, case, "decide", score=names, choice="1", reason="All pauses are cut.", open="rhythm")
    said = ReviewDecision.objects.order_by("pk").values_list("decision", "value", "reason")
    assert list(said) == [("approve", 1, ""), *[("propose", 1, "All pauses are cut.")] * 2]
    send(ada, case, "decide", score="stress.2", choice="0", reason="Nothing to hear.", open="stress")
    row = ReviewDecision.objects.order_by("-pk")[0]
    assert (row.value, row.evidence) == (3, False)
    page = text_of(ada.get(place(case) + "?open=rhythm"))
    assert "All pauses are cut." in page


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"score": "rhythm.2", "choice": "2"}, "Say why."),
        ({"score": "rhythm.2", "choice": "7", "reason": "kept"}, "from 1 to 5"),
        ({"score": "rhythm.2", "choice": "-1", "reason": "kept"}, "from 1 to 5"),
        ({"score": "rhythm.2", "choice": "4", "reason": "kept"}, "Approve it instead"),
        ({"score": "rhythm.9", "choice": "2", "reason": "kept"}, "not in this review"),
        ({"choice": "2", "reason": "kept"}, "Choose whose scores"),
        ({"score": "rhythm.2", "reason": "kept"}, "what the score should be"),
        ({"score": "rhythm.2", "choice": "2", "reason": "kept", "version": "x"}, "Load the page again"),
        ({"score": "rhythm.2", "choice": "2", "reason": "kept", "version": "99"}, "Load the page again"),
    ],
)
def test_what_cannot_be_is_said_on_the_page_and_the_input_stays(
    case: ReviewCase, ada: Client, fields: dict[str, str], words: str
) -> None:
    answer = send(ada, case, "decide", open="rhythm", **fields)
    assert answer.status_code == 400
    assert words in text_of(answer)
    assert not ReviewDecision.objects.exists()
    if fields.get("reason"):
        assert ">kept</textarea>" in answer.content.decode()


def test_a_difference_is_discussed_and_closed(case: ReviewCase, three: list[Any], ada: Client) -> None:
    ben = signed_in(three[1])
    send(ada, case, "approve", score="rhythm.2")
    send(ben, case, "decide", score="rhythm.2", choice="2", reason="Cut.", open="rhythm")
    page = text_of(ada.get(place(case) + "?open=rhythm"))
    for expected in ("reviewers differ on 1 dimension", "Close the difference", "ben → 2: Cut."):
        assert expected in page
    closing = {"score": "rhythm.2", "choice": "3", "reason": "Half of them.", "open": "rhythm"}
    answer = send(ada, case, "agree", **closing)
    assert answer.status_code == 409
    assert "Nobody else has said anything yet" in text_of(answer)
    assert send(ben, case, "comment", dimension="rhythm", text="Listen at 0:12.").status_code == 302
    assert send(ben, case, "comment", text=" ").status_code == 400
    assert send(ben, case, "comment", dimension="no-such", text="x").status_code == 400
    assert send(ada, case, "agree", **closing).status_code == 302
    assert Resolution.objects.get().result.value == 3
    assert "Half of them." in text_of(ben.get(place(case) + "?open=rhythm"))
    assert ReviewComment.objects.get().dimension is not None


def test_two_at_once_get_a_page_with_both_and_choose(case: ReviewCase, three: list[Any], ada: Client) -> None:
    ben = signed_in(three[1])
    seen = fresh(case).version
    send(ada, case, "decide", score="rhythm.2", choice="2", reason="Cut.", open="rhythm")
    mine = {"score": "rhythm.2", "choice": "5", "reason": "They breathe.", "open": "rhythm"}
    answer = ben.post(place(case, "decide/"), {"version": seen} | mine)
    assert answer.status_code == 409
    for expected in ("Somebody decided meanwhile", "ada → 2 : Cut.", "They breathe.", "Nothing of yours"):
        assert expected in text_of(answer)
    assert ReviewDecision.objects.count() == 1
    again = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', answer.content.decode()))
    assert again["version"] == str(fresh(case).version)

    def form_of(button: str) -> dict[str, str]:
        forms = re.findall(r"<form.*?</form>", answer.content.decode(), re.DOTALL)
        form = next(one for one in forms if button in one)
        fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
        area = re.search(r'<textarea[^>]*name="(\w+)"[^>]*>([^<]*)', form)
        return (
            fields
            | ({area[1]: area[2]} if area else {})
            | {"address": re.findall('action="([^"]+)', form)[0]}
        )

    theirs = form_of("Decide the same")
    assert (theirs["choice"], theirs["reason"]) == ("2", "Cut.")
    sent = form_of("Store mine")
    assert ben.post(sent.pop("address"), sent).status_code == 302
    assert list(ReviewDecision.objects.order_by("pk").values_list("value", flat=True)) == [2, 5]
    assert fresh(case).state == "discussion"


def test_a_lot_meets_what_was_proposed_meanwhile(case: ReviewCase, three: list[Any], ada: Client) -> None:
    send(ada, case, "decide", score="rhythm.2", choice="2", reason="Cut.", open="rhythm")
    ben = signed_in(three[1])
    answer = ben.post(place(case, "approve/"), {"version": 0, "lot": "all"})
    assert answer.status_code == 409
    assert "Approve all that was left." in text_of(answer)
    assert ben.post(place(case, "approve/"), {"version": 1, "lot": "all"}).status_code == 302
    assert ReviewDecision.objects.filter(reviewer=three[1]).count() == 54


def test_a_closed_case_is_read_and_nothing_more(case: ReviewCase, three: list[Any], ada: Client) -> None:
    for who in three:
        approve_lot(case=case, reviewer=who, version=fresh(case).version, now=NOW)
    page = ada.get(place(case) + "?open=rhythm")
    assert "every score is settled" in text_of(page)
    forms = re.findall(r'<form[^>]*action="/review/[^"]+/(\w+)/"', page.content.decode())
    assert forms == ["approve"]  # without a button
    for act, fields in (
        ("approve", {"score": "rhythm.1"}),
        ("decide", {"score": "rhythm.1", "choice": "2", "reason": "x"}),
        ("comment", {"text": "x"}),
    ):
        answer = send(ada, case, act, **fields)
        assert answer.status_code == 409
        assert "closed" in text_of(answer)


# --- Who gets in ---


def test_whoever_rated_the_dialogue_is_told_nothing_of_it(
    case: ReviewCase, three: list[Any], ada: Client
) -> None:
    rater = BatchItem.objects.filter(dialogue=case.dialogue).order_by("pk")[0].rater
    Participant.objects.filter(rater=rater).update(user=three[0])
    queue = ada.get(f"/review/{case.study.slug}/?show=all")
    assert "you rated it" in text_of(queue)
    for answer in (ada.get(place(case)), send(ada, case, "approve", score="rhythm.1")):
        assert answer.status_code == 403
        assert "Zorbatron" not in answer.content.decode()
        assert case.dialogue.external_id not in answer.content.decode()
    assert ada.get(place(case, "sound")).status_code == 404
    assert not Exposure.objects.filter(rater__user=three[0]).exists()


def test_outsiders_find_nothing_and_researchers_the_queue_alone(case: ReviewCase) -> None:
    login = Client().get(place(case))
    assert (login.status_code, login["Location"]) == (302, f"/admin/login/?next={place(case)}")
    plain = signed_in(factories.UserFactory())
    assert plain.get("/review/").status_code == 404
    elsewhere = factories.StudyMemberFactory(role=StudyMember.Role.REVIEWER).user
    researcher = factories.StudyMemberFactory(study=case.study).user
    operator = factories.UserFactory(is_staff=True, is_superuser=True)
    for user, status in ((elsewhere, 404), (researcher, 200), (operator, 200)):
        client = signed_in(user)
        queue = client.get(f"/review/{case.study.slug}/")
        assert queue.status_code == status
        if status == 200:
            assert "shown to reviewers alone" in text_of(queue)
            assert 'href="' + place(case) not in queue.content.decode()
        assert client.get(place(case)).status_code == 404
        assert client.get(place(case, "sound")).status_code == 404
        assert send(client, case, "approve", lot="all").status_code == 404
    assert not ReviewDecision.objects.exists()


def test_a_case_is_found_in_its_own_study_alone(case: ReviewCase, three: list[Any], ada: Client) -> None:
    other = factories.annotated_study("other", dialogues=1)
    factories.StudyMemberFactory(study=other, user=three[0], role=StudyMember.Role.REVIEWER)
    assert ada.get(f"/review/{other.slug}/{case.code}/").status_code == 404
    assert ada.get(f"/review/{other.slug}/").status_code == 200


def test_words_of_reviewers_are_shown_as_words(case: ReviewCase, three: list[Any], ada: Client) -> None:
    comment(case=case, author=three[1], text="<script>alert(1)</script>", now=NOW)
    body = ada.get(place(case)).content.decode()
    assert "<script>alert" not in body
    assert "&lt;script&gt;" in body


def test_the_desk_leads_reviewers_to_their_studies(case: ReviewCase, ada: Client) -> None:
    page = ada.get("/admin/")
    assert f'href="/review/{case.study.slug}/"' in page.content.decode()
    assert "No study yet" not in text_of(page)
