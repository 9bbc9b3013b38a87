"""What keeps a study's group game from opening, in words; the settings row of a new study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from games.group.models import GroupSettings
from games.group.selectors import SURVEY
from games.group.services.agents import ensure_offline_agent
from games.group.services.settings import settings_of
from games.room.pseudonyms import names
from studies.models import Study
from studies.selectors import current_questionnaire

if TYPE_CHECKING:
    from studies.registry import Text

LEAST_AGE = 18  # a live chat with strangers


def prepare(study: Study) -> None:
    """Give a new study the defaults and the agent that needs no model."""
    settings, made = GroupSettings.objects.get_or_create(study=study)
    if made:
        settings.agents.add(ensure_offline_agent())


def ready(study: Study) -> list[Text]:
    """Problems, one sentence each."""
    settings = settings_of(study)
    problems: list[Text] = []
    if study.min_age < LEAST_AGE:
        problems.append(
            _("The group game is a live chat: set the minimum age to %(age)s or more.") % {"age": LEAST_AGE}
        )
    if settings.pk is None or not settings.agents.exists():
        problems.append(_("The group game needs an agent."))
    elif any(not one.told_en or not one.told_zh for one in settings.agents.all()):
        problems.append(_("An agent lacks the words that tell people afterwards what it was told."))
    if settings.least_people > settings.people:
        problems.append(_("A game can't need more people than it has."))
    for language in study.languages:
        if settings.people + 1 > len(names(language)):
            problems.append(_("There are not enough names for so many players."))
    sheet = current_questionnaire(study, SURVEY)
    if sheet is not None and any(question.get("required") for question in sheet.questions):
        problems.append(_("Every question after the group game must be one that people may leave open."))
    if settings.bots_after is not None and not study.test_participants:
        problems.append(_("Bots may take seats only where test participants are allowed."))
    return problems
