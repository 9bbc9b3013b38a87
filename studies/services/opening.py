"""Studies come to be, get their texts, open, pause and close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from studies import audit, builtin, codes, registry, texts
from studies.looks import noted_reopening, read_closed
from studies.models import Completion, ConsentText, EndState, Questionnaire, Study, StudyMember
from studies.plans import frozen_plan
from studies.selectors import activities_of, opening_problems, soft_launched, source_of
from turingsite.errors import Conflict, Invalid

Status = Study.Status

#: States in which verdicts that count come in.
COUNTING = (Status.SOFT_LAUNCH, Status.OPEN)
# Back to draft only while nobody is in it, to pilot only if it never opened: pilot rows never enter.
ALLOWED: dict[str, tuple[str, ...]] = {
    Status.DRAFT: (Status.PILOT, Status.SOFT_LAUNCH, Status.OPEN),
    Status.PILOT: (Status.DRAFT, Status.SOFT_LAUNCH, Status.OPEN, Status.PAUSED, Status.CLOSED),
    Status.SOFT_LAUNCH: (Status.OPEN, Status.PAUSED, Status.CLOSED),
    Status.OPEN: (Status.PAUSED, Status.CLOSED),
    Status.PAUSED: (Status.PILOT, Status.SOFT_LAUNCH, Status.OPEN, Status.CLOSED),
    Status.CLOSED: (Status.PAUSED,),
}


@transaction.atomic
def create_study(
    *,
    slug: str,
    title_en: str,
    title_zh: str = "",
    user: Any,
    template: str = "speech",
    profile_extras: Iterable[str] = (),
    now: datetime | None = None,
    **fields: Any,
) -> Study:
    """A draft from a built-in study: consent text, profile, a completion for every end state.

    ``user`` becomes its researcher; None leaves it to operators. ``fields`` are further columns of Study
    (host, contact, min_age, …). Invalid for an address that is taken or
    misshapen, and for an unknown template.
    """
    if template not in builtin.STUDIES:
        raise Invalid("unknown_template", _("There is no built-in study “%(name)s”."), {"name": template})
    try:
        validate_slug(slug)
    except ValidationError as error:
        message = _("An address has letters of the English alphabet, figures and dashes only.")
        raise Invalid("bad_slug", message, fields={"slug": message}) from error
    data = builtin.load(template)
    values = {"languages": list(data["languages"]), "activities": list(data["activities"]), **fields}
    try:
        with transaction.atomic():
            study = Study.objects.create(slug=slug, title_en=title_en, title_zh=title_zh, **values)
    except IntegrityError as error:
        message = _("Another study has this address. Choose another.")
        raise Invalid("slug_taken", message, fields={"slug": message}) from error
    _write_text(study, data["consent"])
    profile = builtin.load("profile")
    Questionnaire.objects.create(
        study=study,
        key=profile["key"],
        title_en=profile["title"]["en"],
        title_zh=profile["title"]["zh"],
        questions=builtin.profile_questions(extras=tuple(profile_extras), minors=study.min_age < 18),
    )
    for survey in data.get("surveys", ()):
        Questionnaire.objects.create(
            study=study,
            key=survey["key"],
            title_en=survey["title"]["en"],
            title_zh=survey["title"]["zh"],
            questions=survey["questions"],
        )
    Completion.objects.bulk_create(
        Completion(study=study, end_state=end_state, code=codes.public_code().upper())
        for end_state in EndState.values
    )
    if user is not None:
        StudyMember.objects.create(study=study, user=user, role=StudyMember.Role.RESEARCHER)
    for key in study.activities:
        if key in registry.activities:
            registry.activities.get(key).prepare(study)
    audit.record("study.created", study=study, user=user, target=slug, now=now, template=template)
    return study


@transaction.atomic
def change_status(
    *, study: Study, to: str, knowing: bool = False, user: Any = None, now: datetime | None = None
) -> Study:
    """Move ``study`` to the status ``to``; the same status again is no change.

    ``knowing``: whoever opens a closed study again knows that outcomes were read since. Conflict
    ``outcomes_read`` without it; the readings are looks from then on, and reports say so.
    Conflict ``not_allowed`` where the order of states forbids it, ``not_ready`` with every problem in words
    where people would meet an unfinished study, ``moved_on`` where somebody else changed it meanwhile.
    """
    now = now or timezone.now()
    study.refresh_from_db()
    before = study.status
    if to == before:
        return study
    _check_order(study, to)
    read = read_closed(study)
    if read is not None and not knowing:
        raise Conflict(
            "outcomes_read",
            _("Outcomes were read while the study was closed. Confirm that it goes on all the same."),
        )
    if to in Study.JOINABLE:
        if to in COUNTING:
            for activity in activities_of(study):
                activity.at_opening(study, user)
        problems = opening_problems(study, pilot=to == Status.PILOT)
        if problems:
            raise Conflict("not_ready", _("Not ready yet: %(problems)s"), {"problems": " ".join(problems)})
        settle_texts(study)
    if to == Status.SOFT_LAUNCH and soft_launched(study) >= study.soft_launch_n:
        raise Conflict(
            "soft_launch_full",
            _("%(n)s people have been through the soft launch. Open the study, or set a higher number."),
            {"n": soft_launched(study)},
        )
    changes: dict[str, Any] = {"status": to}
    if to == Status.OPEN and study.opened_at is None:
        changes["opened_at"] = now
    changes["closed_at"] = now if to == Status.CLOSED else None
    if not Study.objects.filter(pk=study.pk, status=before).update(**changes):
        raise Conflict("moved_on", _("Somebody else has just changed this study. Load the page again."))
    plan = frozen_plan(study)
    # People whose verdicts count come in: whether anything was fixed before belongs into the trail.
    more: dict[str, Any] = {"plan": plan.sha256[:16] if plan else "none"} if to in COUNTING else {}
    if read is not None:
        more |= noted_reopening(read)
    audit.record(
        "study.status", study=study, user=user, target=study.slug, now=now, was=before, now_is=to, **more
    )
    study.refresh_from_db()
    return study


@transaction.atomic
def publish_consent_text(
    *,
    study: Study,
    body: Mapping[str, Any],
    activity: str = "",
    user: Any = None,
    now: datetime | None = None,
) -> ConsentText:
    """A new version of the consent text. Earlier versions stay with the people who agreed to them.

    ``activity``: for people who do it as their own; else for everybody.
    """
    for language in texts.LANGUAGES:
        words = body.get(language)
        if not words or not all(words.get(part) for part in ("summary", "sections", "debrief")):
            raise Invalid(
                "incomplete_text",
                _("Summary, full text and debrief are needed in both languages; “%(language)s” lacks one."),
                {"language": language},
            )
    text = _write_text(study, body, activity)
    more = {"activity": activity} if activity else {}
    audit.record("consent_text.published", study=study, user=user, target=text.version, now=now, **more)
    return text


@transaction.atomic
def publish_questionnaire(
    *,
    study: Study,
    key: str,
    title_en: str,
    title_zh: str = "",
    questions: list[dict[str, Any]],
    user: Any = None,
    now: datetime | None = None,
) -> Questionnaire:
    """A new version of a questionnaire; answers stay with the version they were given to."""
    latest = study.questionnaires.filter(key=key).order_by("-version").first()
    study.questionnaires.filter(key=key, is_current=True).update(is_current=False)
    row = Questionnaire.objects.create(
        study=study,
        key=key,
        version=latest.version + 1 if latest else 1,
        title_en=title_en,
        title_zh=title_zh,
        questions=questions,
    )
    audit.record("questionnaire.published", study=study, user=user, target=f"{key} v{row.version}", now=now)
    return row


def moves_of(study: Study) -> list[str]:
    """Where ``study`` may go from here. Nobody goes back to a pilot or a soft launch that is past."""
    moves = list(ALLOWED.get(study.status, ()))
    launched = soft_launched(study)
    past = {
        Status.DRAFT: study.participants.exists(),
        Status.PILOT: study.opened_at is not None or launched > 0,
        Status.SOFT_LAUNCH: study.opened_at is not None or launched >= study.soft_launch_n,
    }
    return [to for to in moves if not past.get(Status(to), False)]


def _check_order(study: Study, to: str) -> None:
    allowed = to in moves_of(study)
    # A soft launch that is through has an answer of its own.
    if to == Status.SOFT_LAUNCH and study.opened_at is None:
        allowed = to in ALLOWED.get(study.status, ())
    if not allowed:
        raise Conflict(
            "not_allowed",
            _("A study cannot go from “%(before)s” to “%(after)s”."),
            {"before": study.get_status_display(), "after": dict(Status.choices).get(to, to)},
        )


def settle_texts(study: Study) -> None:
    """Fill in what the newest consent texts left open, as versions whose hashes prove the words people read.

    A settled text remembers the version it was filled from (``of``): a changed contact settles it anew.
    """
    for activity in study.consent_texts.order_by().values_list("activity", flat=True).distinct():
        latest = study.consent_texts.filter(activity=activity).order_by("-version")[0]
        source = source_of(study, activity) or latest
        if not texts.has_places(source.body):
            continue
        body = {**texts.filled(study, source.body), "of": source.version}
        if body != latest.body:
            _write_text(study, body, activity)


def _write_text(study: Study, body: Mapping[str, Any], activity: str = "") -> ConsentText:
    latest = study.consent_texts.filter(activity=activity).order_by("-version").first()
    return ConsentText.objects.create(
        study=study,
        activity=activity,
        version=latest.version + 1 if latest else 1,
        body=dict(body),
        sha256=texts.digest(body),
    )
