"""Scores given elsewhere: every score taken in or told, people under new codes, again changes nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import translation

from annotation.importing.scales import Scale
from annotation.importing.services import File, Imported, import_scores
from annotation.importing.setting import How
from annotation.models import (
    AnnotationSettings,
    Layer,
    ReferenceDialogue,
    ReferenceScore,
    ReviewCase,
    Score,
    Taxonomy,
)
from annotation.services.taxonomies import copy_taxonomy, default_taxonomy
from dialogues.importing.manifest import ManifestRefused
from dialogues.models import Dialogue, StudyItem, Verdict
from studies.models import AuditLine, MachineConfig, Participant, Rater, Study
from studies.services.erasing import erase
from tests import factories

pytestmark = [pytest.mark.both, pytest.mark.django_db]

LONG = """dialogue,rater,dimension,score,layer
d1,ann,rhythm,4,raw
d1,ann,accent,0,raw
d1,bo,Rhythm,5,raw
d2,bo,口音,NA,raw
d2,bo,Code-switching,,raw
d1,ann,rhythm,2,truth-shown
"""
WIDE = """dialogue;rater;layer;Memory consistency;rhythm;语调;Micro-physiological noise;choice;confidence
d1;ann;raw;1;5;3;0;human;4
d2;ann;blind-expert;2;NA;4;5;机器;2
"""


@pytest.fixture(autouse=True)
def corpus(db: None) -> None:
    for name in ("d1", "d2", "d3"):
        factories.DialogueFactory(external_id=name)


@pytest.fixture
def study(corpus: None) -> Study:
    study = factories.StudyFactory(slug="labelled", activities=["annotation"])
    factories.AnnotationSettingsFactory(study=study)
    for dialogue in Dialogue.objects.all():
        factories.StudyItemFactory(study=study, dialogue=dialogue)
    return study


def take(
    text: str | bytes, slug: str = "labelled", *, name: str = "scores.csv", layer: str = "", **how: Any
) -> Imported:
    data = text.encode() if isinstance(text, str) else text
    return import_scores(file=File(data, name), slug=slug, how=How(layer=layer, **how))


def row(*cells: object, header: str = "dialogue,rater,dimension,score,layer") -> str:
    return f"{header}\n{','.join(map(str, cells))}\nd3,zoe,stress,5,raw\n"


def codes(done: Imported) -> list[set[str]]:
    return [{note.code for note in row.notes} for row in done.rows]


def said(done: Imported, at: int = 0) -> str:
    from dialogues.importing.notes import worded

    return " ".join(worded(note.stored()) for note in done.rows[at].notes)


def stored() -> set[tuple[Any, ...]]:
    rows = Score.objects.values_list(
        "dialogue__external_id",
        "rater__participant__recruiter_key",
        "dimension__key",
        "layer",
        "value",
        "evidence",
    )
    return {(d, who.removeprefix("import:"), *rest) for d, who, *rest in rows}


def everything() -> dict[str, Any]:
    tables = (
        Study,
        Participant,
        Rater,
        Verdict,
        StudyItem,
        Score,
        AuditLine,
        ReferenceDialogue,
        ReferenceScore,
    )
    return {table.__name__: list(table._default_manager.order_by("pk").values()) for table in tables}


def run(path: Path, *options: str, slug: str = "labelled") -> tuple[str, str]:
    out = io.StringIO()
    try:
        call_command("import_scores", str(path), "--study", slug, *options, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def test_a_long_file_is_stored_in_its_layers(study: Study) -> None:
    done = take(LONG)
    assert done.counts == {"accepted": 6}
    assert stored() == {
        ("d1", "ann", "rhythm", "raw", 4, True),
        ("d1", "ann", "accent", "raw", 3, False),
        ("d1", "bo", "rhythm", "raw", 5, True),
        ("d2", "bo", "accent", "raw", 3, False),
        ("d2", "bo", "code-switching", "raw", 3, False),
        ("d1", "ann", "rhythm", "truth-shown", 2, True),
    }
    people = Participant.objects.filter(study=study)
    assert {person.source for person in people} == {"import"}
    assert not {person.code for person in people} & {"ann", "bo"}
    taxonomy = Taxonomy.objects.get(pk=study.annotation.taxonomy_id)
    assert taxonomy.frozen_at is not None, "what scores point at keeps its words"
    line = AuditLine.objects.get(action="scores.imported")
    assert line.detail == {"scores": 6, "layers": ["raw", "truth-shown"]}


def test_what_a_file_brings_is_in_the_review_at_once(study: Study) -> None:
    take(row("d1", "zoe", "stress", 1, "raw"))
    cases = ReviewCase.objects.filter(study=study).values_list("dialogue__external_id", flat=True)
    assert sorted(cases) == ["d1", "d3"]
    take(row("d1", "zoe", "stress", 5, "truth-shown"))
    assert ReviewCase.objects.get().dialogue.external_id == "d3", "the other one is revised already"


def test_a_wide_file_has_a_column_for_each_dimension_in_either_language(study: Study) -> None:
    done = take(WIDE)
    assert done.counts == {"accepted": 8}
    assert done.notes == []
    assert ("d1", "ann", "intonation", "raw", 3, True) in stored()
    assert ("d1", "ann", "micro-physiological-noise", "raw", 3, False) in stored()
    assert ("d2", "ann", "rhythm", "blind-expert", 3, False) in stored()
    verdicts = Verdict.objects.filter(study=study).order_by("dialogue__external_id")
    assert [(v.activity, v.choice, v.confidence, v.exclusion) for v in verdicts] == [
        ("annotation", "human", 4, ""),
        ("annotation", "machine", 2, ""),
    ]


def test_json_lines_long_and_wide(study: Study) -> None:
    long = [
        {
            "dialogue": "d1",
            "rater": "ann",
            "dimension": "rhythm",
            "score": 4,
            "layer": "raw",
            "evidence": True,
        }
    ]
    wide = [{"dialogue": "d2", "rater": "ann", "layer": "raw", "accent": 2, "stress": None, "intonation": 5}]
    assert take("\n".join(map(json.dumps, long)), name="s.jsonl").counts == {"accepted": 1}
    assert take("\n".join(map(json.dumps, wide)), name="s.jsonl").counts == {"accepted": 3}
    assert ("d2", "ann", "stress", "raw", 3, False) in stored()


@pytest.mark.parametrize(
    "encoded",
    [
        lambda text: text.encode("utf-8"),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
        lambda text: text.encode("utf-16-le"),
        lambda text: text.encode("gb18030"),
        lambda text: text.encode("big5"),
        lambda text: text.replace("\n", "\r\n").encode("utf-8-sig"),
        lambda text: text.replace(",", "\t").encode("utf-8"),
        lambda text: text.replace(",", ";").encode("gb18030"),
        lambda text: f"sep=;\n{text.replace(',', ';')}".encode(),
    ],
    ids=[
        "utf-8",
        "bom",
        "utf-16",
        "utf-16-be",
        "unmarked",
        "gb18030",
        "big5",
        "crlf",
        "tsv",
        "semicolon",
        "sep",
    ],
)
def test_every_encoding_that_spreadsheets_save(study: Study, encoded: Callable[[str], bytes]) -> None:
    # Words that are written alike in simplified and traditional characters.
    text = "dialogue,rater,dimension,score,layer\n" + "".join(
        f"d{n},甲方的人,{word},{n + 2},raw\n" for n in (1, 2, 3) for word in ("口音", "重音")
    )
    done = take(encoded(text))
    assert done.counts == {"accepted": 6}
    assert Participant.objects.get(study=study).recruiter_key == "import:甲方的人"


def test_again_changes_nothing_and_says_so(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(LONG, encoding="utf-8")
    run(path)
    before = everything()
    out, error = run(path)
    assert error == ""
    assert "6 unchanged" in out
    assert "the study holds it all" in out
    assert everything() == before


def test_a_dry_run_tells_the_same_and_writes_nothing(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(LONG + "d9,ann,rhythm,4,raw\n", encoding="utf-8")
    before = everything()
    dry, _error = run(path, "--dry-run")
    assert "Nothing was written." in dry
    assert everything() == before
    wet, _error = run(path)
    assert dry.replace("Nothing was written. ", "") == wet


@pytest.mark.parametrize(
    ("cells", "code", "words"),
    [
        (("d1", "ann", "rhythm", 6, "raw"), "outside", "outside 1 to 5"),
        (("d1", "ann", "rhythm", -1, "raw"), "outside", "“-1”"),
        (("d1", "ann", "rhythm", "3.5", "raw"), "no_number", "no whole number"),
        (("d1", "ann", "rhythm", "high", "raw"), "no_number", "“high” is no score"),
        (("d1", "ann", "rythm", 4, "raw"), "unknown_dimension", "Did you mean “rhythm”"),
        (("d1", "ann", "韵律感", 4, "raw"), "unknown_dimension", "There is no dimension"),
        (("d1", "ann", "", 4, "raw"), "no_dimension", "dimension is empty"),
        (("d9", "ann", "rhythm", 4, "raw"), "unknown_dialogue", "Import its manifest first"),
        (("", "ann", "rhythm", 4, "raw"), "no_dialogue", "dialogue is empty"),
        (("d1", "", "rhythm", 4, "raw"), "no_rater", "rater is empty"),
        (("d1", "ann@example.org", "rhythm", 4, "raw"), "rater_is_address", "e-mail"),
        (("d1", "x" * 121, "rhythm", 4, "raw"), "bad_rater", "120"),
        (("d1", "ann", "rhythm", 4, ""), "no_layer", "layer is empty"),
        (("d1", "ann", "rhythm", 4, "cooked"), "unknown_layer", "raw, blind-expert, truth-shown"),
        (('"d1', "ann", "rhythm", 4, "raw"), "broken_row", "quotation marks"),
        (("d1", "ann", "rhythm", 4, "raw", "more"), "too_many_cells", "6 cells"),
    ],
)
def test_a_bad_row_is_refused_in_clear_words_and_stops_no_other(
    study: Study, cells: tuple[Any, ...], code: str, words: str
) -> None:
    done = take(row(*cells))
    assert code in codes(done)[0]
    assert words in said(done)
    assert done.rows[0].result == "refused"
    assert stored() == {("d3", "zoe", "stress", "raw", 5, True)}


@pytest.mark.parametrize(
    ("header", "cells", "code"),
    [
        ("evidence", ("no", "4"), "score_without_evidence"),
        ("evidence", ("yes", ""), "no_score"),
        ("evidence", ("perhaps", "4"), "neither_yes_nor_no"),
        ("repeat", ("-1", "4"), "bad_repeat"),
        ("purpose", ("fun", "4"), "unknown_purpose"),
        ("exclusion", ("boring", "4"), "unknown_exclusion"),
        ("choice", ("perhaps", "4"), "unknown_choice"),
        ("choice", ("unscored", "4"), "unknown_choice"),
        ("confidence", ("9", "4"), "bad_confidence"),
        ("given_at", ("noon", "4"), "bad_time"),
        ("given_at", ("2999-01-01", "4"), "future_time"),
        ("changes", ("many", "4"), "bad_changes"),
        ("taxonomy", ("another", "4"), "unknown_taxonomy"),
        ("rater_kind", ("staff", "4"), "unknown_kind"),
        ("rater_kind", ("machine", "4"), "unknown_machine"),
    ],
)
def test_what_else_a_row_says_is_checked_too(
    study: Study, header: str, cells: tuple[str, str], code: str
) -> None:
    text = f"dialogue,rater,dimension,layer,{header},score\nd1,ann,rhythm,raw,{','.join(cells)}\n"
    done = take(text, scale=Scale.FROM_ONE)
    assert code in codes(done)[0]
    assert not Score.objects.exists()


def test_no_evidence_is_said_in_many_ways(study: Study) -> None:
    cells = ["0", "", "NA", "n/a", "-", "NaN", "None", "无依据", "0.0", "."]
    text = "dialogue,rater,dimension,score,layer\n" + "".join(
        f"d1,r{at},rhythm,{cell},raw\n" for at, cell in enumerate(cells)
    )
    done = take(text + "d1,full,rhythm,５,raw\nd1,point,rhythm,4.0,raw\n")
    assert done.counts == {"accepted": len(cells) + 2}
    assert {one.result for one in done.rows} == {"accepted"}
    assert Score.objects.filter(value=3, evidence=False).count() == len(cells)
    assert {("d1", "full", "rhythm", "raw", 5, True), ("d1", "point", "rhythm", "raw", 4, True)} <= stored()
    told = "dialogue,rater,dimension,score,layer,evidence\nd2,a,rhythm,3,raw,no\nd2,b,rhythm,3,raw,yes\n"
    take(told)
    assert {("d2", "a", "rhythm", "raw", 3, False), ("d2", "b", "rhythm", "raw", 3, True)} <= stored()


ZERO = "dialogue,rater,dimension,score,layer\nd1,a,rhythm,0,raw\nd1,b,rhythm,4,raw\nd2,a,rhythm,,raw\n"


def test_a_scale_from_zero_is_noticed_and_nothing_is_read(study: Study) -> None:
    with pytest.raises(ManifestRefused) as refusal:
        take(ZERO)
    assert refusal.value.code == "zero_based"
    assert "--zero-based" in str(refusal.value)
    assert not Score.objects.exists()
    assert not Participant.objects.exists()


def test_a_scale_from_zero_is_moved_up_when_said(study: Study) -> None:
    done = take(ZERO + "d3,a,rhythm,5,raw\n", scale=Scale.FROM_ZERO)
    assert stored() == {
        ("d1", "a", "rhythm", "raw", 1, True),
        ("d1", "b", "rhythm", "raw", 5, True),
        ("d2", "a", "rhythm", "raw", 3, False),
    }
    assert codes(done)[3] == {"outside"}


def test_zero_means_no_evidence_when_said_or_when_there_is_a_five(study: Study) -> None:
    take(ZERO, scale=Scale.FROM_ONE)
    assert ("d1", "a", "rhythm", "raw", 3, False) in stored()
    take(ZERO.replace("rhythm", "accent").replace(",4,", ",5,"))
    assert ("d1", "a", "accent", "raw", 3, False) in stored()


def test_duplicates_are_told_and_contradictions_refused(study: Study) -> None:
    text = LONG + "d1,ann,rhythm,4,raw\nd1,bo,节奏,1,raw\n"
    done = take(text)
    assert done.counts == {"accepted": 6, "unchanged": 1, "refused": 1}
    assert codes(done)[6:] == [{"duplicate"}, {"contradiction"}]
    assert "line 2" in said(done, 6)
    assert ("d1", "bo", "rhythm", "raw", 5, True) in stored()


def test_what_the_study_holds_is_never_overwritten(study: Study) -> None:
    take(LONG)
    done = take(row("d1", "ann", "rhythm", 1, "raw"))
    assert codes(done)[0] == {"other_score"}
    assert "another score of this rater on this dimension: 4" in said(done)
    assert ("d1", "ann", "rhythm", "raw", 4, True) in stored()


def test_a_wide_header_that_almost_names_a_dimension_stops_the_file(study: Study) -> None:
    with pytest.raises(ManifestRefused) as refusal:
        take("dialogue,rater,layer,rhythm,acent\nd1,ann,raw,4,5\n")
    assert refusal.value.code == "unknown_dimension"
    assert not Score.objects.exists()
    done = take("dialogue,rater,layer,rhythm,remark\nd1,ann,raw,4,nice\n")
    assert [note.code for note in done.notes] == ["unknown_column"]
    assert done.counts == {"accepted": 1}


def test_a_wide_line_without_any_score_is_refused_whole(study: Study) -> None:
    done = take("dialogue,rater,layer,rhythm,accent\nd1,ann,raw,,\nd2,ann,raw,NA,\n")
    assert codes(done)[0] == {"no_score"}
    assert done.counts == {"refused": 1, "accepted": 2}


def test_a_file_without_a_layer_needs_one_said(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("dialogue,rater,dimension,score\nd1,ann,rhythm,4\n", encoding="utf-8")
    out, error = run(path)
    assert "raw, blind-expert or truth-shown" in out
    assert error == "Every row was refused."
    out, error = run(path, "--layer", "blind-expert")
    assert error == ""
    assert {one[3] for one in stored()} == {"blind-expert"}


@pytest.mark.parametrize("first", ["raw", "truth-shown"])
def test_revised_scores_are_tied_to_raw_ones_whichever_came_first(study: Study, first: str) -> None:
    raw, shown = "d1,ann,rhythm,4,raw\n", "d1,ann,rhythm,2,truth-shown\n"
    head = "dialogue,rater,dimension,score,layer\n"
    for text in (raw, shown) if first == "raw" else (shown, raw):
        assert take(head + text).counts == {"accepted": 1}
    revised = Score.objects.get(layer=Layer.TRUTH_SHOWN)
    assert revised.revises == Score.objects.get(layer=Layer.RAW)
    take(head + "d2,bo,rhythm,2,truth-shown\n")
    assert Score.objects.get(layer=Layer.TRUTH_SHOWN, dialogue__external_id="d2").revises is None


def test_raters_of_the_study_are_known_by_their_codes(study: Study) -> None:
    annotator = factories.AnnotatorFactory(participant__study=study)
    person = annotator.participant
    item = factories.BatchItemFactory(
        batch__annotator=annotator, dialogue=Dialogue.objects.get(external_id="d1")
    )
    factories.annotate(item, 4)
    done = take(
        f"dialogue,rater,dimension,score,layer\nd1,{person.code},rhythm,4,raw\n"
        f"d1,{person.code},rhythm,5,truth-shown\n"
    )
    assert done.counts == {"unchanged": 1, "accepted": 1}
    assert Participant.objects.filter(study=study).count() == 1
    assert Score.objects.get(layer=Layer.TRUTH_SHOWN).revises == item.scores.get(dimension__key="rhythm")


def test_test_and_pilot_people_stay_out_of_the_analysis(study: Study) -> None:
    person = factories.ParticipantFactory(study=study, is_test=True)
    factories.RaterFactory(participant=person) if not hasattr(person, "rater") else None
    take(row("d1", person.code, "rhythm", 4, "raw"))
    assert Score.objects.get(rater__participant=person).exclusion == "test"


def test_who_withdrew_gives_no_more_scores(study: Study) -> None:
    take(LONG)
    person = Participant.objects.get(recruiter_key="import:ann")
    Participant.objects.filter(pk=person.pk).update(withdrawn_at=factories.NOW)
    done = take(row("d2", "ann", "rhythm", 4, "raw"))
    assert codes(done)[0] == {"rater_withdrew"}
    erase(participant=person)
    assert not Score.objects.filter(rater__participant=person).exists()


def test_an_erased_persons_code_is_that_of_somebody_new(study: Study) -> None:
    """Nothing is kept by which they could be known: the manual says to leave them out of later files."""
    take(LONG)
    person = Participant.objects.get(recruiter_key="import:ann")
    erase(participant=person)
    take(row("d2", "ann", "rhythm", 4, "raw"))
    again = Participant.objects.get(recruiter_key="import:ann")
    assert again.pk != person.pk
    assert list(Score.objects.filter(rater__participant__in=[person, again])) == list(
        again.rater.scores.all()
    )


def test_machines_are_known_by_the_hash_of_their_parameters(study: Study) -> None:
    machine = MachineConfig.objects.create(name="judge", sha256="ab" * 32)
    rater = factories.RaterFactory(participant=None, machine=machine)
    text = f"dialogue,rater,rater_kind,dimension,score,layer\nd1,{'ab' * 8},machine,rhythm,4,raw\n"
    assert take(text).counts == {"accepted": 1}
    assert Score.objects.get().rater == rater


def test_a_person_has_one_choice_on_a_dialogue(study: Study) -> None:
    head = "dialogue,rater,dimension,score,layer,choice,confidence\n"
    done = take(
        head + "d1,ann,rhythm,4,raw,human,5\nd1,ann,accent,4,raw,machine,5\nd1,ann,stress,4,raw,human,5\n"
    )
    assert codes(done) == [set(), {"other_choice"}, set()]
    done = take(head + "d1,ann,accent,4,raw,machine,5\n")
    assert codes(done) == [{"other_verdict"}]
    assert Verdict.objects.get().choice == "human"


def test_another_taxonomy_by_option_or_column(study: Study) -> None:
    copy = copy_taxonomy(taxonomy=default_taxonomy(), study=study)
    copy.dimensions.filter(key="rhythm").update(name_en="Beat", key="beat")
    done = take(row("d1", "ann", "Beat", 4, "raw"), taxonomy=f"{copy.name} v{copy.version}")
    assert done.rows[0].result == "accepted"
    head = "dialogue,rater,dimension,score,layer,taxonomy,taxonomy_version\n"
    done = take(f"{head}d2,ann,beat,4,raw,{copy.name},{copy.version}\nd2,ann,rhythm,4,raw,,\n")
    assert done.counts == {"accepted": 2}
    assert {one.dimension.taxonomy for one in Score.objects.filter(dialogue__external_id="d2")} == {
        copy,
        default_taxonomy(),
    }


def test_what_is_missing_is_made_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(LONG, encoding="utf-8")
    assert "--create makes it" in run(path, slug="new")[1]
    out, error = run(path, "--create", slug="new")
    assert error == ""
    assert "was made, as a draft" in out
    new = Study.objects.get(slug="new")
    assert (new.activities, new.status) == (["annotation"], Study.Status.DRAFT)
    assert new.items.count() == 2
    assert AnnotationSettings.objects.get(study=new).taxonomy == default_taxonomy()


def test_a_study_that_does_not_annotate_says_how_to_prepare_it(tmp_path: Path) -> None:
    factories.StudyFactory(slug="game")
    path = tmp_path / "s.csv"
    path.write_text(LONG, encoding="utf-8")
    assert "does not annotate" in run(path, slug="game")[1]
    out, error = run(path, "--create", slug="game")
    assert error == ""
    assert "6 accepted" in out


def test_a_dialogue_outside_the_study_is_asked_about(study: Study) -> None:
    factories.DialogueFactory(external_id="outside")
    done = take(row("outside", "ann", "rhythm", 4, "raw"))
    assert codes(done)[0] == {"not_in_study"}
    assert take(row("outside", "ann", "rhythm", 4, "raw"), create=True).counts["accepted"] == 1
    assert study.items.filter(dialogue__external_id="outside").exists()


def test_files_that_are_none_are_refused_whole(study: Study, tmp_path: Path) -> None:
    for name, data, words in (
        ("empty.csv", b"", "empty"),
        ("head.csv", b"dialogue,rater,dimension,score,layer\n", "no rows"),
        ("none.csv", b"a,b,c\n1,2,3\n", "The header lacks"),
        ("twice.csv", b"dialogue,rater,rhythm,Rhythm,layer\nd1,a,1,2,raw\n", "more than once"),
        ("book.csv", b"PK\x03\x04rest", "workbook"),
        ("list.json", b'[{"dialogue": "d1"}]', "one object a line"),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        assert words in run(path)[1], name
    assert "can't be read" in run(tmp_path / "absent.csv")[1]


def test_the_report_speaks_chinese(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(row("d1", "ann", "rythm", 4, "raw"), encoding="utf-8")
    with translation.override("zh-hans"):
        out, _error = run(path)
    assert "rhythm" in out


def test_a_wide_line_tells_what_is_wrong_with_all_of_it_once(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text(
        "dialogue,rater,layer,rhythm,accent,stress\nd9,ann,raw,1,2,5\nd1,ann,raw,7,2,8\n", encoding="utf-8"
    )
    out, _error = run(path)
    assert out.count("There is no dialogue “d9”") == 1
    assert out.count("outside 1 to 5") == 2
    assert "d1 · rhythm" in out


# Known scores


KNOWN = "dialogue,dimension,score\nd1,rhythm,5\nd1,accent,0\nd2,rhythm,1\n"


def test_known_scores_need_no_rater_and_make_references(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text(KNOWN, encoding="utf-8")
    out, error = run(path, "--role", "calibration")
    assert error == ""
    assert "3 accepted" in out
    found = ReferenceDialogue.objects.filter(study=study).order_by("dialogue__external_id")
    assert [(one.role, one.source, one.scores.count()) for one in found] == [
        ("calibration", "import", 2),
        ("calibration", "import", 1),
    ]
    assert ReferenceScore.objects.get(dimension__key="accent").evidence is False
    before = everything()
    out, error = run(path, "--role", "calibration")
    assert (error, "3 unchanged" in out) == ("", True)
    assert everything() == before


def test_known_scores_that_differ_or_contradict_are_refused(study: Study) -> None:
    from annotation.importing.references import import_references

    def bring(text: str) -> Imported:
        return import_references(file=File(text.encode(), "k.csv"), slug="labelled", how=How(), role="gold")

    assert bring(KNOWN).counts == {"accepted": 3}
    done = bring(
        "dialogue,dimension,score\nd1,rhythm,2\nd3,rhythm,4\nd3,rhythm,5\nd3,stress,4\nd9,stress,5\n"
    )
    assert codes(done) == [{"is_reference"}, set(), {"contradiction"}, set(), {"unknown_dialogue"}]
    assert (
        ReferenceScore.objects.get(dimension__key="rhythm", reference__dialogue__external_id="d1").value == 5
    )
    other = bring("dialogue,dimension,score,role\nd2,stress,4,calibration\n")
    assert codes(other) == [{"other_role"}]


def test_a_dry_run_of_known_scores_writes_nothing(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "known.csv"
    path.write_text(KNOWN, encoding="utf-8")
    before = everything()
    out, _error = run(path, "--role", "gold", "--dry-run")
    assert "3 accepted" in out
    assert everything() == before
