"""Audits of stimuli with the answers to their warnings; what people make of flags; the time
line of a file that was replaced."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("dialogues", "0006_declared_without_sound"),
        ("studies", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditAnswer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=120, verbose_name="warning")),
                ("text", models.TextField(verbose_name="answer")),
                ("answered_at", models.DateTimeField(verbose_name="answered")),
            ],
            options={
                "verbose_name": "answer to a warning",
                "verbose_name_plural": "answers to warnings",
                "ordering": ["audit", "key"],
            },
        ),
        migrations.CreateModel(
            name="StimulusAudit",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("fingerprint", models.CharField(max_length=64)),
                ("dialogues", models.PositiveIntegerField(default=0, verbose_name="dialogues")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued"),
                            ("running", "running"),
                            ("done", "done"),
                            ("failed", "failed"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("result", models.JSONField(blank=True, default=list, verbose_name="figures")),
                ("step", models.PositiveSmallIntegerField(default=0, verbose_name="steps done")),
                ("steps", models.PositiveSmallIntegerField(default=0, verbose_name="steps")),
                ("attempts", models.PositiveSmallIntegerField(default=0, verbose_name="attempts")),
                ("claim", models.CharField(blank=True, max_length=40)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("reason", models.CharField(blank=True, max_length=500, verbose_name="reason")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True, verbose_name="made")),
            ],
            options={
                "verbose_name": "nuisance audit",
                "verbose_name_plural": "nuisance audits",
                "ordering": ["-id"],
            },
        ),
        migrations.AddField(
            model_name="exposure", name="time_line", field=models.JSONField(blank=True, null=True)
        ),
        migrations.AddField(
            model_name="flag",
            name="review",
            field=models.CharField(
                blank=True,
                choices=[("", "not looked at"), ("confirmed", "confirmed"), ("rejected", "rejected")],
                max_length=10,
                verbose_name="reviewed as",
            ),
        ),
        migrations.AddField(
            model_name="flag",
            name="reviewed_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="flag",
            name="reviewed_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="flag",
            index=models.Index(fields=["rule", "dialogue"], name="flags_by_rule"),
        ),
        migrations.AddConstraint(
            model_name="flag",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("review", ""), ("reviewed_at__isnull", True)),
                    models.Q(models.Q(("review", ""), _negated=True), ("reviewed_at__isnull", False)),
                    _connector="OR",
                ),
                name="a_review_has_its_time",
            ),
        ),
        migrations.AddField(
            model_name="auditanswer",
            name="user",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="stimulusaudit",
            name="study",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="stimulus_audits",
                to="studies.study",
            ),
        ),
        migrations.AddField(
            model_name="stimulusaudit",
            name="user",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="auditanswer",
            name="audit",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="answers",
                to="dialogues.stimulusaudit",
            ),
        ),
        migrations.AddConstraint(
            model_name="stimulusaudit",
            constraint=models.UniqueConstraint(
                fields=("study", "fingerprint"), name="one_audit_per_fingerprint"
            ),
        ),
        migrations.AddConstraint(
            model_name="auditanswer",
            constraint=models.UniqueConstraint(fields=("audit", "key"), name="one_answer_per_warning"),
        ),
    ]
