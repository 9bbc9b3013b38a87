"""Addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from turingsite import health

urlpatterns = [
    path("health/live", health.live, name="health_live"),
    path("health/ready", health.ready, name="health_ready"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
]
