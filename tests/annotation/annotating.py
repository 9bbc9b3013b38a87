"""People who annotate: a browser with the participant's cookie, requests as the scoring page sends them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core import signing
from django.test import Client

from annotation.services.taxonomies import default_taxonomy
from dialogues.models import Exposure, Kind
from studies import access
from studies.models import Participant, Study
from tests import factories
from tests.clock import Clock

KEYS = 18


def work_study(slug: str = "scores", *, dialogues: int = 12, kinds: bool = True, **settings: Any) -> Study:
    """A study that annotates without calibration, known scores or repeats, in English."""
    study: Study = factories.StudyFactory(slug=slug, languages=["en"], activities=["annotation"])
    factories.AnnotationSettingsFactory(study=study, **{"repeat_share": 0.0} | settings)
    for number in range(dialogues):
        factories.add_dialogue(study, kind=list(Kind)[number % 3] if kinds else Kind.HUMAN_HUMAN)
    return study


class Rater:
    """An annotator with a browser. ``clock``: moved on while they listen; without one they only claim to."""

    def __init__(self, study: Study, clock: Clock | None = None, **participant: Any) -> None:
        person: Participant = factories.ParticipantFactory(study=study, **participant)
        self.annotator = factories.AnnotatorFactory(participant=person)
        self.participant = person
        self.clock = clock
        self.slug = study.slug
        self.client = browser(person)

    @property
    def now(self) -> datetime:
        return datetime.now(UTC)

    def url(self, path: str = "") -> str:
        return f"/s/{self.slug}/annotation/{path}"

    def get(self, path: str = "", **headers: Any) -> Any:
        return self.client.get(self.url(path), **headers)

    def post(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data, content_type="application/json")

    def form(self, path: str, **data: Any) -> Any:
        return self.client.post(self.url(path), data)

    def state(self) -> dict[str, Any]:
        """What the batch address says as JSON."""
        answer = self.client.get(self.url("batch/"), headers={"accept": "application/json"})
        assert answer.status_code == 200, answer.content[:500]
        return dict(answer.json())

    def item(self) -> dict[str, Any]:
        state = self.state()
        assert "item" in state, state
        return dict(state["item"])

    def listen(self, item: dict[str, Any], *, seconds: float | None = None, **data: Any) -> Any:
        """Fetch the item's sound, hear it from the start for ``seconds`` (all of it), then report."""
        exposures = Exposure.objects.filter(annotation_items__code=item["code"], first_byte_at=None)
        exposures.update(first_byte_at=self.now)
        length = item["length"] if seconds is None else seconds
        if self.clock:
            self.clock.pass_(length)
        report = {"ranges": [[0, length]], "plays": 1, "ended": seconds is None, **data}
        return self.post(f"item/{item['code']}/listening/", **report)

    def save(self, item: dict[str, Any], **data: Any) -> Any:
        return self.post(f"item/{item['code']}/save/", **data)

    def score(self, item: dict[str, Any], value: int = 4, **more: Any) -> Any:
        """All scores alike and the choice, in one request."""
        scores = {key: {"value": value, "version": 0} for key in keys()}
        choice = {"value": "human", "confidence": 3, "version": 0}
        return self.save(item, **{"scores": scores, "choice": choice} | more)

    def next(self, item: dict[str, Any], **data: Any) -> Any:
        return self.post(f"item/{item['code']}/next/", **data)

    def annotate(self, value: int = 4) -> dict[str, Any]:
        """Hear and score the current item and go on; what the server says then."""
        item = self.item()
        assert self.listen(item).status_code == 200
        answer = self.score(item, value)
        assert answer.status_code == 200, answer.content[:500]
        assert answer.json()["complete"]
        return dict(self.next(item).json())

    def batch(self) -> dict[str, Any]:
        """Do the whole batch in hand; what the last ``next`` said."""
        said = self.annotate()
        while "item" in said:
            said = self.annotate()
        return said


def browser(person: Participant) -> Client:
    client = Client()
    slug = person.study.slug
    client.cookies[access.cookie_name(slug)] = signing.dumps(person.resume_code, salt=f"{access.SALT}.{slug}")
    return client


def keys() -> list[str]:
    taxonomy = default_taxonomy()
    return list(taxonomy.dimensions.order_by("position").values_list("key", flat=True))
