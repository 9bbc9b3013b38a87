"""What the desk does with a study that exists: its settings, its people, an early look at outcomes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from studies import audit
from studies.looks import state_of
from studies.models import AuditLine, Study, StudyMember
from studies.outcomes import VERDICTS, counts_of, noted
from studies.services.setting import store
from turingsite.errors import Conflict, Invalid

#: Columns the desk may set. Status, seed and address have rules of their own.
SETTINGS = (
    "title_en", "title_zh", "host", "approval", "contact", "languages", "min_age", "profile_at", "time_zone",
    "recruiter_params", "recruiter_required", "test_participants", "is_listed", "erasure_until",
    "notice_en", "notice_zh", "soft_launch_n", "pay_floor", "currency",
)  # fmt: skip
#: A page and the files saved from it are one reading of a report.
ONE_READING = timedelta(minutes=1)
#: What may not change while people can be in the study: they would have met another study.
FIXED_ONCE_OPENED = ("min_age", "profile_at")


@transaction.atomic
def change_settings(*, study: Study, user: Any = None, **fields: Any) -> list[str]:
    """Set columns of ``study``; the names of those that changed. Invalid with what is wrong by field."""
    unknown = set(fields) - set(SETTINGS)
    if unknown:
        raise ValueError(f"not settings of a study: {sorted(unknown)}")
    study.refresh_from_db()
    changed = [name for name in SETTINGS if name in fields and fields[name] != getattr(study, name)]
    fixed = [name for name in changed if name in FIXED_ONCE_OPENED and study.participants.exists()]
    if fixed:
        message = _("This can't be changed any more: people have taken part.")
        raise Invalid("fixed", message, fields=dict.fromkeys(fixed, message))
    values = store(study, {name: fields[name] for name in changed})
    if changed:
        audit.record(
            "study.settings", study=study, user=user, target=study.slug, changed=changed, values=values
        )
    return changed


@transaction.atomic
def add_member(*, study: Study, username: str, role: str, user: Any = None) -> StudyMember:
    """Give a person with a desk account a part in ``study``, or another one than before."""
    if role not in StudyMember.Role.values:
        raise Invalid("unknown_role", _("Choose one of the roles."))
    person = get_user_model().objects.filter(username=username.strip(), is_active=True, is_staff=True).first()
    if person is None:
        message = _("Nobody with an account for the desk has this name. An operator can make one.")
        raise Invalid("no_account", message, fields={"username": message})
    before = study.members.filter(user=person).first()
    if before is not None and before.role == StudyMember.Role.RESEARCHER != role:
        _keep_a_researcher(study, before)
    member, _created = StudyMember.objects.update_or_create(study=study, user=person, defaults={"role": role})
    audit.record("study.member_added", study=study, user=user, target=person.pk, role=role)
    return member


@transaction.atomic
def remove_member(*, study: Study, member: StudyMember, user: Any = None) -> None:
    """Take a person's part in ``study`` away; the last researcher stays."""
    if member.role == StudyMember.Role.RESEARCHER:
        _keep_a_researcher(study, member)
    person = member.user_id
    member.delete()
    audit.record("study.member_removed", study=study, user=user, target=person)


@transaction.atomic
def look_early(*, study: Study, user: Any = None) -> None:
    """Note that somebody looked at outcomes before the study closed, and on how many of each sort."""
    audit.record(
        "study.looked_early",
        study=study,
        user=user,
        target=study.slug,
        **noted(counts_of(study)),
        **state_of(study),
    )


@transaction.atomic
def note_reading(
    *, study: Study, report: str, analysis_set: str, n: int, of: str = VERDICTS, user: Any = None
) -> None:
    """Note that a report with outcomes was read, and on how many of which sort it rested then.

    Nobody as ``user``: by a command. The same reader's tables and figures of the same report, of the same
    outcomes and within ``ONE_READING``, are one reading.
    """
    detail = {"set": analysis_set, **noted({of: n}), **state_of(study)}
    just_now = AuditLine.objects.filter(
        study=study,
        action="report.read",
        target=report,
        actor=user,
        at__gte=timezone.now() - ONE_READING,
    )
    if user is not None and any(line.detail == detail for line in just_now[:20]):
        return
    audit.record("report.read", study=study, user=user, by="command", target=report, **detail)


def _keep_a_researcher(study: Study, leaving: StudyMember) -> None:
    others = study.members.select_for_update().filter(role=StudyMember.Role.RESEARCHER).exclude(pk=leaving.pk)
    if not others:
        raise Conflict("last_researcher", _("A study needs a researcher. Name another one first."))
