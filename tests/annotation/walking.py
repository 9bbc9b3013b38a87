"""A browser in which somebody annotates, without scripts."""

from __future__ import annotations

import re
from typing import Any

from django.core import signing
from django.test import Client

from studies import access
from studies.models import Participant


class Walker:
    """A participant's browser on the annotation's pages of one study."""

    def __init__(self, participant: Participant, **headers: str) -> None:
        self.participant = participant
        self.slug = participant.study.slug
        self.client: Any = Client(headers=headers or None)
        key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{self.slug}")
        self.client.cookies[access.cookie_name(self.slug)] = key

    def url(self, path: str = "") -> str:
        return f"/s/{self.slug}/annotation/{path}"

    def get(self, path: str = "", **extra: Any) -> Any:
        return self.client.get(self.url(path), **extra)

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data)

    def page(self, path: str) -> str:
        answer = self.get(path)
        assert answer.status_code == 200, (answer.status_code, answer.headers)
        return str(answer.content.decode())

    def read_guidelines(self) -> Any:
        """Open the guidelines and confirm what they show."""
        return self.post("guidelines/", stamp=stamp_in(self.page("guidelines/")))


def stamp_in(page: str) -> str:
    found = re.search(r'name="stamp" value="([^"]+)"', page)
    assert found, "nothing is to be confirmed here"
    return found[1]


def words(page: str) -> str:
    """What a page says, without tags and with single spaces."""
    text = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())
