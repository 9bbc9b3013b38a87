"""The game's reports: the published fifty and small worked tables, from the database and from an export."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from games.group.models import Game, Vote
from studies.exports import export_study
from studies.figures import as_svg, figures_of
from studies.models import Rater, Study
from studies.registry import reports
from studies.report_formats import as_csv, as_json, as_markdown
from studies.reports import Options, ReportResult, run_report, run_report_from
from tests.factories import AnswerFactory, QuestionnaireFactory
from tests.group.played import Tables

pytestmark = pytest.mark.django_db

KEYS = ("group-survival", "group-votes", "group-participation", "group-survey")


def rows(result: ReportResult, table: str, **where: Any) -> list[dict[str, Any]]:
    found = next(one for one in result.tables if one.key == table)
    return [dict(row) for row in found.rows if all(row.get(key) == value for key, value in where.items())]


def row(result: ReportResult, table: str, **where: Any) -> dict[str, Any]:
    (found,) = rows(result, table, **where)
    return found


def about(value: float, margin: float = 5e-5) -> Any:
    return pytest.approx(value, abs=margin)


# The published fifty


@pytest.fixture
def published() -> Tables:
    tables = Tables()
    tables.published()
    return tables


def test_survival_of_the_published_fifty(published: Tables) -> None:
    result = run_report("group-survival", published.study)
    assert (result.basis.n, result.basis.persons, result.basis.of) == (50, 234, "games")
    survived = row(result, "survival", by="all")
    assert (survived["survived"], survived["share"]) == (15, about(0.3))
    elimination = row(result, "against_chance", by="all", baseline="elimination")
    assert elimination["headline"] == "yes"  # the agent votes in all of them
    assert (elimination["chance"], elimination["difference"]) == (about(0.3547), about(-0.0547))
    assert (elimination["low"], elimination["high"]) == (about(-0.173, 0.012), about(0.072, 0.012))
    silent = row(result, "against_chance", by="all", baseline="silent")
    assert silent["headline"] == "no"
    assert (silent["chance"], silent["difference"]) == (about(0.1916), about(0.1084))
    assert (silent["low"], silent["high"]) == (about(-0.013, 0.012), about(0.237, 0.012))
    assert silent["p_at_least"] == about(0.0436)
    sizes = {one["level"]: one["chance"] for one in rows(result, "against_chance", baseline="elimination")}
    assert sizes == {"all": about(0.3547), "5": about(0.4), "6": about(1 / 3)}
    assert row(result, "rounds", level="6")["chance"] == about(7 / 3)
    assert row(result, "rounds", level="5")["chance"] == about(1.8)
    every = row(result, "rounds", by="all")
    assert (every["played"], every["played_chance"]) == (135, about(140.4))
    counts = [one["n"] for one in rows(result, "distribution", players=6)]
    assert counts == [6, 7, 7, 4, 10]
    assert sum(one["chance"] for one in rows(result, "distribution", players=6)) == about(1.0)
    first, second = rows(result, "per_round")[:2]
    assert (first["games"], first["out"], first["selected"]) == (50, 9, "no")
    assert first["one_in_m"] == about((34 / 6 + 16 / 5) / 50)
    assert (second["games"], second["out"], second["selected"]) == (41, 11, "yes")


def test_first_votes_of_the_published_fifty(published: Tables) -> None:
    result = run_report("group-votes", published.study)
    first = row(result, "first_round")
    assert (first["n"], first["voters"], first["games"], first["on_agent"]) == (234, 234, 50, 53)
    assert (first["share"], first["chance"]) == (about(53 / 234), about(50 / 234))
    assert first["d_difference"] == about(3 / 234)
    assert first["d_low"] < 3 / 234 < first["d_high"]
    by_round = rows(result, "by_round")
    assert [one["selected"] for one in by_round] == ["no", "yes", "yes", "yes"]
    assert by_round[0]["share"] == first["share"]
    ties = row(result, "ties")
    assert (ties["rounds"], ties["consistent"], ties["ties"], ties["note"]) == (135, 135, 0, "no ties")


def test_the_headline_follows_whether_the_agent_votes() -> None:
    tables = Tables()
    for out in (None, 1, 2, 1, None):
        tables.game(people=5, out=out, rules={"agent_votes": False})
    result = run_report("group-survival", tables.study)
    silent, elimination = rows(result, "against_chance", by="all")
    assert [one["baseline"] for one in (silent, elimination)] == ["silent", "elimination"]
    assert (silent["headline"], elimination["headline"]) == ("yes", "no")
    assert silent["chance"] == about(105179 / 600000)
    assert row(result, "per_round", round="1")["chance"] == about(704 / 3125)
    tables.game(people=5, out=None)
    own = rows(run_report("group-survival", tables.study), "against_chance", by="all")[0]
    assert (own["baseline"], own["headline"]) == ("own", "yes")
    assert own["chance"] == about((5 * 105179 / 600000 + 1 / 3) / 6)


# From an export, hidden, little data


def test_all_reports_come_out_of_a_public_export_the_same(published: Tables, tmp_path: Path) -> None:
    tables = published
    for language in ("en", "zh"):
        game = tables.game(
            people=4, language=language,
            said=[
                (1, 0, 2.0, "where from?"), (1, 2, 5.5, "here"), (1, 3, 40.0, "你好吗？"), (2, 1, 1.0, "so"),
            ],
        )  # fmt: skip
        _survey(tables, game)
    tables.game(end=Game.End.CANCELLED)
    path = tmp_path / "public.zip"
    export_study(study=tables.study, path=path, tier="public")
    for key in KEYS:
        for options in (Options(), Options(language="zh")):
            here, there = run_report(key, tables.study, options), run_report_from(key, path, options)
            assert [write(here) for write in (as_json, as_csv, as_markdown)] == [
                write(there) for write in (as_json, as_csv, as_markdown)
            ], key
        assert [as_svg(one) for one in figures_of(here)] == [as_svg(one) for one in figures_of(there)]
    result = run_report("group-survival", tables.study)
    assert result.basis.excluded == {"cancelled": 1}
    assert {one.key for one in figures_of(result)} == {"survival", "against_chance", "per_round"}
    assert "Study `" in as_markdown(result)
    assert "52 games" in as_markdown(result)


def test_outcomes_are_hidden_while_the_study_runs(published: Tables, client: Any, cast: Any) -> None:
    assert all(reports.get(key).shows_outcomes for key in KEYS)
    published.study.members.create(user=cast.researcher, role="researcher")
    client.force_login(cast.researcher)
    address = f"/admin/study/{published.study.slug}/report/group-survival/"
    hidden = client.get(address).content.decode()
    assert "0.3547" not in hidden
    assert "0.355" not in hidden
    Study.objects.filter(pk=published.study.pk).update(status="closed")
    page = client.get(address).content.decode()
    assert "0.355" in page
    assert "games with" in page
    assert "Analysis set" not in page


def test_too_little_says_so_with_n() -> None:
    tables = Tables()
    for key in KEYS:
        empty = run_report(key, tables.study)
        assert as_markdown(empty)
        assert figures_of(empty) == []
    game = tables.game(people=3, said=[(1, 0, 1.0, "hi"), (1, 2, 2.0, "hello")])
    _survey(tables, game)
    survival = run_report("group-survival", tables.study)
    one = row(survival, "survival", by="all")
    assert (one["share"], one["low"], one["note"]) == (None, None, "n = 1, not enough")
    against = rows(survival, "against_chance", by="all")[0]
    assert (against["difference"], against["p_at_least"]) == (None, None)
    first = row(run_report("group-votes", tables.study), "first_round")
    assert (first["n"], first["share"], first["note"]) == (3, None, "n = 3, not enough")
    talk = row(run_report("group-participation", tables.study), "talk", measure="words", who="agent")
    assert (talk["n"], talk["value"], talk["note"]) == (1, None, "n = 1, not enough")
    mean = row(run_report("group-survey", tables.study), "means", question="human_likeness")
    assert (mean["n"], mean["mean"], mean["note"]) == (3, None, "n = 3, not enough")


# Votes, talk, answers worked by hand


def test_ties_say_how_they_were_decided() -> None:
    tables = Tables()
    for at in range(6):
        game = tables.game(people=3, out=1)
        elimination = game.eliminations.get()
        seats = list(game.room.seats.order_by("position"))
        elimination.tally = {seats[2].code: 1, seats[3].code: 1}
        elimination.tied = [seats[2].code, seats[3].code]
        elimination.draw = {"seed": f"1:tie:{at}"} if at == 5 else {"rule": "first"}
        elimination.save()
    found = run_report("group-votes", tables.study)
    drawn, first = rows(found, "ties")
    assert [one["decided"] for one in (drawn, first)] == ["drawn", "first"]
    assert (first["ties"], first["first"], first["chance"], first["p_first"]) == (5, 5, 2.5, about(1 / 32))
    assert (drawn["ties"], drawn["p_first"], drawn["note"]) == (1, None, "n = 1, not enough")
    assert (drawn["rounds"], drawn["consistent"]) == (6, 6)
    Vote.objects.filter(round=1, voter__nature="human").update(target=None)
    none = row(run_report("group-votes", tables.study), "first_round")
    assert (none["n"], none["abstained"], none["note"]) == (0, 18, "n = 0, not enough")


def test_participation_of_a_worked_table() -> None:
    """Three people and the agent (place 2); two games of two rounds, where one goes after the first, and one
    of a single round."""
    tables = Tables()
    said = [
        (1, 0, 10.0, "who is it?"),
        (1, 2, 14.0, "not me"),
        (1, 2, 15.0, "really not"),
        (1, 1, 39.5, "I say it is him"),
        (1, 0, 41.0, "why?"),
        (2, 2, 3.0, "so?"),
        (2, 0, 50.0, "hm"),
    ]
    tables.game(people=3, said=said)
    tables.game(people=3, said=[*said[:5], (2, 2, 3.0, "so what"), said[6], (2, 0, 51.0, "ok then")])
    tables.game(people=3, out=1, said=[(1, 0, 1.0, "a b c"), (1, 2, 2.0, "x")])
    result = run_report("group-participation", tables.study)
    every = {(one["measure"], one["who"]): one for one in rows(result, "talk", by="all")}
    # People: 3, then 2 of them, 4 and 5 messages; in the last game 3 and one.
    assert (every["messages", "people"]["n"], every["messages", "people"]["value"]) == (13, about(10 / 13))
    assert (every["messages", "agent"]["n"], every["messages", "agent"]["value"]) == (5, about(7 / 5))
    assert every["messages", "all"]["value"] == about(17 / 18)
    assert every["words", "people"]["value"] == about(25 / 10)
    assert every["words", "agent"]["value"] == about(12 / 7)
    assert every["questions", "people"]["value"] == about(4 / 10)
    assert every["questions", "agent"]["value"] == about(1 / 7)
    # "not me" answers; "really not" does not; place 1 answers 29.5 s after; "hm" comes too late.
    assert every["answers", "people"]["value"] == about(2 / 10)
    assert every["answers", "agent"]["value"] == about(2 / 7)
    words = row(result, "difference", measure="words")
    assert words["difference"] == about(12 / 7 - 25 / 10)
    latency = {one["who"]: one for one in rows(result, "latency")}
    # People: 24.5, 1.5, 47.0 s; the agent: 4.0 s. First messages of a round, and one's own second, have none.
    assert (latency["people"]["n"], latency["people"]["median"]) == (6, about(24.5))
    assert (latency["agent"]["n"], latency["agent"]["median"]) == (3, None)
    second = rows(result, "by_round", round="2", who="people")[0]
    assert (second["n"], second["note"]) == (4, "n = 4, not enough")
    assert second["selected"] == "yes"


def _survey(tables: Tables, game: Game) -> None:
    """Everybody answers 4 and 5 in turn; the first one says nothing of enjoyment."""
    form = tables.study.questionnaires.filter(key="after-group").first() or QuestionnaireFactory(
        study=tables.study, key="after-group", questions=[]
    )
    people = [seat.participant for seat in game.room.seats.order_by("position") if seat.participant]
    for at, person in enumerate(people):
        for question in ("human_likeness", "enjoyment"):
            if at or question != "enjoyment":
                AnswerFactory(
                    rater=person.rater, questionnaire=form, question=question, value=str(4 + at % 2),
                    scale=["1", "2", "3", "4", "5", "prefer_not"], about=game.code,
                )  # fmt: skip


def test_survey_means_keep_scales_apart_and_say_n() -> None:
    tables = Tables()
    for _game in range(3):
        _survey(tables, tables.game(people=4))
    person = tables.study.participants.first()
    assert person
    odd = tables.game(people=4)
    for at, rater in enumerate(Rater.objects.filter(participant__seats__room=odd.room)):
        AnswerFactory(
            rater=rater, questionnaire=tables.study.questionnaires.get(key="after-group"),
            question="human_likeness", value=str(50 + at), scale=[str(one) for one in range(101)],
            about=odd.code,
        )  # fmt: skip
    result = run_report("group-survey", tables.study)
    human, other, fun = rows(result, "means")
    assert (human["scale"], human["n"], human["games"], human["mean"]) == ("1–5", 12, 3, about(4.5))
    assert (other["scale"], other["n"], other["note"]) == ("0–100", 4, "n = 4, not enough")
    assert (fun["question"], fun["n"], fun["mean"]) == ("enjoyment", 9, about((5 + 4 + 5) / 3))
    counts = [one["n"] for one in rows(result, "distribution", question="human_likeness")]
    assert counts == [0, 0, 0, 6, 6]
    answered = {one["question"]: (one["answered"], one["people"]) for one in rows(result, "answered")}
    assert answered == {"": (16, 16), "human_likeness": (16, 16), "enjoyment": (9, 16)}
