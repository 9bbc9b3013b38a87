"""Finds phone numbers and e-mail addresses in a message, so that it is not sent. Pure; keeps nothing.

In doubt about what is grouped or marked like a phone number it says so: a writer who takes it out loses
seconds, a number that is out cannot be taken back. Years, dates, scores, sums and counting pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from games.room.models import HeldBack

#: What no number and no address is without; most messages end here.
_PERHAPS = re.compile(r"[\d@＠﹫①-⓿〇零一二三四五六七八九幺]|\bat\b|艾特", re.IGNORECASE)

#: How people write the sign and the dot to get past such a check. One space alone before the sign stays:
#: there somebody is spoken to, as in "hey @Oak".
_WRITTEN_AS = (
    (re.compile(r"\s?[(\[{<]\s?(?:at|艾特)\s?[)\]}>]\s?|\s?艾特\s?|(?<=\S)\s@\s", re.IGNORECASE), "@"),
    (
        re.compile(r"\s?[(\[{<]\s?(?:dot|点)\s?[)\]}>]\s?|\sdot\s|\s\.\s|\s?点\s?(?=[a-z])", re.IGNORECASE),
        ".",
    ),
)
_TOP = r"(?:com|org|net|edu|gov|info|io|me|co|cn|hk|tw|de|uk|fr|nl|at|ch|it|es|eu|us|ca|jp|kr|ru)"
_PROVIDER = (
    r"(?:gmail|googlemail|hotmail|outlook|yahoo|icloud|proton|protonmail|gmx|foxmail|qq|163|126|sina|sohu"
    r"|yandex)"
)
_EMAIL = re.compile(
    r"(?<![\w.+\-])[\w.+\-]+"  # the middle of a word is no start: it would only cost time
    rf"(?:@[\w\-]+(?:\.[\w\-]+)*\.[a-z]{{2,}}|@{_PROVIDER}\b|\sat\s[\w\-]+(?:\.[\w\-]+)*\.{_TOP}\b)",
    re.IGNORECASE,
)

LEAST, MOST = 9, 15  # digits of a number with its area; the second is the world's rule (ITU E.164)

_BETWEEN = r"[\s\-‐‑‒–—−.·•/()\[\]_*~|]{0,3}"
_RUN = re.compile(rf"(?P<plus>(?<![\w+])\+\s?)?\(?\d(?:{_BETWEEN}\d){{6,}}")
_MOBILE = re.compile(r"(?:86)?1[3-9]\d{9}")
_NORTH_AMERICAN = re.compile(r"1?[2-9]\d\d[2-9]\d{6}")
#: How people group the eleven digits of a Chinese mobile number and the ten of a North American one.
_MOBILE_GROUPS = {
    (11,),
    (3, 4, 4),
    (3, 8),
    (7, 4),
    (5, 6),
    (6, 5),
    (3, 3, 5),
    (3, 4, 2, 2),
    (3, 3, 3, 2),
    (3, 2, 2, 2, 2),
    (2, 2, 2, 2, 2, 1),
    (1, 2, 2, 2, 2, 2),
    (1,) * 11,
}
_NORTH_AMERICAN_GROUPS = {(10,), (3, 3, 4), (3, 7), (6, 4), (1, 10), (1, 3, 3, 4), (1, 3, 7), (11,)}
_SPOKEN = "〇零一二三四五六七八九幺"
_AS_DIGITS = str.maketrans(_SPOKEN, "001234567891")
_SPOKEN_RUN = re.compile(rf"[{_SPOKEN}](?:[\s\-]?[{_SPOKEN}]){{9,13}}")
_ANNOUNCED = re.compile(
    r"(?:phone|mobile|cell|\btel\b|call me|text me|whats\s?app|we\s?chat|telegram|my number|电话|手机|号码"
    rf"|微信|联系我|加我|\bqq\b|扣扣)[^\d\n]{{0,12}}\d(?:{_BETWEEN}\d){{6,14}}(?!\d)",
    re.IGNORECASE,
)


def what_is_held_back(text: str) -> str:
    """``HeldBack.What`` of what the text holds, or nothing."""
    if not _PERHAPS.search(text):
        return ""
    plain = text if text.isascii() else "".join(map(_plain, unicodedata.normalize("NFKC", text)))
    if _has_address(plain):
        return HeldBack.What.EMAIL
    return HeldBack.What.PHONE if _has_phone_number(plain) else ""


def _plain(character: str) -> str:
    """Digits of any script as ASCII ones; what is not seen, as a zero-width space, left out."""
    if character.isascii():
        return character
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return "" if unicodedata.category(character) == "Cf" else character


def _has_address(plain: str) -> bool:
    for written, meant in _WRITTEN_AS:
        plain = written.sub(meant, plain)
    return _EMAIL.search(plain) is not None


def _has_phone_number(plain: str) -> bool:
    if _ANNOUNCED.search(plain):
        return True
    for spoken in _SPOKEN_RUN.finditer(plain):
        digits = re.sub(r"\D", "", spoken.group().translate(_AS_DIGITS))
        if _MOBILE.fullmatch(digits) or re.fullmatch(r"0[1-9]\d{8,10}", digits):
            return True
    return any(_is_phone_number(found) for found in _RUN.finditer(plain))


def _is_phone_number(found: re.Match[str]) -> bool:
    """Whether some of the run's groups in a row are one."""
    pieces = re.split(r"(\d+)", found.group())
    groups, between = pieces[1::2], [piece.strip("()") for piece in pieces[2:-1:2]]
    if found["plus"] is not None and len(_up_to(groups, MOST)) >= 8 and not _is_round(groups[0]):
        return True
    for first in range(len(groups)):
        is_fraction = first > 0 and between[first - 1] == "."
        digits = ""
        for last in range(first, len(groups)):
            digits += groups[last]
            if len(digits) > MOST + 2:
                break
            if len(digits) < LEAST or (is_fraction and first == last):
                continue
            if _is_number(digits, groups[first : last + 1], between[first:last]):
                return True
    return False


def _is_number(digits: str, groups: Sequence[str], between: Sequence[str]) -> bool:
    sizes = tuple(map(len, groups))
    if digits.startswith("00"):  # to another country
        is_number = sizes[0] > 2 or len(digits) > LEAST + 1
    elif digits.startswith("0"):  # an area code or a mobile network, then the number in even steps
        is_number = len(digits) <= 12 and min(sizes) > 1 and len(set(between[1:])) <= 1
    elif _MOBILE.fullmatch(digits):
        if len(digits) > 11:
            code = len(digits) - 11
            sizes = sizes[1:] if sizes[0] == code else (sizes[0] - code, *sizes[1:])
        is_number = sizes in _MOBILE_GROUPS or (sizes == (4, 4, 3) and set(between) == {"-"})
    else:
        is_number = sizes in _NORTH_AMERICAN_GROUPS and _NORTH_AMERICAN.fullmatch(digits) is not None
    return is_number and not _is_listing(groups, between)


def _is_listing(groups: Sequence[str], between: Sequence[str]) -> bool:
    """Numbers in a row that only look like one: counting, round sums, years, a sum with many noughts."""
    if len(set("".join(groups))) == 1:
        return True
    if len(groups) == 1:
        return _is_round(groups[0]) or groups[0] in "01234567890123456789"
    numbers = [int(group) for group in groups]
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) > 2 and len(steps) == 1:
        return True
    if all(
        len(group) == 4 and 1900 <= number < 2100
        for group, number in zip(groups[:2], numbers[:2], strict=True)
    ):
        return True
    return {part.strip() for part in between} == {""} and all(number % 10 == 0 for number in numbers)


def _is_round(group: str) -> bool:
    return group.endswith("000000")


def _up_to(groups: Sequence[str], most: int) -> str:
    """The digits of the first groups that together have no more than that many."""
    digits = ""
    for group in groups:
        if len(digits) + len(group) > most:
            break
        digits += group
    return digits
