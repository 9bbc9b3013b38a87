"""The tables of the group game: what each tier has of people's words, what a count is, who is in none."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from games.group.models import AgentCall, AgentNote, AgentStep, Candidate, Ticket
from games.group.words import asks, words_in
from games.room.models import Concern, Event, HeldBack, Room
from studies import copying, sheets
from studies.exports import TIERS, shown_columns
from studies.public import PublicTier
from studies.registry import datasets
from studies.tidy import TidyDataset
from tests import factories
from tests.factories import NOW
from tests.group.played import Tables

pytestmark = [pytest.mark.both, pytest.mark.django_db]

KEYS = [one.key for one in datasets if one.key.startswith(("group_", "agent_"))]


def rows(tables: Tables, key: str) -> list[dict[str, Any]]:
    return [dict(row) for row in datasets.get(key).rows(tables.study)]


@pytest.fixture
def tables() -> Tables:
    """Two games; in the first everything that can be told has been."""
    tables = Tables()
    game = tables.game(
        people=3,
        said=[
            (1, 0, 1.25, "hello, who's there?"),
            (1, 2, 4.5, "=me :)"),
            (1, 1, 9.0, "我love你，哈哈？"),
            (2, 0, 3.0, "gone"),
        ],
    )
    seats = list(game.room.seats.order_by("position"))
    assert seats[0].participant
    factories.ConsentFactory(participant=seats[0].participant, publish_text=True)
    Event.objects.filter(room=game.room, seq=4).update(text="[withdrawn]", withdrawn=True)
    Event.objects.create(
        room=game.room, seq=5, kind="end", round=2, phase="end", at=NOW, data={"end": "survived"}
    )
    event = Event.objects.get(room=game.room, seq=2)
    Concern.objects.create(room=game.room, seat=seats[1], event=event, text="rude", at=NOW)
    HeldBack.objects.create(seat=seats[1], what="email", at=NOW)
    Ticket.objects.create(
        study=tables.study, participant=seats[0].participant, language="en", state="seated", joined_at=NOW,
        seen_at=NOW, patience_until=NOW, closed_at=NOW + timedelta(seconds=12.5), room=game.room,
    )  # fmt: skip
    other = AgentNote.objects.create(game=tables.game(people=3, out=1), worker="claims", started_at=NOW)
    note = AgentNote.objects.create(game=game, worker="claims", value={"Alder": "said"}, started_at=NOW)
    step = AgentStep.objects.create(
        game=game, number=1, round=1, phase="discussion", after_seq=1, decision="send", outcome="sent",
        reason="Alder asked", event=event, notes={"claims": note.pk, "style": None}, started_at=NOW,
    )  # fmt: skip
    Candidate.objects.create(step=step, position=0, purpose="answer", text="=me :)", chosen=True)
    for of in ({"step": step}, {"note": note}, {"note": other}):
        AgentCall.objects.create(purpose="generator", model="m", at=NOW, **of)
    tables.game(people=3, end="cancelled")
    Room.objects.filter(pk=tables.game(people=3).room_id).update(is_preview=True)
    return tables


def test_words_are_public_only_with_consent_and_counts_for_all(tables: Tables) -> None:
    found = rows(tables, "group_messages")
    assert [row["text"] for row in found] == ["hello, who's there?", "=me :)", "", ""]
    assert [row["full_text"] for row in found] == ["hello, who's there?", "=me :)", "我love你，哈哈？", ""]
    assert [row["words"] for row in found] == [3, 2, 5, None]
    assert [row["question"] for row in found] == [True, False, True, None]
    assert [row["second"] for row in found] == [1.25, 4.5, 9.0, 203.0]
    public = {(key, column.name) for key in KEYS for column in shown_columns(datasets.get(key), "public")}
    private = {
        ("group_messages", "full_text"), ("group_concerns", "words"), ("agent_steps", "reason"),
        ("agent_steps", "review"), ("agent_candidates", "text"), ("agent_candidates", "verdict"),
        ("agent_notes", "value"),
    }  # fmt: skip
    assert not public & private
    every = {(key, column.name) for key in KEYS for column in datasets.get(key).columns}
    assert private <= every


def test_rows_are_told_apart_and_name_no_key_of_the_database(tables: Tables) -> None:
    for key in KEYS:
        dataset, found = datasets.get(key), rows(tables, key)
        assert found or key == "group_settings", key
        keys = [tuple(str(row[name]) for name in dataset.primary_key) for row in found]
        assert len(keys) == len(set(keys)), key
    assert [row["notes"] for row in rows(tables, "agent_steps")] == [{"claims": 1}]
    assert [(row["call"], row["step"], row["note"]) for row in rows(tables, "agent_calls")] == [
        (1, 1, None),
        (2, None, 1),
        (1, None, 1),
    ]
    assert [row["waited"] for row in rows(tables, "group_waiting")] == [12.5]
    games = rows(tables, "group_games")
    assert [(row["exclusion"], row["end"]) for row in games] == [
        ("", "survived"),
        ("", "agent_out"),
        ("cancelled", "cancelled"),
    ]
    assert {row["game"] for row in rows(tables, "group_seats")} == {row["game"] for row in games}


def test_test_games_and_pilots_are_marked_and_erased_people_lose_their_code(tables: Tables) -> None:
    game = tables.study.group_games.get(number=1)
    person = game.room.seats.get(position=0).participant
    other = game.room.seats.get(position=1).participant
    assert person
    assert other
    person.is_pilot = True
    person.save()
    assert rows(tables, "group_games")[0]["exclusion"] == "pilot"
    Room.objects.filter(pk=game.room_id).update(is_test=True)
    assert rows(tables, "group_games")[0]["exclusion"] == "test"
    other.erased_at = person.erased_at = timezone.now()
    other.save()
    person.save()
    seats = [row for row in rows(tables, "group_seats") if row["game"] == game.code]
    assert [bool(row["participant"]) for row in seats] == [False, False, False, True]
    assert rows(tables, "group_concerns") == rows(tables, "group_held_back") == []
    assert rows(tables, "group_waiting") == []


def test_the_database_writes_the_same_bytes(tables: Tables) -> None:
    for key in KEYS:
        dataset = datasets.get(key)
        assert isinstance(dataset, TidyDataset)
        for tier in TIERS:
            columns = shown_columns(dataset, tier)
            query = dataset.selected(tables.study, columns)
            if query is None:
                continue
            below, found = io.BytesIO(), dataset.rows(tables.study)
            sheet = sheets.CsvSheet(below, columns, bom=False)
            for row in PublicTier(tables.study).rows(dataset, found) if tier == "public" else found:
                sheet.write(row)
            sheet.close()
            made = sheets.csv_header(columns) + b"".join(one.data for one in copying.blocks(query, columns))
            assert made == below.getvalue(), (key, tier)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I'm in", 2),
        ("", 0),
        (" \n", 0),
        (":) ?", 2),
        ("你好", 2),
        ("你好吗？？", 3),
        ("？？", 1),
        ("我love你，哈哈", 5),
        ("好 lol 3次", 4),
        ("カタカナ", 4),
        ("안녕 하세요", 2),
        ("🙂🙂", 1),
        ("𠮷野家", 3),
    ],
)
def test_words_of_any_script(text: str, words: int) -> None:
    assert words_in(text) == words


def test_a_question_has_a_mark() -> None:
    assert [asks(one) for one in ("who?", "谁？", "who", "هل؟", "what!?")] == [True, True, False, True, True]
