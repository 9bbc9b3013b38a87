"""What a line of a file of scores says besides scores: whose, of which dialogue, in which layer, and more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext_noop

from annotation.importing.columns import EXCLUSIONS, LAYERS, PURPOSES
from annotation.importing.setting import Known, Setting
from annotation.importing.taxonomies import Words
from annotation.models import Layer
from dialogues.builtin import folded
from dialogues.importing import notes
from dialogues.importing.manifest import RawRow
from dialogues.importing.notes import Note, any_stops
from dialogues.importing.opinions import Clip, faults_of_rater, moment
from dialogues.importing.verdict_columns import CHOICES
from dialogues.models import Choice, Dialogue, Modality, StudyItem
from studies.cells import unguarded

MOST_REPEATS = 1000
KINDS = ("", "participant", "machine")
SURE = ("1", "2", "3", "4", "5")


@dataclass(slots=True)
class Head:
    """``known``: the rater, where the study has them. ``choice``, ``confidence``: where the line has one."""

    line: int
    dialogue: str = ""
    rater: str = ""
    clip: Clip | None = None
    known: Known | None = None
    words: Words | None = None
    layer: str = ""
    repeat: int = 0
    purpose: str = ""
    exclusion: str = ""
    choice: str = ""
    confidence: int | None = None
    given_at: datetime | None = None
    changed_at: datetime | None = None
    notes: list[Note] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        return any_stops(self.notes)


def head_of(raw: RawRow, setting: Setting, clips: Mapping[str, Clip], *, with_rater: bool = True) -> Head:
    """The head of a line with all that stands against it. References have no rater and no layer."""
    cells = {name: str(value).strip() for name, value in raw.data.items()}
    head = Head(raw.line, unguarded(cells.get("dialogue", "")), unguarded(cells.get("rater", "")))
    head.notes = list(raw.notes)
    if head.refused:
        return head
    _dialogue(head, setting, clips)
    _taxonomy(head, cells, setting)
    if not with_rater:
        return head
    _rater(head, cells.get("rater_kind", ""), setting)
    _layer(head, cells.get("layer", ""), setting)
    _repeat(head, cells.get("repeat", ""))
    head.purpose = _one_of(head, "purpose", cells.get("purpose", ""), PURPOSES)
    head.exclusion = _one_of(head, "exclusion", cells.get("exclusion", ""), EXCLUSIONS)
    if not head.exclusion and head.known is not None:
        head.exclusion = head.known.reason
    _choice(head, cells.get("choice", ""), cells.get("confidence", ""))
    head.given_at = moment(cells.get("given_at", ""), setting.zone, setting.now, head.notes)
    head.changed_at = moment(cells.get("changed_at", ""), setting.zone, setting.now, head.notes)
    return head


def _dialogue(head: Head, setting: Setting, clips: Mapping[str, Clip]) -> None:
    if not head.dialogue:
        head.notes.append(notes.refused("no_dialogue", gettext_noop("The dialogue is empty.")))
        return
    clip, shown = clips.get(head.dialogue), notes.shortened(head.dialogue)
    if clip is None:
        message = gettext_noop("There is no dialogue “%(dialogue)s”. Import its manifest first.")
        head.notes.append(notes.refused("unknown_dialogue", message, dialogue=shown))
    elif clip.modality != Modality.SPEECH:
        message = gettext_noop("“%(dialogue)s” is a text dialogue; this file is about speech.")
        head.notes.append(notes.refused("text_dialogue", message, dialogue=shown))
    elif clip.state == Dialogue.State.WITHDRAWN:
        message = gettext_noop("“%(dialogue)s” has been withdrawn.")
        head.notes.append(notes.refused("dialogue_withdrawn", message, dialogue=shown))
    elif clip.pk not in setting.items and not setting.how.create:
        message = gettext_noop(
            "“%(dialogue)s” is not part of the study. Add it, or let the import do so (--create)."
        )
        head.notes.append(notes.question("not_in_study", message, dialogue=shown))
    elif setting.items.get(clip.pk) == StudyItem.Role.ATTENTION:
        message = gettext_noop("“%(dialogue)s” is a check item of the study; nobody scores it.")
        head.notes.append(notes.refused("check_item", message, dialogue=shown))
    else:
        head.clip = clip


def _taxonomy(head: Head, cells: Mapping[str, str], setting: Setting) -> None:
    name, version = cells.get("taxonomy", ""), cells.get("taxonomy_version", "")
    head.words = setting.taxonomies.of(name, version)
    if head.words is not None:
        return
    shown, meant = notes.shortened(f"{name} {version}".strip()), setting.taxonomies.close(name)
    if meant and meant != name:
        message = gettext_noop("There is no taxonomy “%(value)s”. Did you mean “%(meant)s”?")
        head.notes.append(notes.refused("unknown_taxonomy", message, value=shown, meant=meant))
    else:
        message = gettext_noop("There is no taxonomy “%(value)s”.")
        head.notes.append(notes.refused("unknown_taxonomy", message, value=shown))


def _rater(head: Head, kind: str, setting: Setting) -> None:
    if kind not in KINDS:
        message = gettext_noop("Scores of “%(kind)s” can't be taken in: their raters have no code.")
        head.notes.append(notes.refused("unknown_kind", message, kind=notes.shortened(kind)))
        return
    head.known = setting.rater(head.rater, kind)
    head.notes += faults_of_rater(head.rater, gone=head.known is not None and head.known.gone)
    if kind == "machine" and head.known is None and head.rater:
        message = gettext_noop("No machine here has the code “%(rater)s”.")
        head.notes.append(notes.refused("unknown_machine", message, rater=notes.shortened(head.rater)))


def _layer(head: Head, value: str, setting: Setting) -> None:
    if not value:
        head.layer = setting.how.layer
        if not head.layer:
            message = gettext_noop("The layer is empty. Write raw, blind-expert or truth-shown.")
            head.notes.append(notes.refused("no_layer", message))
        return
    head.layer = _one_of(head, "layer", value, LAYERS)


def _repeat(head: Head, value: str) -> None:
    if not value:
        return
    if value.isascii() and value.isdigit() and len(value) < 6 and int(value) <= MOST_REPEATS:
        head.repeat = int(value)
        return
    message = gettext_noop("“%(value)s” is no repeat: write a whole number from 0.")
    head.notes.append(notes.refused("bad_repeat", message, value=notes.shortened(value)))


def _one_of(head: Head, column: str, value: str, known: Mapping[str, str]) -> str:
    if not value:
        return ""
    if found := known.get(folded(value)):
        return found
    message = gettext_noop("%(column)s is “%(value)s”. There are: %(known)s.")
    head.notes.append(
        notes.refused(
            f"unknown_{column}", message, column=column, value=notes.shortened(value),
            known=", ".join(known.values()),
        )
    )  # fmt: skip
    return ""


def _choice(head: Head, value: str, sure: str) -> None:
    if value:
        head.choice = str(CHOICES.get(folded(value), ""))
        if head.choice not in (Choice.HUMAN, Choice.MACHINE):
            head.choice = ""
            message = gettext_noop("The choice “%(value)s” is not known. Use one of: %(allowed)s.")
            allowed = "human, machine (真人, 机器)"
            shown = notes.shortened(value)
            head.notes.append(notes.refused("unknown_choice", message, value=shown, allowed=allowed))
    if sure in SURE:
        head.confidence = int(sure)
    elif sure:
        message = gettext_noop("“%(value)s” is no confidence: write 1 (unsure) to 5 (certain).")
        head.notes.append(notes.refused("bad_confidence", message, value=notes.shortened(sure)))
    if head.choice and head.repeat:
        message = gettext_noop("The choice of a repeat is not kept: a person has one on each dialogue.")
        head.notes.append(notes.warning("choice_of_repeat", message))
        head.choice, head.confidence = "", None


def one_choice_each(head: Head, setting: Setting, first: dict[tuple[str, int], Head]) -> None:
    """A rater has one final choice on a dialogue: the stored one, else the first of the file."""
    if not head.choice or head.clip is None or head.layer == Layer.TRUTH_SHOWN:
        return
    stored = setting.choices.get((head.known.pk, head.clip.pk)) if head.known is not None else None
    if stored is not None:
        if stored != head.choice:
            message = gettext_noop(
                "The study holds another verdict of this person on this dialogue: %(choice)s."
            )
            head.notes.append(notes.refused("other_verdict", message, choice=stored))
        return
    earlier = first.setdefault((head.rater, head.clip.pk), head)
    if earlier.choice != head.choice:
        message = gettext_noop(
            "Line %(line)s has another verdict of this person on this dialogue, which counts. Correct the "
            "file."
        )
        head.notes.append(notes.refused("other_choice", message, line=earlier.line))


def right_role(head: Head, said: str, role: str) -> None:
    """Known scores of another role are left for another run."""
    if said and said != role:
        message = gettext_noop("This is a known score for %(said)s; --role is %(role)s.")
        head.notes.append(notes.refused("other_role", message, said=notes.shortened(said), role=role))
