"""What applying a study file would change in a study, and what it may not change, in words."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import yaml
from django.utils.translation import gettext as _

from studies import plans, registry
from studies.files.describing import current_questionnaires, describe
from studies.models import Consent, Language, Study
from studies.services.running import FIXED_ONCE_OPENED

State = Literal["unchanged", "changed", "new", "kept"]
_SIGNS = {"unchanged": "=", "changed": "~", "new": "+", "kept": "="}
#: Lines of one change that are shown; longer texts are cut.
MOST_LINES = 40
#: Lines of a new value, and signs of a line.
FEW_LINES, MOST_SIGNS = 3, 100


@dataclass(frozen=True)
class Change:
    """One key of the file beside the study. ``refusal`` says why it may not be applied, if so."""

    key: str
    state: State
    before: Any = None
    after: Any = None
    note: str = ""
    refusal: str = ""


def compare(study: Study | None, values: Mapping[str, Any]) -> list[Change]:
    """Every key of the file beside ``study`` (``None``: it would be new). What the file leaves out stays."""
    if study is None:
        return [
            Change(key, "new", after=after) for key, after in _flat(values) if key not in ("format", "slug")
        ]
    # Where there is no plan yet, an empty one says the same.
    before = dict(_flat({"plan": plans.EMPTY, **describe(study)}))
    changes = []
    for key, after in _flat(values):
        if key in ("format", "slug"):
            continue
        if key not in before:
            changes.append(Change(key, "new", after=after, refusal=_refusal(study, key, None, after)))
        elif before[key] == after:
            changes.append(Change(key, "unchanged", before[key], after))
        else:
            changes.append(
                Change(
                    key,
                    "changed",
                    before[key],
                    after,
                    _note(study, key),
                    _refusal(study, key, before[key], after),
                )
            )
    named = {str(one["key"]) for one in values.get("questionnaires", [])}
    changes += [
        Change(
            f"questionnaires.{row.key}", "kept", note=_("Not in the file; it stays, and so do its answers.")
        )
        for row in current_questionnaires(study)
        if row.key not in named
    ]
    return changes


def shown(changes: list[Change]) -> Iterator[str]:
    """The comparison as lines for people; unchanged keys are counted in one line."""
    unchanged = sum(1 for one in changes if one.state == "unchanged")
    if unchanged:
        yield _("= unchanged: %(n)s") % {"n": unchanged}
    for one in changes:
        if one.state == "unchanged":
            continue
        if one.state == "new" and not isinstance(one.after, dict | list):
            yield f"+ {one.key}: {_cut(_lines(one.after)[0])}"
        else:
            yield f"{_SIGNS[one.state]} {one.key}"
            yield from _beginning(_lines(one.after)) if one.state == "new" else ()
        if one.state == "changed":
            lines = [
                line
                for line in difflib.unified_diff(_lines(one.before), _lines(one.after), lineterm="", n=0)
                if not line.startswith(("---", "+++", "@@"))
            ]
            yield from (f"    {line}" for line in lines[:MOST_LINES])
            if len(lines) > MOST_LINES:
                yield "    " + _("… and %(n)s more lines") % {"n": len(lines) - MOST_LINES}
        if one.note:
            yield f"    {one.note}"
        if one.refusal:
            yield f"  ! {one.refusal}"


def _flat(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys that are compared: one questionnaire, one field of an end, one setting at a time."""
    for key, value in values.items():
        if key == "questionnaires":
            for one in value:
                yield f"questionnaires.{one['key']}", {"title": one["title"], "questions": one["questions"]}
        elif key in ("ends", "settings"):
            for name, fields in value.items():
                for field, content in fields.items():
                    yield f"{key}.{name}.{field}", content
        elif key in ("recruiter", "plan", "consent_for"):
            for field, content in value.items():
                yield f"{key}.{field}", content
        else:
            yield key, value


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        text: str = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=1000)
        return text.splitlines()
    words = {None: "null", True: "true", False: "false"}  # as they stand in the file
    return [words[value] if value is None or isinstance(value, bool) else str(value)]


def _beginning(lines: list[str]) -> Iterator[str]:
    """The first lines of a value that has nothing to be compared with."""
    yield from (f"    {_cut(line)}" for line in lines[:FEW_LINES])
    if len(lines) > FEW_LINES:
        yield "    " + _("… and %(n)s more lines") % {"n": len(lines) - FEW_LINES}


def _cut(line: str) -> str:
    return line if len(line) <= MOST_SIGNS else line[: MOST_SIGNS - 1] + "…"


def _note(study: Study, key: str) -> str:
    if _is_text(key):
        texts = study.consent_texts.filter(activity=key.partition(".")[2])
        latest = texts.order_by("-version").first()
        return _("Becomes a new version; the %(n)s people who agreed to version %(version)s keep it.") % {
            "n": Consent.objects.filter(text__in=texts).count(),
            "version": latest.version if latest else 0,
        }
    if key.startswith("plan."):
        return _("Goes into the plan's draft; what is frozen stays.")
    if key.startswith("questionnaires."):
        return _("Becomes a new version; answers stay with the version they were given to.")
    return ""


def _is_text(key: str) -> bool:
    return key == "consent" or key.startswith("consent_for.")


def _refusal(study: Study, key: str, before: Any, after: Any) -> str:
    """Why a change may not be applied: it would break what people did, agreed to or were promised."""
    people = study.participants.count()
    if _is_text(key) and study.status in Study.JOINABLE:
        return _("Pause the study before you change what people agree to.")
    if key.startswith("settings."):
        _settings, part, field = key.split(".", 2)
        if part in registry.study_parts:
            return str(registry.study_parts.get(part).refusal(study, field))
        return ""
    if not people:
        return ""
    if key in FIXED_ONCE_OPENED:
        return _("This can't be changed any more: people have taken part.")
    if key == "seed":
        return _("Every draw so far began from this seed; another one could not repeat them.")
    if key == "activities":
        return _("People have taken part: they would have been in another study.")
    if key == "languages":
        left = sorted(set(before) - set(after))
        judged = study.participants.filter(judging_language__in=left).count() if left else 0
        names = ", ".join(str(dict(Language.choices)[one]) for one in left)
        return (
            _("%(n)s people judge in %(languages)s; it has to stay.") % {"n": judged, "languages": names}
            if judged
            else ""
        )
    if key == "recruiter.params" and list(before)[:1] != list(after)[:1]:
        recruited = study.participants.exclude(recruiter_key="").count()
        return (
            _("%(n)s people are known by “%(name)s”; it has to stay the first.")
            % {"n": recruited, "name": before[0] if before else ""}
            if recruited
            else ""
        )
    if key == "erasure_until" and after is not None and (before is None or after < before):
        return _("People were promised that their answers can be erased longer than that.")
    return ""
