"""Tidy tables of this floor: the study, its people, what they agreed to and answered, who was turned away.

Erased people are in none of them. Codes replace keys; resume and receipt codes and user accounts never leave.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

from django.db import connection
from django.db.models import Case, F, Q, QuerySet, TextField, Value, When

from studies.cells import as_json
from studies.in_sql import JsonText
from studies.models import Answer, Consent, EndState, Language, Participant, Questionnaire, Study, TurnedAway
from studies.registry import datasets
from studies.tidy import column, dataset


def shown_answer(
    value: Any, question: str, questionnaire: int, may_publish: bool | None, free_text: set[tuple[int, str]]
) -> str:
    """An answer as text; free text only of people who agreed to its publication."""
    if (questionnaire, question) in free_text and not may_publish:
        return ""
    return value if isinstance(value, str) else as_json(value)


def _shown_answer_in_sql(study: Study) -> Any:
    if connection.vendor != "postgresql":
        return None
    shown, free_text = JsonText(F("value")), free_text_questions(study)
    if not free_text:
        return shown
    own_words = [Q(questionnaire=form, question=question) for form, question in sorted(free_text)]
    agreed = When(rater__participant__consent__publish_text=True, then=shown)
    return Case(
        agreed,
        When(reduce(or_, own_words), then=Value("")),
        default=shown,
        output_field=TextField(),
    )


def free_text_questions(study: Study) -> set[tuple[int, str]]:
    """Questionnaire and key of every question that is answered in a person's own words."""
    return {
        (key, str(question["key"]))
        for key, questions in Questionnaire.objects.filter(study=study).values_list("pk", "questions")
        for question in questions
        if question.get("kind") == "text"
    }


def _studies(study: Study) -> QuerySet[Study]:
    return Study.objects.filter(pk=study.pk)


def _participants(study: Study) -> QuerySet[Participant]:
    return Participant.objects.filter(study=study, erased_at=None).order_by("joined_at", "pk")


def _consents(study: Study) -> QuerySet[Consent]:
    return Consent.objects.filter(participant__study=study, participant__erased_at=None).order_by("pk")


def _answers(study: Study) -> QuerySet[Answer]:
    return Answer.objects.filter(
        rater__participant__study=study, rater__participant__erased_at=None
    ).order_by("pk")


def _turned_away(study: Study) -> QuerySet[TurnedAway]:
    return TurnedAway.objects.filter(study=study).order_by("day", "reason")


STUDY = dataset(
    "study",
    "The study",
    models=("studies.Study",),
    query=_studies,
    primary_key=("study",),
    columns=(
        column("study", "address of the study", "slug"),
        column("title_en", "title in English"),
        column("title_zh", "title in Chinese"),
        column("status", "state when exported", levels=Study.Status.values),
        column("languages", "languages that people judge in", type="array"),
        column("activities", "what people do, in order", type="array"),
        column("seed", "seed that every draw of the study starts from", type="integer"),
        column("time_zone", "time zone that days are counted in"),
        column("min_age", "youngest age that may take part", type="integer", unit="years"),
        column("profile_at", "when the profile is asked", levels=("start", "end")),
        column("approval", "ethics approval number"),
        column("erasure_until", "last date on which people may ask for erasure", type="date"),
        column("created_at", "when the study was made", type="datetime"),
        column("opened_at", "when it was opened", type="datetime"),
        column("closed_at", "when it was closed", type="datetime"),
    ),
)

PARTICIPANTS = dataset(
    "participants",
    "People who took part",
    models=("studies.Participant", "studies.Rater"),
    query=_participants,
    primary_key=("participant",),
    columns=(
        column("participant", "random code of the person in this study", "code"),
        column("state", "how far the person came", levels=Participant.State.values),
        column("end_state", "how the participation ended; empty while it goes on", levels=EndState.values),
        column("interface_language", "language of the pages", levels=("en", "zh-hans")),
        column("judging_language", "language of the dialogues", levels=Language.values),
        column("source", "tag of the link by which the person came"),
        column("is_pilot", "joined while the study was a pilot", type="boolean"),
        column("is_test", "a test participant", type="boolean"),
        column("device_class", "kind of device used"),
        column("joined_at", "first visit", type="datetime"),
        column("consented_at", "when consent was given", type="datetime"),
        column("completed_at", "when the last activity was finished", type="datetime"),
        column("withdrawn_at", "when the person withdrew", type="datetime"),
        column("nickname", "name chosen for the leaderboard", tier="internal"),
        column("recruiter", "ids that the recruiter put into the link", type="object", tier="internal"),
    ),
)

CONSENTS = dataset(
    "consents",
    "What people agreed to",
    models=("studies.Consent", "studies.ConsentText"),
    query=_consents,
    primary_key=("participant",),
    columns=(
        column("participant", "code of the person", "participant__code"),
        column("text_activity", "activity the consent text is for, empty: for everybody", "text__activity"),
        column("text_version", "version of the consent text", "text__version", type="integer"),
        column("text_sha256", "SHA-256 of the words that were shown", "sha256"),
        column("language", "language in which they were shown"),
        column("publish_text", "free text or messages may be published", type="boolean"),
        column("contact_again", "may be contacted again", type="boolean"),
        column("given_at", "when consent was given", type="datetime"),
    ),
)

ANSWERS = dataset(
    "answers",
    "Answers to questionnaires, the profile included",
    models=("studies.Answer", "studies.Questionnaire"),
    query=_answers,
    primary_key=("participant", "questionnaire", "version", "question", "about"),
    columns=(
        column("participant", "code of the person", "rater__participant__code"),
        column("questionnaire", "key of the questionnaire; the profile is one", "questionnaire__key"),
        column("version", "its version", "questionnaire__version", type="integer"),
        column("question", "key of the question"),
        column(
            "value",
            "the answer; several choices as a JSON list; free text only with consent to publish it",
            ("value", "question", "questionnaire_id", "rater__participant__consent__publish_text"),
            make=shown_answer,
            beside=free_text_questions,
            sql=_shown_answer_in_sql,
        ),
        column("scale", "answers that were offered, in order", type="array"),
        column("about", "code of the game it is about; empty: asked once"),
        column("language", "language in which it was asked"),
        column("answered_at", "when it was answered", type="datetime"),
    ),
)

TURNED_AWAY = dataset(
    "turned_away",
    "Visitors who went no further, counted by day",
    models=("studies.TurnedAway",),
    query=_turned_away,
    primary_key=("day", "reason"),
    columns=(
        column("day", "day in the study's time zone", type="date"),
        column("reason", "why they went no further", levels=TurnedAway.Reason.values),
        column("count", "visitors", type="integer", unit="visits"),
    ),
)


def register() -> None:
    for one in (STUDY, PARTICIPANTS, CONSENTS, ANSWERS, TURNED_AWAY):
        datasets.add(one)
