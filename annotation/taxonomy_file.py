"""A taxonomy as one YAML file, in the format of ``taxonomies/default.yaml``: checked by line, written out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Category, Dimension, Taxonomy
from annotation.services.taxonomies import CALIBRATION, LANGUAGES
from studies.files.schema import checked
from studies.files.shapes import Checked, Fields, Found, Many, Shape, Text, Whole

KEY_FORM = gettext_lazy("Small letters a to z, figures and dashes only.")
KEY_PATTERN = r"[a-z0-9]+(-[a-z0-9]+)*"
LOW, NEUTRAL, HIGH = 1, 3, 5
WHEN = (CALIBRATION,)  # on what a section of the guidelines may depend
HEAD = (
    "# A taxonomy with the guidelines that annotators read first. Load it on the desk, under the study's\n"
    "# taxonomies; every line that is wrong is told. {max_difference}, {clear_share}, {min_dialogues} and\n"
    "# {rate} in the guidelines are filled in from the study. A section with `when: calibration` shows only\n"
    "# where the study calibrates.\n"
)


def key(most: int) -> Text:
    return Text(most, pattern=KEY_PATTERN, blank=False, form=KEY_FORM)


@dataclass(frozen=True)
class Both:
    """The same words in English and Chinese; missing Chinese is a hint."""

    most: int = 0
    blank: bool = False

    def check(self, node: yaml.Node, key: str, found: Found) -> dict[str, str]:
        if not isinstance(node, yaml.MappingNode):
            found.add(node, key, _("This should have en and zh-hans below it, one text each."))
            return {}
        text = Text(self.most)
        values = Fields({}, dict.fromkeys(LANGUAGES.values(), text)).check(node, key, found)
        english, chinese = (str(values.get(name, "")).strip() for name in LANGUAGES.values())
        if not english and not self.blank:
            found.add(node, key, _("English is missing (en)."))
        if english and not chinese:
            words = _("Chinese is missing (zh-hans): people who read Chinese would get the English.")
            found.add(node, key, words, is_error=False)
        return values


EXAMPLES = Fields({}, {name: Many(Text(blank=False)) for name in LANGUAGES.values()})
DIMENSION = Fields(
    {"key": key(60), "name": Both(80), "low": Both(120), "high": Both(120)},
    {"description": Both(blank=True), "examples": EXAMPLES},
)
CATEGORY = Fields(
    {"key": key(40), "name": Both(80), "dimensions": Many(DIMENSION, least=1, by="key")},
    {"summary": Both(blank=True)},
)
POINTS: dict[str, Shape] = {str(point): Both(80) for point in range(LOW, HIGH + 1)}
SCALE = Fields(
    {"points": Fields(POINTS), "no_evidence": Both(80)},
    {
        "low": Whole(LOW, LOW),
        "neutral": Whole(NEUTRAL, NEUTRAL),
        "high": Whole(HIGH, HIGH),
        "poles": Fields({}, {"low": Both(80), "high": Both(80)}),
    },
)
GUIDELINES = Fields(
    {"sections": Many(Fields({"title": Both(120), "text": Both()}, {"when": Text(known=WHEN)}), least=1)},
    {"version_note": Both(blank=True)},
)
TAXONOMY = Fields(
    {
        "name": key(60),
        "title": Both(120),
        "scale": SCALE,
        "categories": Many(CATEGORY, least=1, by="key"),
        "guidelines": GUIDELINES,
    },
    {"summary": Both(blank=True), "source": Text()},
)


def check(data: bytes) -> Checked:
    """The values of a taxonomy's file and everything that is wrong with it, by line."""
    return checked(data, TAXONOMY, _no_key_twice)


def _no_key_twice(node: yaml.Node, values: dict[str, Any], found: Found) -> None:
    """Dimensions have keys of their own over all categories; a list by itself knows its own entries only."""
    seen: set[str] = set()
    for category in _entries(node, "categories"):
        mine = [(one, _scalar(one, "key")) for one in _entries(category, "dimensions")]
        for one, name in mine:
            if name and name in seen:
                found.add(one, f"categories.{name}", _("“%(word)s” stands here twice.") % {"word": name})
        seen |= {name for _one, name in mine}


def _below(node: yaml.Node, name: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for at, value in pairs if at.value == name), None)


def _entries(node: yaml.Node, name: str) -> list[yaml.Node]:
    found = _below(node, name)
    return list(found.value) if isinstance(found, yaml.SequenceNode) else []


def _scalar(node: yaml.Node, name: str) -> str:
    found = _below(node, name)
    return str(found.value) if isinstance(found, yaml.ScalarNode) else ""


def body_of(taxonomy: Taxonomy) -> dict[str, Any]:
    """The taxonomy as its file says it; loading that file gives the same words."""
    scale, guidelines = taxonomy.scale, taxonomy.guidelines
    points = {point: _words(scale.get(str(point), {})) for point in range(LOW, HIGH + 1)}
    categories = taxonomy.categories.prefetch_related("dimensions").order_by("position")
    return {
        "name": taxonomy.name,
        "title": _columns(taxonomy, "title"),
        "summary": _columns(taxonomy, "summary"),
        "source": taxonomy.source,
        "scale": {
            "low": LOW,
            "high": HIGH,
            "neutral": NEUTRAL,
            "poles": {"low": points[LOW], "high": points[HIGH]},
            "points": points,
            "no_evidence": _words(scale.get("0", {})),
        },
        "categories": [_category(one) for one in categories],
        "guidelines": {
            "version_note": _words(guidelines.get("note", {})),
            "sections": [
                {
                    "title": _words(one["title"]),
                    **({"when": one["when"]} if one.get("when") else {}),
                    "text": _words(one["text"]),
                }
                for one in guidelines.get("sections", [])
            ],
        },
    }


def as_yaml(taxonomy: Taxonomy) -> str:
    """The text of the taxonomy's file."""
    text: str = yaml.dump(
        body_of(taxonomy), Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110,
        default_flow_style=False,
    )  # fmt: skip
    return HEAD + text


class _Dumper(yaml.SafeDumper):
    """Without anchors: words that repeat stand there twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _category(row: Category) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": _columns(row, "name"),
        "summary": _columns(row, "summary"),
        "dimensions": [_dimension(one) for one in row.dimensions.all()],
    }


def _dimension(row: Dimension) -> dict[str, Any]:
    return {"key": row.key} | {
        name: _columns(row, name) for name in ("name", "low", "high", "description", "examples")
    }


def _columns(row: Any, name: str) -> dict[str, Any]:
    return {language: getattr(row, f"{name}_{suffix}") for suffix, language in LANGUAGES.items()}


def _words(pair: Mapping[str, str]) -> dict[str, str]:
    return {language: pair.get(suffix, "") for suffix, language in LANGUAGES.items()}
