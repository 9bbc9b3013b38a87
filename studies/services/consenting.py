"""How a visitor becomes a participant: only by consent. Who goes no further is counted, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Consent, ConsentText, Participant, Rater, Study, TurnedAway
from studies.selectors import current_consent_text, local_day
from turingsite.errors import Conflict, Gone, Invalid


@transaction.atomic
def turn_away(*, study: Study, reason: str, now: datetime | None = None) -> None:
    """Count somebody who went no further, by the study's day; nothing about them is kept."""
    day = local_day(study, now or timezone.now())
    row, _made = TurnedAway.objects.get_or_create(study=study, day=day, reason=reason)
    TurnedAway.objects.filter(pk=row.pk).update(count=F("count") + 1)


@transaction.atomic
def consent(
    *,
    study: Study,
    text: ConsentText,
    key: str,
    language: str,
    publish_text: bool,
    contact_again: bool,
    recruiter: Mapping[str, str] | None = None,
    source: str = "",
    device_class: str = "",
    is_test: bool = False,
    activity: str = "",
    arrive: Callable[[Participant], None] | None = None,
    now: datetime | None = None,
) -> Participant:
    """The participant who agreed to ``text``, with their rater and the hash of the words they read.

    ``key`` was drawn for this visit and becomes the resume code: the same form sent twice is the same person.
    So is the same recruiter's person id, the first entry of ``recruiter``. Gone for a study that takes nobody
    and for people who left it; Conflict ``new_text`` where the text has changed since it was read.
    ``activity``: what they will do as their own, which may have a text of its own.
    ``arrive``: what a word that they brought makes of them; it also stands in for a recruiter's id.
    """
    now = now or timezone.now()
    recruiter = dict(recruiter or {})
    person = recruiter.get(study.recruiter_params[0], "") if study.recruiter_params else ""
    known = same_person(study, key, person)
    if known is not None:
        return _arrived(known, arrive)
    if study.status not in Study.JOINABLE:
        raise Gone("gone", _("This study takes nobody at the moment. Nothing about you was stored."))
    if study.recruiter_required and not person and arrive is None:
        raise Invalid(
            "no_recruiter_id", _("Open the link in the panel that sent you: your id there is missing.")
        )
    if is_test and not study.test_participants:
        raise Invalid("no_test", _("This study takes no test participants."))
    if current_consent_text(study, activity) != text:
        raise Conflict("new_text", _("The text has changed while you read it. Please read it again."))
    try:
        with transaction.atomic():
            participant = Participant.objects.create(
                study=study,
                resume_code=key,
                state=Participant.State.CONSENTED,
                interface_language=language,
                judging_language=study.languages[0] if len(study.languages) == 1 else "",
                recruiter=recruiter,
                recruiter_key=person,
                source=source,
                device_class=device_class,
                is_pilot=study.status == Study.Status.PILOT,
                is_test=is_test,
                joined_at=now,
                consented_at=now,
            )
    except IntegrityError:
        # Another request of the same person came first: the second of a double click, or of two tabs.
        known = same_person(study, key, person)
        if known is None:
            raise
        return _arrived(known, arrive)
    Rater.objects.create(participant=participant)
    Consent.objects.create(
        participant=participant,
        text=text,
        sha256=text.sha256,
        language=language,
        publish_text=publish_text,
        contact_again=contact_again,
        given_at=now,
    )
    return _arrived(participant, arrive)


def _arrived(participant: Participant, arrive: Callable[[Participant], None] | None) -> Participant:
    if arrive is not None:
        arrive(participant)
    return participant


def same_person(study: Study, key: str, person: str) -> Participant | None:
    """Who is in the study already under this visit's key or the recruiter's id; Gone if they left it."""
    people = study.participants.select_related("study")
    known = people.filter(resume_code=key).first()
    if known is None and person:
        known = people.filter(recruiter_key=person).first()
    if known is not None and known.is_gone:
        raise Gone("gone", _("You have left this study. Nothing more is stored."))
    return known
