"""A clip of 25 s, asked for by the person it was given to: our view beside FileResponse, requests a second.

Both views make the same check under the same middleware and server; ours also answers ranges. Bound: 0.8.
FileResponse without any check is shown beside it: the difference is what the check costs.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Mapping

from bench.servers import HOST, Site, gunicorn, run, workspace

SIZE, BLOCKS, BLOCK, CLIENTS, BOUND = 150_048, 9, 300, 2, 0.8
SLUG = "bench"


def prepare() -> None:
    """In a production process: a clip given to one person; its address, cookie and size on stdout."""
    import django

    django.setup()
    from pathlib import Path

    from django.conf import settings
    from django.core.management import call_command
    from django.core.signing import dumps
    from django.urls import reverse

    from studies.access import SALT, cookie_name
    from tests import factories

    call_command("migrate", verbosity=0)
    study = factories.StudyFactory(slug=SLUG)
    person = factories.ParticipantFactory(study=study)
    exposure = factories.ExposureFactory(rater=person.rater, dialogue=factories.DialogueFactory())
    path = Path(settings.MEDIA_ROOT) / exposure.dialogue.play_path
    path.parent.mkdir(parents=True)
    path.write_bytes(os.urandom(SIZE))
    address = reverse("dialogues:media", args=[exposure.token])
    cookie = f"{cookie_name(SLUG)}={dumps(person.resume_code, salt=f'{SALT}.{SLUG}')}"
    given = {"ours": address, "anchor": f"/anchor/{exposure.token}", "cookie": cookie}
    print(json.dumps({**given, "unchecked": f"/unchecked/{exposure.dialogue.play_path}"}))


def rate(site: Site, path: str, headers: Mapping[str, str], *, status: int = 200, size: int = SIZE) -> float:
    """Answers a second that CLIENTS get, over BLOCK requests; RuntimeError for a wrong answer."""
    wrong: list[str] = []

    def client() -> None:
        connection = site.client()
        for _ in range(BLOCK // CLIENTS):
            connection.request("GET", path, headers=dict(headers))
            answer = connection.getresponse()
            body = answer.read()
            if (answer.status, len(body)) != (status, size):
                wrong.append(f"{path}: {answer.status}, {len(body)} bytes")
                return
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    start = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise RuntimeError(wrong[0])
    return BLOCK / (time.monotonic() - start)


def main() -> int:
    with workspace("postgresql") as environment:
        given = json.loads(run(environment, "-m", "bench.media", "prepare"))
        headers = {"Host": HOST, "Cookie": given["cookie"]}
        own = {**environment, "DJANGO_SETTINGS_MODULE": "bench.anchor_settings"}
        rounds = []
        with gunicorn(own, "bench.anchor") as site:
            for _ in range(BLOCKS):
                anchor = rate(site, given["anchor"], headers)
                whole = rate(site, given["ours"], headers)
                part = rate(site, given["ours"], {**headers, "Range": "bytes=0-1"}, status=206, size=2)
                plain = rate(site, given["unchecked"], headers)
                rounds.append((anchor, whole, part, plain))
    rounds = rounds[1:]  # the first warms up
    ratio = statistics.median(whole / anchor for anchor, whole, *_ in rounds)
    bare = statistics.median(whole / plain for _, whole, _, plain in rounds)
    anchor, whole, part, plain = (sum(column) / len(rounds) for column in zip(*rounds, strict=True))
    print(f"FileResponse, {SIZE:,} bytes    {anchor:7.0f} a second")
    print(f"our view, the same bytes        {whole:7.0f} a second  ratio {ratio:.2f}  (≥ {BOUND:g})")
    print(f"FileResponse without any check  {plain:7.0f} a second  ratio {bare:.2f}  (not judged)")
    print(f"our view, bytes=0-1             {part:7.0f} a second")
    return 0 if ratio >= BOUND else 1


if __name__ == "__main__":
    if sys.argv[1:] == ["prepare"]:
        prepare()
    else:
        sys.exit(main())
