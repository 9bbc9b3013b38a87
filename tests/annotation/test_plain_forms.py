"""A refused form without scripts: the page comes back with the reason and with all that was filled in."""

from __future__ import annotations

import re
from typing import Any

import pytest

from annotation.models import Score
from tests.annotation.annotating import Rater, keys

pytestmark = pytest.mark.django_db


def checked(page: str) -> dict[str, str]:
    """Name → value of the radio buttons that are chosen."""
    found = {}
    for tag in re.findall(r"<input type=\"radio\"[^>]*\bchecked\b[^>]*>", page):
        name, value = (re.search(rf'\b{part}="([^"]*)"', tag) for part in ("name", "value"))
        assert name, tag
        assert value, tag
        found[name[1]] = value[1]
    found.pop("speed", None)
    return found


def sent(**more: str) -> dict[str, str]:
    steps = {f"score-{key}": str(place % 6) for place, key in enumerate(keys())}
    return steps | {"choice": "machine", "confidence": "2"} | more


def saved(rater: Rater, item: dict[str, Any], **data: str) -> Any:
    return rater.form(f"item/{item['code']}/save/", **data)


def test_saving_before_hearing_keeps_what_was_filled_in(rater: Rater) -> None:
    item = rater.item()
    answer = saved(rater, item, **sent(go="next"))
    page = answer.content.decode()
    assert answer.status_code == 409
    assert checked(page) == sent()
    assert not Score.objects.exists()
    assert "You can score once you have heard it all." in page
    assert page.index('role="alert"') < page.index('id="scores"')
    assert "0 of 18 scored" in page
    assert "data-stored" not in page
    rater.listen(item)
    assert saved(rater, item, **sent()).url == rater.url("batch/")
    assert Score.objects.count() == 18


def test_an_incomplete_form_keeps_the_answers_that_wait(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    filled = sent()
    left = filled.popitem()  # how sure
    gone = f"score-{keys()[0]}"
    del filled[gone]
    answer = saved(rater, item, **filled, go="next")
    assert answer.status_code == 400
    assert checked(answer.content.decode()) == filled
    assert "choice" in answer.context["errors"]
    again = saved(rater, item, **dict([left, (gone, "4")]), go="next")
    assert again.status_code == 400  # confidence alone: it stays, the choice is asked for
    assert checked(again.content.decode())["confidence"] == left[1]


def test_a_conflict_keeps_both_answers_in_sight_and_saving_again_settles_it(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    first = keys()[0]
    rater.save(item, scores={first: {"value": 5, "version": 0}})
    answer = saved(rater, item, **{f"score-{first}": "1", f"version-{first}": "0", "go": "next"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert checked(page) == {f"score-{first}": "1"}
    assert "“5” is stored" in answer.context["errors"][first]
    assert "Answered differently elsewhere" in answer.context["refused"]
    version = re.search(rf'name="version-{first}" value="(\d+)"', page)
    assert version
    saved(rater, item, **{f"score-{first}": "1", f"version-{first}": version[1]})
    assert Score.objects.get().value == 1


def test_what_no_form_of_ours_sends_is_not_shown_again(rater: Rater) -> None:
    item = rater.item()
    odd = {f"score-{keys()[0]}": "9", "score-nothing": "3", "choice": "<b>", "confidence": "7"}
    page = saved(rater, item, **odd).content.decode()
    assert checked(page) == {}
    assert "<b>&lt;" not in page
