"""Consent texts of an activity of its own, beside the one for everybody."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studies", "0004_activities_of_a_person")]

    operations = [
        migrations.AddField(
            model_name="consenttext",
            name="activity",
            field=models.CharField(blank=True, default="", max_length=40, verbose_name="activity"),
        ),
        migrations.AlterModelOptions(
            name="consenttext",
            options={
                "ordering": ["study", "activity", "-version"],
                "verbose_name": "consent text",
                "verbose_name_plural": "consent texts",
            },
        ),
        migrations.RemoveConstraint(model_name="consenttext", name="one_consent_text_per_version"),
        migrations.AddConstraint(
            model_name="consenttext",
            constraint=models.UniqueConstraint(
                fields=("study", "activity", "version"), name="one_consent_text_per_activity_and_version"
            ),
        ),
    ]
