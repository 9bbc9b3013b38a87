"""The link people pass on and its picture: on the right pages, the same for everybody, from our own font."""

from __future__ import annotations

import re
import struct
from html import unescape

import pytest
from django.conf import settings as django_settings
from django.contrib.staticfiles import finders
from django.test import Client

from games.speech.card import build, drawing
from games.speech.models import SpeechSettings
from studies.models import Participant, Study
from tests import factories
from tests.speech.conftest import Person

PAGES = ("round/1/", "board/", "pause/")
BLOCK = re.compile(r'<section class="card stack" aria-labelledby="share.*?</section>', re.DOTALL)
LINK = re.compile(r'id="share-link" readonly value="([^"]*)"')


def link_in(text: str) -> str:
    found = LINK.search(text)
    return unescape(found[1]) if found else ""


@pytest.mark.django_db
def test_link_carries_its_source_and_nothing_of_the_person(person: Person, other: Person) -> None:
    Participant.objects.filter(pk=person.participant.pk).update(nickname="Tide")
    person.play_round("rrrrr")
    other.play_round("wwwww")
    for page in PAGES:
        texts = [who.get(page).content.decode() for who in (person, other)]
        assert {link_in(text) for text in texts} == {"http://testserver/s/game/?src=share&lang=en"}
        parts = {block for text in texts for block in BLOCK.findall(text)}
        assert len(parts) == 1, "the picture and the words must be the same for everybody"
    assert "Tide" not in parts.pop()


@pytest.mark.django_db
def test_the_link_leads_to_consent_with_its_source(person: Person) -> None:
    person.play_round("rrrrr")
    factories.ConsentTextFactory(study=person.participant.study)
    visitor = Client()
    assert visitor.get(link_in(person.get("round/1/").content.decode())).status_code == 200
    went = visitor.post("/s/game/age/?src=share", {"adult": "yes"})
    assert went.status_code == 302
    visitor.post(went["Location"], {"part": "on", "version": 1})
    assert Participant.objects.order_by("-pk")[0].source == "share"


@pytest.mark.django_db
def test_chinese_pages_share_the_chinese_card(person: Person) -> None:
    person.play_round("rrrrr")
    person.client.cookies[django_settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    text = person.get("round/1/").content.decode()
    assert link_in(text).endswith("?src=share&lang=zh")
    assert "card/zh.png" in text
    page = Client().get("/s/game/?src=share&lang=zh").content.decode()
    assert 'content="http://testserver/static/card/zh.png"' in page
    assert 'property="og:locale" content="zh_CN"' in page


@pytest.mark.django_db
@pytest.mark.parametrize(
    "changes", [{"recruiter_required": True}, {"status": "pilot"}, {"status": "paused"}, {"status": "closed"}]
)
def test_nothing_to_share_where_strangers_cannot_take_part(
    person: Person, changes: dict[str, object]
) -> None:
    person.play_round("rrrrr")
    Study.objects.update(**changes)
    assert link_in(person.get("round/1/").content.decode()) == ""


@pytest.mark.django_db
def test_public_page_shows_the_card_at_an_absolute_address(person: Person, settings) -> None:
    def meta(text: str, name: str) -> str:
        found = re.search(rf'<meta (?:property|name)="{name}" content="([^"]*)">', text)
        return unescape(found[1]) if found else ""

    Study.objects.update(title_en='Talks & "words"')
    client = Client()
    page = client.get("/s/game/?src=blog<script>&PROLIFIC_PID=secret").content.decode()
    assert meta(page, "og:title") == 'Talks & "words"'
    assert meta(page, "og:image") == "http://testserver/static/card/en.png"
    assert (meta(page, "og:image:width"), meta(page, "og:image:height")) == ("1200", "630")
    assert meta(page, "og:url") == "http://testserver/s/game/?src=blogscript"
    assert meta(page, "twitter:card") == "summary_large_image"
    assert "secret" not in page.split("<body")[0]
    settings.PUBLIC_URL = "https://study.example.org/"
    page = client.get("/s/game/").content.decode()
    assert meta(page, "og:image") == "https://study.example.org/static/card/en.png"
    assert meta(page, "og:url") == "https://study.example.org/s/game/"


@pytest.mark.django_db
def test_yourself_stands_on_every_board(person: Person, other: Person) -> None:
    Participant.objects.filter(pk=person.participant.pk).update(nickname="Tide")
    other.play_round("rrrrr")
    rows = person.get("board/").context["rows"]
    assert [(row["rank"], row["you"]) for row in rows] == [(1, False), (None, True)]
    assert "Tide" in person.get("board/?period=today").content.decode()
    person.play_round("rrrrw")
    rows = person.get("board/").context["rows"]
    assert [(row["rank"], row["you"]) for row in rows] == [(1, False), (2, True)]
    SpeechSettings.objects.update(points="accuracy")
    Study.objects.update(languages=["en", "zh"])
    page = person.get("board/?language=zh").content.decode()
    assert "Nobody has finished a round here yet." in page


@pytest.mark.parametrize("language", drawing.WORDS)
def test_committed_card_is_the_one_the_words_and_fonts_make(language: str) -> None:
    found = finders.find(f"card/{language}.png")
    assert found, "run python -m games.speech.card.build"
    with open(str(found), "rb") as file:
        picture = file.read()
    assert struct.unpack(">II", picture[16:24]) == drawing.SIZE
    assert drawing.fingerprint_in(picture) == drawing.fingerprint(language), "run the build again"
    assert len(picture) < 200_000
    drawn = drawing.png(language)
    assert struct.unpack(">II", drawn[16:24]) == drawing.SIZE
    assert abs(len(drawn) - len(picture)) < 2000  # the same picture, up to the packing of another version


@pytest.mark.parametrize("style", build.WEIGHTS)
def test_font_has_every_character_is_small_and_free(style: str) -> None:
    from fontTools.ttLib import TTFont  # type: ignore[import-untyped]

    path = drawing.FONTS / f"card-{style}.otf"
    assert path.stat().st_size < 60_000
    font = TTFont(path)
    assert set(map(ord, build.characters())) <= set(font.getBestCmap())
    assert font["name"].getDebugName(1) == drawing.FAMILY
    assert "SIL Open Font License" in font["name"].getDebugName(13)
    assert "SIL OPEN FONT LICENSE Version 1.1" in (drawing.FONTS / "OFL.txt").read_text()


def test_card_says_nothing_but_its_words() -> None:
    words = {text for words in drawing.WORDS.values() for text in words.values()}
    for language in drawing.WORDS:
        said = re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg(language))
        assert set(said) <= words
        assert len(said) == len(drawing.WORDS[language])
