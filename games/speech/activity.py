"""The speech game as an activity of a study: what the study's pages, debrief and erasure ask of it."""

from __future__ import annotations

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from dialogues import audits
from games.speech import places, presenters
from games.speech.assignment import ACTIVITY
from games.speech.models import Round, Trial
from games.speech.services.erasing import erase_player
from games.speech.services.failures import kept_from_playing
from games.speech.services.players import settings_of
from games.speech.services.playing import is_over
from games.speech.services.readiness import prepare, ready
from games.speech.services.scoring import leave_boards
from studies import registry
from studies.models import Participant


def next_url(participant: Participant) -> str:
    return reverse("speech:play", args=[participant.study.slug])


def is_complete(participant: Participant) -> bool:
    """Whether all rounds were played and the last reveal was seen; never where the study sets no limit."""
    last = Round.objects.filter(player__participant=participant).order_by("-number").first()
    return is_over(settings_of(participant.study), last) and last is not None and last.seen_at is not None


def is_enough(participant: Participant) -> bool:
    """One finished round, or all of them where the study sets a number; a round without an answer is none."""
    settings = settings_of(participant.study)
    finished = Round.objects.filter(
        player__participant=participant, state=Round.State.FINISHED, answered__gt=0
    )
    return finished.count() >= (settings.max_rounds or 1)


def debrief_rows(participant: Participant) -> list[registry.DebriefRow]:
    """Every scored answer beside the truth."""
    settings = settings_of(participant.study)
    trials = (
        Trial.objects.filter(round__player__participant=participant, expected="")
        .exclude(answer="")
        .select_related("round", "dialogue")
        .prefetch_related("dialogue__parties__system", "dialogue__parties__speaker")
        .order_by("round__number", "position", "attempt")
    )
    rows = []
    for trial in trials:
        shown = presenters.reveal(trial, settings)
        what = _("Round %(round)s, conversation %(position)s") % {
            "round": trial.round.number,
            "position": trial.position,
        }
        rows.append(registry.DebriefRow(what=what, said=shown["said"], was=shown["was"], line=shown["line"]))
    return rows


def register() -> None:
    """Called once when the app starts."""
    registry.activities.add(
        registry.Activity(
            key=ACTIVITY,
            title=_("Speech game"),
            start_url_name="speech:play",
            next_url=next_url,
            is_complete=is_complete,
            is_enough=is_enough,
            debrief_rows=debrief_rows,
            ready=ready,
            counting=audits.opening_problems,
            at_opening=audits.at_opening,
            prepare=prepare,
            place_names=places.NAMES,
            places=places.places,
            card="card/{language}.png",
            hindered=kept_from_playing,
            left=leave_boards,
        )
    )
    registry.erasers.add(
        registry.Eraser(
            key=ACTIVITY,
            models=(
                "speech.SpeechPlayer",
                "speech.Standing",
                "speech.Round",
                "speech.Trial",
                "speech.ContentCheck",
            ),
            erase=erase_player,
        )
    )
