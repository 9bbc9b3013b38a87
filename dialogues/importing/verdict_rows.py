"""Check the rows of a file of verdicts against the corpus, the study and each other. No writing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_noop

from dialogues.builtin import folded
from dialogues.importing import notes
from dialogues.importing.manifest import Manifest, RawRow
from dialogues.importing.notes import Note, any_stops
from dialogues.importing.opinions import PREFIX, Clip, clips_named, faults_of_rater, moment
from dialogues.importing.verdict_columns import ATTRIBUTES, CHOICES, MEANT
from dialogues.models import Choice, Dialogue, Modality, StudyItem, Verdict
from studies.models import Answer, Participant, Study
from studies.questions import DECLINE, choices_of

MOST_ROUNDS = 30_000
BAND = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+)|\s*\+)")


@dataclass
class VerdictRow:
    """One row and what becomes of it. ``answers`` are the values of the profile's questions it states."""

    line: int
    dialogue: str = ""
    rater: str = ""
    choice: str = ""
    clip: Clip | None = None
    given_at: datetime | None = None
    round_number: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    unchanged: bool = False

    @property
    def refused(self) -> bool:
        return any_stops(self.notes)

    @property
    def result(self) -> str:
        """As ``notes.result_of`` says it."""
        return notes.result_of(self.notes, unchanged=self.unchanged)


@dataclass
class Setting:
    """What rows are checked against. ``items``: role by dialogue; ``add``: others become items."""

    questions: Mapping[str, Mapping[str, Any]]
    zone: ZoneInfo
    now: datetime
    add: bool
    items: dict[int, str] = field(default_factory=dict)
    people: dict[str, Participant] = field(default_factory=dict)  # by the id in the file
    said: dict[tuple[str, int], str] = field(default_factory=dict)  # (rater, dialogue) → stored choice
    told: dict[tuple[str, str], Any] = field(default_factory=dict)  # (rater, question) → stored answer

    def read_study(self, study: Study) -> None:
        """Fill in what the study holds already."""
        self.items = dict(StudyItem.objects.filter(study=study).values_list("dialogue", "role"))
        found = Participant.objects.filter(study=study, recruiter_key__startswith=PREFIX)
        self.people = {one.recruiter_key.removeprefix(PREFIX): one for one in found.select_related("rater")}
        imported = {"rater__participant__recruiter_key__startswith": PREFIX}
        key = "rater__participant__recruiter_key"
        verdicts = Verdict.objects.filter(study=study, **imported).values_list(key, "dialogue", "choice")
        self.said = {(who.removeprefix(PREFIX), pk): choice for who, pk, choice in verdicts}
        answers = Answer.objects.filter(rater__participant__study=study, **imported)
        self.told = {
            (who.removeprefix(PREFIX), question): value
            for who, question, value in answers.values_list(key, "question", "value")
        }


def check_verdicts(manifest: Manifest, setting: Setting) -> list[VerdictRow]:
    """Every row with all that stands against it. The first of two rows on the same pair counts."""
    clips = clips_named({str(raw.data.get("dialogue", "")) for raw in manifest.rows})
    first: dict[tuple[str, int], VerdictRow] = {}
    told: dict[tuple[str, str], str] = {}
    rows = []
    for raw in manifest.rows:
        row = _row(raw, setting, clips)
        if not row.refused and row.clip is not None:
            earlier = first.setdefault((row.rater, row.clip.pk), row)
            if earlier is not row:
                row.notes.append(_again(row, earlier))
            else:
                _stored(row, setting)
        if not row.refused:
            _one_answer_each(row, setting, told)
        rows.append(row)
    return rows


def _row(raw: RawRow, setting: Setting, clips: Mapping[str, Clip]) -> VerdictRow:
    cells = {name: str(value).strip() for name, value in raw.data.items()}
    row = VerdictRow(raw.line, cells.get("dialogue", ""), cells.get("rater", ""), notes=list(raw.notes))
    if row.refused:
        return row
    person = setting.people.get(row.rater)
    row.notes += faults_of_rater(row.rater, gone=person is not None and person.is_gone)
    _dialogue(row, setting, clips)
    _choice(row, cells.get("choice", ""))
    row.given_at = moment(cells.get("time", ""), setting.zone, setting.now, row.notes)
    _round(row, cells.get("round", ""))
    for name in ATTRIBUTES:
        if value := cells.get(name, ""):
            _answer(row, name, value, setting)
    return row


def _dialogue(row: VerdictRow, setting: Setting, clips: Mapping[str, Clip]) -> None:
    if not row.dialogue:
        row.notes.append(notes.refused("no_dialogue", gettext_noop("The dialogue is empty.")))
        return
    clip = clips.get(row.dialogue)
    shown = notes.shortened(row.dialogue)
    if clip is None:
        message = gettext_noop("There is no dialogue “%(dialogue)s”. Import its manifest first.")
        row.notes.append(notes.refused("unknown_dialogue", message, dialogue=shown))
    elif clip.modality != Modality.SPEECH:
        message = gettext_noop("“%(dialogue)s” is a text dialogue; this file is about speech.")
        row.notes.append(notes.refused("text_dialogue", message, dialogue=shown))
    elif clip.state == Dialogue.State.WITHDRAWN:
        message = gettext_noop("“%(dialogue)s” has been withdrawn.")
        row.notes.append(notes.refused("dialogue_withdrawn", message, dialogue=shown))
    elif clip.pk not in setting.items and not setting.add:
        message = gettext_noop(
            "“%(dialogue)s” is not part of the study. Add it, or let the import do so (--create)."
        )
        row.notes.append(notes.question("not_in_study", message, dialogue=shown))
    elif setting.items.get(clip.pk, StudyItem.Role.MAIN) != StudyItem.Role.MAIN:
        message = gettext_noop("“%(dialogue)s” is a check item of the study; verdicts on it don't count.")
        row.notes.append(notes.refused("check_item", message, dialogue=shown))
    else:
        row.clip = clip


def _choice(row: VerdictRow, value: str) -> None:
    key = folded(value)
    if key in CHOICES:
        row.choice = CHOICES[key]
        return
    shown, allowed = notes.shortened(value), "human, machine, unscored (真人, 机器, 未计分)"
    if not value:
        message = gettext_noop("The choice is empty. Write one of: %(allowed)s.")
        row.notes.append(notes.refused("no_choice", message, allowed=allowed))
    elif key in MEANT:
        message = gettext_noop("The choice “%(value)s” is not known. Did you mean “%(meant)s”?")
        row.notes.append(notes.refused("unknown_choice", message, value=shown, meant=str(MEANT[key].value)))
    else:
        message = gettext_noop("The choice “%(value)s” is not known. Use one of: %(allowed)s.")
        row.notes.append(notes.refused("unknown_choice", message, value=shown, allowed=allowed))


def _round(row: VerdictRow, value: str) -> None:
    if not value:
        return
    if value.isascii() and value.isdigit() and 0 < int(value[:6]) <= MOST_ROUNDS and len(value) < 6:
        row.round_number = int(value)
        return
    message = gettext_noop("“%(value)s” is no round: write a whole number from 1.")
    row.notes.append(notes.refused("bad_round", message, value=notes.shortened(value)))


def _answer(row: VerdictRow, name: str, value: str, setting: Setting) -> None:
    """The answer that the cell states, by value or label; one that is not on offer is told and left out."""
    question = setting.questions.get(name)
    if question is None or not question.get("options"):
        message = gettext_noop("The study's profile does not ask for %(column)s; it is left out.")
        row.notes.append(notes.warning("not_asked", message, column=name))
        return
    known = {folded(one): one for one, _label in choices_of(question, "en")}
    for language in ("zh", "en"):
        known |= {folded(label): one for one, label in choices_of(question, language)}
    known[folded(DECLINE)] = DECLINE
    found = known.get(folded(value)) or _band(value, question)
    if found:
        row.answers[name] = found
        return
    message = gettext_noop("“%(value)s” is no answer to %(column)s, and is left out. There are: %(allowed)s.")
    allowed = ", ".join(one for one, _label in choices_of(question, "en"))
    shown = notes.shortened(value)
    row.notes.append(notes.warning("unknown_answer", message, value=shown, column=name, allowed=allowed))


def _band(value: str, question: Mapping[str, Any]) -> str:
    """The band that a number belongs to ("23" → "18-25"), where the options are bands."""
    if not (value.isascii() and value.isdigit() and len(value) <= 3):
        return ""
    for option in question["options"]:
        band = BAND.fullmatch(str(option["value"]))
        if band and int(band[1]) <= int(value) <= int(band[2] or 999):
            return str(option["value"])
    return ""


def _again(row: VerdictRow, earlier: VerdictRow) -> Note:
    if row.choice == earlier.choice:
        message = gettext_noop("The same verdict stands in line %(line)s; this one is left out.")
        return notes.refused("duplicate", message, line=earlier.line)
    message = gettext_noop(
        "Line %(line)s has another verdict of this person on this dialogue, which counts. Correct the file."
    )
    return notes.refused("contradiction", message, line=earlier.line)


def _stored(row: VerdictRow, setting: Setting) -> None:
    if row.clip is None or (row.rater, row.clip.pk) not in setting.said:
        return
    stored = setting.said[row.rater, row.clip.pk]
    if stored == row.choice:
        row.unchanged = True
        return
    message = gettext_noop("The study holds another verdict of this person on this dialogue: %(choice)s.")
    row.notes.append(notes.refused("other_verdict", message, choice=str(Choice(stored).value)))


def _one_answer_each(row: VerdictRow, setting: Setting, told: dict[tuple[str, str], str]) -> None:
    """A person has one answer to a question: the stored one, else the first of the file."""
    for name, value in list(row.answers.items()):
        kept = setting.told.get((row.rater, name)) or told.setdefault((row.rater, name), value)
        if kept != value:
            message = gettext_noop("%(column)s differs from what is known of this person; “%(kept)s” stays.")
            row.notes.append(notes.warning("other_answer", message, column=name, kept=str(kept)))
            del row.answers[name]


def attributes_of(rows: Sequence[VerdictRow]) -> dict[str, dict[str, str]]:
    """What accepted rows say about each rater."""
    said: dict[str, dict[str, str]] = {}
    for row in rows:
        if not row.refused:
            said.setdefault(row.rater, {}).update(row.answers)
    return said
