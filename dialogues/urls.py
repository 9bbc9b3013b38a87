"""Addresses of the corpus floor."""

from __future__ import annotations

from django.urls import path

from dialogues import views

app_name = "dialogues"

urlpatterns = [path("media/<slug:token>", views.media, name="media")]
