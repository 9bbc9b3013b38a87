"""A choice can be left out because its rater was set aside, or because others filled the place meanwhile."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0008_turn_files")]

    operations = [
        migrations.AlterField(
            model_name="verdict",
            name="exclusion",
            field=models.CharField(
                blank=True,
                choices=[
                    ("", "analysed"),
                    ("known", "recording known"),
                    ("for_fun", "for fun"),
                    ("pilot", "pilot"),
                    ("test", "test participant"),
                    ("withdrawn", "withdrawn"),
                    ("check", "check item"),
                    ("recording", "recording withdrawn"),
                    ("rater", "rater set aside"),
                    ("given_away", "given to somebody else"),
                ],
                max_length=12,
                verbose_name="exclusion",
            ),
        ),
    ]
