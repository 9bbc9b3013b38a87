"""The blind desk of the group game: while a study runs, what its lists show is the same however games end."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from games.group.models import Elimination, Game, Vote
from games.room.models import Concern, Room
from studies import plans
from studies.exports import export_study
from studies.models import AuditLine, Study
from studies.report_formats import as_json
from studies.reports import run_report, run_report_from
from tests import factories
from tests.group.at_the_desk import at, said, step
from tests.rooms import GameFactory, GroupSettingsFactory
from tests.site.test_blind_desk import address, crawl


def played(study: Study, end: str, *, rounds: int) -> Game:
    now = timezone.now()
    over = {"room__closed_at": now, "room__writable": False, "room__phase": "end", "room__deadline": None}
    game = GameFactory(
        room__study=study,
        room__opened_at=now - timedelta(minutes=9),
        room__round=rounds,
        **(over if end else {}),
        end=end,
        ended_at=now if end else None,
    )
    for n in range(1, 4):
        event = said(game, n, f"line {n}", round=1, phase="discussion")
    Concern.objects.create(room=game.room, seat=at(game, 0), event=event, text="Look at this", at=now)
    step(game)
    return game


def flip() -> None:
    """The AI survives where it was out, goes out where it survived; every vote and round follows."""
    for game in Game.objects.exclude(end="cancelled"):
        survives = game.end == "agent_out" or (not game.end and game.room.round == 1)
        out = at(game, 0 if survives else 2)
        Elimination.objects.filter(game=game).update(seat=out)
        Vote.objects.filter(game=game).exclude(voter=out).update(target=out)
        game.room.seats.update(out_at=None, out_round=None)
        game.room.seats.filter(pk=out.pk).update(out_at=game.room.opened_at, out_round=1)
        said(game, 1, "one more line", round=2, phase="discussion")
        Room.objects.filter(pk=game.room_id).update(round=2 if survives else 1)
        if game.ended_at is not None:
            later = game.ended_at + timedelta(seconds=90)
            Room.objects.filter(pk=game.room_id).update(closed_at=later)
            Game.objects.filter(pk=game.pk).update(
                end="survived" if survives else "agent_out", ended_at=later
            )


@pytest.fixture
def study(db: None) -> Study:
    study = factories.StudyFactory(activities=["group"])
    GroupSettingsFactory(study=study)
    games = [
        played(study, "agent_out", rounds=1),
        played(study, "survived", rounds=4),
        played(study, "cancelled", rounds=1),
        played(study, "", rounds=1),
        played(study, "", rounds=2),
    ]
    for game in games:
        seat = at(game, 1)
        Vote.objects.create(game=game, round=1, voter=at(game, 0), target=seat, at=game.room.opened_at)
        Elimination.objects.create(game=game, round=1, seat=seat, living=6, at=game.room.opened_at)
    return study


def test_no_list_differs_by_how_games_end_and_an_opened_game_does(client: Client, study: Study) -> None:
    client.force_login(factories.StudyMemberFactory(study=study).user)
    starts = [
        address("group", study.slug),
        address("group", study.slug) + "?state=played",
        address("group_concerns", study.slug) + "?all=1",
        address("group_waiting", study.slug),
        address("live", study.slug),
        address("participants", study.slug),
        address("study", study.slug),
    ]
    before = crawl(client, starts)
    flip()
    after = crawl(client, starts)
    monitors = [path for path in before if "/group/games/" in path]
    assert len(monitors) >= 5
    assert set(before) == set(after)
    assert [path for path in before if before[path] != after[path]] == []

    def opened(game: Game) -> Any:
        return client.post(address("group_watch", study.slug, game.code), follow=True).content

    over = Game.objects.get(end="survived")
    seen = opened(over)
    flip()
    assert opened(over) != seen, "whoever opens a game sees how it ended"


def freeze(client: Client, study: Study, outcome: str) -> str:
    """Freezes a plan as the desk does; the page that asked first."""
    decided = {
        "hypothesis": "H", "outcome": outcome, "stopping": "S", "target_n": 0, "margin": "0.1",
        "analysis_set": "all", "target_by": "system",
    }  # fmt: skip
    asked: Any = client.post(address("plan", study.slug), {**decided, "do": "freeze"})
    client.post(address("plan", study.slug), {"do": "frozen", "shown": asked.context["shown"]})
    return str(asked.content.decode())


def test_where_people_play_games_looks_and_plans_count_games(
    client: Client, study: Study, tmp_path: Path
) -> None:
    client.force_login(factories.StudyMemberFactory(study=study).user)
    report, plan = address("report", study.slug, "group-votes"), address("plan", study.slug)
    shut = client.get(report).content.decode()
    assert '<span class="figure">2 games</span>' in shut
    assert "verdicts" not in shut
    export = client.post(address("export", study.slug), {"tier": "public", "csv": "on"})
    assert "what people said: 2 games." in export.content.decode()
    client.post(address("look", study.slug))
    client.get(report)
    look, read = (AuditLine.objects.get(action=one) for one in ("study.looked_early", "report.read"))
    assert look.detail == {"n": 2, "of": "games", "status": "open"}
    assert (read.detail["n"], read.detail["of"]) == (2, "games")
    looks = client.get(plan).context["looks"]
    assert [one["counted"] for one in looks] == ["2 games", "2 games"]
    assert "outcomes then: 2 games" in client.get(address("audit", study.slug)).content.decode()

    assert "and it had 2 games that count." in freeze(client, study, "group-votes.share")
    note = plans.note_of(study)
    assert note is not None
    assert (note.first.verdicts, note.first.others, note.exploratory) == (0, {"games": 2}, True)
    shown = client.get(plan).content.decode()
    assert "at 2 games." in shown
    assert "There were answers before it: exploratory." in shown

    status = address("status", study.slug)
    client.post(status, {"to": "closed", "sure": "yes"})
    client.get(report)
    client.post(status, {"to": "paused", "sure": "yes"})
    assert "after outcomes had been read at 2 games." in client.get(plan).content.decode()
    study.refresh_from_db()
    out = tmp_path / "x.zip"
    manifest = export_study(study=study, path=out)
    assert [one["counts"] for one in manifest["looks"]] == [{"games": 2}] * 3
    assert AuditLine.objects.get(action="study.exported").detail["of"] == "games"
    assert as_json(run_report_from("group-votes", out)) == as_json(run_report("group-votes", study))


def test_a_plan_frozen_before_the_first_game_is_not_exploratory(db: None, client: Client) -> None:
    study = factories.StudyFactory(activities=["group"])
    GroupSettingsFactory(study=study)
    client.force_login(factories.StudyMemberFactory(study=study).user)
    assert "and it had 0 games that count." in freeze(client, study, "group-votes.share")
    note = plans.note_of(study)
    assert note is not None
    assert not note.exploratory


def test_a_study_of_games_lists_no_reports_on_verdicts_until_it_has_some(
    client: Client, study: Study
) -> None:
    client.force_login(factories.StudyMemberFactory(study=study).user)

    def listed() -> set[str]:
        return {report.key for report in client.get(address("study", study.slug)).context["reports"]}

    assert "group-votes" in listed()
    assert not listed() & {"accuracy", "success-rate", "funnel", "agreement"}
    out = StringIO()
    call_command("report", "accuracy", study=study.slug, stdout=out)
    assert "Accuracy" in out.getvalue()
    assert client.get(address("report", study.slug, "accuracy")).status_code == 200
    factories.VerdictFactory(
        rater=factories.ParticipantFactory(study=study).rater, dialogue=factories.add_dialogue(study)
    )
    assert {"accuracy", "success-rate", "funnel"} <= listed()
