"""What people earn in an hour, live: median minutes by end state, beside the least pay of the study."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

from django.db.models import QuerySet

from studies.models import EndState, Participant, Study

RECENT = 2000  # people the median is taken over, per end state


class Hourly(NamedTuple):
    """One end state. ``minutes``: from consent to the end, median; ``hourly``: in the study's currency."""

    end_state: str
    label: str
    people: int
    minutes: float
    amount: float
    hourly: float
    below: bool


def pay_of(study: Study, people: QuerySet[Participant] | None = None) -> list[Hourly]:
    """Every end state that pays an amount and that somebody reached; test participants are left out.

    ``people``: of them alone.
    """
    rows = []
    for completion in study.completions.exclude(amount=None).order_by("pk"):
        times = (
            (Participant.objects.all() if people is None else people)
            .filter(
                study=study,
                end_state=completion.end_state,
                is_test=False,
                erased_at=None,
                consented_at__isnull=False,
                completed_at__isnull=False,
            )
            .order_by("-completed_at")
            .values_list("consented_at", "completed_at")[:RECENT]
        )
        minutes = [(end - start).total_seconds() / 60 for start, end in times if start and end]
        middle = median(minutes) if minutes else 0.0
        if middle <= 0 or completion.amount is None:
            continue
        hourly = float(completion.amount) * 60 / middle
        floor = study.pay_floor
        rows.append(
            Hourly(
                completion.end_state,
                str(dict(EndState.choices)[completion.end_state]),
                len(minutes),
                round(middle, 1),
                float(completion.amount),
                round(hourly, 2),
                floor is not None and hourly < float(floor),
            )
        )
    return rows
