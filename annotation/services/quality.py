"""What a researcher decides about a rater: scores set aside or taken back in, one more try at calibration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.balance import free_places
from annotation.models import Annotator, Batch, BatchItem
from annotation.selectors_desk import pool_of
from annotation.services.pausing import locked, reason_of
from annotation.services.rater_places import held_places, lock_places, places_of
from annotation.services.settings import settings_of
from dialogues.models import Verdict
from studies import audit
from studies.services import hold, let_go_on
from turingsite.errors import Conflict

State, Exclusion = BatchItem.State, BatchItem.Exclusion


class SetAside(NamedTuple):
    """``items`` are left out of the analysis; ``places`` of them are filled again by other raters: those of
    dialogues that are still ordinary work.
    """

    items: int
    places: int


class TakenBack(NamedTuple):
    """``items`` are analysed again; ``given_away`` are not: others have filled their places meanwhile."""

    items: int
    given_away: int


@transaction.atomic
def set_aside(
    *, annotator: Annotator, reason: str, user: Any = None, now: datetime | None = None
) -> SetAside:
    """Leave a rater's scores out and free their places, so that the queue gives the dialogues to others.

    Nothing is deleted. The person gets no further dialogue; an open batch goes back with the next sweep, as
    one whose time ran out. ``reason`` is for the desk alone. Conflict ``set_aside`` where they are already.
    """
    words, now = reason_of(reason), now or timezone.now()
    row = locked(annotator)
    if row.set_aside_at is not None:
        raise Conflict("set_aside", _("These scores are set aside already."))
    row.set_aside_at, row.set_aside_by, row.set_aside_reason = now, user, words
    if row.paused_at is None:
        row.paused_at, row.paused_by = now, user
    row.save()
    Batch.objects.filter(annotator=row, state=Batch.State.OPEN, lease_until__gt=now).update(lease_until=now)
    analysed = _finished(row).filter(exclusion=Exclusion.NONE)
    places = analysed.filter(place__isnull=False, dialogue__in=pool_of(row.participant.study)).count()
    _choices(row, Verdict.Exclusion.NONE).filter(annotation_item__in=analysed).update(
        exclusion=Verdict.Exclusion.RATER
    )
    items = analysed.update(exclusion=Exclusion.RATER, place=None)
    audit.record(
        "annotator.set_aside", study=row.participant.study, user=user, target=row.participant.code,
        items=items, places=places,
    )  # fmt: skip
    return SetAside(items, places)


@transaction.atomic
def take_back(*, annotator: Annotator, user: Any = None) -> TakenBack:
    """Analyse a rater's scores again where their places are still free: no dialogue gets more raters.

    The person stays paused. Conflict ``not_set_aside`` where the scores are not set aside.
    """
    row = locked(annotator)
    if row.set_aside_at is None:
        raise Conflict("not_set_aside", _("These scores are not set aside."))
    row.set_aside_at, row.set_aside_by, row.set_aside_reason = None, None, ""
    row.save(update_fields=["set_aside_at", "set_aside_by", "set_aside_reason"])
    study = row.participant.study
    settings = settings_of(study)
    lock_places(settings)
    most = places_of(settings, row.layer)
    out = _finished(row).filter(exclusion=Exclusion.RATER)
    apart = out.exclude(purpose=BatchItem.Purpose.WORK).update(exclusion=Exclusion.NONE)
    work = list(out.filter(purpose=BatchItem.Purpose.WORK).order_by("given_at", "pk"))
    taken = _taken(row, work)
    back = sum(_with_place(item, free_places(taken[item.dialogue_id], most=most)) for item in work)
    again, gone = (
        (Exclusion.NONE, Verdict.Exclusion.NONE),
        (Exclusion.GIVEN_AWAY, Verdict.Exclusion.GIVEN_AWAY),
    )
    for of_item, of_choice in (again, gone):
        items = _finished(row).filter(exclusion=of_item)
        _choices(row, Verdict.Exclusion.RATER).filter(annotation_item__in=items).update(exclusion=of_choice)
    done = TakenBack(apart + back, len(work) - back)
    audit.record(
        "annotator.taken_back", study=study, user=user, target=row.participant.code,
        items=done.items, given_away=done.given_away,
    )  # fmt: skip
    return done


@transaction.atomic
def another_try(*, annotator: Annotator, user: Any = None) -> Annotator:
    """Let somebody who did not pass calibration try once more, also where that had ended their part.

    Conflict ``not_failed`` for anybody else, Gone for somebody who left.
    """
    hold(participant=annotator.participant)
    row = locked(annotator)
    if row.state != Annotator.State.FAILED:
        raise Conflict("not_failed", _("Only somebody who did not pass calibration can try again."))
    row.state = Annotator.State.CALIBRATING
    row.save(update_fields=["state"])
    let_go_on(participant=row.participant)
    audit.record(
        "annotator.another_try", study=row.participant.study, user=user, target=row.participant.code,
        tries=row.attempts.count(),
    )  # fmt: skip
    return row


def _finished(row: Annotator) -> Any:
    return BatchItem.objects.filter(batch__annotator=row, state=State.FINISHED)


def _choices(row: Annotator, exclusion: str) -> Any:
    """The final choices on this person's items that are left out for that reason, or for none."""
    return Verdict.objects.filter(rater=row.participant.rater, exclusion=exclusion)


def _taken(row: Annotator, work: Iterable[BatchItem]) -> dict[int, set[int]]:
    """The places of these items' dialogues that somebody holds."""
    held: dict[int, set[int]] = defaultdict(set)
    rows = held_places(row.participant.study, row.layer)
    rows = rows.filter(dialogue__in=[item.dialogue_id for item in work])
    for dialogue, place in rows.values_list("dialogue", "place"):
        held[dialogue].add(int(place or 0))
    return held


def _with_place(item: BatchItem, free: Sequence[int]) -> int:
    """Give a finished item a place of its dialogue: 1, or 0 where none is left."""
    item.place = free[0] if free else None
    item.exclusion = Exclusion.NONE if free else Exclusion.GIVEN_AWAY
    item.save(update_fields=["place", "exclusion"])
    return int(bool(free))
