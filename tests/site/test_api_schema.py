"""The schema is kept: schemathesis sends what it allows and what it forbids, with every kind of token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.utils import timezone
from schemathesis import GenerationMode
from schemathesis.config import GenerationConfig, PhasesConfig, ProjectConfig, ProjectsConfig
from schemathesis.core.result import Ok

from dialogues.models import Kind
from studies.export_jobs import request_export, run
from studies.models import Study
from tests import factories
from turingsite.api.models import ApiToken
from turingsite.api.services import make_token, revoke_token
from turingsite.wsgi import application

pytestmark = pytest.mark.django_db
SORTS = ("participant", "dialogue", "export")
EXAMPLES = 8  # of each mode for each operation


@pytest.fixture
def places(cast, settings, tmp_path) -> dict[str, list[str]]:
    """Two studies of the same people, one closed and one that runs, and what stands in addresses."""
    settings.API_RATES = dict.fromkeys(settings.API_RATES, "1000000/minute")
    settings.EXPORT_ROOT = tmp_path
    closed = factories.StudyFactory(slug="closed", status=Study.Status.CLOSED)
    factories.StudyMemberFactory(study=closed, user=cast.researcher)
    system = factories.SystemFactory(code="parrot")
    codes: dict[str, list[str]] = {"participant": [], "dialogue": []}
    for study in (cast.study, closed):
        for kind in Kind.values:
            dialogue = factories.add_dialogue(
                study, kind=kind, system=system if kind != "human_human" else None
            )
            person = factories.ParticipantFactory(study=study)
            factories.VerdictFactory(
                rater=person.rater, dialogue=dialogue, choice="machine", confidence=3,
                evidence={"heard": 0.97, "replays": 1, "gate": "covered", "device": "phone", "length": 30},
                reason={"ticks": ["voice"]}, protocol_breaks=["checks_failed"], exclusion="",
            )  # fmt: skip
            codes["participant"].append(person.code)
            codes["dialogue"].append(dialogue.code)
    export = request_export(study=closed, tier="public")
    run(job_id=export.pk)
    settings.EXPORT_AT_ONCE = 0  # those that are asked for wait for a worker
    codes["export"] = [export.code]
    return {"slug": ["closed", cast.study.slug, "missing"], **codes}


@pytest.fixture
def tokens(cast, places) -> dict[str, str]:
    def token(user: Any, *studies: Study, **extra: Any) -> str:
        return make_token(owner=user, studies=studies, name="x", **extra).secret

    closed = Study.objects.get(slug="closed")
    made = {
        "both": token(cast.researcher, cast.study, closed, may_export=True),
        "one": token(cast.colleague, cast.study),
        "elsewhere": token(cast.stranger, Study.objects.get(members__user=cast.stranger)),
        "revoked": token(cast.researcher, closed),
        "expired": token(cast.researcher, closed),
        "forged": f"tts_abcdefgh_{'A' * 43}",
    }
    revoke_token(token=ApiToken.objects.get(prefix=made["revoked"][4:12]))
    past = timezone.now() - timedelta(days=1)
    ApiToken.objects.filter(prefix=made["expired"][4:12]).update(
        created_at=past, expires_at=past + timedelta(1) / 2
    )
    return made


@pytest.fixture
def one_connection() -> Iterator[None]:
    """The application is called without Django's client, which keeps the test's transaction like this."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def api(places, one_connection) -> schemathesis.BaseSchema:
    generation = GenerationConfig(max_examples=EXAMPLES, deterministic=True, database="none", no_shrink=True)
    project = ProjectConfig(generation=generation, phases=PhasesConfig())
    config = schemathesis.Config(seed=1, projects=ProjectsConfig(default=project))
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", application, config=config)
    for path, methods in schema.raw_schema["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", []):
                known = places.get(parameter["name"])
                if parameter["name"] == "code":
                    known = next(places[sort] for sort in SORTS if f"/{sort}s/" in path)
                if parameter["in"] == "path" and known:
                    parameter["schema"] = {"type": "string", "enum": known}
    return schema


def operations(api: schemathesis.BaseSchema) -> Iterator[schemathesis.APIOperation]:
    found = list(api.get_all_operations())
    assert len(found) >= 15
    for result in found:
        assert isinstance(result, Ok)
        yield result.ok()


def sent(case: schemathesis.Case, token: str) -> int:
    """Send and validate: no 500, and nothing that the schema does not say."""
    headers = {"Authorization": f"Bearer {token}"}
    return int(case.call_and_validate(headers=headers).status_code)


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_the_schema_is_kept_whatever_is_sent(api, tokens, mode):
    for operation in operations(api):
        if mode is GenerationMode.NEGATIVE and operation.path == "/api/v1/":
            continue  # takes nothing that could be wrong

        @hypothesis.settings(
            max_examples=EXAMPLES,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(case=operation.as_strategy(generation_mode=mode))
        def check(case: schemathesis.Case) -> None:
            sent(case, tokens["both"])

        check()


def test_the_edges_of_every_parameter_are_held(api, tokens):
    """Values at, below and beyond their bounds, doubled parameters, methods that are not there."""
    seen: Counter[int] = Counter()
    for operation in operations(api):
        for case in api.iter_coverage_cases(
            operation, generation_modes=list(GenerationMode), generation_config=api.config.generation
        ):
            seen[sent(case, tokens["both"])] += 1
    assert {200, 400, 403, 404, 405} <= set(seen)


def test_the_schema_is_kept_for_every_other_token(api, tokens):
    """Valid requests for all that is there; what is open or a participant's is left out."""
    seen: dict[str, set[int]] = {name: set() for name in tokens if name != "both"}
    for operation in operations(api):
        if operation.label.endswith(("/me", "/v1/")):
            continue
        for case in api.iter_coverage_cases(
            operation, generation_modes=[GenerationMode.POSITIVE], generation_config=api.config.generation
        ):
            for name, found in seen.items():
                found.add(sent(case, tokens[name]))
    assert seen == {
        "one": {200, 403, 404},
        "elsewhere": {200, 404},
        "revoked": {401},
        "expired": {401},
        "forged": {401},
    }
