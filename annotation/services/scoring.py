"""Scores and the choice, saved as they are given: nothing is overwritten that somebody has not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import FilteredRelation, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import AnnotationSettings, BatchItem, Dimension, Score
from annotation.services import listening, sessions
from annotation.services.items import access_item, moved_on, settings_for
from annotation.services.leases import renew
from annotation.services.listening import Listening
from dialogues.models import Nature
from studies.models import Participant
from studies.prepared import PreparedInsert, PreparedRows, PreparedUpdate
from studies.services.holding import refuse_if_over
from turingsite.errors import Conflict

NO_EVIDENCE, NEUTRAL = 0, 3  # on the wire; as stored, beside the mark that there was none
State = BatchItem.State

_SCORES = PreparedRows(
    lambda taxonomy, item: (
        Dimension.objects.filter(taxonomy=taxonomy)
        .annotate(given=FilteredRelation("scores", condition=Q(scores__item=item)))
        .order_by("position")
        .values_list(
            "key", "pk", "given__pk", "given__value", "given__evidence", "given__version", "given__changes"
        )
    ),
    taxonomy=-1,
    item=-2,
)


_NEW = PreparedInsert(Score)
_ACTIVE = PreparedUpdate(BatchItem, "active_seconds", guard="active_seconds")


class Given(NamedTuple):
    """A dimension and what the item's rater said on it, if anything."""

    dimension: int
    is_stored: bool
    value: int | None  # on the wire: 0 for no evidence
    version: int
    changes: int


class Wish(NamedTuple):
    """A score that a page sends: its value, and which version of the stored one it knows."""

    value: Any
    version: int | None = 0


@dataclass
class Saved:
    """What is stored now of what was sent, what somebody changed elsewhere meanwhile, what is wrong by field.

    ``choice`` is the stored choice where one was sent: value, confidence, version.
    """

    item: BatchItem
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    choice: dict[str, Any] | None = None
    conflicts: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: dict[str, Any] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    rest: bool = False  # a break is offered
    of: int = 0

    @property
    def scored(self) -> int:
        return self.of - len(self.missing)

    @property
    def is_complete(self) -> bool:
        return not self.missing and bool(self.item.choice) and self.item.confidence is not None


def scores_of(item: BatchItem, settings: AnnotationSettings) -> dict[str, Given]:
    """Every dimension of the study by key, in the taxonomy's order, with what was said on it."""
    rows = _SCORES.all(taxonomy=settings.taxonomy_id, item=item.pk)
    return {
        key: Given(dimension, pk is not None, on_the_wire(value, evidence), version or 0, changes or 0)
        for key, dimension, pk, value, evidence, version, changes in rows
    }


def on_the_wire(value: int | None, evidence: bool | None) -> int | None:
    """0 for no evidence, None where there is no score."""
    return value if evidence or value is None else NO_EVIDENCE


@transaction.atomic
def save(
    *,
    participant: Participant,
    code: str,
    now: datetime,
    scores: Mapping[str, Any] | None = None,
    choice: Any = None,
    report: Listening | None = None,
    seconds: float | None = None,
    scripted: bool = True,
) -> Saved:
    """Store what is right of what was sent. The same again changes nothing.

    ``scores``: key → {"value": 0 … 5, "version": n}; ``choice``: {"value", "confidence", "version"}, accepted
    once every dimension has its score. What somebody changed elsewhere since version n stays as it is and is
    told. Conflict ``not_heard`` before the dialogue was heard whole, ``moved_on`` for an item that is over.
    Answers to an item whose time ran out are kept.
    """
    refuse_if_over(participant)
    settings = settings_for(participant)
    item = access_item(participant, code)
    if item.state not in (State.OPEN, State.RETURNED):
        raise moved_on()
    changed: set[str] = set()
    if report is not None:
        listening.apply(item, report, participant=participant, now=now)
    if report is not None or not item.gate:
        listening.open_gate(item, scripted=scripted, now=now)
        changed.update(listening.FIELDS)
    if not item.gate and (scores or choice):
        raise Conflict("not_heard", _("You can score once you have heard it all."))
    saved = Saved(item)
    known = scores_of(item, settings)
    saved.of = len(known)
    for key, sent in (scores or {}).items():
        _score(saved, known, key, sent, now=now)
    saved.missing = [key for key, given in known.items() if not given.is_stored]
    if choice is not None and _choose(saved, choice, now=now):
        changed.update(("choice", "first_choice", "confidence", "version", "chosen_at"))
    session = item.session  # type: ignore[attr-defined]  # read with the item
    added = sessions.touch(item.batch.annotator, session, settings, now, seconds)
    _keep(item, changed, added.seconds)
    renew(item.batch, settings, now=now)
    saved.rest = added.rest
    return saved


def _keep(item: BatchItem, changed: set[str], seconds: float) -> None:
    before = item.active_seconds
    item.active_seconds += seconds
    if changed:
        item.save(update_fields=[*changed, "active_seconds"])
    else:  # a score and nothing else: what people send most
        _ACTIVE.write(item.pk, item.active_seconds, was=before)


def _score(saved: Saved, known: dict[str, Given], key: str, sent: Any, *, now: datetime) -> None:
    given = known.get(key)
    if given is None:
        saved.faults[key] = _("There is no such dimension.")
        return
    wish = _wish(sent)
    if wish is None or not _is_step(wish.value):
        saved.faults[key] = _("Choose 1 to 5, or no evidence.")
        return
    value = int(wish.value)
    if not given.is_stored:
        given = _first(saved.item, given, value, now=now)
    elif given.value != value:
        if wish.version != given.version:
            saved.conflicts[key] = {"value": given.value, "version": given.version}
            return
        given = _again(saved.item, given, value, now=now)
    known[key] = given
    saved.scores[key] = {"value": value, "version": given.version}


def _wish(sent: Any) -> Wish | None:
    """What was sent of one score; None where it has not the shape of one."""
    if not isinstance(sent, Mapping) or "value" not in sent:
        return None
    return Wish(sent["value"], _version(sent))


def _version(sent: Mapping[str, Any]) -> int | None:
    """The version that a page knows, 0 for none; None, which nothing stored has, for no whole number."""
    version = sent.get("version")
    if version in (None, ""):
        return 0
    return version if isinstance(version, int) and not isinstance(version, bool) else None


def _is_step(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and NO_EVIDENCE <= value <= 5


def _stored(value: int) -> dict[str, Any]:
    return {"value": value or NEUTRAL, "evidence": value != NO_EVIDENCE}


def _first(item: BatchItem, given: Given, value: int, *, now: datetime) -> Given:
    columns = _stored(value)
    row = Score(
        study_id=item.study_id,
        rater_id=item.rater_id,
        dialogue_id=item.dialogue_id,
        dimension_id=given.dimension,
        layer=item.layer,
        repeat=item.repeat,
        item_id=item.pk,
        first_value=columns["value"],
        first_evidence=columns["evidence"],
        given_at=now,
        **columns,
    )
    _NEW.write(row)
    return given._replace(is_stored=True, value=value, version=1)


def _again(item: BatchItem, given: Given, value: int, *, now: datetime) -> Given:
    now_is = given._replace(value=value, version=given.version + 1, changes=given.changes + 1)
    own = Score.objects.filter(item=item, dimension=given.dimension, version=given.version)
    own.update(**_stored(value), version=now_is.version, changes=now_is.changes, changed_at=now)
    return now_is


def _choose(saved: Saved, sent: Any, *, now: datetime) -> bool:
    """Take the choice over into the item; whether anything changed. What is wrong is noted."""
    item = saved.item
    value = sent.get("value") if isinstance(sent, Mapping) else None
    confidence = sent.get("confidence") if isinstance(sent, Mapping) else None
    if value not in (Nature.HUMAN, Nature.MACHINE):
        saved.faults["choice"] = _("Answer human or machine.")
    elif confidence is not None and not (_is_step(confidence) and confidence >= 1):
        saved.faults["confidence"] = _("Say how sure you are, from 1 to 5.")
    elif saved.missing:
        saved.faults["choice"] = ngettext(
            "Score everything first: %(n)s score is missing.",
            "Score everything first: %(n)s scores are missing.",
            len(saved.missing),
        ) % {"n": len(saved.missing)}
    else:
        return _take_choice(saved, item, str(value), confidence, _version(sent), now=now)
    return False


def _take_choice(
    saved: Saved, item: BatchItem, value: str, confidence: int | None, version: int | None, *, now: datetime
) -> bool:
    changed = (item.choice, item.confidence) != (value, confidence)
    if changed and item.version and version != item.version:
        saved.conflicts["choice"] = choice_of(item)
        return False
    if changed:
        item.choice, item.confidence, item.chosen_at = value, confidence, now
        item.first_choice = item.first_choice or value
        item.version += 1
    saved.choice = choice_of(item)
    return changed


def choice_of(item: BatchItem) -> dict[str, Any]:
    return {"value": item.choice or None, "confidence": item.confidence, "version": item.version}
