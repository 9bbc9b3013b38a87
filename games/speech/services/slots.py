"""The slots of a round in order: one for each scored trial, and at most one for a spoken instruction.

An instruction stands before a scored trial and shares its position, as a replaced clip does: whoever plays
sees the same count, and nothing tells it from the trials around it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games.speech.models import Round, SpeechPlayer, SpeechSettings, Trial
from studies.assignment import seeded


class Slot(NamedTuple):
    """In the order of playing: the instruction of a position comes before its scored trial."""

    position: int
    scored: bool = True


def slot_of(trial: Trial) -> Slot:
    return Slot(trial.position, not trial.is_check)


def missing(
    player: SpeechPlayer, round_: Round, settings: SpeechSettings, trials: Sequence[Trial]
) -> list[Slot]:
    """Slots of the open round that are still to be played through, those with a live trial included.

    A scored trial that failed leaves its slot open for another. An instruction that failed is not replaced,
    and one whose moment has passed (its study got it only now) does not come any more.
    """
    done = {slot_of(trial) for trial in trials if trial.state == Trial.State.DONE}
    found = [slot for slot in map(Slot, range(1, settings.round_size + 1)) if slot not in done]
    check = next((trial for trial in trials if trial.is_check), None)
    if check is not None:
        if check.state in (Trial.State.DRAWN, Trial.State.CURRENT):
            found.append(slot_of(check))
    else:
        position = instruction_before(player, round_, settings)
        if position and all(trial.position < position for trial in trials):
            found.append(Slot(position, scored=False))
    return sorted(found)


def instruction_before(player: SpeechPlayer, round_: Round, settings: SpeechSettings) -> int | None:
    """Position of the scored trial before which this round may have its spoken instruction; None for none.

    One a round, from the first on, until the session has had its number; never before anything else was
    heard. Seeded, so that every request finds the same place.
    """
    first = 1 if settings.round_size > 1 else 2  # round; alone in its round, it would open the session
    if round_.for_fun or not first <= round_.number < first + settings.attention_checks:
        return None
    participant = player.participant
    rng = seeded(participant.study.seed, "instruction", participant.code, "round", round_.number)
    return rng.randint(min(2, settings.round_size), settings.round_size)
