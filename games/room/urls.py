"""Addresses of the live room for pages without a socket, below /s/<slug>/room/."""

from __future__ import annotations

from django.urls import path

from games.room import views

app_name = "room"

urlpatterns = [
    path("log/", views.log, name="log"),
    path("send/", views.send, name="send"),
    path("act/", views.act, name="act"),
    path("typing/", views.typing, name="typing"),
    path("concern/", views.concern, name="concern"),
    path("leave/", views.leave, name="leave"),
]
