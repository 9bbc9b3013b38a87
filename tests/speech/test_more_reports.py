"""Discrimination, trend over length, rounds, leaks and funnel: worked values, analysis sets, exports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation

from dialogues.models import Choice, Flag, Kind, StudyItem, Turn, Verdict
from games.speech.models import Round, Trial
from studies.exports import export_study
from studies.models import EndState, Study, TurnedAway
from studies.registry import reports
from studies.report_formats import FORMATS, as_json
from studies.reports import Options, ReportResult, run_report, run_report_from
from tests import factories
from tests.speech.played import Played

pytestmark = pytest.mark.django_db

NEW = ("discrimination", "duration-trend", "by-round", "leaks", "funnel")


@pytest.fixture
def played(db: None) -> Played:
    return Played()


def rows(result: ReportResult, table: str, **wanted: Any) -> list[Mapping[str, Any]]:
    found = next(one.rows for one in result.tables if one.key == table)
    return [one for one in found if all(one.get(key) == value for key, value in wanted.items())]


def row(result: ReportResult, table: str, **wanted: Any) -> Mapping[str, Any]:
    found = rows(result, table, **wanted)
    assert len(found) == 1, f"{len(found)} rows of {table} with {wanted}"
    return found[0]


def second_system(played: Played, pattern: str) -> Any:
    """Another system, on dialogues of its own; the pattern as in the worked sets."""
    other = factories.SystemFactory(name="Whisperer", code="whisperer")
    width = len(pattern.split()[0])
    played.pattern(
        pattern, [played.dialogue(Kind.HUMAN_MACHINE, 30.0, system=other) for _unused in range(width)]
    )
    return other


# discrimination


def test_dprime_of_the_worked_set_is_tested_against_nothing(played: Played) -> None:
    got = row(run_report("discrimination", played.study), "discrimination", language="en", speaker="talker")
    assert (got["dprime"], got["se"], got["c_value"]) == pytest.approx((0.8845, 0.3330, -0.2578), abs=5e-5)
    # t = .8845 / .3330 = 2.656 on 3 df; by hand from the table of t: .05 < p < .10
    assert got["df"] == 3
    assert got["p"] == pytest.approx(0.0767, abs=5e-4)
    assert got["p_holm"] == got["p"]


def test_a_system_and_its_twin_do_not_differ(played: Played) -> None:
    from tests.speech.played import MACHINE

    second_system(played, MACHINE)
    result = run_report("discrimination", played.study)
    got = row(result, "between", language="en")
    assert (got["speaker"], got["other"]) == ("talker", "whisperer")
    assert got["difference"] == pytest.approx(0)
    assert got["p"] == pytest.approx(1)
    assert (got["n"], got["other_n"], got["df"]) == (40, 40, 5)


def test_the_difference_is_that_of_the_two_dprimes(played: Played) -> None:
    second_system(played, "0000 0000 0100 0000 0000 0000 0000 0010 0000 0000")
    result = run_report("discrimination", played.study)
    first, other = (
        row(result, "discrimination", language="en", speaker=code) for code in ("talker", "whisperer")
    )
    got = row(result, "between", language="en")
    assert got["difference"] == pytest.approx(first["dprime"] - other["dprime"])
    assert got["difference"] < 0
    assert got["high"] < 0
    assert got["p"] < 0.05
    assert got["df"] == 3  # four dialogues of the second system


# length


def test_trend_by_language_and_speaker(played: Played) -> None:
    result = run_report("duration-trend", played.study)
    trend = row(result, "trend", language="en", kind="H-M")
    assert (trend["z"], trend["p_z"]) == pytest.approx((2.6724, 0.0075), abs=5e-5)
    assert (trend["slope"], trend["p_t"]) == pytest.approx((0.1222, 0.0171), abs=5e-5)
    # What is right of a machine is the other side of "human": the same trend downwards.
    spoken = row(result, "by_speaker", language="en", speaker="talker")
    assert (spoken["z"], spoken["slope"]) == pytest.approx((-2.6724, -0.1222), abs=5e-5)
    assert row(result, "by_length", language="en", kind="H-M", length="20–25")["n"] == 7


# rounds


def test_rounds_stand_apart_and_those_who_stayed_too(played: Played) -> None:
    verdicts = list(Verdict.objects.filter(study=played.study).order_by("rater", "pk"))
    seen: dict[int, int] = {}
    for verdict in verdicts:
        seen[verdict.rater_id] = seen.get(verdict.rater_id, 0) + 1
        # Seven verdicts each: rounds 1, 1, 2, 2, 3, 3, 4; the last person keeps to round 1.
        last = verdict.rater_id == played.people[-1].rater.pk
        verdict.round_number = 1 if last else (seen[verdict.rater_id] + 1) // 2
        verdict.save(update_fields=["round_number"])
    result = run_report("by-round", played.study)

    numbers = [one["round"] for one in rows(result, "by_round", language="en", kind="all")]
    assert numbers == ["1", "2", "3", "4"]
    assert row(result, "by_round", language="en", kind="all", round="1")["n"] == 2 * 9 + 7
    assert row(result, "told_apart", language="en", round="2")["n"] == 18
    everybody = row(result, "round_slope", language="en", people="everybody", kind="all")
    stayed = row(result, "round_slope", language="en", people="stayed", kind="all")
    assert (everybody["n"], everybody["persons"]) == (70, 10)
    assert (stayed["n"], stayed["persons"]) == (54, 9)
    assert stayed["slope"] is not None


def test_rounds_without_a_number_are_in_no_slope(played: Played) -> None:
    Verdict.objects.update(round_number=0)
    result = run_report("by-round", played.study)
    assert row(result, "by_round", language="en", kind="all")["round"] == "(none)"
    assert row(result, "round_slope", language="en", people="everybody", kind="all")["n"] == 0


# leaks


def flag(played: Played, at: int, **more: Any) -> None:
    Flag.objects.create(dialogue=played.machine[at], rule="identity-disclosure", source="quality", **more)


def transcribe(played: Played) -> None:
    """B's words, which a search for leaks needs."""
    Turn.objects.filter(dialogue__in=played.machine, party__label="B").update(text="Well, yes.")


def test_leaks_left_out_and_as_failures(played: Played) -> None:
    transcribe(played)
    flag(played, 0)
    flag(played, 0, turn=played.machine[0].turns.first())  # a second mark is no second leak
    Flag.objects.create(dialogue=played.machine[1], rule="speaker-balance", source="quality")
    Flag.objects.create(dialogue=played.human[0], rule="identity-disclosure", source="quality")
    on_it = Verdict.objects.filter(dialogue=played.machine[0])
    n, human = on_it.count(), on_it.filter(choice=Choice.HUMAN).count()
    assert human > 0
    result = run_report("leaks", played.study)

    rate = row(result, "rate", language="en", speaker="talker", strategy="all")
    assert (rate["dialogues"], rate["leaks"], rate["rate"]) == (6, 1, pytest.approx(1 / 6))
    assert rate["low"] < 1 / 6 < rate["high"]
    of = {
        way: row(result, "leak_success", language="en", speaker="talker", leaks_are=way)
        for way in ("as_judged", "excluded", "failures")
    }
    assert of["as_judged"]["share"] == pytest.approx(17 / 40)
    assert (of["excluded"]["n"], of["excluded"]["share"]) == (40 - n, pytest.approx((17 - human) / (40 - n)))
    assert (of["failures"]["n"], of["failures"]["share"]) == (40, pytest.approx((17 - human) / 40))
    plain = row(run_report("success-rate", played.study), "success", language="en", speaker="talker")
    assert of["as_judged"]["low"] == plain["low"]


def test_without_transcripts_no_leak_is_not_no_leaks(played: Played) -> None:
    result = run_report("leaks", played.study)
    rate = row(result, "rate", language="en", speaker="talker", strategy="all")
    assert (rate["dialogues"], rate["searched"], rate["leaks"], rate["rate"]) == (6, 0, None, None)
    assert rate["note"] == "no transcripts"
    judged, *others = rows(result, "leak_success", language="en", speaker="talker")
    assert judged["share"] == pytest.approx(17 / 40)
    assert [(one["share"], one["low"], one["note"]) for one in others] == [(None, None, "no transcripts")] * 2
    judged, *others = rows(result, "strategy_success", language="en")
    assert judged["share"] == pytest.approx(17 / 40)
    assert {one["note"] for one in others} == {"no transcripts"}


def test_the_rate_is_over_the_dialogues_that_could_be_searched(played: Played) -> None:
    Turn.objects.filter(dialogue__in=played.machine[:3], party__label="B").update(text="Well, yes.")
    Turn.objects.filter(dialogue__in=played.machine[3:], party__label="A").update(text="Are you one?")
    flag(played, 0)
    flag(played, 5)  # heard by somebody, without a transcript
    rate = row(run_report("leaks", played.study), "rate", language="en", speaker="talker", strategy="all")
    assert (rate["dialogues"], rate["searched"], rate["leaks"], rate["rate"]) == (6, 4, 2, 0.5)


def test_leaks_by_strategy(played: Played) -> None:
    transcribe(played)
    role_play = factories.StrategyFactory(code="role_play")
    for dialogue in played.machine[:3]:
        dialogue.strategy = role_play
        dialogue.save(update_fields=["strategy"])
    flag(played, 0)
    flag(played, 5)
    result = run_report("leaks", played.study)
    got = {
        one["strategy"]: (one["leaks"], one["dialogues"])
        for one in rows(result, "rate", language="en", speaker="talker")
    }
    assert got == {"all": (2, 6), "role_play": (1, 3), "(none)": (1, 3)}
    assert {one["strategy"] for one in rows(result, "strategy_success", language="en")} == {
        "role_play",
        "(none)",
    }


def test_check_items_do_not_count_as_dialogues_that_could_leak(played: Played) -> None:
    check = factories.DialogueFactory(kind=Kind.HUMAN_MACHINE, system=played.system)
    factories.StudyItemFactory(
        study=played.study, dialogue=check, role=StudyItem.Role.ATTENTION, expected="machine"
    )
    rate = row(run_report("leaks", played.study), "rate", language="en", speaker="talker", strategy="all")
    assert rate["dialogues"] == 6


# funnel


@pytest.fixture
def walked(db: None) -> Played:
    """Ten people: four did the sound check, three judged, two finished a round, one two and is done."""
    played = Played("walked")
    for place, person in enumerate(played.people):
        if place >= 4:
            continue
        player = factories.SpeechPlayerFactory(participant=person, sound_passed=True)
        if place == 3:
            continue
        for number in range(1, 3 if place == 0 else 2):
            state = Round.State.OPEN if place == 2 else Round.State.FINISHED
            ended = None if place == 2 else factories.NOW + timedelta(minutes=9)
            made = factories.RoundFactory(player=player, number=number, state=state, finished_at=ended)
            verdict = Verdict.objects.filter(rater=person.rater).order_by("pk")[number]
            factories.TrialFactory(
                round=made, dialogue=verdict.dialogue, verdict=verdict, state=Trial.State.DONE
            )
    played.people[0].end_state = EndState.DONE
    played.people[0].save(update_fields=["end_state"])
    TurnedAway.objects.create(study=played.study, day=factories.NOW.date(), reason="under_age", count=3)
    factories.ParticipantFactory(study=played.study, is_test=True)
    factories.ParticipantFactory(study=played.study, consented_at=None)
    return played


def test_funnel_counts_people_at_every_step(walked: Played) -> None:
    result = run_report("funnel", walked.study)
    steps = {one["step"]: one["people"] for one in rows(result, "steps")}
    assert steps == {
        "consented": 10, "language": 10, "profile": 0, "sound": 4, "verdict": 3, "round_1": 2, "round_2": 1,
        "round_3": 0, "round_4": 0, "round_5": 0, "done": 1,
    }  # fmt: skip
    assert row(result, "steps", step="verdict")["share"] == pytest.approx(0.3)
    assert row(result, "sources", source="club")["consented"] == 4
    assert row(result, "turned_away", reason="under_age")["visits"] == 3
    assert row(result, "ends", end_state=EndState.DONE)["people"] == 1
    assert row(result, "listening", what="answered")["n"] == 4
    assert (result.basis.persons, result.basis.n) == (3, 4)


def test_the_funnel_shows_no_outcome_and_is_read_while_a_study_runs() -> None:
    assert "verdicts" not in reports.get("funnel").datasets


def test_the_funnel_of_one_language(walked: Played) -> None:
    result = run_report("funnel", walked.study, Options(language="zh"))
    assert row(result, "steps", step="consented")["people"] == 0


# all of them


@pytest.mark.parametrize("name", NEW)
def test_an_export_gives_the_same(name: str, walked: Played, tmp_path: Path) -> None:
    flag(walked, 0)
    path = tmp_path / "study.zip"
    export_study(study=walked.study, path=path)
    for chosen in ("all", "published"):
        options = Options(chosen)
        assert as_json(run_report_from(name, path, options)) == as_json(
            run_report(name, walked.study, options)
        )


@pytest.mark.parametrize("name", NEW)
def test_an_empty_study_has_no_values_and_no_error(name: str) -> None:
    study = factories.StudyFactory()
    result = run_report(name, study)
    assert result.basis.n == 0
    for written in FORMATS.values():
        assert written(result)


@pytest.mark.parametrize("name", NEW)
def test_one_person_and_one_dialogue_have_no_figure(name: str) -> None:
    study = factories.StudyFactory()
    dialogue = factories.DialogueFactory(kind=Kind.HUMAN_MACHINE)
    factories.StudyItemFactory(study=study, dialogue=dialogue)
    person = factories.ParticipantFactory(study=study)
    factories.VerdictFactory(study=study, rater=person.rater, dialogue=dialogue, choice=Choice.HUMAN)
    result = run_report(name, study)
    for table in result.tables:
        for one in table.rows:
            for figure in ("dprime", "accuracy", "slope", "difference"):
                assert one.get(figure) is None
            if "leaks_are" in one:
                assert one["share"] is None
                assert one["note"] in (f"n = {one['n']}, not enough", "no transcripts")


@pytest.mark.parametrize("name", NEW)
def test_commands_print_and_say_how_figures_are_made(name: str, walked: Played) -> None:
    out = StringIO()
    with translation.override("zh-hans"):
        call_command("report", name, "--study", walked.study.slug, "--format", "md", stdout=out)
    assert out.getvalue().startswith("# ")
    result = run_report(name, walked.study)
    assert all(str(table.how) for table in result.tables if table.key != "ends")
    assert all(str(heading.label) for table in result.tables for heading in table.headings)


@pytest.mark.parametrize("name", [*NEW, "nuisance-audit"])
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_desk_shows_them_in_both_languages(
    name: str, language: str, walked: Played, client: Client
) -> None:
    flag(walked, 0)
    walked.study.status = Study.Status.CLOSED
    walked.study.save(update_fields=["status"])
    client.force_login(factories.UserFactory(is_staff=True, is_superuser=True))
    client.cookies["django_language"] = language

    page = client.get(reverse("admin:desk_report", args=[walked.study.slug, name]))

    assert page.status_code == 200
    text = page.content.decode()
    assert text.count("<table") >= sum(bool(one.rows) for one in run_report(name, walked.study).tables)
    assert "Talker" in text or name in ("by-round", "funnel", "nuisance-audit")
