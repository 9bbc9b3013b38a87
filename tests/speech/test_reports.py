"""Success rate and accuracy: the worked sets through the database, analysis sets, what has no value."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from dialogues.models import Choice, Kind, StudyItem, Verdict
from games.speech.models import SpeechSettings
from studies.models import AuditLine
from studies.report_formats import as_csv, as_json, as_markdown
from studies.reports import Options, ReportResult, run_report
from tests import factories
from tests.speech.played import Played
from turingsite.errors import Invalid, NotFound

pytestmark = pytest.mark.django_db


@pytest.fixture
def played(db: None) -> Played:
    return Played()


def row(result: ReportResult, table: str, **wanted: Any) -> Mapping[str, Any]:
    rows = next(one.rows for one in result.tables if one.key == table)
    found = [one for one in rows if all(one.get(key) == value for key, value in wanted.items())]
    assert len(found) == 1, f"{len(found)} rows of {table} with {wanted}"
    return found[0]


def test_success_rate_has_the_two_way_interval(played: Played) -> None:
    result = run_report("success-rate", played.study)
    got = row(result, "success", language="en", speaker="talker")
    assert (got["n"], got["persons"], got["dialogues"]) == (40, 10, 6)
    assert got["share"] == 0.425
    assert (got["se"], got["low"], got["high"]) == pytest.approx((0.1406, 0.1582, 0.7441), abs=5e-5)
    assert (got["df"], got["standing"], got["note"]) == (5, "undecided", "")
    people = row(result, "success", language="en", speaker="human")
    assert (people["n"], people["dialogues"]) == (30, 4)
    assert people["share"] == pytest.approx(23 / 30)


def test_difference_to_humans_and_dprime(played: Played) -> None:
    result = run_report("success-rate", played.study)
    difference = row(result, "difference", language="en", speaker="talker")
    assert (difference["difference"], difference["se"]) == pytest.approx((0.3417, 0.1278), abs=5e-5)
    assert (difference["n"], difference["human_n"], difference["df"]) == (40, 30, 3)
    assert (difference["margin"], difference["equivalent"]) == (0.10, False)
    assert difference["low"] < difference["low90"] < difference["high90"] < difference["high"]
    told = row(result, "discrimination", language="en", speaker="talker")
    assert (told["dprime"], told["se"]) == pytest.approx((0.8845, 0.3330), abs=5e-5)
    assert told["c_value"] == pytest.approx(-0.2578, abs=5e-5)


def test_accuracy_by_kind_and_balanced(played: Played) -> None:
    result = run_report("accuracy", played.study)
    machine = row(result, "by_kind", language="en", kind="H-M")
    assert machine["accuracy"] == pytest.approx(0.575)
    assert (machine["low"], machine["high"]) == pytest.approx((1 - 0.7441, 1 - 0.1582), abs=5e-5)
    human = row(result, "by_kind", language="en", kind="H-H")
    balanced = row(result, "by_kind", language="en", kind="balanced")
    assert balanced["accuracy"] == pytest.approx((human["accuracy"] + machine["accuracy"]) / 2)
    assert row(result, "by_kind", language="en", kind="all")["accuracy"] == pytest.approx((23 + 23) / 70)


def test_trend_over_length_is_that_of_the_worked_set(played: Played) -> None:
    result = run_report("accuracy", played.study)
    trend = row(result, "trend", kind="H-M")
    assert (trend["z"], trend["p_z"]) == pytest.approx((2.6724, 0.0075), abs=5e-5)
    assert (trend["slope"], trend["se"], trend["p_t"]) == pytest.approx((0.1222, 0.0348, 0.0171), abs=5e-5)
    assert trend["t"] == pytest.approx(3.510, abs=5e-4)
    assert (trend["df"], trend["bins"]) == (5, 6)


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (19.99, "under 20 s"),
        (20.0, "20–25"),
        (24.999, "20–25"),
        (25.0, "25–30"),
        (59.9, "55–60"),
        (60.0, "60 s and over"),
        (95.0, "60 s and over"),
    ],
)
def test_length_bins_are_half_open_and_the_rest_stands_apart(
    played: Played, length: float, expected: str
) -> None:
    dialogue = played.dialogue(Kind.PSEUDO_HUMAN, length)
    for person in played.people[:3]:
        played.verdict(person, dialogue, Choice.MACHINE)
    result = run_report("accuracy", played.study)
    rows = next(table.rows for table in result.tables if table.key == "by_length")
    holding = [one["length"] for one in rows if one["kind"] == "PH" and one["n"]]
    assert holding == [expected]
    inside = expected not in ("under 20 s", "60 s and over")
    assert row(result, "trend", kind="PH")["n"] == (3 if inside else 0)


def test_length_is_that_of_the_clip_when_it_was_judged(played: Played) -> None:
    dialogue = played.dialogue(Kind.PSEUDO_HUMAN, 31.0)
    played.verdict(played.people[0], dialogue, Choice.MACHINE, evidence={"length": 48.0})
    result = run_report("accuracy", played.study)
    assert row(result, "by_length", kind="PH", length="45–50")["n"] == 1


def test_a_language_that_a_system_lacks_has_no_value(played: Played) -> None:
    played.dialogue(Kind.HUMAN_HUMAN, language="zh")
    result = run_report("success-rate", played.study)
    for table, figure in (("success", "share"), ("difference", "difference"), ("discrimination", "dprime")):
        got = row(result, table, language="zh", speaker="talker")
        assert (got["n"], got[figure], got["low"]) == (0, None, None)
        assert got["note"] == "no dialogues in this language"
    humans = row(result, "success", language="zh", speaker="human")
    assert (humans["share"], humans["note"]) == (None, "n = 0, not enough")
    pooled = row(result, "success", language="all", speaker="talker")
    assert pooled["share"] == 0.425


def test_too_little_data_says_so_with_n(played: Played) -> None:
    rare = factories.SystemFactory(name="Rare", code="rare")
    dialogue = played.dialogue(Kind.HUMAN_MACHINE, system=rare)
    for person in played.people[:3]:
        played.verdict(person, dialogue, Choice.HUMAN)
    result = run_report("success-rate", played.study)
    got = row(result, "success", language="en", speaker="rare")
    assert (got["n"], got["share"], got["standing"], got["p"]) == (3, None, None, None)
    assert got["note"] == "n = 3, not enough"
    assert "| n = 3, not enough |" in as_markdown(result)
    printed = json.loads(as_json(result))
    success = next(table for table in printed["tables"] if table["table"] == "success")
    listed = next(one for one in success["rows"] if one["speaker"] == "rare" and one["language"] == "en")
    assert (listed["share"], listed["low"], listed["note"]) == (None, None, "n = 3, not enough")


@pytest.mark.parametrize(("verdicts", "share"), [(4, None), (5, 0.0)])
def test_a_handful_is_not_enough_and_never_zero(played: Played, verdicts: int, share: float | None) -> None:
    rare = factories.SystemFactory(name="Rare", code="rare")
    dialogues = [played.dialogue(Kind.HUMAN_MACHINE, system=rare) for _unused in range(2)]
    for at in range(verdicts):
        played.verdict(played.people[at], dialogues[at % 2], Choice.MACHINE)
    got = row(run_report("success-rate", played.study), "success", language="en", speaker="rare")
    assert (got["n"], got["share"]) == (verdicts, share)
    assert got["note"] == ("n = 4, not enough" if share is None else "")


def test_above_and_below_a_half_come_from_the_interval(played: Played) -> None:
    sure = factories.SystemFactory(name="Sure", code="sure")
    clumsy = factories.SystemFactory(name="Clumsy", code="clumsy")
    for system, choice in ((sure, Choice.HUMAN), (clumsy, Choice.MACHINE)):
        for _unused in range(8):
            dialogue = played.dialogue(Kind.PSEUDO_HUMAN, system=system)
            for person in played.people:
                played.verdict(person, dialogue, choice)
    result = run_report("success-rate", played.study)
    assert row(result, "success", language="en", speaker="sure")["standing"] == "above"
    below = row(result, "success", language="en", speaker="clumsy")
    assert (below["standing"], below["share"]) == ("below", 0.0)
    # Three systems in the family, the surest first.
    assert below["p_holm"] >= below["p"]


def test_exclusions_are_counted_by_reason_and_leave_the_figures(played: Played) -> None:
    extra = played.dialogue(Kind.HUMAN_MACHINE, system=played.system)
    for person, reason in zip(played.people, ("known", "known", "for_fun", "pilot"), strict=False):
        played.verdict(person, extra, Choice.HUMAN, exclusion=reason)
    result = run_report("success-rate", played.study)
    assert result.basis.excluded == {"for_fun": 1, "known": 2, "pilot": 1}
    assert (result.basis.n, result.basis.persons, result.basis.dialogues) == (70, 10, 10)
    assert row(result, "success", language="en", speaker="talker")["n"] == 40
    assert "Left out: 4 (for_fun 1, known 2, pilot 1)." in as_markdown(result)


def test_published_counts_finished_rounds_and_stands_beside_the_headline(played: Played) -> None:
    unfinished = Verdict.objects.filter(study=played.study, rater=played.people[0].rater)
    assert unfinished.update(round_finished=False) == 7
    headline = run_report("success-rate", played.study)
    got = row(headline, "success", language="en", speaker="talker")
    assert (got["n"], got["published_n"]) == (40, 36)
    published = run_report("success-rate", played.study, Options("published"))
    alone = row(published, "success", language="en", speaker="talker")
    assert (alone["n"], alone["share"]) == (36, got["published_share"])
    assert published.analysis_set == "published"
    assert published.basis.excluded == {"round_not_finished": 7}
    assert "published_n" not in alone


def test_first_round_and_per_protocol(played: Played) -> None:
    mine = Verdict.objects.filter(study=played.study, rater=played.people[1].rater)
    later, broken = mine[0], mine[1]
    Verdict.objects.filter(pk=later.pk).update(round_number=2)
    Verdict.objects.filter(pk=broken.pk).update(protocol_breaks=["too_fast", "not_listened"])
    first = run_report("accuracy", played.study, Options("first_round"))
    assert (first.basis.n, first.basis.excluded) == (69, {"later_round": 1})
    strict = run_report("accuracy", played.study, Options("per_protocol"))
    assert (strict.basis.n, strict.basis.excluded_total) == (69, 1)
    assert strict.basis.excluded == {"not_listened": 1, "too_fast": 1}


def test_a_system_added_later_is_compared_with_humans_judged_since_then(played: Played) -> None:
    late = factories.SystemFactory(name="Late", code="late")
    joined = factories.NOW + timedelta(days=30)
    for _unused in range(3):
        dialogue = played.dialogue(Kind.HUMAN_MACHINE, system=late)
        StudyItem.objects.filter(dialogue=dialogue).update(block=2, added_at=joined)
        for person in played.people[:4]:
            played.verdict(person, dialogue, Choice.HUMAN, given_at=joined + timedelta(hours=1))
    before = row(run_report("success-rate", played.study), "difference", language="en", speaker="late")
    assert (before["human_n"], before["difference"]) == (0, None)
    recent = Verdict.objects.filter(study=played.study, dialogue__in=played.human[:2])
    assert recent.update(given_at=joined + timedelta(hours=2)) == 15
    after = row(run_report("success-rate", played.study), "difference", language="en", speaker="late")
    assert (after["n"], after["human_n"]) == (12, 15)
    untouched = row(run_report("success-rate", played.study), "difference", language="en", speaker="talker")
    assert untouched["human_n"] == 30


def test_equivalence_uses_the_margin_of_the_study(played: Played) -> None:
    twin = factories.SystemFactory(name="Twin", code="twin")
    dialogues = [played.dialogue(Kind.HUMAN_MACHINE, system=twin) for _unused in range(4)]
    played.pattern("11.1 1.11 101. .111 11.1 .010 1.10 11.1 0.01 110.", dialogues)
    tight = row(run_report("success-rate", played.study), "difference", language="en", speaker="twin")
    assert (tight["difference"], tight["equivalent"]) == (0.0, False)
    SpeechSettings.objects.filter(study=played.study).update(margin=0.6)
    wide = row(run_report("success-rate", played.study), "difference", language="en", speaker="twin")
    assert (wide["margin"], wide["equivalent"]) == (0.6, True)


def test_breakdown_shows_rounds_source_and_short_stays(played: Played) -> None:
    Verdict.objects.filter(study=played.study, rater=played.people[0].rater).update(round_number=7)
    result = run_report("accuracy", played.study)
    rounds = {one["level"]: one["n"] for one in _breakdown(result, "round")}
    assert rounds == {"1": 63, "6+": 7}
    sources = {one["level"]: (one["n"], one["persons"]) for one in _breakdown(result, "source")}
    assert sources == {"(none)": (42, 6), "club": (28, 4)}
    assert {one["level"] for one in _breakdown(result, "rounds_played")} == {"≤ 2"}


def _breakdown(result: ReportResult, factor: str) -> list[Mapping[str, Any]]:
    return [
        one
        for table in result.tables
        if table.key == "breakdown"
        for one in table.rows
        if one["factor"] == factor
    ]


def test_machines_and_other_activities_do_not_count_as_people(played: Played) -> None:
    played.verdict(played.people[0], played.dialogue(Kind.HUMAN_HUMAN), Choice.HUMAN, activity="longchat")
    assert run_report("accuracy", played.study).basis.n == 70


def test_a_language_alone(played: Played) -> None:
    dialogue = played.dialogue(Kind.HUMAN_HUMAN, language="zh")
    played.verdict(played.people[0], dialogue, Choice.HUMAN)
    result = run_report("accuracy", played.study, Options(language="zh"))
    assert (result.basis.n, result.language) == (1, "zh")
    languages = {one["language"] for table in result.tables if table.key == "by_kind" for one in table.rows}
    assert languages == {"zh"}


def test_an_empty_study_has_no_values_and_no_error(db: None) -> None:
    study = factories.StudyFactory()
    for name in ("success-rate", "accuracy"):
        result = run_report(name, study)
        assert result.basis.n == 0
        assert all(one["n"] == 0 for table in result.tables for one in table.rows)
        for render in (as_json, as_csv, as_markdown):
            assert render(result)
    assert "n = 0, not enough" in as_markdown(run_report("accuracy", study))


def test_unknown_names_are_refused_in_words(played: Played) -> None:
    with pytest.raises(NotFound, match="success-rate"):
        run_report("nonsense", played.study)
    with pytest.raises(Invalid, match="per_protocol"):
        run_report("accuracy", played.study, Options("everything"))


def test_command_prints_each_format(played: Played) -> None:
    def printed(name: str, form: str) -> str:
        out = StringIO()
        call_command("report", name, study="worked", format=form, stdout=out)
        return out.getvalue()

    got = json.loads(printed("success-rate", "json"))
    assert (got["set"], got["n"], got["persons"], got["dialogues"]) == ("all", 70, 10, 10)
    rows = list(csv.DictReader(io.StringIO(printed("accuracy", "csv"))))
    balanced = next(one for one in rows if one["table"] == "by_kind" and one["kind"] == "balanced")
    assert float(balanced["accuracy"]) == pytest.approx((0.575 + 23 / 30) / 2)
    assert printed("success-rate", "md").startswith("# Success rate\n")
    assert "| English | talker | Talker | speech to speech |" in printed("success-rate", "md")
    assert "| not decided |" in printed("success-rate", "md")


def test_looking_leaves_a_line_with_the_n_seen(played: Played) -> None:
    call_command("report", "accuracy", study="worked", format="json", stdout=StringIO())
    line = AuditLine.objects.get(action="report.read", study=played.study)
    assert (line.target, line.detail["n"], line.detail["status"]) == ("accuracy", 70, "open")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "success-rate", "study": "nowhere"}, "There is no study “nowhere”. There are: worked."),
        ({"name": "wrong", "study": "worked"}, "There is no report “wrong”"),
        ({"name": "accuracy"}, "Say which study"),
        ({"name": "accuracy", "source": "/nowhere/x.zip"}, "There is no file /nowhere/x.zip"),
    ],
)
def test_command_refuses_in_words(played: Played, arguments: dict[str, str], words: str) -> None:
    name = arguments.pop("name")
    with pytest.raises(CommandError, match=words):
        call_command("report", name, **arguments)


def test_keys_stay_english_in_chinese(played: Played) -> None:
    with translation.override("zh-hans"):
        chinese = json.loads(as_json(run_report("accuracy", played.study)))
    english = json.loads(as_json(run_report("accuracy", played.study)))
    assert [one["columns"] for one in chinese["tables"]] == [one["columns"] for one in english["tables"]]


def test_names_that_are_formulas_cannot_run_in_a_spreadsheet(played: Played) -> None:
    played.system.name = "=HYPERLINK(1)"
    played.system.save()
    rows = list(csv.DictReader(io.StringIO(as_csv(run_report("success-rate", played.study)))))
    names = {one["name"] for one in rows if one["speaker"] == "talker"}
    assert names == {"'=HYPERLINK(1)"}
