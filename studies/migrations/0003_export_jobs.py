"""Exports as jobs: asked for on the desk or by programs, made by a worker, fetched, removed after a while."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import studies.codes


class Migration(migrations.Migration):
    dependencies = [
        ("studies", "0002_frozen_plan"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ExportJob",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("code", models.CharField(default=studies.codes.public_code, max_length=20, unique=True)),
                ("tier", models.CharField(max_length=12, verbose_name="tier")),
                ("formats", models.CharField(max_length=40, verbose_name="formats")),
                (
                    "language",
                    models.CharField(
                        blank=True,
                        choices=[("en", "English"), ("zh", "Chinese")],
                        max_length=5,
                        verbose_name="language",
                    ),
                ),
                ("bom", models.BooleanField(default=False, verbose_name="byte-order mark")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "waiting"),
                            ("running", "being made"),
                            ("done", "done"),
                            ("failed", "failed"),
                            ("stopped", "stopped"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("rows_done", models.PositiveBigIntegerField(default=0)),
                ("rows_total", models.PositiveBigIntegerField(default=0)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("error", models.TextField(blank=True, verbose_name="what went wrong")),
                ("size", models.PositiveBigIntegerField(default=0, verbose_name="size")),
                ("created_at", models.DateTimeField()),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("claim", models.CharField(blank=True, max_length=40)),
                (
                    "file",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="job",
                        to="studies.exportfile",
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="export_jobs",
                        to="studies.study",
                    ),
                ),
            ],
            options={
                "verbose_name": "export",
                "verbose_name_plural": "exports",
                "ordering": ["-id"],
                "indexes": [
                    models.Index(fields=["state", "lease_until"], name="studies_exp_state_69c819_idx")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ("queued", "running"))),
                        fields=("study", "tier", "formats", "language"),
                        name="one_live_export_of_a_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "running"), _negated=True),
                            models.Q(("claim", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="running_exports_are_claimed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state", "done"), ("file__isnull", True), _connector="OR"),
                        name="only_exports_that_are_done_have_a_file",
                    ),
                ],
            },
        ),
    ]
