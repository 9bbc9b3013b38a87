"""The door of the scoring page: what it sends and is told, with scripts and without; what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotation.models import Annotator, Batch, BatchItem, Score
from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Dialogue, Exposure, Verdict
from studies import access
from studies.models import Participant, Study
from tests import factories
from tests.annotation.annotating import KEYS, Rater, keys
from tests.clock import Clock

pytestmark = pytest.mark.django_db

POSTS = ("save", "listening", "next", "failed", "known")


def test_a_batch_from_the_first_dialogue_to_the_look_back(rater: Rater) -> None:
    assert rater.get("").url == rater.url("batch/")
    item = rater.item()
    assert (item["position"], item["of"], item["batch"], item["kind"]) == (1, 5, 1, "work")
    said: dict[str, Any] = {}
    for position in range(1, 6):
        item = rater.item()
        assert item["position"] == position
        said = rater.annotate()
    assert said["goto"] == rater.url("batch/1/")
    assert BatchItem.objects.filter(state="finished", place=1).count() == 5
    assert Score.objects.count() == 5 * KEYS
    assert Verdict.objects.filter(activity="annotation", exclusion="").count() == 5


# -- the page


def test_the_page_has_what_the_player_and_the_scales_need(rater: Rater) -> None:
    page = rater.get("batch/").context
    item = page["item"]
    row = BatchItem.objects.get(code=item["code"])
    assert set(item) == {
        "code", "position", "of", "batch", "kind", "audio", "length", "turns", "heard", "ranges", "unlocked",
        "unlock_in", "plays", "pauses", "hidden", "slow", "speed", "slowest", "scores", "choice",
        "confidence", "choice_version", "order", "known", "preload", "break",
    }  # fmt: skip
    assert item["audio"] == f"/media/{row.exposure.token}"
    assert [turn["who"] for turn in item["turns"]] == ["A", "B", "A", "B"]
    following = row.batch.items.get(position=2)
    assert item["preload"] == f"/media/{following.exposure.token}"
    shown = [one["key"] for group in page["categories"] for one in group["dimensions"]]
    assert sorted(shown) == sorted(keys())
    assert set(page["scale"]) == {"0", "1", "2", "3", "4", "5"}
    for name in POSTS:
        assert page["urls"][name] == rater.url(f"item/{item['code']}/{name}/")
    assert json.loads(json.dumps(item)) == rater.item()


def test_categories_and_answers_stand_in_the_order_drawn_for_the_person(rater: Rater) -> None:
    order = list(reversed(rater.annotator.category_order))
    Annotator.objects.update(category_order=order, human_left=False)
    page = rater.get("batch/").context
    assert [group["key"] for group in page["categories"]] == order
    assert page["item"]["order"] == ["machine", "human"]
    assert [one["value"] for one in page["answers"]] == ["machine", "human"]


def test_the_words_are_those_of_the_language_of_the_page(rater: Rater) -> None:
    page = rater.get("batch/", headers={"accept-language": "zh-hans"}).context
    first = page["categories"][0]["dimensions"][0]
    row = default_taxonomy().dimensions.get(key=first["key"])
    assert (first["name"], first["low"], first["description"]) == (
        row.name_zh,
        row.low_zh,
        row.description_zh,
    )
    assert first["examples"] == row.examples_zh


def test_the_last_item_has_nothing_to_fetch_ahead(rater: Rater) -> None:
    for _ in range(4):
        rater.annotate()
    assert rater.item()["preload"] is None


def test_the_sound_is_there_for_this_person_alone(
    rater: Rater, study: Study, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    audio = rater.item()["audio"]
    path = tmp_path / BatchItem.objects.get(position=1).dialogue.play_path
    path.parent.mkdir(parents=True)
    path.write_bytes(b"sound")
    assert rater.client.get(audio).content == b"sound"
    assert Exposure.objects.exclude(first_byte_at=None).count() == 1
    assert Rater(study).client.get(audio).status_code == 404
    assert Client().get(audio).status_code == 404


@pytest.mark.both
def test_the_address_of_a_sound_is_gone_once_the_person_has_left_the_dialogue(
    rater: Rater, settings: Any, tmp_path: Any
) -> None:
    settings.MEDIA_ROOT = tmp_path
    for dialogue in Dialogue.objects.all():
        path = tmp_path / dialogue.play_path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"sound")
    for name in ("next", "known", "failed"):
        item = rater.item()
        rater.listen(item)
        rater.score(item)
        assert rater.client.get(item["audio"]).status_code == 200
        rater.post(f"item/{item['code']}/{name}/")
        assert rater.client.get(item["audio"]).status_code == 404, name
        assert rater.client.get(item["preload"]).status_code == 200, "fetched ahead, and not left"
        assert rater.item()["audio"] == item["preload"]


def test_keys_are_switched_off_for_the_person(rater: Rater) -> None:
    rater.item()
    assert rater.post("keys/", off=True).json() == {"off": True}
    assert rater.get("batch/").context["keys_off"]
    assert rater.form("keys/", off="false").url == rater.url("batch/")
    assert not rater.get("batch/").context["keys_off"]


# -- without scripts


def filled(value: str = "4", **more: str) -> dict[str, str]:
    return {f"score-{key}": value for key in keys()} | more


def test_a_plain_form_saves_and_goes_on(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    rater.listen(item)
    url = f"item/{item['code']}/save/"
    assert rater.form(url, **filled("0")).url == rater.url("batch/")
    assert Score.objects.filter(evidence=False).count() == KEYS
    versions = {f"version-{key}": "1" for key in keys()}
    choice = {"choice": "machine", "confidence": "2", "version-choice": "0", "go": "next"}
    answer = rater.form(url, **filled("5", **versions, **choice))
    assert answer.url == rater.url("batch/")
    row = BatchItem.objects.get(code=item["code"])
    assert (row.state, row.choice, row.confidence) == ("finished", "machine", 2)
    assert rater.item()["position"] == 2


def test_a_plain_form_that_is_not_complete_shows_what_is_missing(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    first, *others = keys()
    answer = rater.form(f"item/{item['code']}/save/", **{f"score-{first}": "4", "go": "next"})
    assert answer.status_code == 400
    assert set(answer.context["errors"]) == {*others, "choice", "confidence"}
    assert Score.objects.count() == 1
    answer = rater.form(f"item/{item['code']}/save/", **{f"score-{others[0]}": "9"})
    assert set(answer.context["errors"]) == {others[0]}


def test_a_plain_form_with_endless_numbers_is_told_so(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    url, first, endless = f"item/{item['code']}/save/", keys()[0], "9" * 5000
    answer = rater.form(url, **{f"score-{first}": endless})
    assert (answer.status_code, set(answer.context["errors"])) == (400, {first})
    rater.form(url, **filled())
    answer = rater.form(url, **{f"score-{first}": "5", f"version-{first}": endless})
    assert (answer.status_code, set(answer.context["errors"])) == (400, {first})
    answer = rater.form(url, choice="human", confidence=endless)
    assert (answer.status_code, set(answer.context["errors"])) == (400, {"confidence"})
    rater.form(url, choice="human", confidence="2")
    answer = rater.form(url, **{"choice": "machine", "confidence": "2", "version-choice": endless})
    assert (answer.status_code, set(answer.context["errors"])) == (400, {"choice"})
    assert Score.objects.filter(value=4).count() == KEYS


def test_a_plain_form_tells_what_was_answered_differently_elsewhere(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    first = keys()[0]
    rater.save(item, scores={first: {"value": 5, "version": 0}})
    answer = rater.form(f"item/{item['code']}/save/", **{f"score-{first}": "1", "go": "next"})
    assert set(answer.context["errors"]) == {first}
    assert Score.objects.get().value == 5


def test_without_scripts_the_wait_begins_with_the_first_byte(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    Exposure.objects.update(first_byte_at=rater.now)
    clock.pass_(64)
    answer = rater.form(f"item/{item['code']}/save/", **filled())
    assert answer.status_code == 409
    assert not Score.objects.exists()
    clock.pass_(1)
    rater.form(f"item/{item['code']}/save/", **filled())
    assert Score.objects.count() == KEYS
    assert BatchItem.objects.get(code=item["code"]).gate == "timeout"


def test_plain_forms_of_known_and_failed_lead_on(rater: Rater) -> None:
    for name in ("known", "failed"):
        item = rater.item()
        assert rater.form(f"item/{item['code']}/{name}/").url == rater.url("batch/")
    assert BatchItem.objects.filter(state="skipped").count() == 2


# -- what no page of ours sends


def raw(rater: Rater, path: str, body: str | bytes) -> Any:
    return rater.client.post(rater.url(path), body, content_type="application/json")


@pytest.mark.both
@pytest.mark.parametrize("size", [100_001, 3_000_000])
@pytest.mark.parametrize("name", POSTS)
def test_a_body_of_absurd_length_is_refused(rater: Rater, name: str, size: int) -> None:
    code = rater.item()["code"]
    answer = raw(rater, f"item/{code}/{name}/", '{"scores":"' + "x" * size + '"}')
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_long")
    assert not Score.objects.exists()


BODIES = [
    b"[]", b"5", b"null", b"{", b'{"scores":', b"\xff\xfe", b'{"scores": 5}', b'{"scores": [1]}',
    b'{"scores": "x"}', b'{"choice": 5}', b'{"choice": [[]]}', b'{"listening": 5}', b'{"listening": [1]}',
    b'{"listening": {"ranges": 5}}', b'{"listening": {"ranges": [[1]]}}',
    b'{"listening": {"ranges": [["a", 1]]}}',
    b'{"listening": {"plays": {}}}', b'{"listening": {"slow": "x"}}', b'{"listening": {"slowest": []}}',
    b'{"active": "x"}', b'{"active": []}', b'{"active": NaN}', b'{"active": 1e999}', b'{"active": -Infinity}',
    b'{"why": {"a": 1}}', b'{"scores": {"\\ud800": {"value": 1}}}', b'{"scores": {"\\u0000": {"value": 1}}}',
    b'{"scores": {"": {"value": 1, "version": {}}}}', b'{"ranges": {"a": 1}}', b'{"hidden": "long"}',
    b'{"choice": {"value": "human", "confidence": NaN}}', b"[" * 50_000,
]  # fmt: skip


@pytest.mark.both
@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:40].decode("latin-1"))
def test_bodies_of_any_shape_get_an_answer_in_words(rater: Rater, body: bytes) -> None:
    item = rater.item()
    rater.listen(item)
    for name in ("save", "listening", "next", "failed"):
        answer = raw(rater, f"item/{item['code']}/{name}/", body)
        assert answer.status_code in (200, 400, 409), (name, answer.content[:200])
        json.loads(answer.content)
    assert not Score.objects.exists()
    assert not Verdict.objects.exists()


def test_more_scores_than_any_taxonomy_has_are_not_read(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    scores = {f"x{number}": {"value": 1} for number in range(201)}
    assert rater.save(item, scores=scores).json()["error"]["code"] == "unreadable"


@pytest.mark.parametrize("name", POSTS)
def test_items_of_others_are_not_found_nor_those_that_come_later(
    rater: Rater, study: Study, clock: Clock, name: str
) -> None:
    item = rater.item()
    other = Rater(study, clock)
    other.item()
    elsewhere = Rater(factories.AnnotationSettingsFactory(study__slug="elsewhere").study, clock)
    later = BatchItem.objects.get(batch__annotator=rater.annotator, position=2)
    for who, code in (
        (other, item["code"]), (elsewhere, item["code"]), (rater, later.code), (rater, "nothing-here"),
    ):  # fmt: skip
        answer = who.post(f"item/{code}/{name}/")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "no_item")
    assert BatchItem.objects.filter(state="skipped").count() == 0


@pytest.mark.parametrize("name", POSTS)
def test_get_stores_nothing(rater: Rater, name: str) -> None:
    assert rater.get(f"item/{rater.item()['code']}/{name}/").status_code == 405


def test_without_the_token_of_a_page_nothing_is_stored(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = rater.client.cookies
    for path in (*(f"item/{item['code']}/{name}/" for name in POSTS), "returned/", "keys/", "break/"):
        answer = strict.post(rater.url(path), {"scores": {}}, content_type="application/json")
        assert answer.status_code == 403, path
        assert strict.post(rater.url(path), {}).status_code == 403, path
    assert not Score.objects.exists()
    assert BatchItem.objects.filter(state="open").count() == 5


def test_an_outsider_gets_nothing(rater: Rater) -> None:
    code = rater.item()["code"]
    for path in ("", "batch/", "batch/1/", "returned/", "break/"):
        assert Client().get(rater.url(path)).status_code == 403
    for name in POSTS:
        assert Client().post(rater.url(f"item/{code}/{name}/")).status_code == 403


def test_no_page_leads_around_the_profile_or_the_language(rater: Rater) -> None:
    factories.QuestionnaireFactory(study=rater.participant.study)
    for path in ("", "batch/", "returned/"):
        assert rater.get(path).url == f"/s/{rater.slug}/q/profile/"
    Participant.objects.update(judging_language="")
    assert rater.get("batch/").url == f"/s/{rater.slug}/language/"
    assert rater.state() == {"goto": f"/s/{rater.slug}/language/"}
    assert not Batch.objects.exists()


def test_nobody_is_counted_as_begun_before_they_have(study: Study, rater: Rater) -> None:
    rater.item()
    rater.participant.refresh_from_db()
    assert rater.participant.state == Participant.State.ACTIVE


# -- blind


def test_no_page_and_no_answer_tells_what_an_item_is_for(rater: Rater, study: Study, clock: Clock) -> None:
    """The same dialogue as work, as known scores, as a repeat: what is sent has the same shape and words."""
    dialogue = Dialogue.objects.order_by("pk")[0]
    sent: set[str] = set()
    for purpose, repeat in (("work", 0), ("gold", 0), ("repeat", 1)):
        who = Rater(study, clock)
        batch = factories.BatchFactory(annotator=who.annotator, lease_until=rater.now.replace(year=2027))
        item = factories.BatchItemFactory(
            batch=batch, dialogue=dialogue, purpose=purpose, repeat=repeat, place=None
        )
        state = who.client.get(who.url("batch/"), headers={"accept": "application/json"}).content.decode()
        page = who.get("batch/").content.decode()
        who.listen(who.item())
        texts = [state, page, who.score(who.item()).content.decode()]
        for own, word in (
            (item.code, "CODE"), (item.exposure.token, "TOKEN"), (who.participant.code, "PERSON"),
        ):  # fmt: skip
            texts = [text.replace(own, word) for text in texts]
        assert not [text for text in texts if purpose == "gold" and "gold" in text.lower()]
        sent.add(strip_secrets("\n".join(texts)))
    assert len(sent) == 1


def strip_secrets(text: str) -> str:
    """Without what is drawn anew for each browser."""
    lines = [line for line in text.splitlines() if "csrfmiddlewaretoken" not in line]
    return "\n".join(lines)


def test_no_cookie_of_another_study_opens_this_one(rater: Rater) -> None:
    other = Client()
    other.cookies[access.cookie_name(rater.slug)] = rater.client.cookies[
        access.cookie_name(rater.slug)
    ].value.replace(":", ".", 1)
    assert other.get(rater.url("batch/")).status_code == 403
