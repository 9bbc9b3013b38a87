"""A finished game as a text dialogue, so that judges of dialogues need to know no games.

It is nobody's item: no study shows it unless somebody makes it one. What is erased in the room is empty here,
and the floor of dialogues empties what an erased person said in it.
"""

from __future__ import annotations

import hashlib

from django.db import transaction

from dialogues.erasing import WITHDRAWN_TEXT
from dialogues.models import Dialogue, Kind, Modality, Party, Turn
from games.group.models import Game
from games.group.words import words_in
from games.room.models import Event, Seat

LONGEST_LABEL = 20
CORPUS = "group game"
BATCH = 500


@transaction.atomic
def store_dialogue(game: Game) -> Dialogue | None:
    """The game's dialogue: a party for each seat under its pseudonym, a turn for each message in discussions.

    The one that is there where it was made before; None for a game that was not played to its end, was a
    test or a preview. ``start`` of a turn: seconds since the room opened.
    """
    held = Game.objects.select_for_update(of=("self",), no_key=True).select_related("room", "dialogue")
    row = held.get(pk=game.pk)
    if row.dialogue is not None:
        return row.dialogue
    if row.end not in Game.PLAYED or row.room.is_preview or row.room.is_test:
        return None
    seats = list(row.room.seats.order_by("position"))
    dialogue = Dialogue.objects.create(
        external_id=f"group-{row.code}",
        content_hash=_hash(row),
        modality=Modality.TEXT,
        kind=Kind.HUMAN_MACHINE,
        language=row.room.language,
        source_corpus=CORPUS,
        state=Dialogue.State.DECLARED,  # without sound: nothing plays it
    )
    parties = dict(zip((seat.pk for seat in seats), _parties(dialogue, seats), strict=True))
    _turns(dialogue, row, parties)
    row.dialogue = dialogue
    row.save(update_fields=["dialogue"])
    game.dialogue = dialogue
    return dialogue


def _messages(game: Game) -> list[Event]:
    found = Event.objects.messages().filter(room=game.room_id, phase="discussion")
    return [event for event in found.order_by("seq") if event.withdrawn or words_in(event.text)]


def _hash(game: Game) -> str:
    lines = (f"{event.seat_id} {event.text}" for event in _messages(game))
    return hashlib.sha256("\n".join((game.code, *lines)).encode()).hexdigest()


def _parties(dialogue: Dialogue, seats: list[Seat]) -> list[Party]:
    made, labels = [], set[str]()
    for seat in seats:
        label = seat.pseudonym[:LONGEST_LABEL]
        if label in labels:
            label = f"{label[: LONGEST_LABEL - 4]} {seat.position}"
        labels.add(label)
        made.append(Party(dialogue=dialogue, label=label, nature=seat.nature, rater_id=seat.rater_id))
    return Party.objects.bulk_create(made)


def _turns(dialogue: Dialogue, game: Game, parties: dict[int, Party]) -> None:
    Turn.objects.bulk_create(
        (
            Turn(
                dialogue=dialogue,
                party=parties[event.seat_id or 0],
                index=index,
                start=round((event.at - game.room.opened_at).total_seconds(), 4),
                text=WITHDRAWN_TEXT if event.withdrawn else event.text,
            )
            for index, event in enumerate(_messages(game))
        ),
        batch_size=BATCH,
    )
