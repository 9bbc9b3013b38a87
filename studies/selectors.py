"""Reads that span tables, and the doors to a study: outsiders get the answer for what does not exist."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from django.urls import reverse
from django.utils.translation import gettext as _

from studies import codes, registry
from studies.models import (
    Completion,
    ConsentText,
    EndState,
    Language,
    Participant,
    Questionnaire,
    Study,
    StudyMember,
)
from turingsite.errors import NotFound, gettext_noop

NO_STUDY = gettext_noop("There is no study at this address. A letter of the link may be missing.")
PROFILE = "profile"


def access_study(slug: str, user: Any = None) -> Study:
    """The study at that address; NotFound where there is none, or where it is a draft of somebody else."""
    study = Study.objects.filter(slug=slug).first()
    if study is None or (study.status == Study.Status.DRAFT and not may_open_desk(user, study)):
        raise NotFound("no_study", NO_STUDY)
    return study


def access_desk_study(slug: str, user: Any) -> Study:
    """A study whose desk ``user`` may open; NotFound for everybody else."""
    study = Study.objects.visible_to(user).filter(slug=slug).first() if user.is_authenticated else None
    if study is None:
        raise NotFound("no_study", NO_STUDY)
    return study


def may_open_desk(user: Any, study: Study) -> bool:
    """Whether ``user`` is an operator, or a researcher or colleague of ``study``."""
    if user is None or not user.is_authenticated:
        return False
    return (
        bool(user.is_superuser) or study.members.filter(user=user, role__in=StudyMember.DESK_ROLES).exists()
    )


def access_receipt(study: Study, typed: str) -> Participant:
    """The participant whose receipt code was typed; NotFound ``no_receipt`` for any other text."""
    return _by_code(study, "no_receipt", receipt_code=codes.normalise(typed[:100]))


def access_resume(study: Study, typed: str) -> Participant:
    """The participant whose resume code was typed; NotFound ``no_code`` for any other text."""
    return _by_code(study, "no_code", resume_code=codes.normalise(typed[:100]))


def _by_code(study: Study, error: str, **code: str) -> Participant:
    participant = (
        study.participants.select_related("study", "rater").filter(consented_at__isnull=False, **code).first()
    )
    if participant is None:
        raise NotFound(error, gettext_noop("We do not know this code. Check it letter by letter."))
    return participant


def current_consent_text(study: Study, activity: str = "") -> ConsentText | None:
    """The newest text for people who do ``activity`` as their own, else the one for everybody."""
    newest = study.consent_texts.order_by("-version")
    found = newest.filter(activity=activity).first() if activity else None
    return found or newest.filter(activity="").first()


def text_of(participant: Participant) -> ConsentText | None:
    """The current text for what this person does."""
    own = participant.activities
    return current_consent_text(participant.study, own[0] if len(own) == 1 else "")


def activities_with_texts(study: Study) -> list[str]:
    """Activities that some do as their own in ``study``, beside what everybody does: by an invitation."""
    stored = set(study.consent_texts.exclude(activity="").values_list("activity", flat=True))
    return [
        one.key
        for one in registry.activities
        if one.key in stored
        or (
            one.key not in study.activities
            and one.key in registry.study_parts
            and registry.study_parts.get(one.key).has(study)
        )
    ]


def source_of(study: Study, activity: str = "") -> ConsentText | None:
    """The newest text as written: with its places ({host}, …), not as filled in at opening."""
    rows = study.consent_texts.filter(activity=activity)
    latest = rows.order_by("-version").first()
    if latest is None or "of" not in latest.body:
        return latest
    return rows.filter(version=latest.body["of"]).first() or latest


def current_questionnaire(study: Study, key: str) -> Questionnaire | None:
    return study.questionnaires.filter(key=key, is_current=True).first()


def has_answered(participant: Participant, key: str) -> bool:
    """Whether the person answered any version of that questionnaire."""
    return participant.rater.answers.filter(questionnaire__key=key).exists()


class Step(NamedTuple):
    """Where a person stands. ``name``: language, profile, an activity's key, or end."""

    name: str
    url: str


def position(participant: Participant) -> Step:
    """The next thing for this person; the server decides it, whatever page they come from."""
    study = participant.study
    args = [study.slug]
    if participant.end_state or participant.is_gone:
        return Step("end", reverse("studies:debrief", args=args))
    if participant.judging_language not in study.languages:
        return Step("language", reverse("studies:language", args=args))
    if study.profile_at == "start" and _owes_profile(participant):
        return Step(PROFILE, reverse("studies:questionnaire", args=[study.slug, PROFILE]))
    for activity in activities_for(participant):
        if not activity.is_complete(participant):
            return Step(activity.key, activity.next_url(participant))
    if study.profile_at == "end" and _owes_profile(participant):
        return Step(PROFILE, reverse("studies:questionnaire", args=[study.slug, PROFILE]))
    return Step("end", reverse("studies:debrief", args=args))


def _owes_profile(participant: Participant) -> bool:
    return current_questionnaire(participant.study, PROFILE) is not None and not has_answered(
        participant, PROFILE
    )


def activities_of(study: Study) -> Iterable[registry.Activity]:
    """The study's activities in their order; unknown keys are an opening problem and left out here."""
    return [registry.activities.get(key) for key in study.activities if key in registry.activities]


def activities_for(participant: Participant) -> Iterable[registry.Activity]:
    """What this person does: their own activities where they have some, else the study's, in order."""
    keys = participant.activities or participant.study.activities
    return [registry.activities.get(key) for key in keys if key in registry.activities]


def counts_as_done(participant: Participant) -> bool:
    """Whether stopping now still counts as done: enough of every activity."""
    activities = activities_for(participant)
    return bool(activities) and all(activity.counts_as_done(participant) for activity in activities)


def end_if_stopped(participant: Participant) -> EndState:
    """How it ends if the person stops now: done after enough; technical where we have kept them from it; as
    an activity says of people in their place; else as one who withdrew.
    """
    if counts_as_done(participant):
        return EndState.DONE
    activities = list(activities_for(participant))
    if any(activity.hindered(participant) for activity in activities):
        return EndState.TECHNICAL
    known = (activity.stops_as(participant) for activity in activities)
    return EndState(next(filter(None, known), EndState.WITHDREW))


def soft_launched(study: Study) -> int:
    """How many people the soft launch has counted."""
    return study.participants.filter(in_soft_launch=True).count()


def completion_of(participant: Participant) -> Completion | None:
    """What the person gets at the end state they reached; None while they have not ended."""
    if not participant.end_state:
        return None
    return participant.study.completions.filter(end_state=participant.end_state).first()


def pay_if_stopped(participant: Participant) -> Completion | None:
    """What the person would get if they stopped now."""
    state = participant.end_state or end_if_stopped(participant)
    return participant.study.completions.filter(end_state=state).first()


def debrief_rows(participant: Participant) -> list[registry.DebriefRow]:
    """The person's answers beside the truth, over all activities; for people who ended only."""
    if participant.erased_at is not None or not participant.end_state:
        return []
    return [row for activity in activities_for(participant) for row in activity.debrief_rows(participant)]


def debrief_facts(participant: Participant) -> list[tuple[registry.Text, str]]:
    """What the person did, over all activities; for people who ended only."""
    if participant.erased_at is not None or not participant.end_state:
        return []
    return [fact for activity in activities_for(participant) for fact in activity.debrief_facts(participant)]


def opening_problems(study: Study, *, pilot: bool = False) -> list[str]:
    """Everything that keeps ``study`` from taking people, each in words that say what to do.

    ``pilot``: people whose answers never count, which asks for less.
    """
    problems = []
    text = current_consent_text(study)
    if text is None or not all(text.body.get(language) for language in ("en", "zh")):
        problems.append(_("Write the consent text in both languages."))
    if not study.host:
        problems.append(_("Say who runs the study."))
    if not study.contact:
        problems.append(_("Give an address people can write to."))
    if not study.languages or not set(study.languages) <= set(Language.values):
        problems.append(_("Choose at least one judging language."))
    if study.time_zone not in available_timezones():
        problems.append(_("There is no time zone “%(name)s”.") % {"name": study.time_zone})
    if study.recruiter_required and not study.recruiter_params:
        problems.append(_("Name the address parameter that carries the recruiter's person id."))
    paid = set(study.completions.exclude(code="", link="").values_list("end_state", flat=True))
    names = dict(EndState.choices)
    missing = [str(names[state]) for state in EndState.values if state not in paid]
    if missing:
        problems.append(_("Give a code or a return link to: %(states)s.") % {"states": ", ".join(missing)})
    if not study.activities:
        problems.append(_("Choose at least one activity."))
    for key in study.activities:
        if key not in registry.activities:
            problems.append(_("There is no activity “%(key)s”.") % {"key": key})
    for activity in activities_of(study):
        problems.extend(str(problem) for problem in activity.ready(study))
        if not pilot:
            problems.extend(str(problem) for problem in activity.counting(study))
    return problems


def local_day(study: Study, now: datetime) -> date:
    """The day of ``now`` in the study's time zone."""
    return now.astimezone(ZoneInfo(study.time_zone)).date()
