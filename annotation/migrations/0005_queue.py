"""The choice an annotator made first."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0004_quality")]

    operations = [
        migrations.AddField(
            model_name="batchitem",
            name="first_choice",
            field=models.CharField(
                blank=True,
                choices=[("human", "human"), ("machine", "machine")],
                max_length=10,
                verbose_name="first choice",
            ),
        ),
    ]
