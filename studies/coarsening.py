"""Withholding answers until every combination of them is shared by enough people. Pure; no database here."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

#: People who share each combination in a public export, at the least.
FEWEST = 5
#: What stands in the place of a withheld value. An empty value would read as "not answered".
WITHHELD = "[withheld]"

Profile = tuple[str, ...]


def coarsen(people: Mapping[str, Profile], fewest: int = FEWEST) -> dict[str, Profile]:
    """The profiles with values withheld until each combination has ``fewest`` people, or is withheld whole.

    Local suppression, greedy. The remainder are the people whose combination is too rare. In each step one
    question is withheld for those of the remainder whom that brings into a combination of ``fewest`` or
    more: the question that brings the most of them there; of equals the least informative one (smallest
    Shannon entropy over all people), then the earlier one. Where no question brings anybody there, the least
    informative one that is still given is withheld for the whole remainder. People in a combination that is
    large enough are never touched, except at the end: if fewer than ``fewest`` have everything withheld, the
    smallest other combination joins them. Fewer than ``fewest`` people in all: everything is withheld.

    All profiles have the same length. The result depends on the profiles alone, not on their order.
    """
    shown = dict(people)
    width = len(next(iter(people.values()), ()))
    entropy = [_entropy([profile[at] for profile in people.values()]) for at in range(width)]
    by_information = sorted(range(width), key=lambda at: (entropy[at], at))
    while True:
        sizes = Counter(shown.values())
        rare = [who for who, profile in shown.items() if sizes[profile] < fewest]
        open_questions = [at for at in by_information if any(shown[who][at] != WITHHELD for who in rare)]
        if not open_questions:
            break
        brought = [(_brought(shown, rare, sizes, at, fewest), at) for at in open_questions]
        safe, question = max(brought, key=lambda one: len(one[0]))  # the first of equals: least informative
        for who in safe or rare:
            shown[who] = _without(shown[who], question)
    _fill_up(shown, width, fewest)
    return shown


def _brought(
    shown: Mapping[str, Profile], rare: Sequence[str], sizes: Mapping[Profile, int], at: int, fewest: int
) -> list[str]:
    """Who of ``rare`` would be in a large enough combination if the question ``at`` were withheld."""
    together: dict[Profile, list[str]] = defaultdict(list)
    for who in rare:
        if shown[who][at] != WITHHELD:
            together[_without(shown[who], at)].append(who)
    return [
        who
        for profile, joining in together.items()
        if len(joining) + sizes.get(profile, 0) >= fewest
        for who in joining
    ]


def _fill_up(shown: dict[str, Profile], width: int, fewest: int) -> None:
    nothing = (WITHHELD,) * width
    while width:
        groups: dict[Profile, list[str]] = defaultdict(list)
        for who, profile in shown.items():
            groups[profile].append(who)
        alone = len(groups.pop(nothing, []))
        if not 0 < alone < fewest or not groups:
            return
        smallest = min(groups, key=lambda profile: (len(groups[profile]), profile))
        for who in groups[smallest]:
            shown[who] = nothing


def _without(profile: Profile, at: int) -> Profile:
    return (*profile[:at], WITHHELD, *profile[at + 1 :])


def _entropy(values: Sequence[str]) -> float:
    counts = Counter(values)
    return -sum(n / len(values) * math.log2(n / len(values)) for n in counts.values())
