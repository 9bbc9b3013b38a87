"""What people decide about dialogues on the desk: flags, a mark of their own, in play or not."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from dialogues import services
from dialogues.selectors import access_desk_dialogue
from turingsite.desk import corpus
from turingsite.desk.corpus_forms import AggressiveForm
from turingsite.desk.doors import access_managed_study, tell
from turingsite.errors import DomainError


@require_POST
def flag(request: HttpRequest, code: str) -> HttpResponse:
    """Confirm or reject a flag, or take that back."""
    found = access_desk_dialogue(code, request.user)
    asked = request.POST.get("flag", "")
    try:
        services.review_flag(
            dialogue=found,
            flag_id=int(asked) if asked.isdecimal() and len(asked) < 19 else 0,
            review=request.POST.get("review", ""),
            user=request.user,
        )
    except DomainError as error:
        tell(request, error)
    return redirect(reverse("admin:desk_dialogue", args=[code]) + "#flags")


@require_POST
def aggressive(request: HttpRequest, code: str) -> HttpResponse:
    """Mark the dialogue as aggressive, with the reason."""
    found = access_desk_dialogue(code, request.user)
    form = AggressiveForm(request.POST)
    if form.is_valid():
        try:
            services.mark_aggressive(dialogue=found, user=request.user, **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            return redirect(reverse("admin:desk_dialogue", args=[code]) + "#flags")
    return corpus.shown(request, found, mark_form=form)


@require_POST
def in_play(request: HttpRequest) -> HttpResponse:
    """Take the dialogues that fit the filters out of play in a study, or put them back."""
    wanted = corpus.filter_of(request, request.POST)[1]
    back = reverse("admin:desk_dialogues") + "?" + urlencode({k: v for k, v in wanted.items() if v})
    study = access_managed_study(wanted.get("study", ""), request.user)
    active = request.POST.get("do") == "put_back"
    expected = request.POST.get("put_back_n" if active else "take_out_n", "")
    try:
        changed = services.set_in_play(
            study=study,
            dialogues=corpus.filtered(request.user, wanted),
            active=active,
            user=request.user,
            expected=int(expected) if expected.isdecimal() and len(expected) < 10 else None,
        )
    except DomainError as error:
        tell(request, error)
    else:
        words = (
            ngettext("%(n)s dialogue is in play again.", "%(n)s dialogues are in play again.", changed)
            if active
            else ngettext("%(n)s dialogue is out of play.", "%(n)s dialogues are out of play.", changed)
        )
        messages.success(request, words % {"n": changed} if changed else _("Nothing had to be changed."))
    return redirect(back)
