"""Nicknames: what may stand on a leaderboard, and when two names look alike."""

from __future__ import annotations

import functools
import unicodedata

from confusable_homoglyphs import confusables
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from studies.models import Participant
from studies.services.holding import hold
from turingsite.errors import Conflict, DomainError, Invalid

LONGEST = 24
MOST_MARKS = 2  # accents on one letter; more is a tower that covers the lines above
# Blank or invisible, though Unicode does not class them as control or format characters.
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(code)
    for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
    for code in range(first, last + 1)
}
REFUSED_CATEGORIES = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
FORMULA_STARTS = tuple("=+-@")
# What one font or another draws the same, after the Unicode table and case folding.
TWINS = str.maketrans({"i": "l", "1": "l", "|": "l", "!": "l", "0": "o", "5": "s"})


@transaction.atomic
def set_nickname(*, participant: Participant, nickname: str) -> str:
    """Store the nickname a player chose and return it as stored; empty takes the name away.

    Invalid for one that is too long, has characters nobody sees, or starts like a spreadsheet formula;
    Conflict ``nickname_taken`` where it looks like another one of the study.
    """
    name = clean(nickname)
    key = look_alike_key(name)
    hold(participant=participant)
    taken = _("Another player has this name, or one that looks like it. Choose another.")
    try:
        with transaction.atomic():
            Participant.objects.filter(pk=participant.pk).update(nickname=name, nickname_key=key)
    except IntegrityError as error:
        raise Conflict("nickname_taken", taken, fields={"nickname": taken}) from error
    participant.nickname, participant.nickname_key = name, key
    return name


def clean(nickname: str) -> str:
    """The name in one form, single spaces inside, none around; Invalid ``bad_nickname`` with the reason."""
    if len(nickname) > 20 * LONGEST:
        raise _refusal(_("At most 24 characters, please."))
    name = unicodedata.normalize("NFC", nickname).strip()
    if any(unicodedata.category(c) in REFUSED_CATEGORIES or c in INVISIBLE for c in name):
        raise _refusal(_("Use letters, figures and spaces; some of these characters cannot be seen."))
    name = " ".join(name.split())
    if len(name) > LONGEST:
        raise _refusal(_("At most 24 characters, please."))
    marks = 0
    for c in name:
        marks = marks + 1 if unicodedata.combining(c) else 0
        if marks > MOST_MARKS:
            raise _refusal(_("Use letters, figures and spaces; there are too many marks on one letter."))
    if unicodedata.normalize("NFKC", name).lstrip().startswith(FORMULA_STARTS):
        raise _refusal(_("Begin with a letter or a figure, not with =, +, - or @."))
    return name


def look_alike_key(name: str) -> str:
    """One key for all names that look alike: Unicode's confusables, without case, accents, punctuation."""
    if not name:
        return ""
    plain = unicodedata.normalize("NFKD", name).casefold()
    bare = "".join(c for c in plain if unicodedata.category(c)[0] in "LNS")
    drawn = "".join(_prototype(c) for c in bare or plain).casefold().translate(TWINS)
    return drawn.replace("vv", "w")[:100]


@functools.cache
def _prototype(character: str) -> str:
    """The character Unicode's table takes as the model of its look-alikes: the one with the longest list."""
    alike = confusables.confusables_data.get(character, [])
    best, length = character, len(alike)
    for other in alike:
        there = len(confusables.confusables_data.get(other["c"], []))
        if there > length:
            best, length = other["c"], there
    return str(best)


def _refusal(message: object) -> DomainError:
    return Invalid("bad_nickname", message, fields={"nickname": message})
