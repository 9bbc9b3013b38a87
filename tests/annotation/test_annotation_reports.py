"""The annotation's reports as people meet them: page, command and export give the same; who sees what."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils import translation

from annotation.models import BatchItem
from annotation.reports.working import DATASETS, work
from annotation.selectors_raters import rows_of as desk_rows_of
from annotation.services.settings import settings_of
from bench.annotation_reports import REPORTS, SLUG, seed
from studies import figures
from studies.exports import export_study
from studies.models import AuditLine, Study
from studies.registry import datasets, outcomes, reports
from studies.report_formats import FORMATS, as_csv, as_json
from studies.reports import Options, run_report, run_report_from
from studies.tables import Table
from tests import factories
from tests.annotation.labelled import Labelled
from tests.annotation.scored_rows import row_of, rows_of
from turingsite.api.services import make_token
from turingsite.errors import Invalid

pytestmark = pytest.mark.django_db

DRAWN = {
    "agreement": ["alpha"],
    "revision-impact": ["impact", "pull"],
    "dimension-profile": ["distribution", "means", "gap", "superiority", "by_speaker", "relation"],
    "rater-quality": ["work", "others", "drift", "retest", "halo"],
}
HIDDEN = ("revision-impact", "dimension-profile")


@pytest.fixture
def scored(db: None) -> Study:
    """Forty dialogues in two languages, six raters, half of it reviewed, gold items and hidden repeats."""
    seed(dialogues=40, raters=6, each=3)
    return Study.objects.get(slug=SLUG)


@pytest.fixture
def desk(scored: Study) -> Client:
    client = Client()
    client.force_login(factories.StudyMemberFactory(study=scored).user)
    return client


def address(name: str) -> str:
    return reverse("admin:desk_report", args=[SLUG, name])


def test_the_four_reports_are_there() -> None:
    assert {report.key for report in reports if report.layers} == set(REPORTS) == set(DRAWN)
    assert {report.key for report in reports if report.layers and report.shows_outcomes} == set(HIDDEN)


def test_looks_are_noted_with_the_scores_that_a_report_rests_on(scored: Study, desk: Client) -> None:
    Study.objects.filter(pk=scored.pk).update(status="open")
    n = outcomes.get("scores").count(scored)
    assert f'<span class="figure">{n} scores</span>' in desk.get(address("revision-impact")).content.decode()
    desk.post(reverse("admin:desk_look", args=[SLUG]))
    desk.get(address("dimension-profile"))
    look, read = (AuditLine.objects.get(action=one) for one in ("study.looked_early", "report.read"))
    assert {"n": look.detail["n"], "of": look.detail.get("of")} == {"n": n, "of": "scores"}
    assert read.detail["of"] == "scores"
    assert all(run_report(one, scored).basis.of == reports.get(one).of for one in REPORTS)


# the same from everywhere


@pytest.mark.parametrize("tier", ["public", "controlled"])
def test_an_export_gives_the_same_reports_and_pictures(scored: Study, tmp_path: Path, tier: str) -> None:
    path = tmp_path / "scored.zip"
    export_study(study=scored, path=path, tier=tier)
    for name in REPORTS:
        for options in (Options(), Options(language="zh")):
            here, there = run_report(name, scored, options), run_report_from(name, path, options)
            assert there == here, name
        shown = figures.figures_of(here)
        assert [figures.as_svg(one) for one in figures.figures_of(there)] == [
            figures.as_svg(one) for one in shown
        ]


@pytest.mark.parametrize("formats", ["csv", "jsonl", "parquet"])
def test_whatever_a_study_may_hold_every_format_gives_the_same(tmp_path: Path, formats: str) -> None:
    """Layers, repeats, review, references; too little for most figures, which then say so."""
    study = Labelled().study
    path = tmp_path / "scored.zip"
    export_study(study=study, path=path, formats=[formats])
    for name in REPORTS:
        for layer in reports.get(name).layers:
            here = run_report(name, study, Options(layer=layer))
            assert run_report_from(name, path, Options(layer=layer)) == here, (name, layer)
            for written in FORMATS.values():
                assert written(here)
            figures.figures_of(here)


@pytest.mark.both
def test_a_study_without_scores_has_reports_without_figures() -> None:
    study = factories.AnnotationSettingsFactory().study
    for name in REPORTS:
        result = run_report(name, study)
        assert result.basis.n == 0
        assert figures.figures_of(result) == []
        assert all(written(result) for written in FORMATS.values())


def test_command_and_api_and_page_say_the_same(scored: Study, desk: Client) -> None:
    for name in REPORTS:
        out = io.StringIO()
        call_command("report", name, "--study", SLUG, "--format", "csv", stdout=out)
        assert out.getvalue() == as_csv(run_report(name, scored))
        assert desk.get(address(name), {"format": "csv"}).content.decode() == out.getvalue()
        answer = json.loads(desk.get(address(name), {"format": "json"}).content)
        assert answer == json.loads(as_json(run_report(name, scored)))
        assert (answer["set"], answer["of"]) == (None, "scores")


# layers and languages


def test_a_layer_is_chosen_on_the_page_and_by_command(scored: Study, desk: Client) -> None:
    page = desk.get(address("agreement"), {"layer": "truth-shown"}).content.decode()
    assert re.search(r'name="layer" value="truth-shown"[^>]*checked', page)
    assert "Analysis set" not in page
    shown = run_report("agreement", scored, Options(layer="truth-shown"))
    assert f'<p class="figure">{shown.basis.n}</p>' in page
    out = io.StringIO()
    call_command(
        "report", "agreement", "--study", SLUG, "--layer", "truth-shown", "--format", "json", stdout=out
    )
    said = json.loads(out.getvalue())
    assert (said["layer"], said["n"]) == ("truth-shown", shown.basis.n)
    assert shown.basis.n == 20 * 3 * 18
    with pytest.raises(CommandError, match=r"no layer “best”.*raw, blind-expert, truth-shown"):
        call_command("report", "agreement", "--study", SLUG, "--layer", "best")
    with pytest.raises(Invalid):
        run_report("revision-impact", scored, Options(layer="raw"))


def test_markdown_names_layer_raters_and_what_was_left_out(scored: Study) -> None:
    out = io.StringIO()
    call_command("report", "agreement", "--study", SLUG, stdout=out)
    said = out.getvalue()
    assert "Study `bench`, layer `raw`: 2160 scores by 6 raters on 40 dialogues." in said
    assert re.search(r"Left out: \d+ \(gold \d+, repeat \d+\)", said)


# who sees what


def test_outcomes_are_hidden_while_the_study_runs_agreement_is_not(scored: Study, desk: Client) -> None:
    scored.status = "open"
    scored.save(update_fields=["status"])
    for name in REPORTS:
        page = desk.get(address(name)).content.decode()
        assert ("Outcomes are hidden while the study runs" in page) is (name in HIDDEN)
        assert ("drawing" in page) is (name not in HIDDEN)
    assert not AuditLine.objects.filter(action="report.read").exists()
    scored.status = "closed"
    scored.save(update_fields=["status"])
    desk.get(address("dimension-profile"))
    line = AuditLine.objects.get(action="report.read")
    assert (line.target, line.detail["n"], line.detail["set"]) == ("dimension-profile", 2160, "raw")


def test_what_runs_says_nothing_by_kind_or_system(scored: Study) -> None:
    for name in set(REPORTS) - set(HIDDEN):
        report = reports.get(name)
        tables = {key: datasets.get(key).table(scored) for key in report.datasets}
        options = Options(layer="raw")
        before = report.build(tables, study=SLUG, options=options)
        told = [{**row, "kind": "human_human", "system": ""} for row in tables["dialogues"]]
        after = report.build({**tables, "dialogues": Table.of(told)}, study=SLUG, options=options)
        assert after == before


def test_the_desk_lists_the_reports_where_a_study_annotates(scored: Study, desk: Client) -> None:
    other = factories.StudyFactory()
    for study, listed in ((scored, True), (other, False)):
        assert all(reports.get(name).has(study) is listed for name in REPORTS)


def test_an_outsider_finds_no_report(scored: Study) -> None:
    client = Client()
    client.force_login(factories.UserFactory(is_staff=True))
    assert client.get(address("agreement")).status_code == 404


# raters


def test_raters_have_the_figures_of_the_desk(scored: Study) -> None:
    items = BatchItem.objects.filter(study=scored, purpose="work", layer="raw").order_by("rater", "pk")
    left = list(items.values_list("pk", flat=True)[:5])
    BatchItem.objects.filter(pk__in=left).update(state="skipped", place=None)
    tables = {name: datasets.get(name).table(scored) for name in DATASETS}
    found = {one.code: one for one in work(tables, Options(layer="raw")).workers}
    desk_rows = {row.annotator.participant.code: row for row in desk_rows_of(settings_of(scored))}
    assert set(found) == set(desk_rows)
    for code, row in desk_rows.items():
        assert replace(found[code].figures, halo=None) == row.figures, code
        assert [one.words for one in found[code].flags] == [one.words for one in row.flags]
    assert [one.figures.left.n for one in found.values() if one.figures.left.n] == [5]


def test_the_careless_rater_stands_out(scored: Study) -> None:
    result = run_report("rater-quality", scored)
    careless = row_of(result, "raters", rater="rater0005")
    flagged = {row["rater"] for row in rows_of(result, "flags") if row["flag"] == "fast"}
    assert flagged == {"rater0005"}
    assert careless["flags"] == max(row["flags"] for row in rows_of(result, "raters"))
    assert row_of(result, "work", rater="rater0005")["most_used"] == "3"
    for row in rows_of(result, "halo"):
        assert 0 < row["unrelated"] < row["halo"] < 1
    known = row_of(result, "known", rater="rater0000")
    assert (known["tries"], known["state"]) == (1, "passed")


def test_scores_from_a_file_have_no_order_of_work() -> None:
    study = factories.AnnotationSettingsFactory().study
    first, second = (factories.ParticipantFactory(study=study).rater for _ in range(2))
    for n in range(6):
        dialogue = factories.add_dialogue(study)
        for rater, value in ((first, 1 + n % 5), (second, 1 + (n + 1) % 5)):
            factories.ScoreFactory(rater=rater, study=study, dialogue=dialogue, value=value)
    result = run_report("rater-quality", study)
    row = row_of(result, "drift", rater=first.participant.code)
    assert (row["slope"], row["note"]) == (None, "order of work not known")
    assert row_of(result, "others", rater=first.participant.code)["n"] == 6
    assert row_of(result, "work", rater=first.participant.code)["run"] is None


# figures


def test_every_figure_is_drawn_as_svg_and_png_in_both_languages(scored: Study) -> None:
    for name, keys in DRAWN.items():
        with translation.override("en"):
            shown = figures.figures_of(run_report(name, scored))
        assert [one.key for one in shown] == keys
        for one in shown:
            for spec in (one.spec, one.narrow):
                vl_convert.vegalite_to_vega(spec)  # raises where it is no Vega-Lite
            assert figures.as_png(one).startswith(b"\x89PNG")
            assert len(one.alt) > 40
            assert "layer raw" in figures.as_svg(one) or name == "revision-impact"
        with translation.override("zh-hans"):
            (first, *_rest) = figures.figures_of(run_report(name, scored))
        if name != "rater-quality":
            for said in ("节奏", "语义与语用习惯"):
                assert said in figures.as_svg(first)


def test_a_page_shows_its_figures_above_their_tables(desk: Client, scored: Study) -> None:
    for name, keys in DRAWN.items():
        page = desk.get(address(name)).content.decode()
        assert page.count('role="img"') == len(keys)
        assert not re.search(r"<(?:svg|g|path|rect|line|text)[^>]*\sstyle=", page)
        assert page.count("How this is computed") == len(run_report(name, scored).tables)


def test_the_api_reads_a_layer_and_names_it(scored: Study, desk: Client) -> None:
    member = scored.members.get()
    token = make_token(owner=member.user, studies=[scored], name="x").secret
    answer = Client(headers={"authorization": f"Bearer {token}"}).get(
        reverse("api:report", args=[SLUG, "agreement"]), {"layer": "truth-shown"}
    )
    assert answer.status_code == 200
    assert answer.json() == json.loads(as_json(run_report("agreement", scored, Options(layer="truth-shown"))))
    assert answer.json()["layer"] == "truth-shown"
