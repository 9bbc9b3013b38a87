from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("studies", "0002_frozen_plan")]
    operations: list[object] = []
