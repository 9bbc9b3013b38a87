"""Check one row with its files: what importing it would do, or all that stands against it. No writing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.importing import files, notes, turns
from dialogues.importing.cells import check_cells
from dialogues.importing.known import Known
from dialogues.importing.notes import Note
from dialogues.importing.plan import Checked, Plan
from dialogues.importing.turns import TurnTime
from dialogues.models import Dialogue, Speaker, StudyItem
from turingsite.audio.decode import MAX_SECONDS, probe
from turingsite.errors import Invalid

JOIN_GAP = 0.2  # seconds between turns that come as files of their own and say no times
SHORTEST, LONGEST = 20, 60


@dataclass
class Context:
    """What the rows of one import share. ``sounds`` remembers which sound belongs to which id in this run."""

    folders: list[Path]
    known: Known
    create_systems: bool = False
    sounds: dict[str, tuple[str, str]] = field(default_factory=dict)  # hash → (id, kind)


def check_row(data: dict[str, Any], context: Context, *, first_line: int | None = None) -> Checked:
    """Check a row's cells, then its files. ``first_line``: where an earlier row has the same id.

    A refused row tells everything that stands against it, and nothing else.
    """
    checked = _checked(data, context, first_line)
    if checked.refused:
        checked.notes = [note for note in checked.notes if note.stops]
    else:
        for code in checked.plan.speakers.values():
            context.known.newcomers.setdefault(code, Speaker(code=code, **checked.plan.agreed))
    return checked


def _checked(data: dict[str, Any], context: Context, first_line: int | None) -> Checked:
    plan, said = check_cells(data, context.known, create_systems=context.create_systems)
    checked = Checked(plan, said)
    if first_line is not None:
        message = gettext_noop("The id “%(id)s” is already used in line %(line)s of this file.")
        said.append(notes.refused("duplicate", message, id=plan.external_id, line=first_line))
        return checked
    if plan.declared is not None or any(note.code == "bad_duration" for note in said):
        return _without_sound(checked)
    raw: list[TurnTime] = []
    try:
        raw, about = _turn_times(data, context)
        said += about
    except Invalid as error:
        said.append(_told(error))
    try:
        plan.audio = _audio(data, raw, context)
        plan.hashes = [files.sha256(path) for path in plan.audio]
        checked.content_hash = plan.content_hash(raw)
    except Invalid as error:
        said.append(_told(error))
        return checked
    if not checked.refused:
        _compare(checked)
    if checked.unchanged is None and not any(note.code == "other_content" for note in said):
        try:
            _listen(checked, raw)
        except Invalid as error:
            said.append(_told(error))
        _same_sound(checked, context)
    return checked


def _without_sound(checked: Checked) -> Checked:
    """A dialogue that is declared: what is known of it, and nothing that could be played."""
    plan = checked.plan
    checked.content_hash = plan.content_hash([])
    if plan.role and plan.role != StudyItem.Role.MAIN:
        message = gettext_noop("A dialogue without sound can only be judged elsewhere: its role is main.")
        checked.notes.append(notes.refused("role_without_sound", message))
    if not checked.refused:
        _compare(checked)
    if checked.unchanged is None:
        message = gettext_noop("Declared without sound: it counts in reports and is never played.")
        checked.notes.append(notes.note("declared", message))
    return checked


def _told(error: Invalid) -> Note:
    return notes.refused(error.code, str(error.message), **error.params)


def _turn_times(data: dict[str, Any], context: Context) -> tuple[list[TurnTime], list[Note]]:
    cell, a, b = (data.get(name) or "" for name in ("turns", "turns_a", "turns_b"))
    if cell and (a or b):
        raise turns.TurnsRefused("turns_twice", gettext_noop("Give turns, or turns_a and turns_b, not both."))
    if a or b:
        return turns.from_columns(a, b)
    if not cell:
        return [], []
    if isinstance(cell, list) or str(cell).lstrip()[:1] in ("[", "{"):
        return turns.from_json(cell, name="turns")
    path = files.find(str(cell), context.folders)
    if path.stat().st_size > 2_000_000:
        raise turns.TurnsRefused(
            "turns_too_big", gettext_noop("%(file)s is too large for turn times."), {"file": path.name}
        )
    audio = data.get("audio")
    stem = Path(audio.replace("\\", "/")).stem if isinstance(audio, str) else ""
    return turns.from_file(path.read_bytes(), path.name, stem=stem)


def _audio(data: dict[str, Any], raw: list[TurnTime], context: Context) -> list[Path]:
    """The sound files, in order of turns where each turn has its own."""
    cell = data.get("audio") or ""
    names = (
        [str(name) for name in cell] if isinstance(cell, list) else [n.strip() for n in str(cell).split("|")]
    )
    names = [name for name in names if name]
    own = [turn.audio for turn in raw if turn.audio]
    if own and names:
        raise turns.TurnsRefused(
            "audio_twice", gettext_noop("The turns name their own files; leave audio empty.")
        )
    if own:
        if len(own) < len(raw):
            raise turns.TurnsRefused("audio_missing", gettext_noop("Some turns name a file and some don't."))
        names = own
    if not names:
        raise files.FileRefused("no_audio", gettext_noop("The audio cell is empty. Name the sound file."))
    if len(names) > 1 and raw and not own:
        raise turns.TurnsRefused(
            "times_of_many",
            gettext_noop("Several sound files are taken as turns; leave the turn columns empty."),
        )
    if len(names) > turns.MAX_TURNS:
        raise turns.TurnsRefused(
            "too_many_turns", gettext_noop("More than %(count)s turns."), {"count": turns.MAX_TURNS}
        )
    return [files.find(name, context.folders) for name in names]


def _compare(checked: Checked) -> None:
    """Set ``unchanged`` where the corpus has all of it; refuse an id that stands for something else."""
    plan = checked.plan
    there = Dialogue.objects.filter(external_id=plan.external_id).select_related("recording").first()
    if there is None:
        return
    if there.content_hash == checked.content_hash:
        checked.unchanged = there.pk
        return
    differs = [name for name in ("kind", "language") if getattr(there, name) != getattr(plan, name)]
    if len(plan.hashes) == 1 and there.recording and there.recording.sha256 != plan.hashes[0]:
        differs.append("audio")
    message = (
        gettext_noop(
            "“%(id)s” is in the corpus with another content (differs in: %(differs)s). "
            "Give this one a new id."
        )
        if differs
        else gettext_noop("“%(id)s” is in the corpus with other details in its row. Give this one a new id.")
    )
    params = {"differs": ", ".join(differs)} if differs else {}
    checked.notes.append(notes.refused("other_content", message, id=plan.external_id, **params))


def _listen(checked: Checked, raw: list[TurnTime]) -> None:
    """Decode the files to their end, and set the turns against the true length."""
    plan = checked.plan
    if len(plan.audio) > 1 or any(turn.audio for turn in raw):
        duration = _lay_out(plan, raw)
    else:
        plan.probe = probe(plan.audio[0])
        duration = plan.probe.duration
        checked.notes += [Note(notes.WARNING, w.code, w.message, dict(w.params)) for w in plan.probe.warnings]
        plan.turns = raw
        if plan.channels in ("ab", "ba") and plan.probe.channels != 2:
            message = gettext_noop("channels says %(channels)s, but the file has %(count)s channel(s).")
            checked.notes.append(
                notes.refused("channels", message, channels=plan.channels, count=plan.probe.channels)
            )
    if plan.turns:
        plan.turns, about = turns.checked(plan.turns, duration=duration)
        checked.notes += about
    elif plan.probe and plan.probe.channels == 2 and plan.channels != "mixed":
        checked.notes.append(
            notes.note(
                "turns_by_channel", gettext_noop("No turns given: they will be found from the two channels.")
            )
        )
    else:
        message = gettext_noop(
            "No turns given: they will be detected in the mixed sound. Check them on the dialogue's page."
        )
        checked.notes.append(notes.warning("turns_detected", message))
    if not SHORTEST <= duration <= LONGEST:
        message = gettext_noop(
            "%(seconds)s s long; clips of %(least)s to %(most)s s are usual. It will be flagged."
        )
        checked.notes.append(
            notes.note("unusual_length", message, seconds=round(duration, 1), least=SHORTEST, most=LONGEST)
        )


def _lay_out(plan: Plan, raw: list[TurnTime]) -> float:
    """Turn times of per-turn files: as given, else one after the other, A and B in turn."""
    at, laid = 0.0, []
    for number, path in enumerate(plan.audio):
        length = probe(path).duration
        said = raw[number] if raw else TurnTime("AB"[number % 2], 0.0, 0.0)
        start = said.start if said.end > 0 else at
        laid.append(TurnTime(said.speaker, start, start + length, said.text, path.name))
        at = start + length + JOIN_GAP
        if at > MAX_SECONDS:
            raise turns.TurnsRefused(
                "too_long",
                gettext_noop("The turns together are longer than %(minutes)s minutes."),
                {"minutes": f"{MAX_SECONDS / 60:g}"},
            )
    plan.turns = laid
    return max(turn.end for turn in laid)


def _same_sound(checked: Checked, context: Context) -> None:
    """One recording under two ids is told; under two kinds it can't be true."""
    plan = checked.plan
    if len(plan.hashes) != 1 or checked.refused:
        return
    found = (
        Dialogue.objects.filter(recording__sha256=plan.hashes[0])
        .exclude(external_id=plan.external_id)
        .values_list("external_id", "kind")
        .first()
    )
    other = found or context.sounds.get(plan.hashes[0])
    context.sounds.setdefault(plan.hashes[0], (plan.external_id, plan.kind))
    if other is None or other[0] == plan.external_id:
        return
    if other[1] != plan.kind:
        message = gettext_noop(
            "The same sound is “%(other)s”, which is %(kind)s. One recording can't be of two kinds."
        )
        checked.notes.append(notes.refused("sound_of_other_kind", message, other=other[0], kind=other[1]))
    else:
        message = gettext_noop("The same sound is already there as “%(other)s”.")
        checked.notes.append(notes.warning("same_sound", message, other=other[0]))


def first_lines(ids: list[tuple[int, str]]) -> dict[int, int]:
    """Line → line of the first row with the same id, for every repeated id."""
    first: dict[str, int] = {}
    return {line: first[key] for line, key in ids if key and first.setdefault(key, line) != line}
