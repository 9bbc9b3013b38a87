"""Addresses of the group game, below /s/<slug>/group/."""

from __future__ import annotations

from django.urls import path

from games.group import views

app_name = "group"

urlpatterns = [
    path("", views.play, name="play"),
    path("wait/", views.wait, name="wait"),
    path("ready/", views.ready, name="ready"),
    path("keep_waiting/", views.keep_waiting, name="keep_waiting"),
    path("stop_waiting/", views.stop_waiting, name="stop_waiting"),
    path("again/", views.again, name="again"),
    path("room/", views.room, name="room"),
    path("survey/", views.survey, name="survey"),
    path("over/", views.over, name="over"),
]
