"""Looks at outcomes as the trail has them: early ones, later ones, those before a reopening. Reads only."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from studies import registry
from studies.models import AuditLine, Study
from studies.outcomes import apart, counted_in, together

#: Audit lines by which outcomes were seen.
LOOKS = ("study.looked_early", "group.watched", "report.read", "study.exported", "export.fetched")
MOST_LOOKS = 500
CLOSED = Study.Status.CLOSED
NO_OTHERS: Mapping[str, int] = MappingProxyType({})


class Reopening(NamedTuple):
    """A study taken up again after its outcomes were read while it was closed. ``at``: UTC, to the second.

    ``verdicts`` at which they had been read, and ``others``: outcomes of other sorts, by sort.
    """

    at: str
    verdicts: int
    others: Mapping[str, int] = NO_OTHERS

    @property
    def counts(self) -> dict[str, int]:
        return together(self.verdicts, self.others)

    def as_data(self) -> dict[str, Any]:
        return {**self._asdict(), "others": dict(self.others)}


def state_of(study: Study) -> dict[str, Any]:
    """What a line on a look notes of the study: its status, and whether the plan's target was reached."""
    reached = study.status != CLOSED and any(target.reached(study) for target in registry.targets)
    return {"status": study.status, **({"reached": True} if reached else {})}


def warning(study: Study) -> str:
    """What a command says before it shows outcomes that the desk hides; empty where it hides none."""
    state = state_of(study)
    if state["status"] == CLOSED or state.get("reached"):
        return ""
    return (
        "The desk hides outcomes while the study runs. This counts as an early look; it is noted in the "
        "audit trail, with how many outcomes there were."
    )


def looks_of(study: Study) -> list[AuditLine]:
    """Every time outcomes were seen before the study was closed for good, the newest first.

    What was read while it was closed is no look, until the study is opened again.
    """
    seen = _seen(study)
    if study.status == CLOSED:
        seen = seen.filter(~Q(detail__status=CLOSED) | Q(pk__lt=_closing(study)))
    return list(seen.select_related("actor")[:MOST_LOOKS])


def is_early(line: AuditLine) -> bool:
    """Whether outcomes were still hidden: after the plan's target a reading decides nothing any more."""
    return not line.detail.get("reached")


def seen_closed(study: Study) -> list[AuditLine]:
    """Readings since ``study`` was closed, the newest first; none while it is not."""
    if study.status != CLOSED:
        return []
    return list(_seen(study).filter(detail__status=CLOSED, pk__gt=_closing(study))[:MOST_LOOKS])


def read_closed(study: Study) -> dict[str, int] | None:
    """The most outcomes of each sort that were read since ``study`` was closed; ``None`` where none were."""
    lines = seen_closed(study)
    most: dict[str, int] = {}
    for line in lines:
        for key, n in counted_in(line).items():
            most[key] = max(n, most.get(key, 0))
    return most if lines else None


def noted_reopening(counts: Mapping[str, int]) -> dict[str, Any]:
    """What the line on a reopening says of ``counts``, read back by ``reopenings_of``."""
    verdicts, others = apart(counts)
    return {"seen": verdicts, **({"seen_others": others} if others else {})}


def reopenings_of(study: Study) -> tuple[Reopening, ...]:
    """Each time ``study`` was opened again after outcomes had been read, the first one first."""
    lines = AuditLine.objects.filter(
        study=study, action="study.status", detail__was=CLOSED, detail__has_key="seen"
    )
    return tuple(
        Reopening(
            line.at.astimezone(UTC).isoformat(timespec="seconds"),
            int(line.detail["seen"]),
            line.detail.get("seen_others", {}),
        )
        for line in lines.order_by("pk")
    )


def _seen(study: Study) -> QuerySet[AuditLine]:
    blind = [report.key for report in registry.reports if not report.shows_outcomes]
    return AuditLine.objects.filter(study=study, action__in=LOOKS, detail__has_key="n").exclude(
        Q(action="report.read") & Q(target__in=blind)
    )


def _closing(study: Study) -> int:
    """The line with which ``study`` was closed last; 0 where there is none."""
    lines = AuditLine.objects.filter(study=study, action="study.status", detail__now_is=CLOSED)
    return lines.order_by("-pk").values_list("pk", flat=True).first() or 0
