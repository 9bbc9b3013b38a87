"""The headlines that go into every export, read at the same moment as its tables, and the script that
checks them. The figures are those of the reports ``success-rate`` and ``accuracy``."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from django.db.models import TextField
from django.db.models.functions import Cast
from numpy.typing import NDArray

from dialogues.analysis_sets import sets_of
from dialogues.datasets import DIALOGUES, ITEMS, VERDICTS
from dialogues.models import Choice, Kind
from games.speech.reports.judged import ACTIVITY, KINDS, scopes
from studies import tidy
from studies.estimates import enough
from studies.models import Study
from studies.registry import Companion, companions
from studies.reports import ANALYSIS_SETS
from turingsite import stats

FORMAT = 1
#: What the report success-rate calls them.
HUMANS, MACHINES = "human", "machines"
Mask = NDArray[np.bool_]
#: What the analysis sets look at; breaks of protocol as text, decoded once for each text there is.
OF_SETS = ("choice", "exclusion", "round_finished", "round_number", "protocol_breaks")


class Headlines:
    """Ten bytes of each verdict, and what is known of each dialogue: memory stays flat for a million."""

    def __init__(self, study: Study, language: str = "") -> None:
        self._study, self._language = study, language
        self._people: dict[int, int] = {}
        self._clips: dict[int, int] = {}
        self._person, self._clip = array("i"), array("i")
        self._human, self._sets = array("b"), array("b")
        self._about: dict[int, tuple[str, str, str, str]] = {}
        self._used: set[int] = set()

    def _read(self) -> None:
        dialogues = DIALOGUES.found(self._study, self._language)
        about = ("kind", "language", "judged_system", "origin")
        self._about = {row[0]: row[1:] for row in dialogues.values_list("pk", *about)}
        items = ITEMS.found(self._study, self._language)
        self._used = set(items.values_list("dialogue_id", flat=True))
        verdicts = VERDICTS.found(self._study, self._language).filter(
            activity=ACTIVITY, rater__participant__isnull=False
        )
        read = verdicts.annotate(breaks=Cast("protocol_breaks", TextField())).values_list(
            "rater_id", "dialogue_id", *OF_SETS[:-1], "breaks"
        )
        known: dict[tuple[Any, ...], int] = {}
        for rater, clip, *key in read.iterator(chunk_size=tidy.CHUNK):
            self._used.add(clip)
            bits = known.get(found := tuple(key))
            if bits is None:
                bits = known[found] = _bits(*key)
            if bits:
                self._person.append(self._people.setdefault(rater, len(self._people)))
                self._clip.append(self._clips.setdefault(clip, len(self._clips)))
                self._human.append(key[0] == Choice.HUMAN)
                self._sets.append(bits)

    def text(self) -> str:
        self._read()
        content = {
            "format": FORMAT,
            "study": self._study.slug,
            "interval": "95 %, two-way over persons and dialogues; no value where there is not enough",
            "headlines": list(self._headlines()),
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"

    def _headlines(self) -> Iterator[dict[str, Any]]:
        about = [self._about[code] for code in self._clips]
        clip = np.frombuffer(self._clip, dtype=np.intc)

        def of(test: list[bool]) -> Mask:
            """Verdicts on the clips that pass."""
            return np.asarray(test, dtype=bool)[clip] if about else np.zeros(0, dtype=bool)

        human = np.asarray(self._human, dtype=np.float64)
        is_human = of([kind == Kind.HUMAN_HUMAN for kind, *_rest in about])
        correct = np.where(is_human, human, 1 - human)
        bits = np.asarray(self._sets, dtype=np.int8)
        languages = tuple(sorted({self._about[code][1] for code in self._used if code in self._about}))
        for at, name in enumerate(ANALYSIS_SETS):
            in_set = (bits & (1 << at)) != 0
            for scope in scopes(languages):
                inside = in_set if scope == "all" else in_set & of([one[1] == scope for one in about])
                head = {"set": name, "language": scope}
                for speaker in self._speakers():
                    mask = inside & of([_speaks(one, speaker) for one in about])
                    yield {
                        "report": "success-rate", **head, "speaker": speaker, **self._share(human, mask)
                    }  # fmt: skip
                for label, kind in (*KINDS, ("all", "")):
                    mask = inside & of([kind in ("", one[0]) for one in about])
                    yield {"report": "accuracy", **head, "kind": label, **self._share(correct, mask)}
                estimate = stats.balanced_accuracy(
                    correct[inside], is_human[inside], self._persons(inside), clip[inside]
                )
                humans = int(is_human[inside].sum())
                fewest = min(humans, int(inside.sum()) - humans)
                yield {
                    "report": "accuracy", **head, "kind": "balanced", **self._row(estimate, inside, fewest)
                }  # fmt: skip

    def _speakers(self) -> list[str]:
        known = self._about.values()
        systems = sorted(
            {system or "" for kind, _language, system, _origin in known if kind != Kind.HUMAN_HUMAN}
        )
        origins = sorted(
            {origin for kind, _language, _system, origin in known if kind == Kind.HUMAN_HUMAN and origin}
        )
        parts = [f"{HUMANS}:{origin}" for origin in origins] if len(origins) > 1 else []
        return [*systems, *([MACHINES] if systems else []), HUMANS, *parts]

    def _persons(self, mask: Mask) -> NDArray[np.intc]:
        persons: NDArray[np.intc] = np.frombuffer(self._person, dtype=np.intc)[mask]
        return persons

    def _share(self, values: NDArray[np.float64], mask: Mask) -> dict[str, Any]:
        clips = np.frombuffer(self._clip, dtype=np.intc)[mask]
        return self._row(stats.proportion(values[mask], self._persons(mask), clips), mask)

    def _row(self, estimate: stats.Estimate, mask: Mask, fewest: int | None = None) -> dict[str, Any]:
        good = enough(estimate, fewest)
        return {
            "value": estimate.value if good else None,
            "low": estimate.low if good else None,
            "high": estimate.high if good else None,
            "n": int(mask.sum()),
            "persons": int(np.unique(self._persons(mask)).size),
            "dialogues": int(np.unique(np.frombuffer(self._clip, dtype=np.intc)[mask]).size),
        }


def _bits(*of_sets: Any) -> int:
    """The analysis sets that have a verdict, a bit for each."""
    row = {**dict(zip(OF_SETS, of_sets, strict=True)), "protocol_breaks": json.loads(of_sets[-1])}
    return sum(1 << ANALYSIS_SETS.index(name) for name in sets_of(row))


def _speaks(about: tuple[str, str, str, str], speaker: str) -> bool:
    kind, _language, system, origin = about
    if kind == Kind.HUMAN_HUMAN:
        return speaker in (HUMANS, f"{HUMANS}:{origin}")
    return speaker in (MACHINES, system or "")


def headlines(study: Study, language: str = "") -> str:
    return Headlines(study, language).text()


def script(study: Study, language: str = "") -> str:
    """The script that makes the headlines anew from the tables; it imports nothing of this program."""
    return (Path(__file__).parent / "reproduce.py").read_text(encoding="utf-8")


def register() -> None:
    companions.add(Companion("headlines.json", headlines))
    companions.add(Companion("reproduce.py", script))
