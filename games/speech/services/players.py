"""The player row: drawn once, locked while something is drawn for it. The door to a trial."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from games.speech.models import SpeechPlayer, SpeechSettings, Trial
from studies.assignment import seeded
from studies.models import Participant, Study
from studies.prepared import Prepared
from studies.services.holding import hold, stay
from turingsite.errors import Conflict, NotFound

HEAVY = ("draw", "dialogue__peaks", "dialogue__quality", "dialogue__trouble")  # long, and not for players


_SERVED = Prepared(
    lambda code, participant: (
        Trial.objects.select_for_update(of=("round__player__participant", "self"))
        .select_related("round__player__participant", "exposure", "dialogue")
        .defer(*HEAVY)
        .filter(code=code, round__player__participant=participant)
        .exclude(state=Trial.State.DRAWN)
    ),
    code="?code?",
    participant=-1,
)


def settings_of(study: Study) -> SpeechSettings:
    """The study's settings of the game, or the protocol's where it has none."""
    found = SpeechSettings.objects.filter(study=study).first()
    return found or SpeechSettings(study=study)


def player_of(participant: Participant) -> SpeechPlayer:
    """The participant's player; made at the first call, with the order of the answers drawn for good."""
    found = SpeechPlayer.objects.filter(participant=participant).first()
    return found or _new_player(participant)


@transaction.atomic
def _new_player(participant: Participant) -> SpeechPlayer:
    """Made under the person's lock, as everything that hangs on them."""
    hold(participant=participant)
    human_left = seeded(participant.study.seed, "order", participant.code).random() < 0.5
    player, _new = SpeechPlayer.objects.get_or_create(
        participant=participant, defaults={"human_left": human_left}
    )
    return player


def locked_player(participant: Participant) -> SpeechPlayer:
    """The player, locked until the transaction ends; Gone for somebody who left meanwhile.

    A draw reads what the person was given and then adds to it; two tabs doing so at once would both fill one
    place. (SQLite has one writer at a time anyway.)
    """
    locked = SpeechPlayer.objects.select_related("participant").select_for_update(of=("participant", "self"))
    player = locked.filter(participant=participant).first()
    if player is None:
        _new_player(participant)
        player = locked.get(participant=participant)
    _stay(player, participant)
    return player


def _stay(player: SpeechPlayer, participant: Participant) -> None:
    """Gone where the person left while their request waited for the lock."""
    stay(player.participant, participant)
    player.participant = participant


@transaction.atomic
def switch_keys(*, participant: Participant, off: bool) -> None:
    """Switch the letter keys of the trial off or on for this person."""
    player = locked_player(participant)
    player.keys_off = off
    player.save(update_fields=["keys_off"])


def access_trial(participant: Participant, code: str) -> Trial:
    """The trial of that code if it was served to this person; locked. NotFound otherwise, whoever it belongs
    to.

    The lock makes the double click wait for the first one instead of failing on a constraint. Gone for
    somebody who left meanwhile.
    """
    trial = _SERVED.get(code=code, participant=participant.pk)
    if trial is None:
        raise NotFound("no_trial", _("There is no such conversation here."))
    _stay(trial.round.player, participant)
    return trial


def moved_on() -> Conflict:
    """Refusal of what belongs to a trial that the person has left, perhaps in another tab."""
    return Conflict("moved_on", _("You have gone on to the next conversation."))
