"""One rule for every kind: which gaps are redrawn, from what, and what happens to the sound."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sounds import RATE, talk
from turingsite.audio.activity import speech_spans
from turingsite.audio.gaps import BUILT_IN, FEWEST, PROFILES, fill, gap_profile, plan, redraw
from turingsite.audio.turns import Turn, gaps
from turingsite.errors import Invalid

OWN, PUBLISHED, AS_RECORDED = (gap_profile(n) for n in ("own-1", "published-1", "as-recorded-1"))
TURNS = [Turn("A", 0, 1), Turn("B", 2.8, 4), Turn("A", 4.05, 5), Turn("B", 4.9, 6), Turn("A", 6.8, 7)]
HUMAN = [0.1 + 0.01 * n for n in range(40)]


def test_only_gaps_over_800_ms_are_redrawn_from_human_ones() -> None:
    made = plan(TURNS, OWN, pool=[*HUMAN, 1.5, 3.0, -0.2], seed=[1])
    assert [c.turn for c in made.changes] == [1]
    assert made.changes[0].old == pytest.approx(1.8)
    assert (made.pool, made.pool_size) == ("human", 40)
    assert made.changes[0].new in HUMAN


def test_no_gap_over_the_bound_remains_whatever_people_did() -> None:
    long = [Turn("A", 2.0 * n, 2.0 * n + 0.5) for n in range(200)]
    made = plan(long, OWN, pool=[*HUMAN, *[2.0] * 500], seed=[1])
    assert len(made.changes) == 199
    assert max(c.new for c in made.changes) <= 0.8


def test_drawn_gaps_are_spread_as_the_human_ones() -> None:
    long = [Turn("A", 2.0 * n, 2.0 * n + 0.5) for n in range(4_000)]
    new = np.array([c.new for c in plan(long, OWN, pool=HUMAN, seed=[5]).changes])
    assert new.mean() == pytest.approx(np.mean(HUMAN), abs=0.01)
    assert new.std() == pytest.approx(np.std(HUMAN), abs=0.01)


def test_with_too_few_human_gaps_the_built_in_spread_is_used_and_named() -> None:
    made = plan(TURNS, OWN, pool=HUMAN[: FEWEST - 1], seed=[1])
    assert made.pool == "built-in"
    assert made.changes[0].new in BUILT_IN
    assert max(BUILT_IN) <= 0.8


def test_the_published_rule_draws_every_gap_from_180_to_230_ms() -> None:
    made = plan(TURNS, PUBLISHED, pool=HUMAN, seed=[1])
    assert [c.turn for c in made.changes] == [1, 2, 4]  # the overlap before turn 3 stays
    assert all(0.18 <= c.new <= 0.23 for c in made.changes)
    assert made.pool == "range"


def test_as_recorded_leaves_everything() -> None:
    assert plan(TURNS, AS_RECORDED, pool=HUMAN, seed=[1]).changes == []


def test_the_same_seed_draws_the_same_gaps() -> None:
    draw = [plan(TURNS, PUBLISHED, pool=[], seed=seed).changes for seed in ([3], [3], [4])]
    assert draw[0] == draw[1] != draw[2]


def test_an_unknown_profile_is_named_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match="own-1"):
        gap_profile("mine-9")
    assert all(name == profile.name for name, profile in PROFILES.items())


@pytest.mark.parametrize("profile", [OWN, PUBLISHED])
def test_the_sound_has_the_gaps_that_were_drawn(profile: object) -> None:
    samples, turns = talk([("A", 0.2, 1.0), ("B", 1.5, 1.0), ("A", 0.1, 1.0), ("B", 2.0, 1.0)], tail=0.3)
    made = plan(turns, profile, pool=HUMAN, seed=[2])  # type: ignore[arg-type]
    result, moved = redraw(samples, turns, made.changes, seed=[2])
    new = {c.turn: c.new for c in made.changes}
    wanted = [new.get(i, g.length) for i, g in enumerate(gaps(turns), start=1)]
    assert [g.length for g in gaps(moved)] == [pytest.approx(w, abs=1e-3) for w in wanted]
    assert len(result) / RATE == pytest.approx(
        len(samples) / RATE + sum(c.new - c.old for c in made.changes), abs=1e-3
    )
    # each turn sounds exactly as before, at its new place
    for old, now in zip(turns, moved, strict=True):
        n = round((old.end - old.start) * RATE)
        a, b = round(old.start * RATE), round(now.start * RATE)
        assert np.array_equal(samples[a : a + n], result[b : b + n])
    spans = speech_spans(result)
    assert spans[0][0] == pytest.approx(0.2, abs=0.03)


def test_cutting_and_filling_leave_the_room_tone_even() -> None:
    samples, turns = talk([("A", 0.6, 1.0), ("B", 1.5, 1.0), ("A", 0.1, 1.0)], tail=0.3)
    made = plan(turns, PUBLISHED, pool=[], seed=[2])
    result, moved = redraw(samples, turns, made.changes, seed=[2])
    for gap in gaps(moved):
        room = result[round(gap.at * RATE) + 20 : round((gap.at + gap.length) * RATE) - 20]
        frames = room[: len(room) // 240 * 240].reshape(-1, 240)
        level = 10 * np.log10((frames**2).mean(axis=1))
        assert level.max() < -60
        assert level.min() > -74
        assert np.abs(room).max() < 0.005  # no click


def test_filling_is_silence_where_there_is_no_room_tone() -> None:
    rng = np.random.default_rng(1)
    assert not fill(np.zeros(0, dtype=np.float32), 100, rng).any()
    tone = np.full(RATE // 10, 0.01, dtype=np.float32)
    filled = fill(tone, RATE, rng)
    assert len(filled) == RATE
    assert filled.min() > 0.009
