"""The headlines of the annotation that go into every export, and the script that checks them.

Alpha by dimension as in the report ``agreement``, what review changed as in ``revision-impact``; points only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.datasets.wording import SETTINGS
from annotation.datasets.work import SCORES
from annotation.models import Layer
from dialogues.datasets import DIALOGUES
from dialogues.models import Kind
from studies.models import Study
from studies.registry import Companion, companions
from turingsite import stats

FORMAT = 1
FEWEST = 5  # scores
ALL, OVERALL = "all", "overall"  # languages; dimensions
BLIND = tuple(str(layer) for layer in Layer.values if layer != Layer.TRUTH_SHOWN)
COLUMNS = (
    "rater", "rater_kind", "dialogue", "dimension", "taxonomy", "taxonomy_version", "layer", "repeat",
    "purpose", "score", "evidence", "exclusion",
)  # fmt: skip
Text = NDArray[np.str_]


class Clip(NamedTuple):
    """What is known of a dialogue."""

    language: str
    is_human: bool


class Labels(NamedTuple):
    """Scores that count, one entry each: whose, of what, in which layer, both codings."""

    rater: Text
    dialogue: Text
    dimension: Text
    layer: Text
    score: NDArray[np.float64]
    evidence: NDArray[np.bool_]

    def where(self, mask: NDArray[np.bool_]) -> Labels:
        return Labels(
            self.rater[mask], self.dialogue[mask], self.dimension[mask], self.layer[mask],
            self.score[mask], self.evidence[mask],
        )  # fmt: skip


def counted(study: Study) -> Labels:
    """Scores of people in ordinary work, by the study's taxonomy, that nothing leaves out."""
    table = SCORES.table(study, COLUMNS)
    wanted = {(row["taxonomy"], row["taxonomy_version"]) for row in SETTINGS.rows(study)}
    columns = [table.column(name) for name in COLUMNS]
    kept = [
        (rater, dialogue, dimension, layer, score, evidence)
        for rater, kind, dialogue, dimension, name, version, layer, repeat, purpose, score, evidence, why in (
            zip(*columns, strict=True)
        )
        if kind == "participant"
        and not repeat
        and not why
        and purpose in ("", "work")
        and (name, version) in wanted
    ]
    rater, dialogue, dimension, layer, score, evidence = list(zip(*kept, strict=True)) or [()] * 6
    return Labels(
        np.array(rater, dtype=np.str_),
        np.array(dialogue, dtype=np.str_),
        np.array(dimension, dtype=np.str_),
        np.array(layer, dtype=np.str_),
        np.array(score, dtype=np.float64),
        np.array(evidence, dtype=np.bool_),
    )


def headlines(study: Study, language: str = "") -> str:
    """JSON, or nothing for a study without a score."""
    labels = counted(study)
    about = DIALOGUES.found(study, language).values_list("code", "language", "kind")
    clips = {code: Clip(spoken, kind == Kind.HUMAN_HUMAN) for code, spoken, kind in about}
    labels = labels.where(np.isin(labels.dialogue, list(clips)))
    if not labels.score.size:
        return ""
    languages = np.array([clips[code].language for code in labels.dialogue.tolist()])
    rows: list[dict[str, Any]] = []
    for scope in (ALL, *sorted(set(languages.tolist()))):
        inside = labels if scope == ALL else labels.where(languages == scope)
        rows += _agreement(inside, scope)
        rows += _revision(inside, scope, clips)
    content = {"format": FORMAT, "study": study.slug, "headlines": rows}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _agreement(labels: Labels, scope: str) -> Iterator[dict[str, Any]]:
    for layer in BLIND:
        for dimension in sorted(set(labels.dimension.tolist())):
            one = labels.where((labels.layer == layer) & (labels.dimension == dimension))
            if not one.score.size:
                continue
            heard = one.where(one.evidence)
            scores = stats.ratings_array(heard.score, heard.dialogue).values
            alpha = stats.krippendorff_alpha(scores)
            published = stats.krippendorff_alpha(stats.ratings_array(one.score, one.dialogue).values)
            yield {
                "report": "agreement",
                "layer": layer,
                "language": scope,
                "dimension": dimension,
                "n": alpha.n,
                "dialogues": alpha.items or 0,
                "alpha": _shown(alpha),
                "alpha_published": _shown(published),
                "percent": _shown(stats.percent_agreement(scores)),
            }


def _shown(estimate: stats.Estimate) -> float | None:
    return estimate.value if estimate.n >= FEWEST else None


def _revision(labels: Labels, scope: str, clips: dict[str, Clip]) -> Iterator[dict[str, Any]]:
    raw, shown = (labels.where(labels.layer == layer) for layer in (Layer.RAW, Layer.TRUTH_SHOWN))
    before = dict(zip(_keys(raw), raw.score.tolist(), strict=True))
    pairs = [
        (key, before[key], after)
        for key, after in zip(_keys(shown), shown.score.tolist(), strict=True)
        if key in before
    ]
    if not pairs:
        return
    keys, was, becomes = zip(*pairs, strict=True)
    human = np.array([clips[dialogue].is_human for _rater, dialogue, _dimension in keys])
    of = np.array([dimension for _rater, _dialogue, dimension in keys])
    for dimension in (OVERALL, *sorted(set(of.tolist()))):
        inside = np.ones(of.size, dtype=bool) if dimension == OVERALL else of == dimension
        found = stats.revision_impact(np.array(was)[inside], np.array(becomes)[inside], human[inside])
        enough, moved = found.n >= FEWEST, found.changed >= FEWEST
        yield {
            "report": "revision-impact",
            "language": scope,
            "dimension": dimension,
            "n": found.n,
            "changed": found.changed,
            "share": found.share if enough else None,
            "rmse": found.rmse if moved else None,
            "ratio": found.ratio if moved else None,
            "pull": found.pull if moved else None,
            "move": found.move if moved else None,
        }


def _keys(labels: Labels) -> list[tuple[str, str, str]]:
    return list(zip(labels.rater.tolist(), labels.dialogue.tolist(), labels.dimension.tolist(), strict=True))


def script(study: Study, language: str = "") -> str:
    """The script that makes the headlines anew; nothing where there are none."""
    if not SCORES.found(study, language).exists():
        return ""
    return (Path(__file__).parent / "reproduce_annotation.py").read_text(encoding="utf-8")


def register() -> None:
    """Called once when the app starts."""
    companions.add(Companion("headlines_annotation.json", headlines))
    companions.add(Companion("reproduce_annotation.py", script))
