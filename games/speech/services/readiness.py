"""What keeps a study's speech game from opening, in words; the settings row of a new study."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from dialogues.models import StudyItem
from games.speech import assignment, balance
from games.speech.models import SpeechSettings
from games.speech.services.players import settings_of
from studies.models import Language, Study

if TYPE_CHECKING:
    from studies.registry import Text

LANGUAGES = {Language.EN: _("English"), Language.ZH: _("Chinese")}


def prepare(study: Study) -> None:
    """Give a new study the protocol's settings."""
    SpeechSettings.objects.get_or_create(study=study)


def ready(study: Study) -> list[Text]:
    """Problems, one sentence each; empty when every language has enough for a round of any composition."""
    settings = settings_of(study)
    problems: list[Text] = []
    if not study.languages:
        problems.append(_("The speech game needs at least one judging language."))
    for language in study.languages:
        problems += _problems(study, language, settings.round_size)
    silent = study.items.filter(role=StudyItem.Role.ATTENTION, is_active=True, expected="")
    for name in silent.order_by("dialogue__external_id").values_list("dialogue__external_id", flat=True):
        problems.append(
            _("%(dialogue)s is an attention item, but nothing says which answer it asks for.")
            % {"dialogue": name}
        )
    return problems


def _problems(study: Study, language: str, size: int) -> list[Text]:
    candidates = assignment.pool(study, language)
    name = LANGUAGES.get(Language(language), language) if language in Language.values else language
    if not candidates:
        return [_("%(language)s has no dialogue that can be played.") % {"language": name}]
    found: list[Text] = []
    for human, words in ((True, _("with a human")), (False, _("with a machine"))):
        alike = [candidate for candidate in candidates if (candidate.kind == balance.HUMAN) == human]
        if not alike:
            found.append(
                _("%(language)s has no dialogue %(with)s as speaker B.") % {"language": name, "with": words}
            )
            continue
        # Chance may fill a round with one truth; a kind that runs out is replaced by another of that truth.
        longest = _longest(alike, size)
        if longest < size:
            found.append(
                _(
                    "%(language)s, dialogues %(with)s as speaker B: a round of %(size)s needs %(size)s with "
                    "different openings, systems and speakers A; only %(longest)s go together. Add some, or "
                    "make rounds shorter."
                )
                % {"language": name, "with": words, "size": size, "longest": longest}
            )
    return found


def _longest(candidates: list[balance.Candidate], size: int) -> int:
    """How many dialogues can stand in one round, found greedily (so never too many), up to ``size``."""
    rarest = Counter(candidate.system for candidate in candidates)
    openings: set[str] = set()
    systems: set[int] = set()
    speakers: set[int] = set()
    count = 0
    for candidate in sorted(candidates, key=lambda one: (rarest[one.system], one.dialogue)):
        if candidate.opening in openings or candidate.system in systems or candidate.speaker in speakers:
            continue
        openings |= {candidate.opening} - {""}
        systems |= {candidate.system} - {None}  # type: ignore[arg-type]
        speakers |= {candidate.speaker} - {None}  # type: ignore[arg-type]
        count += 1
        if count == size:
            break
    return count
