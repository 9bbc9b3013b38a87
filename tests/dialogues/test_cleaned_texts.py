"""What is typed about dialogues is stored without the characters that no page or picture can show."""

from __future__ import annotations

from typing import Any

import pytest

from dialogues.models import Flag
from dialogues.processing.correcting import Corrected, correct_turns
from dialogues.services import mark_aggressive
from tests import factories
from turingsite.errors import Invalid

pytestmark = pytest.mark.django_db
ODD = pytest.mark.parametrize("odd", ["\x00", "\x1b", "\x85", "\ud800", "\ufffe"])


@ODD
def test_the_reason_of_a_mark(cast: Any, odd: str) -> None:
    dialogue = factories.DialogueFactory()
    mark_aggressive(dialogue=dialogue, reason=f"{odd} shouts{odd} at B", user=cast.researcher)
    assert "shouts at B" in str(Flag.objects.get().evidence)
    assert odd not in str(Flag.objects.get().evidence)
    with pytest.raises(Invalid):
        mark_aggressive(dialogue=dialogue, reason=odd, user=cast.researcher)


@ODD
def test_the_words_of_a_turn(cast: Any, odd: str) -> None:
    dialogue = factories.DialogueFactory()
    rows = list(dialogue.turns.select_related("party").order_by("index"))
    turns = [
        Corrected(
            row.party.label, row.start or 0.0, row.end or 0.0, was=row.index, text=f"{odd}well{odd} yes"
        )
        for row in rows
    ]
    correct_turns(dialogue=dialogue, turns=turns, user=cast.researcher)
    assert set(dialogue.turns.values_list("text", flat=True)) == {"well yes"}
