"""Writing a study's plan: the draft may change, freezing makes it a file with a hash that stays."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from studies import audit, plans
from studies.models import Plan, Study
from studies.outcomes import together
from turingsite.errors import Conflict, Invalid

LONGEST = 20_000
MOST_VERDICTS = 10_000_000


@transaction.atomic
def save_draft(*, study: Study, content: Mapping[str, Any], user: Any = None) -> Plan:
    """Set keys of the plan's draft; one is begun from the plan that holds where there is none.

    Invalid with what is wrong by field. A frozen plan is never touched.
    """
    _alone(study)
    draft = plans.draft_of(study)
    last = plans.frozen_plan(study)
    before = plans.content_of(draft or last)
    after = {**before, **_checked(content)}
    if draft is None:
        draft = Plan(study=study, version=last.version + 1 if last is not None else 1)
    elif after == before:
        return draft
    draft.content = after
    draft.save()
    changed = [key for key in plans.EMPTY if after[key] != before[key]]
    audit.record("plan.drafted", study=study, user=user, target=f"version {draft.version}", changed=changed)
    return draft


@transaction.atomic
def discard_draft(*, study: Study, user: Any = None) -> None:
    """Throw the draft away; what was frozen stays."""
    _alone(study)
    draft = plans.draft_of(study)
    if draft is not None:
        draft.delete()
        audit.record("plan.discarded", study=study, user=user, target=f"version {draft.version}")


@transaction.atomic
def freeze_plan(
    *,
    study: Study,
    verdicts: int,
    others: Mapping[str, int] | None = None,
    reason: str = "",
    agreed: str = "",
    user: Any = None,
    now: datetime | None = None,
) -> Plan:
    """Fix the draft: its file is written and hashed, and from now on every report names it.

    ``verdicts``: analysed verdicts there are now; ``others``: outcomes of other sorts, by sort.
    ``agreed``: the SHA-256 that ``to_be_frozen`` gave for ``now`` and that somebody said yes to. Conflict
    ``no_draft``, ``no_change``, and ``moved_on`` where the file would be another; Invalid where something
    needed is not decided, or a later version does not say why.
    """
    _alone(study)
    draft = to_be_frozen(study=study, verdicts=verdicts, others=others, reason=reason, now=now)
    if agreed and draft.sha256 != agreed:
        raise Conflict("moved_on", _("The plan or the study has changed meanwhile. Read it again."))
    draft.save()
    more: dict[str, Any] = {"others": dict(others)} if others else {}
    audit.record(
        "plan.frozen",
        study=study,
        user=user,
        target=draft.sha256[:16],
        now=None if agreed else now,
        version=draft.version,
        status=study.status,
        n=verdicts,
        **more,
    )
    return draft


def to_be_frozen(
    *,
    study: Study,
    verdicts: int,
    others: Mapping[str, int] | None = None,
    reason: str = "",
    now: datetime | None = None,
) -> Plan:
    """The draft with the file and hash it would be frozen with; nothing is stored. Errors as in freezing."""
    now = now or timezone.now()
    draft = plans.draft_of(study)
    if draft is None:
        raise Conflict("no_draft", _("There is no draft to freeze."))
    content = plans.content_of(draft)
    _checked(content)
    missing = [key for key in plans.NEEDED if not str(content[key]).strip()]
    if missing:
        raise Invalid(
            "undecided",
            _("Decide this first: %(what)s."),
            {"what": ", ".join(str(plans.LABELS[key]) for key in missing)},
            fields=dict.fromkeys(missing, _("Needed before the plan can be frozen.")),
        )
    earlier = list(study.plans.frozen())
    reason = " ".join(reason.split())
    if earlier:
        if not any(plans.changes(earlier[-1], draft)):
            raise Conflict("no_change", _("The draft says what the frozen plan says already."))
        if not reason:
            message = _("Say why the plan is changed. It stands beside every figure.")
            raise Invalid("no_reason", message, fields={"reason": message})
        if len(reason) > 500:
            message = _("At most 500 characters.")
            raise Invalid("long_reason", message, fields={"reason": message})
    draft.content, draft.reason, draft.frozen_at = content, reason if earlier else "", now
    draft.status, draft.verdicts = study.status, verdicts
    counts = together(verdicts, others or {})
    draft.markdown = plans.as_markdown(draft, earlier, at=now, status=study.status, counts=counts)
    draft.sha256 = plans.digest(draft.markdown)
    return draft


def _alone(study: Study) -> None:
    """One writer of a study's plan at a time: without the lock two drafts could become one version."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    study.refresh_from_db()


def _checked(content: Mapping[str, Any]) -> dict[str, Any]:
    """The known keys with values that a plan may have. Invalid by field."""
    wrong: dict[str, str] = {}
    unknown = sorted(set(content) - set(plans.EMPTY))
    if unknown:
        raise ValueError(f"not keys of a plan: {unknown}")
    values = dict(content)
    for key in ("hypothesis", "planning", "stopping", "exclusions", "notes"):
        if key in values:
            # One way of ending lines, so that the same words have the same hash.
            values[key] = "\n".join(str(values[key]).strip().splitlines())
            if len(values[key]) > LONGEST or "\0" in values[key]:
                wrong[key] = _("At most %(n)s characters.") % {"n": LONGEST}
    known = {
        "outcome": ("", *plans.outcomes()),
        "analysis_set": plans.ANALYSIS_SETS,
        "target_by": tuple(plans.CELLS),
    }
    for key, options in known.items():
        if key in values and values[key] not in options:
            wrong[key] = _("Choose one of these: %(known)s.") % {"known": ", ".join(filter(None, options))}
    if not set(values.get("families", ())) <= set(plans.families()):
        wrong["families"] = _("Choose from these: %(known)s.") % {"known": ", ".join(plans.families())}
    if "families" in values:
        values["families"] = [one for one in plans.families() if one in values["families"]]
    if "target_n" in values and not 0 <= values["target_n"] <= MOST_VERDICTS:
        wrong["target_n"] = _("A number from 0 to %(most)s.") % {"most": MOST_VERDICTS}
    if "margin" in values and not 0 < values["margin"] <= 1:
        wrong["margin"] = _("The margin lies above 0 and at most at 1.")
    if wrong:
        raise Invalid("bad_plan", _("Some of this can't be used."), fields=wrong)
    return values
