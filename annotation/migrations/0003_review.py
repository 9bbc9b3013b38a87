"""Reviews number their raters, count what was decided, and keep why a score was changed."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0002_frozen_taxonomy")]

    operations = [
        migrations.AddField("reviewcase", "raters", models.JSONField(default=list)),
        migrations.AddField("reviewdecision", "version", models.PositiveIntegerField(default=0)),
        migrations.AddField("resolution", "version", models.PositiveIntegerField(default=0)),
        migrations.AddConstraint(
            "reviewdecision",
            models.CheckConstraint(
                condition=models.Q(("decision", "approve"), models.Q(("reason", ""), _negated=True), _connector="OR"),
                name="a_proposal_has_its_reason",
            ),
        ),
        migrations.AddConstraint(
            "resolution",
            models.CheckConstraint(
                condition=models.Q(
                    models.Q(("how", "agreed"), _negated=True),
                    models.Q(models.Q(("reason", ""), _negated=True), ("closed_by__isnull", False)),
                    _connector="OR",
                ),
                name="what_was_agreed_has_its_reason",
            ),
        ),
    ]
