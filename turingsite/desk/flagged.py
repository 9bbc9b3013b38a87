"""Flags on the desk: what rules are called, how often they apply, what one of them found, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from dialogues.models import Dialogue, Flag, Turn

#: What a flag says. Rules that are not listed are shown by their name.
RULES: Mapping[str, Any] = {
    "duration": gettext_lazy("length outside 20–60 s"),
    "no_speech": gettext_lazy("no speech"),
    "few_speakers": gettext_lazy("fewer than two speakers"),
    "balance": gettext_lazy("one speaker has most of the turns"),
    "interruptions": gettext_lazy("interruptions"),
    "identity-disclosure": gettext_lazy("B says it is a machine"),
    "identity-denial": gettext_lazy("B says it is a person"),
    "wrong-language": gettext_lazy("words not in the declared language"),
    "aggressive": gettext_lazy("aggressive"),
    "detected-turns": gettext_lazy("turns were detected"),
    "clipping": gettext_lazy("clipping"),
    "faint": gettext_lazy("recorded too faintly"),
    "uneven_loudness": gettext_lazy("loudness of A and B differs"),
    "truncated": gettext_lazy("the file stops early"),
    "damaged": gettext_lazy("part of the file is damaged"),
}
SOURCES: Mapping[str, Any] = {
    "quality": gettext_lazy("measured"),
    "rule": gettext_lazy("found in the transcript"),
    "review": gettext_lazy("marked by a person"),
}
SECONDS = {"duration", "no_speech", "truncated", "damaged"}
SHARES = {"balance", "wrong-language", "clipping"}


def called(rule: str) -> str:
    return str(RULES.get(rule, rule))


def counts(dialogues: QuerySet[Dialogue]) -> list[tuple[str, str, int]]:
    """Rule, its name and how many of ``dialogues`` it marks; rejected flags are left out."""
    found = (
        Flag.objects.standing()
        .filter(dialogue__in=dialogues.order_by().values("pk"), turn=None)
        .values_list("rule")
        .annotate(n=Count("dialogue", distinct=True))
        .order_by("rule")
    )
    order = {rule: place for place, rule in enumerate(RULES)}
    rows = sorted(found, key=lambda row: (order.get(row[0], len(order)), row[0]))
    return [(rule, called(rule), n) for rule, n in rows]


def standing_names(flags: Iterable[Flag]) -> list[str]:
    """The names of a dialogue's flags that nobody rejected, for its row in a list."""
    rules = {flag.rule for flag in flags if flag.review != Flag.Review.REJECTED and flag.turn_id is None}
    return [called(rule) for rule in sorted(rules)]


def described(dialogue: Dialogue, turns: list[Turn]) -> list[dict[str, Any]]:
    """The dialogue's flags, each with its number, what was found and where, and what a person made of it."""
    flags = list(dialogue.flags.select_related("reviewed_by").order_by("rule", "source"))
    quoted: dict[tuple[str, str], list[tuple[Turn, str]]] = {}
    by_key = {turn.pk: turn for turn in turns}
    for flag in flags:
        turn = by_key.get(flag.turn_id or 0)
        if turn is not None:
            words = [str(mark["evidence"]) for mark in flag.evidence.get("marks", [])]
            quoted.setdefault((flag.rule, flag.source), []).append((turn, " … ".join(words)))
    return [
        {
            "flag": flag,
            "name": called(flag.rule),
            "source": str(SOURCES.get(flag.source, flag.source)),
            "number": number(flag),
            "quotes": quoted.get((flag.rule, flag.source), []),
            "reason": flag.evidence.get("reason", ""),
        }
        for flag in flags
        if flag.turn_id is None
    ]


def number(flag: Flag) -> str:
    """The number that a rule applied to, with its unit."""
    value, evidence = flag.value, flag.evidence
    if value is None:
        return ""
    if flag.rule in SECONDS:
        return _("%(seconds)s s") % {"seconds": f"{value:.1f}"}
    if flag.rule in SHARES:
        return f"{100 * value:.0f} %" if value >= 0.01 else f"{100 * value:.2f} %"
    if flag.rule == "interruptions":
        params = {"count": evidence.get("count", 0), "longest": f"{value:.2f}"}
        return _("%(count)s overlaps, the longest %(longest)s s") % params
    if flag.rule == "faint":
        return _("%(gain)s dB of gain") % {"gain": f"{value:.0f}"}
    if flag.rule == "uneven_loudness":
        return _("%(difference)s LU") % {"difference": f"{value:.1f}"}
    if flag.rule in ("detected-turns", "identity-disclosure", "identity-denial"):
        return ngettext("%(n)s turn", "%(n)s turns", int(value)) % {"n": int(value)}
    return f"{value:g}"
