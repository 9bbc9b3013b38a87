"""Exports as jobs: asked for, claimed, made with a sign of life, stopped, handed out, removed after a while.

A job is claimed by compare-and-set with a lease that a thread of its own renews; whoever claims it after a
worker died starts over, for an export is a snapshot. The thread has its own connection: the tables are read
inside one long transaction, from which nobody would see how far it is.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from studies import audit, codes, sheets
from studies.exports import EXPORT_TIERS, export_study, rows_to_read
from studies.looks import state_of
from studies.models import AuditLine, ExportFile, ExportJob, Language, Study
from studies.outcomes import counted_in, noted
from turingsite.errors import Conflict, Invalid, NotFound

LEASE = timedelta(minutes=2)
#: Seconds between two signs of life.
EVERY = 2.0
TRIES = 3  # a job that ended its worker so often is given up
FORGOTTEN = timedelta(days=1)  # what a killed process left half written
State = ExportJob.State


def request_export(
    *,
    study: Study,
    tier: str,
    formats: Sequence[str] = ("csv",),
    bom: bool = False,
    language: str = "",
    user: Any = None,
    now: datetime | None = None,
) -> ExportJob:
    """A job that waits. Invalid for an unknown tier, format, language; Conflict where it is under way."""
    if tier not in EXPORT_TIERS:
        raise Invalid("no_such_tier", _("There is no such tier."))
    wanted = [one for one in sheets.FORMATS if one in formats]
    if not wanted or not set(formats) <= set(sheets.FORMATS):
        raise Invalid("no_such_format", _("Choose at least one of the formats."))
    if language and language not in Language.values:
        raise Invalid("no_such_language", _("There is no such language."))
    now = now or timezone.now()
    try:
        with transaction.atomic():
            job = ExportJob.objects.create(
                study=study,
                tier=tier,
                formats=",".join(wanted),
                bom=bom,
                language=language,
                requested_by=user,
                rows_total=rows_to_read(study, tier, wanted, language),
                created_at=now,
            )
            audit.record("export.requested", study=study, user=user, target=job.code, now=now, tier=tier)
    except IntegrityError as problem:
        raise Conflict(
            "export_under_way", _("The same export is being made already. It is in the list below.")
        ) from problem
    return job


def is_small(job: ExportJob) -> bool:
    """Whether it is made at once, while the person waits."""
    return job.rows_total <= settings.EXPORT_AT_ONCE


def run(*, job_id: int) -> ExportJob | None:
    """Make the export; the job as it ended. None where another worker has it, or somebody stopped it."""
    claim = _claim(job_id)
    if claim is None:
        return None
    job = ExportJob.objects.select_related("study", "requested_by").get(pk=job_id)
    if job.attempts > TRIES:
        said = gettext_noop("Making this export ended the worker several times; it was given up.")
        return _end(job, claim, State.FAILED, error=said)
    path = path_of(job)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _SignsOfLife(job.pk, claim) as life:
            export_study(
                study=job.study,
                path=path,
                tier=job.tier,
                formats=job.formats.split(","),
                bom=job.bom,
                language=job.language,
                user=job.requested_by,
                progress=life.more,
            )
            life.check()
        return _end(job, claim, State.DONE, path=path)
    except _Lost:
        path.unlink(missing_ok=True)
        ExportFile.objects.filter(path=str(path.resolve())).delete()
        return None
    except OSError as problem:
        return _end(job, claim, State.FAILED, error=_what_the_disk_says(problem))
    except BaseException:
        # Whatever else ends it, a stopping worker among it: the next one may try again at once.
        ExportJob.objects.filter(pk=job.pk, claim=claim, state=State.RUNNING).update(
            state=State.QUEUED, claim="", lease_until=None
        )
        raise


@transaction.atomic
def stop(*, job: ExportJob, user: Any = None, now: datetime | None = None) -> None:
    """Make it no further. Conflict where it has ended already."""
    now = now or timezone.now()
    if not ExportJob.objects.filter(pk=job.pk, state__in=ExportJob.LIVE).update(
        state=State.STOPPED, claim="", lease_until=None, finished_at=now
    ):
        raise Conflict("export_ended", _("This export has ended already."))
    audit.record("export.stopped", study=job.study, user=user, target=job.code, now=now)


def access_export(study: Study, code: str) -> ExportJob:
    """A job of the study. NotFound for an unknown code. Who may see it is for the caller to say."""
    job = ExportJob.objects.select_related("study", "file").filter(study=study, code=code).first()
    if job is None:
        raise NotFound("no_export", _("There is no such export."))
    return job


def fetch(*, job: ExportJob, user: Any = None, now: datetime | None = None) -> Path:
    """The file to hand out, noted. Conflict where it is not, or no longer, to be had."""
    if job.state != State.DONE:
        raise Conflict("export_not_done", _("This export is not done."))
    if job.file is not None and job.file.stale_since is not None:
        raise Conflict(
            "export_stale",
            _(
                "Somebody in this export had their answers erased since. Make it anew, and delete "
                "earlier copies."
            ),
        )
    path = path_of(job)
    if not job.can_be_fetched or not path.is_file():
        raise Conflict("export_removed", _("This file is no longer here. Make the export anew."))
    seen = {} if user == job.requested_by else _seen_in(job)  # making it was noted as a look already
    audit.record(
        "export.fetched", study=job.study, user=user, target=job.code, now=now, tier=job.tier, **seen
    )
    return path


def _seen_in(job: ExportJob) -> dict[str, Any]:
    """What somebody else than its maker sees in the file, noted as looks are: how much, the study's state."""
    made = AuditLine.objects.filter(
        study=job.study, action="study.exported", target=job.file.sha256[:16] if job.file else ""
    )
    line = made.order_by("-pk").first()
    return {} if line is None else {**noted(counted_in(line)), **state_of(job.study)}


def waiting() -> list[int]:
    """Jobs that nobody works at: new ones and those whose worker went away."""
    free = Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=timezone.now())
    return list(ExportJob.objects.filter(free).order_by("pk").values_list("pk", flat=True))


def remove_old(now: datetime | None = None) -> int:
    """Remove files after their days, stale ones at once, and what killed processes left; how many went."""
    now = now or timezone.now()
    old = Q(finished_at__lt=now - timedelta(days=settings.EXPORT_KEEP_DAYS))
    gone = 0
    for job in ExportJob.objects.filter(
        old | Q(file__stale_since__isnull=False), state=State.DONE, removed_at=None
    ):
        path_of(job).unlink(missing_ok=True)
        gone += ExportJob.objects.filter(pk=job.pk, removed_at=None).update(removed_at=now)
    for half in Path(settings.EXPORT_ROOT).glob(".*.part"):
        if half.stat().st_mtime < (now - FORGOTTEN).timestamp():
            half.unlink(missing_ok=True)
    return gone


def path_of(job: ExportJob) -> Path:
    """Where its file lies. Each attempt has its own: a late worker takes none away from the next."""
    return Path(settings.EXPORT_ROOT) / f"{job.study.slug}-{job.code}-{job.attempts}.zip"


def file_name(job: ExportJob) -> str:
    """What it is called where it is saved."""
    return f"{job.study.slug}-{job.created_at:%Y%m%d-%H%M%S}-{job.tier}.zip"


def _claim(job_id: int) -> str | None:
    now, token = timezone.now(), codes.media_token()
    free = Q(state=State.QUEUED) | Q(state=State.RUNNING, lease_until__lt=now)
    taken = ExportJob.objects.filter(free, pk=job_id).update(
        state=State.RUNNING,
        claim=token,
        lease_until=now + LEASE,
        started_at=now,
        rows_done=0,
        attempts=F("attempts") + 1,
    )
    return token if taken else None


def _end(
    job: ExportJob, claim: str, state: str, *, path: Path | None = None, error: str = ""
) -> ExportJob | None:
    """Set how it ended; None, and no file, where the job was somebody else's by then."""
    values: dict[str, Any] = {"error": error}
    if path is not None:
        file = ExportFile.objects.get(path=str(path.resolve()))
        values = {"file": file, "size": path.stat().st_size, "rows_done": F("rows_total")}
    if not ExportJob.objects.filter(pk=job.pk, claim=claim, state=State.RUNNING).update(
        state=state, claim="", lease_until=None, finished_at=timezone.now(), **values
    ):
        if path is not None:
            path.unlink(missing_ok=True)
            values["file"].delete()
        return None
    job.refresh_from_db()
    return job


def _what_the_disk_says(problem: OSError) -> str:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return gettext_noop("The disk is full: the export did not fit. Make room, then make it anew.")
    return gettext_noop("The place for exports cannot be written. The operator can see why with “doctor”.")


class _Lost(Exception):
    """Somebody stopped the job, or its lease ran out and another worker has it."""


class _SignsOfLife:
    """Renews the lease and says how far the export is, every so often, until it is left."""

    def __init__(self, job_id: int, claim: str) -> None:
        self._held = ExportJob.objects.filter(pk=job_id, claim=claim, state=State.RUNNING)
        self._rows = 0
        self._over, self._lost = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._beat, name="export-life", daemon=True)

    def __enter__(self) -> _SignsOfLife:
        # Inside a transaction nobody else sees the job, not even this thread.
        if not connection.in_atomic_block:
            self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def more(self, rows: int) -> None:
        """So many rows more. Raises where the job is no longer ours."""
        self._rows += rows
        self.check()

    def check(self) -> None:
        if self._lost.is_set():
            raise _Lost

    def _beat(self) -> None:
        try:
            while not self._over.wait(EVERY):
                self._say()
        finally:
            connection.close()  # this thread's own

    def _say(self) -> None:
        try:
            if not self._held.all().update(lease_until=timezone.now() + LEASE, rows_done=self._rows):
                self._lost.set()
        except OperationalError:
            return  # a busy or absent database: the next beat may get through, and the lease is longer
