"""The annotation of the demo: raters, reviewers, known scores, and who annotates next."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth import get_user_model

from annotation.models import Invitation, ReferenceDialogue, ReviewCase
from annotation.services.annotators import ACTIVITY
from annotation.services.invitations import make_invitation
from annotation.services.joining import link_account
from annotation.services.references import make_reference
from annotation.services.settings import change_annotation_settings, lacks_text, prepare, shipped_text
from studies import audit
from studies.models import AuditLine, Study, StudyMember
from studies.services.opening import publish_consent_text, settle_texts
from studies.services.running import add_member
from turingsite.demo import annotating, reviewing, seed

Say = Callable[[str], None]
LABELLED = "demo.labelled"  # the audit line after which no more is simulated
ANNOTATOR, ANNOTATOR_PASSWORD = "annotator", "demo-annotator"
REVIEWER, REVIEWER_PASSWORD = "reviewer", "demo-reviewer"
SECOND_REVIEWER = "reviewer-2"
CALIBRATION, GOLD = 10, 2  # dialogues of a language with known scores


def account(name: str, password: str | None, *, is_staff: bool) -> Any:
    """The account of that name; an existing one keeps its password, one without cannot log in."""
    users = get_user_model().objects
    found = users.filter(username=name).first()
    return found or users.create_user(name, password=password, is_staff=is_staff)


def made(study: Study, user: Any, *, until: datetime, say: Say) -> int:
    """Label, review and calibrate, once; how many batches of work were done now."""
    reviewers = [
        account(REVIEWER, REVIEWER_PASSWORD, is_staff=True),
        account(SECOND_REVIEWER, None, is_staff=True),
    ]
    login = account(ANNOTATOR, ANNOTATOR_PASSWORD, is_staff=False)
    texts(study, user)
    if AuditLine.objects.filter(study=study, action=LABELLED).exists():
        return 0
    settings = prepare(study)
    change_annotation_settings(
        study=study, user=user, calibration=False, reviewers=2, repeat_after_batches=2, repeat_share=0.1,
        calibration_tries=1, rate_per_hour=18,
    )  # fmt: skip
    study.refresh_from_db()
    for reviewer in reviewers:
        add_member(study=study, username=reviewer.username, role=StudyMember.Role.REVIEWER, user=user)
    invitation = _invitation(study, user)
    ears = annotating.ears_of(study, settings)
    done = _labels(study, ears, invitation, until=until, say=say)
    say("  reviewing")
    reviewing.review(study, ears, reviewers, until=until - timedelta(days=2))
    _known(study, user, until=until)
    change_annotation_settings(study=study, user=user, calibration=True)
    study = Study.objects.get(pk=study.pk)
    _newcomers(study, ears, invitation, login, until=until)
    audit.record(LABELLED, study=study, batches=done)
    return done


def texts(study: Study, user: Any) -> None:
    """What invited people agree to: the texts that ship, with what is different about a demo."""
    if not lacks_text(study):
        return
    data = seed.texts()
    body = seed.adapted(seed.adapted(shipped_text(), data), data["annotation"])
    publish_consent_text(study=study, body=body, activity=ACTIVITY, user=user)
    settle_texts(study)


def _invitation(study: Study, user: Any) -> str:
    found = Invitation.objects.filter(study=study, closed_at=None).order_by("pk").first()
    return (found or make_invitation(study=study, label="Demo", user=user)).code


def _labels(study: Study, ears: annotating.Ears, invitation: str, *, until: datetime, say: Say) -> int:
    batches = 0
    for language in study.languages:
        for number, (quality, most) in enumerate(annotating.FIRST, start=1):
            code = f"rater{language}{number}"
            batches += most
            if study.participants.filter(code=code).exists():
                continue  # was here before a seeding was broken off
            at = until - timedelta(days=10 - number * 0.4)
            rater = annotating.hire(
                study, ears, code=code, quality=quality, language=language, invitation=invitation, at=at
            )
            annotating.work(rater, most=most, at=at + timedelta(minutes=8))
        say(f"  {batches} batches")
    return batches


def _known(study: Study, user: Any, *, until: datetime) -> None:
    """Make the reviewed dialogues known: the first of each language for calibration, some as gold."""
    closed = ReviewCase.objects.filter(study=study, state=ReviewCase.State.CLOSED).select_related("dialogue")
    for language in study.languages:
        dialogues = [one.dialogue for one in closed.filter(dialogue__language=language).order_by("closed_at")]
        parts = {
            ReferenceDialogue.Role.CALIBRATION: dialogues[:CALIBRATION],
            ReferenceDialogue.Role.GOLD: dialogues[CALIBRATION : CALIBRATION + GOLD],
        }
        for role, some in parts.items():
            make_reference(
                study=study, dialogues=some, role=role, user=user, now=until - timedelta(days=1, hours=20)
            )


def _newcomers(study: Study, ears: annotating.Ears, invitation: str, login: Any, *, until: datetime) -> None:
    """One with a login who is calibrated and has work left, and one who does not pass."""
    at = until - timedelta(days=1)
    for code, quality, user in (("annotator", "good", login), ("hasty", "careless", None)):
        if study.participants.filter(code=code).exists():
            continue
        rater = annotating.hire(
            study, ears, code=code, quality=quality, language="en", invitation=invitation, at=at
        )
        if user is not None:
            link_account(rater.participant, user)
        annotating.calibrate(rater, at=at + timedelta(minutes=8))
