"""Tokens of the API: who owns one, which studies it opens, until when. Of the secret only a hash is kept."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Length
from django.db.models.lookups import Exact
from django.utils.translation import gettext_lazy as _

from studies.models import Study


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def alive(self, now: datetime) -> ApiTokenQuerySet:
        """Neither revoked nor run out at ``now``."""
        return self.filter(revoked_at=None, expires_at__gt=now)


class ApiToken(models.Model):
    """A way in for a program. It reads what its owner may see at that moment, of its studies alone."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens")
    studies = models.ManyToManyField(Study, related_name="api_tokens", verbose_name=_("studies"))
    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(_("beginning"), max_length=8, unique=True)  # to find it by, shown in lists
    sha256 = models.CharField(max_length=64, unique=True)
    may_export = models.BooleanField(_("may make and fetch exports"), default=False)
    created_at = models.DateTimeField(_("created"))
    expires_at = models.DateTimeField(_("expires"))
    last_used = models.DateField(_("last used"), null=True, blank=True)  # the day is enough
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                name="api_token_expires_after_it_was_made", condition=Q(expires_at__gt=F("created_at"))
            ),
            models.CheckConstraint(
                name="api_token_is_revoked_after_it_was_made",
                condition=Q(revoked_at__isnull=True) | Q(revoked_at__gte=F("created_at")),
            ),
            models.CheckConstraint(
                name="api_token_keeps_a_hash", condition=Exact(Length("sha256"), Value(64))
            ),
            models.CheckConstraint(name="api_token_has_a_name", condition=~Q(name="")),
        ]

    def __str__(self) -> str:
        return self.prefix
