"""Addresses of a study's own pages, below /s/<slug>/."""

from __future__ import annotations

from django.urls import path

from studies import views

app_name = "studies"
urlpatterns = [
    path("", views.welcome, name="welcome"),
    path("age/", views.age, name="age"),
    path("consent/", views.consent, name="consent"),
    path("consent/copy/", views.consent_copy, name="consent_copy"),
    path("go/", views.go, name="go"),
    path("language/", views.language, name="language"),
    path("q/<slug:key>/", views.questionnaire, name="questionnaire"),
    path("resume/", views.resume, name="resume"),
    path("leave/", views.leave, name="leave"),
    path("debrief/", views.debrief, name="debrief"),
    path("withdraw/", views.withdraw, name="withdraw"),
]
