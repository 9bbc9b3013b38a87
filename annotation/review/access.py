"""Who may review what. Outsiders get the answer for what is missing; nobody reviews what they rated."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from annotation.models import BatchItem, ReviewCase, ReviewDecision, Score
from dialogues.models import Dialogue, Exposure
from studies.models import Rater, Study, StudyMember
from turingsite.errors import NotFound

NO_PAGE = _("There is nothing at this address.")


def is_reviewer(user: Any, study: Study) -> bool:
    """Whether ``user`` has the part of a reviewer in ``study``; operators have it only where given it."""
    return bool(user.is_active and user.is_staff) and (
        study.members.filter(user=user, role=StudyMember.Role.REVIEWER).exists()
    )


def reviewed_by(user: Any) -> QuerySet[Study]:
    """The annotating studies that ``user`` reviews."""
    if not user.is_authenticated or not user.is_staff:
        return Study.objects.none()
    parts = StudyMember.objects.filter(user=user, role=StudyMember.Role.REVIEWER)
    return Study.objects.filter(annotation__isnull=False, pk__in=parts.values("study"))


def followed_by(user: Any) -> QuerySet[Study]:
    """The annotating studies whose queue ``user`` may read: reviewed ones, and those of their desk."""
    if not user.is_authenticated or not user.is_staff:
        return Study.objects.none()
    visible = Study.objects.visible_to(user).filter(annotation__isnull=False)
    return Study.objects.filter(Q(pk__in=visible.values("pk")) | Q(pk__in=reviewed_by(user).values("pk")))


def access_followed(slug: str, user: Any) -> Study:
    """A study whose queue ``user`` may read; NotFound for everybody else."""
    study = followed_by(user).select_related("annotation__taxonomy").filter(slug=slug).first()
    if study is None:
        raise NotFound("no_page", NO_PAGE)
    return study


def access_case(slug: str, code: str, user: Any) -> ReviewCase:
    """A case of a study that ``user`` reviews; NotFound for everybody else, its researchers too."""
    case = (
        ReviewCase.objects.select_related("study__annotation__taxonomy", "dialogue__topic")
        .filter(code=code, study__slug=slug, study__in=reviewed_by(user))
        .first()
    )
    if case is None:
        raise NotFound("no_case", NO_PAGE)
    return case


def _theirs(user: Any) -> Q:
    return Q(rater__participant__user=user) | Q(rater__user=user)


def has_rated(user: Any, dialogue: Dialogue) -> bool:
    """Whether ``user`` rated the dialogue or was given it to rate, in any study and arm."""
    return (
        BatchItem.objects.filter(_theirs(user), dialogue=dialogue).exists()
        or Score.objects.filter(_theirs(user), dialogue=dialogue).exists()
    )


def rated_by(user: Any) -> Q:
    """The same as a condition on cases."""
    items = BatchItem.objects.filter(_theirs(user)).values("dialogue")
    scores = Score.objects.filter(_theirs(user)).values("dialogue")
    return Q(dialogue__in=items) | Q(dialogue__in=scores)


def open_case(case: ReviewCase, user: Any, now: datetime) -> Exposure:
    """Note that ``user`` was shown the case: they know the truth and can't annotate the dialogue any more."""
    rater, _made = Rater.objects.get_or_create(user=user)
    exposure, _made = Exposure.objects.get_or_create(
        study_id=case.study_id, rater=rater, dialogue_id=case.dialogue_id, defaults={"given_at": now}
    )
    return exposure


def access_sound(case: ReviewCase, user: Any) -> Exposure:
    """The exposure by which ``user`` may hear the case; NotFound before they opened it, or once withdrawn."""
    found = (
        Exposure.objects.select_related("dialogue")
        .filter(study_id=case.study_id, rater__user=user, dialogue_id=case.dialogue_id)
        .filter(dialogue__in=Dialogue.objects.playable())
        .first()
    )
    if found is None or has_rated(user, found.dialogue):
        raise NotFound("no_sound", _("There is no such sound here."))
    return found


def seen_in_review(user: Any) -> QuerySet[Any]:
    """The dialogues whose truth ``user`` (or the one of that key) saw in a review, in any study, with
    ``seen_at``: what they score from then on is not scored blind.
    """
    opened = Exposure.objects.filter(
        Exists(ReviewCase.objects.filter(study=OuterRef("study_id"), dialogue=OuterRef("dialogue_id"))),
        rater__user=user,
    )
    decided = ReviewDecision.objects.filter(reviewer=user)
    first_opened = opened.filter(dialogue=OuterRef("pk")).order_by("given_at").values("given_at")[:1]
    first_decided = decided.filter(case__dialogue=OuterRef("pk")).order_by("given_at").values("given_at")[:1]
    return Dialogue.objects.filter(
        Q(pk__in=opened.values("dialogue")) | Q(pk__in=decided.values("case__dialogue"))
    ).annotate(seen_at=Coalesce(Subquery(first_opened), Subquery(first_decided)))
