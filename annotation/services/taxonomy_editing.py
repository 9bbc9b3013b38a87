"""Editing a taxonomy of a study's own, before anybody works by it; loading one from a file; choosing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Max, ProtectedError
from django.utils.translation import gettext as _

from annotation.models import Category, Dimension, Taxonomy
from annotation.services.settings import change_annotation_settings
from annotation.services.taxonomies import fill, refuse_frozen, words_of
from studies import audit
from studies.models import Study
from studies.services.setting import take
from turingsite.errors import Conflict, Invalid, NotFound

WORDS = ("title_en", "title_zh", "summary_en", "summary_zh", "source", "scale", "guidelines")
CATEGORY = ("key", "name_en", "name_zh", "summary_en", "summary_zh")
DIMENSION = (
    "key", "name_en", "name_zh", "low_en", "low_zh", "high_en", "high_zh", "description_en",
    "description_zh", "examples_en", "examples_zh",
)  # fmt: skip


def choose_taxonomy(*, study: Study, taxonomy: Taxonomy, user: Any = None) -> None:
    """Score by this version from now on. Invalid ``fixed`` once somebody has annotated; Conflict where it
    is empty or another study's.
    """
    if taxonomy.study_id not in (None, study.pk):
        raise Conflict("not_yours", _("This taxonomy belongs to another study. Make a copy."))
    if not taxonomy.dimensions.exists():
        raise Conflict("empty_taxonomy", _("There is nothing to score in it yet."))
    change_annotation_settings(study=study, user=user, taxonomy=taxonomy)


@transaction.atomic
def load_taxonomy(*, study: Study, body: Mapping[str, Any], user: Any = None) -> Taxonomy:
    """A version of the study's own from the values of a checked file; its name may be another study's, then
    it gets this one's in front.
    """
    name = str(body["name"])
    if Taxonomy.objects.filter(name=name).exclude(study=study).exists():
        name = f"{study.slug}-{name}"[:60].strip("-")
    newest = Taxonomy.objects.filter(name=name).aggregate(at=Max("version"))["at"] or 0
    made = Taxonomy.objects.create(
        name=name, version=newest + 1, study=study, created_by=user, **words_of(body)
    )
    fill(made, body)
    audit.record("taxonomy.loaded", study=study, user=user, target=str(made))
    return made


@transaction.atomic
def change_words(*, taxonomy: Taxonomy, user: Any = None, **fields: Any) -> list[str]:
    """Title, summary, source, scale and guidelines; the names of what changed."""
    if set(fields) - set(WORDS):
        raise ValueError("not words of a taxonomy")
    row = _held(taxonomy)
    changed = [name for name, value in fields.items() if getattr(row, name) != value]
    _store(row, fields, changed)
    if changed:
        _note(row, user, changed=changed)
    return changed


@transaction.atomic
def save_category(
    *, taxonomy: Taxonomy, row: Category | None = None, user: Any = None, **fields: Any
) -> Category:
    """Change a category, or add one at the end where ``row`` is None. Invalid with what is wrong by field."""
    held = _held(taxonomy)
    if row is None:
        last = held.categories.aggregate(at=Max("position"))["at"] or 0
        row = Category(taxonomy=held, position=last + 1)
    _save(row, fields, CATEGORY, user)
    return row


@transaction.atomic
def save_dimension(
    *, taxonomy: Taxonomy, category: Category, row: Dimension | None = None, user: Any = None, **fields: Any
) -> Dimension:
    """Change a dimension, or add one at the end of its category. Invalid with what is wrong by field."""
    held = _held(taxonomy)
    if category.taxonomy_id != held.pk:
        raise ValueError("a category of another taxonomy")
    if row is None or row.category_id != category.pk:
        last = held.dimensions.aggregate(at=Max("position"))["at"] or 0
        row = row or Dimension(taxonomy=held)
        row.category, row.position = category, last + 1
    _save(row, fields, DIMENSION, user)
    _number(held)
    return row


@transaction.atomic
def remove(*, taxonomy: Taxonomy, row: Category | Dimension, user: Any = None) -> None:
    """Take a dimension out, or a category without dimensions. Conflict where scores point to it."""
    held = _held(taxonomy)
    if isinstance(row, Category) and row.dimensions.exists():
        raise Conflict("not_empty", _("Move or remove its dimensions first."))
    key = row.key
    try:
        with transaction.atomic():
            row.delete()
    except ProtectedError as error:
        raise Conflict("scored", _("Scores point to it. It has to stay.")) from error
    _number(held)
    _note(held, user, removed=key)


@transaction.atomic
def move(*, taxonomy: Taxonomy, row: Category | Dimension, by: int, user: Any = None) -> None:
    """Move a category among the categories, or a dimension within its category, by one step up or down."""
    held = _held(taxonomy)
    among = held.categories.all() if isinstance(row, Category) else row.category.dimensions.all()
    rows: list[Any] = list(among.order_by("position"))
    at = next((place for place, one in enumerate(rows) if one.pk == row.pk), None)
    if at is None:
        raise NotFound("no_page", _("There is nothing at this address."))
    to = max(0, min(len(rows) - 1, at + by))
    if to != at:
        rows.insert(to, rows.pop(at))
        for one, position in zip(rows, sorted(one.position for one in rows), strict=True):
            type(row).objects.filter(pk=one.pk).update(position=position)
        _number(held)
        _note(held, user, moved=row.key)


def _held(taxonomy: Taxonomy) -> Taxonomy:
    """The row, locked, if it may be edited."""
    row = Taxonomy.objects.select_for_update(of=("self",)).get(pk=taxonomy.pk)
    if row.study_id is None:
        raise Conflict("shipped", _("This one ships with the product. Make a copy and edit that."))
    refuse_frozen(row)
    return row


def _number(taxonomy: Taxonomy) -> None:
    """Positions from 1 without gaps: categories by themselves, dimensions over all of them."""
    place = 0
    for at, category in enumerate(taxonomy.categories.order_by("position", "pk"), start=1):
        Category.objects.filter(pk=category.pk).exclude(position=at).update(position=at)
        for one in category.dimensions.order_by("position", "pk"):
            place += 1
            Dimension.objects.filter(pk=one.pk).exclude(position=place).update(position=place)


def _save(row: Category | Dimension, fields: Mapping[str, Any], known: tuple[str, ...], user: Any) -> None:
    if set(fields) - set(known):
        raise ValueError("not words of this row")
    taken = type(row).objects.filter(taxonomy=row.taxonomy, key=fields.get("key", row.key))
    if taken.exclude(pk=row.pk).exists():
        message = _("Another one has this key.")
        raise Invalid("key_taken", message, fields={"key": message})
    _store(row, fields, [name for name, value in fields.items() if getattr(row, name) != value] or ["key"])
    _note(row.taxonomy, user, changed=[row.key])


def _store(row: Any, fields: Mapping[str, Any], changed: list[str]) -> None:
    unchecked = ["study", "taxonomy", "category", "copied_from", "created_by", "position"]
    take(row, {name: fields[name] for name in changed}, code="bad_words", unchecked=unchecked)
    if row._state.adding:
        row.save()
    elif changed:
        extra = ["category", "position"] if isinstance(row, Dimension) else []
        row.save(update_fields=[*changed, *extra])


def _note(taxonomy: Taxonomy, user: Any, **detail: Any) -> None:
    audit.record("taxonomy.edited", study=taxonomy.study, user=user, target=str(taxonomy), **detail)
