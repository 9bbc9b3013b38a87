"""Take recordings in from a manifest, row by row, and make them playable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dialogues.importing.columns import template_csv
from dialogues.importing.known import Known
from dialogues.importing.manifest import Manifest, read_manifest
from dialogues.importing.notes import any_stops, worded
from dialogues.importing.rows import Context, check_row, first_lines
from dialogues.importing.services import create_batch, run_batch
from dialogues.models import ImportBatch, ImportRow, ProcessingJob
from dialogues.processing.services import run_waiting
from studies.models import Study
from turingsite.errors import DomainError

MARKS = {"accepted": "+", "warned": "!", "unchanged": "=", "refused": "x", "pending": "?"}


class Command(BaseCommand):
    help = (
        "Import the dialogues that MANIFEST (CSV or JSONL) lists. Every row is reported; a refused row never "
        "stops the others. Exit status: 0 if at least one row was taken in or was there already, 1 if none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("manifest", nargs="?", type=Path)
        parser.add_argument(
            "--audio", type=Path, help="folder of the sound files (default: the manifest's own)"
        )
        parser.add_argument("--study", help="slug of the study whose items they become")
        parser.add_argument("--dry-run", action="store_true", help="report only, write nothing")
        parser.add_argument(
            "--create-systems", action="store_true", help="systems not known so far are created"
        )
        parser.add_argument("--no-processing", action="store_true", help="leave processing to the workers")
        parser.add_argument("--template", action="store_true", help="print a manifest to fill in, and end")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["template"]:
            self.stdout.write(template_csv(), ending="")
            return
        path: Path | None = options["manifest"]
        if path is None:
            raise CommandError(_("Name the manifest, or use --template to get one to fill in."))
        folders = self._folders(path, options["audio"])
        study = self._study(options["study"])
        try:
            manifest = read_manifest(path.read_bytes(), path.name)
        except OSError as error:
            raise CommandError(
                _("%(file)s can't be read: %(why)s") % {"file": path, "why": error.strerror}
            ) from error
        except DomainError as error:
            raise CommandError(worded({"message": error.message, "params": error.params})) from error
        for note in manifest.notes:
            self.stdout.write(f"  {worded(note.stored())}")
        if options["dry_run"]:
            self._end(self._dry_run(manifest, folders, create_systems=options["create_systems"]), dry=True)
            return
        batch = create_batch(
            name=path.name, manifest=manifest, study=study, create_systems=options["create_systems"]
        )
        for row in batch.rows.filter(state=ImportRow.State.REFUSED):
            self._report(row.line, row.external_id, row.state, row.messages)
        counts = run_batch(
            batch_id=batch.pk,
            folders=folders,
            on_row=lambda row: self._report(row.line, row.external_id, row.state, row.messages),
        )
        batch.refresh_from_db()
        if counts is None or batch.state != ImportBatch.State.DONE:
            raise CommandError(
                _("The import was stopped: %(why)s Run the command again: what was taken in stays.")
                % {"why": worded({"message": batch.trouble})}
            )
        self._process(batch, process=not options["no_processing"])
        self._end(dict(counts))

    def _folders(self, path: Path, audio: Path | None) -> list[Path]:
        folders = [audio] if audio else [path.parent]
        if audio and not audio.is_dir():
            raise CommandError(_("%(folder)s is not a folder.") % {"folder": audio})
        return folders

    def _study(self, slug: str | None) -> Study | None:
        if not slug:
            return None
        study = Study.objects.filter(slug=slug).first()
        if study is None:
            raise CommandError(_("There is no study “%(slug)s”.") % {"slug": slug})
        return study

    def _dry_run(self, manifest: Manifest, folders: list[Path], *, create_systems: bool) -> dict[str, int]:
        context = Context(folders=folders, known=Known(), create_systems=create_systems)
        repeated = first_lines([(raw.line, str(raw.data.get("id", ""))) for raw in manifest.rows])
        counts: dict[str, int] = {}
        for raw in manifest.rows:
            if any_stops(raw.notes):
                state, said = "refused", raw.notes
            else:
                checked = check_row(raw.data, context, first_line=repeated.get(raw.line))
                state, said = checked.result, checked.notes
            counts[state] = counts.get(state, 0) + 1
            self._report(raw.line, str(raw.data.get("id", "")), state, [note.stored() for note in said])
        return counts

    def _report(self, line: int, name: str, state: str, messages: list[dict[str, Any]]) -> None:
        style = {"refused": self.style.ERROR, "warned": self.style.WARNING}.get(state, str)
        label = ImportRow.State(state).label
        shown = "".join(c if c.isprintable() else "·" for c in name)[:60] or "—"
        self.stdout.write(style(f"{MARKS[state]} {_('line')} {line:>4}  {shown}: {label}"))
        for message in messages:
            self.stdout.write(f"      {worded(message)}")
        if any(message["code"] == "unknown_system" for message in messages):
            words = _("Correct the name or, if the system is new, add --create-systems.")
            self.stdout.write(f"      {words}")

    def _process(self, batch: ImportBatch, *, process: bool) -> None:
        """Make what waits playable, here and now, human dialogues first: the others draw from their gaps."""
        waiting = ProcessingJob.objects.filter(state=ProcessingJob.State.QUEUED).count()
        if not process or not waiting:
            return
        done = 0

        def on_job(job: ProcessingJob) -> None:
            nonlocal done
            done += 1
            told = f": {job.reason}" if job.state == ProcessingJob.State.FAILED else ""
            words = _("processed") if job.state == ProcessingJob.State.DONE else job.get_state_display()
            self.stdout.write(f"{done}/{max(done, waiting)}  {job.dialogue.external_id}: {words}{told}")

        run_waiting(on_job=on_job)

    def _end(self, counts: dict[str, int], *, dry: bool = False) -> None:
        good = sum(counts.get(state, 0) for state in ("accepted", "warned", "unchanged"))
        line = _(
            "%(accepted)s accepted, %(warned)s accepted with a warning, %(unchanged)s unchanged, "
            "%(refused)s refused."
        ) % {state: counts.get(state, 0) for state in ("accepted", "warned", "unchanged", "refused")}
        if dry:
            line = _("Nothing was written.") + " " + line
        self.stdout.write(line)
        if not good:
            rows = sum(counts.values())
            message = ngettext(
                "No row could be accepted.", "None of the %(rows)s rows could be accepted.", rows
            )
            raise CommandError(message % {"rows": rows}, returncode=1)
