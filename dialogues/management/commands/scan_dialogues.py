"""``manage.py scan_dialogues [--study SLUG]``: search transcripts anew, after new rules or other words."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from dialogues.models import Dialogue
from dialogues.transcripts.services import scan_all
from studies.exports import study_named
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = (
        "Search the transcripts for statements of what B is, and for the wrong language, and write flags. "
        "Imports do so by themselves; run it again after texts were corrected. Flags of people stay."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--study", help="only the dialogues of this study (its address)")

    def handle(self, *args: Any, **options: Any) -> None:
        rows = Dialogue.objects.all()
        if options["study"]:
            try:
                study = study_named(options["study"])
            except DomainError as refusal:
                raise CommandError(str(refusal)) from refusal
            rows = rows.filter(study_items__study=study)
        counts: Counter[str] = Counter()
        rules: Counter[str] = Counter()
        for dialogue, done in scan_all(dialogues=rows):
            counts.update(dialogues=1, transcribed=int(done.transcribed), changed=int(done.changed))
            rules.update(done.rules)
            if done.changed:
                self.stdout.write(f"{dialogue.external_id}  {', '.join(sorted(done.rules)) or '-'}")
        for rule, n in sorted(rules.items()):
            self.stdout.write(f"{rule}: {n}")
        self.stdout.write(
            _("%(dialogues)s dialogues, %(transcribed)s with words of B; flags of %(changed)s changed.")
            % {name: counts[name] for name in ("dialogues", "transcribed", "changed")}
        )
        if without := counts["dialogues"] - counts["transcribed"]:
            self.stdout.write(
                _("%(n)s have no transcript of B: whether B says what it is, nobody knows there.")
                % {"n": without}
            )
