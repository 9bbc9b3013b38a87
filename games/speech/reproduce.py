"""Recompute the headlines of a study of the speech game from the tables beside this file.

Unpack the export and run ``python reproduce.py`` in it. Needs Python 3.9 or newer and nothing else; an
export with Parquet tables alone also needs pyarrow. Every figure in headlines.json (success rate and
accuracy: value, 95 % interval, verdicts, persons, dialogues) is made anew here, without the program that
wrote it, and compared. Ends with 0 where all agree, with 1 and the differences where not.

The interval: persons and dialogues are both samples (Cameron, Gelbach, Miller 2011). With u = (y - p)/N per
verdict, V = max(Vp + Vd - Vi, Vp, Vd), where Vp and Vd are k/(k-1) times the sum of squared sums of u by
person and by dialogue, Vi is N/(N-1) times the sum of squares. A share has Wilson's interval with p(1-p)/V
verdicts and t with one less than the smaller number of clusters as degrees of freedom; a share of 0 or 1 that
number itself and the normal distribution. Balanced accuracy is the mean of two shares, plus or minus t times
the root of V, degrees of freedom by the smallest number of clusters on either side.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
LEVEL = 0.95
# Fewer are not shown: verdicts (on the smaller side, for balanced accuracy), persons, dialogues.
FEWEST_VERDICTS, FEWEST_CLUSTERS = 5, 2
FEWEST_COMPARED = 3  # clusters on either side of what neither 0 nor 1 holds
TOLERANCE = 1e-9  # of values and bounds; counts agree exactly
KINDS = {"H-H": "human_human", "H-M": "human_machine", "PH": "pseudo_human"}
FIGURES = ("value", "low", "high", "n", "persons", "dialogues")


class Problem(Exception):
    """What keeps the figures from being made, in words."""


class Verdict(NamedTuple):
    person: str
    dialogue: str
    said_human: bool
    is_human: bool
    kind: str
    system: str
    language: str
    origin: str
    sets: frozenset[str]


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


def read_json(folder: Path, name: str) -> Any:
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Problem(f"{name} is missing: the export was cut off, or not unpacked whole.") from None
    except ValueError:
        raise Problem(f"{name} is not as it was written.") from None


def changed_files(folder: Path) -> list[str]:
    """Files that are not as the manifest says, each in words."""
    found = []
    for entry in read_json(folder, "manifest.json")["files"]:
        path = folder / entry["path"]
        if not path.exists():
            found.append(f"{entry['path']} is missing.")
            continue
        digest = hashlib.sha256()
        with path.open("rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
        if digest.hexdigest() != entry["sha256"]:
            found.append(f"{entry['path']} is not as it was written: its SHA-256 differs.")
    return found


def is_true(cell: Any) -> bool:
    return cell in (True, "true")


def verdicts_of(folder: Path) -> list[Verdict]:
    """The verdicts of people in the speech game that are in some analysis set."""
    about = {row["dialogue"]: row for row in tables_of(folder, "dialogues")}
    found = []
    for row in tables_of(folder, "verdicts"):
        if row["activity"] != "speech" or row["rater_kind"] != "participant":
            continue
        # Excluded rows (known recording, for fun, pilot, test, check item) are in no set.
        if row["exclusion"] or row["choice"] == "unscored":
            continue
        breaks = row["protocol_breaks"]
        sets = {"all"}
        if is_true(row["round_finished"]):
            sets.add("published")
        if str(row["round_number"]) == "1":
            sets.add("first_round")
        if not (json.loads(breaks or "[]") if isinstance(breaks, str) else breaks):
            sets.add("per_protocol")
        clip = about[row["dialogue"]]
        found.append(
            Verdict(
                person=row["rater"],
                dialogue=row["dialogue"],
                said_human=row["choice"] == "human",
                is_human=clip["kind"] == "human_human",
                kind=clip["kind"],
                system=clip["system"] or "",
                language=clip["language"],
                origin=clip["origin"] or "",
                sets=frozenset(sets),
            )
        )
    return found


# Which verdicts a headline is about


def chooser(headline: dict[str, Any]) -> Callable[[Verdict], bool]:
    language, which = headline["language"], headline["set"]

    def is_of(one: Verdict) -> bool:
        return which in one.sets and language in ("all", one.language) and about(one)

    if headline["report"] == "success-rate":
        speaker = headline["speaker"]

        def about(one: Verdict) -> bool:
            if speaker == "human":
                return one.is_human
            if speaker == "machines":
                return not one.is_human
            if speaker.startswith("human:"):
                return one.is_human and one.origin == speaker[len("human:") :]
            return not one.is_human and one.system == speaker

    elif headline["report"] == "accuracy":
        kind = headline["kind"]

        def about(one: Verdict) -> bool:
            return kind in ("all", "balanced") or one.kind == KINDS[kind]

    else:
        raise Problem(f"headlines.json has a report that this script does not know: {headline['report']}.")
    return is_of


def outcome(headline: dict[str, Any], one: Verdict) -> float:
    if headline["report"] == "success-rate":
        return float(one.said_human)
    return float(one.said_human == one.is_human)


# Statistics


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Regularized incomplete beta function by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny = 1e-300
    c, d = 1.0, 1 / max(1 - (a + b) * x / (a + 1), tiny)
    value = d
    for m in range(1, 10_000):
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + top * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + top / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return math.exp(log_front) * value / a


def t_quantile(df: int) -> float:
    """The two-sided critical value of t at the level, by halving."""
    outside = 1 - LEVEL
    low, high = 0.0, 2.0
    while incomplete_beta(df / 2, 0.5, df / (df + high * high)) > outside:
        high *= 2
    for _step in range(200):
        middle = (low + high) / 2
        if incomplete_beta(df / 2, 0.5, df / (df + middle * middle)) > outside:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def clusters(labels: list[str]) -> int:
    return len(set(labels))


def two_way(u: list[float], persons: list[str], dialogues: list[str]) -> float | None:
    """The variance of the sum of ``u``; None where there are too few clusters, or nothing varies."""

    def by(labels: list[str]) -> float:
        sums: dict[str, float] = defaultdict(float)
        for value, label in zip(u, labels):  # noqa: B905  (older Python has no strict)
            sums[label] += value
        return len(sums) / (len(sums) - 1) * math.fsum(one * one for one in sums.values())

    if min(clusters(persons), clusters(dialogues)) < 2:
        return None
    squares = math.fsum(value * value for value in u)
    plain = len(u) / (len(u) - 1) * squares
    of_persons, of_dialogues = by(persons), by(dialogues)
    variance = max(of_persons + of_dialogues - plain, of_persons, of_dialogues)
    return None if squares > 0 and variance <= 1e-12 * plain else variance


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    middle, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if p <= 0 else (middle - half) / scale
    high = 1.0 if p >= 1 else (middle + half) / scale
    return max(0.0, low), min(1.0, high)


class Interval(NamedTuple):
    value: float
    low: float
    high: float


def share(y: list[float], persons: list[str], dialogues: list[str]) -> Interval | None:
    """Value and bounds of a share; None where there is no interval."""
    if not y:
        return None
    p = math.fsum(y) / len(y)
    fewest = min(clusters(persons), clusters(dialogues))
    if p in (0.0, 1.0):
        low, high = wilson(p, fewest, NormalDist().inv_cdf(0.5 + LEVEL / 2))
        return Interval(p, low, high)
    variance = two_way([(one - p) / len(y) for one in y], persons, dialogues)
    if variance is None:
        return None
    low, high = wilson(p, p * (1 - p) / variance, t_quantile(fewest - 1))
    return Interval(p, low, high)


def balanced(
    y: list[float], is_human: list[bool], persons: list[str], dialogues: list[str]
) -> Interval | None:
    """Mean of the shares on humans and on machines, with bounds; None where there is no interval."""
    size = {side: is_human.count(side) for side in (True, False)}
    if not all(size.values()):
        return None
    rows = list(zip(y, is_human, persons, dialogues))  # noqa: B905
    mean = {side: math.fsum(one[0] for one in rows if one[1] is side) / size[side] for side in size}
    fewest = min(
        clusters([label for label, inside in zip(labels, is_human) if inside is side])  # noqa: B905
        for side in size
        for labels in (persons, dialogues)
    )
    variance = two_way(
        [(one - mean[side]) / (2 * size[side]) for one, side, *_who in rows], persons, dialogues
    )
    if fewest < FEWEST_COMPARED or not variance:
        return None
    value, half = (mean[True] + mean[False]) / 2, t_quantile(fewest - 1) * math.sqrt(variance)
    return Interval(value, max(0.0, value - half), min(1.0, value + half))


def recompute(headline: dict[str, Any], verdicts: list[Verdict]) -> dict[str, Any]:
    """The figures of one headline; no value where there is not enough to show one."""
    is_of = chooser(headline)
    chosen = [one for one in verdicts if is_of(one)]
    y = [outcome(headline, one) for one in chosen]
    persons, dialogues = [one.person for one in chosen], [one.dialogue for one in chosen]
    fewest = len(y)
    if headline.get("kind") == "balanced":
        sides = [one.is_human for one in chosen]
        found = balanced(y, sides, persons, dialogues)
        fewest = min(sides.count(True), sides.count(False))
    else:
        found = share(y, persons, dialogues)
    counts = {"n": len(y), "persons": clusters(persons), "dialogues": clusters(dialogues)}
    if fewest < FEWEST_VERDICTS or min(counts["persons"], counts["dialogues"]) < FEWEST_CLUSTERS:
        found = None
    value, low, high = found or (None, None, None)
    return {"value": value, "low": low, "high": high, **counts}


# Comparing


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, (int, float)):
        return abs(one - other) <= TOLERANCE
    return bool(one == other)


def differences(headline: dict[str, Any], verdicts: list[Verdict]) -> list[str]:
    found = recompute(headline, verdicts)
    who = headline.get("speaker", headline.get("kind")) or "system not named"
    name = f"{headline['report']}, {who}, language {headline['language']}, set {headline['set']}"
    return [
        f"{name}: {key} is {headline[key]} in headlines.json, {found[key]} from the tables."
        for key in FIGURES
        if not same(found[key], headline[key])
    ]


def main(folder: Path = HERE) -> int:
    def say(line: str) -> None:
        sys.stdout.write(line + "\n")

    try:
        problems = changed_files(folder)
        headlines = read_json(folder, "headlines.json")["headlines"]
        verdicts = verdicts_of(folder)
        wrong = [found for found in (differences(one, verdicts) for one in headlines) if found]
    except Problem as problem:
        say(str(problem))
        return 1
    except (KeyError, ValueError, TypeError) as problem:
        say(f"The tables cannot be read as they were written: {problem!r}.")
        return 1
    for line in [*problems, *(line for found in wrong for line in found)]:
        say(line)
    say(
        f"{len(headlines) - len(wrong)} of {len(headlines)} headlines come out of the tables "
        f"({len(verdicts)} verdicts of people)."
    )
    return 1 if problems or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
