"""Dialogues that are declared without their sound: they count in reports and are never played."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0005_replaced_play_files")]

    operations = [
        migrations.AlterField(
            model_name="dialogue",
            name="state",
            field=models.CharField(
                choices=[
                    ("waiting", "waiting for processing"),
                    ("ready", "ready"),
                    ("declared", "declared without sound"),
                    ("failed", "failed"),
                    ("withdrawn", "withdrawn"),
                ],
                default="waiting",
                max_length=10,
                verbose_name="state",
            ),
        ),
    ]
