"""Every write about tokens: made, revoked, the day of their last use."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies import audit
from studies.models import Study
from turingsite.api import token_text
from turingsite.api.models import ApiToken
from turingsite.errors import Conflict, Invalid, NotFound

MOST_DAYS = 366
DAYS = 90
SAME_CLICK = timedelta(minutes=1)
MOST_ALIVE = 50  # tokens of one person; a script that makes tokens in a loop meets a wall


class Made(NamedTuple):
    """A new token; ``secret`` is its text, to be shown once and kept nowhere here."""

    token: ApiToken
    secret: str


@transaction.atomic
def make_token(
    *,
    owner: Any,
    studies: Collection[Study],
    name: str,
    days: int = DAYS,
    may_export: bool = False,
    once: str = "",
    user: Any = None,
    now: datetime | None = None,
) -> Made:
    """A token of ``owner`` for ``studies``, all of which they may open now; ``user`` is who made it.

    ``once`` is what the page with the form drew: sent twice with the same wishes, as by a double click, it
    makes one token and gives it both times. Invalid with what is wrong by field; NotFound ``no_study`` for a
    study that is not theirs; Conflict ``made_already`` where the form is sent again later.
    """
    now = now or timezone.now()
    name = " ".join(name.split())
    wrong: dict[str, Any] = {}
    if not name or len(name) > 80:
        wrong["name"] = _("Give it a name of at most 80 letters, so that you know it again.")
    if not 1 <= days <= MOST_DAYS:
        wrong["days"] = _("A token lasts between one day and a year.")
    if not studies:
        wrong["studies"] = _("Choose at least one study.")
    if wrong:
        raise Invalid("bad_token", _("This token can't be made."), fields=wrong)
    if not owner.is_active or not owner.is_staff:
        raise Invalid("no_account", _("Only people with an account for the desk can have a token."))
    theirs = set(Study.objects.visible_to(owner).filter(pk__in=[study.pk for study in studies]))
    if theirs != set(studies):
        raise NotFound("no_study", _("There is no such study, or it is not this person's."))
    drawn = token_text.draw()
    if once:
        wishes = [once, owner.pk, name, days, may_export, sorted(study.pk for study in studies)]
        drawn = token_text.drawn_for(json.dumps(wishes))
        if there := ApiToken.objects.filter(sha256=drawn.sha256).first():
            return _again(there, drawn, now)
    if ApiToken.objects.alive(now).filter(owner=owner).count() >= MOST_ALIVE:
        raise Conflict("too_many_tokens", _("Revoke tokens that you don't need before you make more."))
    try:
        with transaction.atomic():
            token = _stored(drawn, owner, name=name, days=days, may_export=may_export, now=now)
    except IntegrityError:  # the other click came first and is through by now
        if not (there := ApiToken.objects.filter(sha256=drawn.sha256).first()):
            raise
        return _again(there, drawn, now)
    token.studies.set(studies)
    for study in studies:
        audit.record(
            "api.token_made",
            study=study,
            user=user,
            target=token.prefix,
            now=now,
            owner=owner.pk,
            days=days,
            may_export=may_export,
        )
    return Made(token, drawn.text)


def _stored(
    drawn: token_text.Secret, owner: Any, *, name: str, days: int, may_export: bool, now: datetime
) -> ApiToken:
    return ApiToken.objects.create(
        owner=owner,
        name=name,
        prefix=drawn.prefix,
        sha256=drawn.sha256,
        may_export=may_export,
        created_at=now,
        expires_at=now + timedelta(days=days),
    )


def _again(token: ApiToken, drawn: token_text.Secret, now: datetime) -> Made:
    if token.revoked_at is None and now - token.created_at < SAME_CLICK:
        return Made(token, drawn.text)
    raise Conflict("made_already", _("This token was made before. Load the page again to make another."))


@transaction.atomic
def revoke_token(*, token: ApiToken, user: Any = None, now: datetime | None = None) -> bool:
    """End ``token`` for good; False where it was revoked before."""
    now = now or timezone.now()
    if not ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now):
        return False
    for study in token.studies.all():
        audit.record("api.token_revoked", study=study, user=user, target=token.prefix, now=now)
    return True


def note_use(*, token: ApiToken, today: date) -> None:
    """Remember the day on which ``token`` was last used: one write a day."""
    if token.last_used != today:
        ApiToken.objects.filter(pk=token.pk).update(last_used=today)
