"""The dimension profile by hand: distributions, means, the gap to people, systems, the choice."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.reports.profile import build
from tests.annotation.scored_rows import Rows, row_of, rows_of
from turingsite import stats

#: Scores of rhythm by dialogue and rater, None without evidence.
PEOPLE = {"h0": (5, 4, 4), "h1": (4, 3, 5), "h2": (3, None, 4), "h3": (5, 5, 2)}
MACHINES = {"m0": (1, 2, 2), "m1": (3, 1, None), "m2": (2, 2, 4), "m3": (1, 3, 2)}


@pytest.fixture
def rows() -> Rows:
    made = Rows()
    for at, (code, scores) in enumerate({**PEOPLE, **MACHINES}.items()):
        human = code in PEOPLE
        kind = "human_human" if human else ("human_machine", "pseudo_human")[at % 2]
        system = "" if human else ("parrot", "mynah")[at % 2]
        made.dialogue(code, kind, system=system, language=("en", "zh")[at // 2 % 2])
        for rater, value in zip("abc", scores, strict=True):
            made.score(rater, code, "rhythm", value)
            heard_human = (value or 3) >= 4 or (value == 3 and rater == "a")
            made.choice(rater, code, "human" if heard_human else "machine")
    return made


def arrays(rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    known = [row for row in rows.scores if row["evidence"]]
    return (
        np.array([float(row["score"]) for row in known]),
        np.array([row["dialogue"][0] == "m" for row in known]),
        np.array([row["rater"] for row in known]),
        np.array([row["dialogue"] for row in known]),
    )


def test_distributions_are_shares_of_all_answers(rows: Rows) -> None:
    found = row_of(rows.report(build), "distribution", dimension="rhythm", speaker="human")
    assert found["n"] == 12
    steps = [found[key] for key in ("one", "two", "three", "four", "five", "none")]
    assert steps == [pytest.approx(count / 12) for count in (0, 1, 2, 4, 4, 1)]
    machines = row_of(rows.report(build), "distribution", dimension="rhythm", speaker="machines")
    assert machines["two"] == pytest.approx(5 / 12)
    assert machines["none_low"] < 1 / 12 < machines["none_high"]
    nothing = row_of(rows.report(build), "distribution", dimension="accent", speaker="human")
    assert (nothing["one"], nothing["note"]) == (None, "n = 0, not enough")


def test_means_and_the_gap_are_on_evidence_with_two_way_intervals(rows: Rows) -> None:
    result = rows.report(build)
    scores, machine, rater, dialogue = arrays(rows)
    people = row_of(result, "means", dimension="rhythm", speaker="human")
    expected = stats.mean(scores[~machine], rater[~machine], dialogue[~machine])
    assert people["mean"] == pytest.approx(44 / 11)
    assert (people["se"], people["df"]) == (pytest.approx(expected.se), expected.df)
    gap = row_of(result, "gap", dimension="rhythm")
    wanted = stats.difference(scores, machine, rater, dialogue)
    assert gap["difference"] == pytest.approx(23 / 11 - 44 / 11)
    assert (gap["low"], gap["high"]) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    assert gap["p"] == pytest.approx(stats.difference_test(wanted).p)
    above = stats.superiority(scores, machine, rater, dialogue)
    assert (gap["ps_value"], gap["ps_low"]) == (pytest.approx(above.value), pytest.approx(above.low))
    # Each of the 121 pairs counted one by one.
    pairs = [(x > y) + (x == y) / 2 for x in scores[machine] for y in scores[~machine]]
    assert gap["ps_value"] == pytest.approx(sum(pairs) / len(pairs))
    assert (gap["n"], gap["human_n"]) == (11, 11)


def test_dimensions_are_ranked_by_the_gap_and_all_of_them_stand_last(rows: Rows) -> None:
    for code in (*PEOPLE, *MACHINES):
        for at, rater in enumerate("abc"):
            rows.score(rater, code, "accent", 3 + (at + int(code[1])) % 2 + (code in MACHINES))
    found = rows_of(rows.report(build), "gap")
    assert [(row["dimension"], row.get("rank")) for row in found] == [
        ("rhythm", 1), ("accent", 2), ("overall", None)
    ]  # fmt: skip
    ps = stats.holm({at: row["p"] for at, row in enumerate(found[:2])})
    assert [row["p_holm"] for row in found[:2]] == [ps[0], ps[1]]
    overall = found[2]
    assert overall.get("p_holm") is None
    each: dict[tuple[str, str], list[int]] = {}
    for row in rows.scores:
        if row["evidence"]:
            each.setdefault((row["rater"], row["dialogue"]), []).append(row["score"])
    means = {key: sum(values) / len(values) for key, values in each.items()}
    expected = stats.difference(
        list(means.values()),
        [dialogue[0] == "m" for _rater, dialogue in means],
        [rater for rater, _dialogue in means],
        [dialogue for _rater, dialogue in means],
    )
    assert (overall["difference"], overall["low"]) == (
        pytest.approx(expected.value), pytest.approx(expected.low)
    )  # fmt: skip


def test_systems_kinds_and_languages_have_their_means(rows: Rows) -> None:
    found = rows_of(rows.report(build), "by_speaker")
    of_rhythm = {(row["by"], row["name"]): row for row in found if row["dimension"] == "rhythm"}
    assert list(of_rhythm) == [
        ("system", "Mynah"), ("system", "Parrot"), ("system", "human speakers"),
        ("kind", "H-H"), ("kind", "H-M"), ("kind", "PH"),
        ("language", "English · human"), ("language", "English · machines"),
        ("language", "Chinese · human"), ("language", "Chinese · machines"),
    ]  # fmt: skip
    people = of_rhythm["system", "human speakers"]
    assert people["mean"] == pytest.approx(4.0)
    assert people["threes"] == pytest.approx(2 / 11)
    assert people["none"] == pytest.approx(1 / 12)
    parrot = of_rhythm["system", "Parrot"]  # m0, m2: two dialogues give no interval of a mean
    assert (parrot["mean"], parrot["note"]) == (None, "fewer than 3 dialogues or persons")
    alone = rows_of(rows.report(build, language="en"), "by_speaker")
    assert "language" not in {row["by"] for row in alone}


def test_the_relation_to_the_choice_is_an_auc_with_its_rank_correlation(rows: Rows) -> None:
    found = row_of(rows.report(build), "relation", dimension="rhythm")
    chose = {(row["rater"], row["dialogue"]): row["choice"] == "human" for row in rows.items}
    scores, _machine, rater, dialogue = arrays(rows)
    human = np.array([chose[pair] for pair in zip(rater, dialogue, strict=True)])
    expected = stats.superiority(scores, human, rater, dialogue)
    assert (found["auc"], found["low"]) == (pytest.approx(expected.value), pytest.approx(expected.low))
    assert found["rho"] == pytest.approx(stats.spearman(scores, human.astype(float)).value)
    assert found["said_human"] == pytest.approx(human.mean())
    assert found["n"] == 22
    for row in rows.items:
        row["choice"] = "human"
    same = row_of(rows.report(build), "relation", dimension="rhythm")
    assert (same["auc"], same["note"]) == (None, "one answer only")


def test_revised_labels_go_with_the_choices_of_their_raters(rows: Rows) -> None:
    for row in list(rows.scores):
        rows.scores.append({**row, "layer": "truth-shown"})
    raw, shown = rows.report(build), rows.report(build, layer="truth-shown")
    assert rows_of(raw, "relation") == rows_of(shown, "relation")


def test_people_alone_have_no_gap(rows: Rows) -> None:
    rows.scores = [row for row in rows.scores if row["dialogue"] in PEOPLE]
    found = row_of(rows.report(build), "gap", dimension="rhythm")
    assert (found["difference"], found["rank"], found["note"]) == (None, None, "n = 0, not enough")
