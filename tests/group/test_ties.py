"""Ties: drawn evenly, with the room's seed, and told so that anybody can repeat the draw."""

from __future__ import annotations

from collections import Counter

from games.group.services.voting import decide
from studies.assignment import seeded

SEATS = ["a", "b", "c", "d", "e"]


def test_most_votes_decide_without_a_draw():
    found = decide(SEATS, Counter({"c": 3, "a": 1, "e": 1}), seed=7, number=1)
    assert found == ("c", [], {})


def test_ties_are_spread_evenly_over_the_games_of_a_study():
    """600 games as a study seeds them. Evenly: chi-square below its 99.9 % point (2 and 4 degrees)."""
    drawn: Counter[str] = Counter()
    nobody: Counter[str] = Counter()
    for number in range(1, 601):
        seed = seeded(20260302, "group", number, "room").getrandbits(62)
        tie = decide(SEATS, Counter({"b": 2, "c": 1, "d": 2, "e": 2}), seed=seed, number=1 + number % 4)
        assert tie.tied == ["b", "d", "e"]  # in seat order
        assert tie.code == tie.tied[int(str(tie.draw["index"]))]
        again = decide(SEATS, Counter({"b": 2, "c": 1, "d": 2, "e": 2}), seed=seed, number=1 + number % 4)
        assert again == tie
        drawn[tie.code] += 1
        nobody[decide(SEATS, Counter(), seed=seed, number=1).code] += 1
    assert set(drawn) == {"b", "d", "e"}
    assert sum((n - 200) ** 2 / 200 for n in drawn.values()) < 13.8
    assert set(nobody) == set(SEATS)
    assert sum((n - 120) ** 2 / 120 for n in nobody.values()) < 18.5


def test_rounds_of_one_game_draw_by_themselves():
    draws = {decide(SEATS, Counter(), seed=7, number=number).code for number in range(1, 20)}
    assert len(draws) > 1
