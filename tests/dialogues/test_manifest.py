"""Reading manifests and turn times: every way a spreadsheet saves them, every way they are broken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialogues import builtin
from dialogues.importing import turns
from dialogues.importing.columns import COLUMNS, MANIFEST, template_csv
from dialogues.importing.encodings import read_text
from dialogues.importing.manifest import ManifestRefused, read_manifest
from dialogues.importing.notes import worded
from turingsite.errors import Invalid

HEADER = "id,kind,language,audio"


def read(text: str, name: str = "m.csv", encoding: str = "utf-8"):
    return read_manifest(text.encode(encoding), name)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gb18030", "utf-32"]
)
def test_separators_and_encodings_are_read(separator, encoding):
    text = separator.join(["id", "kind", "language", "audio", "topic"]) + "\r\n"
    text += separator.join(["d1", "human_human", "zh", "旅行录音.wav", "生活"]) + "\r\n"

    rows = read(text, encoding=encoding).rows

    assert [row.data for row in rows] == [
        {"id": "d1", "kind": "human_human", "language": "zh", "audio": "旅行录音.wav", "topic": "生活"}
    ]


@pytest.mark.parametrize(("encoding", "word", "name"), [
    ("gb18030", "日常生活对话", "GB18030"),
    ("big5", "臺灣學習", "Big5"),
    ("cp1252", "café naïve", "Windows-1252"),
    ("cp1252", "Größe straße", "Windows-1252"),
    ("utf-16-le", "生活", "UTF-16"),
])  # fmt: skip
def test_a_guessed_encoding_is_told(encoding, word, name):
    manifest = read(f"{HEADER},topic\nd1,human_human,en,a.wav,{word}\n", encoding=encoding)

    assert manifest.rows[0].data["topic"] == word
    assert [(n.code, n.params["encoding"]) for n in manifest.notes] == [("encoding_guessed", name)]


def test_utf8_is_not_guessed_at():
    assert read_text("café 生活".encode()) == ("café 生活", "")


@pytest.mark.parametrize("data", [
    "id,kind,language,audio\nd1,x,ja,テスト.wav".encode("shift-jis"),
    "id,kind,language,audio\nd1,x,ru,Разговор о погоде".encode("koi8-r"),
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" * 30,
    bytes(range(256)) * 8,
])  # fmt: skip
def test_what_cannot_be_read_says_how_to_save(data):
    with pytest.raises(ManifestRefused) as caught:
        read_manifest(data, "m.csv")
    assert "UTF-8" in str(caught.value)


def test_a_workbook_says_to_save_as_csv():
    with pytest.raises(ManifestRefused) as caught:
        read_manifest(b"PK\x03\x04" + bytes(500), "m.xlsx")
    assert caught.value.code == "workbook"


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff", ",,,\n;;", HEADER, f"{HEADER}\n,,,\n\n"])
def test_no_rows_is_told(text):
    with pytest.raises(ManifestRefused) as caught:
        read(text)
    assert caught.value.code == "no_rows"


def test_wrong_header_says_what_was_meant():
    with pytest.raises(ManifestRefused) as caught:
        read("dialogue,type,lang\nd1,HM,en\n")
    assert caught.value.fields == {"dialogue": "id", "type": "kind", "lang": "language"}
    assert "audio" in caught.value.params["missing"]


def test_near_misses_in_the_header_are_recognised():
    with pytest.raises(ManifestRefused) as caught:
        read("ID,Kynd,Languages,audio\nd1,human_human,en,a.wav\n")
    assert caught.value.fields == {"kynd": "kind", "languages": "language"}


def test_headers_need_no_exact_case_and_optional_ones_are_suggested():
    manifest = read("ID; Kind ;LANGUAGE;Audio;Speaker A;topik;colour\nd1;human_human;en;a.wav;S1;x;red\n")

    assert manifest.rows[0].data["speaker_a"] == "S1"
    said = {n.params["column"]: n.params.get("meant") for n in manifest.notes}
    assert said == {"topik": "topic", "colour": None}
    assert all(worded(n.stored()) for n in manifest.notes)


def test_a_column_twice_is_refused():
    with pytest.raises(ManifestRefused) as caught:
        read(f"{HEADER},topic,Topic\nd1,human_human,en,a.wav,x,y\n")
    assert caught.value.code == "column_twice"


def test_blank_rows_and_excels_hint_are_passed_over_and_lines_counted():
    manifest = read(
        f"sep=;\n{HEADER.replace(',', ';')}\n\n;;;\nd1;human_human;en;a.wav\n  \nd2;human_human;en;b.wav\n"
    )
    assert [(row.line, row.data["id"]) for row in manifest.rows] == [(5, "d1"), (7, "d2")]


def test_a_cell_of_several_lines_keeps_the_count():
    manifest = read(f'{HEADER},topic\nd1,human_human,en,a.wav,"two\nlines"\nd2,human_human,en,b.wav,\n')
    assert [(row.line, row.data["topic"]) for row in manifest.rows] == [(2, "two\nlines"), (4, "")]


def test_a_mark_that_is_never_closed_costs_one_row():
    manifest = read(f'{HEADER}\nd1,human_human,en,"a.wav\nd2,human_human,en,b.wav\nd3,human_human,en,c.wav\n')
    assert [(row.line, bool(row.notes)) for row in manifest.rows] == [(2, True), (3, False), (4, False)]
    assert [row.data.get("id") for row in manifest.rows] == [None, "d2", "d3"]


def test_more_cells_than_columns_is_told_by_row():
    manifest = read(f"{HEADER}\nd1,human_human,en,a.wav,,\nd2,human_human,en,a,b.wav\n")
    assert [[n.code for n in row.notes] for row in manifest.rows] == [[], ["too_many_cells"]]


def test_jsonl_errors_name_their_line():
    good = {"id": "d1", "kind": "human_human", "language": "en", "audio": "a.wav"}
    lines = [
        json.dumps(good),
        '{"id":"d2","kind":',
        "[1, 2]",
        '{"id": "d3", "id": "d4"}',
        '{"id": NaN}',
        json.dumps({"dialogue": "d5", "type": "HM"}),
        "",
        json.dumps({**good, "id": 7, "turns": [{"speaker": "A", "start": 0, "end": 1}], "may_play": True}),
        "{" * 100_000,
    ]
    rows = read("\n".join(lines), "m.jsonl").rows

    assert [row.line for row in rows] == [1, 2, 3, 4, 5, 6, 8, 9]
    assert [[n.code for n in row.notes] for row in rows] == [
        [], ["broken_line"], ["not_an_object"], ["key_twice"], ["broken_line"],
        ["missing_keys"], [], ["broken_line"],
    ]  # fmt: skip
    assert "type → kind" in rows[5].notes[0].params["meant"]
    assert rows[6].data["id"] == "7"
    assert rows[6].data["may_play"] == "yes"
    assert rows[6].data["turns"] == [{"speaker": "A", "start": 0, "end": 1}]


def test_a_json_list_is_told_how_to_be_written():
    with pytest.raises(ManifestRefused) as caught:
        read('[{"id": "d1"}]', "m.json")
    assert caught.value.code == "json_list"


def test_the_template_can_be_read_and_has_every_column():
    manifest = read_manifest(template_csv().encode(), "template.csv")
    assert list(manifest.rows[0].data) == [column.name for column in COLUMNS]
    assert set(MANIFEST.required) == {"id", "kind", "language", "audio"}
    assert not manifest.notes


# turns

RTTM = "SPEAKER clip 1 0.000 3.5 <NA> <NA> A <NA> <NA>\nSPEAKER clip 1 4.0 2.0 <NA> <NA> B <NA> <NA>\n"


def spans(found):
    return [(t.speaker, t.start, t.end) for t in found]


def test_rttm_and_json_and_columns_say_the_same():
    expected = [("A", 0.0, 3.5), ("B", 4.0, 6.0)]
    listed = [{"speaker": "A", "start": 0, "end": 3.5}, {"speaker": "B", "start": 4, "duration": 2}]

    assert spans(turns.from_file(RTTM.encode(), "clip.rttm", stem="clip")[0]) == expected
    assert spans(turns.from_json(listed, name="turns")[0]) == expected
    assert spans(turns.from_file(json.dumps({"turns": listed}).encode(), "x.json", stem="")[0]) == expected
    assert spans(turns.from_columns("0-3.5", "4.0 – 6")[0]) == expected
    assert spans(turns.from_columns([[0, 3.5]], "[[4, 6]]")[0]) == expected


def test_rttm_of_another_recording():
    found, said = turns.from_rttm(RTTM, stem="other", name="clip.rttm")
    assert len(found) == 2
    assert [n.code for n in said] == ["turns_of_other_file"]
    with pytest.raises(turns.TurnsRefused) as caught:
        turns.from_rttm(RTTM + RTTM.replace("clip", "second"), stem="other", name="clip.rttm")
    assert caught.value.code == "no_turns_for_file"


@pytest.mark.parametrize("text", [
    "SPEAKER clip 1 0.0\n",
    "SPEAKER clip 1 -1 2 <NA> <NA> A <NA> <NA>\n",
    "SPEAKER clip 1 0 0 <NA> <NA> A <NA> <NA>\n",
    "SPEAKER clip 1 nan 2 <NA> <NA> A <NA> <NA>\n",
])  # fmt: skip
def test_a_bad_rttm_line_is_named(text):
    with pytest.raises(turns.TurnsRefused) as caught:
        turns.from_rttm(RTTM + text, stem="clip", name="clip.rttm")
    assert caught.value.params["line"] == 3


@pytest.mark.parametrize("item", [
    5, {}, {"speaker": "A"}, {"speaker": "A", "start": 2, "end": 1}, {"speaker": "A", "start": -1, "end": 1},
    {"speaker": "", "start": 0, "end": 1}, {"speaker": "A", "start": True, "end": 2},
    {"speaker": "A", "start": 0, "end": float("inf")}, {"speaker": "A", "start": 0, "end": 1, "text": 5},
])  # fmt: skip
def test_a_bad_json_turn_is_named(item):
    with pytest.raises(turns.TurnsRefused) as caught:
        turns.from_json([{"speaker": "A", "start": 0, "end": 1}, item], name="turns")
    assert caught.value.params["number"] == 2


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b"[[]", b'{"turns": 5}', b"\xff\xfe\x00", b"no rttm here"]
)
def test_files_without_turns_are_refused(data):
    with pytest.raises(Invalid):
        turns.from_file(data, "x.json", stem="x")
    with pytest.raises(Invalid):
        turns.from_file(data, "x.rttm", stem="x")


@pytest.mark.parametrize("cell", ["3", "3-1", "a-b", "1-2; x", [[1]], [[2, 1]], "[[1, 2]", [5]])
def test_bad_spans_are_refused(cell):
    with pytest.raises(turns.TurnsRefused) as caught:
        turns.from_columns(cell, "")
    assert caught.value.code == "bad_span"


def test_checked_orders_renames_and_bounds():
    raw = [turns.TurnTime("spk2", 4, 6.1), turns.TurnTime("spk1", 0, 3)]
    found, said = turns.checked(raw, duration=6.0)
    assert spans(found) == [("A", 0, 3), ("B", 4, 6.0)]
    assert [n.code for n in said] == ["speakers_renamed"]

    with pytest.raises(turns.TurnsRefused) as caught:
        turns.checked(raw, duration=5.0)
    assert caught.value.code == "turn_beyond_end"
    with pytest.raises(turns.TurnsRefused) as caught:
        turns.checked([*raw, turns.TurnTime("spk3", 1, 2)], duration=9)
    assert caught.value.code == "too_many_speakers"
    assert [
        n.code for n in turns.checked([turns.TurnTime("b", 0, 1), turns.TurnTime("a", 1, 2)], duration=9)[1]
    ] == ["b_opens"]
    assert [n.code for n in turns.checked([turns.TurnTime("A", 0, 1)], duration=9)[1]] == ["one_speaker"]


def test_the_docs_list_every_column_and_name():
    text = (Path(__file__).parents[2] / "docs/manifest.md").read_text()
    for column in COLUMNS:
        needed, about = "yes" if column.required else "", column.about.replace("|", "\\|")
        assert f"| `{column.name}` | {needed} | {about} |" in text
    for entry in builtin.systems():
        assert entry["name"] in text
    for entry in builtin.topics():
        assert entry["label_en"] in text
