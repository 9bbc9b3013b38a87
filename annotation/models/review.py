"""Expert review: cases by dialogue, decisions on single scores, discussion, what was agreed. All is kept."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.taxonomy import Dimension
from annotation.models.work import Score
from dialogues.models import Dialogue
from studies import codes
from studies.models import Study


class ReviewCase(models.Model):
    """A dialogue whose raw scores are reviewed. ``disagreement`` orders the queue; ``version`` counts what
    was decided, so that two reviewers at once are told of each other. ``raters``: keys of the raters in the
    order in which they came; their places are the numbers by which reviewers know them, so it only grows.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        IN_REVIEW = "in_review", _("in review")
        DISCUSSION = "discussion", _("in discussion")
        CLOSED = "closed", _("closed")

    study = models.ForeignKey(Study, models.CASCADE, related_name="review_cases")
    dialogue = models.ForeignKey(Dialogue, models.PROTECT, related_name="+")
    code = models.CharField(max_length=20, unique=True, default=codes.public_code)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.WAITING)
    disagreement = models.FloatField(_("disagreement"), default=0)
    raters = models.JSONField(default=list)
    version = models.PositiveIntegerField(default=0)
    made_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("review")
        verbose_name_plural = _("reviews")
        constraints = [
            models.UniqueConstraint(fields=["study", "dialogue"], name="one_review_per_dialogue"),
            models.CheckConstraint(
                name="a_closed_review_has_its_time",
                condition=Q(state="closed", closed_at__isnull=False)
                | (~Q(state="closed") & Q(closed_at__isnull=True)),
            ),
        ]
        indexes = [models.Index(fields=["study", "state", "-disagreement"], name="reviews_by_disagreement")]

    def __str__(self) -> str:
        return self.code


class ReviewDecision(models.Model):
    """What one reviewer decided on one raw score. A later decision supersedes it; none is ever removed.

    ``version`` is the one the case had from then on.
    """

    class Decision(models.TextChoices):
        APPROVE = "approve", _("approve")
        PROPOSE = "propose", _("propose")

    case = models.ForeignKey(ReviewCase, models.CASCADE, related_name="decisions")
    score = models.ForeignKey(Score, models.CASCADE, related_name="decisions")
    reviewer = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_decisions")
    decision = models.CharField(_("decision"), max_length=8, choices=Decision.choices)
    value = models.PositiveSmallIntegerField(_("score"))
    evidence = models.BooleanField(_("with evidence"), default=True)
    reason = models.TextField(_("reason"), blank=True)
    in_lot = models.BooleanField(_("approved with the lot"), default=False)
    version = models.PositiveIntegerField(default=0)
    given_at = models.DateTimeField(_("given"))
    superseded_at = models.DateTimeField(_("superseded"), null=True, blank=True)

    class Meta:
        verbose_name = _("review decision")
        verbose_name_plural = _("review decisions")
        constraints = [
            models.UniqueConstraint(
                fields=["score", "reviewer"],
                condition=Q(superseded_at__isnull=True),
                name="one_standing_decision_per_reviewer",
            ),
            models.CheckConstraint(
                name="decided_score_has_five_steps", condition=Q(value__gte=1) & Q(value__lte=5)
            ),
            models.CheckConstraint(
                name="decided_without_evidence_is_three", condition=Q(evidence=True) | Q(value=3)
            ),
            models.CheckConstraint(
                name="a_proposal_has_its_reason", condition=Q(decision="approve") | ~Q(reason="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.score_id} {self.decision}"


class ReviewComment(models.Model):
    """A word in the discussion of a case, on one dimension or on the whole."""

    case = models.ForeignKey(ReviewCase, models.CASCADE, related_name="comments")
    dimension = models.ForeignKey(Dimension, models.PROTECT, null=True, blank=True, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_comments")
    text = models.TextField(_("comment"))
    given_at = models.DateTimeField(_("given"))

    class Meta:
        verbose_name = _("review comment")
        verbose_name_plural = _("review comments")
        ordering = ["case", "given_at", "id"]

    def __str__(self) -> str:
        return f"{self.case_id} {self.author_id}"


class Resolution(models.Model):
    """How the review of one raw score ended; ``result`` is the score of the layer truth-shown."""

    class How(models.TextChoices):
        UNANIMOUS = "unanimous", _("all approved")
        AGREED = "agreed", _("agreed after discussion")
        SAME_PROPOSAL = "same_proposal", _("all proposed the same")

    case = models.ForeignKey(ReviewCase, models.CASCADE, related_name="resolutions")
    score = models.OneToOneField(Score, models.CASCADE, related_name="resolution")
    result = models.OneToOneField(Score, models.CASCADE, related_name="resolution_of")
    how = models.CharField(_("how"), max_length=14, choices=How.choices)
    reason = models.TextField(_("reason"), blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    version = models.PositiveIntegerField(default=0)
    closed_at = models.DateTimeField()

    class Meta:
        verbose_name = _("resolution")
        verbose_name_plural = _("resolutions")
        constraints = [
            models.CheckConstraint(
                name="what_was_agreed_has_its_reason",
                condition=~Q(how="agreed") | (~Q(reason="") & Q(closed_by__isnull=False)),
            )
        ]

    def __str__(self) -> str:
        return f"{self.score_id} {self.how}"
