"""App configuration; registrations of this activity happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class GroupConfig(AppConfig):
    name = "games.group"
    label = "group"
    verbose_name = _("Group game")
