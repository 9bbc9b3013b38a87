"""Figures for Prometheus: requests by view as they are answered, the state of the site at scrape.

No study, no person and no address is in them. Several gunicorn processes share one directory
(PROMETHEUS_MULTIPROC_DIR, deploy/gunicorn.conf.py), so whichever answers a scrape tells of all.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotation.live import at_work
from dialogues.models import Verdict
from games.speech.models import Trial
from studies.models import Study
from turingsite import heartbeat, jobs
from turingsite.errors import NotFound, gettext_noop

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
ACTIVE = timedelta(minutes=10)
KEPT = 60  # seconds a count over a large table is taken for true

REQUESTS = Histogram(
    "turingsite_request_seconds",
    "Time to answer a request, by view, method and status",
    ["view", "method", "status"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def observe(*, view: str, method: str, status: int, seconds: float) -> None:
    """Count one answered request, where /metrics may be read. ``view`` is a route's name: there are few."""
    if not settings.METRICS_TOKEN:
        return
    REQUESTS.labels(view, method if method in METHODS else "other", str(status)).observe(seconds)


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """The page Prometheus reads. Not there without METRICS_TOKEN; 401 without the token itself."""
    if not settings.METRICS_TOKEN:
        raise NotFound("no_page", gettext_noop("There is nothing at this address."))
    given = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if not hmac.compare_digest(given.encode(), settings.METRICS_TOKEN.encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(_requests() + _state(), content_type=CONTENT_TYPE_LATEST)


def _requests() -> bytes:
    if not os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
        return generate_latest(REGISTRY)
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return generate_latest(shared)


def _state() -> bytes:
    registry = CollectorRegistry()
    registry.register(SiteState())
    return generate_latest(registry)


class SiteState(Collector):
    """What the database says now; only ``turingsite_database_up 0`` where it doesn't answer."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        up = GaugeMetricFamily("turingsite_database_up", "Whether the database answers")
        try:
            found = list(self._from_rows(timezone.now()))
        except DatabaseError:
            up.add_metric([], 0)
            return [up]
        up.add_metric([], 1)
        return [up, *found]

    def _from_rows(self, now: datetime) -> Iterable[GaugeMetricFamily]:
        studies = GaugeMetricFamily("turingsite_studies", "Studies by status", labels=["status"])
        counts = dict(Study.objects.order_by().values_list("status").annotate(n=Count("pk")))
        for status in Study.Status.values:
            studies.add_metric([status], counts.get(status, 0))
        yield studies
        yield GaugeMetricFamily(
            "turingsite_people_active",
            "People who played or annotated in the last 10 minutes",
            value=people_active(now),
        )
        yield GaugeMetricFamily("turingsite_verdicts", "Verdicts stored", value=_verdicts())
        waiting = GaugeMetricFamily(
            "turingsite_jobs_waiting", "Jobs that wait or run, by kind", labels=["kind"]
        )
        oldest = GaugeMetricFamily(
            "turingsite_jobs_oldest_seconds", "Age of the oldest of them", labels=["kind"]
        )
        for job in jobs.unfinished(now):
            waiting.add_metric([job.kind], job.number)
            oldest.add_metric([job.kind], job.oldest)
        yield from (waiting, oldest)
        age = heartbeat.age(now)
        if age is not None:
            yield GaugeMetricFamily(
                "turingsite_heartbeat_age_seconds", "Since a worker last did a scheduled task", value=age
            )


def people_active(now: datetime) -> int:
    """People who were given, played or unlocked a trial, or gave a sign of annotating, in the last ten
    minutes.
    """
    since = now - ACTIVE
    moved = Q(served_at__gte=since) | Q(first_play_at__gte=since) | Q(unlocked_at__gte=since)
    # By the lease: that is in the index, and nobody active has one that ran out before.
    current = Trial.objects.filter(moved, state=Trial.State.CURRENT, lease_until__gte=since)
    playing = current.order_by().values_list("round__player__participant")
    return playing.union(at_work(now).order_by().values_list("annotator__participant")).count()


def _verdicts() -> int:
    return int(cache.get_or_set("metrics.verdicts", Verdict.objects.count, KEPT) or 0)
