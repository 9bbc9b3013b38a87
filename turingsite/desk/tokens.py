"""Tokens of the API on the desk: one's own for a study, made, shown once, revoked."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from studies.models import Study
from studies.selectors import access_desk_study
from turingsite.api.models import ApiToken
from turingsite.api.services import DAYS, make_token, revoke_token
from turingsite.desk.doors import manages
from turingsite.desk.forms import Answering
from turingsite.errors import DomainError, NotFound

CARRIED, A_MINUTE = "new_token", 60  # the cookie that brings a new secret to the page, and its seconds
LASTING = [(days, ngettext_lazy("%d day", "%d days", days) % days) for days in (7, 30, DAYS, 365)]


class TokenForm(Answering):
    """What a new token is for. ``studies`` are asked for where the person has more than this one."""

    name = forms.CharField(
        label=gettext_lazy("What it is for"),
        max_length=80,
        help_text=gettext_lazy("So that you know it again: a script, a notebook, a machine."),
    )
    studies = forms.MultipleChoiceField(
        label=gettext_lazy("Studies it opens"), widget=forms.CheckboxSelectMultiple
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Lasts"), choices=LASTING, coerce=int, initial=DAYS, widget=forms.RadioSelect
    )
    may_export = forms.BooleanField(label=gettext_lazy("It may also make and fetch exports."), required=False)
    #: Drawn for each page that is shown, so that a double click makes one token.
    once = forms.CharField(
        max_length=40, required=False, widget=forms.HiddenInput, initial=partial(secrets.token_urlsafe, 24)
    )

    def __init__(self, *args: Any, study: Study, others: list[Study], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["studies"].choices = [(one.slug, one.title) for one in (study, *others)]  # type: ignore[attr-defined]
        self.fields["studies"].initial = [study.slug]
        if not others:
            self.fields["studies"].widget = forms.MultipleHiddenInput()


@never_cache
def tokens(request: HttpRequest, slug: str) -> HttpResponse:
    """The tokens of a study, a form for a new one, and right after making it, its secret: never again."""
    study = access_desk_study(slug, request.user)
    mine = list(Study.objects.visible_to(request.user).exclude(pk=study.pk).order_by("slug")[:50])
    form = TokenForm(request.POST or None, study=study, others=mine)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        chosen = [one for one in (study, *mine) if one.slug in asked["studies"]]
        try:
            secret = make_token(
                owner=request.user,
                studies=chosen,
                name=asked["name"],
                days=asked["days"],
                may_export=asked["may_export"],
                once=asked["once"],
                user=request.user,
            ).secret
        except DomainError as error:
            form.refuse(error)
        else:
            return _carried(request, secret)
    secret = "" if request.method == "POST" else _brought(request)
    context = {
        "study": study,
        "title": _("API tokens"),
        "secret": secret,
        "form": form,
        "rows": _shown(study, request.user),
        "now": timezone.now(),
        "root": request.build_absolute_uri("/").rstrip("/"),
    }
    answer = render(request, "desk/tokens.html", context, status=400 if form.errors else 200)
    if secret:
        answer.delete_cookie(CARRIED, path=request.path)
    return answer


def _carried(request: HttpRequest, secret: str) -> HttpResponse:
    """To the page that shows the secret: loading that again makes no second token.

    On the way the secret is in the reader's own cookie, for the server keeps nothing but its hash.
    """
    answer = redirect(request.path)
    answer.set_signed_cookie(
        CARRIED,
        secret,
        salt=_salt(request),
        max_age=A_MINUTE,
        path=request.path,
        secure=request.is_secure(),
        httponly=True,
        samesite="Strict",
    )
    return answer


def _brought(request: HttpRequest) -> str:
    found = request.get_signed_cookie(CARRIED, default="", salt=_salt(request), max_age=A_MINUTE)
    return str(found)


def _salt(request: HttpRequest) -> str:
    return f"{CARRIED}{request.user.pk}{request.path}"


@require_POST
def revoke(request: HttpRequest, slug: str) -> HttpResponse:
    """End a token: one's own, or of those who manage the study any of it."""
    study = access_desk_study(slug, request.user)
    token = _tokens_of(study, request.user).filter(prefix=request.POST.get("token", "")[:20]).first()
    if token is None:
        raise NotFound("no_token", _("There is no such token."))
    if revoke_token(token=token, user=request.user):
        messages.success(request, _("Revoked. Whoever uses it is refused from now on."))
    return redirect("admin:desk_tokens", slug)


def _tokens_of(study: Study, user: Any) -> QuerySet[ApiToken]:
    found = ApiToken.objects.filter(studies=study)
    return found if manages(user, study) else found.filter(owner=user)


def _shown(study: Study, user: Any) -> list[ApiToken]:
    """With those of their studies alone that the reader may know of."""
    known = Prefetch("studies", Study.objects.visible_to(user))
    return list(_tokens_of(study, user).select_related("owner").prefetch_related(known)[:100])
