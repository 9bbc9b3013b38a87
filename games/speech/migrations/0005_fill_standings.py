"""Add up the rounds played so far, player by player; what is there already stays."""

from __future__ import annotations

from collections import defaultdict
from zoneinfo import ZoneInfo

from django.db import migrations

BATCH = 1000  # players


def fill(apps, schema_editor):
    standings = apps.get_model("speech", "Standing").objects
    counted = (
        apps.get_model("speech", "Round")
        .objects.filter(
            state="finished",
            for_fun=False,
            answered__gt=0,
            player__participant__withdrawn_at=None,
            player__participant__erased_at=None,
        )
        .order_by()
    )
    players = list(counted.filter(player__standings=None).values_list("player", flat=True).distinct())
    for start in range(0, len(players), BATCH):
        some = players[start : start + BATCH]
        boards = defaultdict(list)
        for round_ in counted.filter(player__in=some).select_related("player__participant__study"):
            study = round_.player.participant.study
            day = round_.finished_at.astimezone(ZoneInfo(study.time_zone)).date().isoformat()
            for language in (round_.language, "all"):
                for period in (day, "all"):
                    boards[round_.player, study.pk, language, period].append(round_)
        standings.bulk_create(
            (
                standings.model(
                    study_id=study,
                    player=player,
                    language=language,
                    period=period,
                    shown=not (player.participant.is_pilot or player.participant.is_test),
                    points=sum(one.points for one in rounds),
                    per_cent=round(
                        100 * sum(one.correct for one in rounds) / sum(one.answered for one in rounds)
                    ),
                    rounds=len(rounds),
                    reached_at=max(one.finished_at for one in rounds),
                )
                for (player, study, language, period), rounds in boards.items()
            ),
            batch_size=BATCH,
        )


class Migration(migrations.Migration):
    dependencies = [("speech", "0004_standings")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]
