"""The blind desk: while a study runs, no page of the desk tells what people said.

Every page that a researcher can reach is read, then every answer of the study is turned into its opposite
and all are read again: whatever differs shows outcomes. After a look the same crawl differs: it would see.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core.cache import cache
from django.db.models import Case, F, Value, When
from django.test import Client
from django.urls import reverse

from dialogues.models import Verdict
from dialogues.targets import cells_of, outcomes_open
from games.speech.models import Round, Trial
from studies import services
from studies.models import Study
from tests import factories
from tests.speech.played import Played

LINK = re.compile(r'(?:href|src|action)="([^"]+)"')
FORM = re.compile(r"<form[^>]*method=\"get\".*?</form>", re.DOTALL)
MOMENT = datetime.now(UTC) + timedelta(minutes=1)
#: Differ from one reading to the next whatever the answers are.
NOISE = (
    re.compile(r'name="csrfmiddlewaretoken" value="\w+"'),
    re.compile(r'nonce[-=]"?[\w+/=-]+'),
    re.compile(r'name="once" value="[\w-]+"'),  # drawn for each page with a form, so that two clicks are one
)


def address(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


def crawl(client: Client, start: list[str], *, follow: bool = True) -> dict[str, str]:
    """Pages of the desk, and with ``follow`` all that links lead to, read at one moment, nothing cached."""
    cache.clear()
    with time_machine.travel(MOMENT, tick=False):
        return _crawl(client, start, follow)


def _crawl(client: Client, start: list[str], follow: bool) -> dict[str, str]:
    seen: dict[str, str] = {}
    waiting = list(start)
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        answer: Any = client.get(path)
        data = b"".join(answer.streaming_content) if answer.streaming else answer.content
        text = data.decode("utf-8", "replace")
        for noise in NOISE:
            text = noise.sub("", text)
        seen[path] = f"{answer.status_code} {text}"
        if follow and answer.get("Content-Type", "").startswith("text/html"):
            waiting += [one for one in _links(path, text) if one not in seen]
    return seen


def _links(path: str, text: str) -> list[str]:
    found = []
    for link in LINK.findall(text):
        link = link.replace("&amp;", "&").split("#")[0]
        if link.startswith("?"):
            link = path.split("?")[0] + link
        ours = link.startswith(("/admin/study/", "/admin/corpus/")) or link == "/admin/"
        if ours and "/audit/" not in link and not link.endswith(("/logout/", "/sound/", "/original/")):
            found.append(link)
    return found


def flip() -> None:
    """Every answer becomes its opposite, and what was counted from it follows."""

    def other(name: str) -> Case:
        human, machine = (Value(word) for word in ("human", "machine"))
        return Case(
            When(**{name: "human"}, then=machine), When(**{name: "machine"}, then=human), default=F(name)
        )

    Verdict.objects.update(choice=other("choice"), first_choice=other("first_choice"))
    Trial.objects.update(answer=other("answer"))
    Round.objects.update(correct=F("answered") - F("correct"), points=F("points") + 7)


@pytest.fixture
def study(db: None) -> Study:
    played = Played("running")
    for person in played.people[:4]:
        player = factories.SpeechPlayerFactory(participant=person)
        round_ = factories.RoundFactory(
            player=player, state="finished", finished_at=factories.NOW, answered=5, correct=4, points=25
        )
        verdict = Verdict.objects.filter(rater=person.rater).order_by("pk")[0]
        factories.TrialFactory(
            round=round_, dialogue=verdict.dialogue, verdict=verdict, state="done", answer=verdict.choice
        )
    return played.study


@pytest.fixture
def researcher(client: Client, study: Study) -> Client:
    client.force_login(factories.StudyMemberFactory(study=study).user)
    return client


@pytest.fixture
def starts(study: Study) -> list[str]:
    from studies.registry import reports

    files = [
        address("report", study.slug, report.key) + query
        for report in reports
        for query in (
            "",
            "?format=json",
            "?format=csv",
            "?format=md",
            "?format=svg",
            "?format=png",
            "?set=published",
        )
    ]
    lists = [
        address("participants", study.slug),
        address("participants", study.slug) + "?state=completed",
        address("verdicts", study.slug),
        address("verdicts", study.slug) + "?state=analysed",
        address("study", study.slug),
        address("live", study.slug),
        address("dialogues") + "?q=dialogue",
    ]
    return ["/admin/", *lists, *files]


def test_no_page_of_the_desk_differs_by_what_people_said(
    study: Study, researcher: Client, starts: list[str]
) -> None:
    before = crawl(researcher, starts)
    flip()
    after = crawl(researcher, starts)
    assert set(before) == set(after)
    assert len(before) > 40
    assert [path for path in before if before[path] != after[path]] == []


def test_the_crawl_would_see_outcomes(study: Study, researcher: Client) -> None:
    researcher.post(address("look", study.slug))
    pages = [
        address("verdicts", study.slug),
        address("report", study.slug, "success-rate"),
        address("report", study.slug, "accuracy") + "?format=json",
    ]
    before = crawl(researcher, pages, follow=False)
    flip()
    after = crawl(researcher, pages, follow=False)
    assert {path for path in before if before[path] != after[path]} == set(pages)


def test_outcomes_open_when_every_cell_has_the_plans_target(study: Study, researcher: Client) -> None:
    page = address("report", study.slug, "success-rate")
    blind = "Look now, and note it"
    cells = {(cell.language, cell.key): cell.n for cell in cells_of(study, "system", "all")}
    assert cells == {("en", "talker"): 40, ("en", "human"): 30}
    assert {cell.key: cell.n for cell in cells_of(study, "kind", "all")} == {
        "human_human": 30,
        "human_machine": 40,
    }
    Verdict.objects.filter(pk__in=Verdict.objects.filter(dialogue__kind="human_human")[:3]).update(
        protocol_breaks=["too_fast"]
    )
    assert {cell.key: cell.n for cell in cells_of(study, "system", "per_protocol")} == {
        "talker": 40,
        "human": 27,
    }

    def freeze(n: int, reason: str = "") -> None:
        services.save_draft(
            study=study,
            content={
                "hypothesis": "H", "outcome": "accuracy.accuracy", "stopping": "S", "target_n": n,
                "analysis_set": "per_protocol",
            },
        )  # fmt: skip
        services.freeze_plan(study=study, verdicts=0, reason=reason)

    freeze(28)
    assert not outcomes_open(study)
    assert blind in researcher.get(page).content.decode()
    table = researcher.get(address("plan", study.slug))
    assert [(cell.key, cell.n) for cell in table.context["cells"]] == [("human", 27), ("talker", 40)]
    freeze(27, "One less.")
    assert outcomes_open(study)
    assert blind not in researcher.get(page).content.decode()
    # A system that joins has none yet: its cell closes the desk again, once the answer is worked out anew.
    factories.add_dialogue(study, kind="pseudo_human")
    cache.clear()
    assert blind in researcher.get(page).content.decode()


def test_a_plan_without_a_target_and_a_study_without_dialogues_stay_blind(db: None) -> None:
    study = factories.StudyFactory()
    assert not outcomes_open(study)
    for n in (0, 1):
        services.save_draft(
            study=study,
            content={"hypothesis": "H", "outcome": "accuracy.accuracy", "stopping": "S", "target_n": n},
        )
        services.freeze_plan(study=study, verdicts=0, reason="Again." if n else "")
        assert not outcomes_open(study)
