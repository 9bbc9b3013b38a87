"""The researcher's desk: Django's admin under our own name and look, with pages of its own.

``DeskSite`` adds the pages (``urls``) to the admin. They are wiring: they read from every floor and
write through services. Lists of systems, topics, speakers and accounts are the admin's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.admin import AdminSite
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver
from django.utils.translation import gettext_lazy as _


class DeskSite(AdminSite):
    site_title = _("Desk")
    site_header = _("Desk")
    index_title = _("Studies")
    enable_nav_sidebar = False

    def get_urls(self) -> list[URLResolver | URLPattern]:
        from turingsite.desk.urls import desk_urls  # the pages need the models, which are not loaded yet

        return [*desk_urls(self.admin_view), *super().get_urls()]

    def index(self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None) -> TemplateResponse:
        from turingsite.desk.studies import index

        return index(request)

    def app_index(
        self, request: HttpRequest, app_label: str, extra_context: Mapping[str, Any] | None = None
    ) -> TemplateResponse:
        return self.index(request)
