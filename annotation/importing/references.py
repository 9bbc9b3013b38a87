"""Known scores from a file: of calibration dialogues and gold items. One known score for each dimension."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from annotation.importing.files import read_scores
from annotation.importing.rows import ScoreRow, check_known, taken
from annotation.importing.services import File, Imported, access_study, add_items, setting_of
from annotation.importing.setting import How
from annotation.models import ReferenceDialogue, ReferenceScore
from annotation.scored import Scored
from annotation.services.references import add_reference_scores
from annotation.services.settings import prepare
from dialogues.importing import notes
from dialogues.models import Dialogue
from studies.models import Study
from turingsite.errors import DomainError, NotFound

SOURCE = "import"


def preview_references(
    *, file: File, slug: str, how: How, role: str, now: datetime | None = None
) -> Imported:
    """What importing the file as known scores would do."""
    with transaction.atomic():
        done = import_references(file=file, slug=slug, how=how, role=role, now=now)
        transaction.set_rollback(True)
    return done


@transaction.atomic
def import_references(
    *, file: File, slug: str, how: How, role: str, user: Any = None, now: datetime | None = None
) -> Imported:
    """Keep the scores of the file as known ones: every dialogue becomes a reference of that role.

    A dialogue that is a reference already keeps its scores: the same ones change nothing, others are refused.
    Errors as of ``import_scores``.
    """
    now = now or timezone.now()
    study = access_study(slug, create=how.create)
    if study is None:
        raise NotFound("no_study", _("There is no study “%(slug)s”."), {"slug": slug})
    if how.create:
        prepare(study)
    setting = setting_of(study, how, now)
    manifest = read_scores(*file, setting.taxonomies.default, references=True)
    rows = check_known(manifest, setting, role)
    _stored(study, rows)
    if how.create:
        add_items(study, {row.clip.pk for row in taken(rows) if row.clip is not None})
    for dialogue, told in _by_dialogue(rows):
        _add(study, dialogue, told, role, user, now)
    return Imported(rows, manifest.notes, False)


def _by_dialogue(rows: list[ScoreRow]) -> Iterator[tuple[int, list[ScoreRow]]]:
    found: dict[int, list[ScoreRow]] = {}
    for row in taken(rows):
        if row.clip is not None:
            found.setdefault(row.clip.pk, []).append(row)
    yield from found.items()


def _add(study: Study, dialogue: int, told: list[ScoreRow], role: str, user: Any, now: datetime) -> None:
    """Make one reference; what stands against it refuses all its rows, and no others."""
    scores = {
        row.dim.key: row.given.value if row.given.evidence else None
        for row in told
        if row.dim is not None and row.given is not None
    }
    try:
        with transaction.atomic():
            add_reference_scores(
                study=study, dialogue=Dialogue.objects.get(pk=dialogue), role=role, source=SOURCE,
                scores=scores, user=user, now=now,
            )  # fmt: skip
    except DomainError as error:
        for row in told:
            row.own.append(notes.refused(error.code, str(error)))


def _stored(study: Study, rows: list[ScoreRow]) -> None:
    """Mark what active references hold already, and refuse what they hold otherwise."""
    stored: dict[tuple[int, int], Scored] = {}
    held = ReferenceScore.objects.filter(reference__study=study, reference__is_active=True)
    columns = ("reference__dialogue", "dimension", "value", "evidence")
    for dialogue, dimension, value, evidence in held.values_list(*columns):
        stored[dialogue, dimension] = Scored(value, evidence)
    references = set(
        ReferenceDialogue.objects.filter(study=study, is_active=True).values_list("dialogue", flat=True)
    )
    for row in rows:
        if row.refused or row.unchanged or row.clip is None or row.dim is None:
            continue
        kept = stored.get((row.clip.pk, row.dim.pk))
        if kept is not None and kept == row.given:
            row.unchanged = True
        elif row.clip.pk in references:
            message = gettext_noop(
                "This dialogue is a reference already, with other scores. Retire it first."
            )
            row.own.append(notes.refused("is_reference", message))
