"""Addresses of annotators with an account, below /annotate/."""

from __future__ import annotations

from django.urls import path

from annotation.views import accounts

app_name = "annotators"

urlpatterns = [
    path("", accounts.home, name="home"),
    path("login/", accounts.login, name="login"),
    path("logout/", accounts.logout, name="logout"),
    path("go/<slug:slug>/", accounts.go_on, name="go_on"),
]
