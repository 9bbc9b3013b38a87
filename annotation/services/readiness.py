"""What keeps a study's annotation from opening, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models import AnnotationSettings, ReferenceDialogue
from annotation.services.material import tries_by_language
from dialogues.models import StudyItem
from dialogues.selectors import items_in_play
from studies.models import Language, Study

if TYPE_CHECKING:
    from studies.registry import Text


def ready(study: Study) -> list[Text]:
    """Problems, one sentence each; empty when every language has a batch of work, and a calibration where
    the study asks for one.
    """
    settings = AnnotationSettings.objects.filter(study=study).first()
    if settings is None:
        return [_("Say how the study annotates: its settings are missing.")]
    settings.study = study
    problems: list[Text] = []
    if not study.languages:
        problems.append(_("The annotation needs at least one judging language."))
    for language in study.languages:
        problems += _work(settings, language)
    if settings.calibration:
        problems += _calibration(settings)
    return problems


def _work(settings: AnnotationSettings, language: str) -> list[Text]:
    study = settings.study
    references = ReferenceDialogue.objects.filter(study=study, is_active=True).values("dialogue")
    pool = items_in_play(study, language, study_items__role=StudyItem.Role.MAIN)
    n = pool.exclude(pk__in=references).count()
    if n >= settings.batch_size:
        return []
    words = ngettext(
        "%(language)s has %(n)s dialogue to annotate; a batch needs %(size)s.",
        "%(language)s has %(n)s dialogues to annotate; a batch needs %(size)s.",
        n,
    )
    return [words % {"language": name_of(language), "n": n, "size": settings.batch_size}]


def _calibration(settings: AnnotationSettings) -> list[Text]:
    return [
        _(
            "%(language)s: a calibration needs %(size)s dialogues with known scores that can be played; "
            "%(n)s are there."
        )
        % {"language": name_of(language), "size": settings.calibration_dialogues, "n": tries.dialogues}
        for language, tries in tries_by_language(settings).items()
        if not tries.tries
    ]


def name_of(language: str) -> str:
    return str(Language(language).label) if language in Language.values else language
