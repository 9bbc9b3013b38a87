"""Applying a study file: a new study, or changes to one that exists. Answers are never touched."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from studies import audit, codes, plans, registry
from studies.files.comparing import Change, compare
from studies.models import Completion, EndState, Study, StudyMember
from studies.services.opening import publish_consent_text, publish_questionnaire
from studies.services.planning import save_draft
from studies.services.running import change_settings
from turingsite.errors import Conflict

#: Keys of a file that are columns of a study as they stand.
_COLUMNS = (
    "languages", "time_zone", "min_age", "profile_at", "test_participants", "is_listed", "host", "approval",
    "contact", "erasure_until", "soft_launch_n", "currency",
)  # fmt: skip


@transaction.atomic
def apply_study_file(
    *, values: Mapping[str, Any], only_new: bool = False, user: Any = None, now: datetime | None = None
) -> tuple[Study, list[Change]]:
    """Make the study of a checked file, or change the one at its address; which, and what changed.

    All or nothing: Conflict ``refused`` with every reason in words where something may not change. A new
    study is a draft, ``user`` its researcher; ``only_new`` changes none that exists (``slug_taken``). What
    the file leaves out keeps what it has, or its default.
    """
    slug = values["slug"]
    study = Study.objects.select_for_update().filter(slug=slug).first()
    if only_new and study is not None:
        raise Conflict("slug_taken", _("Another study has this address. Choose another."))
    changes = [one for one in compare(study, values) if one.state in ("changed", "new")]
    refused = [one for one in changes if one.refusal]
    if refused:
        reasons = " ".join(f"{one.key}: {one.refusal}" for one in refused)
        raise Conflict("refused", _("Nothing was changed. %(reasons)s"), {"reasons": reasons})
    if study is None:
        study = _create(values, user)
    keys = {one.key for one in changes}
    if keys:
        _write_columns(study, values, keys, user)
        _write_texts(study, values, keys, user, now)
        _write_ends(study, values, keys)
        _write_plan(study, values, keys, user)
        for part in registry.study_parts:
            prefix = f"settings.{part.key}."
            chosen = {
                name: value
                for name, value in values.get("settings", {}).get(part.key, {}).items()
                if prefix + name in keys
            }
            if chosen:
                part.write(study, chosen, user)
        audit.record("study.file_applied", study=study, user=user, target=slug, now=now, changed=sorted(keys))
    study.refresh_from_db()
    return study, changes


def _create(values: Mapping[str, Any], user: Any) -> Study:
    study = Study.objects.create(slug=values["slug"], title_en=values["title"]["en"], activities=[])
    Completion.objects.bulk_create(
        Completion(study=study, end_state=state, code=codes.public_code().upper())
        for state in EndState.values
    )
    if user is not None:
        StudyMember.objects.create(study=study, user=user, role=StudyMember.Role.RESEARCHER)
    for key in values["activities"]:
        registry.activities.get(key).prepare(study)
    return study


def _write_columns(study: Study, values: Mapping[str, Any], keys: set[str], user: Any) -> None:
    fields: dict[str, Any] = {name: values[name] for name in _COLUMNS if name in keys}
    for name in ("title", "notice"):
        if name in keys:
            fields |= {f"{name}_{language}": values[name].get(language, "") for language in ("en", "zh")}
    for name in ("params", "required"):
        if f"recruiter.{name}" in keys:
            fields[f"recruiter_{name}"] = values["recruiter"][name]
    if "pay_floor" in keys:
        fields["pay_floor"] = _money(values["pay_floor"])
    change_settings(study=study, user=user, **fields)
    own = [name for name in ("seed", "activities") if name in keys]
    for name in own:
        setattr(study, name, values[name])
    if own:
        study.save(update_fields=own)


def _money(value: float | None) -> Decimal | None:
    """As a column of money holds it: what a file writes as 9.1 is that, not its binary neighbour."""
    return None if value is None else round(Decimal(str(value)), 2)


def _write_plan(study: Study, values: Mapping[str, Any], keys: set[str], user: Any) -> None:
    before = plans.content_of(plans.draft_of(study) or plans.frozen_plan(study))
    chosen = {
        name: value
        for name, value in values.get("plan", {}).items()
        if f"plan.{name}" in keys and value != before[name]
    }
    if chosen:
        save_draft(study=study, content=chosen, user=user)


def _write_texts(
    study: Study, values: Mapping[str, Any], keys: set[str], user: Any, now: datetime | None
) -> None:
    if "consent" in keys:
        publish_consent_text(study=study, body=values["consent"], user=user, now=now)
    for activity, body in values.get("consent_for", {}).items():
        if f"consent_for.{activity}" in keys:
            publish_consent_text(study=study, body=body, activity=activity, user=user, now=now)
    for one in values.get("questionnaires", []):
        if f"questionnaires.{one['key']}" in keys:
            publish_questionnaire(
                study=study,
                key=one["key"],
                title_en=one["title"]["en"],
                title_zh=one["title"].get("zh", ""),
                questions=one["questions"],
                user=user,
                now=now,
            )


def _write_ends(study: Study, values: Mapping[str, Any], keys: set[str]) -> None:
    for state, given in values["ends"].items():
        fields: dict[str, Any] = {
            name: given[name] for name in ("code", "link") if f"ends.{state}.{name}" in keys
        }
        if f"ends.{state}.amount" in keys:
            fields["amount"] = _money(given["amount"])
        if f"ends.{state}.pay" in keys:
            fields |= {f"pay_{language}": given["pay"].get(language, "") for language in ("en", "zh")}
        if fields:
            Completion.objects.update_or_create(study=study, end_state=state, defaults=fields)
