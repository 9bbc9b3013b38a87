"""Where a person is in the game, and on to the next: rounds, trials, checks, the end. The server owns the
position.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from games.speech.assignment import Draws
from games.speech.models import ContentCheck, Round, SpeechPlayer, SpeechSettings, Trial
from games.speech.services import slots
from games.speech.services.checks import ask_after, count_answer, ensure_sound_word
from games.speech.services.players import HEAVY, access_trial, locked_player, settings_of
from games.speech.services.scoring import finish_round
from games.speech.services.slots import Slot, slot_of
from studies.assignment import lease_end
from studies.models import Participant, Study
from studies.services.holding import refuse_if_over
from turingsite.errors import Conflict

FAILURES = 6
FAILURES_WITHIN = timedelta(minutes=10)


class Place(NamedTuple):
    """Where a person is: ``sound``, ``trial``, ``check``, ``round`` (its reveal), ``pause`` (sound fails,
    study pauses), ``done``.
    """

    name: str
    player: SpeechPlayer
    settings: SpeechSettings
    trial: Trial | None = None
    following: Trial | None = None  # drawn behind the current one, for the preload
    check: ContentCheck | None = None
    round: Round | None = None
    revealed: Trial | None = None  # the item just judged, where the study reveals after each


def start_or_resume(*, participant: Participant, now: datetime) -> Place:
    """Where the person is; whatever has to exist for that (player, round, trials) is made.

    The sound check first; then the open round; then the reveal of the last one until it was seen; then a new
    round.
    """
    refuse_if_over(participant)
    settings = settings_of(participant.study)
    return _in_trial(participant, settings) or _made_place(participant, settings, now=now)


def _in_trial(participant: Participant, settings: SpeechSettings) -> Place | None:
    """The place of somebody in the middle of a trial with the next one drawn; None for everybody else.

    Read without a transaction, because nothing has to be made: a reload never waits for a writer.
    """
    player = SpeechPlayer.objects.filter(participant=participant).first()
    if player is None or (settings.sound_check and player.sound_passed is None):
        return None
    player.participant = participant
    trials = list(
        Trial.objects.filter(round__player=player, round__state=Round.State.OPEN)
        .select_related("round", "dialogue", "exposure")
        .defer(*HEAVY)
    )
    current = next((trial for trial in trials if trial.state == Trial.State.CURRENT), None)
    drawn = next((trial for trial in trials if trial.state == Trial.State.DRAWN), None)
    if current is None or (drawn is None and slot_of(current) < Slot(settings.round_size)):
        return None
    current.round.player = player
    return Place("trial", player, settings, trial=current, following=drawn, round=current.round)


@transaction.atomic
def _made_place(participant: Participant, settings: SpeechSettings, *, now: datetime) -> Place:
    player = locked_player(participant)
    if settings.sound_check and player.sound_passed is None and ensure_sound_word(player, participant):
        return Place("sound", player, settings)
    round_ = Round.objects.filter(player=player).order_by("-number").first()
    if round_ is not None and round_.state == Round.State.OPEN:
        round_.player = player
        return advance(player, round_, settings, now=now)
    if round_ is not None and round_.seen_at is None:
        return Place("round", player, settings, round=round_)
    if is_over(settings, round_):
        return Place("done", player, settings, round=round_)
    return _new_round(player, round_, settings, now=now)


def is_over(settings: SpeechSettings, last: Round | None) -> bool:
    """Whether the person has played all rounds the study has for them."""
    return bool(
        settings.max_rounds
        and last is not None
        and last.state == Round.State.FINISHED
        and last.number >= settings.max_rounds
    )


def _new_round(player: SpeechPlayer, last: Round | None, settings: SpeechSettings, *, now: datetime) -> Place:
    participant = player.participant
    if participant.study.status == Study.Status.PAUSED:
        return Place("pause", player, settings, round=last)
    draws = Draws(player, participant.judging_language, settings, now=now)
    if draws.has_unheard is None:
        raise Conflict(
            "no_dialogues",
            _("There are no conversations in your language yet. Please come back later."),
            {"goto": reverse("studies:leave", args=[participant.study.slug])},
        )
    round_ = Round.objects.create(
        player=player,
        number=last.number + 1 if last else 1,
        language=participant.judging_language,
        for_fun=not draws.has_unheard,
        started_at=now,
    )
    return advance(player, round_, settings, now=now, draws=draws)


def advance(
    player: SpeechPlayer,
    round_: Round,
    settings: SpeechSettings,
    *,
    now: datetime,
    draws: Draws | None = None,
) -> Place:
    """The place inside an open round. Draws the current trial and the one behind it, or ends the round.

    Slots are filled in order; one that no dialogue may fill is left out, and the round ends early where none
    is left.
    """
    trials = _trials(round_)
    check = _unanswered(trials)
    if check is not None:
        return Place("check", player, settings, check=check, round=round_)
    current = next((trial for trial in trials if trial.state == Trial.State.CURRENT), None)
    drawn = next((trial for trial in trials if trial.state == Trial.State.DRAWN), None)
    if current is None and _fails_often(trials, now):
        return Place("pause", player, settings, round=round_)
    draws = draws or Draws(player, round_.language, settings, now=now)

    def draw(slot: Slot, state: Trial.State) -> Trial | None:
        if not slot.scored:
            # Where the study has no instruction to speak, the scored trial of the place comes at once.
            found = draws.draw_instruction(round_, slot.position, state)
            return found or draw(Slot(slot.position), state)
        attempt = sum(slot_of(trial) == slot for trial in trials)
        return draws.draw(round_, slot.position, attempt, state)

    missing = slots.missing(player, round_, settings, trials)
    if current is None:
        if not missing:
            return _end(player, round_, settings, now=now)
        if drawn is None or slot_of(drawn) != missing[0]:
            current = draw(missing[0], Trial.State.CURRENT)
        if current is None and drawn is None:
            return _end(player, round_, settings, now=now)
        if current is None and drawn is not None:
            drawn.state = Trial.State.CURRENT
            drawn.served_at = now
            drawn.lease_until = lease_end(now, settings.lease_minutes)
            drawn.save(update_fields=["state", "served_at", "lease_until"])
            current, drawn = drawn, None
    assert current is not None  # noqa: S101  (every other way out has returned)
    later = [slot for slot in missing if slot > slot_of(current)]
    if drawn is None and later:
        drawn = draw(later[0], Trial.State.DRAWN)
    return Place("trial", player, settings, trial=current, following=drawn, round=round_)


def _trials(round_: Round) -> list[Trial]:
    trials = list(
        Trial.objects.filter(round=round_)
        .select_related("dialogue", "exposure", "check_asked")
        .defer(*HEAVY)
        .order_by("position", "attempt")
    )
    for trial in trials:
        trial.round = round_
    return trials


def _unanswered(trials: list[Trial]) -> ContentCheck | None:
    checks = (getattr(trial, "check_asked", None) for trial in trials)
    return next((check for check in checks if check is not None and check.answered_at is None), None)


def sound_fails(round_: Round, *, now: datetime) -> bool:
    """Whether many clips failed just now: the connection is bad, and more clips would only be used up."""
    return _fails_often(list(Trial.objects.filter(round=round_)), now)


def _fails_often(trials: list[Trial], now: datetime) -> bool:
    since = now - FAILURES_WITHIN
    closed = [trial.closed_at for trial in trials if trial.state == Trial.State.FAILED]
    return sum(moment is not None and moment > since for moment in closed) >= FAILURES


def _end(player: SpeechPlayer, round_: Round, settings: SpeechSettings, *, now: datetime) -> Place:
    finish_round(round_, settings=settings, now=now)
    return Place("round", player, settings, round=round_)


@transaction.atomic
def next_trial(*, participant: Participant, code: str, now: datetime) -> Place:
    """Leave an answered trial and go on. Sent twice, or from a second tab, it says where they are now."""
    refuse_if_over(participant)
    settings = settings_of(participant.study)
    player = locked_player(participant)
    trial = access_trial(participant, code)
    if trial.state == Trial.State.CURRENT:
        if not trial.answer:
            raise Conflict("not_answered", _("Please answer first: human or machine?"))
        trial.state = Trial.State.DONE
        trial.closed_at = now
        trial.save(update_fields=["state", "closed_at"])
        if trial.is_check:
            count_answer(trial, player=player)
        else:
            ask_after(trial, player=player, settings=settings, now=now)
    place = _now_at(player, trial.round, settings, now=now)
    is_judged = trial.state == Trial.State.DONE and not trial.is_check
    if settings.reveal == SpeechSettings.Reveal.AFTER_ITEM and is_judged:
        place = place._replace(revealed=trial)
    return place


def _now_at(player: SpeechPlayer, round_: Round, settings: SpeechSettings, *, now: datetime) -> Place:
    """The place of somebody whose trial is in ``round_``, which may be over by now."""
    round_.player = player
    if round_.state == Round.State.OPEN:
        return advance(player, round_, settings, now=now)
    if round_.seen_at is None:
        return Place("round", player, settings, round=round_)
    return start_or_resume(participant=player.participant, now=now)


def current_place(player: SpeechPlayer, round_: Round, settings: SpeechSettings, *, now: datetime) -> Place:
    return _now_at(player, round_, settings, now=now)


@transaction.atomic
def mark_round_seen(*, round_: Round, now: datetime) -> None:
    """The reveal was shown; from now on the game goes on with a new round."""
    Round.objects.filter(pk=round_.pk, state=Round.State.FINISHED, seen_at=None).update(seen_at=now)
