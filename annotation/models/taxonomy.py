"""What is scored: taxonomies as versioned data, and how one study annotates."""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from studies.models import Study


def in_language(row: models.Model, field: str) -> str:
    """``field`` of ``row`` in the interface language, falling back to the other one."""
    zh = (get_language() or "en").startswith("zh")
    first, second = ("zh", "en") if zh else ("en", "zh")
    return str(getattr(row, f"{field}_{first}") or getattr(row, f"{field}_{second}"))


class Taxonomy(models.Model):
    """One version of a taxonomy with its guidelines. Frozen once somebody works by it; a copy can be edited.

    ``scale`` maps "1" … "5" and "0" (no evidence) → {"en": words, "zh": words}. ``guidelines`` is
    {"note": {"en", "zh"}, "sections": [{"title": {"en", "zh"}, "text": {"en", "zh"}}, …]}, in Markdown.
    ``study``: empty for what ships with the product. ``sha256``: of all its words, set when it is frozen.
    """

    name = models.SlugField(_("name"), max_length=60)
    version = models.PositiveIntegerField(_("version"), default=1)
    study = models.ForeignKey(Study, models.CASCADE, null=True, blank=True, related_name="taxonomies")
    copied_from = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="copies")
    title_en = models.CharField(_("title (English)"), max_length=120)
    title_zh = models.CharField(_("title (Chinese)"), max_length=120, blank=True)
    summary_en = models.TextField(_("summary (English)"), blank=True)
    summary_zh = models.TextField(_("summary (Chinese)"), blank=True)
    source = models.TextField(_("source"), blank=True)
    scale = models.JSONField(_("scale"), default=dict)
    guidelines = models.JSONField(_("guidelines"), default=dict)
    sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    frozen_at = models.DateTimeField(_("frozen"), null=True, blank=True)

    class Meta:
        verbose_name = _("taxonomy")
        verbose_name_plural = _("taxonomies")
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="one_taxonomy_per_name_and_version")
        ]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"

    @property
    def title(self) -> str:
        return in_language(self, "title")


class Category(models.Model):
    """A group of dimensions, shown as one card."""

    taxonomy = models.ForeignKey(Taxonomy, models.CASCADE, related_name="categories")
    key = models.SlugField(_("key"), max_length=40)
    position = models.PositiveSmallIntegerField(_("position"))
    name_en = models.CharField(_("name (English)"), max_length=80)
    name_zh = models.CharField(_("name (Chinese)"), max_length=80, blank=True)
    summary_en = models.TextField(_("summary (English)"), blank=True)
    summary_zh = models.TextField(_("summary (Chinese)"), blank=True)

    class Meta:
        verbose_name = _("category")
        verbose_name_plural = _("categories")
        ordering = ["taxonomy", "position"]
        constraints = [
            models.UniqueConstraint(fields=["taxonomy", "key"], name="one_category_per_key"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        return in_language(self, "name")


class Dimension(models.Model):
    """One thing that is scored, from 1 (machine-like) to 5 (human-like)."""

    taxonomy = models.ForeignKey(Taxonomy, models.CASCADE, related_name="dimensions")
    category = models.ForeignKey(Category, models.CASCADE, related_name="dimensions")
    key = models.SlugField(_("key"), max_length=60)
    position = models.PositiveSmallIntegerField(_("position"))  # in the whole taxonomy
    name_en = models.CharField(_("name (English)"), max_length=80)
    name_zh = models.CharField(_("name (Chinese)"), max_length=80, blank=True)
    low_en = models.CharField(_("machine-like end (English)"), max_length=120)
    low_zh = models.CharField(_("machine-like end (Chinese)"), max_length=120, blank=True)
    high_en = models.CharField(_("human-like end (English)"), max_length=120)
    high_zh = models.CharField(_("human-like end (Chinese)"), max_length=120, blank=True)
    description_en = models.TextField(_("description (English)"), blank=True)
    description_zh = models.TextField(_("description (Chinese)"), blank=True)
    examples_en = models.JSONField(_("examples (English)"), default=list, blank=True)
    examples_zh = models.JSONField(_("examples (Chinese)"), default=list, blank=True)

    class Meta:
        verbose_name = _("dimension")
        verbose_name_plural = _("dimensions")
        ordering = ["taxonomy", "position"]
        constraints = [
            models.UniqueConstraint(fields=["taxonomy", "key"], name="one_dimension_per_key"),
        ]

    def __str__(self) -> str:
        return self.key

    @property
    def name(self) -> str:
        return in_language(self, "name")

    @property
    def low(self) -> str:
        return in_language(self, "low")

    @property
    def high(self) -> str:
        return in_language(self, "high")


class AnnotationSettings(models.Model):
    """How one study annotates. Defaults are the protocol's (spec: Annotation on 18 dimensions)."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="annotation")
    taxonomy = models.ForeignKey(Taxonomy, models.PROTECT, related_name="+")
    batch_size = models.PositiveSmallIntegerField(
        _("dialogues in a batch"), default=5, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    raters = models.PositiveSmallIntegerField(
        _("raters per dialogue"), default=3, validators=[MinValueValidator(1), MaxValueValidator(50)]
    )
    expert_raters = models.PositiveSmallIntegerField(
        _("blind experts per dialogue"), default=3, validators=[MaxValueValidator(50)]
    )
    reviewers = models.PositiveSmallIntegerField(
        _("reviewers per score"), default=3, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    lease_minutes = models.PositiveSmallIntegerField(
        _("minutes until a batch left alone goes back"), default=180, validators=[MinValueValidator(5)]
    )
    max_batches = models.PositiveSmallIntegerField(_("batches per person, 0 for no limit"), default=0)
    least_batches = models.PositiveSmallIntegerField(_("batches that count as done"), default=1)
    calibration = models.BooleanField(_("calibration before work"), default=True)
    calibration_dialogues = models.PositiveSmallIntegerField(
        _("dialogues in a calibration"), default=10, validators=[MinValueValidator(1), MaxValueValidator(100)]
    )
    calibration_difference = models.FloatField(
        _("largest mean difference"), default=1.0, validators=[MinValueValidator(0.0), MaxValueValidator(4.0)]
    )
    calibration_clear = models.FloatField(
        _("least share of clear scores on the right side"),
        default=0.6,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
    )
    calibration_against = models.FloatField(
        _("share of clear scores against the truth"),
        default=0.25,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
    )
    calibration_tries = models.PositiveSmallIntegerField(
        _("calibrations a person may try"), default=3, validators=[MinValueValidator(1)]
    )
    repeat_share = models.FloatField(
        _("share of hidden repeats"),
        default=0.05,
        validators=[MinValueValidator(0.0), MaxValueValidator(0.5)],
    )
    repeat_after_batches = models.PositiveSmallIntegerField(_("batches before a repeat"), default=10)
    repeat_after_hours = models.PositiveSmallIntegerField(_("hours before a repeat"), default=24)
    gold_share = models.FloatField(
        _("share of dialogues with known scores"),
        default=0.05,
        validators=[MinValueValidator(0.0), MaxValueValidator(0.5)],
    )
    break_minutes = models.PositiveSmallIntegerField(_("minutes until a break is offered"), default=50)
    idle_seconds = models.PositiveSmallIntegerField(
        _("seconds without a sign that still count as work"), default=120, validators=[MinValueValidator(10)]
    )
    rate_per_hour = models.DecimalField(
        _("pay per hour"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
    )

    class Meta:
        verbose_name = _("annotation settings")
        verbose_name_plural = _("annotation settings")
        constraints = [
            models.CheckConstraint(
                name="annotation_has_raters", condition=Q(raters__gte=1) & Q(batch_size__gte=1)
            )
        ]

    def __str__(self) -> str:
        return str(self.study)
