from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('group', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='game',
            name='agent_claim',
            field=models.CharField(blank=True, max_length=40),
        ),
        migrations.AddField(
            model_name='game',
            name='agent_lease_until',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name='game',
            index=models.Index(condition=models.Q(('end', '')), fields=['agent_lease_until'], name='played_games_by_lease'),
        ),
    ]
