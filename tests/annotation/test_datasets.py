"""The annotation's tables: what is in them, what never leaves, the same cells whichever way they are read."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from annotation import datasets as ours
from annotation.datasets import people, review, wording, work
from annotation.layers import scores_in_layer
from annotation.models import BatchItem, Layer, Score
from dialogues.models import Dialogue, Speaker
from studies import copying, sheets
from studies.exported import Exported
from studies.exports import TIERS, export_study, shown_columns
from studies.models import MachineConfig
from studies.public import PublicTier
from studies.registry import datasets
from studies.services.erasing import erase
from studies.tidy import TidyDataset
from tests import factories
from tests.annotation.labelled import LATER, WORDS, Labelled

pytestmark = [pytest.mark.both, pytest.mark.django_db]
TABLES: tuple[TidyDataset, ...] = (*wording.TABLES, *people.TABLES, *work.TABLES, *review.TABLES)


@pytest.fixture
def labelled() -> Labelled:
    return Labelled()


def rows(name: str, labelled: Labelled, **equal: Any) -> list[dict[str, Any]]:
    found = datasets.get(name).rows(labelled.study)
    return [dict(row) for row in found if all(row[key] == value for key, value in equal.items())]


def test_every_table_is_registered_and_none_stays_empty_here(labelled: Labelled) -> None:
    assert ours.register is not None
    for table in TABLES:
        assert datasets.get(table.key) is table
        assert list(table.rows(labelled.study)), f"{table.key} has no row to test with"


def test_rows_are_told_apart_and_have_their_levels(labelled: Labelled) -> None:
    for table in TABLES:
        keys = set()
        for row in table.rows(labelled.study):
            key = tuple(str(row[name]) for name in table.primary_key)
            assert key not in keys, f"{table.key} has the key {key} twice"
            keys.add(key)
            for column in table.columns:
                if column.levels and row[column.name] not in ("", None):
                    assert row[column.name] in column.levels, f"{table.key}.{column.name}"


def test_rows_are_told_apart_by_what_is_public(labelled: Labelled) -> None:
    public = PublicTier(labelled.study)
    for table in TABLES:
        shown = [column.name for column in shown_columns(table, "public")]
        assert set(table.primary_key) <= set(shown), table.key
        found = list(public.rows(table, table.rows(labelled.study)))
        keys = {tuple(str(row[name]) for name in table.primary_key) for row in found}
        assert len(keys) == len(found), f"{table.key}: a day tells less than a time"


@pytest.mark.parametrize("tier", TIERS)
def test_the_database_writes_the_same_bytes(labelled: Labelled, tier: str) -> None:
    odd_raters(labelled)
    for table in TABLES:
        columns = shown_columns(table, tier)
        query = table.selected(labelled.study, columns)
        assert query is not None, f"{table.key} is not written by the database"
        made = sheets.csv_header(columns) + b"".join(one.data for one in copying.blocks(query, columns))
        below, found = io.BytesIO(), table.rows(labelled.study)
        sheet = sheets.CsvSheet(below, columns, bom=False)
        for row in PublicTier(labelled.study).rows(table, found) if tier == "public" else found:
            sheet.write(row)
        sheet.close()
        assert made.decode().split("\n") == below.getvalue().decode().split("\n"), table.key
        assert made.count(b"\n") > 1


def odd_raters(labelled: Labelled) -> None:
    machine = MachineConfig.objects.create(name="judge", sha256="-1" + "ab" * 31)
    for rater in (
        factories.RaterFactory(participant=None, machine=machine),
        factories.RaterFactory(participant=None, user=factories.UserFactory()),
    ):
        factories.ScoreFactory(rater=rater, study=labelled.study, dialogue=labelled.dialogues[0])


def test_by_column_gives_what_rows_give(labelled: Labelled) -> None:
    odd_raters(labelled)
    for table in TABLES:
        whole = table.table(labelled.study)
        assert [dict(row) for row in whole] == [dict(row) for row in table.rows(labelled.study)], table.key


def test_every_format_holds_the_same(labelled: Labelled, tmp_path: Path) -> None:
    for kind in sheets.FORMATS:
        path = tmp_path / f"{kind}.zip"
        export_study(study=labelled.study, path=path, formats=(kind,), tier="internal")
        with Exported(path) as export:
            for table in TABLES:
                expected = [dict(row) for row in table.rows(labelled.study)]
                assert list(export.table(table.key)) == expected, (kind, table.key)


def test_scores_carry_both_codings(labelled: Labelled) -> None:
    found = rows("scores", labelled, dimension="stress", layer="raw", repeat=0, purpose="work")
    silent = [row for row in found if not row["evidence"]]
    assert len(silent) == 6
    assert {(row["score"], row["score_on_evidence"]) for row in silent} == {(3, None)}
    spoken = rows("scores", labelled, dimension="accent", layer="raw", repeat=0, purpose="work")
    assert {(row["score"], row["score_on_evidence"]) for row in spoken} == {(2, 2)}
    assert {row["category"] for row in spoken} == {"physiological"}
    assert {(row["taxonomy"], row["taxonomy_version"]) for row in spoken} == {
        (labelled.study.annotation.taxonomy.name, 1)
    }
    (changed,) = [row for row in rows("scores", labelled) if row["changes"]]
    assert (changed["dimension"], changed["score"]) == ("rhythm", 5)
    assert (changed["first_score"], changed["first_evidence"], changed["changes"]) == (3, False, 2)
    assert changed["changed_at"] == LATER


def test_layers_repeats_and_sources_are_kept_apart(labelled: Labelled) -> None:
    found = rows("scores", labelled)
    count = {
        key: sum((row["layer"], row["repeat"], row["source"]) == key for row in found)
        for key in {(row["layer"], row["repeat"], row["source"]) for row in found}
    }
    assert count == {
        ("raw", 0, "annotation"): 2 * 3 * 18 + 1,
        ("raw", 1, "annotation"): 18,
        ("blind-expert", 0, "annotation"): 18,
        ("truth-shown", 0, "review"): 3,
    }
    assert {row["purpose"] for row in found if row["layer"] == "truth-shown"} == {"work"}
    assert {row["purpose"] for row in found if row["repeat"]} == {"repeat"}


def test_what_is_not_analysed_says_why(labelled: Labelled) -> None:
    assert [row["exclusion"] for row in rows("scores", labelled) if row["exclusion"]] == ["unfinished"]
    BatchItem.objects.filter(dialogue=labelled.dialogues[0], layer=Layer.RAW).update(exclusion="known")
    raw = rows("scores", labelled, dialogue=labelled.dialogues[0].code)
    assert {row["exclusion"] for row in raw if row["layer"] == "raw"} == {"known"}
    assert {row["exclusion"] for row in raw if row["layer"] == "truth-shown"} == {"known"}, "as the raw ones"
    assert {row["exclusion"] for row in raw if row["layer"] == "blind-expert"} == {""}
    table = work.SCORES
    assert table.reasons(labelled.study) == {"known": 2 * 18 + 3, "unfinished": 1}
    assert work.ITEMS.reasons(labelled.study) == {"known": 2, "unfinished": 1}


def test_a_withdrawn_voice_takes_imported_scores_out_too(labelled: Labelled) -> None:
    dialogue = labelled.dialogues[2]
    imported = factories.ScoreFactory(
        rater=labelled.people[0].rater, dialogue=dialogue, layer=Layer.BLIND_EXPERT, exclusion=""
    )
    assert imported.item is None
    Speaker.objects.filter(parties__dialogue=dialogue, parties__label="B").update(withdrawn_at=LATER)
    if not dialogue.parties.filter(speaker__withdrawn_at__isnull=False).exists():
        Dialogue.objects.filter(pk=dialogue.pk).update(state=Dialogue.State.WITHDRAWN)
    for name in ("scores", "annotation_items"):
        assert {row["exclusion"] for row in rows(name, labelled, dialogue=dialogue.code)} == {"recording"}


@pytest.mark.parametrize("gone", ["nobody", "speaker", "dialogue"])
def test_layers_hold_what_the_dataset_does_not_leave_out(labelled: Labelled, gone: str) -> None:
    dialogue = labelled.dialogues[0]
    for layer in Layer.values:
        for words in ({}, {"exclusion": "pilot"}, {"purpose": "gold"}, {"purpose": "repeat", "repeat": 1}):
            factories.ScoreFactory(study=labelled.study, dialogue=dialogue, layer=layer, **words)
    if gone == "speaker":
        voice = factories.SpeakerFactory(withdrawn_at=LATER)
        dialogue.parties.filter(label="A").update(speaker=voice, nature="human", system=None)
    elif gone == "dialogue":
        Dialogue.objects.filter(pk=dialogue.pk).update(state=Dialogue.State.WITHDRAWN)
    for layer in Layer.values:
        told = rows("scores", labelled, layer=layer, repeat=0, exclusion="")
        told = [row for row in told if row["purpose"] in ("", "work")]
        found = scores_in_layer(labelled.study, layer).select_related("dialogue", "dimension")
        counted = sorted((row.dialogue.code, row.dimension.key, row.value) for row in found)
        assert counted == sorted((row["dialogue"], row["dimension"], row["score"]) for row in told)
        assert any(row.dialogue_id == dialogue.pk for row in found) is (gone == "nobody")


def test_a_draw_names_its_dialogue_by_code(labelled: Labelled) -> None:
    found = rows("annotation_items", labelled, purpose="repeat")
    assert [row["draw"]["chosen"] for row in found] == [labelled.dialogues[1].code]
    assert [row["draw"]["seed"] for row in found] == [2**63]


def test_only_the_taxonomies_in_use_are_told(labelled: Labelled) -> None:
    from annotation.services.taxonomies import copy_taxonomy

    copy = copy_taxonomy(taxonomy=labelled.study.annotation.taxonomy, study=labelled.study)
    assert len(rows("dimensions", labelled)) == 18
    factories.ScoreFactory(
        rater=labelled.people[0].rater,
        dialogue=labelled.dialogues[0],
        dimension=copy.dimensions.get(key="accent"),
    )
    assert {row["taxonomy"] for row in rows("dimensions", labelled)} == {
        labelled.study.annotation.taxonomy.name,
        copy.name,
    }
    assert len(rows("taxonomies", labelled)) == 2


def test_reviewers_appear_under_codes_and_their_words_are_not_public(
    labelled: Labelled, tmp_path: Path
) -> None:
    decisions = rows("review_decisions", labelled)
    codes = {row["reviewer"] for row in decisions}
    assert len(codes) == 2
    assert {row["reviewer"] for row in rows("review_comments", labelled)} == codes
    assert all(len(code) == 12 for code in codes)
    other = Labelled("elsewhere")
    other.reviewers[0].pk = labelled.reviewers[0].pk
    assert not codes & {row["reviewer"] for row in rows("review_decisions", other)}
    assert [row["number"] for row in decisions if row["reviewer"] == decisions[0]["reviewer"]] == [1, 2] * 3
    texts = {}
    for tier in TIERS:
        path = tmp_path / f"{tier}.zip"
        export_study(study=labelled.study, path=path, tier=tier, formats=("csv", "jsonl"))
        with zipfile.ZipFile(path) as archive:
            texts[tier] = {name: archive.read(name).decode() for name in archive.namelist()}
    tables = {tier: "".join(t for n, t in found.items() if "tables/" in n) for tier, found in texts.items()}
    for text in tables.values():
        assert "secret-name" not in text
    said = json.dumps(WORDS, ensure_ascii=False)[1:-1]
    assert said not in tables["public"].replace(texts["public"]["tables/annotation_items.jsonl"], ""), (
        "reasons and comments stay inside"
    )
    assert said in texts["controlled"]["tables/review_comments.jsonl"]
    assert said in texts["controlled"]["tables/review_decisions.jsonl"]
    assert said not in texts["controlled"]["tables/annotators.jsonl"]
    assert said in texts["internal"]["tables/annotators.jsonl"]


def test_what_review_changed_is_told(labelled: Labelled) -> None:
    found = rows("review_resolutions", labelled)
    assert [row["changed"] for row in found] == [
        (row["score_before"], row["evidence_before"]) != (row["score"], row["evidence"]) for row in found
    ]
    assert [row["how"] for row in found] == ["unanimous", "agreed", "agreed"]
    assert sum(row["changed"] for row in found) == 2
    first = Score.objects.filter(revises__isnull=False).order_by("pk")[0]
    assert first.revises_id is not None
    Score.objects.filter(pk=first.pk).update(value=3, evidence=False)
    Score.objects.filter(pk=first.revises_id).update(value=3, evidence=True)
    assert rows("review_resolutions", labelled)[0]["changed"], "a 3 is not the same as no evidence"


def test_erased_people_are_in_no_table(labelled: Labelled) -> None:
    person = labelled.people[0]
    code = person.code
    erase(participant=person)
    for table in TABLES:
        assert code not in json.dumps(list(table.rows(labelled.study)), default=str), table.key
    assert {row["rater"] for row in rows("scores", labelled)} == {
        labelled.people[1].code,
        labelled.expert.participant.code,
    }


def test_a_study_that_does_not_annotate_has_empty_tables(tmp_path: Path) -> None:
    study = factories.speech_study()
    path = tmp_path / "out.zip"
    call_command("export", study.slug, out=str(path), stdout=io.StringIO())
    with zipfile.ZipFile(path) as archive:
        for table in TABLES:
            lines = list(csv.reader(io.StringIO(archive.read(f"tables/{table.key}.csv").decode())))
            assert lines == [[column.name for column in shown_columns(table, "controlled")]], table.key


def test_tables_of_what_people_said_count_as_outcomes() -> None:
    assert {table.key for table in TABLES if table.outcomes} == {
        "annotation_items",
        "scores",
        "review_decisions",
        "review_resolutions",
        "reference_scores",
    }


def test_the_queries_do_not_grow_with_the_rows(
    labelled: Labelled, django_assert_max_num_queries: Any
) -> None:
    assert connection.vendor in ("postgresql", "sqlite")
    for table in TABLES:
        with django_assert_max_num_queries(3):
            list(table.rows(labelled.study))
