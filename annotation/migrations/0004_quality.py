"""A rater's scores can be set aside with a reason, and taken back in."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0003_review"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="annotator",
            name="set_aside_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="set aside"),
        ),
        migrations.AddField(
            model_name="annotator",
            name="set_aside_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="annotator",
            name="set_aside_reason",
            field=models.CharField(blank=True, max_length=300, verbose_name="why set aside"),
        ),
        migrations.AddConstraint(
            model_name="annotator",
            constraint=models.CheckConstraint(
                name="scores_are_set_aside_with_a_reason",
                condition=models.Q(set_aside_at__isnull=True, set_aside_reason="")
                | (models.Q(set_aside_at__isnull=False) & ~models.Q(set_aside_reason="")),
            ),
        ),
    ]
