"""Write the verdicts of a file: the people who gave them, what they said about themselves, the verdicts."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from dialogues.importing.manifest import Manifest
from dialogues.importing.opinions import BATCH, raters_of_file
from dialogues.importing.verdict_rows import Setting, VerdictRow, attributes_of, check_verdicts
from dialogues.models import StudyItem, Verdict
from dialogues.withdrawing import withdrawn
from studies import audit, builtin
from studies.models import Answer, Questionnaire, Rater, Study
from studies.questions import scale_of
from studies.selectors import PROFILE
from studies.services import create_study
from turingsite.errors import Conflict, NotFound

ACTIVITY = "speech"
Exclusion = Verdict.Exclusion


class Imported(NamedTuple):
    """Rows with what became of them; ``created``: the study was made for them."""

    rows: list[VerdictRow]
    created: bool

    @property
    def counts(self) -> Counter[str]:
        return Counter(row.result for row in self.rows)


def preview_verdicts(
    *, manifest: Manifest, slug: str, create: bool = False, now: datetime | None = None
) -> Imported:
    """What importing the file would do. NotFound for a study that does not exist, unless ``create``."""
    study = _study(slug, create=create)
    return Imported(check_verdicts(manifest, _setting(study, create, now)), study is None)


def import_verdicts(
    *, manifest: Manifest, slug: str, create: bool = False, user: Any = None, now: datetime | None = None
) -> Imported:
    """Take in what can be: raters under codes of their own, their profile answers, verdicts on speech.

    ``create`` makes what is missing: the study (a draft of the built-in protocol) and its items. All of the
    file is one transaction; the same file again changes nothing. An imported verdict belongs to a finished
    round; its round is 0 where the file does not say which.
    """
    now = now or timezone.now()
    try:
        with transaction.atomic():
            study = _study(slug, create=create)
            created = study is None
            if study is None:
                study = create_study(slug=slug, title_en=slug, user=user)
            setting = _setting(study, create, now)
            rows = check_verdicts(manifest, setting)
            taken = [row for row in rows if row.result in ("accepted", "warned")]
            if created and not taken:
                transaction.set_rollback(True)
                return Imported(rows, False)
            _items(study, taken)
            raters = raters_of_file(study, taken, now)
            answered = _answers(study, rows, raters, setting)
            _verdicts(study, taken, raters, now)
            if taken or answered:
                audit.record(
                    "verdicts.imported", study=study, user=user, target=study.slug, now=now,
                    verdicts=len(taken), answers=answered,
                )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            "imported_meanwhile", _("Somebody else is importing into this study. Try again in a minute.")
        ) from error
    return Imported(rows, created)


def _study(slug: str, *, create: bool) -> Study | None:
    study = Study.objects.filter(slug=slug).first()
    if study is None and not create:
        raise NotFound("no_study", _("There is no study “%(slug)s”. --create makes it."), {"slug": slug})
    return study


def _setting(study: Study | None, create: bool, now: datetime | None) -> Setting:
    questions = builtin.profile_questions() if study is None else getattr(_profile(study), "questions", [])
    setting = Setting(
        questions={str(question["key"]): question for question in questions},
        zone=ZoneInfo(study.time_zone if study else "UTC"),
        now=now or timezone.now(),
        add=create,
    )
    if study is not None:
        setting.read_study(study)
    return setting


def _profile(study: Study) -> Questionnaire | None:
    return Questionnaire.objects.filter(study=study, key=PROFILE, is_current=True).first()


def _items(study: Study, taken: list[VerdictRow]) -> None:
    wanted = {row.clip.pk for row in taken if row.clip is not None}
    there = set(StudyItem.objects.filter(study=study).values_list("dialogue", flat=True))
    # People who play right now must not be given what a file brought in.
    active = study.status not in Study.JOINABLE
    StudyItem.objects.bulk_create(
        (StudyItem(study=study, dialogue_id=pk, is_active=active) for pk in sorted(wanted - there)),
        batch_size=BATCH,
    )


def _answers(study: Study, rows: list[VerdictRow], raters: dict[str, Rater], setting: Setting) -> int:
    """Store what the rows say about people and the study does not hold yet; how many answers that is."""
    profile = _profile(study)
    if profile is None:
        return 0
    made = Answer.objects.bulk_create(
        (
            Answer(
                rater=raters[who],
                questionnaire=profile,
                question=name,
                value=value,
                scale=scale_of(setting.questions[name]),
                language="en",
                answered_at=setting.now,
            )
            for who, answers in attributes_of(rows).items()
            for name, value in answers.items()
            if (who, name) not in setting.told
        ),
        batch_size=BATCH,
    )
    return len(made)


def _verdicts(study: Study, taken: list[VerdictRow], raters: dict[str, Rater], now: datetime) -> None:
    silent = set(withdrawn().values_list("dialogue", flat=True))
    Verdict.objects.bulk_create(
        (
            Verdict(
                study=study,
                rater=raters[row.rater],
                dialogue_id=row.clip.pk,
                activity=ACTIVITY,
                choice=row.choice,
                evidence={"imported": True},
                round_number=row.round_number,
                round_finished=True,
                exclusion=Exclusion.RECORDING if row.clip.pk in silent else Exclusion.NONE,
                given_at=row.given_at or now,
            )
            for row in taken
            if row.clip is not None
        ),
        batch_size=BATCH,
    )
