"""What a request may see: its studies, and the rows of one. Outsiders get the answer for what is missing."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request

from annotation.datasets.work import score_exclusion_in_sql, score_purpose_in_sql
from annotation.models import Score
from dialogues.models import Dialogue, Flag, Party, StudyItem, Verdict
from studies.models import ExportJob, Participant, Study
from studies.selectors import NO_STUDY
from turingsite.api.models import ApiToken
from turingsite.desk.doors import manages
from turingsite.errors import NotFound, Refused

JUDGED = "B"  # the party that verdicts are about


def studies_of(request: Request) -> QuerySet[Study]:
    """Studies whose desk the person may open now, and of a token only those it was made for."""
    user: Any = request.user
    found = Study.objects.visible_to(user)
    token = request.auth
    return found.filter(api_tokens=token) if isinstance(token, ApiToken) else found


def access_study(request: Request, slug: str) -> Study:
    study = studies_of(request).filter(slug=slug).first()
    if study is None:
        raise NotFound("no_study", NO_STUDY)
    return study


def access_export_rights(request: Request) -> None:
    """Let through whoever may make and fetch exports: people on the desk, and tokens made for it."""
    if isinstance(request.auth, ApiToken) and not request.auth.may_export:
        raise Refused("no_export", _("This token was not made for exports. Make one that is."))


def exports_of(study: Study, user: Any) -> QuerySet[ExportJob]:
    """Exports and how far they are; those of the team's own tier for who manages the study."""
    jobs = ExportJob.objects.filter(study=study).select_related("file")
    return jobs if manages(user, study) else jobs.exclude(tier="internal")


def participants_of(study: Study) -> QuerySet[Participant]:
    """Who consented and was not erased."""
    return Participant.objects.filter(study=study, erased_at=None, consented_at__isnull=False)


def dialogues_of(study: Study) -> QuerySet[Dialogue]:
    """Dialogues that the study has, or that were judged in it, with what they are for in it."""
    item = StudyItem.objects.filter(study=study, dialogue=OuterRef("pk"))
    judged = Verdict.objects.filter(study=study, dialogue=OuterRef("pk"))
    return (
        Dialogue.objects.filter(Q(Exists(item)) | Q(Exists(judged)))
        .annotate(role=Subquery(item.values("role")[:1]), is_active=Subquery(item.values("is_active")[:1]))
        .defer("peaks", "quality")
        .select_related("topic", "strategy")
        .prefetch_related(
            Prefetch("parties", Party.objects.select_related("system", "speaker").order_by("label")),
            Prefetch("flags", Flag.objects.filter(turn=None).order_by("rule")),
        )
    )


def scores_of(study: Study) -> QuerySet[Score]:
    """Scores of everybody who was not erased. ``why``: it is left out; ``put_for``: what it was given for."""
    present = Q(rater__participant__isnull=True) | Q(rater__participant__erased_at=None)
    judged = Party.objects.filter(label=JUDGED).select_related("system")
    return (
        Score.objects.filter(present, study=study)
        .annotate(why=score_exclusion_in_sql(study), put_for=Coalesce(score_purpose_in_sql(study), Value("")))
        .select_related("rater__participant", "rater__machine", "dialogue", "dimension__taxonomy")
        .select_related("dimension__category")
        .defer("dialogue__peaks", "dialogue__quality", "dimension__taxonomy__guidelines")
        .prefetch_related(Prefetch("dialogue__parties", judged, to_attr="judged"))
    )


def verdicts_of(study: Study) -> QuerySet[Verdict]:
    """Verdicts of everybody who was not erased, with rater, dialogue and the party judged."""
    present = Q(rater__participant__isnull=True) | Q(rater__participant__erased_at=None)
    judged = Party.objects.filter(label=JUDGED).select_related("system")
    return (
        Verdict.objects.filter(present, study=study)
        .select_related("rater__participant__consent", "rater__machine", "dialogue")
        .defer("dialogue__peaks", "dialogue__quality")
        .prefetch_related(Prefetch("dialogue__parties", judged, to_attr="judged"))
    )
