"""Annotators with an account: logging in and out, and the page of their studies."""

from __future__ import annotations

from django.contrib.auth import logout as end_session
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.account_presenters import home_page
from annotation.services.joining import account_of
from studies import access
from studies.models import Participant, Study
from turingsite.errors import NotFound, gettext_noop

LOGIN = reverse_lazy("annotators:login")

login = LoginView.as_view(
    template_name="annotation/login.html",
    next_page=reverse_lazy("annotators:home"),
    redirect_authenticated_user=True,
)


@never_cache
@require_safe
@login_required(login_url=LOGIN)
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "annotation/home.html", home_page(request.user))


@never_cache
@require_POST
@login_required(login_url=LOGIN)
def go_on(request: HttpRequest, slug: str) -> HttpResponse:
    """Give this browser the cookie of the account's participation, and go to where it is."""
    study = Study.objects.filter(slug=slug).first()
    person = account_of(study, request.user) if study is not None else None
    if person is None:
        raise NotFound("no_study", gettext_noop("This account takes part in no such study."))
    response = redirect("studies:go", slug)
    access.remember(response, person)
    return response


@never_cache
@require_POST
def logout(request: HttpRequest) -> HttpResponse:
    """End the session; the browser, perhaps not theirs alone, forgets their studies, too."""
    slugs: list[str] = []
    if request.user.is_authenticated:
        people = Participant.objects.filter(user=request.user)
        slugs = list(people.values_list("study__slug", flat=True))
    end_session(request)
    response = redirect("annotators:login")
    for slug in slugs:
        response.delete_cookie(access.cookie_name(slug), samesite="Lax")
    return response
