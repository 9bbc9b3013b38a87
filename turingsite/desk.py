"""The researcher's desk: Django's admin under our own name and look."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.utils.translation import gettext_lazy as _


class DeskSite(AdminSite):
    site_title = _("Desk")
    site_header = _("Desk")
    index_title = _("Studies")
    enable_nav_sidebar = False
