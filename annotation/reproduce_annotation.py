"""Recompute the headlines of a study's annotation from the tables beside this file.

Unpack the export and run ``python reproduce_annotation.py`` in it. Needs Python 3.9 or newer and nothing
else; an export with Parquet tables alone also needs pyarrow. Every figure in headlines_annotation.json is
made anew here, without the program that wrote it, and compared: Krippendorff's ordinal alpha by dimension on
scores with evidence and in the published coding (no evidence counts as 3), percent agreement; what review
changed. Ends with 0 where all agree, with 1 and the differences where not.

Alpha = 1 - D_o/D_e over the coincidences of the scores of one dialogue: a dialogue with m >= 2 scores adds
each ordered pair with the weight 1/(m - 1). The squared difference of two values is that of the middles of
their ranks. Share changed: scores that are another number after review; RMSE over the changed ones; ratio: by
the range of the scale, 4; pull: share of the changed ones that moved towards the pole of the truth.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
FEWEST = 5  # scores; fewer are not shown
TOLERANCE = 1e-9
ALL, OVERALL = "all", "overall"  # languages; dimensions
NAMES = ("report", "layer", "language", "dimension")


class Problem(Exception):
    """What keeps the figures from being made, in words."""


class Score(NamedTuple):
    rater: str
    dialogue: str
    dimension: str
    layer: str
    value: int
    evidence: bool


# Reading


def tables_of(folder: Path, key: str) -> Iterator[dict[str, Any]]:
    """Rows of a table from whichever format is there. Cells are text in CSV, values in the others."""
    folder = folder / "tables"
    if (folder / f"{key}.csv").exists():
        csv.field_size_limit(2**31 - 1)
        with (folder / f"{key}.csv").open(encoding="utf-8-sig", newline="") as file:
            for row in csv.DictReader(file):
                # An apostrophe in front keeps a spreadsheet from running the text; it is not part of it.
                yield {name: cell[1:] if cell.startswith("'") else cell for name, cell in row.items()}
    elif (folder / f"{key}.jsonl").exists():
        with (folder / f"{key}.jsonl").open(encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)
    elif (folder / f"{key}.parquet").exists():
        try:
            from pyarrow import parquet
        except ImportError:
            raise Problem("This export has Parquet tables only: install pyarrow to read them.") from None
        for batch in parquet.ParquetFile(folder / f"{key}.parquet").iter_batches():
            yield from batch.to_pylist()
    else:
        raise Problem(f"tables/{key} is missing: unpack the whole export first.")


def headlines_of(folder: Path) -> list[dict[str, Any]]:
    try:
        found = json.loads((folder / "headlines_annotation.json").read_text(encoding="utf-8"))
        return list(found["headlines"])
    except FileNotFoundError:
        raise Problem("headlines_annotation.json is missing: unpack the whole export first.") from None
    except (ValueError, KeyError, TypeError):
        raise Problem("headlines_annotation.json is not as it was written.") from None


def scores_of(folder: Path) -> list[Score]:
    """Scores of people in ordinary work, by the study's taxonomy, that nothing leaves out."""
    settings = {
        (row["taxonomy"], str(row["taxonomy_version"])) for row in tables_of(folder, "annotation_settings")
    }
    return [
        Score(
            row["rater"], row["dialogue"], row["dimension"], row["layer"], int(row["score"]),
            row["evidence"] in (True, "true"),
        )
        for row in tables_of(folder, "scores")
        if row["rater_kind"] == "participant"
        and str(row["repeat"]) == "0"
        and not row["exclusion"]
        and (row["purpose"] or "") in ("", "work")
        and (row["taxonomy"], str(row["taxonomy_version"])) in settings
    ]  # fmt: skip


# Statistics


def alpha(units: list[list[int]]) -> float | None:
    """Krippendorff's ordinal alpha of the scores of each unit; None where nothing can be told."""
    pairable = [unit for unit in units if len(unit) > 1]
    if len(pairable) < 2:
        return None
    together: dict[tuple[int, int], float] = defaultdict(float)
    for unit in pairable:
        counts = Counter(unit)
        for one, times in counts.items():
            for other, again in counts.items():
                pairs = times * (again - (one == other))
                together[one, other] += pairs / (len(unit) - 1)
    values = sorted({value for unit in pairable for value in unit})
    total = {one: math.fsum(together[one, other] for other in values) for one in values}
    n = math.fsum(total.values())
    place, below = {}, 0.0
    for value in values:  # the middle of its ranks
        place[value] = below + total[value] / 2
        below += total[value]
    observed = math.fsum(
        weight * (place[one] - place[other]) ** 2 for (one, other), weight in together.items()
    )
    expected = math.fsum(
        total[one] * total[other] * (place[one] - place[other]) ** 2 for one in values for other in values
    )
    return None if not expected else 1 - (n - 1) * observed / expected


def percent(units: list[list[int]]) -> float | None:
    """Share of equal pairs, each score counting once."""
    pairable = [unit for unit in units if len(unit) > 1]
    if not pairable:
        return None
    equal = math.fsum(
        times * (times - 1) / (len(unit) - 1) for unit in pairable for times in Counter(unit).values()
    )
    return equal / sum(map(len, pairable))


def units_of(scores: list[Score]) -> list[list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for one in scores:
        found[one.dialogue].append(one.value)
    return list(found.values())


def agreement(headline: dict[str, Any], scores: list[Score]) -> dict[str, Any]:
    """The figures of one headline of the report agreement."""
    own = [one for one in scores if one.layer == headline["layer"] and one.dimension == headline["dimension"]]
    heard, either = units_of([one for one in own if one.evidence]), units_of(own)
    pairable = [unit for unit in heard if len(unit) > 1]
    n = sum(map(len, pairable))
    n_published = sum(len(unit) for unit in either if len(unit) > 1)
    return {
        "n": n,
        "dialogues": len(pairable),
        "alpha": alpha(heard) if n >= FEWEST else None,
        "alpha_published": alpha(either) if n_published >= FEWEST else None,
        "percent": percent(heard) if n >= FEWEST else None,
    }


def revision(headline: dict[str, Any], scores: list[Score], is_human: dict[str, bool]) -> dict[str, Any]:
    """The figures of one headline of the report revision-impact."""
    own = [one for one in scores if headline["dimension"] in (OVERALL, one.dimension)]
    before = {(one.rater, one.dialogue, one.dimension): one.value for one in own if one.layer == "raw"}
    moves = [
        (one.value - before[key], is_human[one.dialogue])
        for one in own
        if one.layer == "truth-shown" and (key := (one.rater, one.dialogue, one.dimension)) in before
    ]
    changed = [(move, human) for move, human in moves if move]
    found: dict[str, Any] = {"n": len(moves), "changed": len(changed), "share": None}
    found |= {"rmse": None, "ratio": None, "pull": None, "move": None}
    if len(moves) >= FEWEST:
        found["share"] = len(changed) / len(moves)
    if len(changed) >= FEWEST:
        towards = [move if human else -move for move, human in changed]
        found["rmse"] = math.sqrt(math.fsum(move * move for move, _human in changed) / len(changed))
        found["ratio"] = found["rmse"] / 4
        found["pull"] = sum(move > 0 for move in towards) / len(changed)
        found["move"] = math.fsum(towards) / len(changed)
    return found


# Comparing


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return bool(one == other)


def differences(
    headline: dict[str, Any], scores: list[Score], language: dict[str, str], is_human: dict[str, bool]
) -> list[str]:
    scope = headline["language"]
    inside = [one for one in scores if one.dialogue in language and scope in (ALL, language[one.dialogue])]
    if headline["report"] == "agreement":
        found = agreement(headline, inside)
    elif headline["report"] == "revision-impact":
        found = revision(headline, inside, is_human)
    else:
        raise Problem(f"The headlines have a report that this script does not know: {headline['report']}.")
    name = ", ".join(str(headline[part]) for part in NAMES if part in headline)
    return [
        f"{name}: {key} is {headline[key]} in the headlines, {value} from the tables."
        for key, value in found.items()
        if not same(value, headline[key])
    ]


def main(folder: Path = HERE) -> int:
    def say(line: str) -> None:
        sys.stdout.write(line + "\n")

    try:
        headlines = headlines_of(folder)
        scores = scores_of(folder)
        about = list(tables_of(folder, "dialogues"))
        language = {row["dialogue"]: row["language"] for row in about}
        is_human = {row["dialogue"]: row["truth"] == "human" for row in about}
        wrong = [
            found for found in (differences(one, scores, language, is_human) for one in headlines) if found
        ]
    except Problem as problem:
        say(str(problem))
        return 1
    except (KeyError, ValueError, TypeError) as problem:
        say(f"The tables cannot be read as they were written: {problem!r}.")
        return 1
    for line in (line for found in wrong for line in found):
        say(line)
    good = len(headlines) - len(wrong)
    say(f"{good} of {len(headlines)} headlines come out of the tables ({len(scores)} scores of people).")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
