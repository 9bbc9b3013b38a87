"""A game begins: people, one agent, a room. Everything drawn is drawn with the study's seed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from dialogues.models import Nature
from games.group.models import Agent, Game, GroupSettings
from games.group.selectors import SURVEY
from games.group.services.agents import ensure_offline_agent
from games.group.services.settings import rules_of
from games.room.services import Limits, NewSeat, open_room
from studies.assignment import seeded
from studies.models import Participant, Study
from studies.selectors import current_questionnaire
from turingsite.errors import Invalid, gettext_noop

KEY = "group"


@transaction.atomic
def start_game(
    *,
    study: Study,
    language: str,
    participants: Sequence[Participant | None],
    agent: Agent | None = None,
    now: datetime,
    is_preview: bool = False,
) -> Game:
    """Seat these people and one agent, and let them talk. ``agent``: by default drawn among the study's.

    ``None`` among the participants is a seat of nobody, which a researcher opens in a preview.
    """
    if len(participants) < 2:
        raise Invalid("too_few", gettext_noop("A game needs two people at least."))
    settings = locked_settings(study)
    number = (Game.objects.filter(study=study).aggregate(n=Max("number"))["n"] or 0) + 1
    agent = agent or draw_agent(settings, number)
    people = [one for one in participants if one is not None]
    room = open_room(
        study=study,
        game=KEY,
        language=language,
        seats=[
            *(NewSeat(Nature.HUMAN, one, one.rater if one else None) for one in participants),
            NewSeat(Nature.MACHINE, None, agent.machine.rater),
        ],
        seed=seeded(study.seed, KEY, number, "room").getrandbits(62),
        phase="discussion",
        seconds=settings.discussion_seconds,
        writable=True,
        limits=Limits(settings.max_length, settings.rate_count, settings.rate_seconds),
        typing=settings.typing_indicator,
        is_test=any(one.is_test for one in people),
        is_preview=is_preview,
        now=now,
    )
    return Game.objects.create(
        study=study,
        room=room,
        number=number,
        agent=agent,
        rules=rules_of(settings),
        people=len(participants),
        questionnaire=current_questionnaire(study, SURVEY),
    )


def locked_settings(study: Study) -> GroupSettings:
    """The study's settings, held until the transaction ends: games of a study start one after the other."""
    GroupSettings.objects.get_or_create(study=study)
    return GroupSettings.objects.select_for_update(no_key=True).get(study=study)


def draw_agent(settings: GroupSettings, number: int) -> Agent:
    """The agent of game ``number``, each of the study's with the same chance; the offline one by default."""
    agents = list(settings.agents.select_related("machine__rater").order_by("pk"))
    if not agents:
        return ensure_offline_agent()
    return seeded(settings.study.seed, KEY, number, "agent").choice(agents)
