"""Storing a verdict: the whole request under production settings beside a bare view, and 100 clients at once.

The ratio is of processor time of the server (gunicorn and its worker), not of waiting; the bound is 3.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from bench.servers import HOST, Site, gunicorn, is_within, run, workspace

BLOCKS, BLOCK, BOUND, CLIENTS = 15, 40, 3.0, 100
SECRET = "a" * 32
SLUG = "bench"


def prepare(people: int) -> None:
    """In a production process: ``people`` who have just heard a dialogue; their requests on stdout."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.core.signing import dumps
    from django.utils import timezone

    from dialogues.models import Kind
    from games.speech.models import SpeechSettings
    from games.speech.services import Listening, record_listening, start_or_resume
    from studies.access import SALT, cookie_name
    from tests import factories

    call_command("migrate", verbosity=0)
    study = factories.StudyFactory(slug=SLUG)
    SpeechSettings.objects.create(study=study, sound_check=False)
    for number in range(60):
        kind = list(Kind)[number % 3]
        factories.StudyItemFactory(study=study, dialogue=factories.DialogueFactory(kind=kind, language="en"))
    now = timezone.now()
    served, begun = now - timedelta(minutes=2), now - timedelta(minutes=1)
    requests = []
    for _ in range(people):
        participant = factories.ParticipantFactory(study=study)
        trial = start_or_resume(participant=participant, now=served).trial
        if trial is None:
            raise RuntimeError("nothing was drawn")
        # The page reports every five seconds, so the trial has begun long before its verdict.
        report = Listening(ranges=((0.0, 12.0),), plays=1, playing=True)
        record_listening(participant=participant, code=trial.code, report=report, now=begun)
        cookie = dumps(participant.resume_code, salt=f"{SALT}.{SLUG}")
        requests.append({"code": trial.code, "cookie": f"{cookie_name(SLUG)}={cookie}"})
    print(json.dumps(requests))


def stored() -> None:
    """In a production process: how many verdicts there are, on how many trials; on stdout."""
    import django

    django.setup()
    from dialogues.models import Verdict
    from games.speech.models import Trial

    print(json.dumps([Verdict.objects.count(), Trial.objects.exclude(verdict=None).count()]))


def body(length: float = 30.0) -> bytes:
    report = {"ranges": [[0, length]], "plays": 1, "pauses": 0, "hidden": 0, "ended": True}
    return json.dumps({"choice": "human", "at": 2140, **report}).encode()


def headers(cookie: str) -> dict[str, str]:
    return {
        "Host": HOST,
        "Content-Type": "application/json",
        "Accept": "application/json",
        "Cookie": f"{cookie}; csrftoken={SECRET}",
        "X-CSRFToken": SECRET,
    }


def ask(site: Site, requests: Sequence[tuple[str, str]]) -> None:
    """POST to each path with its cookie over one kept connection; RuntimeError for any answer but 200."""
    client = site.client()
    for path, cookie in requests:
        client.request("POST", path, body(), headers(cookie))
        answer = client.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {text[:300]!r}")
    client.close()


def cost(site: Site, requests: Sequence[tuple[str, str]]) -> float:
    """Seconds of processor time that the server spends on ``requests``."""
    before = site.processor_seconds()
    ask(site, requests)
    return site.processor_seconds() - before


def verdicts(environment: Mapping[str, str], people: int) -> list[tuple[str, str]]:
    prepared: list[dict[str, Any]] = json.loads(
        run(environment, "-m", "bench.verdict", "prepare", str(people))
    )
    return [(f"/s/{SLUG}/speech/trial/{one['code']}/verdict/", one["cookie"]) for one in prepared]


def compare() -> bool:
    """Both servers run at the same time and are asked in turns, so that a busy machine is busy for both."""
    with workspace("postgresql") as environment:
        ours = verdicts(environment, BLOCKS * BLOCK)
        run(environment, "-m", "bench.bare", str(BLOCKS * BLOCK))
        bare = [(f"/answer/item-{number}", "") for number in range(BLOCKS * BLOCK)]
        pairs = []
        with gunicorn(environment, "bench.bare") as anchor, gunicorn(environment, "turingsite.wsgi") as site:
            for start in range(0, BLOCKS * BLOCK, BLOCK):
                block = slice(start, start + BLOCK)
                pairs.append((cost(anchor, bare[block]), cost(site, ours[block])))
    return is_within(pairs, each=BLOCK, bound=BOUND, what="storing a verdict")


def crowd(kind: str) -> bool:
    """CLIENTS at once, each posting its verdict twice like a double click: nothing fails or is lost."""
    failures: list[str] = []
    with workspace(kind) as environment:
        requests = verdicts(environment, CLIENTS)
        gate = threading.Barrier(CLIENTS)

        def one(request: tuple[str, str], site: Site) -> None:
            gate.wait()
            try:
                ask(site, [request, request])
            except (OSError, RuntimeError) as error:
                failures.append(str(error))

        with gunicorn(environment, "turingsite.wsgi", workers=2) as site:
            clients = [threading.Thread(target=one, args=(request, site)) for request in requests]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
        rows, trials = json.loads(run(environment, "-m", "bench.verdict", "stored"))
    print(
        f"{CLIENTS} clients at once, {kind:10}   {len(failures)} errors, {rows} of {CLIENTS} verdicts stored"
    )
    for failure in failures[:3]:
        print(f"    {failure}")
    return not failures and rows == trials == CLIENTS


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
