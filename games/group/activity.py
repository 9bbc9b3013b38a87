"""The group game as an activity of a study: what the study's pages, debrief and erasure ask of it."""

from __future__ import annotations

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games.group import places, presenters, selectors
from games.group.models import Game
from games.group.services.erasing import erase_player
from games.group.services.leaving import withdrew
from games.group.services.readiness import prepare, ready
from games.group.services.settings import settings_of
from games.group.services.settling import end_state_of
from games.group.services.starting import KEY
from games.room.models import Seat
from studies import registry
from studies.models import EndState, Participant
from studies.texts import pick


def next_url(participant: Participant) -> str:
    return reverse("group:play", args=[participant.study.slug])


def is_complete(participant: Participant) -> bool:
    """Whether their game is over and its survey answered; never where people may play again."""
    if not settings_of(participant.study).play_once or not selectors.has_played(participant):
        return False
    seat = selectors.newest_seat(participant)
    return seat is not None and not selectors.owes_survey(participant, seat.room.group_game)


def is_enough(participant: Participant) -> bool:
    """One game, as far as it was theirs to play: until they were voted out, or to its end."""
    return selectors.has_played(participant)


def stops_as(participant: Participant) -> str:
    """How it ends for who stops now: by the game they were kept from playing; waited in vain once they have
    been asked whether to go on.
    """
    ticket = selectors.open_ticket(participant)
    if ticket is not None:
        return EndState.WAITED if ticket.patience_until <= timezone.now() else ""
    seat = selectors.newest_seat(participant)
    return "" if seat is None else end_state_of(seat, seat.room.group_game)


def left(participant: Participant) -> None:
    withdrew(participant, timezone.now())


def debrief_rows(participant: Participant) -> list[registry.DebriefRow]:
    """Every vote beside the truth, of games that have ended."""
    rows = []
    seats = [seat for seat in reversed(selectors.seats_of(participant)) if seat.room.group_game.end]
    for number, seat in enumerate(seats, start=1):
        for vote in seat.votes.select_related("target").order_by("round"):
            words = _("Game %(game)s, round %(round)s") if len(seats) > 1 else _("Round %(round)s")
            rows.append(
                registry.DebriefRow(
                    what=words % {"game": number, "round": vote.round},
                    said=vote.target.pseudonym if vote.target else str(_("nobody")),
                    was=vote.target.nature if vote.target else "",
                )
            )
    return rows


def debrief_facts(participant: Participant) -> list[tuple[registry.Text, str]]:
    """Who the AI was, how it ended and what the AI was told; of the newest game."""
    seat = selectors.newest_seat(participant)
    if seat is None:
        return []
    game = seat.room.group_game
    if not game.end:
        later = _(
            "The others are still playing. Load this page again when they have finished: then it says who."
        )
        return [(_("The AI"), str(later))]
    return [
        (_("You were"), seat.pseudonym),
        (_("The AI was"), presenters.agent_name(game)),
        (_("How it ended"), _end(seat, game)),
        *_told(game),
    ]


def _end(seat: Seat, game: Game) -> str:
    """As the person met it; who left a game that was decided later also reads how."""
    own, of_all = presenters.how_it_ended(seat, game), presenters.how_it_went(game)
    return own if own == of_all or game.end not in Game.PLAYED else f"{own} {of_all}"


def _told(game: Game) -> list[tuple[registry.Text, str]]:
    if game.agent is None:
        return []
    words = pick({"en": game.agent.told_en, "zh": game.agent.told_zh})
    return [(_("What the AI was told"), words)] if words else []


def register() -> None:
    """Called once when the app starts."""
    registry.activities.add(
        registry.Activity(
            key=KEY,
            title=_("Group game"),
            start_url_name="group:play",
            next_url=next_url,
            is_complete=is_complete,
            is_enough=is_enough,
            debrief_rows=debrief_rows,
            debrief_facts=debrief_facts,
            ready=ready,
            prepare=prepare,
            place_names=places.NAMES,
            places=places.places,
            stops_as=stops_as,
            left=left,
        )
    )
    registry.erasers.add(
        registry.Eraser(
            key=KEY,
            models=(
                "group.Ticket",
                "group.Vote",
                "group.Elimination",
                "group.AgentStep",
                "group.Candidate",
                "group.AgentCall",
            ),
            erase=erase_player,
        )
    )
