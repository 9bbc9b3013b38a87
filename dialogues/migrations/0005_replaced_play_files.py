"""Exposures keep the file they were given as while a newer one replaces it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0004_answer_asked_for")]

    operations = [
        migrations.AddField(
            model_name="exposure",
            name="play_path",
            field=models.CharField(blank=True, default="", max_length=300),
            preserve_default=False,
        ),
    ]
