"""Taxonomies: the one that ships, copies to edit, and freezing with the first person who works by one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext_lazy as _

from annotation.models import Category, Dimension, Taxonomy
from studies import audit
from studies.models import Study
from turingsite.errors import Conflict

DEFAULT = Path(__file__).resolve().parent.parent / "taxonomies" / "default.yaml"
CALIBRATION = "calibration"  # of a section of the guidelines: read only where the study calibrates
LANGUAGES = {"en": "en", "zh": "zh-hans"}  # suffix of a column: key in the file


@cache
def shipped() -> dict[str, Any]:
    """The file of the taxonomy that ships: title, scale, categories with dimensions, guidelines."""
    with DEFAULT.open(encoding="utf-8") as file:
        found: dict[str, Any] = yaml.safe_load(file)
    return found


@transaction.atomic
def default_taxonomy() -> Taxonomy:
    """The newest version of what ships; stored when first asked for, anew when its words change."""
    body = shipped()
    name, sha256 = body["name"], _hash(body)
    newest = Taxonomy.objects.select_for_update().filter(name=name, study=None).order_by("-version").first()
    if newest is not None and newest.sha256 == sha256:
        return newest
    version = newest.version + 1 if newest else 1
    taxonomy, made = Taxonomy.objects.get_or_create(
        name=name, version=version, defaults={**words_of(body), "sha256": sha256}
    )
    if made:
        fill(taxonomy, body)
    return taxonomy


def _hash(body: Any) -> str:
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _both(name: str, texts: Mapping[str, Any] | None, empty: Any = "") -> dict[str, Any]:
    return {f"{name}_{suffix}": (texts or {}).get(key, empty) for suffix, key in LANGUAGES.items()}


def _pair(texts: Mapping[str, Any]) -> dict[str, str]:
    return {suffix: str(texts.get(key, "")) for suffix, key in LANGUAGES.items()}


def _when(section: Mapping[str, Any]) -> dict[str, str]:
    return {"when": str(section["when"])} if section.get("when") else {}


def words_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of a taxonomy from the values of its file."""
    scale = {str(point): _pair(texts) for point, texts in body["scale"]["points"].items()}
    scale["0"] = _pair(body["scale"]["no_evidence"])
    sections = body["guidelines"]["sections"]
    guidelines = {
        "note": _pair(body["guidelines"].get("version_note", {})),
        "sections": [
            {"title": _pair(one["title"]), "text": _pair(one["text"]), **_when(one)} for one in sections
        ],
    }
    return {
        **_both("title", body["title"]),
        **_both("summary", body.get("summary")),
        "source": str(body.get("source", "")),
        "scale": scale,
        "guidelines": guidelines,
    }


def fill(taxonomy: Taxonomy, body: Mapping[str, Any]) -> None:
    """Make the categories and dimensions that the file of a new taxonomy names."""
    place = 0
    for position, group in enumerate(body["categories"], start=1):
        category = Category.objects.create(
            taxonomy=taxonomy,
            key=group["key"],
            position=position,
            **_both("name", group["name"]),
            **_both("summary", group.get("summary")),
        )
        for one in group["dimensions"]:
            place += 1
            Dimension.objects.create(
                taxonomy=taxonomy,
                category=category,
                key=one["key"],
                position=place,
                **_both("name", one["name"]),
                **_both("low", one["low"]),
                **_both("high", one["high"]),
                **_both("description", one.get("description")),
                **_both("examples", one.get("examples"), []),
            )


@transaction.atomic
def copy_taxonomy(*, taxonomy: Taxonomy, study: Study, user: Any = None) -> Taxonomy:
    """A copy for ``study`` that may be edited until somebody works by it; the next version of its name."""
    name = taxonomy.name if taxonomy.study_id == study.pk else f"{study.slug}-{taxonomy.name}"[:60].strip("-")
    newest = Taxonomy.objects.filter(name=name).aggregate(at=Max("version"))["at"] or 0
    made = Taxonomy.objects.create(
        name=name,
        version=newest + 1,
        study=study,
        copied_from=taxonomy,
        title_en=_copied(taxonomy.title_en, "{} (copy)"),
        title_zh=_copied(taxonomy.title_zh, "{}（副本）"),
        summary_en=taxonomy.summary_en,
        summary_zh=taxonomy.summary_zh,
        source=taxonomy.source,
        scale=taxonomy.scale,
        guidelines=taxonomy.guidelines,
        created_by=user,
    )
    for category in taxonomy.categories.all():
        dimensions = list(category.dimensions.all())
        category.pk, category._state.adding, category.taxonomy = None, True, made
        category.save()
        for dimension in dimensions:
            dimension.pk, dimension._state.adding = None, True
            dimension.taxonomy, dimension.category = made, category
            dimension.save()
    audit.record("taxonomy.copied", study=study, user=user, target=str(made), of=str(taxonomy))
    return made


def _copied(title: str, words: str) -> str:
    """The title of a copy; a copy of a copy keeps it."""
    longest = 120 - len(words) + 2
    return title if not title or title.endswith(words[2:]) else words.format(title[:longest])


def refuse_frozen(taxonomy: Taxonomy) -> None:
    """Conflict ``frozen`` where somebody works by it already: a copy can be edited instead."""
    if taxonomy.frozen_at is not None:
        raise Conflict("frozen", _("People work by this version already. Make a copy and edit that."))


@transaction.atomic
def freeze(*, taxonomy: Taxonomy, now: datetime) -> None:
    """From now on its words stay; the hash proves which they were. Frozen twice, the first time stands."""
    if taxonomy.frozen_at is not None:
        return
    sha256 = taxonomy.sha256 or words_hash(taxonomy)
    Taxonomy.objects.filter(pk=taxonomy.pk, frozen_at=None).update(frozen_at=now, sha256=sha256)
    taxonomy.refresh_from_db(fields=["frozen_at", "sha256"])


def words_hash(taxonomy: Taxonomy) -> str:
    """SHA-256 over all that an annotator reads: title, scale, guidelines, categories, dimensions."""
    skipped = {"id", "taxonomy", "category", "created_at", "created_by", "frozen_at", "sha256", "study"}
    skipped |= {"copied_from"}
    rows: list[Any] = [taxonomy, *taxonomy.categories.order_by("position")]
    rows += taxonomy.dimensions.order_by("position")
    return _hash(
        [
            {f.name: getattr(row, f.name) for f in row._meta.concrete_fields if f.name not in skipped}
            for row in rows
        ]
    )
