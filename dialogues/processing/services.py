"""Processing jobs: claim one, run it, take back what a dead worker held, queue one again.

A job is claimed by compare-and-set with a lease. Sound is decoded and encoded outside every transaction; the
result is written in one, and only by whoever still holds the claim.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from zlib import crc32

from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from dialogues import time_line
from dialogues.models import Dialogue, Exposure, Kind, ProcessingJob, Turn
from dialogues.processing import files, results
from dialogues.processing.gaps import human_gaps
from studies import audit, codes
from turingsite.audio import turns as talk
from turingsite.audio.decode import decode
from turingsite.audio.encode import BITRATE, Playable, make_playable
from turingsite.audio.gaps import gap_profile
from turingsite.audio.process import Processed, process
from turingsite.errors import Conflict, DomainError, Invalid, TryLater

logger = logging.getLogger("turingsite.processing")

LEASE = timedelta(minutes=5)  # the longest recording takes well under a minute
KEEP_UNNAMED = timedelta(hours=6)  # nobody plays one dialogue for longer
TRIES = 3
FIRST_WAIT = timedelta(seconds=30)  # before a second try; then four times as long each time
State = ProcessingJob.State
Source = Turn.Source
# Sound nobody foresaw must end one job with a reason, not the worker with all the others. Errors of the
# database are not among these: they end the try, and the lease brings the job back.
UNFORESEEN = (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


@dataclass(frozen=True)
class Claim:
    """The right to work at a job until the lease runs out."""

    job_id: int
    token: str


def waiting(*, limit: int = 40) -> list[int]:
    """Jobs that could be claimed now, human–human first: the others may draw from their gaps.

    While a human–human dialogue still waits for its turns to be found, only such dialogues are offered.
    """
    found = ProcessingJob.objects.filter(_free(), attempts__lt=TRIES)
    unheard = ProcessingJob.objects.filter(
        state__in=(State.QUEUED, State.RUNNING), dialogue__kind=Kind.HUMAN_HUMAN, dialogue__turns__isnull=True
    )
    if unheard.exists():
        found = found.filter(dialogue__kind=Kind.HUMAN_HUMAN)
    human_first = Case(When(dialogue__kind=Kind.HUMAN_HUMAN, then=Value(0)), default=Value(1))
    return list(found.order_by(human_first, "pk").values_list("pk", flat=True)[:limit])


def claim(*, job_id: int) -> Claim | None:
    """Take the job if nobody has it. None where somebody has, or it is done."""
    token = codes.media_token()
    taken = ProcessingJob.objects.filter(_free(), pk=job_id, attempts__lt=TRIES).update(
        state=State.RUNNING, claim=token, lease_until=timezone.now() + LEASE, attempts=F("attempts") + 1
    )
    return Claim(job_id, token) if taken else None


def run(*, job_id: int) -> ProcessingJob | None:
    """Claim the job and do it: the dialogue becomes ready, or failed with the reason. None if it was taken.

    A passing fault (a full disk, say) puts the job back for a later try, three in all.
    """
    claimed = claim(job_id=job_id)
    if claimed is None:
        return None
    job = ProcessingJob.objects.select_related("dialogue__recording").get(pk=job_id)
    path = ""
    try:
        processed, playable = _make(job)
        path = files.write_play_file(playable.data)
        if not _finish(job, claimed, processed, playable, path):
            files.remove_play_file(path)
            return None
    except DomainError as error:
        _drop(path)
        _give_up(job, claimed, str(error), again=error.retryable)
    except OSError as error:
        _drop(path)
        _give_up(job, claimed, error.strerror or str(error), again=True)
    except UNFORESEEN as error:
        _drop(path)
        logger.exception("event=processing_failed job=%s", job_id)
        _give_up(job, claimed, f"{type(error).__name__}: {error}", again=isinstance(error, MemoryError))
    except BaseException:
        _drop(path)
        raise
    job.refresh_from_db()
    return job


def run_waiting(*, on_job: Callable[[ProcessingJob], None] | None = None) -> int:
    """Do every job that waits, one after the other, for commands; how many were worked at."""
    count = 0
    sweep()
    while ids := waiting():
        before = count
        for job_id in ids:
            job = run(job_id=job_id)
            if job is not None:
                count += 1
                if on_job:
                    on_job(job)
        if count == before:  # other workers have them all
            break
    return count


def sweep() -> list[int]:
    """Take back jobs whose worker went away; returns the jobs that wait, for the edge to send.

    A job that outlived its lease as often as it may be tried has ended its worker each time: it fails.
    """
    lost = ProcessingJob.objects.filter(state=State.RUNNING, lease_until__lt=timezone.now())
    message = gettext_noop("Processing this recording ended the worker %(tries)s times; it is left out.")
    for job in lost.filter(attempts__gte=TRIES).select_related("dialogue"):
        _give_up(job, Claim(job.pk, job.claim), message % {"tries": TRIES}, again=False)
    lost.filter(attempts__lt=TRIES).update(state=State.QUEUED, claim="", lease_until=None)
    return waiting()


def tidy_files() -> int:
    """Remove playing files that no dialogue names, replaced or left behind by killed workers; how many."""
    # what is younger may be named in a moment, or still be played; taken before the names are read
    before = timezone.now() - KEEP_UNNAMED
    named = set(Dialogue.objects.exclude(play_path="").values_list("play_path", flat=True))
    found = files.left_behind(named, before=before.timestamp())
    for start in range(0, len(found), 500):
        paths = found[start : start + 500]
        # Whoever was given an old file gets the dialogue's from now on: said before it is gone.
        Exposure.objects.filter(play_path__in=paths).update(play_path="", time_line=None)
        for path in paths:
            files.remove_play_file(path)
    return len(found)


@transaction.atomic
def queue(*, dialogue: Dialogue, profile: str | None = None, user: Any = None) -> ProcessingJob:
    """Process the dialogue (again), under another gap profile where one is given.

    Until that is done it plays as before. Refused while it is being processed.
    """
    if dialogue.recording_id is None:
        raise Conflict("no_recording", _("This dialogue has no recording."))
    if profile is not None:
        gap_profile(profile)
    job, created = ProcessingJob.objects.get_or_create(
        dialogue=dialogue,
        defaults={"seed": crc32(dialogue.external_id.encode()), "gap_profile": profile or "own-1"},
    )
    if not created:
        changes = {"gap_profile": profile} if profile else {}
        live = Q(state=State.RUNNING, lease_until__gte=timezone.now())
        if not ProcessingJob.objects.filter(~live, pk=job.pk).update(
            state=State.QUEUED, attempts=0, claim="", lease_until=None, reason="", finished_at=None, **changes
        ):
            raise Conflict("being_processed", _("This dialogue is being processed. Try again in a minute."))
        job.refresh_from_db()
    audit.record("dialogue.queued", user=user, target=dialogue.pk, profile=job.gap_profile)
    return job


def _free() -> Q:
    """Waiting (and not told to wait longer), or held by a worker whose lease ran out."""
    over = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    return Q(state__in=(State.QUEUED, State.RUNNING)) & over


def _make(job: ProcessingJob) -> tuple[Processed, Playable]:
    dialogue = job.dialogue
    if dialogue.recording is None:
        raise Invalid("no_recording", gettext_noop("This dialogue has no recording."))
    profile = gap_profile(job.gap_profile)
    pool = human_gaps(dialogue, profile.name)
    given = [
        talk.Turn(label, start, end, index)
        for index, label, start, end in dialogue.turns.exclude(source=Source.DETECTED)
        .exclude(Q(start=None) | Q(end=None))
        .values_list("index", "party__label", "start", "end")
        if start is not None and end is not None
    ]
    decoded = decode(files.original(dialogue.recording.path))
    processed = process(
        decoded,
        given,
        profile=profile,
        seed=[abs(job.seed)],
        pool=pool.gaps,
        layout=dialogue.channels,
    )
    playable = make_playable(processed.samples, known_peak=processed.numbers["loudness"]["true_peak"])
    if not playable.info.is_constant or playable.info.bitrates != (BITRATE,) or playable.info.extra:
        raise TryLater("bad_encoding", gettext_noop("The encoder did not keep to its settings."))
    processed.numbers["gaps"]["pool_from"] = pool.source
    return processed, playable


@transaction.atomic
def _finish(job: ProcessingJob, claimed: Claim, processed: Processed, playable: Playable, path: str) -> bool:
    """Write the result; False where the claim was lost, or the dialogue withdrawn, in the meantime."""
    done = ProcessingJob.objects.filter(pk=job.pk, claim=claimed.token, state=State.RUNNING).update(
        state=State.DONE, claim="", lease_until=None, reason="", finished_at=timezone.now()
    )
    if not done:
        return False
    dialogue = Dialogue.objects.select_for_update().get(pk=job.dialogue_id)  # read, then several writes
    time_line.keep(dialogue)
    old = dialogue.play_path
    results.write(dialogue, processed, playable, path=path)
    audit.record("dialogue.processed", target=dialogue.pk, seconds=round(playable.info.duration, 2))
    if old:
        transaction.on_commit(lambda: files.let_go(old))
    return True


@transaction.atomic
def _give_up(job: ProcessingJob, claimed: Claim, reason: str, *, again: bool) -> None:
    """Put the job back for later, or fail it and its dialogue with the reason."""
    own = ProcessingJob.objects.filter(pk=job.pk, claim=claimed.token, state=State.RUNNING)
    reason = reason[:500]
    if again and job.attempts < TRIES:
        wait = FIRST_WAIT * 4 ** (job.attempts - 1)
        own.update(state=State.QUEUED, claim="", lease_until=timezone.now() + wait, reason=reason)
        return
    failed = own.update(
        state=State.FAILED, claim="", lease_until=None, reason=reason, finished_at=timezone.now()
    )
    if failed:
        # what plays already goes on playing: the reason alone is kept
        Dialogue.objects.filter(pk=job.dialogue_id).update(trouble=reason)
        Dialogue.objects.filter(pk=job.dialogue_id, state=Dialogue.State.WAITING).update(
            state=Dialogue.State.FAILED
        )
        audit.record("dialogue.processing_failed", target=job.dialogue_id, tries=job.attempts)


def _drop(path: str) -> None:
    if path:
        files.remove_play_file(path)
