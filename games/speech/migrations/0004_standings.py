"""The leaderboard's sums, kept by player instead of added up at every look."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

BOARD = ["study", "language", "period"]
PLACE = ["reached_at", "player"]


class Migration(migrations.Migration):
    dependencies = [("speech", "0003_spoken_instructions"), ("studies", "0001_initial")]

    operations = [
        migrations.CreateModel(
            name="Standing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("language", models.CharField(max_length=5)),
                ("period", models.CharField(max_length=10)),
                ("shown", models.BooleanField(default=True)),
                ("points", models.PositiveIntegerField()),
                ("per_cent", models.PositiveSmallIntegerField()),
                ("rounds", models.PositiveIntegerField()),
                ("reached_at", models.DateTimeField()),
                (
                    "player",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="standings",
                        to="speech.speechplayer",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studies.study"
                    ),
                ),
            ],
            options={
                "verbose_name": "standing",
                "verbose_name_plural": "standings",
                "indexes": [
                    models.Index(
                        condition=models.Q(("shown", True)),
                        fields=[*BOARD, "-points", *PLACE],
                        name="board_by_points",
                    ),
                    models.Index(
                        condition=models.Q(("shown", True)),
                        fields=[*BOARD, "-per_cent", *PLACE],
                        name="board_by_accuracy",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=["player", "language", "period"], name="one_standing_per_player_and_board"
                    )
                ],
            },
        ),
    ]
