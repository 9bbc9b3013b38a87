"""Scores that a file brought say themselves what they were for and why they are not analysed."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0005_queue")]

    operations = [
        migrations.AddField(
            "score",
            "purpose",
            models.CharField(
                blank=True,
                choices=[
                    ("work", "work"),
                    ("calibration", "calibration"),
                    ("gold", "gold"),
                    ("repeat", "hidden repeat"),
                ],
                db_default="",
                default="",
                max_length=12,
                verbose_name="purpose",
            ),
        ),
        migrations.AddField(
            "score",
            "exclusion",
            models.CharField(
                blank=True,
                choices=[
                    ("", "analysed"),
                    ("pilot", "pilot"),
                    ("test", "test participant"),
                    ("known", "recording known"),
                    ("recording", "recording withdrawn"),
                    ("rater", "rater set aside"),
                    ("given_away", "given to somebody else"),
                    ("withdrawn", "withdrawn"),
                    ("unfinished", "dialogue not finished"),
                ],
                db_default="",
                default="",
                max_length=12,
                verbose_name="exclusion",
            ),
        ),
        migrations.AddConstraint(
            "score",
            models.CheckConstraint(
                condition=models.Q(
                    ("item__isnull", True), models.Q(("exclusion", ""), ("purpose", "")), _connector="OR"
                ),
                name="an_item_says_its_purpose",
            ),
        ),
    ]
