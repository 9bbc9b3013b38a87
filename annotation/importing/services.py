"""Write the scores of a file: the people who gave them, their final choices, the scores in their layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.importing.files import read_scores
from annotation.importing.heads import Head
from annotation.importing.rows import SHOWN, ScoreRow, check_scores, taken
from annotation.importing.setting import How, ScoreKey, Setting
from annotation.importing.taxonomies import Taxonomies, named
from annotation.models import AnnotationSettings, Layer, Score, Taxonomy
from annotation.services.review_cases import refresh_cases
from annotation.services.settings import prepare
from annotation.services.taxonomies import default_taxonomy, freeze
from annotation.services.verdicts import ACTIVITY
from dialogues.importing.notes import Note
from dialogues.importing.opinions import raters_of_file
from dialogues.models import StudyItem, Verdict
from studies import audit
from studies.models import Study
from studies.services import create_study
from turingsite.errors import Conflict, Invalid, NotFound

BATCH = 2000
RAW = str(Layer.RAW)


class File(NamedTuple):
    """A file as it was given: its bytes, and its name for its ending."""

    data: bytes
    name: str


class Imported(NamedTuple):
    """Rows with what became of them; ``notes``: on the file; ``created``: the study was made for them."""

    rows: Sequence[ScoreRow]
    notes: list[Note]
    created: bool

    @property
    def counts(self) -> Counter[str]:
        return Counter(row.result for row in self.rows)


def preview_scores(*, file: File, slug: str, how: How, now: datetime | None = None) -> Imported:
    """What importing the file would do. Errors as :func:`import_scores`."""
    study = access_study(slug, create=how.create)
    setting = setting_of(study, how, now or timezone.now())
    manifest = read_scores(*file, setting.taxonomies.default)
    return Imported(check_scores(manifest, setting), manifest.notes, study is None)


def import_scores(
    *, file: File, slug: str, how: How, user: Any = None, now: datetime | None = None
) -> Imported:
    """Take in what can be: raters under codes of their own, scores in their layers, choices as verdicts.

    A rater whose code is that of somebody in the study is that person. Scores of the layer truth-shown are
    tied to the raw ones that they revise, whichever came first. All of the file is one transaction; the same
    file again changes nothing. Then the review gets its cases. NotFound for a study that is not there or does
    not annotate (``how.create`` makes both), ManifestRefused for a file that can't be read as a whole.
    """
    now = now or timezone.now()
    try:
        with transaction.atomic():
            study = access_study(slug, create=how.create)
            created = study is None
            setting = setting_of(study, how, now)
            manifest = read_scores(*file, setting.taxonomies.default)
            rows = check_scores(manifest, setting)
            written = taken(rows)
            if created and not written:
                transaction.set_rollback(True)
                return Imported(rows, manifest.notes, False)
            study = study or create_study(slug=slug, title_en=slug, user=user, activities=[ACTIVITY])
            if how.create:
                prepare(study)
            _write(study, written, setting, now)
            if written:
                audit.record(
                    "scores.imported", study=study, user=user, target=study.slug, now=now,
                    scores=len(written), layers=sorted({row.head.layer for row in written}),
                )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            "imported_meanwhile", _("Somebody else is importing into this study. Try again in a minute.")
        ) from error
    if written:
        refresh_cases(study, now)  # so that no reviewer waits while a large file comes into the queue
    return Imported(rows, manifest.notes, created)


def access_study(slug: str, *, create: bool) -> Study | None:
    """The study; None where it is to be made. NotFound where there is none, or it does not annotate."""
    study = Study.objects.filter(slug=slug).first()
    if study is None and not create:
        raise NotFound("no_study", _("There is no study “%(slug)s”. --create makes it."), {"slug": slug})
    if study is not None and not create and not AnnotationSettings.objects.filter(study=study).exists():
        raise NotFound(
            "no_annotation",
            _("The study “%(slug)s” does not annotate. --create prepares it for that."),
            {"slug": slug},
        )
    return study


def setting_of(study: Study | None, how: How, now: datetime) -> Setting:
    """What the rows are checked against. Invalid for a taxonomy that is not there."""
    setting = Setting(
        how=how,
        taxonomies=Taxonomies(_taxonomy(study, how.taxonomy)),
        zone=ZoneInfo(study.time_zone if study else "UTC"),
        now=now,
    )
    if study is not None:
        setting.read_study(study)
    return setting


def _taxonomy(study: Study | None, name: str) -> Taxonomy:
    if name:
        found = named(Taxonomy.objects.all(), name)
        if found is None:
            known = ", ".join(str(one) for one in Taxonomy.objects.order_by("name", "version")[:20])
            raise Invalid(
                "no_taxonomy",
                _("There is no taxonomy “%(name)s”. There are: %(known)s."),
                {"name": name, "known": known or "—"},
            )
        return found
    settings = AnnotationSettings.objects.select_related("taxonomy").filter(study=study).first()
    return settings.taxonomy if settings is not None else default_taxonomy()


def _write(study: Study, written: Sequence[ScoreRow], setting: Setting, now: datetime) -> None:
    add_items(study, {row.clip.pk for row in written if row.clip is not None})
    new = raters_of_file(study, (row for row in written if row.head.known is None), now)
    raters = {who: rater.pk for who, rater in new.items()}
    _scores(study, written, raters, setting)
    _choices(study, written, raters, now)
    for pk in {row.head.words.taxonomy.pk for row in written if row.head.words is not None}:
        freeze(taxonomy=Taxonomy.objects.get(pk=pk), now=now)


def add_items(study: Study, wanted: set[int]) -> None:
    """Make the dialogues items of the study; switched off where people take part right now."""
    there = set(StudyItem.objects.filter(study=study).values_list("dialogue", flat=True))
    active = study.status not in Study.JOINABLE
    StudyItem.objects.bulk_create(
        (StudyItem(study=study, dialogue_id=pk, is_active=active) for pk in sorted(wanted - there)),
        batch_size=BATCH,
    )


def _rater(head: Head, raters: dict[str, int]) -> int:
    return head.known.pk if head.known is not None else raters[head.rater]


def _scores(study: Study, written: Sequence[ScoreRow], raters: dict[str, int], setting: Setting) -> None:
    """The blind ones first: those of the layer truth-shown point at the raw ones."""
    raw = {key: kept.pk for key, kept in setting.scores.items() if key[3] == RAW}
    blind = [_score(study, row, raters) for row in written if row.head.layer != SHOWN]
    for one in Score.objects.bulk_create(blind, batch_size=BATCH):
        if one.layer == RAW:
            raw[one.rater_id, one.dialogue_id, one.dimension_id, RAW, one.repeat] = one.pk
    shown = [_score(study, row, raters) for row in written if row.head.layer == SHOWN]
    for one in shown:
        one.revises_id = raw.get((one.rater_id, one.dialogue_id, one.dimension_id, RAW, one.repeat))
    Score.objects.bulk_create(shown, batch_size=BATCH)
    _tie(setting.untied, raw)


def _tie(untied: dict[ScoreKey, int], raw: dict[ScoreKey, int]) -> None:
    """Scores of the layer truth-shown that were here before the raw ones they revise."""
    found = [
        Score(pk=pk, revises_id=raw[key[0], key[1], key[2], RAW, key[4]])
        for key, pk in untied.items()
        if (key[0], key[1], key[2], RAW, key[4]) in raw
    ]
    Score.objects.bulk_update(found, ["revises"], batch_size=500)


def _score(study: Study, row: ScoreRow, raters: dict[str, int]) -> Score:
    head, given = row.head, row.given
    assert head.clip is not None and row.dim is not None and given is not None  # noqa: S101, PT018
    return Score(
        study=study,
        rater_id=_rater(head, raters),
        dialogue_id=head.clip.pk,
        dimension_id=row.dim.pk,
        layer=head.layer,
        repeat=head.repeat,
        value=given.value,
        evidence=given.evidence,
        first_value=row.first.value if row.first is not None else None,
        first_evidence=row.first.evidence if row.first is not None else None,
        changes=row.changes,
        version=row.changes + 1,
        purpose=head.purpose,
        exclusion=head.exclusion,
        given_at=head.given_at or timezone.now(),
        changed_at=head.changed_at,
    )


def _choices(study: Study, written: Sequence[ScoreRow], raters: dict[str, int], now: datetime) -> None:
    """The final choices that blind rows state, once for each rater and dialogue."""
    said: dict[tuple[int, int], Head] = {}
    there = set(Verdict.objects.filter(study=study, repeat=0).values_list("rater", "dialogue"))
    for head in (row.head for row in written):
        if head.choice and head.clip is not None and head.layer != SHOWN:
            at = (_rater(head, raters), head.clip.pk)
            if at not in there:
                said.setdefault(at, head)
    Verdict.objects.bulk_create(
        (
            Verdict(
                study=study,
                rater_id=rater,
                dialogue_id=dialogue,
                activity=ACTIVITY,
                choice=head.choice,
                confidence=head.confidence,
                evidence={"imported": True},
                round_finished=True,
                exclusion=_verdict_exclusion(head.exclusion),
                given_at=head.given_at or now,
            )
            for (rater, dialogue), head in said.items()
        ),
        batch_size=BATCH,
    )


def _verdict_exclusion(reason: str) -> str:
    """The reason as verdicts have it; those of scores alone count as withdrawn."""
    return reason if reason in Verdict.Exclusion.values else str(Verdict.Exclusion.WITHDRAWN)
