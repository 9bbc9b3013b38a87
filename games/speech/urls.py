"""Addresses of the speech game, below /s/<slug>/speech/."""

from __future__ import annotations

from django.urls import path

from games.speech import views

app_name = "speech"

urlpatterns = [
    path("", views.play, name="play"),
    path("sound/", views.sound, name="sound"),
    path("sound/clip/<int:number>/", views.clip, name="clip"),
    path("trial/", views.trial, name="trial"),
    path("trial/<slug:code>/listening/", views.listening, name="listening"),
    path("trial/<slug:code>/verdict/", views.verdict, name="verdict"),
    path("trial/<slug:code>/next/", views.next_, name="next"),
    path("trial/<slug:code>/failed/", views.failed, name="failed"),
    path("trial/<slug:code>/known/", views.known, name="known"),
    path("keys/", views.keys, name="keys"),
    path("check/<slug:code>/", views.check, name="check"),
    path("round/<int:number>/", views.round_, name="round"),
    path("board/", views.board, name="board"),
    path("nickname/", views.nickname, name="nickname"),
    path("pause/", views.pause, name="pause"),
]
