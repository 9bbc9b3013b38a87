"""Questions and answers: versioned questionnaires, and what raters said on which scale."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models.people import Rater
from studies.models.study import Study


class Questionnaire(models.Model):
    """A versioned set of questions: the profile, surveys after an activity. A new version is a new row.

    ``questions``: list of {"key", "kind": single|multi|scale|text, "required": bool, "text": {"en", "zh"},
    "hint"?: {…}, "options": [{"value", "label": {"en", "zh"}}], "max_length"?: int}.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="questionnaires")
    key = models.SlugField(_("key"), max_length=40)
    version = models.PositiveIntegerField(_("version"), default=1)
    title_en = models.CharField(_("title (English)"), max_length=120)
    title_zh = models.CharField(_("title (Chinese)"), max_length=120, blank=True)
    questions = models.JSONField(_("questions"))
    is_current = models.BooleanField(default=True)

    class Meta:
        verbose_name = _("questionnaire")
        verbose_name_plural = _("questionnaires")
        constraints = [
            models.UniqueConstraint(fields=["study", "key", "version"], name="one_questionnaire_per_version"),
            models.UniqueConstraint(
                fields=["study", "key"],
                condition=Q(is_current=True),
                name="one_current_questionnaire_per_key",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.key} v{self.version}"


class Answer(models.Model):
    """One answer, with the scale it was given on. ``about``: the code of what it is about, where a person may
    answer the same questions several times (after each game).
    """

    rater = models.ForeignKey(Rater, models.CASCADE, related_name="answers")
    questionnaire = models.ForeignKey(Questionnaire, models.PROTECT, related_name="answers")
    question = models.CharField(max_length=40)
    value = models.JSONField()
    scale = models.JSONField(default=list)
    language = models.CharField(max_length=10)
    about = models.CharField(max_length=20, blank=True, default="")
    answered_at = models.DateTimeField()

    class Meta:
        verbose_name = _("answer")
        verbose_name_plural = _("answers")
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "questionnaire", "question", "about"], name="one_answer_per_question"
            )
        ]

    def __str__(self) -> str:
        return self.question
