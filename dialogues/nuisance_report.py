"""Report ``nuisance-audit``: does anything but the talk tell the kinds apart, and how well?

What a person could learn instead of listening: length, gaps, levels, noise, bandwidth, bytes. No verdict is
looked at, so it is read before a study opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from numpy.typing import NDArray

from dialogues import pictures
from dialogues.models import Dialogue, Kind, Modality, Nature, StudyItem
from studies.models import Language
from studies.registry import Report, reports
from studies.reports import Basis, Heading, Options, ReportResult, ReportTable, Tables
from turingsite import stats

Row = Mapping[str, Any]

BEYOND = 0.15  # from .5: a warning
FEWEST = 5  # dialogues of either class
FEWEST_MODELLED = 10  # two in each of five folds
DATASETS = ("dialogues", "items")


def _of(*path: str) -> Callable[[Row], float | None]:
    """Reads a number of the quality report; None where it was not measured."""

    def read(row: Row) -> float | None:
        found: Any = row["quality"] or {}
        for name in path:
            found = found.get(name) if isinstance(found, Mapping) else None
        return None if found is None else float(found)

    return read


#: What is measured of the playing file, its name, and how a dialogue's row gives it.
FEATURES: tuple[tuple[str, Any, Callable[[Row], float | None]], ...] = (
    ("length", gettext_lazy("length"), lambda row: row["duration"]),
    ("turns", gettext_lazy("number of turns"), _of("result", "turn_count")),
    ("gap", gettext_lazy("mean gap"), _of("gaps", "after", "mean")),
    ("level_a", gettext_lazy("level of A"), _of("loudness", "after", "A")),
    ("level_b", gettext_lazy("level of B"), _of("loudness", "after", "B")),
    ("noise_a", gettext_lazy("noise in A's pauses"), _of("result", "noise_floor", "A")),
    ("noise_b", gettext_lazy("noise in B's pauses"), _of("result", "noise_floor", "B")),
    ("bandwidth", gettext_lazy("bandwidth"), _of("result", "bandwidth_hz")),
    ("leading", gettext_lazy("silence in front"), _of("result", "leading_silence")),
    ("bytes", gettext_lazy("bytes a second"), _of("play", "bytes_per_second")),
)
CORPUS, TOGETHER = "source_corpus", "together"
NAMES = {
    **{key: name for key, name, _read in FEATURES},
    CORPUS: gettext_lazy("source corpus"),
    TOGETHER: gettext_lazy("all of them together"),
}

#: What a higher number means, with the kind whose dialogues have it and the share of pairs in which they do.
LONGER = gettext_lazy("longer in %(kind)s dialogues, in %(share)s of pairs")
LOUDER = gettext_lazy("louder in %(kind)s dialogues, in %(share)s of pairs")
MORE = gettext_lazy("more in %(kind)s dialogues, in %(share)s of pairs")
MEANT = {
    **dict.fromkeys(("length", "gap", "leading"), LONGER),
    **dict.fromkeys(("level_a", "level_b", "noise_a", "noise_b"), LOUDER),
    **dict.fromkeys(("turns", "bandwidth", "bytes"), MORE),
}

HH, HM, PH = Kind.HUMAN_HUMAN, Kind.HUMAN_MACHINE, Kind.PSEUDO_HUMAN
#: Which kinds are set against which; the model is fitted to the first two.
HUMAN_MACHINE = "human_machine"
COMPARISONS: tuple[tuple[str, Any, tuple[str, ...], tuple[str, ...]], ...] = (
    (HUMAN_MACHINE, gettext_lazy("human against machine"), (HH,), (HM, PH)),
    ("hm_ph", gettext_lazy("H-M against PH"), (HM,), (PH,)),
    ("hh_ph", gettext_lazy("H-H against PH"), (HH,), (PH,)),
    ("hh_hm", gettext_lazy("H-H against H-M"), (HH,), (HM,)),
)
MODELLED = (HUMAN_MACHINE, "hm_ph")


def build(tables: Tables, *, study: str, options: Options) -> ReportResult:
    """AUC of every feature, and of a model of all, for each comparison, pooled and by language."""
    roles = {str(row["dialogue"]): row["role"] for row in tables["items"]}
    rows = [
        row
        for row in tables["dialogues"]
        if row["modality"] == Modality.SPEECH
        and row["state"] in (Dialogue.State.READY, Dialogue.State.DECLARED)
        and roles.get(str(row["dialogue"]), StudyItem.Role.MAIN) == StudyItem.Role.MAIN
        and options.language in ("", row["language"])
    ]
    features: list[dict[str, Any]] = []
    models: list[dict[str, Any]] = []
    for alone, together in figures(rows):
        features += alone
        models += together
    return ReportResult(
        key="nuisance-audit",
        title=_("Nuisance audit"),
        study=study,
        analysis_set=options.analysis_set,
        language=options.language,
        basis=Basis(n=0, persons=0, dialogues=len(rows)),
        tables=(_model_table(models), _feature_table(features)),
        notes=_notes([*models, *features]),
    )


def scopes_of(rows: Sequence[Row]) -> list[str]:
    """Pooled ("all") first, then each language; the language alone where there is one."""
    languages = sorted({str(row["language"]) for row in rows})
    return ["all", *languages] if len(languages) > 1 else languages or ["all"]


def figures(rows: Sequence[Row]) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """For each scope and comparison, one after the other: rows of the feature table and of the model table.

    ``rows`` are dialogues with ``kind``, ``language``, ``duration``, ``source_corpus`` and ``quality``.
    """
    for scope in scopes_of(rows):
        own = [row for row in rows if scope in ("all", row["language"])]
        for key, _name, first, second in COMPARISONS:
            some = [row for row in own if row["kind"] in (*first, *second)]
            positive = np.array([row["kind"] in first for row in some], dtype=bool)
            head = {
                "language": scope,
                "comparison": key,
                "first_n": int(positive.sum()),
                "other_n": int((~positive).sum()),
            }
            yield (
                [{**head, **cells} for cells in _alone(some, positive)],
                [{**head, **cells} for cells in _modelled(some, positive)] if key in MODELLED else [],
            )


def in_words(row: Row) -> str:
    """Which kind has the higher number, and how often; empty where none was measured."""
    value = row["auc"]
    if value is None:
        return ""
    share = f"{max(value, 1 - value):.0%}"
    if row["feature"] not in MEANT:
        return _("tells the kinds apart in %(share)s of pairs") % {"share": f"{value:.0%}"}
    _key, _name, first, other = next(one for one in COMPARISONS if one[0] == row["comparison"])
    kinds = first if value > 0.5 else other
    kind = Kind(kinds[0]).label if len(kinds) == 1 else Nature.MACHINE.label
    return str(MEANT[row["feature"]]) % {"kind": kind, "share": share}


def warnings(result: ReportResult) -> int:
    """How many figures of the report lie beyond the limit."""
    return sum(bool(row["warning"]) for table in result.tables for row in table.rows)


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    beyond = sum(bool(row["warning"]) for row in rows)
    said = (
        _("%(count)s figures lie beyond .5 ± .15: say in words why the study may open all the same.")
        % {"count": beyond}
        if beyond
        else _("No figure lies beyond .5 ± .15.")
    )
    return (
        said,
        _("H-H: human–human dialogues; H-M: human–machine; PH: pseudo-human, a machine's voice reading."),
        _(".5: the number says nothing about the kind. 0 and 1: it tells the kind every time."),
        _("A difference between kinds need not be heard; that it can be heard is enough for a warning."),
    )


def _alone(rows: Sequence[Row], positive: NDArray[np.bool_]) -> list[dict[str, Any]]:
    made = []
    for key, _name, read in FEATURES:
        values = _column(rows, read)
        known = np.isfinite(values)
        fewest = min(int((known & positive).sum()), int((known & ~positive).sum()))
        found = stats.auc(values, positive)
        good = fewest >= FEWEST
        made.append(
            {
                "feature": key,
                "n": found.n,
                "auc": found.value if good else None,
                "low": found.low if good else None,
                "high": found.high if good else None,
                **_judged(found.value if good else None, fewest),
            }
        )
    return made


def _modelled(rows: Sequence[Row], positive: NDArray[np.bool_]) -> list[dict[str, Any]]:
    """The source corpus, whose values have no order, and everything at once, by the cross-validated model."""
    numbers = np.column_stack([_column(rows, read) for _key, _name, read in FEATURES])
    names = [str(row["source_corpus"] or "") for row in rows]
    corpora = np.column_stack(
        [np.empty((len(rows), 0)), *([float(name == one) for name in names] for one in sorted(set(names)))]
    )
    fewest = min(int(positive.sum()), int((~positive).sum()))
    made = []
    for key, matrix in ((CORPUS, corpora), (TOGETHER, np.column_stack([numbers, corpora]))):
        good = fewest >= FEWEST_MODELLED
        found = stats.cross_validated_auc(matrix, positive) if good else None
        value = None if found is None else found.value
        cells = _judged(value, fewest)
        if value is not None:
            # Below .5 on dialogues it has not seen, a model has only learnt noise.
            cells["warning"] = value > 0.5 + BEYOND
        if found is not None and found.lack == "no_spread":
            cells["note"] = _("the same for all")
        made.append(
            {
                "feature": key,
                "n": len(rows),
                "auc": value,
                "se": None if found is None else found.se,
                **cells,
            }
        )
    return made


def _column(rows: Sequence[Row], read: Callable[[Row], float | None]) -> NDArray[np.float64]:
    values = (read(row) for row in rows)
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _judged(value: float | None, fewest: int) -> dict[str, Any]:
    return {
        "warning": None if value is None else abs(value - 0.5) > BEYOND,
        "note": "" if value is not None else _("n = %(n)s, not enough") % {"n": fewest},
    }


LANGUAGE = Heading(
    "language", gettext_lazy("language"), "text", {"all": gettext_lazy("pooled"), **dict(Language.choices)}
)
HEAD = (
    LANGUAGE,
    Heading(
        "comparison",
        gettext_lazy("comparison"),
        "text",
        {key: name for key, name, _first, _second in COMPARISONS},
    ),
    Heading("feature", gettext_lazy("feature"), "text", NAMES),
    Heading("first_n", gettext_lazy("dialogues of the first"), "count"),
    Heading("other_n", gettext_lazy("of the other"), "count"),
    Heading("n", gettext_lazy("measured"), "count"),
)
AUC = Heading("auc", gettext_lazy("AUC"))
TAIL = (
    Heading("warning", gettext_lazy("warning"), "text"),
    Heading("note", gettext_lazy("note"), "text"),
)


def _feature_table(rows: list[dict[str, Any]]) -> ReportTable:
    return ReportTable(
        "features",
        gettext_lazy("Each feature alone"),
        (*HEAD, AUC, Heading("low", gettext_lazy("low")), Heading("high", gettext_lazy("high")), *TAIL),
        tuple(rows),
        gettext_lazy(
            "AUC: how often the number is higher in a dialogue of the first sort than in one of the other, "
            "equal ones by half. DeLong's interval at 95 %; dialogues count as independent. As played, after "
            "processing."
        ),
    )


def _model_table(rows: list[dict[str, Any]]) -> ReportTable:
    return ReportTable(
        "model",
        gettext_lazy("Source corpus, and everything at once"),
        (*HEAD, AUC, Heading("se", gettext_lazy("SE")), *TAIL),
        tuple(rows),
        gettext_lazy(
            "Logistic model, standardised, ridge with C = 1, five stratified folds: the mean AUC on "
            "dialogues that it was not fitted to, SE over the folds. What was not measured is set to the "
            "median, and that it was not is a feature too."
        ),
    )


def register() -> None:
    reports.add(
        Report(
            "nuisance-audit",
            gettext_lazy("Nuisance audit"),
            DATASETS,
            build,
            figures=pictures.nuisance_audit,
        )
    )
