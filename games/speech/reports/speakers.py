"""Who is judged in a row of a table: systems, all machines, human speakers; and whom they are set against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dialogues.models import Kind, System
from games.speech.reports.figures import LANGUAGE
from games.speech.reports.judged import Judged, Mask, in_scope, seconds
from studies.reports import Heading, Tables

HUMANS, MACHINES = "human", "machines"
ROLES = {**dict(System.Role.choices), HUMANS: "", MACHINES: ""}


class Speaker(NamedTuple):
    """Who is judged in a row: a system, all machines, human speakers (of one origin or of all)."""

    key: str
    name: str
    role: str
    origin: str = ""
    aliases: str = ""

    def among(self, judged: Judged) -> Mask:
        if self.role == HUMANS:
            return judged.is_human if not self.origin else judged.is_human & (judged.origin == self.origin)
        if self.key == MACHINES:
            return ~judged.is_human
        spoken: Mask = ~judged.is_human & (judged.system == self.key)
        return spoken

    @property
    def is_system(self) -> bool:
        return self.role not in (HUMANS, MACHINES)

    @property
    def is_listed_alone(self) -> bool:
        """Whether it is a system or human speakers of one origin, not all of a sort together."""
        return self.is_system or bool(self.origin)


@dataclass(frozen=True)
class Speakers:
    """All rows of a table: systems by name, all machines, human speakers and each of their origins.

    ``present``: (system or "human", language) of which there are dialogues. ``periods``: since when a system
    that joined the running study is in it.
    """

    everybody: tuple[Speaker, ...]
    present: frozenset[tuple[str, str]]
    periods: Mapping[str, float]

    @property
    def systems(self) -> tuple[Speaker, ...]:
        return tuple(one for one in self.everybody if one.is_system)

    @property
    def machines(self) -> tuple[Speaker, ...]:
        """The systems, and all of them together."""
        return tuple(one for one in self.everybody if one.is_system or one.key == MACHINES)

    def lacks(self, one: Speaker, scope: str) -> bool:
        """Whether there is no dialogue of the system in that language."""
        return one.is_system and scope != "all" and (one.key, scope) not in self.present

    def humans_beside(self, judged: Judged, one: Speaker, scope: str) -> Mask:
        """Verdicts on humans of the same language, and of the time since the system joined."""
        humans = in_scope(judged, scope) & judged.is_human
        if one.key in self.periods:
            humans &= judged.given_at >= self.periods[one.key]
        return humans

    def against_humans(self, judged: Judged, one: Speaker, scope: str) -> tuple[Mask, Mask]:
        """Verdicts on the speaker and on the humans beside it; and those on humans alone."""
        humans = self.humans_beside(judged, one, scope)
        return humans | (in_scope(judged, scope) & one.among(judged)), humans


HEAD = (
    LANGUAGE,
    Heading("speaker", gettext_lazy("speaker B"), "text"),
    Heading("name", gettext_lazy("name"), "text"),
    Heading("role", gettext_lazy("role"), "text", ROLES),
    Heading("origin", gettext_lazy("origin"), "text"),
)


def head(scope: str, one: Speaker) -> dict[str, Any]:
    return {
        "language": scope,
        "speaker": one.key,
        "name": one.name,
        "role": one.role,
        "origin": one.origin,
    }


def speakers(tables: Tables) -> Speakers:
    """The speakers of a study's dialogues."""
    judged = {str(row["system"] or "") for row in tables["dialogues"] if row["kind"] != Kind.HUMAN_HUMAN}
    known = {str(row["system"]): row for row in tables["systems"]}
    systems = sorted(
        (
            Speaker(
                code,
                str(known[code]["name"]),
                str(known[code]["role"]),
                aliases=", ".join(map(str, known[code]["aliases"] or ())),
            )
            if code in known
            else Speaker(code, _("system not named"), "")
            for code in judged
        ),
        key=lambda one: one.name.casefold(),
    )
    origins = sorted(
        {
            str(row["origin"])
            for row in tables["dialogues"]
            if row["kind"] == Kind.HUMAN_HUMAN and row["origin"]
        }
    )
    humans = [Speaker(HUMANS, _("human speakers"), HUMANS)]
    if len(origins) > 1:
        humans += [
            Speaker(
                f"{HUMANS}:{origin}", _("human speakers, %(origin)s") % {"origin": origin}, HUMANS, origin
            )
            for origin in origins
        ]
    machines = [Speaker(MACHINES, _("all machines"), MACHINES)] if systems else []
    present = {
        (str(row["system"] or "") if row["kind"] != Kind.HUMAN_HUMAN else HUMANS, str(row["language"]))
        for row in tables["dialogues"]
    }
    return Speakers((*systems, *machines, *humans), frozenset(present), _periods(tables))


def _periods(tables: Tables) -> dict[str, float]:
    """The second at which each system joined the running study: first item of its block, block 1 absent."""
    began: dict[int, float] = {}
    for item in tables["items"]:
        block = int(item["block"])
        added = seconds(item["added_at"])
        began[block] = min(began.get(block, added), added)
    blocks: dict[str, int] = {}
    about = {row["dialogue"]: row for row in tables["dialogues"]}
    for item in tables["items"]:
        dialogue = about.get(item["dialogue"])
        if dialogue is not None and dialogue["kind"] != Kind.HUMAN_HUMAN:
            code = str(dialogue["system"] or "")
            blocks[code] = min(blocks.get(code, int(item["block"])), int(item["block"]))
    return {code: began[block] for code, block in blocks.items() if block > 1}
