"""The audit trail on the desk: every action has words, lines are sentences, filters, who may read it."""

from __future__ import annotations

import ast
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from studies import audit
from studies.models import AuditLine
from studies.services.running import add_member, change_settings, note_reading
from tests import factories
from turingsite.desk.trail_words import DEEDS, GROUPS

ROOT = Path(__file__).resolve().parents[2]
WRITERS = ("studies", "dialogues", "games", "annotation", "turingsite")


def recorded() -> set[str]:
    """Every action that the code hands to ``audit.record``, names of constants looked up."""
    found: set[str] = set()
    for top in WRITERS:
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and node.func.attr == "record"
                    and getattr(node.func.value, "id", "") == "audit"
                ):
                    found |= _strings(node.args[0], path)
    return found


def _strings(node: ast.expr, path: Path) -> set[str]:
    if isinstance(node, ast.IfExp):
        return _strings(node.body, path) | _strings(node.orelse, path)
    if isinstance(node, ast.Name):
        module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        return {getattr(module, node.id)}
    assert isinstance(node, ast.Constant), f"{path}: name the action where it is recorded"
    return {str(node.value)}


def test_every_action_has_words_and_every_word_an_action():
    assert recorded() == set(DEEDS)
    assert {deed.group for deed in DEEDS.values()} == set(GROUPS) - {"other"}


def read(client, slug: str = "", **asked: str):
    address = reverse("admin:desk_audit", args=[slug]) if slug else reverse("admin:desk_trail")
    return client.get(address, asked)


def sentences(page) -> list[str]:
    return [f"{row['actor']} {row['said']}" for row in page.context["rows"]]


def test_lines_are_sentences_with_links_to_what_the_reader_may_open(client, cast):
    dialogue = factories.DialogueFactory(external_id="talk <1>")
    factories.StudyItemFactory(study=cast.study, dialogue=dialogue)
    other = factories.DialogueFactory(external_id="not theirs")
    add_member(study=cast.study, username=cast.stranger.username, role="colleague", user=cast.researcher)
    note_reading(study=cast.study, report="accuracy", analysis_set="all", n=3, user=cast.colleague)
    for one in (dialogue, other):
        audit.record("dialogue.queued", study=cast.study, user=cast.researcher, target=one.pk)
    audit.record("participant.withdrew", study=cast.study, by="participant")
    audit.record("thing.new", study=cast.study, target="<b>", answer="<i>")
    client.force_login(cast.researcher)
    page = read(client, cast.study.slug)
    report = f"/admin/study/{cast.study.slug}/report/accuracy/"
    assert sentences(page) == [
        "the program itself <code>thing.new</code> &lt;b&gt;",
        "participant withdrew",
        f"{cast.researcher} sent dialogue no. {other.pk} to processing",
        f'{cast.researcher} sent <a href="/admin/corpus/{dialogue.code}/">talk &lt;1&gt;</a> to processing',
        f'{cast.colleague} read the report <a href="{report}">Accuracy</a>',
        f"{cast.researcher} gave {cast.stranger} a part in the study",
    ]
    text = page.content.decode()
    assert "answer: &lt;i&gt;" in text
    assert "<i>" not in text
    assert "part: colleague" in text
    assert "outcomes then: 3 verdicts" in text


def test_changes_are_told_as_was_and_is_without_words_people_wrote(client, cast):
    fields = {"soft_launch_n": 30, "host": "Ada L.", "is_listed": True, "pay_floor": Decimal("9.5")}
    change_settings(study=cast.study, user=cast.researcher, **fields)
    client.force_login(cast.researcher)
    details = read(client, cast.study.slug).context["rows"][0]["details"]
    assert ("people in the soft launch", "20 → 30") in details
    assert ("listed on the front page", "no → yes") in details
    assert ("least pay per hour", "– → 9.5") in details
    assert ("changed", "run by") in details
    assert "Ada" not in str(AuditLine.objects.get().detail)


def test_filters_by_group_person_and_day(client, cast):
    at = [datetime(2026, 3, day, 23, 30, tzinfo=UTC) for day in (1, 2)]
    cast.study.time_zone = "Asia/Shanghai"
    cast.study.save()
    audit.record("study.exported", study=cast.study, user=cast.researcher, target="abc", now=at[0])
    audit.record("study.settings", study=cast.study, user=cast.colleague, now=at[1], changed=["host"])
    audit.record("thing.new", study=cast.study, now=at[1])
    client.force_login(cast.researcher)

    def actions(**asked: str) -> list[str]:
        return [row.action for row in read(client, cast.study.slug, **asked).context["page"].rows]

    assert actions(group="exports") == ["study.exported"]
    assert actions(group="other") == ["thing.new"]
    assert actions(who=str(cast.colleague.pk)) == ["study.settings"]
    assert actions(who="system") == ["thing.new"]
    assert actions(day="2026-03-02") == ["study.exported"], "half past seven of the next day in Shanghai"
    assert actions(group="exports", day="2026-03-03") == []
    for broken in ({"group": "x"}, {"who": "9999999"}, {"day": "yesterday"}, {"before": "x"}):
        assert len(actions(**broken)) == 3


def test_the_trail_goes_on_without_counting_and_keeps_its_filters(client, cast):
    for n in range(60):
        audit.record("report.read", study=cast.study, user=cast.researcher, target="accuracy", n=n)
    client.force_login(cast.researcher)
    first = read(client, cast.study.slug, group="outcomes").context["page"]
    assert len(first.rows) == 50
    assert "group=outcomes" in first.following
    rest = client.get(reverse("admin:desk_audit", args=[cast.study.slug]) + first.following).context["page"]
    assert [row.detail["n"] for row in rest.rows] == list(range(9, -1, -1))


def test_operators_read_the_trail_of_the_whole_site_and_nobody_else(client, cast):
    operator = factories.UserFactory(is_staff=True, is_superuser=True)
    audit.record("dialogues.scanned", rules=1, counts={"name": 2})
    audit.record("study.settings", study=cast.study, changed=["host"])
    for person, status in ((operator, 200), (cast.researcher, 404), (cast.annotator.user, 302)):
        client.force_login(person)
        page = read(client)
        assert page.status_code == status
        if status == 200:
            assert [row["study"] for row in page.context["rows"]] == [cast.study, None]


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_deed_reads_in_both_languages(client, cast, language):
    for action in DEEDS:
        audit.record(action, study=cast.study, target="12", was="open", now_is="paused", n=3, role="reviewer")
    client.force_login(cast.researcher)
    client.cookies["django_language"] = language
    page = read(client, cast.study.slug)
    assert page.status_code == 200
    assert "%(" not in page.content.decode()


def test_names_are_no_words_to_be_translated(client, cast):
    get_user_model().objects.filter(pk=cast.researcher.pk).update(username="open")
    owner = cast.researcher.pk
    audit.record("api.token_made", study=cast.study, user=cast.researcher, target="abc", owner=owner)
    audit.record("study.member_added", study=cast.study, target=owner, role="researcher")
    audit.record("thing.new", study=cast.study, words="paused", listed=["done", "researcher"])
    audit.record("study.settings", study=cast.study, values={"profile_at": ["start", "end"]})
    client.force_login(cast.researcher)
    client.cookies["django_language"] = "zh-hans"
    settings, new, added, made = (row["details"] for row in read(client, cast.study.slug).context["rows"])
    assert [value for _name, value in made] == ["open"]
    assert [value for _name, value in new] == ["paused", "done, researcher"]
    assert [value for _name, value in added] == ["研究者"]
    assert all("end" not in value for _name, value in settings)
