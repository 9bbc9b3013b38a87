"""Accuracy by groups of people, success by benchmark and strategy, named families."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.utils import translation

from dialogues.models import Choice, Kind, Verdict
from games.speech.reports.names import names_of
from studies.exports import export_study
from studies.questions import DECLINE
from studies.report_formats import FORMATS
from studies.reports import ReportResult, run_report, run_report_from
from tests import factories
from tests.speech.played import Played
from turingsite import stats

pytestmark = pytest.mark.django_db

AGES = ["18-25", "26-35", "36-45", "46+"]
SCALE = [*AGES, DECLINE]


def rows(result: ReportResult, table: str, **wanted: Any) -> list[Mapping[str, Any]]:
    found = next(one.rows for one in result.tables if one.key == table)
    return [one for one in found if all(one.get(key) == value for key, value in wanted.items())]


def row(result: ReportResult, table: str, **wanted: Any) -> Mapping[str, Any]:
    found = rows(result, table, **wanted)
    assert len(found) == 1, f"{len(found)} rows of {table} with {wanted}"
    return found[0]


def words_of(result: ReportResult, table: str, column: str) -> Mapping[str, Any]:
    found = next(one.headings for one in result.tables if one.key == table)
    return next(one.words for one in found if one.key == column)


@pytest.fixture
def asked(db: None) -> Callable[[str], Played]:
    """Makes a study whose people say what their letter stands for: a, b, c, d; x declines, - says nothing."""

    def make(ages: str) -> Played:
        played = Played("asked")
        profile = factories.QuestionnaireFactory(study=played.study)
        rng = np.random.default_rng(3)
        for letter in ages:
            person = factories.ParticipantFactory(study=played.study, device_class="phone")
            if letter != "-":
                value = DECLINE if letter == "x" else AGES["abcd".index(letter)]
                factories.AnswerFactory(rater=person.rater, questionnaire=profile, value=value, scale=SCALE)
            for dialogue in (*played.machine[:3], *played.human[:3]):
                right = rng.random() < (0.9 if letter == "a" else 0.5)
                human = right == (dialogue.kind == Kind.HUMAN_HUMAN)
                played.verdict(person, dialogue, Choice.HUMAN if human else Choice.MACHINE)
        # The ten of the worked set said nothing, and their verdicts are in no group.
        return played

    return make


def test_groups_have_the_two_way_interval_and_persons_beside(asked: Callable[[str], Played]) -> None:
    played = asked("a" * 12 + "b" * 11)
    result = run_report("accuracy", played.study)
    young = row(result, "groups", factor="age", group="18-25")
    assert (young["n"], young["persons"], young["note"]) == (72, 12, "")
    mine = Verdict.objects.filter(rater__answers__value="18-25").select_related("dialogue")
    expected = stats.proportion(
        [one.choice == one.dialogue.truth for one in mine],
        [one.rater_id for one in mine],
        [one.dialogue_id for one in mine],
    )
    assert (young["accuracy"], young["low"], young["high"]) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


def test_levels_stand_in_the_order_in_which_they_were_offered(asked: Callable[[str], Played]) -> None:
    result = run_report("accuracy", asked("b" * 10 + "a" * 10 + "x" * 10).study)
    assert [one["group"] for one in rows(result, "groups", factor="age")] == SCALE
    assert row(result, "groups", factor="age", group=DECLINE)["persons"] == 10


def test_groups_of_fewer_than_ten_have_no_figure_at_all(asked: Callable[[str], Played]) -> None:
    result = run_report("accuracy", asked("a" * 12 + "b" * 12 + "c" * 9).study)
    for group in ("36-45", "46+"):  # nine people, and nobody: one cannot be told from the other
        hidden = row(result, "groups", factor="age", group=group)
        assert {key for key, value in hidden.items() if value is not None} == {"factor", "group", "note"}
        assert hidden["note"] == "fewer than 10 persons, not shown"
    assert row(result, "groups", factor="age", group="18-25")["accuracy"] is not None
    assert row(result, "factors", factor="age")["persons"] == 24
    assert "| fewer than 10 persons, not shown |" in FORMATS["md"](result)


def test_no_small_group_can_be_worked_out_from_the_total(asked: Callable[[str], Played]) -> None:
    played = asked("a" * 14 + "b" * 11 + "c" * 8)
    # Without those who said nothing, the eight are what is left when the others are taken from the total.
    Verdict.objects.filter(rater__participant__in=played.people).delete()
    result = run_report("accuracy", played.study)
    shown = [one["group"] for one in rows(result, "groups", factor="age") if one.get("n")]
    assert shown == ["18-25"]
    assert "worked out" in row(result, "groups", factor="age", group="26-35")["note"]
    assert row(result, "factors", factor="age")["p"] is None  # one group alone


def test_the_joint_test_finds_a_difference_and_is_adjusted_within_its_family(
    asked: Callable[[str], Played],
) -> None:
    result = run_report("accuracy", asked("a" * 20 + "b" * 20).study)
    age = row(result, "factors", factor="age")
    assert (age["n"], age["persons"], age["df"], age["df_error"]) == (240, 40, 1, 5)
    assert age["p"] < 0.05
    assert (age["family"], age["note"]) == ("factors", "")
    device = row(result, "factors", factor="device_class")
    assert (device["p"], device["p_holm"], device["note"]) == (None, None, "one group alone")
    assert age["p_holm"] == age["p"]  # a factor without p does not count


def test_answers_of_other_questionnaires_and_of_several_choices_are_no_factor(
    asked: Callable[[str], Played],
) -> None:
    played = asked("a" * 10)
    person = played.people[0]
    after = factories.QuestionnaireFactory(study=played.study, key="after")
    factories.AnswerFactory(rater=person.rater, questionnaire=after, question="liked", value="18-25")
    profile = played.study.questionnaires.get(key="profile")
    factories.AnswerFactory(
        rater=person.rater, questionnaire=profile, question="many", value=["x", "y"], scale=["x", "y"]
    )
    factories.AnswerFactory(
        rater=person.rater, questionnaire=profile, question="words", value="tea", scale=[]
    )
    factors = {one["factor"] for one in rows(run_report("accuracy", played.study), "factors")}
    assert factors == {"age", "device_class", "interface_language"}


def test_an_export_gives_the_same_groups(asked: Callable[[str], Played], tmp_path: Path) -> None:
    played = asked("a" * 12 + "b" * 12 + "c" * 3 + "--")
    path = tmp_path / "study.zip"
    export_study(study=played.study, path=path)
    assert run_report_from("accuracy", path) == run_report("accuracy", played.study)


# benchmarks


def test_success_beside_a_benchmark(db: None) -> None:
    played = Played()
    played.system.benchmark = {"MMAU": 46.6, "note": "from the paper", "open": True}
    played.system.aliases = ["Talker One", "T1"]
    played.system.save()
    result = run_report("success-rate", played.study)
    [got] = rows(result, "benchmark")
    assert (got["benchmark"], got["name"], got["score"], got["n"]) == ("MMAU", "Talker", 46.6, 40)
    assert (got["share"], got["low"], got["high"]) == pytest.approx((0.425, 0.1582, 0.7441), abs=5e-5)
    rank = row(result, "benchmark_rank", benchmark="MMAU")
    assert (rank["systems"], rank["pearson"], rank["p_kendall"]) == (1, None, None)
    assert rank["note"] == "n = 1, not enough"
    assert row(result, "success", language="en", speaker="talker")["aliases"] == "Talker One, T1"


def test_from_four_systems_on_success_and_benchmark_are_correlated(db: None) -> None:
    played = Played()
    played.system.benchmark = {"MMAU": 40}
    played.system.save()
    for number, human in enumerate((1, 2, 5)):
        system = factories.SystemFactory(code=f"other-{number}", benchmark={"MMAU": 50 - number})
        for place in range(2):
            dialogue = played.dialogue(Kind.HUMAN_MACHINE, system=system)
            for at, person in enumerate(played.people[:5]):
                said = at + place < human
                played.verdict(person, dialogue, Choice.HUMAN if said else Choice.MACHINE)
    # Named by nobody: no score, no row.
    factories.SystemFactory(code="unheard", benchmark={"MMAU": 99, "Other": 1})
    result = run_report("success-rate", played.study)
    got = {one["speaker"]: one["share"] for one in rows(result, "benchmark", benchmark="MMAU")}
    score = {"talker": 40, "other-0": 50, "other-1": 49, "other-2": 48}
    assert got.keys() == score.keys()
    rank = row(result, "benchmark_rank", benchmark="MMAU")
    pairs = [score[one] for one in got], list(got.values())
    assert rank["systems"] == 4
    for key in ("pearson", "spearman", "kendall"):
        expected = getattr(stats, key)(*pairs)
        assert (rank[key], rank[f"p_{key}"]) == (expected.value, expected.p)


# families and strategies


def test_strategies_are_set_against_the_others_in_a_family_of_their_own(db: None) -> None:
    played = Played()
    for strategy, dialogues in (("role_play", played.machine[:3]), ("plain", played.machine[3:])):
        made = factories.StrategyFactory(code=strategy)
        for dialogue in dialogues:
            dialogue.strategy = made
            dialogue.save(update_fields=["strategy"])
    played.dialogue(Kind.PSEUDO_HUMAN)
    result = run_report("success-rate", played.study)
    one, other = (row(result, "strategies", language="en", strategy=name) for name in ("role_play", "plain"))
    assert one["others"] == pytest.approx(one["share"] - other["share"])
    assert other["others"] == pytest.approx(-one["others"])
    assert one["others_low"] < one["others"] < one["others_high"]
    assert one["p"] == pytest.approx(other["p"])
    assert one["p_holm"] == pytest.approx(min(1.0, 2 * one["p"]))


@pytest.mark.parametrize(
    ("language", "named", "about"), [("en", "Small talk", "Tea"), ("zh-hans", "闲聊", "茶")]
)
def test_strategies_and_topics_that_somebody_added_have_their_names(
    db: None, tmp_path: Path, language: str, named: str, about: str
) -> None:
    played = Played()
    own = factories.StrategyFactory(code="small-talk", name_en="Small talk", name_zh="闲聊")
    tea = factories.TopicFactory(code="tea", label_en="Tea", label_zh="茶")
    unnamed = factories.StrategyFactory(code="unnamed")
    for place, dialogue in enumerate(played.machine):
        dialogue.strategy, dialogue.topic = (own, unnamed)[place % 2], tea
        dialogue.save(update_fields=["strategy", "topic"])
    path = tmp_path / "export.zip"
    export_study(study=played.study, path=path)
    with translation.override(language):
        for report, table in (("success-rate", "strategies"), ("leaks", "rate")):
            result = run_report(report, played.study)
            assert run_report_from(report, path) == result
            page = FORMATS["md"](result)
            heading = words_of(result, table, "strategy")
            assert heading["small-talk"] == named
            assert "unnamed" not in heading
            assert (named in page, "unnamed" in page) == (True, True)
        assert words_of(run_report("accuracy", played.study), "breakdown", "level")["tea"] == about


def test_an_export_without_names_shows_codes_and_what_is_built_in() -> None:
    older = [{"strategy": "role_play", "topic": ""}, {"strategy": "small-talk", "topic": "tea"}]
    found = names_of(older)
    assert found["role_play"] == "role play"
    assert not {"small-talk", "tea"} & set(found)


def test_every_p_of_a_family_names_it(db: None) -> None:
    played = Played()
    played.pattern(
        "0000 0000 0100 0000 0000 0000 0000 0010 0000 0000",
        [
            played.dialogue(Kind.HUMAN_MACHINE, system=system)
            for system in [factories.SystemFactory(name="Whisperer", code="whisperer")]
            for _unused in range(4)
        ],
    )
    for name, families in (
        ("success-rate", {"success", "difference", "discrimination"}),
        ("discrimination", {"discrimination", "between"}),
    ):
        result = run_report(name, played.study)
        found = set()
        for table in result.tables:
            for one in table.rows:
                assert bool(one.get("family")) >= (one.get("p_holm") is not None)
                found.add(one.get("family") or "")
        assert found - {""} == families
    printed = FORMATS["md"](run_report("success-rate", played.study))
    assert "All systems against human speakers, per language and pooled" in printed


def test_each_system_and_origin_is_broken_down_like_the_others(db: None) -> None:
    played = Played()
    for place, dialogue in enumerate(played.human):
        dialogue.origin = "curated" if place < 2 else "recorded"
        dialogue.save(update_fields=["origin"])
    result = run_report("success-rate", played.study)
    groups = {one["group"] for one in rows(result, "speaker_breakdown")}
    assert groups == {"talker", "human:curated", "human:recorded"}
    assert row(result, "speaker_breakdown", group="talker", factor="round", level="1")["n"] == 40
    by_topic = rows(result, "speaker_breakdown", group="talker", factor="topic")
    assert sum(one["n"] for one in by_topic) == 40
    assert {one["group"] for one in rows(result, "breakdown")} == {"human", "machines"}
