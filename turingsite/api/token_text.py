"""The text of a token: ``tts_`` (for scanners that look for leaked ones), its beginning, 256 random bits."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import NamedTuple

from django.utils.crypto import salted_hmac

_SHAPE = re.compile(r"tts_([0-9a-z]{8})_[A-Za-z0-9_-]{43}", re.ASCII)
_LETTERS = "23456789abcdefghjkmnpqrstwxyz"


class Secret(NamedTuple):
    """``text`` is given to its owner once; ``prefix`` and ``sha256`` are what is kept."""

    text: str
    prefix: str
    sha256: str


def draw() -> Secret:
    prefix = "".join(secrets.choice(_LETTERS) for _ in range(8))
    text = f"tts_{prefix}_{secrets.token_urlsafe(32)}"
    return Secret(text, prefix, digest(text))


def drawn_for(asked: str) -> Secret:
    """The same token whenever the same is asked for: what a page drew at random, and what was filled in.

    The page's draw is kept nowhere, so neither the site's key nor a copy of the database tells the token.
    """
    bits = salted_hmac("api.token", asked, algorithm="sha512").digest()
    prefix = "".join(_LETTERS[byte % len(_LETTERS)] for byte in bits[32:40])
    text = f"tts_{prefix}_{base64.urlsafe_b64encode(bits[:32]).rstrip(b'=').decode()}"
    return Secret(text, prefix, digest(text))


def digest(text: str) -> str:
    """SHA-256 of the whole text. No slow hash: nobody guesses 256 random bits."""
    return hashlib.sha256(text.encode()).hexdigest()


def prefix_in(text: str) -> str | None:
    """The beginning by which the token is found; None where ``text`` has not the shape of one."""
    match = _SHAPE.fullmatch(text)
    return match[1] if match else None


def same(text: str, sha256: str) -> bool:
    """Whether ``text`` has that hash, in a time that does not depend on where they differ."""
    return hmac.compare_digest(digest(text), sha256)
