"""Spoken instructions: trials that ask for an answer, outside the scored ones."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("speech", "0002_answer_of_a_trial")]

    operations = [
        migrations.AddField(
            model_name="speechsettings",
            name="attention_checks",
            field=models.PositiveSmallIntegerField(default=1, verbose_name="spoken instructions per session"),
        ),
        migrations.AlterField(
            model_name="speechplayer",
            name="checks_failed",
            field=models.PositiveSmallIntegerField(default=0, verbose_name="checks failed"),
        ),
        migrations.AddField(
            model_name="trial",
            name="expected",
            field=models.CharField(
                blank=True,
                choices=[("human", "human"), ("machine", "machine")],
                default="",
                max_length=8,
                verbose_name="answer asked for",
            ),
            preserve_default=False,
        ),
        migrations.RemoveConstraint(model_name="trial", name="one_trial_per_place_and_attempt"),
        migrations.RemoveConstraint(model_name="trial", name="one_live_trial_per_place"),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.UniqueConstraint(
                condition=Q(expected=""),
                fields=["round", "position", "attempt"],
                name="one_trial_per_place_and_attempt",
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.UniqueConstraint(
                condition=~Q(expected=""), fields=["round"], name="one_spoken_instruction_per_round"
            ),
        ),
        migrations.AddConstraint(
            model_name="trial",
            constraint=models.UniqueConstraint(
                condition=~Q(state="failed") & Q(expected=""),
                fields=["round", "position"],
                name="one_live_trial_per_place",
            ),
        ),
    ]
