"""Addresses of the annotation, below /s/<slug>/annotation/."""

from __future__ import annotations

from django.urls import path

from annotation import views

app_name = "annotation"

urlpatterns = [
    path("", views.play, name="play"),
    path("batch/", views.batch, name="batch"),
    path("batch/<int:number>/", views.done, name="done"),
    path("item/<slug:code>/save/", views.save, name="save"),
    path("item/<slug:code>/listening/", views.hear, name="listening"),
    path("item/<slug:code>/next/", views.next_, name="next"),
    path("item/<slug:code>/failed/", views.failed, name="failed"),
    path("item/<slug:code>/known/", views.known, name="known"),
    path("returned/", views.returned, name="returned"),
    path("break/", views.pause, name="pause"),
    path("finish/", views.finish, name="finish"),
    path("keys/", views.keys, name="keys"),
    path("join/<slug:code>/", views.join_, name="join"),
    path("guidelines/", views.guidelines, name="guidelines"),
    path("calibration/", views.calibration, name="calibration"),
]
