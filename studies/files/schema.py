"""The schema of study files, in this one place; activities add theirs under ``settings`` by the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from zoneinfo import available_timezones

import yaml
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies import plans, registry
from studies.files.shapes import (
    Checked,
    Day,
    Fields,
    Flag,
    Found,
    Many,
    Number,
    Pairs,
    Problem,
    Shape,
    Text,
    Whole,
    Words,
)
from studies.models import EndState, Language
from studies.questions import CLOSED_KINDS

#: Rises when files that were right before would be read otherwise.
FORMAT = 1
#: A study's texts take some 20 kB.
LARGEST = 1 << 20
DEEPEST = 20

SLUG = Text(
    60, pattern=r"[-a-zA-Z0-9_]+", blank=False, form=gettext_lazy("Letters a to z, figures and dashes only.")
)
KEY = Text(40, pattern=r"[-a-zA-Z0-9_]+", blank=False, form=SLUG.form)
PARAMETER = Text(
    60, pattern=r"[A-Za-z0-9_]+", blank=False, form=gettext_lazy("Letters, figures and underscores only.")
)
LINK = Text(500, pattern=r"https?://\S+", form=gettext_lazy("A link begins with https://."))
EMAIL = Text(254, pattern=r"[^@\s]+@[^@\s]+\.[^@\s]+", form=gettext_lazy("This is no e-mail address."))

QUESTION = Fields(
    {"key": KEY, "kind": Text(known=(*CLOSED_KINDS, "text")), "text": Words()},
    {
        "required": Flag(),
        "hint": Words(),
        "options": Many(Fields({"value": Text(60, blank=False), "label": Words()}), by="value"),
        "max_length": Whole(1, 100_000),
    },
)
QUESTIONNAIRE = Fields(
    {"key": KEY, "title": Words(120, fill=True), "questions": Many(QUESTION, least=1, by="key")},
)
READ = Fields(
    {"summary": Pairs(), "sections": Pairs(), "debrief": Pairs()}, {"tagline": Text(), "welcome": Pairs(0)}
)
#: What a column of money holds.
AMOUNT = Number(0, 999_999.99, blank=True)
END = Fields({}, {"code": Text(60), "link": LINK, "amount": AMOUNT, "pay": Words(120, blank=True, fill=True)})


def _plan() -> Fields:
    """The plan's draft; a file never freezes one."""
    words = Text(20_000)
    return Fields(
        {},
        {
            "hypothesis": words,
            "outcome": Text(known=lambda: ("", *plans.outcomes())),
            "analysis_set": Text(known=plans.ANALYSIS_SETS),
            "families": Many(Text(known=lambda: tuple(plans.families()))),
            "target_by": Text(known=tuple(plans.CELLS)),
            "target_n": Whole(0, 10_000_000),
            "margin": Number(0.001, 1),
            "planning": words,
            "stopping": words,
            "exclusions": words,
            "notes": words,
        },
    )


def _no_text(language: str) -> str:
    return _("Chinese is missing (zh).") if language == "zh" else _("English is missing (en).")


def _no_end(state: str) -> str:
    return _("The end state “%(state)s” is missing; every end needs its pay and its way back.") % {
        "state": state
    }


def _study() -> Fields:
    text = Fields({"en": READ, "zh": READ}, lacking=_no_text)
    own: dict[str, Shape] = dict.fromkeys(registry.activities.keys(), text)
    parts: dict[str, Shape] = {part.key: Fields({}, part.fields) for part in registry.study_parts}
    return Fields(
        {
            "format": Whole(FORMAT, FORMAT),
            "slug": SLUG,
            "title": Words(120, fill=True),
            "languages": Many(Text(known=Language.values), least=1),
            "activities": Many(Text(known=registry.activities.keys), least=1),
            "consent": text,
            "ends": Fields(dict.fromkeys(EndState.values, END), lacking=_no_end),
        },
        {
            "seed": Whole(),
            "time_zone": Text(known=available_timezones),
            "min_age": Whole(0, 120),
            "profile_at": Text(known=("start", "end")),
            "recruiter": Fields({}, {"params": Many(PARAMETER), "required": Flag()}),
            "test_participants": Flag(),
            "is_listed": Flag(),
            "host": Text(200),
            "approval": Text(200),
            "contact": EMAIL,
            "erasure_until": Day(),
            "notice": Words(blank=True, fill=True),
            "soft_launch_n": Whole(1, 2_147_483_647),
            "pay_floor": AMOUNT,
            "currency": Text(10),
            "plan": _plan(),
            "consent_for": Fields({}, own),
            "questionnaires": Many(QUESTIONNAIRE, by="key"),
            "settings": Fields({}, parts),
        },
    )


def check(data: bytes) -> Checked:
    """The values of a study file and everything that is wrong with it, by line. Bad input never raises."""
    return checked(data, _study(), _questions)


def checked(
    data: bytes, shape: Shape, beyond: Callable[[yaml.Node, dict[str, Any], Found], None] | None = None
) -> Checked:
    """Values of a YAML file of that shape, and all that is wrong by line; ``beyond`` looks across keys."""
    node, problem = _node(data)
    if node is None:
        return Checked(None, [problem] if problem else [])
    found = Found()
    values = shape.check(node, "", found)
    if beyond is not None:
        beyond(node, values, found)
    problems = sorted(found.problems, key=lambda one: (one.line, one.column))
    errors = any(one.is_error for one in problems)
    return Checked(None if errors else values, problems)


def _node(data: bytes) -> tuple[yaml.Node | None, Problem | None]:
    if len(data) > LARGEST:
        return None, Problem(1, 1, "", _("This file is too large (1 MB is the most)."))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        return None, Problem(line, 1, "", _("This is not UTF-8. Save the file as UTF-8."))
    try:
        refused = _too_clever(text)
        node = None if refused else yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        words = _("YAML cannot be read here: %(problem)s. Look for a tab, a missing quote, a wrong indent.")
        return None, Problem(*place, "", words % {"problem": problem.problem or problem.context})
    except yaml.YAMLError as problem:
        return None, Problem(1, 1, "", _("YAML cannot be read: %(problem)s.") % {"problem": problem})
    if refused:
        return None, refused
    if node is None:
        return None, Problem(1, 1, "", _("The file is empty."))
    return node, None


def _too_clever(text: str) -> Problem | None:
    """What study files do without: references (a small file could unfold into gigabytes), deep nesting."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        mark = event.start_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            return Problem(
                *place,
                "",
                _("Anchors and references (& and *) are not used here. Text with them goes in quotes."),
            )
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                return Problem(*place, "", _("This is nested too deep."))
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
    return None


def _questions(node: yaml.Node, values: dict[str, Any], found: Found) -> None:
    """Closed questions need options, open ones have none: the one rule that spans keys."""
    nodes = dict((name.value, value) for name, value in node.value).get("questionnaires") if values else None  # noqa: C402
    if not isinstance(nodes, yaml.SequenceNode):
        return
    for entry, made in zip(nodes.value, values.get("questionnaires", []), strict=False):
        below = dict((name.value, value) for name, value in getattr(entry, "value", [])).get("questions")  # noqa: C402
        for one, question in zip(getattr(below, "value", []), made.get("questions", []), strict=False):
            key = f"questionnaires.{made.get('key', '')}.{question.get('key', '')}"
            closed = question.get("kind") in CLOSED_KINDS
            if closed and not question.get("options"):
                found.add(one, key, _("A question of the kind “%(kind)s” needs options.") % question)
            if question.get("kind") == "text" and question.get("options"):
                found.add(one, key, _("A question answered in own words has no options."))
