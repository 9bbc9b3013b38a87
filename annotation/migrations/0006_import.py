"""Nothing yet."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_queue")]

    operations: list[object] = []
