"""Addresses of the annotation, below /s/<slug>/annotation/."""

from __future__ import annotations

from django.urls import path

from annotation import views

app_name = "annotation"

urlpatterns = [
    path("join/<slug:code>/", views.join_, name="join"),
    path("guidelines/", views.guidelines, name="guidelines"),
    path("calibration/", views.calibration, name="calibration"),
]
