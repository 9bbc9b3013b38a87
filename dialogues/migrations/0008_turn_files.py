"""Files of single turns are kept as received, what is joined from them is called so; verdicts by time."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0007_audit_answers")]

    operations = [
        migrations.AddField(
            model_name="recording",
            name="is_joined",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="TurnFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("index", models.PositiveIntegerField()),
                (
                    "dialogue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="turn_files",
                        to="dialogues.dialogue",
                    ),
                ),
                (
                    "recording",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="turn_files",
                        to="dialogues.recording",
                    ),
                ),
            ],
            options={
                "verbose_name": "file of a turn",
                "verbose_name_plural": "files of turns",
                "ordering": ["dialogue", "index"],
                "constraints": [
                    models.UniqueConstraint(fields=("dialogue", "index"), name="one_turn_file_per_index")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="verdict",
            index=models.Index(fields=["study", "given_at", "id"], name="verdicts_by_time"),
        ),
    ]
