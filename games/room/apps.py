"""App configuration of the rooms that games are played in."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RoomConfig(AppConfig):
    name = "games.room"
    label = "room"
    verbose_name = _("Rooms")
