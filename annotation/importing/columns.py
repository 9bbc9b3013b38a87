"""The columns of a file of scores, long (a score a line) or wide (a column for each dimension)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from annotation.importing.taxonomies import Words
from annotation.models import BatchItem, Layer, Score
from dialogues.builtin import folded
from dialogues.importing.columns import Column, Layout, header_key

DIALOGUE = Column(
    "dialogue",
    True,
    gettext_noop("The dialogue's id in its manifest, or its code."),
    "en-001",
    ("id", "dialogue_id", "dialog", "item", "clip", "external_id", "对话", "对话编号"),
)
RATER = Column(
    "rater",
    True,
    gettext_noop("A code for the person, the same in all their rows. No names."),
    "r001",
    ("annotator", "participant", "person", "worker", "coder", "rater_id", "评判者", "标注者"),
)
REPEATED = (
    Column(
        "layer",
        False,
        gettext_noop("raw, blind-expert or truth-shown; else --layer says it for the whole file."),
        "raw",
        ("label_layer", "stage", "层"),
    ),
    Column("repeat", False, gettext_noop("0, or the number of a hidden repeat."), "0", ("repetition",)),
    Column("purpose", False, gettext_noop("work, calibration, gold or repeat; empty: not known."), ""),
    Column("exclusion", False, gettext_noop("Why the score is not analysed; empty: it is."), ""),
    Column(
        "choice", False, gettext_noop("The rater's final choice: human or machine."), "human", ("verdict",)
    ),
    Column("confidence", False, gettext_noop("How sure they were of it, 1 to 5."), "4", ("certainty",)),
    Column(
        "given_at",
        False,
        gettext_noop("When it was given (ISO 8601); without an offset in the study's time zone."),
        "2025-03-01T12:30:00+08:00",
        ("time", "timestamp", "date", "datetime", "时间"),
    ),
    Column("changed_at", False, gettext_noop("When it was last changed."), ""),
    Column("rater_kind", False, gettext_noop("participant, or machine for one that is known here."), ""),
    Column("taxonomy", False, gettext_noop("The taxonomy scored by; else --taxonomy, or the study's."), ""),
    Column("taxonomy_version", False, gettext_noop("Its version; else the newest."), ""),
)
LONG = (
    Column(
        "dimension",
        True,
        gettext_noop("Key of the dimension, or its name in English or Chinese."),
        "rhythm",
        ("dim", "aspect", "criterion", "feature", "维度"),
    ),
    Column(
        "score",
        True,
        gettext_noop("1 to 5; 0, NA or empty: no evidence."),
        "4",
        ("value", "rating", "label", "points", "分数", "评分"),
    ),
    Column(
        "evidence",
        False,
        gettext_noop("yes or no; no: the score is empty, 0 or 3."),
        "yes",
        ("has_evidence", "evidence_flag"),
    ),
    Column("first_score", False, gettext_noop("The score first given, where it was changed."), ""),
    Column("first_evidence", False, gettext_noop("Whether that one had evidence."), ""),
    Column("changes", False, gettext_noop("How often it was changed."), ""),
)
#: Columns of our own exports that follow from the others: taken without a word, and not read.
DERIVED = (
    Column("category", False, gettext_noop("Not read.")),
    Column("score_on_evidence", False, gettext_noop("Not read.")),
    Column("source", False, gettext_noop("Not read.")),
    Column("role", False, gettext_noop("Not read.")),
    Column("is_active", False, gettext_noop("Not read.")),
    Column("added_at", False, gettext_noop("Not read.")),
)
MOST_BYTES = 300_000_000
ALIASES = {"time": "given_at", "participant": "rater", "annotator": "rater", "dialogue_id": "dialogue"}
LAYERS = {folded(layer): str(layer) for layer in Layer.values}
PURPOSES = {folded(purpose): str(purpose) for purpose in BatchItem.Purpose.values}
EXCLUSIONS = {folded(reason): str(reason) for reason in Score.Exclusion.values if reason}


def layout_of(words: Words, *, with_raters: bool = True) -> Layout:
    """What a file may have, by the words of one taxonomy; references need no rater."""
    rater = RATER if with_raters else RATER._replace(required=False)
    fixed = (DIALOGUE, rater, *LONG, *REPEATED, *DERIVED)
    taken = {column.name for column in fixed}
    wide, aliases = [], dict(ALIASES)
    for dim in words.dims:
        name = header_key(dim.key)
        if name not in taken:
            wide.append(Column(name, False, dim.key, "", ()))
            aliases |= {header_key(word): name for word in words.names[dim.key]}
    names = tuple(column.name for column in wide)
    return Layout(
        (*fixed, *wide),
        '{"dialogue": …, "rater": …, "dimension": …, "score": …, "layer": …}',
        instead={"dimension": names, "score": names},
        aliases=aliases,
        most_rows=1_000_000,
        most_bytes=MOST_BYTES,
    )
