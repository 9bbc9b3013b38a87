"""Correcting turns on the desk: stored, edited without script, refused at the field, processed again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogues.importing.turns import MAX_TURNS
from dialogues.models import Dialogue, ProcessingJob, Turn
from tests import factories
from turingsite.desk import turns
from turingsite.desk.turn_rows import NoEdit, TurnRow, edited, seconds

pytestmark = pytest.mark.django_db
Rows = list[tuple[str, str, str, str, str]]


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    sent: list[int] = []
    monkeypatch.setattr(turns, "wake", lambda task, row: sent.append(row))
    return sent


@pytest.fixture
def dialogue(cast: Any, client: Client) -> Dialogue:
    """Ready, 30 s, four turns of 7.5 s from A on; the researcher is at the desk."""
    made: Dialogue = factories.DialogueFactory(kind="human_machine")
    factories.StudyItemFactory(study=cast.study, dialogue=made)
    ProcessingJob.objects.create(dialogue=made, state="done")
    client.force_login(cast.researcher)
    return made


def url(name: str, dialogue: Dialogue) -> str:
    return reverse(f"admin:desk_{name}", args=[dialogue.code])


def sent(rows: Rows, **more: str) -> dict[str, Any]:
    names = ("was", "speaker", "start", "end", "text")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)} | more


def kept(dialogue: Dialogue) -> list[tuple[str, float | None, float | None, str]]:
    rows = dialogue.turns.order_by("index").values_list("party__label", "start", "end", "text")
    return [(label, start, end, text) for label, start, end, text in rows]


FOUR: Rows = [
    ("0", "A", "0", "7.5", ""), ("1", "B", "7.5", "15", ""), ("2", "A", "15", "22.5", ""),
    ("3", "B", "22.5", "30", ""),
]  # fmt: skip


def test_turns_are_stored_and_the_dialogue_is_processed_again(
    client: Client, dialogue: Dialogue, woken: list[int]
) -> None:
    rows = [("0", "A", "0", "7,2", "Hello"), ("1", "b", "7.4", "14.25", "I'm an AI."), *FOUR[2:]]
    before = set(dialogue.turns.values_list("pk", flat=True))
    answer = client.post(url("turns", dialogue), sent(rows, do="store"))
    assert answer.status_code == 302
    assert kept(dialogue)[:2] == [("A", 0, 7.2, "Hello"), ("B", 7.4, 14.25, "I'm an AI.")]
    assert set(dialogue.turns.values_list("source", flat=True)) == {Turn.Source.CORRECTED}
    assert set(dialogue.turns.values_list("pk", flat=True)) == before  # what hangs on a turn stays with it
    assert ProcessingJob.objects.get().state == "queued"
    assert woken == [ProcessingJob.objects.get().pk]
    assert dialogue.flags.filter(rule="identity-disclosure", turn=None).exists()


def test_other_words_alone_are_stored_and_searched_without_processing(
    client: Client, dialogue: Dialogue, woken: list[int]
) -> None:
    rows = [FOUR[0], ("1", "B", "7.5", "15", "As a language model, I don't eat."), *FOUR[2:]]
    client.post(url("turns", dialogue), sent(rows))
    assert dialogue.flags.filter(rule="identity-disclosure", turn__index=1).exists()
    assert woken == []
    assert ProcessingJob.objects.get().state == "done"
    client.post(url("turns", dialogue), sent([FOUR[0], ("1", "B", "7.5", "15", "I love soup."), *FOUR[2:]]))
    assert not dialogue.flags.exists()


def test_storing_detected_turns_makes_them_a_persons(client: Client, dialogue: Dialogue) -> None:
    dialogue.turns.update(source=Turn.Source.DETECTED)
    page = client.get(url("turns", dialogue)).content.decode()
    assert "These turns were detected." in page
    client.post(url("turns", dialogue), sent(FOUR))
    assert set(dialogue.turns.values_list("source", flat=True)) == {Turn.Source.CORRECTED}


@pytest.mark.parametrize(("row", "field"), [
    (("0", "A", "", "1", ""), "start"),
    (("0", "A", "x", "1", ""), "start"),
    (("0", "A", "nan", "1", ""), "start"),
    (("0", "A", "-1", "1", ""), "start"),
    (("0", "A", "0", "inf", ""), "end"),
    (("0", "A", "2", "1", ""), "end"),
    (("0", "A", "0", "99", ""), "end"),
    (("0", "C", "0", "1", ""), "speaker"),
    (("0", "A", "0", "1", "x" * 6000), "text"),
])  # fmt: skip
def test_what_is_wrong_is_told_at_its_field_and_loses_nothing(
    client: Client, dialogue: Dialogue, row: Any, field: str
) -> None:
    before = kept(dialogue)
    answer = client.post(url("turns", dialogue), sent([FOUR[1], row]))
    assert answer.status_code == 400
    assert set(answer.context["rows"][1]["row"].errors) == {field}
    assert not answer.context["rows"][0]["row"].errors
    assert [one["row"][:5] for one in answer.context["rows"]] == [FOUR[1], row]
    assert 'aria-invalid="true"' in answer.content.decode()
    assert kept(dialogue) == before


def many(count: int) -> Rows:
    length = 30 / count
    return [
        ("", "AB"[n % 2], f"{n * length:.4f}", f"{(n + 1) * length:.4f}", f"word {n}") for n in range(count)
    ]


def test_as_many_turns_as_an_import_takes_are_stored_and_one_more_is_told(
    client: Client, dialogue: Dialogue
) -> None:
    assert client.post(url("turns", dialogue), sent(many(MAX_TURNS), seen="", do="store")).status_code == 302
    assert dialogue.turns.count() == MAX_TURNS
    ProcessingJob.objects.update(state="done")
    page = client.get(url("turns", dialogue))
    as_shown = [tuple(one["row"][:5]) for one in page.context["rows"]]
    seen = page.context["seen"]
    more = client.post(url("turns", dialogue), sent(as_shown, seen=seen, at="", do="add"))
    as_shown = [tuple(one["row"][:5]) for one in more.context["rows"]]
    assert len(as_shown) == MAX_TURNS + 1
    refused = client.post(url("turns", dialogue), sent(as_shown, seen=seen, at="", do="store"))
    assert refused.status_code == 400
    assert "More than 2000 turns." in refused.content.decode()
    assert len(refused.context["rows"]) == MAX_TURNS + 1
    assert dialogue.turns.count() == MAX_TURNS


@pytest.mark.parametrize("speaker", ["A", "B"])
def test_turns_of_one_speaker_alone_are_stored_with_a_warning(
    client: Client, dialogue: Dialogue, speaker: str
) -> None:
    rows = [(was, speaker, start, end, text) for was, _label, start, end, text in FOUR]
    answer = client.post(url("turns", dialogue), sent(rows), follow=True)
    assert "Only one speaker has turns; a dialogue has two." in answer.content.decode()
    assert {label for label, *_rest in kept(dialogue)} == {speaker}


def test_no_turns_and_another_persons_correction_are_refused(client: Client, dialogue: Dialogue) -> None:
    assert client.post(url("turns", dialogue), sent([])).status_code == 400
    seen = client.get(url("turns", dialogue)).context["seen"]
    assert client.post(url("turns", dialogue), sent(FOUR[:2], seen=seen)).status_code == 302
    late = client.post(url("turns", dialogue), sent(FOUR[:3], seen=seen))
    assert late.status_code == 400
    assert "Somebody else" in late.content.decode()
    assert dialogue.turns.count() == 2


def test_while_it_is_processed_nothing_is_stored(client: Client, dialogue: Dialogue) -> None:
    from django.utils import timezone

    later = timezone.now() + timedelta(minutes=5)
    ProcessingJob.objects.update(state="running", claim="x", lease_until=later)
    answer = client.post(url("turns", dialogue), sent(FOUR[:2]))
    assert answer.status_code == 400
    assert "being processed" in answer.content.decode()
    assert dialogue.turns.count() == 4


@pytest.mark.parametrize(("do", "speakers", "count"), [
    ("split-0", "AABAB", 5), ("merge-0", "AAB", 3), ("swap-1", "AAAB", 4), ("remove-3", "ABA", 3),
    ("swap-all", "BABA", 4), ("add", "ABABA", 5), ("merge-3", "ABAB", 4), ("split-99", "ABAB", 4),
    ("nonsense", "ABAB", 4),
])  # fmt: skip
def test_edits_work_without_script_and_store_nothing(
    client: Client, dialogue: Dialogue, do: str, speakers: str, count: int
) -> None:
    before = kept(dialogue)
    answer = client.post(url("turns", dialogue), sent(FOUR, do=do))
    assert answer.status_code == 200
    assert "".join(one["row"].speaker for one in answer.context["rows"]) == speakers
    assert len(answer.context["rows"]) == count
    assert "Not stored yet." in answer.content.decode()
    assert kept(dialogue) == before


class TestRows:
    def test_a_turn_is_split_where_the_sound_stands_and_its_words_with_it(self) -> None:
        row = TurnRow("3", "A", "2", "6", "How are you? I am fine.")
        made, at = edited([row], "split-0", at=4.0)
        assert [(one.was, one.start, one.end, one.text) for one in made] == [
            ("3", "2", "4", "How are you?"), ("", "4", "6", "I am fine."),
        ]  # fmt: skip
        assert at == 0
        assert edited([row], "split-0", at=99.0)[0][0].end == "4"  # elsewhere: the middle
        assert edited([row], "split-0")[0][0].end == "4"

    def test_chinese_words_are_split_at_a_clause_and_joined_without_a_space(self) -> None:
        made, _at = edited([TurnRow("0", "B", "0", "4", "你好，我很好。")], "split-0")
        assert [one.text for one in made] == ["你好，", "我很好。"]
        assert edited(made, "merge-0")[0] == [TurnRow("0", "B", "0", "4", "你好，我很好。")]

    def test_times_that_are_no_numbers_leave_the_row_as_it_is(self) -> None:
        row = TurnRow("0", "A", "x", "4", "")
        assert edited([row], "split-0")[0] == [row]
        with pytest.raises(NoEdit):
            edited([row], "merge-7")

    @pytest.mark.parametrize(("typed", "value"), [("1.5", 1.5), (" 1,5 ", 1.5), ("", None), ("1e999", None)])
    def test_seconds_are_read_as_people_type_them(self, typed: str, value: float | None) -> None:
        assert seconds(typed) == value
