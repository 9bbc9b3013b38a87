"""The access matrix: every address of the site against everybody who may come to it.

Addresses come from the URL configuration, so a new one without its line fails. ``in`` is any answer of the
page itself, also one that refuses the data sent; ``login`` is the way to the desk's login.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from axes.models import AccessAttempt, AccessFailureLog, AccessLog
from django.conf import settings
from django.contrib.auth.models import Group
from django.core import signing
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.utils import timezone

from annotation.models import BatchItem, ReviewCase
from annotation.review.access import open_case
from annotation.services.review_cases import refresh_cases
from annotation.services.taxonomies import copy_taxonomy
from dialogues.models import ImportBatch, System
from games.speech.models import Trial
from studies import access
from studies.export_jobs import request_export, run
from studies.models import Participant
from tests import factories
from tests.rooms import GameFactory, GroupSettingsFactory
from turingsite.api.models import ApiToken
from turingsite.api.services import make_token, revoke_token

pytestmark = pytest.mark.django_db


class Route(NamedTuple):
    """``key``: the name, or the pattern of an address without one. ``pattern``: as in the configuration."""

    key: str
    pattern: str


def routes(resolver: Any = None, prefix: str = "", names: tuple[str, ...] = ()) -> Iterator[Route]:
    for one in (resolver or get_resolver()).url_patterns:
        pattern = prefix + str(one.pattern)
        if isinstance(one, URLPattern):
            yield Route(":".join([*names, one.name]) if one.name else pattern, pattern)
        else:
            yield from routes(one, pattern, (*names, one.namespace) if one.namespace else names)


ALL = list(routes())

# Who comes. Programs send a token and no cookie; of the tokens that open nothing only the API has heard.
DESK = ("reviewer", "colleague", "researcher", "stranger", "operator")
PEOPLE = ("anonymous", "participant", "other participant", *DESK, "token")
TOKENS = ("token", "token elsewhere", "token revoked", "token expired")
Rule = dict[str, str]


def rule(otherwise: str, **roles: str) -> Rule:
    """What each role gets; a space in a role's name is written ``_``."""
    named = {name.replace("_", " "): outcome for name, outcome in roles.items()}
    return dict.fromkeys((*PEOPLE, *TOKENS), otherwise) | named


def desk(otherwise: str = "in", **roles: str) -> Rule:
    """Pages of the desk: everybody without an account is sent to its login."""
    return rule("login", **(dict.fromkeys(DESK, otherwise) | roles))


def api(**roles: str) -> Rule:
    """Resources that want to know who asks."""
    unknown = ("anonymous", "participant", "other_participant", "token_revoked", "token_expired")
    return rule("in", **(dict.fromkeys(unknown, "401") | roles))


OUTSIDERS = {"reviewer": "404", "stranger": "404"}

EVERYBODY = rule("in")
STAFF = desk()  # any account for the desk, a reviewer's too
WORKERS = desk(reviewer="404")  # who works on any study
MEMBERS = desk(**OUTSIDERS)  # who works on this study
MANAGERS = desk(**OUTSIDERS, colleague="404")
READ_OR_MANAGE = (MEMBERS, MANAGERS)  # to read, to write
OPERATORS = desk("403", operator="in")
PARTICIPANTS = rule("403", participant="in", other_participant="in")
ITS_PARTICIPANT = rule("403", participant="in", other_participant="404")
NOT_YET = rule("403", participant="404", other_participant="404")  # pages that come later in the game
LISTENER = rule("404", participant="in")  # nobody else learns that there is a sound
API_MEMBERS = api(**OUTSIDERS, token_elsewhere="404")
API_BLIND = api(
    **OUTSIDERS, token_elsewhere="404", colleague="403", researcher="403", operator="403", token="403"
)

# Every address: names as in the URL configuration, patterns where the admin makes them.
LINES: dict[str, Rule | tuple[Rule, Rule]] = {
    "home": EVERYBODY,
    "design": EVERYBODY,
    "set_language": EVERYBODY,
    "health_range": rule("404"),  # without a word that only this server knows
    "health_*": EVERYBODY,
    "metrics": rule("404"),  # without its own secret
    "studies:welcome": EVERYBODY,
    "studies:age": EVERYBODY,
    "studies:consent": EVERYBODY,
    "studies:consent_copy": EVERYBODY,  # one's own, or the text as it stands
    "studies:go": PARTICIPANTS,
    "studies:language": PARTICIPANTS,
    "studies:questionnaire": PARTICIPANTS,
    "studies:resume": EVERYBODY,  # asks for a code
    "studies:leave": PARTICIPANTS,
    "studies:debrief": PARTICIPANTS,
    "studies:withdraw": EVERYBODY,  # asks for a code
    "speech:play": PARTICIPANTS,
    "speech:sound": PARTICIPANTS,
    "speech:clip": NOT_YET,
    "speech:trial": PARTICIPANTS,
    "speech:listening": ITS_PARTICIPANT,
    "speech:verdict": ITS_PARTICIPANT,
    "speech:next": ITS_PARTICIPANT,
    "speech:failed": ITS_PARTICIPANT,
    "speech:known": ITS_PARTICIPANT,
    "speech:keys": PARTICIPANTS,
    "speech:check": NOT_YET,
    "speech:round": NOT_YET,
    "speech:board": PARTICIPANTS,
    "speech:nickname": PARTICIPANTS,
    "speech:pause": PARTICIPANTS,
    "group:*": PARTICIPANTS,  # who has no game comes to the waiting room
    "room:log": PARTICIPANTS,  # sends on who has no seat
    "room:*": NOT_YET,  # to whoever has a seat
    "annotation:join": rule("404"),  # an invitation that is not there; see tests/annotation/test_joining.py
    "annotation:guidelines": PARTICIPANTS,
    "annotation:calibration": PARTICIPANTS,
    "annotation:play": PARTICIPANTS,
    "annotation:batch": PARTICIPANTS,
    "annotation:done": NOT_YET,
    "annotation:save": ITS_PARTICIPANT,
    "annotation:listening": ITS_PARTICIPANT,
    "annotation:next": ITS_PARTICIPANT,
    "annotation:failed": ITS_PARTICIPANT,
    "annotation:known": ITS_PARTICIPANT,
    "annotation:returned": PARTICIPANTS,
    "annotation:pause": PARTICIPANTS,
    "annotation:finish": PARTICIPANTS,
    "annotation:keys": PARTICIPANTS,
    "annotators:home": EVERYBODY,  # leads to their login
    "annotators:login": EVERYBODY,
    "annotators:logout": EVERYBODY,
    "annotators:go_on": rule("in", **dict.fromkeys(DESK, "404")),  # accounts that take part in nothing
    "review:studies": STAFF,
    "review:queue": desk(stranger="404"),
    "review:*": desk("404", reviewer="in"),  # the truth: not even its researchers, nor operators
    "dialogues:media": LISTENER,
    "admin:index": STAFF,
    "admin:app_list": STAFF,
    "admin:login": EVERYBODY,
    "admin:logout": EVERYBODY,
    "admin:password_change": STAFF,
    "admin:password_change_done": STAFF,
    "admin:jsi18n": STAFF,
    "admin:autocomplete": desk("403"),
    "admin:view_on_site": desk("404"),
    "admin/(?P<url>.*)$": desk("404"),
    "admin:desk_create": STAFF,
    "admin:desk_new_study_file": STAFF,
    "admin:desk_study_template": STAFF,
    "admin:desk_study": MEMBERS,
    "admin:desk_live": MEMBERS,
    "admin:desk_plan": READ_OR_MANAGE,
    "admin:desk_plan_file": MEMBERS,
    "admin:desk_planner": READ_OR_MANAGE,
    "admin:desk_soft_launch": MEMBERS,
    "admin:desk_study_file": MANAGERS,
    "admin:desk_study_yaml": MEMBERS,
    "admin:desk_status": MANAGERS,
    "admin:desk_settings": MANAGERS,
    "admin:desk_texts": MANAGERS,
    "admin:desk_people": MANAGERS,
    "admin:desk_participants": MEMBERS,
    "admin:desk_participant": MEMBERS,
    "admin:desk_trail": desk("404", operator="in"),
    "admin:desk_verdicts": MEMBERS,
    "admin:desk_annotation": READ_OR_MANAGE,
    "admin:desk_annotation_settings": MANAGERS,
    "admin:desk_annotation_invitations": READ_OR_MANAGE,
    "admin:desk_annotation_pay": MEMBERS,
    "admin:desk_annotators": MEMBERS,
    "admin:desk_annotator": READ_OR_MANAGE,
    "admin:desk_references": READ_OR_MANAGE,
    "admin:desk_taxonomies": MEMBERS,
    "admin:desk_taxonomy": READ_OR_MANAGE,
    "admin:desk_taxonomy_yaml": MEMBERS,
    "admin:desk_taxonomy_*": MANAGERS,
    "admin:desk_group": READ_OR_MANAGE,
    "admin:desk_group_settings": MANAGERS,
    "admin:desk_group_*": MEMBERS,
    "admin:desk_audit": MEMBERS,
    "admin:desk_look": MEMBERS,
    "admin:desk_tokens": MEMBERS,
    "admin:desk_token_revoke": MANAGERS,  # of somebody else's token
    "admin:desk_report": MEMBERS,
    "admin:desk_export": MEMBERS,
    "admin:desk_exports": MEMBERS,
    "admin:desk_export_stop": MEMBERS,
    "admin:desk_export_file": MEMBERS,
    "admin:desk_dialogues": WORKERS,
    "admin:desk_dialogue": MEMBERS,
    "admin:desk_sound": MEMBERS,
    "admin:desk_original": MEMBERS,
    "admin:desk_process": MEMBERS,
    "admin:desk_turns": MEMBERS,
    "admin:desk_stimuli": READ_OR_MANAGE,
    "admin:desk_in_play": MANAGERS,
    "admin:desk_listen": MEMBERS,
    "admin:desk_flag": MEMBERS,
    "admin:desk_aggressive": MEMBERS,
    "admin:desk_doctor": desk("404", operator="in"),
    "admin:desk_imports": WORKERS,
    "admin:desk_import_new": WORKERS,
    "admin:desk_import_template": WORKERS,
    "admin:desk_import": MEMBERS,
    "admin:desk_import_step": desk(**OUTSIDERS, colleague="404"),  # of whoever uploaded it
    "admin:dialogues_speaker_add": desk("403", reviewer="404", operator="in"),
    "admin:dialogues_speaker_change": MEMBERS,
    "admin:dialogues_*_delete": OPERATORS,
    "admin:dialogues_speaker_history": STAFF,  # where it is not theirs: back to the first page
    "admin:dialogues_*_history": desk(reviewer="403"),
    "admin:dialogues_*": WORKERS,  # lists that all studies share
    "admin:axes_*_add": desk("403"),
    "admin:axes_*": OPERATORS,
    "admin:auth_*": OPERATORS,
    "admin/*/<path:object_id>/": STAFF,  # leads to the page of the change
    "api:entry": rule("in", token_revoked="401", token_expired="401"),
    "api:schema": rule("in", token_revoked="401", token_expired="401"),
    "api:docs": EVERYBODY,
    "api:studies": api(),
    "api:study": API_MEMBERS,
    "api:me": PARTICIPANTS,
    "api:participants": API_MEMBERS,
    "api:participant": API_MEMBERS,
    "api:dialogues": API_MEMBERS,
    "api:dialogue": API_MEMBERS,
    "api:verdicts": API_BLIND,
    "api:scores": API_BLIND,
    "api:reports": API_MEMBERS,
    "api:report": API_BLIND,
    "api:exports": (API_MEMBERS, API_BLIND),
    "api:export": API_MEMBERS,
    "api:export_file": API_MEMBERS,
    "api:missing": rule("404"),
}


def rule_of(key: str, method: str = "get") -> Rule | None:
    """What the first line that a route's name or pattern fits says of reading or writing."""
    found = next((found for line, found in LINES.items() if key == line or fnmatchcase(key, line)), None)
    return found[method == "post"] if isinstance(found, tuple) else found


def test_every_address_has_its_line_and_every_line_an_address() -> None:
    assert [route.key for route in ALL if rule_of(route.key) is None] == []
    assert [line for line in LINES if not any(r.key == line or fnmatchcase(r.key, line) for r in ALL)] == []


@pytest.fixture
def world(cast, settings, tmp_path) -> dict[str, Any]:
    """The cast around a study in which the participant hears the first clip and the first dialogue to score,
    and their tokens.
    """
    settings.MEDIA_ROOT, settings.EXPORT_ROOT = tmp_path / "media", tmp_path / "exports"
    study = factories.speech_study("game")
    study.activities = ["speech", "annotation", "group"]
    study.save()
    taxonomy = factories.AnnotationSettingsFactory(study=study).taxonomy
    GroupSettingsFactory(study=study)
    mine = copy_taxonomy(taxonomy=taxonomy, study=study)
    for member in cast.study.members.all():
        factories.StudyMemberFactory(study=study, user=member.user, role=member.role)
    consent = factories.ConsentTextFactory(study=study)
    person, other = (factories.ParticipantFactory(study=study) for _ in range(2))
    holder = holding(person)
    assert holder.get(f"/s/{study.slug}/speech/trial/").status_code == 200
    for one in (person, other):
        factories.AnnotatorFactory(participant=one)
    assert holder.get(f"/s/{study.slug}/annotation/batch/").status_code == 200
    trial = Trial.objects.order_by("position")[0]
    exposure = trial.exposure
    recording = exposure.dialogue.recording
    assert recording is not None
    for name in (exposure.dialogue.play_path, recording.path):
        path = Path(settings.MEDIA_ROOT) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"sound")
    for one in (person, other):
        factories.ConsentFactory(participant=one, text=consent)
    factories.QuestionnaireFactory(study=study)
    study.plans.create(version=1, frozen_at=factories.NOW, sha256="0" * 64, markdown="A plan")
    operator = factories.UserFactory(username="operator", is_staff=True, is_superuser=True)
    elsewhere = cast.stranger.memberships.get().study
    export = request_export(study=study, tier="controlled", user=cast.researcher)
    run(job_id=export.pk)
    revoked, expired = (make_token(owner=cast.researcher, studies=[study], name="x") for _ in range(2))
    revoke_token(token=revoked.token)
    of_operator = make_token(owner=operator, studies=[study], name="x").token
    past = timezone.now() - timedelta(days=2)
    ApiToken.objects.filter(pk=expired.token.pk).update(created_at=past, expires_at=past + timedelta(days=1))
    return {
        "cast": cast,
        "study": study,
        "person": person,
        "other": other,
        "operator": operator,
        "prefix": of_operator.prefix,
        "token": make_token(owner=cast.researcher, studies=[study], name="x", may_export=True).secret,
        "token elsewhere": make_token(owner=cast.stranger, studies=[elsewhere], name="x").secret,
        "token revoked": revoked.secret,
        "token expired": expired.secret,
        "places": {
            "slug": study.slug,
            "name": "speech",
            "report": "success-rate",
            "key": "success-rate",
            "token": exposure.token,
            "number": 1,
            "pk": ImportBatch.objects.create(study=study, name="x.csv", user=cast.researcher).pk,
            "step": "stop",
            "version": 1,
            "taxonomy": mine.name,
            "id": cast.reviewer.pk,
            "content_type_id": 1,
            "app_label": "dialogues",
            "url": "nothing",
        },
        "objects": {
            "dialogues/system": System.objects.order_by("pk")[0].pk,
            "dialogues/topic": exposure.dialogue.topic_id,
            "dialogues/strategy": factories.StrategyFactory().pk,
            "dialogues/speaker": exposure.dialogue.parties.get(label="A").speaker_id,
            "auth/group": Group.objects.create(name="x").pk,
            "auth/user": cast.reviewer.pk,
            "axes/accessattempt": AccessAttempt.objects.create(username="x", failures_since_start=1).pk,
            "axes/accesslog": AccessLog.objects.create(username="x").pk,
            "axes/accessfailurelog": AccessFailureLog.objects.create(username="x").pk,
        },
        "codes": {
            "trial": trial.code,
            "item": BatchItem.objects.get(position=1).code,
            "review": reviewed(cast).code,
            "invitation": "nothing",
            "export": export.code,
            "participant": person.code,
            "annotator": person.code,
            "dialogue": exposure.dialogue.code,
            "game": GameFactory(room__study=study, room__is_preview=True).code,
        },
    }


def reviewed(cast: Any) -> ReviewCase:
    """A case of the review in a study of its own with the same members; the reviewer has opened it."""
    study = factories.annotated_study("reviewed", dialogues=1, raters=1)
    for member in cast.study.members.all():
        factories.StudyMemberFactory(study=study, user=member.user, role=member.role)
    refresh_cases(study, factories.NOW)
    case = ReviewCase.objects.get()
    path = Path(settings.MEDIA_ROOT) / case.dialogue.play_path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"sound")
    open_case(case, cast.reviewer, factories.NOW)
    return case


def holding(person: Participant) -> Client:
    client = Client()
    slug = person.study.slug
    client.cookies[access.cookie_name(slug)] = signing.dumps(person.resume_code, salt=f"{access.SALT}.{slug}")
    return client


def visitor(world: dict[str, Any], role: str) -> tuple[Client, dict[str, str]]:
    """A browser or program of that role, and the headers it sends."""
    if role in world and role.startswith("token"):
        return Client(), {"authorization": f"Bearer {world[role]}"}
    if role in ("participant", "other participant"):
        return holding(world["person" if role == "participant" else "other"]), {}
    client = Client()
    if role != "anonymous":
        client.force_login(world["operator"] if role == "operator" else getattr(world["cast"], role))
    return client, {}


def address(route: Route, world: dict[str, Any]) -> str:
    """The route with what stands in it: codes and keys by the sort of thing that the address is about."""
    places = dict(world["places"])
    if route.key.startswith("review:"):
        places["slug"] = "reviewed"
    if "code" in route.pattern:
        places["code"] = world["codes"][next(sort for sort, mark in SORTS.items() if mark in route.pattern)]
    if "questionnaire" in route.key:
        places["key"] = "profile"
    if route.key == "api:report":
        places["name"] = places["report"]
    if "part>" in route.pattern:
        places["part"] = "rhythm" if "dimension" in route.key else "semantics"
    if "object_id" in route.pattern:
        model = "/".join(route.pattern.split("/")[1:3])
        places["object_id"] = world["objects"].get(model, "1")
    text = re.sub(r"\(\?P<(\w+)>[^)]*\)", r"<\1>", route.pattern).replace("^", "").replace("$", "")
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda place: str(places[place[1]]), text)


SORTS = {
    "review": "review/",
    "invitation": "annotation/join",
    "item": "annotation/item/",
    "trial": "speech/",
    "participant": "participants/",
    "annotator": "annotators/<",
    "export": "exports/",
    "game": "group/games/",
    "dialogue": "",
}


def outcome(answer: Any) -> str:
    if answer.status_code in (301, 302) and answer.url.startswith("/admin/login/"):
        return "login"
    assert answer.status_code < 500 or answer.status_code == 503, answer.content[:300]
    return str(answer.status_code) if answer.status_code in (401, 403, 404, 405) else "in"


#: What is sent where an empty request would be refused before anybody asks whose it is.
DATA: dict[str, Any] = {
    "speech:listening": {"ranges": [[0, 1]], "plays": 1},
    "speech:verdict": {"choice": "human", "at": 1},
    "speech:known": {"known": True},
    "speech:failed": {},
    "speech:next": {},
    "annotation:save": {"scores": {}},
    "annotation:listening": {"ranges": [[0, 1]], "plays": 1},
    "annotation:next": {},
    "annotation:failed": {},
    "annotation:known": {},
    "api:exports": {},
}

#: Parts by the beginnings of routes; the first that fits is the part.
PARTS = {"api": "api:", "desk": "admin:desk_", "admin": "admin", "people": ""}


def part_of(route: Route) -> str:
    return next(part for part, start in PARTS.items() if route.key.startswith(start))


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_everybody_gets_what_is_theirs_and_nothing_else(world, part):
    wrong: list[str] = []
    for role in (*PEOPLE, *TOKENS[1:]) if part == "api" else PEOPLE:
        client, headers = visitor(world, role)
        cookies = client.cookies
        for route in ALL:
            if part_of(route) != part or rule_of(route.key) is None:
                continue
            place = address(route, world)
            for method in ("get",) if part == "admin" else ("get", "post"):
                client.cookies = deepcopy(cookies)  # some pages set one, logging out takes one away
                found = sent(client, method, place, headers, DATA.get(route.key), world)
                expected = (rule_of(route.key, method) or {})[role]
                if found not in ("405", expected):
                    wrong.append(f"{role}: {method} {place} ({route.key}): {found}, not {expected}")
    assert not wrong, "\n".join(wrong)


def sent(
    client: Client, method: str, place: str, headers: dict[str, str], data: Any, world: dict[str, Any]
) -> str:
    """The outcome of one request, which leaves nothing behind."""
    with transaction.atomic():
        if method == "get":
            answer = client.get(place, headers=headers)
        elif data is not None:
            answer = client.post(place, data, content_type="application/json", headers=headers)
        else:
            form = {"token": world["prefix"], "tier": "public", "study": world["study"].slug}
            answer = client.post(place, form, headers=headers)
        found = outcome(answer)
        if answer.streaming:
            answer.getvalue()  # to its end, so that files are closed
        transaction.set_rollback(True)
    return found
