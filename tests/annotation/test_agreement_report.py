"""The report on agreement, by hand: both codings, choices, layers, what is left out, what is too little."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotation.reports.agreement import build
from tests.annotation.scored_rows import Rows, row_of, rows_of
from turingsite import stats

#: Three raters, twelve dialogues; of the first seven only the lone 4 has evidence.
SETS = ("333333354215", "333333344125", "334333355224")
NAN = float("nan")


@pytest.fixture
def rows() -> Rows:
    made = Rows()
    for at in range(12):
        made.dialogue(f"d{at:02}", language="en" if at < 10 else "zh")
        for rater, said in enumerate(SETS):
            value = int(said[at])
            made.score(f"r{rater}", f"d{at:02}", "rhythm", None if at < 7 and value == 3 else value)
    return made


def test_alpha_is_on_evidence_and_the_published_coding_stands_beside(rows: Rows) -> None:
    result = rows.report(build)
    found = row_of(result, "alpha", dimension="rhythm")
    beside = row_of(result, "beside", dimension="rhythm")
    assert found["alpha"] == pytest.approx(0.7168, abs=5e-5)
    assert beside["published"] == pytest.approx(0.9241, abs=5e-5)
    assert (found["n"], found["raters"], found["dialogues"]) == (15, 3, 5)
    assert beside["no_evidence"] == pytest.approx(20 / 36)
    assert beside["answers"] == 36
    assert beside["agreement"] == pytest.approx(1 / 3)
    array = np.array([[int(said[at]) for said in SETS] for at in range(7, 12)], dtype=float)
    pairs = [(array[:, 0], array[:, 1]), (array[:, 0], array[:, 2]), (array[:, 1], array[:, 2])]
    kappas = [stats.cohen_kappa(*pair, weights="quadratic").value for pair in pairs]
    assert kappas[0] == pytest.approx(1 - (3 / 5) / (121 / 25))
    assert beside["kappa"] == pytest.approx(sum(kappas) / 3)  # type: ignore[arg-type]
    assert (beside["pairs"], beside["shared"]) == (3, 15)


def test_the_interval_is_that_of_the_library_and_the_reliability_goes_through_it(rows: Rows) -> None:
    found = row_of(rows.report(build), "alpha", dimension="rhythm")
    whole = [[NAN if at < 7 and said[at] == "3" else float(said[at]) for said in SETS] for at in range(12)]
    expected = stats.alpha_interval(whole).alpha
    assert (found["low"], found["high"], found["se"]) == (expected.low, expected.high, expected.se)
    assert found["k"] == 3
    for bound, name in (
        ("alpha", "reliability"), ("low", "reliability_low"), ("high", "reliability_high")
    ):  # fmt: skip
        assert found[name] == pytest.approx(3 * found[bound] / (1 + 2 * found[bound]))


def test_few_dialogues_are_named_in_the_row_and_below(rows: Rows) -> None:
    result = rows.report(build)
    assert row_of(result, "alpha", dimension="rhythm")["note"] == "interval too narrow: few dialogues"
    assert "fewer than 30 dialogues" in str(result.notes[0])


def test_all_dimensions_are_pooled_and_drawn_by_dialogue(rows: Rows) -> None:
    for at in range(12):
        for rater in range(3):
            rows.score(f"r{rater}", f"d{at:02}", "accent", 1 + (at + rater // 2) % 5)
    found = row_of(rows.report(build), "alpha", dimension="overall")
    rhythm = [[NAN if at < 7 and s[at] == "3" else float(s[at]) for s in SETS] for at in range(12)]
    accent = [[1.0 + (at + rater // 2) % 5 for rater in range(3)] for at in range(12)]
    both = [row for pair in zip(rhythm, accent, strict=True) for row in pair]
    expected = stats.alpha_interval(both, cluster=np.repeat(np.arange(12), 2)).alpha
    assert (found["alpha"], found["low"], found["high"]) == (expected.value, expected.low, expected.high)
    assert (found["n"], found["dialogues"]) == (15 + 36, 12)


def test_equal_scores_have_no_alpha_but_agreement_of_one() -> None:
    made = Rows()
    for at in range(6):
        made.dialogue(f"d{at}")
        for rater in "ab":
            made.score(rater, f"d{at}", "accent", 4)
    result = made.report(build)
    found = row_of(result, "alpha", dimension="accent")
    assert found["alpha"] is None
    assert found["reliability"] is None
    assert found["note"] == "all scores equal: alpha has no value, agreement is 1"
    beside = row_of(result, "beside", dimension="accent")
    assert beside["agreement"] == 1.0
    assert beside["low"] is None
    assert row_of(result, "alpha", dimension="rhythm")["note"] == "n = 0, not enough"


def test_scores_without_another_one_are_no_agreement() -> None:
    made = Rows()
    for at in range(6):
        made.dialogue(f"d{at}")
        made.score("a", f"d{at}", "accent", 1 + at % 5)
        if at < 2:
            made.score("b", f"d{at}", "accent", 1 + at % 5)
    found = row_of(made.report(build), "alpha", dimension="accent")
    assert found["alpha"] is None
    assert found["note"] == "n = 4, not enough"
    assert (found["n"], found["raters"], found["dialogues"]) == (4, 2, 2)


def test_only_peoples_ordinary_work_counts_and_the_rest_is_named(rows: Rows) -> None:
    before = rows.report(build)
    for purpose in ("calibration", "gold"):
        rows.score("r0", "d00", "accent", 1, purpose=purpose)
    rows.score("r0", "d01", "rhythm", 5, purpose="repeat", repeat=1)
    rows.score("r9", "d02", "rhythm", 5, exclusion="known")
    rows.score("r9", "d03", "rhythm", 5, exclusion="unfinished")
    rows.score("r9", "d04", "rhythm", 5, taxonomy_version=2)
    rows.score("judge", "d05", "rhythm", 5, rater_kind="machine")
    after = rows.report(build)
    assert after.tables == before.tables
    assert (after.basis.n, after.basis.persons, after.basis.dialogues) == (36, 3, 12)
    assert after.basis.excluded == {
        "calibration": 1, "gold": 1, "known": 1, "repeat": 1, "taxonomy": 1, "unfinished": 1
    }  # fmt: skip
    assert after.basis.excluded_total == 6
    assert after.basis.of == "scores"


def test_a_file_need_not_say_the_purpose(rows: Rows) -> None:
    before = rows.report(build)
    for row in rows.scores:
        row["purpose"] = ""
    assert rows.report(build) == before


def test_a_language_is_read_alone(rows: Rows) -> None:
    result = rows.report(build, language="zh")
    assert (result.basis.n, result.basis.dialogues) == (6, 2)
    assert row_of(result, "alpha", dimension="rhythm")["n"] == 6


def test_choices_have_kappa_and_ac1() -> None:
    """Both say human on three of five and machine on one: agreement .8, kappa .24/.44, AC1 .38/.58."""
    made = Rows()
    said = {"a": "HHHHM", "b": "HHHMM"}
    for at in range(5):
        made.dialogue(f"d{at}")
        for rater, answers in said.items():
            made.score(rater, f"d{at}", "rhythm", 1 + at % 5)
            made.choice(rater, f"d{at}", {"H": "human", "M": "machine"}[answers[at]])
    made.choice("a", "d0", "machine", repeat=1, purpose="repeat")
    made.choice("c", "d0", "machine", exclusion="known")
    found = row_of(made.report(build), "choice")
    assert found["agreement"] == pytest.approx(0.8)
    assert found["kappa"] == pytest.approx(0.24 / 0.44)
    assert found["ac1"] == pytest.approx(0.38 / 0.58)
    assert (found["n"], found["raters"], found["dialogues"], found["pairs"]) == (10, 2, 5, 1)
    assert row_of(Rows().report(build), "choice")["note"] == "n = 0, not enough"


def test_layers_are_compared_by_their_means_of_a_dialogue() -> None:
    made = Rows()
    raw = [(1, 2), (2, 3), (5, 5), (4, 4), (2, 1), (3, 5)]
    shown = [(1, 1), (3, 3), (5, 5), (5, 5), (1, 1), (5, 5)]
    for at, (before, after) in enumerate(zip(raw, shown, strict=True)):
        made.dialogue(f"d{at}")
        for rater, one, other in zip("ab", before, after, strict=True):
            made.score(rater, f"d{at}", "rhythm", one)
            made.score(rater, f"d{at}", "rhythm", other, layer="truth-shown")
    found = row_of(made.report(build), "layers", dimension="rhythm")
    assert (found["first"], found["second"], found["dialogues"]) == ("raw", "truth-shown", 6)
    moves = np.array([-0.5, 0.5, 0.0, 1.0, -0.5, 1.0])
    assert found["move"] == pytest.approx(moves.mean())
    half = stats.critical(0.95, 5) * moves.std(ddof=1) / math.sqrt(6)
    assert found["move_high"] == pytest.approx(moves.mean() + half)
    steps = [[2.0, 1.0], [2.0, 3.0], [5.0, 5.0], [4.0, 5.0], [2.0, 1.0], [4.0, 5.0]]
    assert found["alpha"] == stats.krippendorff_alpha(steps).value
    chosen = made.report(build, layer="truth-shown")
    assert chosen.layer == "truth-shown"
    assert row_of(chosen, "beside", dimension="rhythm")["agreement"] == 1.0


def test_one_layer_alone_has_nothing_to_be_compared_with(rows: Rows) -> None:
    assert "layers" not in {table.key for table in rows.report(build).tables}


def test_blind_experts_have_a_number_of_raters_of_their_own(rows: Rows) -> None:
    for row in rows.scores:
        row["layer"] = "blind-expert"
    assert {row["k"] for row in rows_of(rows.report(build, layer="blind-expert"), "alpha")} == {2}


def test_nothing_at_all_is_said_in_words() -> None:
    made = Rows()
    made.dimensions, made.settings = [], []
    result = made.report(build)
    assert [row["note"] for row in rows_of(result, "alpha")] == ["n = 0, not enough"]
