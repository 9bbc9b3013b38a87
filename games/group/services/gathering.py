"""Who would play together if a game started now. Reads only: the lobby takes these people under a lock.

Nobody of a pilot plays with others. Test participants play among themselves, or fill the seats beside people
where the study lets bots do that; such a game is marked as a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import QuerySet

from games.group.models import GroupSettings, Ticket
from games.room.selectors import PRESENT_SECONDS
from studies.models import Participant, Study


class Gathering(NamedTuple):
    """Those who would be seated: the people who have been ready longest first."""

    tickets: list[Ticket]

    @property
    def participants(self) -> list[Participant]:
        return [ticket.participant for ticket in self.tickets]


class Waiting(NamedTuple):
    """What the waiting room shows. ``starts_at``: when a game begins with those who are ready now, at the
    latest; None while there are too few.
    """

    here: int
    ready: int
    starts_at: datetime | None


def gather(study: Study, language: str, settings: GroupSettings, now: datetime) -> Gathering | None:
    """The next game's people; None while there are too few, and where the study takes nobody."""
    if study.status not in Study.JOINABLE:
        return None
    ready = _here(study, language, now).filter(state=Ticket.State.READY).order_by("ready_at", "pk")
    everybody = list(ready.select_related("participant__study", "participant__rater"))
    for pilot in (False, True):
        rows = [one for one in everybody if one.participant.is_pilot == pilot]
        people = [one for one in rows if not one.participant.is_test]
        tests = [one for one in rows if one.participant.is_test]
        found = enough(people, settings, now)
        if found is None and bots_fill(study, settings) and people:
            found = _filled(people, tests, settings, now)
        elif found is None:
            found = enough(tests, settings, now)
        if found is not None:
            return Gathering(found)
    return None


def bots_fill(study: Study, settings: GroupSettings) -> bool:
    """Whether bots take seats beside people in this study."""
    return settings.bots_after is not None and study.test_participants


def enough(ready: Sequence[Ticket], settings: GroupSettings, now: datetime) -> list[Ticket] | None:
    """As many as a game has; or fewer, once there have been enough of them for so long."""
    if len(ready) >= settings.people:
        return list(ready[: settings.people])
    starts = starts_at(ready, settings)
    return list(ready) if starts is not None and starts <= now else None


def starts_at(ready: Sequence[Ticket], settings: GroupSettings) -> datetime | None:
    """When a game begins without more people: some time after the one who made them enough was ready."""
    least = min(settings.least_people, settings.people)
    if len(ready) < least:
        return None
    last = ready[least - 1].ready_at
    return None if last is None else last + timedelta(seconds=settings.start_after)


def wants_bots(people: Sequence[Ticket], settings: GroupSettings, now: datetime) -> bool:
    """Whether somebody has been ready for so long that bots should come."""
    first = people[0].ready_at if people else None
    return (
        first is not None
        and settings.bots_after is not None
        and first + timedelta(seconds=settings.bots_after) <= now
    )


def _filled(
    people: list[Ticket], tests: list[Ticket], settings: GroupSettings, now: datetime
) -> list[Ticket] | None:
    rows = [*people, *tests]
    full = wants_bots(people, settings, now) and len(rows) >= settings.people
    return rows[: settings.people] if full else None


def waiting_with(ticket: Ticket, settings: GroupSettings, now: datetime) -> Waiting:
    """What somebody who waits is shown: those they may play with."""
    rows = _here(ticket.study, ticket.language, now).filter(participant__is_pilot=ticket.participant.is_pilot)
    if not bots_fill(ticket.study, settings):
        rows = rows.filter(participant__is_test=ticket.participant.is_test)
    here = list(rows.order_by("ready_at", "pk"))
    ready = [one for one in here if one.state == Ticket.State.READY]
    return Waiting(len(here), len(ready), starts_at(ready, settings))


def missing_bots(study: Study, language: str, settings: GroupSettings, now: datetime) -> int:
    """How many bots are missing for a game of those who have waited for long; 0 where none should come."""
    if not bots_fill(study, settings) or study.status not in Study.JOINABLE:
        return 0
    here = list(_here(study, language, now).select_related("participant").order_by("ready_at", "pk"))
    people = [
        one
        for one in here
        if one.state == Ticket.State.READY and not one.participant.is_test and one.ready_at is not None
    ]
    if not wants_bots(people, settings, now) or len(people) >= settings.people:
        return 0
    return max(0, settings.people - len(people) - sum(one.participant.is_test for one in here))


def _here(study: Study, language: str, now: datetime) -> QuerySet[Ticket]:
    """Open tickets whose page gave a sign just now: who has closed it is neither counted nor seated."""
    return Ticket.objects.filter(
        study=study,
        language=language,
        state__in=Ticket.OPEN,
        seen_at__gte=now - timedelta(seconds=PRESENT_SECONDS),
        participant__end_state="",
        participant__withdrawn_at=None,
    )
