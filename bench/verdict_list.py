"""The desk's list of a million verdicts: its first page beside the bare indexed query.

The anchor reads the same fifty rows with what they point to, newest first, through the same ORM, without a
page. The page is the whole request: session, account, access, template. Bound 5. No statement of the page may
count or read every verdict: where PostgreSQL expects to visit more than a thousandth of them, the run fails.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.servers import HOST, ROOT, run, workspace

VERDICTS = int(os.environ.get("BENCH_VERDICTS", "1000000"))
TURNS, BOUND = 100, 5.0
VISITED = 0.001  # of all verdicts


def main() -> int:
    with workspace("postgresql") as environment:
        run(environment, "manage.py", "migrate", "--verbosity", "0")
        run(environment, "manage.py", "collectstatic", "--noinput", "--verbosity", "0")
        run(environment, "-m", "bench.many_verdicts", str(VERDICTS))
        command = [sys.executable, "-m", "bench.verdict_list", "measure"]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def best(*calls: Callable[[], Any]) -> list[float]:
    """Shortest time of each, taken in turn."""
    shortest = [float("inf")] * len(calls)
    for _turn in range(TURNS):
        for at, call in enumerate(calls):
            begin = time.perf_counter()
            call()
            shortest[at] = min(shortest[at], time.perf_counter() - begin)
    return shortest


def visited(node: dict[str, Any]) -> float:
    """Rows of verdicts that a plan expects to visit."""
    own = node.get("Plan Rows", 0) if node.get("Relation Name") == "dialogues_verdict" else 0
    return max([float(own), *(visited(one) for one in node.get("Plans", []))])


def measure() -> int:
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext
    from django.urls import reverse

    from bench.many_verdicts import SLUG
    from dialogues.models import Verdict
    from studies.models import Study, StudyMember
    from turingsite.desk.paging import SIZE

    logging.disable(logging.WARNING)
    study = Study.objects.get(slug=SLUG)
    user, _made = get_user_model().objects.get_or_create(username="bench", is_staff=True)
    StudyMember.objects.get_or_create(study=study, user=user, role=StudyMember.Role.RESEARCHER)
    client = Client(headers={"host": HOST})
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("admin:desk_verdicts", args=[SLUG])

    def bare() -> list[Any]:
        joined = ("rater__participant", "rater__user", "rater__machine", "dialogue")
        rows = Verdict.objects.filter(study=study).select_related(*joined)
        return list(rows.order_by("-pk")[: SIZE + 1])

    def page() -> None:
        answer = client.get(address)
        if answer.status_code != 200 or answer.content.count(b"<tr>") < SIZE:
            raise RuntimeError(f"no list: {answer.status_code}")

    page()
    with CaptureQueriesContext(connection) as asked:
        page()
    statements = list(asked.captured_queries)  # before the next request empties the log
    counted = []
    for one in statements:
        if "dialogues_verdict" in one["sql"] and one["sql"].startswith("SELECT"):
            with connection.cursor() as cursor:
                cursor.execute("EXPLAIN (FORMAT JSON) " + one["sql"])
                found = cursor.fetchone()[0]
            plan = (json.loads(found) if isinstance(found, str) else found)[0]["Plan"]
            rows = plan["Plan Rows"] if plan["Node Type"] == "Limit" else visited(plan)
            if rows > VISITED * VERDICTS:
                counted.append(one["sql"][:200])
    query, whole = best(bare, page)
    print(f"bare indexed query {query * 1e3:7.2f} ms, first page {whole * 1e3:7.2f} ms", end="  ")
    print(f"ratio {whole / query:.2f}  (≤ {BOUND:g}); {len(statements)} statements of the page")
    for sql in counted:
        print(f"reads them all: {sql}")
    return 0 if whole / query <= BOUND and not counted else 1


if __name__ == "__main__":
    if sys.argv[1:]:
        import django

        django.setup()
        sys.exit(measure())
    sys.exit(main())
