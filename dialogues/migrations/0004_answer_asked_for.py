"""Attention items say which answer the voice asks for."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("dialogues", "0003_line_of_a_speaker")]

    operations = [
        migrations.AddField(
            model_name="studyitem",
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
        migrations.AddConstraint(
            model_name="studyitem",
            constraint=models.CheckConstraint(
                condition=Q(expected="") | Q(role="attention"), name="only_attention_items_ask_for_an_answer"
            ),
        ),
    ]
