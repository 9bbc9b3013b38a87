"""Addresses of the expert review."""

from __future__ import annotations

from django.urls import path

from annotation.review import views

app_name = "review"

urlpatterns = [
    path("", views.studies, name="studies"),
    path("<slug:slug>/", views.queue, name="queue"),
    path("<slug:slug>/<str:code>/", views.case, name="case"),
    path("<slug:slug>/<str:code>/sound", views.sound, name="sound"),
    path("<slug:slug>/<str:code>/approve/", views.approve, name="approve"),
    path("<slug:slug>/<str:code>/decide/", views.decide, name="decide"),
    path("<slug:slug>/<str:code>/agree/", views.agree, name="agree"),
    path("<slug:slug>/<str:code>/comment/", views.comment, name="comment"),
]
