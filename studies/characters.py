"""Characters that text does not hold: no page, picture or database has a use for them. Forms refuse them."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

_NONCHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(17)
)
#: Control characters but tab and line ends, halves of surrogate pairs, noncharacters. XML 1.0 (2.2) has no
#: place for most of them, PostgreSQL none for NUL, UTF-8 none for the halves.
_REFUSED = re.compile(rf"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff{_NONCHARACTERS}]")


def cleaned(text: str) -> str:
    """The text without them."""
    return _REFUSED.sub("", text)


def refusal(value: Any) -> str:
    """Why a text, or a list or mapping with texts, is not taken; empty where it is."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        return next(filter(None, map(refusal, value)), "")
    found = _REFUSED.search(value) if isinstance(value, str) else None
    if found is None:
        return ""
    return _("This has a character that cannot be shown (%(code)s). Take it out.") % {
        "code": f"U+{ord(found.group()):04X}"
    }


def _validate(value: Any) -> None:
    if words := refusal(value):
        raise ValidationError(words, code="characters")


class TypedForm(forms.Form):
    """A form of the desk: says at which field such a character stands. Mixed into model forms too."""

    def full_clean(self) -> None:
        # Here and not in __init__: subclasses add fields in theirs.
        for field in self.fields.values():
            if isinstance(field, forms.CharField) and _validate not in field.validators:
                field.validators.insert(0, _validate)
        super().full_clean()


class CleanedField(forms.CharField):
    """For participants: what they paste is taken without such characters, nobody is sent back for one."""

    def to_python(self, value: Any) -> Any:
        return super().to_python(cleaned(value) if isinstance(value, str) else value)
