"""Process what waits, here and now, with a line for each dialogue."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dialogues.models import Dialogue, ProcessingJob
from dialogues.processing import services
from turingsite.audio.gaps import PROFILES


class Command(BaseCommand):
    help = "Make waiting dialogues playable. With --again, process dialogues of a study once more."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--failed", action="store_true", help="try failed dialogues again")
        parser.add_argument("--again", metavar="STUDY", help="process all dialogues of this study again")
        parser.add_argument("--gap-profile", choices=sorted(PROFILES), help="with --again: the rule for gaps")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["gap_profile"] and not options["again"]:
            raise CommandError("--gap-profile goes with --again STUDY.")
        dialogues = Dialogue.objects.none()
        if options["again"]:
            dialogues = Dialogue.objects.filter(
                study_items__study__slug=options["again"], recording__isnull=False
            )
            if not dialogues.exists():
                raise CommandError(
                    f"No dialogue with a recording belongs to a study called {options['again']}."
                )
        elif options["failed"]:
            dialogues = Dialogue.objects.filter(job__state=ProcessingJob.State.FAILED)
        for dialogue in dialogues:
            services.queue(dialogue=dialogue, profile=options["gap_profile"])
        count = services.run_waiting(on_job=self._show)
        self.stdout.write(f"{count} processed.")

    def _show(self, job: ProcessingJob) -> None:
        word = self.style.SUCCESS(job.state) if job.state == job.State.DONE else self.style.WARNING(job.state)
        self.stdout.write(f"{job.dialogue.external_id}  {word}  {job.reason}".rstrip())
