"""Write the built-in systems, topics and strategies into the database (imports do so on first use)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils.translation import gettext as _

from dialogues import builtin
from dialogues.importing.store import built_in_system
from dialogues.models import Strategy, System, Topic


class Command(BaseCommand):
    help = "Add the built-in systems, topics and strategies. What is there already stays as it is."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        before = System.objects.count() + Topic.objects.count() + Strategy.objects.count()
        for entry in builtin.systems():
            if not System.objects.filter(name=entry["name"]).exists():
                built_in_system(entry)
        for entry in builtin.topics():
            labels = {"label_en": entry["label_en"], "label_zh": entry["label_zh"]}
            Topic.objects.get_or_create(code=entry["code"], defaults=labels)
        for entry in builtin.strategies():
            names = {"name_en": entry["name_en"], "name_zh": entry["name_zh"]}
            Strategy.objects.get_or_create(code=entry["code"], defaults=names)
        added = System.objects.count() + Topic.objects.count() + Strategy.objects.count() - before
        self.stdout.write(_("%(count)s rows added.") % {"count": added})
