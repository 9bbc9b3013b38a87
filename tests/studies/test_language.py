"""The interface language: from the link, the cookie, the browser; apart from the language people judge in."""

from __future__ import annotations

import pytest

from tests.studies.conftest import Visitor

pytestmark = pytest.mark.django_db
ZH = "听几段简短的对话"


def test_the_link_may_bring_the_language_and_it_stays(study):
    visitor = Visitor(study.slug, accept_language="en")
    page = visitor.get("?lang=zh&src=card").content.decode()
    assert ZH in page
    assert 'name="next" value="/s/listen/?src=card"' in page  # the switch does not come back to ?lang=zh
    assert "src=card" in page
    assert ZH in visitor.get().content.decode()


def test_the_browsers_language_decides_otherwise(study):
    assert ZH in Visitor(study.slug, accept_language="zh-CN,zh;q=0.9").get().content.decode()
    assert ZH not in Visitor(study.slug, accept_language="fr").get().content.decode()


@pytest.mark.parametrize("asked", ["xx", "", "../../etc", "z" * 500])
def test_an_unknown_language_changes_nothing(study, asked):
    visitor = Visitor(study.slug, accept_language="en")
    answer = visitor.get(f"?lang={asked}")
    assert answer.status_code == 200
    assert "django_language" not in answer.cookies


def test_the_switch_of_the_page_wins_over_the_browser(study):
    visitor = Visitor(study.slug, accept_language="zh")
    visitor.client.post("/i18n/setlang/", {"language": "en", "next": visitor.url()})
    assert ZH not in visitor.get().content.decode()


def test_a_person_reads_chinese_and_judges_english(study):
    visitor = Visitor(study.slug, accept_language="zh")
    visitor.agree()
    visitor.post("language/", {"language": "en"})
    page = visitor.get("q/profile/").content.decode()
    assert "您的年龄？" in page
    assert "不愿透露" in page
    participant = visitor.participant()
    assert (participant.interface_language, participant.judging_language) == ("zh", "en")
    assert participant.consent.language == "zh"


def test_the_language_chosen_last_is_kept_for_the_next_device(study):
    visitor = Visitor(study.slug, accept_language="en")
    visitor.arrive()
    visitor.get("go/?lang=zh")
    assert visitor.participant().interface_language == "zh"
