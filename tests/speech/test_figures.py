"""Figures of every registered report: from a played study and its export, on the page and by command."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
import vl_convert
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation

from dialogues.models import Choice, Kind, Turn, Verdict
from games.speech.models import Round
from games.speech.reports import pictures
from studies import figures
from studies.exports import export_study
from studies.models import AuditLine
from studies.registry import reports
from studies.reports import Basis, Heading, ReportResult, ReportTable, run_report, run_report_from
from tests import factories
from tests.dialogues.test_recordings_report import quality
from tests.speech.played import HUMAN, MACHINE, Played

pytestmark = pytest.mark.django_db

#: Every report, and the figures that a played study has enough for.
DRAWN = {
    "success-rate": ["success", "difference", "discrimination", "strategies", "benchmark", "by_round"],
    "accuracy": ["by_kind", "groups", "by_length", "by_round"],
    "discrimination": ["discrimination"],
    "duration-trend": ["trend", "by_length", "by_speaker"],
    "by-round": ["by_round", "told_apart"],
    "leaks": ["rate"],
    "funnel": ["steps"],
    "recordings": ["spread"],
    "nuisance-audit": ["features"],
}
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def played(db: None) -> Played:
    """Two systems with a score, two strategies, transcripts, sound, rounds; a third system hardly judged."""
    played = Played()
    other = factories.SystemFactory(name="Second", code="second", benchmark={"MMAU-Pro": 52.2})
    played.system.benchmark = {"MMAU-Pro": 46.6}
    played.system.save(update_fields=["benchmark"])
    more = [played.dialogue(Kind.PSEUDO_HUMAN, 20.0 + 5 * i, system=other) for i in range(6)]
    played.pattern(MACHINE, more)
    extra = [played.dialogue(Kind.HUMAN_HUMAN, 20.0 + 5 * i) for i in range(4)]
    played.pattern(HUMAN, extra)
    second = [*played.machine[::2], *more[::2], *played.human[::2], *extra[::2]]
    Verdict.objects.filter(dialogue__in=second).update(round_number=2)
    rare = factories.SystemFactory(name=HOSTILE, code="rare")
    few = played.dialogue(Kind.HUMAN_MACHINE, system=rare)
    for person in played.people[:3]:
        played.verdict(person, few, Choice.HUMAN)
        player = factories.SpeechPlayerFactory(participant=person, sound_passed=True)
        factories.RoundFactory(player=player, state=Round.State.FINISHED)
    strategies = [factories.StrategyFactory(code=code) for code in ("role_play", "guided")]
    for place, dialogue in enumerate(played.machine):
        dialogue.strategy = strategies[place % 2]
        dialogue.save(update_fields=["strategy"])
    for place, dialogue in enumerate([*played.machine, *more, *played.human, *extra]):
        dialogue.quality = quality(gap=0.2 + place / 10, b=-20.0 - place)
        dialogue.save(update_fields=["quality"])
    Turn.objects.filter(party__label="B").update(text="Well, yes.")
    for place, person in enumerate(played.people):
        person.device_class = "phone" if place % 2 else "desktop"
        person.save(update_fields=["device_class"])
    return played


@pytest.fixture
def export(played: Played, tmp_path: Path) -> Path:
    path = tmp_path / "worked.zip"
    export_study(study=played.study, path=path)
    return path


def test_every_report_is_here() -> None:
    """Of those that read opinions of this game; annotation's and the group game's have tests of their own."""
    assert set(DRAWN) == {report.key for report in reports if not report.layers and report.sets}


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_every_report_has_valid_figures_the_same_from_an_export(
    played: Played, export: Path, name: str
) -> None:
    result = run_report(name, played.study)
    shown = figures.figures_of(result)
    keys = [one.key for one in shown]
    assert [key for key in DRAWN[name] if key != "groups"] == [key for key in keys if key != "groups"]
    assert len(keys) == len(set(keys))
    tables = {table.key for table in result.tables}
    again = figures.figures_of(run_report_from(name, export))
    for one, other in zip(shown, again, strict=True):
        assert one.table in tables
        assert len(one.alt) > 20
        for spec in (one.spec, one.narrow):
            vl_convert.vegalite_to_vega(spec)  # raises where it is no Vega-Lite
        assert figures.as_svg(one) == figures.as_svg(other)
        assert "<script" not in figures.as_svg(one)
        assert one == other
        held = one.spec["title"]["subtitle"]
        assert "worked" in held


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_study_without_anything_has_no_figures(name: str) -> None:
    assert figures.figures_of(run_report(name, factories.StudyFactory())) == []


def test_too_little_data_has_no_mark_but_its_reason(played: Played) -> None:
    success = figures.access_figure(run_report("success-rate", played.study), "success")
    svg = figures.as_svg(success)
    assert "n = 3, not enough" in svg
    rows = success.spec["concat"][0]["data"]["values"]
    [rare] = [row for row in rows if row["label"] == HOSTILE]
    assert (rare["value"], rare["low"]) == (None, None)
    assert rows[-1]["sort"] == "human"
    assert {row["sort"] for row in rows} == {"machine", "machine_open", "human"}


def test_labels_are_chinese_for_who_reads_chinese(played: Played) -> None:
    with translation.override("zh-hans"):
        shown = figures.figures_of(run_report("success-rate", played.study))
    svg = figures.as_svg(shown[0])
    for said in ("判断为“真人”的比例", "真人说话人", "英语"):
        assert said in svg
    assert svg.index("Noto Sans CJK SC") < svg.index("Arial")
    assert "真人说话人" in shown[0].alt


# tables that only some studies have


def made(table: ReportTable) -> ReportResult:
    return ReportResult("accuracy", "Accuracy", "worked", "all", "", Basis(70, 10, 10), (table,))


def test_groups_stand_by_factor_and_small_ones_without_a_mark() -> None:
    words = {"age": "age", "gender": "gender"}
    headings = (Heading("factor", "by", "text", words), Heading("group", "group", "text", {"m": "men"}))
    rows = (
        {"factor": "age", "group": "18–25", "n": 90, "accuracy": 0.7, "low": 0.6, "high": 0.8, "note": ""},
        {"factor": "age", "group": "46+", "note": "fewer than 10 persons, not shown"},
        {"factor": "gender", "group": "m", "n": 90, "accuracy": 0.6, "low": 0.5, "high": 0.7, "note": ""},
    )
    [one] = pictures.accuracy(made(ReportTable("groups", "Groups", headings, rows)))
    svg = figures.as_svg(one)
    for said in ("age", "gender", "18–25", "men", "fewer than 10 persons, not shown", "0.700 [0.600, 0.800]"):
        assert f">{said}<" in svg


def test_a_scatter_names_its_systems_and_leaves_out_who_has_no_score() -> None:
    rows = tuple(
        {
            "benchmark": "MMAU-Pro",
            "name": name,
            "score": score,
            "share": share,
            "low": low,
            "high": high,
            "n": 50,
        }
        for name, score, share, low, high in (
            ("Kimi", 46.6, 0.127, 0.08, 0.2),
            ("Qwen3", 52.2, 0.151, 0.1, 0.22),
            ("GPT-4o", 52.5, 0.23, 0.17, 0.3),
            ("Gemini", 59.2, 0.137, 0.09, 0.2),
            ("Unknown", None, 0.3, 0.2, 0.4),
        )
    )
    table = ReportTable("benchmark", "Benchmark", (Heading("benchmark", "benchmark", "text"),), rows)
    [one] = pictures.success_rate(made(table))
    svg = figures.as_svg(one)
    for said in ("Kimi", "Qwen3", "GPT-4o", "Gemini", "MMAU-Pro"):
        assert f">{said}<" in svg
    assert "Unknown" not in svg


# the command


def test_the_command_saves_figures(played: Played, export: Path, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("report", "success-rate", "--study", "worked", "--format", "svg", stdout=out)
    assert out.getvalue() == figures.as_svg(
        figures.access_figure(run_report("success-rate", played.study), "")
    )
    line = AuditLine.objects.get(action="report.read")
    assert line.target == "success-rate"

    path, png = tmp_path / "a.svg", tmp_path / "a.png"
    for source in (["--study", "worked"], ["--from", str(export)]):
        call_command(
            "report", "by-round", *source, "--format", "svg", "--figure", "told_apart", "--out", str(path)
        )
        assert path.read_text().startswith("<svg ")
    call_command("report", "funnel", "--study", "worked", "--format", "png", "--out", str(png))
    assert png.read_bytes().startswith(b"\x89PNG")
    call_command("report", "funnel", "--study", "worked", "--labels", "zh-hans", "--out", str(path))
    assert "参与流程" in path.read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "svg", "--figure", "nothing"], "success, difference"),
        (["--figure", "success"], "--format svg"),
        (["--format", "png"], "--out"),
        (["--format", "svg", "--out", "/nowhere/at/all.svg"], "cannot be written"),
    ],
)
def test_the_command_says_what_is_wrong(played: Played, options: list[str], said: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("report", "success-rate", "--study", "worked", *options)
    assert said in str(refused.value)


# the page


@pytest.fixture
def desk(played: Played) -> Client:
    user = factories.UserFactory(is_staff=True)
    factories.StudyMemberFactory(study=played.study, user=user)
    played.study.status = "closed"
    played.study.save(update_fields=["status"])
    client = Client()
    client.force_login(user)
    return client


def address(name: str) -> str:
    return reverse("admin:desk_report", args=["worked", name])


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_the_page_shows_every_figure_above_its_table(desk: Client, played: Played, name: str) -> None:
    page = desk.get(address(name)).content.decode()
    shown = figures.figures_of(run_report(name, played.study))
    assert page.count('role="img"') == len(shown)
    assert page.count("<svg ") >= 2 * len(shown)
    assert "<script>alert" not in page
    assert not re.search(r"<(?:svg|g|path|rect|line|text)[^>]*\sstyle=", page)
    for one in shown:
        assert f"format=svg&amp;figure={one.key}" in page
        section = page[page.index(f'id="{one.table}"') :]
        assert section.index('role="img"') < section.index("<table")


@pytest.mark.parametrize(("wanted", "kind"), [("svg", "image/svg+xml"), ("png", "image/png")])
def test_a_figure_is_saved_from_the_page(desk: Client, played: Played, wanted: str, kind: str) -> None:
    answer = desk.get(address("by-round"), {"format": wanted, "figure": "told_apart", "set": "published"})
    assert answer.status_code == 200
    assert answer["Content-Type"] == kind
    name = f"worked-by-round-told_apart-published.{wanted}"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    if wanted == "svg":
        one = figures.access_figure(run_report("by-round", played.study), "told_apart")
        assert answer.content.decode().count("<path") == figures.as_svg(one).count("<path")
    assert desk.get(address("by-round"), {"format": wanted, "figure": "nothing"}).status_code == 404


def test_who_has_not_looked_gets_no_figure_either(desk: Client, played: Played) -> None:
    played.study.status = "open"
    played.study.save(update_fields=["status"])
    for query in ({}, {"format": "svg"}, {"format": "png", "figure": "success"}):
        answer = desk.get(address("success-rate"), query)
        assert answer["Content-Type"].startswith("text/html")
        assert "drawing" not in answer.content.decode()
    assert "drawing" in desk.get(address("recordings")).content.decode()


def test_long_tables_fold_and_open_all_at_once(desk: Client) -> None:
    folded = desk.get(address("nuisance-audit")).content.decode()
    assert '<details class="more">' in folded
    opened = desk.get(address("nuisance-audit"), {"tables": "open"}).content.decode()
    assert '<details class="more">' not in opened
    assert '<details class="more" open>' in opened
