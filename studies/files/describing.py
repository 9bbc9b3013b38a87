"""A study, or a built-in template, as a study file: the same keys in the same order, all written out."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import yaml

from studies import builtin, plans, registry, texts
from studies.files.schema import FORMAT
from studies.models import EndState, Questionnaire, Study
from studies.selectors import source_of

#: Built-in study files: the published protocol, the same for people who come through a panel, the
#: annotation, the group game.
TEMPLATES = ("speech", "panel", "annotation", "group")
_HEAD = "# A study. Check with check_study, see what it would change with import_study; --apply changes it.\n"
_TO_FILL = (
    "# Fill in: slug, title, host, contact, approval; under ends the pay people read and, with a panel, the\n"
    "# code or link of each. Codes that are not given are drawn.\n"
)


def describe(study: Study, *, with_codes: bool = True, with_draft: bool = True) -> dict[str, Any]:
    """The study as its file says it. ``with_codes``: with completion codes and links, which are money.

    The plan is its draft where there is one and ``with_draft``, else the one that holds; without either it is
    left out.
    """
    plan = (plans.draft_of(study) if with_draft else None) or plans.frozen_plan(study)
    return {
        "format": FORMAT,
        "slug": study.slug,
        "title": {"en": study.title_en, "zh": study.title_zh},
        "languages": list(study.languages),
        "activities": list(study.activities),
        **_columns(study),
        **({"plan": plans.content_of(plan)} if plan is not None else {}),
        "consent": _plain(source_text(study)),
        **_for_activities(study),
        "questionnaires": [_questionnaire(one) for one in current_questionnaires(study)],
        "ends": _ends(study, with_codes),
        "settings": {
            part.key: part.read(study)
            for part in registry.study_parts
            if part.key in study.activities or part.has(study)
        },
    }


def template(name: str) -> dict[str, Any]:
    """A built-in study as the values of a file, still to be filled in. KeyError for an unknown one."""
    if name not in TEMPLATES:
        raise KeyError(name)
    changes = builtin.load(name) if name != "speech" else {}
    base = builtin.load(changes.get("based_on", name))
    profile = builtin.load("profile")
    empty = Study(seed=0)
    columns = _columns(empty)
    del columns["seed"]  # every study draws its own
    settings = {part.key: part.defaults() for part in _parts(base["activities"])}
    for key, values in changes.get("settings", {}).items():
        settings[key] |= values
    return {
        "format": FORMAT,
        "slug": f"my-{name}-study",
        "title": {"en": "My study", "zh": "我的研究"},
        "languages": list(base["languages"]),
        "activities": list(base["activities"]),
        **columns,
        **{key: changes[key] for key in ("recruiter",) if key in changes},
        "plan": {**plans.EMPTY, **changes.get("plan", {})},
        "consent": _plain(_replaced(base["consent"], changes.get("replace", {}))),
        "questionnaires": [
            {
                "key": profile["key"],
                "title": dict(profile["title"]),
                "questions": builtin.profile_questions(extras=tuple(changes.get("profile_extras", ()))),
            },
            *_plain(base.get("surveys", [])),
        ],
        "ends": {state: {"amount": None, "pay": {"en": "", "zh": ""}} for state in EndState.values},
        "settings": settings,
    }


def as_yaml(values: dict[str, Any], *, to_fill: bool = False) -> str:
    """The text of a study file."""
    text: str = yaml.dump(
        values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=110, default_flow_style=False
    )
    return _HEAD + (_TO_FILL if to_fill else "") + text


def source_text(study: Study, activity: str = "") -> dict[str, Any]:
    """The newest consent text as written: with its places ({host}, …), not as filled in at opening."""
    source = source_of(study, activity)
    return {key: value for key, value in source.body.items() if key != "of"} if source else {}


def _for_activities(study: Study) -> dict[str, Any]:
    """The texts of activities that people do as their own; nothing where there is none."""
    keys = study.consent_texts.exclude(activity="").order_by("activity").values_list("activity", flat=True)
    found = {key: _plain(source_text(study, key)) for key in dict.fromkeys(keys)}
    return {"consent_for": found} if found else {}


def current_questionnaires(study: Study) -> list[Questionnaire]:
    return list(study.questionnaires.filter(is_current=True).order_by("key"))


class _Dumper(yaml.SafeDumper):
    """Without anchors: a study file has none, and text that repeats stands there twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _columns(study: Study) -> dict[str, Any]:
    return {
        "seed": study.seed,
        "time_zone": study.time_zone,
        "min_age": study.min_age,
        "profile_at": study.profile_at,
        "recruiter": {"params": list(study.recruiter_params), "required": study.recruiter_required},
        "test_participants": study.test_participants,
        "is_listed": study.is_listed,
        "host": study.host,
        "approval": study.approval,
        "contact": study.contact,
        "erasure_until": study.erasure_until,
        "notice": {"en": study.notice_en, "zh": study.notice_zh},
        "soft_launch_n": study.soft_launch_n,
        "pay_floor": _amount(study.pay_floor),
        "currency": study.currency,
    }


def _amount(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _questionnaire(row: Questionnaire) -> dict[str, Any]:
    return {
        "key": row.key,
        "title": {"en": row.title_en, "zh": row.title_zh},
        "questions": _plain(row.questions),
    }


def _ends(study: Study, with_codes: bool) -> dict[str, Any]:
    rows = {row.end_state: row for row in study.completions.all()}
    ends: dict[str, Any] = {}
    for state in EndState.values:
        row = rows.get(state)
        codes = {"code": row.code if row else "", "link": row.link if row else ""} if with_codes else {}
        ends[state] = {
            **codes,
            "amount": _amount(row.amount) if row else None,
            "pay": {"en": row.pay_en if row else "", "zh": row.pay_zh if row else ""},
        }
    return ends


def _parts(activities: list[str]) -> list[registry.StudyPart]:
    return [part for part in registry.study_parts if part.key in activities]


def _replaced(consent: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The texts with the words of some rows replaced, found by their label or heading. KeyError for none."""
    made: dict[str, Any] = {}
    for language in texts.LANGUAGES:
        made[language] = dict(consent[language])
        for part, rows in changes.get(language, {}).items():
            left = dict(rows)
            made[language][part] = [
                [label, left.pop(label, words)] for label, words in consent[language][part]
            ]
            if left:
                raise KeyError(f"{language} {part}: {', '.join(left)}")
    return made


def _plain(value: Any) -> Any:
    """Lists and dictionaries of their own, so that nobody changes what was read from a file or a row."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
