"""The plan of a study with its soft launch and pay floor; a frozen plan never changes, whoever asks."""

from __future__ import annotations

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

NAME = "frozen_plan_never_changes"
SAID = "a frozen plan never changes"
POSTGRESQL = (
    f"CREATE FUNCTION {NAME}() RETURNS trigger AS $$ BEGIN "
    f"RAISE EXCEPTION '{SAID}' USING ERRCODE = 'integrity_constraint_violation'; END $$ LANGUAGE plpgsql",
    f"CREATE TRIGGER {NAME} BEFORE UPDATE ON studies_plan FOR EACH ROW "
    f"WHEN (OLD.frozen_at IS NOT NULL) EXECUTE FUNCTION {NAME}()",
)
SQLITE = (
    f"CREATE TRIGGER {NAME} BEFORE UPDATE ON studies_plan WHEN OLD.frozen_at IS NOT NULL "
    f"BEGIN SELECT RAISE(ABORT, '{SAID}'); END",
)


def hold(apps, schema_editor):
    for statement in POSTGRESQL if schema_editor.connection.vendor == "postgresql" else SQLITE:
        schema_editor.execute(statement)


def release(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {NAME} ON studies_plan")
        schema_editor.execute(f"DROP FUNCTION IF EXISTS {NAME}()")
    else:
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {NAME}")


class Migration(migrations.Migration):
    dependencies = [("studies", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="completion",
            name="amount",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="pay as a number",
            ),
        ),
        migrations.AddField(
            model_name="participant",
            name="in_soft_launch",
            field=models.BooleanField(default=False, verbose_name="one of the soft launch"),
        ),
        migrations.AddField(
            model_name="study",
            name="currency",
            field=models.CharField(blank=True, max_length=10, verbose_name="currency"),
        ),
        migrations.AddField(
            model_name="study",
            name="pay_floor",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                help_text="The desk warns where what people get falls below it. Leave it empty without pay.",
                max_digits=8,
                null=True,
                validators=[django.core.validators.MinValueValidator(0)],
                verbose_name="least pay per hour",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="soft_launch_n",
            field=models.PositiveIntegerField(
                default=20,
                help_text="When so many people have done enough to count as done, the study pauses by itself.",
                validators=[django.core.validators.MinValueValidator(1)],
                verbose_name="people in the soft launch",
            ),
        ),
        migrations.CreateModel(
            name="Plan",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.PositiveIntegerField(verbose_name="version")),
                ("content", models.JSONField(default=dict, verbose_name="content")),
                ("reason", models.CharField(blank=True, max_length=500, verbose_name="why it was changed")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("frozen_at", models.DateTimeField(blank=True, null=True, verbose_name="frozen")),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("markdown", models.TextField(blank=True)),
                (
                    "status",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("draft", "draft"),
                            ("pilot", "pilot"),
                            ("soft_launch", "soft launch"),
                            ("open", "open"),
                            ("paused", "paused"),
                            ("closed", "closed"),
                        ],
                        max_length=20,
                    ),
                ),
                ("verdicts", models.PositiveIntegerField(default=0, verbose_name="verdicts then")),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="plans",
                        to="studies.study",
                    ),
                ),
            ],
            options={"verbose_name": "plan", "verbose_name_plural": "plans", "ordering": ["study", "version"]},
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.UniqueConstraint(fields=("study", "version"), name="one_plan_per_version"),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.UniqueConstraint(
                condition=models.Q(("frozen_at__isnull", True)), fields=("study",), name="one_draft_of_a_plan"
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("frozen_at__isnull", True), ("sha256", "")),
                    models.Q(("frozen_at__isnull", False), models.Q(("sha256", ""), _negated=True)),
                    _connector="OR",
                ),
                name="frozen_plan_has_its_file",
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("frozen_at__isnull", True),
                    ("version", 1),
                    models.Q(("reason", ""), _negated=True),
                    _connector="OR",
                ),
                name="changed_plan_says_why",
            ),
        ),
        migrations.RunPython(hold, release, elidable=False),
    ]
