"""Gaps, overlaps and each speaker's own stretches, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from turingsite.audio.turns import Turn, alone, cut_out, gaps, overlaps, seconds, spans_of, tidy

TALK = [Turn("A", 0.0, 3.0, 0), Turn("B", 2.5, 6.0, 1), Turn("A", 4.0, 4.5, 2), Turn("A", 7.0, 8.0, 3)]


def test_gaps_are_measured_from_the_end_of_all_talk() -> None:
    assert [(g.length, g.before, g.after) for g in gaps(TALK)] == [
        (-0.5, "A", "B"),
        (-2.0, "B", "A"),
        (1.0, "B", "A"),
    ]


def test_overlaps_and_what_is_left_of_each() -> None:
    assert overlaps(TALK) == [(2.5, 3.0), (4.0, 4.5)]
    assert alone(TALK, "A") == [(0.0, 2.5), (7.0, 8.0)]
    assert alone(TALK, "B") == [(3.0, 4.0), (4.5, 6.0)]
    assert seconds(spans_of(TALK, "A")) == pytest.approx(4.5)


def test_tidy_orders_cuts_and_drops() -> None:
    turns = [Turn("B", 5, 9, 1), Turn("A", -1, 2, 0), Turn("A", 12, 13, 2), Turn("B", 4, 4, 3)]
    assert tidy(turns, 8.0) == [Turn("A", 0, 2, 0), Turn("B", 5, 8, 1)]


def test_cut_out_takes_the_samples_of_the_spans() -> None:
    samples = np.arange(100, dtype=np.float32)
    assert cut_out(samples, [(0.0, 0.2), (0.5, 0.6)], rate=10).tolist() == [0, 1, 5]
    assert cut_out(samples, [], rate=10).size == 0
