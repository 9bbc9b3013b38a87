"""App configuration of the rooms that games are played in; registrations happen in ready()."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RoomConfig(AppConfig):
    name = "games.room"
    label = "room"
    verbose_name = _("Rooms")

    def ready(self) -> None:
        from games.room import erasing  # loads models

        erasing.register()
