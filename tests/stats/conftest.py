"""Worked sets: rows are participants or raters, columns dialogues, '.' where there is nothing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

MACHINE = "1100.. 11..00 1.01.0 .1000. 11.1.1 0.00.0 .10.00 1.1.10 00..00 .1001."
HUMAN = "11.1 1.11 101. .111 11.1 .010 1.10 11.1 0.01 110."

#: Krippendorff's set of four raters and twelve units.
RATED = "123321412... 1233224125.3 .3332342251. 12332441251."


class Verdicts(NamedTuple):
    y: NDArray[np.float64]
    participant: NDArray[np.intp]
    item: NDArray[np.intp]


def verdicts(rows: str, first_item: int = 0) -> Verdicts:
    cells = [
        (float(mark), person, first_item + column)
        for person, row in enumerate(rows.split())
        for column, mark in enumerate(row)
        if mark != "."
    ]
    y, person, item = zip(*cells, strict=True)
    return Verdicts(np.array(y), np.array(person, dtype=np.intp), np.array(item, dtype=np.intp))


def scores_of(rows: str) -> NDArray[np.float64]:
    """Units × raters."""
    marks = [[np.nan if mark == "." else float(mark) for mark in row] for row in rows.split()]
    return np.array(marks).T


@pytest.fixture
def machine() -> Verdicts:
    return verdicts(MACHINE)


@pytest.fixture
def human() -> Verdicts:
    return verdicts(HUMAN, first_item=6)


@pytest.fixture
def both(machine: Verdicts, human: Verdicts) -> tuple[Verdicts, NDArray[np.bool_]]:
    joined = Verdicts(*(np.concatenate(pair) for pair in zip(machine, human, strict=True)))
    return joined, np.repeat([False, True], [machine.y.size, human.y.size])
