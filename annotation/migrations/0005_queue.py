"""Nothing yet."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_quality")]

    operations: list[object] = []
