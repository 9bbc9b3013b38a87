"""Check the rows of a file of scores against the corpus, the study and each other. No writing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop

from annotation.importing import heads
from annotation.importing.heads import Head
from annotation.importing.scales import given, refuse_zero_based, truth
from annotation.importing.setting import ScoreKey, Setting
from annotation.importing.taxonomies import Dim, Words
from annotation.models import Layer
from annotation.scored import Scored
from dialogues.importing import notes
from dialogues.importing.columns import header_key
from dialogues.importing.manifest import Manifest, RawRow
from dialogues.importing.notes import Note, any_stops
from dialogues.importing.opinions import Clip, clips_named
from studies.cells import unguarded

MOST_CHANGES = 30_000


@dataclass(slots=True)
class ScoreRow:
    """One score of the file and what becomes of it; of a wide line there are several, with one ``head``."""

    head: Head
    dimension: str = ""
    dim: Dim | None = None
    given: Scored | None = None
    first: Scored | None = None
    changes: int = 0
    own: list[Note] = field(default_factory=list)
    unchanged: bool = False

    @property
    def notes(self) -> list[Note]:
        return [*self.head.notes, *self.own]

    @property
    def refused(self) -> bool:
        return self.head.refused or any_stops(self.own)

    @property
    def result(self) -> str:
        """As ``notes.result_of`` says it."""
        return notes.result_of(self.notes, unchanged=self.unchanged)

    @property
    def rater(self) -> str:
        return self.head.rater

    @property
    def clip(self) -> Clip | None:
        return self.head.clip

    @property
    def given_at(self) -> datetime | None:
        return self.head.given_at

    @property
    def key(self) -> ScoreKey:
        """What there is one score of; the rater by key, or by their code where they are new."""
        head = self.head
        assert head.clip is not None and self.dim is not None  # noqa: S101, PT018  (of rows not refused)
        who = head.known.pk if head.known is not None else head.rater
        return (who, head.clip.pk, self.dim.pk, head.layer, head.repeat)


def check_scores(manifest: Manifest, setting: Setting) -> list[ScoreRow]:
    """Every score with all that stands against it. The first of two on the same thing counts.

    ManifestRefused where the scale looks like 0 to 4 and nobody said what 0 means.
    """
    clips = _read(manifest, setting)
    first: dict[ScoreKey, ScoreRow] = {}
    choices: dict[tuple[str, int], Head] = {}
    rows = []
    for raw in manifest.rows:
        head = heads.head_of(raw, setting, clips)
        if not head.refused:
            heads.one_choice_each(head, setting, choices)
        for row in _scores(raw, head, setting):
            if not row.refused:
                earlier = first.setdefault(row.key, row)
                if earlier is not row:
                    _again(row, earlier)
                else:
                    _stored(row, setting)
            rows.append(row)
    return rows


def check_known(manifest: Manifest, setting: Setting, role: str) -> list[ScoreRow]:
    """Every row of a file of known scores; raters and layers are not asked for. ManifestRefused likewise."""
    clips = _read(manifest, setting)
    first: dict[tuple[int, int], ScoreRow] = {}
    rows = []
    for raw in manifest.rows:
        head = heads.head_of(raw, setting, clips, with_rater=False)
        heads.right_role(head, str(raw.data.get("role", "")), role)
        for row in _scores(raw, head, setting):
            if not row.refused and row.clip is not None and row.dim is not None:
                earlier = first.setdefault((row.clip.pk, row.dim.pk), row)
                if earlier is not row:
                    _again(row, earlier)
            rows.append(row)
    return rows


def _read(manifest: Manifest, setting: Setting) -> dict[str, Clip]:
    """The dialogues that the file names, once its scale has been looked at."""
    refuse_zero_based(
        (cell for raw in manifest.rows for _name, cell in _cells(raw, setting.taxonomies.default)),
        scale=setting.how.scale,
        evidence_told=any(raw.data.get("evidence") for raw in manifest.rows),
    )
    return clips_named(unguarded(str(raw.data.get("dialogue", ""))) for raw in manifest.rows)


def _cells(raw: RawRow, words: Words) -> Iterator[tuple[str, str]]:
    """The scores of a line as written, by the column or cell that names their dimension."""
    if "dimension" in raw.data or "score" in raw.data:
        yield str(raw.data.get("dimension", "")), str(raw.data.get("score", ""))
        return
    for dim in words.dims:
        name = header_key(dim.key)
        if name in raw.data:
            yield dim.key, str(raw.data[name])


def _scores(raw: RawRow, head: Head, setting: Setting) -> Iterator[ScoreRow]:
    cells = list(_cells(raw, head.words or setting.taxonomies.default))
    if head.refused or not cells:
        if not head.refused:
            message = gettext_noop("This line has no score.")
            head.notes.append(notes.refused("no_score", message))
        yield ScoreRow(head, cells[0][0] if len(cells) == 1 else "")
        return
    wide = "dimension" not in raw.data and "score" not in raw.data
    if wide and not any(cell.strip() for _name, cell in cells):
        message = gettext_noop("All scores of this line are empty. Write NA where there was no evidence.")
        head.notes.append(notes.refused("no_score", message))
        yield ScoreRow(head)
        return
    for name, cell in cells:
        row = ScoreRow(head, name)
        _dimension(row)
        _score(row, cell, raw.data, setting)
        yield row


def _dimension(row: ScoreRow) -> None:
    words = row.head.words
    if words is None:
        return
    if not row.dimension.strip():
        row.own.append(notes.refused("no_dimension", gettext_noop("The dimension is empty.")))
        return
    row.dim = words.find(row.dimension)
    if row.dim is not None:
        return
    shown, meant = notes.shortened(row.dimension), words.meant(row.dimension)
    if meant:
        message = gettext_noop("There is no dimension “%(value)s”. Did you mean “%(meant)s”?")
        row.own.append(notes.refused("unknown_dimension", message, value=shown, meant=meant))
        return
    message = gettext_noop("There is no dimension “%(value)s” in %(taxonomy)s. There are: %(known)s.")
    known = ", ".join(dim.key for dim in words.dims)
    row.own.append(
        notes.refused("unknown_dimension", message, value=shown, taxonomy=str(words.taxonomy), known=known)
    )


def _score(row: ScoreRow, cell: str, data: Mapping[str, Any], setting: Setting) -> None:
    evidence = _yes_no(row, "evidence", data)
    row.given = given(cell, evidence, setting.how.scale, row.own)
    if str(data.get("first_score", "")).strip():
        heard = _yes_no(row, "first_evidence", data)
        row.first = given(str(data["first_score"]), heard, setting.how.scale, row.own)
    changes = str(data.get("changes", "")).strip()
    if changes:
        if changes.isascii() and changes.isdigit() and len(changes) < 6 and int(changes) <= MOST_CHANGES:
            row.changes = int(changes)
        else:
            message = gettext_noop("“%(value)s” is no number of changes.")
            row.own.append(notes.refused("bad_changes", message, value=notes.shortened(changes)))


def _yes_no(row: ScoreRow, column: str, data: Mapping[str, Any]) -> bool | None:
    text = str(data.get(column, "")).strip()
    if not text:
        return None
    found = truth(text)
    if found is None:
        message = gettext_noop("%(column)s is “%(value)s”. Write yes or no.")
        shown = notes.shortened(text)
        row.own.append(notes.refused("neither_yes_nor_no", message, column=column, value=shown))
    return found


def _again(row: ScoreRow, earlier: ScoreRow) -> None:
    """A second row on the same thing: left out, and refused where it says something else."""
    if row.given == earlier.given:
        message = gettext_noop("The same score stands in line %(line)s; this one is left out.")
        row.own.append(notes.warning("duplicate", message, line=earlier.head.line))
        row.unchanged = True
        return
    message = gettext_noop(
        "Line %(line)s has another score of this rater on this dimension, which counts. Correct the file."
    )
    row.own.append(notes.refused("contradiction", message, line=earlier.head.line))


def _stored(row: ScoreRow, setting: Setting) -> None:
    kept = setting.scores.get(row.key)
    if kept is None:
        return
    if kept.given == row.given:
        row.unchanged = True
        return
    message = gettext_noop("The study holds another score of this rater on this dimension: %(score)s.")
    shown = str(kept.given.value) if kept.given.evidence else "0"
    row.own.append(notes.refused("other_score", message, score=shown))


def taken(rows: Sequence[ScoreRow]) -> list[ScoreRow]:
    """Rows that are to be written."""
    return [row for row in rows if row.result in ("accepted", "warned")]


#: Whose scores may revise raw ones.
SHOWN = str(Layer.TRUTH_SHOWN)
