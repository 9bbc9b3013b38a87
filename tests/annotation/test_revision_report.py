"""Revision impact by hand: what changed, how far, towards what; published figures beside, never instead."""

from __future__ import annotations

import math

import pytest

from annotation.reports.revision import PUBLISHED, build
from tests.annotation.scored_rows import Rows, row_of, rows_of
from turingsite import stats

HUMAN, MACHINE = "human_human", "pseudo_human"
#: Before and after, None without evidence. Towards the truth: +2, −1, +2, −3, +1.
REVIEWED = [
    (HUMAN, 3, 5), (HUMAN, 2, 2), (HUMAN, 4, 3), (HUMAN, None, 3),
    (MACHINE, 4, 2), (MACHINE, 3, 3), (MACHINE, 2, 5), (MACHINE, 2, 1),
]  # fmt: skip


@pytest.fixture
def rows() -> Rows:
    made = Rows()
    for at, (kind, before, after) in enumerate(REVIEWED):
        made.dialogue(f"d{at}", kind, system="" if kind == HUMAN else "parrot")
        rater = "ab"[at % 2]
        made.score(rater, f"d{at}", "rhythm", before)
        made.score(rater, f"d{at}", "rhythm", after, layer="truth-shown")
    return made


def test_share_rmse_and_ratio_are_those_worked_by_hand(rows: Rows) -> None:
    result = rows.report(build, layer="truth-shown")
    for dimension in ("rhythm", "overall"):
        found = row_of(result, "impact", dimension=dimension)
        assert (found["n"], found["changed"]) == (8, 5)
        assert found["share"] == pytest.approx(5 / 8)
        assert found["rmse"] == pytest.approx(math.sqrt((4 + 1 + 4 + 9 + 1) / 5))
        assert found["ratio"] == pytest.approx(math.sqrt(3.8) / 4)
        assert (found["raters"], found["dialogues"]) == (2, 8)
    assert result.basis.n == 8
    assert row_of(result, "impact", dimension="accent")["note"] == "n = 0, not enough"


def test_the_pull_counts_moves_towards_what_the_speaker_is(rows: Rows) -> None:
    result = rows.report(build, layer="truth-shown")
    found = row_of(result, "pull", dimension="rhythm")
    assert found["pull"] == pytest.approx(3 / 5)
    assert found["move"] == pytest.approx((2 - 1 + 2 - 3 + 1) / 5)
    assert found["n"] == 5
    before, after = ([pair[at] or 3 for pair in REVIEWED] for at in (1, 2))
    library = stats.revision_impact(before, after, [kind == HUMAN for kind, _b, _a in REVIEWED])
    assert found["pull"] == pytest.approx(library.pull)
    assert found["move"] == pytest.approx(library.move)


def test_evidence_found_is_no_change_of_the_published_coding_but_is_counted(rows: Rows) -> None:
    found = row_of(rows.report(build, layer="truth-shown"), "evidence", dimension="rhythm")
    assert (found["n"], found["changed"], found["reviewed"]) == (7, 5, 8)
    assert (found["found"], found["taken"]) == (1, 0)


def test_scores_that_were_not_reviewed_are_no_pairs(rows: Rows) -> None:
    before = rows.report(build, layer="truth-shown")
    rows.dialogue("d9")
    rows.score("a", "d9", "rhythm", 5)
    rows.score("a", "d0", "accent", 5)
    rows.score("b", "d9", "rhythm", 4, layer="truth-shown")
    after = rows.report(build, layer="truth-shown")
    assert rows_of(after, "pull") == rows_of(before, "pull")
    assert rows_of(after, "impact") == rows_of(before, "impact")


def test_few_changes_are_named() -> None:
    made = Rows()
    for at in range(6):
        made.dialogue(f"d{at}")
        made.score("a", f"d{at}", "rhythm", 2)
        made.score("a", f"d{at}", "rhythm", 3 if at < 3 else 2, layer="truth-shown")
        made.score("a", f"d{at}", "accent", 2)
        made.score("a", f"d{at}", "accent", 2, layer="truth-shown")
    result = made.report(build, layer="truth-shown")
    found = row_of(result, "impact", dimension="rhythm")
    assert (found["share"], found["rmse"], found["note"]) == (0.5, None, "n = 3, not enough")
    assert row_of(result, "pull", dimension="rhythm")["pull"] is None
    none = row_of(result, "impact", dimension="accent")
    assert (none["share"], none["note"]) == (0.0, "none changed")


def test_published_figures_stand_below_ones_own_only_for_the_published_dimensions(rows: Rows) -> None:
    assert all(row["source"] == "study" for row in rows_of(rows.report(build, layer="truth-shown"), "impact"))
    made = Rows(tuple(key for key in PUBLISHED if key != "overall"))
    found = rows_of(made.report(build, layer="truth-shown"), "impact")
    assert [row["source"] for row in found] == ["study", "published"] * 4
    shown = {
        row["dimension"]: (row["share"], row["rmse"], row["ratio"])
        for row in found
        if row["source"] == "published"
    }
    assert shown["overall"] == (0.2944, 1.9903, 0.4976)
    assert shown["pronunciation-accuracy"] == (0.3596, 2.1085, 0.5271)
    assert shown["textual-sentiment"] == (0.3472, 1.9579, 0.4895)
    assert shown["linguistic-imprecision"] == (0.3273, 2.1230, 0.5308)
    for share, rmse, ratio in shown.values():
        assert 0 < share < 1
        assert rmse / 4 == pytest.approx(ratio, abs=1e-4)


def test_p_is_of_dimensions_alone_and_adjusted_over_them() -> None:
    made = Rows()
    for at in range(12):
        made.dialogue(f"d{at:02}", HUMAN if at % 2 else MACHINE)
        for rater in "abcd":
            for dimension, step in (("rhythm", 1), ("accent", 1 if at % 3 else -1)):
                made.score(rater, f"d{at:02}", dimension, 3)
                after = 3 + step * (1 if at % 2 else -1)
                made.score(rater, f"d{at:02}", dimension, after, layer="truth-shown")
    result = made.report(build, layer="truth-shown")
    rhythm, accent = (row_of(result, "pull", dimension=key) for key in ("rhythm", "accent"))
    assert rhythm["pull"] == 1.0
    assert accent["pull"] == pytest.approx(8 / 12)
    assert (rhythm["p_holm"], accent["p_holm"]) == tuple(
        pytest.approx(value) for value in stats.holm({0: rhythm["p"], 1: accent["p"]}).values()
    )
    assert {rhythm["family"], accent["family"]} == {"pull"}
    overall = row_of(result, "pull", dimension="overall")
    assert overall["pull"] == pytest.approx((48 + 32) / 96)
    assert overall.get("p") is None
