"""A study's figures of this moment, for its page: asked for again every few seconds while somebody looks."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation import live as annotation
from annotation.models import AnnotationSettings
from dialogues.targets import analysed
from games.group import live as group
from games.group.models import GroupSettings
from games.group.services.starting import KEY as GROUP
from games.speech import live as speech
from games.speech.assignment import ACTIVITY
from studies.models import Study
from studies.selectors import access_desk_study
from turingsite import heartbeat, jobs

SHARED = 10  # seconds that all who look at a study get the same figures


@never_cache
@require_safe
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page alone. Counts, never outcomes."""
    study = access_desk_study(slug, request.user)
    return render(request, "desk/_live_figures.html", {"study": study, "live": figures(study)})


def figures(study: Study) -> dict[str, Any] | None:
    """What the part shows; ``None`` where nobody can be in the study."""
    if study.status not in (*Study.JOINABLE, Study.Status.PAUSED):
        return None
    found: dict[str, Any] = cache.get_or_set(f"desk.live.{study.pk}", lambda: _count(study), SHARED)  # type: ignore[assignment]
    return found


def _count(study: Study) -> dict[str, Any]:
    now = timezone.now()
    game, work = speech.live_of(study, now=now), annotation.live_of(study, now=now)
    meeting = group.live_of(study, now=now)
    served, failed = game.served + work.served, game.failed + work.failed
    waiting = [job for job in jobs.unfinished(now) if job.number]
    return {
        **game._asdict(),
        "plays": ACTIVITY in study.activities,
        "annotates": AnnotationSettings.objects.filter(study=study).exists(),
        "work": work,
        "meets": GROUP in study.activities or GroupSettings.objects.filter(study=study).exists(),
        "group": meeting,
        "served": served,
        "failed": failed,
        "at": now.astimezone(ZoneInfo(study.time_zone)),
        "verdicts": analysed(study),
        "left_share": _per_cent(game.left, game.consented),
        "failed_share": _per_cent(failed, served),
        "silent": _silent(now),
        "waiting": sum(job.number for job in waiting),
        "oldest": round(max((job.oldest for job in waiting), default=0) / 60),
    }


def _silent(now: datetime) -> int | None:
    """Minutes since the background work last gave a sign, where that is too long; 0 where it never did."""
    age = heartbeat.age(now)
    if age is None:
        return 0
    return round(age / 60) if age > heartbeat.LATE else None


def _per_cent(part: int, whole: int) -> int | None:
    return round(100 * part / whole) if whole else None
