"""Random public codes: what people read aloud, type, or get in a link. Never primary keys."""

from __future__ import annotations

import secrets

# No 0/O, 1/I/L, U/V: what gets confused when read aloud or typed from paper.
ALPHABET = "23456789ABCDEFGHJKMNPQRSTWXYZ"


def participant_code() -> str:
    """Public code of a participant: 10 characters, 48 bits."""
    return _code(10)


def resume_code() -> str:
    """Code to continue on another device: 12 characters, 58 bits, so that guessing is hopeless."""
    return _code(12)


def receipt_code() -> str:
    """Code of the withdrawal receipt: 16 characters, 77 bits."""
    return _code(16)


def public_code() -> str:
    """Code of an object in an address: 12 lower-case characters."""
    return _code(12).lower()


def media_token() -> str:
    """Unguessable name in a media address: 192 bits."""
    return secrets.token_urlsafe(24)


def normalise(typed: str) -> str:
    """What a person typed, as stored: upper case, no spaces or dashes."""
    return "".join(typed.split()).replace("-", "").upper()


def grouped(code: str) -> str:
    """A code in groups of four, as shown to people."""
    return " ".join(code[i : i + 4] for i in range(0, len(code), 4))


def _code(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))
