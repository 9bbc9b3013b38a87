"""What happened to one person in the game, moment by moment, for whoever answers their mail. No outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.speech.models import ContentCheck, Round, SpeechPlayer, Trial
from studies.models import Participant
from studies.story import Moment


def moments_of(participant: Participant) -> Iterator[Moment]:
    """Rounds, sounds that failed, answers unlocked by waiting, checks; nothing of what was judged or how."""
    rounds = Round.objects.filter(player__participant=participant).order_by("number")
    for one in rounds:
        what = _("Began round %(n)s for fun") if one.for_fun else _("Began round %(n)s")
        yield Moment(one.started_at, what % {"n": one.number})
        if one.finished_at is not None:
            answers = ngettext("%(n)s answer", "%(n)s answers", one.answered) % {"n": one.answered}
            yield Moment(one.finished_at, _("Finished round %(n)s") % {"n": one.number}, answers)
        if one.seen_at is not None:
            yield Moment(one.seen_at, _("Saw the end of round %(n)s") % {"n": one.number})
    trials = Trial.objects.filter(round__player__participant=participant).select_related("round")
    for trial in trials.only(
        "round__number", "position", "state", "failure", "closed_at", "gate", "unlocked_at"
    ):
        place = _("round %(round)s, place %(place)s") % {
            "round": trial.round.number,
            "place": trial.position,
        }
        if trial.state == Trial.State.FAILED and trial.closed_at is not None:
            yield Moment(trial.closed_at, _("The sound failed"), f"{place}: {trial.failure}", True)
        if trial.gate == Trial.Gate.TIMEOUT and trial.unlocked_at is not None:
            yield Moment(trial.unlocked_at, _("The answers opened by waiting"), place)
    checks = ContentCheck.objects.filter(trial__round__player__participant=participant)
    for asked_at, answered_at, chosen, correct in checks.values_list(
        "asked_at", "answered_at", "chosen", "correct"
    ):
        if answered_at is None:
            yield Moment(asked_at, _("Was asked what the conversation was about"))
        else:
            passed = chosen == correct
            what = _("Passed a check") if passed else _("Failed a check")
            yield Moment(answered_at, what, "", not passed)


def facts_of(participant: Participant) -> list[tuple[str, Any]]:
    """What is kept of the person without a moment of its own: the sound check, checks in all."""
    player = SpeechPlayer.objects.filter(participant=participant).first()
    if player is None:
        return []
    words = {True: _("passed"), False: _("not passed"), None: _("not done")}
    tries = ngettext("%(n)s try", "%(n)s tries", player.sound_tries) % {"n": player.sound_tries}
    return [
        (
            _("Sound check"),
            f"{words[player.sound_passed]}, {tries}" if player.sound_tries else words[player.sound_passed],
        ),
        (_("Checks failed"), player.checks_failed),
    ]
