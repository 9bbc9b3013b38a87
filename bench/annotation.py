"""Saving a score: the whole request under production settings beside a bare view, and 50 raters at once.

The ratio is of processor time of the server (gunicorn and its worker), not of waiting; the bound is 3.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from bench.servers import Site, gunicorn, is_within, run, workspace
from bench.verdict import headers

RATERS, BOUND, CLIENTS = 40, 3.0, 50
SLUG = "bench"


class Rater(NamedTuple):
    """Somebody who has just heard the first dialogue of their batch whole; the dimensions to score."""

    code: str
    cookie: str
    keys: list[str]

    def address(self, what: str = "save") -> str:
        return f"/s/{SLUG}/annotation/item/{self.code}/{what}/"


class Save(NamedTuple):
    path: str
    cookie: str
    body: bytes


def prepare(people: int) -> None:
    """In a production process: ``people`` who may score; who they are on stdout."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.core.signing import dumps
    from django.utils import timezone

    from annotation.models import AnnotationSettings
    from annotation.services.batches import start_or_resume
    from annotation.services.listening import Listening, record_listening
    from dialogues.models import Kind
    from studies.access import SALT, cookie_name
    from tests import factories

    call_command("migrate", verbosity=0)
    study = factories.StudyFactory(slug=SLUG, languages=["en"], activities=["annotation"])
    factories.AnnotationSettingsFactory(study=study, raters=50, batch_size=2)
    for number in range(20):
        factories.add_dialogue(study, kind=list(Kind)[number % 3])
    taxonomy = AnnotationSettings.objects.get().taxonomy
    keys = list(taxonomy.dimensions.order_by("position").values_list("key", flat=True))
    now = timezone.now()
    raters = []
    for _ in range(people):
        annotator = factories.AnnotatorFactory(participant=factories.ParticipantFactory(study=study))
        participant = annotator.participant
        item = start_or_resume(participant=participant, now=now - timedelta(minutes=2)).item
        if item is None:
            raise RuntimeError("nothing was drawn")
        report = Listening(ranges=((0.0, 30.0),), plays=1, ended=True)
        record_listening(
            participant=participant, code=item.code, report=report, now=now - timedelta(minutes=1)
        )
        cookie = dumps(participant.resume_code, salt=f"{SALT}.{SLUG}")
        raters.append(Rater(item.code, f"{cookie_name(SLUG)}={cookie}", keys)._asdict())
    print(json.dumps(raters))


def stored() -> None:
    """In a production process: how many scores there are, and on how many items; on stdout."""
    import django

    django.setup()
    from annotation.models import Score

    items = Score.objects.values("item").distinct().count()
    print(json.dumps([Score.objects.count(), items]))


def raters(environment: Mapping[str, str], people: int) -> list[Rater]:
    prepared = json.loads(run(environment, "-m", "bench.annotation", "prepare", str(people)))
    return [Rater(**one) for one in prepared]


def saves(rater: Rater) -> list[Save]:
    """What the page sends for each dimension: the score, and the seconds since the last one."""
    found = []
    for number, key in enumerate(rater.keys):
        body = {"scores": {key: {"value": number % 6, "version": 0}}, "active": 4.2}
        found.append(Save(rater.address(), rater.cookie, json.dumps(body).encode()))
    return found


def ask(site: Site, requests: Sequence[Save]) -> None:
    """POST each over one kept connection; RuntimeError for any answer but 200."""
    client = site.client()
    for path, cookie, body in requests:
        client.request("POST", path, body, headers(cookie))
        answer = client.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
    client.close()


def cost(site: Site, requests: Sequence[Save]) -> float:
    """Seconds of processor time that the server spends on ``requests``."""
    before = site.processor_seconds()
    ask(site, requests)
    return site.processor_seconds() - before


def compare() -> bool:
    """Both servers run at the same time and are asked in turns, so that a busy machine is busy for both."""
    with workspace("postgresql") as environment:
        ours = list(zip(*map(saves, raters(environment, RATERS)), strict=True))  # by dimension
        run(environment, "-m", "bench.bare", str(len(ours) * RATERS))
        answer = json.dumps({"choice": "human", "at": 2140}).encode()
        bare = [Save(f"/answer/item-{number}", "", answer) for number in range(len(ours) * RATERS)]
        pairs = []
        with gunicorn(environment, "bench.bare") as anchor, gunicorn(environment, "turingsite.wsgi") as site:
            for number, block in enumerate(ours):
                start = number * RATERS
                pairs.append((cost(anchor, bare[start : start + RATERS]), cost(site, block)))
    return is_within(pairs, each=RATERS, bound=BOUND, what="saving a score")


def crowd(kind: str) -> bool:
    """CLIENTS at once, each scoring a dialogue on every dimension: nothing fails or is lost."""
    failures: list[str] = []
    with workspace(kind) as environment:
        people = raters(environment, CLIENTS)
        gate = threading.Barrier(CLIENTS)

        def one(rater: Rater, site: Site) -> None:
            gate.wait()
            try:
                ask(site, saves(rater))
            except (OSError, RuntimeError) as error:
                failures.append(str(error))

        with gunicorn(environment, "turingsite.wsgi", workers=2) as site:
            clients = [threading.Thread(target=one, args=(rater, site)) for rater in people]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        rows, items = json.loads(run(environment, "-m", "bench.annotation", "stored"))
    every = sum(len(rater.keys) for rater in people)
    print(f"{CLIENTS} raters at once, {kind:10}   {len(failures)} errors, {rows} of {every} scores stored")
    for failure in failures[:3]:
        print(f"    {failure}")
    return not failures and rows == every and items == CLIENTS


def main() -> int:
    results = [compare(), crowd("postgresql"), crowd("sqlite")]
    return 0 if all(results) else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare", people]:
            prepare(int(people))
        case ["stored"]:
            stored()
        case _:
            sys.exit(main())
