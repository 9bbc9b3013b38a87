"""Imports as rows: take a manifest in, check it, run it row by row, stop it, go on after a worker died.

A batch is claimed by compare-and-set with a lease. Every row is one transaction: a killed worker loses
at most the row it was at, and whoever claims the batch next goes on there.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.files import Kept, keep
from dialogues.importing.joining import join
from dialogues.importing.known import Known
from dialogues.importing.manifest import Manifest
from dialogues.importing.notes import any_stops
from dialogues.importing.plan import Checked
from dialogues.importing.rows import Context, check_row, first_lines
from dialogues.importing.store import Sound, declare, put_into_study, store
from dialogues.models import Dialogue, ImportBatch, ImportRow
from studies import audit, codes
from studies.models import AuditLine, Study
from turingsite.audio.decode import Probe, probe
from turingsite.errors import Conflict, Invalid

LEASE = timedelta(minutes=3)  # longer than reading the longest file takes
FORGOTTEN = timedelta(days=7)
TRIES = 3  # rows that ended a worker so often are left out
READER_CODES = {"broken_row", "broken_line", "too_many_cells", "key_twice", "not_an_object", "missing_keys",
                "control_characters"}  # fmt: skip
State = ImportBatch.State
RowState = ImportRow.State
OnRow = Callable[[ImportRow], None]


@transaction.atomic
def create_batch(
    *,
    name: str,
    manifest: Manifest,
    study: Study | None = None,
    user: Any = None,
    folder: str = "",
    create_systems: bool = False,
    preview: bool = False,
) -> ImportBatch:
    """Store a manifest's rows as a batch that waits: for the check where ``preview``, else for being run."""
    batch = ImportBatch.objects.create(
        study=study,
        user=user,
        name=name[:200],
        folder=folder,
        create_systems=create_systems,
        notes=[note.stored() for note in manifest.notes],
        state=State.PREVIEW if preview else State.QUEUED,
    )
    ImportRow.objects.bulk_create(
        (
            ImportRow(
                batch=batch,
                line=raw.line,
                external_id=str(raw.data.get("id", ""))[:200],
                data=raw.data,
                messages=[note.stored() for note in raw.notes],
                state=RowState.REFUSED if any_stops(raw.notes) else RowState.PENDING,
            )
            for raw in manifest.rows
        ),
        batch_size=500,
    )
    audit.record("import.created", study=study, user=user, target=batch.pk, rows=len(manifest.rows))
    return batch


def check_batch(*, batch_id: int, folders: list[Path], on_row: OnRow | None = None) -> Counter[str] | None:
    """Fill the preview: what running each row would do. None where another worker has the batch."""
    claim = _claim(batch_id, Q(state=State.PREVIEW))
    return None if claim is None else _go_through(batch_id, claim, folders, State.PREVIEW, on_row)


def run_batch(*, batch_id: int, folders: list[Path], on_row: OnRow | None = None) -> Counter[str] | None:
    """Import the rows that wait; counts of all rows by result. None where another worker has the batch."""
    claim = _claim(batch_id, Q(state=State.QUEUED) | Q(state=State.RUNNING))
    if claim is None:
        return None
    ImportBatch.objects.filter(pk=batch_id, claim=claim, state=State.QUEUED).update(state=State.RUNNING)
    return _go_through(batch_id, claim, folders, State.RUNNING, on_row)


@transaction.atomic
def confirm_batch(*, batch: ImportBatch, user: Any = None, create_systems: bool = False) -> None:
    """After the preview: let it run. Rows are checked anew, for the corpus may have changed meanwhile."""
    if batch.rows.filter(state=RowState.PENDING).exists():
        raise Conflict("still_checking", _("The rows are still being checked. Wait for the report."))
    changed = ImportBatch.objects.filter(pk=batch.pk, state=State.PREVIEW).update(
        state=State.QUEUED, create_systems=create_systems, lease_until=None, claim=""
    )
    if not changed:
        raise Conflict("not_a_preview", _("This import was confirmed or stopped already."))
    broken = [row.pk for row in batch.rows.all() if READER_CODES & {m["code"] for m in row.messages}]
    batch.rows.exclude(pk__in=broken).update(state=RowState.PENDING, messages=[])
    audit.record("import.confirmed", study=batch.study, user=user, target=batch.pk)


@transaction.atomic
def stop_batch(*, batch: ImportBatch, user: Any = None) -> None:
    """Stop after the row at work. What was taken in stays; a preview is stopped as one."""
    own = ImportBatch.objects.filter(pk=batch.pk)
    stopped: dict[str, Any] = {"state": State.STOPPED, "lease_until": None, "claim": ""}
    if not (
        own.filter(state=State.PREVIEW).update(**stopped, finished_at=None)
        or own.filter(state__in=(State.QUEUED, State.RUNNING)).update(**stopped, finished_at=timezone.now())
    ):
        raise Conflict("import_ended", _("This import has ended already."))
    audit.record("import.stopped", study=batch.study, user=user, target=batch.pk)


@transaction.atomic
def resume_batch(*, batch: ImportBatch, user: Any = None) -> None:
    """Let a stopped import go on with the rows that wait; an unconfirmed preview goes on as one."""
    batch.rows.filter(state=RowState.PENDING).update(messages=[])
    own = ImportBatch.objects.filter(pk=batch.pk, state=State.STOPPED)
    if not (
        own.filter(finished_at=None).update(state=State.PREVIEW, trouble="")
        or own.exclude(finished_at=None).update(state=State.QUEUED, trouble="", finished_at=None)
    ):
        raise Conflict("not_stopped", _("Only a stopped import can go on."))
    audit.record("import.resumed", study=batch.study, user=user, target=batch.pk)


def waiting_batches() -> list[int]:
    """Uploaded imports that nobody works at: new ones and those whose worker went away."""
    free = Q(lease_until=None) | Q(lease_until__lt=timezone.now())
    live = Q(state__in=(State.QUEUED, State.RUNNING)) | Q(state=State.PREVIEW, rows__state=RowState.PENDING)
    found = ImportBatch.objects.filter(free, live).exclude(folder="").distinct().order_by("pk")
    return list(found.values_list("pk", flat=True))


def close_left_behind() -> int:
    """Batches of a command that ended before its time: the command goes on when it is run again."""
    return ImportBatch.objects.filter(
        folder="", state__in=(State.RUNNING, State.QUEUED), lease_until__lt=timezone.now()
    ).update(
        state=State.STOPPED,
        finished_at=timezone.now(),
        trouble=gettext_noop(
            "The command ended before it was through. Run it again: what was taken in stays."
        ),
    )


def drop_old_previews() -> list[ImportBatch]:
    """Previews that nobody confirmed within a week are given up, so that their files can go.

    One that was stopped and goes on has another week.
    """
    old = timezone.now() - FORGOTTEN
    resumed = AuditLine.objects.filter(action="import.resumed", at__gte=old).values_list("target", flat=True)
    again = {int(pk) for pk in resumed}
    dropped = []
    for batch in ImportBatch.objects.filter(state=State.PREVIEW, created_at__lt=old).exclude(pk__in=again):
        if ImportBatch.objects.filter(pk=batch.pk, state=State.PREVIEW).update(
            state=State.REFUSED,
            finished_at=timezone.now(),
            trouble=gettext_noop("Nobody confirmed this import within a week; its files were removed."),
        ):
            dropped.append(batch)
    return dropped


def upload_folders(batch: ImportBatch) -> list[Path]:
    """Where the files of an uploaded batch lie: beside the manifest, or in the one folder that is there.

    A zip of a working folder has the recordings in a folder of their own. Of several, none is guessed at.
    """
    beside = Path(settings.MEDIA_ROOT) / batch.folder
    below = [path for path in beside.iterdir() if path.is_dir()] if beside.is_dir() else []
    return [beside, *below] if len(below) == 1 else [beside]


def tally(batch_id: int) -> Counter[str]:
    """Rows of a batch by state."""
    return Counter(ImportRow.objects.filter(batch=batch_id).values_list("state", flat=True))


class _Lost(Exception):
    """Somebody stopped the batch, or its lease ran out and another worker has it."""


def _claim(batch_id: int, states: Q) -> str | None:
    now, token = timezone.now(), codes.media_token()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    taken = ImportBatch.objects.filter(free, states, pk=batch_id).update(claim=token, lease_until=now + LEASE)
    return token if taken else None


def _hold(batch_id: int, claim: str, state: str) -> None:
    held = ImportBatch.objects.filter(pk=batch_id, claim=claim, state=state)
    if not held.update(lease_until=timezone.now() + LEASE):
        raise _Lost


def _go_through(
    batch_id: int, claim: str, folders: list[Path], state: str, on_row: OnRow | None
) -> Counter[str] | None:
    batch = ImportBatch.objects.select_related("study").get(pk=batch_id)
    repeated = first_lines(list(batch.rows.order_by("line").values_list("line", "external_id")))
    context = Context(folders=folders, known=Known(), create_systems=batch.create_systems)
    pending = list(batch.rows.filter(state=RowState.PENDING).order_by("line").values_list("pk", flat=True))
    try:
        for pk in pending:
            row = ImportRow.objects.get(pk=pk)
            if row.state != RowState.PENDING:
                continue
            if _begin(row, batch_id, claim, state) >= TRIES:
                _refuse_poison(row)
            elif state == State.PREVIEW:
                _check(row, batch_id, claim, context, repeated)
            else:
                _import(row, batch, claim, context, repeated)
            if on_row:
                on_row(row)
        _finish(batch, claim, state)
    except _Lost:
        return None
    except OSError as error:
        # A full or unreachable disk: nothing is wrong with the row, the same may go through later.
        batch.rows.filter(state=RowState.PENDING).update(messages=[])
        _halt(batch, claim, state, error)
    return tally(batch_id)


def _begin(row: ImportRow, batch_id: int, claim: str, state: str) -> int:
    """Hold the lease and mark the row as begun; how often it was begun before.

    A file that ends the worker (and its memory with it) must not do so for ever.
    """
    before = int(row.messages[0]["params"]["tries"]) if row.messages else 0
    mark = notes.note("begun", "", tries=before + 1).stored()
    with transaction.atomic():
        _hold(batch_id, claim, state)
        ImportRow.objects.filter(pk=row.pk).update(messages=[mark])
    return before


def _refuse_poison(row: ImportRow) -> None:
    message = gettext_noop("Reading this row's files ended the worker %(tries)s times; it is left out.")
    row.messages = [notes.refused("ends_worker", message, tries=TRIES).stored()]
    row.state = RowState.REFUSED
    row.save(update_fields=["messages", "state"])


def _check(row: ImportRow, batch_id: int, claim: str, context: Context, repeated: dict[int, int]) -> None:
    checked = check_row(row.data, context, first_line=repeated.get(row.line))
    _settle(row, checked)
    with transaction.atomic():
        # Stopped and confirmed meanwhile, the row waits to be imported: a late check must not settle it.
        _hold(batch_id, claim, State.PREVIEW)
        row.save(update_fields=["state", "messages"])


def _settle(row: ImportRow, checked: Checked) -> None:
    row.messages = [note.stored() for note in checked.notes]
    row.state = RowState(checked.result)


def _import(
    row: ImportRow, batch: ImportBatch, claim: str, context: Context, repeated: dict[int, int]
) -> None:
    for last in (False, True):
        checked = check_row(row.data, context, first_line=repeated.get(row.line))
        try:
            silent = checked.refused or checked.unchanged is not None or checked.plan.declared is not None
            sound = None if silent else _keep(checked)
        except Invalid as error:
            checked.notes.append(notes.refused(error.code, str(error.message), **error.params))
            sound = None
        try:
            with transaction.atomic():
                _hold(batch.pk, claim, State.RUNNING)
                _write(row, batch.study, checked, sound, context)
            return
        except IntegrityError:
            # Another import wrote the same id, system or topic in between: look again, once.
            context.known.refresh()
            if last:
                raise


def _write(
    row: ImportRow, study: Study | None, checked: Checked, sound: Sound | None, context: Context
) -> None:
    row.dialogue = None  # a first attempt may have been rolled back
    if sound is not None:
        row.dialogue = store(checked, sound, context.known)
    elif checked.plan.declared is not None and checked.unchanged is None and not checked.refused:
        row.dialogue = declare(checked, context.known)
    elif checked.unchanged is not None:
        row.dialogue = Dialogue.objects.get(pk=checked.unchanged)
    if row.dialogue is not None and study is not None:
        item, added = put_into_study(row.dialogue, study, checked.plan)
        if checked.plan.role and (item.role, item.expected) != (checked.plan.role, checked.plan.expected):
            message = gettext_noop("The study already uses the dialogue in another role (%(role)s); kept so.")
            checked.notes.append(notes.warning("role_kept", message, role=item.role))
        if added and checked.unchanged is not None:
            message = gettext_noop("The dialogue was there already and is now part of the study.")
            checked.notes.append(notes.note("added_to_study", message))
    _settle(row, checked)
    row.save(update_fields=["state", "messages", "dialogue"])


def _keep(checked: Checked) -> Sound:
    """Copy the sound below the media root as it is; files of single turns also joined to one."""
    plan = checked.plan
    if plan.probe is not None:
        return _sound(_received(plan.audio[0], plan.hashes[0]), plan.probe)
    parts = tuple(
        _sound(_received(path, digest), probe(path))
        for path, digest in zip(plan.audio, plan.hashes, strict=True)
    )
    with tempfile.TemporaryDirectory() as folder:
        joined = join(plan.audio, plan.turns, Path(folder))
        return _sound(keep(joined), probe(joined), parts)


def _received(path: Path, digest: str) -> Kept:
    kept = keep(path)
    if kept.sha256 != digest:
        raise Invalid("file_changed", gettext_noop("The file changed while it was read. Import it again."))
    return kept


def _sound(kept: Kept, found: Probe, parts: tuple[Sound, ...] = ()) -> Sound:
    codec = found.format if found.subtype in ("", found.format) else f"{found.format} {found.subtype}"
    return Sound(kept, codec, found.samplerate, found.channels, found.duration, parts)


@transaction.atomic
def _finish(batch: ImportBatch, claim: str, state: str) -> None:
    ended: dict[str, Any] = {"claim": "", "lease_until": None}
    if state == State.RUNNING:
        ended |= {"state": State.DONE, "finished_at": timezone.now()}
    if not ImportBatch.objects.filter(pk=batch.pk, claim=claim, state=state).update(**ended):
        raise _Lost
    if state == State.RUNNING:
        audit.record("import.done", study=batch.study, target=batch.pk, rows=dict(tally(batch.pk)))


def _halt(batch: ImportBatch, claim: str, state: str, error: OSError) -> None:
    ImportBatch.objects.filter(pk=batch.pk, claim=claim, state=state).update(
        state=State.STOPPED,
        claim="",
        lease_until=None,
        finished_at=None if state == State.PREVIEW else timezone.now(),
        trouble=f"{error.strerror or error}"[:500],
    )
