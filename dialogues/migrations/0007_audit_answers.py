from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0006_declared_without_sound")]
    operations: list[object] = []
