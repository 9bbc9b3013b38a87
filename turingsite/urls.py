"""Addresses of the site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from studies.views import home
from turingsite import health, metrics
from turingsite.doctor import probe
from turingsite.views import design

urlpatterns = [
    path("", home, name="home"),
    path("s/<slug:slug>/", include("studies.urls")),
    path("health/live", health.live, name="health_live"),
    path("health/ready", health.ready, name="health_ready"),
    path("health/range/<str:token>", probe.part, name="health_range"),
    path("metrics", metrics.metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("design/", design, name="design"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("s/<slug:slug>/speech/", include("games.speech.urls")),
    path("s/<slug:slug>/group/", include("games.group.urls")),
    path("s/<slug:slug>/room/", include("games.room.urls")),
    path("s/<slug:slug>/annotation/", include("annotation.urls")),
    path("annotate/", include("annotation.account_urls")),
    path("review/", include("annotation.review.urls")),
    path("", include("dialogues.urls")),
    path("api/", include("turingsite.api.urls")),
]

handler400 = "turingsite.api.errors.bad_request"
handler403 = "turingsite.api.errors.not_allowed"
handler404 = "turingsite.api.errors.not_found"
handler500 = "turingsite.api.errors.server_error"
