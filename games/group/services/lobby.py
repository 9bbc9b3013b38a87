"""The waiting room: people come, say they are ready, go on waiting or stop; a game starts with those who are.

Every count is made from the tickets, and who is there from the last sign of their page. The agent has no
ticket: it starts nothing and keeps nobody waiting.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from games.group.models import Game, Ticket
from games.group.selectors import has_played, is_at_the_table, newest_seat, open_ticket
from games.group.services.gathering import Gathering, gather
from games.group.services.settings import settings_of
from games.group.services.settling import end_state_of
from games.group.services.starting import KEY, locked_settings, start_game
from studies.models import EndState, Participant, Study
from studies.services import complete, hold, screen_out
from studies.services.holding import refuse_if_over
from turingsite.errors import Conflict, NotFound, TryLater

State = Ticket.State
SEEN_EVERY = timedelta(seconds=3)  # more often would be a write for nothing
TRIES = 3


def join(*, participant: Participant, now: datetime) -> Ticket:
    """The person's ticket of the waiting room; made when they come, the same from every tab.

    TryLater ``paused`` where the study pauses, Conflict ``playing`` with a game under way and
    ``played_once`` where each plays once; NotFound ``no_game`` for who does something else in the study.
    """
    refuse_if_over(participant)
    found = open_ticket(participant)
    if found is not None:
        return found
    try:
        with transaction.atomic():
            return _new_ticket(hold(participant=participant), now)
    except IntegrityError:
        found = open_ticket(participant)  # of the other tab
        if found is None:
            raise
        return found


def _new_ticket(participant: Participant, now: datetime) -> Ticket:
    refuse_if_over(participant)
    study = participant.study
    if KEY not in (participant.activities or study.activities):
        raise NotFound("no_game", _("There is no such page in this study."))
    if study.status not in Study.JOINABLE:
        raise TryLater("paused", _("The study pauses. Come back later: you go on where you stopped."))
    seat = newest_seat(participant)
    if seat is not None and is_at_the_table(seat, seat.room.group_game) and seat.out_at is None:
        raise Conflict("playing", _("Your game is still going on."))
    settings = settings_of(study)
    if seat is not None and settings.play_once:
        raise Conflict("played_once", _("Each person plays once in this study."))
    if seat is not None and end_state_of(seat, seat.room.group_game):
        raise Conflict("no_more_games", _("Your part in this study is over."))
    return Ticket.objects.create(
        study=study,
        participant=participant,
        language=participant.judging_language,
        joined_at=now,
        seen_at=now,
        patience_until=now + timedelta(minutes=settings.wait_minutes),
    )


@transaction.atomic
def ready(*, participant: Participant, now: datetime) -> Ticket:
    """The person is ready to play; said again it changes nothing. NotFound ``not_waiting``."""
    ticket = _held_ticket(participant)
    Ticket.objects.filter(pk=ticket.pk, state=State.WAITING).update(
        state=State.READY, ready_at=now, seen_at=now
    )
    ticket.refresh_from_db()
    return ticket


@transaction.atomic
def keep_waiting(*, participant: Participant, now: datetime) -> Ticket:
    """The person goes on waiting and is asked again after as long; before they are asked, no change."""
    ticket = _held_ticket(participant)
    if ticket.patience_until <= now:
        minutes = settings_of(participant.study).wait_minutes
        ticket.patience_until = now + timedelta(minutes=minutes)
        ticket.seen_at = now
        ticket.save(update_fields=["patience_until", "seen_at"])
    return ticket


@transaction.atomic
def stop_waiting(*, participant: Participant, now: datetime) -> None:
    """End as somebody who waited in vain, or done where they have played before. Conflict ``not_asked``
    before the time is up.
    """
    ticket = _held_ticket(participant)
    if ticket.patience_until > now:
        raise Conflict("not_asked", _("Please wait a little longer. You can leave at any time by “Leave”."))
    close_tickets(participant, now)
    if has_played(participant):
        complete(participant=participant, now=now)
    else:
        screen_out(participant=participant, end_state=EndState.WAITED, now=now)


def _held_ticket(participant: Participant) -> Ticket:
    """The person's open ticket, their row held: whoever seats them at this moment comes before or after."""
    hold(participant=participant)
    ticket = open_ticket(participant)
    if ticket is None:
        raise NotFound("not_waiting", _("You are not in the waiting room any more."))
    return ticket


def close_tickets(participant: Participant, now: datetime) -> int:
    """The person waits no longer. Waiting is counted up to now."""
    return Ticket.objects.filter(participant=participant, state__in=Ticket.OPEN).update(
        state=State.LEFT, closed_at=now
    )


def note_waiting(*, ticket: Ticket, now: datetime) -> None:
    """The page of somebody who waits gave a sign. They wait for a game in the language they chose last."""
    language = ticket.participant.judging_language
    if now - ticket.seen_at >= SEEN_EVERY or ticket.language != language:
        Ticket.objects.filter(pk=ticket.pk, state__in=Ticket.OPEN).update(seen_at=now, language=language)
        ticket.seen_at, ticket.language = now, language


def start_all(*, study: Study, language: str, now: datetime) -> list[Game]:
    """Start every game that can start in this language."""
    games: list[Game] = []
    while gather(study, language, settings_of(study), now) is not None:
        game = try_start(study=study, language=language, now=now)
        if game is None:
            break
        games.append(game)
    return games


@transaction.atomic
def try_start(*, study: Study, language: str, now: datetime) -> Game | None:
    """A game with the people who have been ready longest, if there are enough; membership is fixed here.

    One at a time in a study. People who leave at this moment are not seated: their rows are held, in one
    order and before their tickets, as a withdrawal holds them.
    """
    settings = locked_settings(study)
    for _try in range(TRIES):
        found = gather(study, language, settings, now)
        if found is None:
            return None
        if _take(found):
            game = start_game(study=study, language=language, participants=found.participants, now=now)
            Ticket.objects.filter(pk__in=[one.pk for one in found.tickets]).update(
                state=State.SEATED, closed_at=now, room=game.room
            )
            return game
    return None


def _take(found: Gathering) -> bool:
    """Hold these people; whether all of them are still ready."""
    people = Participant.objects.select_for_update(no_key=True).filter(
        pk__in=[one.pk for one in found.participants], end_state="", withdrawn_at=None, erased_at=None
    )
    if len(people.order_by("pk")) < len(found.participants):
        return False
    tickets = Ticket.objects.select_for_update(no_key=True).filter(
        pk__in=[one.pk for one in found.tickets], state=State.READY
    )
    return len(tickets.order_by("pk")) == len(found.tickets)


def tidy(now: datetime) -> int:
    """Close the tickets of those who have gone or whose part in the study has ended; how many."""
    closed = 0
    waiting = Ticket.objects.filter(state__in=Ticket.OPEN).select_related("participant", "study__group")
    for ticket in waiting:
        after = timedelta(seconds=settings_of(ticket.study).gone_after)
        gone = now - ticket.seen_at > after
        over = bool(ticket.participant.end_state) or ticket.participant.is_gone
        if gone or over or ticket.study.status in (Study.Status.CLOSED, Study.Status.DRAFT):
            closed += Ticket.objects.filter(
                pk=ticket.pk, state__in=Ticket.OPEN, seen_at=ticket.seen_at
            ).update(state=State.LEFT, closed_at=max(ticket.seen_at, ticket.joined_at))
    return closed


def sweep(now: datetime) -> int:
    """Tidy up and start every game that can start, in all studies; how many began."""
    tidy(now)
    pools = Ticket.objects.filter(state=State.READY).order_by().values_list("study", "language").distinct()
    studies = Study.objects.in_bulk({study for study, _language in pools})
    return sum(len(start_all(study=studies[study], language=language, now=now)) for study, language in pools)
