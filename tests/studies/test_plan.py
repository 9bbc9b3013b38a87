"""The plan: drafted, frozen into a file that stays, named beside every figure and in every export."""

from __future__ import annotations

import hashlib
import json
import zipfile
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse

from dialogues.models import Verdict
from studies import plans, services
from studies.exports import export_study
from studies.files import as_yaml, check, compare, describe, template
from studies.models import AuditLine, EndState, Participant, Plan, Study
from studies.report_formats import as_json, as_markdown
from studies.reports import Options, run_report, run_report_from
from studies.services.filing import apply_study_file
from tests import factories
from tests.speech.played import Played
from turingsite.errors import Conflict, Invalid

NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
DECIDED: dict[str, Any] = {
    "hypothesis": "Talker is judged human less often than people are.",
    "outcome": "success-rate.difference",
    "analysis_set": "per_protocol",
    "families": ["success-rate.difference"],
    "target_by": "system",
    "target_n": 30,
    "margin": 0.2,
    "stopping": "When every cell has its target.",
    "exclusions": "None beyond the set's.",
}


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


def frozen(study: Study, verdicts: int = 0, reason: str = "", **changed: Any) -> Plan:
    services.save_draft(study=study, content={**DECIDED, **changed})
    return services.freeze_plan(study=study, verdicts=verdicts, reason=reason, now=NOW)


@pytest.fixture
def study(db: None) -> Study:
    made: Study = factories.StudyFactory(slug="planned", status="draft", title_en="Voices")
    return made


@pytest.fixture
def whole(db: None) -> Study:
    """A study with all that its file needs."""
    return services.create_study(
        slug="planned", title_en="Voices", title_zh="声音", user=None, host="X", contact="a@example.org"
    )


@pytest.fixture
def played(db: None) -> Played:
    return Played("planned")


# The rows


@pytest.mark.both
def test_a_frozen_plan_never_changes_whoever_asks(study: Study) -> None:
    plan = frozen(study)
    for change in ({"markdown": "other"}, {"frozen_at": None, "sha256": ""}, {"reason": "later"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Plan.objects.filter(pk=plan.pk).update(**change)
    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE studies_plan SET content = content WHERE id = %s", [plan.pk])
    assert Plan.objects.get(pk=plan.pk).markdown == plan.markdown


@pytest.mark.both
def test_the_database_keeps_versions_apart_and_one_draft(study: Study) -> None:
    frozen(study)
    draft = services.save_draft(study=study, content={"notes": "more"})
    assert draft.version == 2
    for version in (1, 2, 3):
        with pytest.raises(IntegrityError), transaction.atomic():
            Plan.objects.create(study=study, version=version)
    with pytest.raises(IntegrityError), transaction.atomic():
        Plan.objects.filter(pk=draft.pk).update(frozen_at=NOW)
    with pytest.raises(IntegrityError), transaction.atomic():  # no reason
        Plan.objects.filter(pk=draft.pk).update(frozen_at=NOW, sha256="0" * 64)


# Drafting and freezing


def test_the_file_is_the_same_for_the_same_plan_and_its_hash_fits(study: Study) -> None:
    plan = frozen(study, hypothesis="One line.\r\nAnother, 中文, “quoted” *and* `more`.  ")
    assert plan.sha256 == hashlib.sha256(plan.markdown.encode()).hexdigest()
    assert plan.markdown == plans.as_markdown(plan, [], at=NOW, status="draft", counts={"verdicts": 0})
    for words in (
        "# Plan of the study “Voices”, version 1",
        "frozen 2026-03-01T09:30:00+00:00",
        "One line.\\\nAnother, 中文, “quoted” \\*and\\* \\`more\\`.",
        "Success rate of each system against human speakers (`success-rate.difference`)",
        "`per_protocol`",
        "30 verdicts in each system in each language.",
        f"- Seed: {study.seed}",
    ):
        assert words in plan.markdown


def test_the_file_is_english_in_every_language(study: Study) -> None:
    from django.utils import translation

    services.save_draft(study=study, content=DECIDED)
    with translation.override("zh-hans"):
        plan = services.freeze_plan(study=study, verdicts=0, now=NOW)
    assert plan.markdown == plans.as_markdown(plan, [], at=NOW, status="draft", counts={"verdicts": 0})
    assert "## Stopping rule" in plan.markdown


def test_a_later_version_says_what_changed_and_why(study: Study) -> None:
    first = frozen(study)
    services.save_draft(study=study, content={"target_n": 40, "notes": "Two\nlines"})
    with pytest.raises(Invalid) as refused:
        services.freeze_plan(study=study, verdicts=5)
    assert "reason" in refused.value.fields
    second = services.freeze_plan(study=study, verdicts=5, reason=" Fewer  people\ncame. ", now=NOW)
    assert (second.version, second.reason) == (2, "Fewer people came.")
    assert "## Changed with version 2" in second.markdown
    assert f"SHA-256 `{first.sha256}`" in second.markdown
    assert "- Verdicts per cell: “30” → “40”" in second.markdown
    assert "- Notes: nothing → “Two lines”" in second.markdown
    note = plans.note_of(study)
    assert note is not None
    assert note.changes[0].changed == ("target_n", "notes")
    assert note.changes[0].verdicts == 5
    third = frozen(study, reason="Again.", target_n=50)
    assert "## Changed with version 2" in third.markdown
    assert "## Changed with version 3" in third.markdown


def test_what_is_not_decided_cannot_be_frozen(study: Study) -> None:
    with pytest.raises(Conflict) as none:
        services.freeze_plan(study=study, verdicts=0)
    assert none.value.code == "no_draft"
    services.save_draft(study=study, content={"hypothesis": "Something"})
    with pytest.raises(Invalid) as refused:
        services.freeze_plan(study=study, verdicts=0)
    assert set(refused.value.fields) == {"outcome", "stopping"}
    frozen(study)
    services.save_draft(study=study, content={})
    with pytest.raises(Conflict) as same:
        services.freeze_plan(study=study, verdicts=0, reason="No reason")
    assert same.value.code == "no_change"
    services.discard_draft(study=study)
    assert [plan.version for plan in study.plans.all()] == [1]


@pytest.mark.parametrize(("key", "value"), [
    ("outcome", "success-rate.luck"),
    ("analysis_set", "best"),
    ("families", ["everything"]),
    ("target_by", "person"),
    ("target_n", -1),
    ("margin", 0.0),
    ("margin", float("nan")),
    ("notes", "x" * 20_001),
    ("notes", "a\0b"),
])  # fmt: skip
def test_what_a_plan_cannot_say_is_refused_by_field(study: Study, key: str, value: Any) -> None:
    with pytest.raises(Invalid) as refused:
        services.save_draft(study=study, content={key: value})
    assert set(refused.value.fields) == {key}
    assert not study.plans.exists()


def test_opening_without_a_plan_is_allowed_and_noted(study: Study, cast: Any) -> None:
    def noted() -> Any:
        lines = AuditLine.objects.filter(study=cast.study, action="study.status")
        return lines.order_by("-pk")[0].detail.get("plan")

    factories.ConsentTextFactory(study=cast.study)
    for end in EndState.values:
        factories.CompletionFactory(study=cast.study, end_state=end)
    for kind in ("human_human", "human_machine", "pseudo_human"):
        for language in ("en", "zh"):
            for _n in range(6):
                factories.add_dialogue(cast.study, kind=kind, language=language)
    services.change_status(study=cast.study, to="paused")
    assert noted() is None
    services.change_status(study=cast.study, to="open")
    assert noted() == "none"
    plan = frozen(cast.study)
    services.change_status(study=cast.study, to="paused")
    services.change_status(study=cast.study, to="open")
    assert noted() == plan.sha256[:16]


# Beside every figure


def test_reports_take_headline_and_margin_from_the_plan_and_name_it(played: Played) -> None:
    before = run_report("success-rate", played.study)
    assert (before.analysis_set, before.plan) == ("all", None)
    assert json.loads(as_json(before))["plan"] is None
    assert "No frozen plan: exploratory." in as_markdown(before)
    plan = frozen(played.study)
    after = run_report("success-rate", played.study)
    assert after.analysis_set == "per_protocol"
    assert {row["margin"] for row in after.tables[1].rows} == {0.2}
    assert run_report("success-rate", played.study, Options("all")).analysis_set == "all"
    said = json.loads(as_json(after))["plan"]
    assert (said["sha256"], said["exploratory"]) == (plan.sha256, False)
    assert said["versions"][0]["frozen_at"] == "2026-03-01T09:30:00+00:00"
    assert f"Plan frozen on 2026-03-01, SHA-256 {plan.sha256}, at 0 verdicts." in as_markdown(after)
    frozen(played.study, verdicts=40, reason="Too few.", target_n=20)
    text = as_markdown(run_report("accuracy", played.study))
    assert "Version 2 on 2026-03-01, at 40 verdicts, changed Verdicts per cell because: Too few." in text


def test_a_plan_frozen_on_answers_is_exploratory(played: Played) -> None:
    frozen(played.study, verdicts=77)
    result = run_report("accuracy", played.study)
    assert json.loads(as_json(result))["plan"]["exploratory"] is True
    assert "There were answers before it: exploratory." in as_markdown(result)


@pytest.mark.parametrize("tier", ["public", "controlled", "internal"])
def test_an_export_carries_the_plan_and_its_reports_equal_the_screen(
    played: Played, tmp_path: Path, tier: str
) -> None:
    Participant.objects.update(source="")  # the public tier withholds rare ones
    for verdict in Verdict.objects.filter(study=played.study)[:9]:
        verdict.protocol_breaks = ["too_fast"]
        verdict.save()
    frozen(played.study)
    plan = frozen(played.study, verdicts=74, reason="For the test.", notes="changed")
    services.save_draft(study=played.study, content={"notes": "a working draft"})
    out = tmp_path / "x.zip"
    manifest = export_study(study=played.study, path=out, tier=tier)
    with zipfile.ZipFile(out) as archive:
        assert hashlib.sha256(archive.read("plan.md")).hexdigest() == plan.sha256
        assert "a working draft" not in archive.read("study.yaml").decode()
    assert manifest["plan"]["sha256"] == plan.sha256
    listed = {one["path"]: one["sha256"] for one in manifest["files"]}
    assert listed["plan.md"] == plan.sha256
    for name in ("success-rate", "accuracy", "discrimination"):
        there, here = run_report_from(name, out), run_report(name, played.study)
        assert as_json(there) == as_json(here)
        assert as_markdown(there) == as_markdown(here)
        assert there.analysis_set == "per_protocol"


def test_an_export_without_a_plan_says_so_and_older_ones_are_read(played: Played, tmp_path: Path) -> None:
    out, older, broken = (tmp_path / name for name in ("x.zip", "older.zip", "broken.zip"))
    export_study(study=played.study, path=out)

    def copied(to: Path, change: Any) -> None:
        with zipfile.ZipFile(out) as old, zipfile.ZipFile(to, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if name == "manifest.json":
                    manifest = json.loads(data)
                    change(manifest)
                    data = json.dumps(manifest).encode()
                new.writestr(name, data)

    with zipfile.ZipFile(out) as archive:
        assert archive.read("plan.md").decode() == plans.NO_PLAN
    copied(older, lambda manifest: manifest.pop("plan"))
    assert as_json(run_report_from("accuracy", older)) == as_json(run_report("accuracy", played.study))
    bad: Any
    for bad in ("x", 3, [], {}, {"versions": []}, {"versions": [{}]}, {"versions": [3], "margin": 0.1}):
        copied(broken, lambda manifest, bad=bad: manifest.update(plan=bad))
        with pytest.raises(Invalid, match="plan is damaged"):
            run_report_from("accuracy", broken)


def test_early_looks_are_listed_with_their_n_on_the_desk_and_in_the_export(
    played: Played, client: Any, tmp_path: Path
) -> None:
    researcher = factories.StudyMemberFactory(study=played.study).user
    client.force_login(researcher)
    call_command("report", "accuracy", study="planned", stdout=StringIO())
    call_command("report", "funnel", study="planned", stdout=StringIO())
    client.post(url("look", "planned"))
    page = client.get(url("plan", "planned"))
    looks = [(str(look["how"]), str(look["what"]), look["n"]) for look in page.context["looks"]]
    assert looks == [("looked early", "", 70), ("read a report", "Accuracy", 70)]
    manifest = export_study(study=played.study, path=tmp_path / "x.zip")
    assert [(one["how"], one["n"]) for one in manifest["looks"]] == [
        ("report.read", 70),
        ("study.looked_early", 70),
    ]
    assert researcher.username not in json.dumps(manifest)
    again = export_study(study=played.study, path=tmp_path / "y.zip")
    assert again["looks"][-1]["how"] == "study.exported"
    assert again["looks"][-1]["n"] == 70


# On the desk


FORM = {key: value for key, value in DECIDED.items() if key not in ("planning",)}


def test_a_plan_is_drafted_frozen_and_saved_on_the_desk(client: Any, cast: Any) -> None:
    client.force_login(cast.researcher)
    slug = cast.study.slug
    empty = client.get(url("plan", slug))
    assert "No plan is frozen." in empty.content.decode()
    undecided = client.post(url("plan", slug), {**FORM, "stopping": "", "do": "freeze"})
    assert undecided.context["form"].errors["stopping"]
    assert client.post(url("plan", slug), {**FORM, "notes": "Old.", "do": "save"}).status_code == 302
    asked = client.post(url("plan", slug), {**FORM, "do": "freeze"})  # with what was not saved
    assert plans.frozen_plan(cast.study) is None
    shown = asked.context["draft"]
    assert shown.sha256 in asked.content.decode()
    assert (
        client.post(url("plan", slug), {"do": "frozen", "shown": asked.context["shown"]}).status_code == 302
    )
    plan = cast.study.plans.get()
    assert (plan.sha256, plan.markdown) == (shown.sha256, shown.markdown)
    assert plans.content_of(plan) == {**plans.EMPTY, **DECIDED}
    saved = client.get(url("plan_file", slug, 1))
    assert hashlib.sha256(saved.content).hexdigest() == plan.sha256
    assert 'filename="conversations-plan-v1.md"' in saved["Content-Disposition"]
    assert client.get(url("plan_file", slug, 2)).status_code == 404
    report = client.get(url("report", slug, "funnel"))
    assert report.status_code == 200
    changed = {**FORM, "target_n": 31, "do": "freeze"}
    refused = client.post(url("plan", slug), {**changed, "reason": " "})
    assert refused.status_code == 400
    assert refused.context["freeze_form"].errors["reason"]
    asked = client.post(url("plan", slug), {**changed, "reason": "A better estimate."})
    client.post(url("plan", slug), {"do": "frozen", "shown": asked.context["shown"]})
    page = client.get(url("plan", slug)).content.decode()
    assert "because: A better estimate." in page
    actions = AuditLine.objects.filter(study=cast.study, action__startswith="plan.")
    assert [line.action for line in actions.order_by("pk")] == [
        "plan.drafted", "plan.drafted", "plan.drafted", "plan.frozen", "plan.drafted", "plan.frozen",
    ]  # fmt: skip
    assert {line.actor for line in actions} == {cast.researcher}


def test_what_changed_since_it_was_shown_is_not_frozen(client: Any, cast: Any) -> None:
    client.force_login(cast.researcher)
    page = url("plan", cast.study.slug)

    def frozen_after(change: Any) -> bool:
        token = client.post(page, {**FORM, "do": "freeze"}).context["shown"]
        change()
        answer = client.post(page, {"do": "frozen", "shown": token}, follow=True)
        assert "has changed meanwhile" in answer.content.decode()
        return plans.frozen_plan(cast.study) is not None

    assert not frozen_after(lambda: services.save_draft(study=cast.study, content={"notes": "another"}))
    assert not frozen_after(lambda: Study.objects.update(status="paused"))
    assert not frozen_after(lambda: factories.VerdictFactory(rater=cast.participant.rater))
    client.post(page, {"do": "frozen", "shown": "forged"})
    assert plans.frozen_plan(cast.study) is None


def test_a_note_on_the_target_is_marked_where_the_target_is_changed_by_hand(client: Any, cast: Any) -> None:
    client.force_login(cast.researcher)
    services.save_draft(study=cast.study, content={**DECIDED, "planning": "Planned for 30."})
    for target in ("31", "32"):
        note = plans.content_of(plans.draft_of(cast.study))["planning"]
        changed = {**FORM, "planning": note, "target_n": target, "do": "save"}
        client.post(url("plan", cast.study.slug), changed)
        note = plans.content_of(plans.draft_of(cast.study))["planning"]
        assert note == "Planned for 30.\nThe target was changed by hand afterwards."


@pytest.mark.parametrize(("changed", "field"), [
    ({"target_n": "-1"}, "target_n"),
    ({"target_n": "many"}, "target_n"),
    ({"margin": "2"}, "margin"),
    ({"margin": "nan"}, "margin"),
    ({"outcome": "none.such"}, "outcome"),
    ({"analysis_set": "best"}, "analysis_set"),
    ({"notes": "x" * 20_001}, "notes"),
])  # fmt: skip
def test_a_bad_plan_is_answered_beside_the_field(client: Any, cast: Any, changed: Any, field: str) -> None:
    client.force_login(cast.researcher)
    answer = client.post(url("plan", cast.study.slug), {**FORM, **changed, "do": "save"})
    assert answer.status_code == 400
    assert field in answer.context["form"].errors
    assert not cast.study.plans.exists()


def test_a_colleague_reads_the_plan_and_only_who_manages_writes_it(client: Any, cast: Any) -> None:
    frozen(cast.study)
    for who, reads in ((cast.colleague, 200), (cast.reviewer, 404), (cast.stranger, 404)):
        client.force_login(who)
        for name, more in (("plan", ()), ("plan_file", (1,)), ("planner", ()), ("soft_launch", ())):
            assert client.get(url(name, cast.study.slug, *more)).status_code == reads
        assert client.post(url("plan", cast.study.slug), {**FORM, "do": "save"}).status_code == 404
        assert client.post(url("planner", cast.study.slug), {}).status_code == 404
    assert cast.study.plans.count() == 1


def test_reports_on_the_desk_begin_with_the_plans_set_and_show_the_plan(client: Any, played: Played) -> None:
    plan = frozen(played.study)
    Study.objects.filter(pk=played.study.pk).update(status="closed")
    client.force_login(factories.StudyMemberFactory(study=played.study).user)
    page = client.get(url("report", "planned", "success-rate"))
    assert page.context["options"].analysis_set == "per_protocol"
    assert plan.sha256 in page.content.decode()
    Plan.objects.all().delete()
    page = client.get(url("report", "planned", "success-rate"))
    assert "No frozen plan: exploratory." in page.content.decode()
    assert page.context["options"].analysis_set == "all"


def test_an_export_of_a_blind_study_is_asked_for_twice_and_noted_with_its_n(
    client: Any, played: Played, settings: Any, tmp_path: Path
) -> None:
    settings.EXPORT_ROOT = tmp_path
    client.force_login(factories.StudyMemberFactory(study=played.study).user)
    asked = client.post(url("export", "planned"), {"tier": "public"})
    assert "Making it now counts as a look" in asked.content.decode()
    assert ("tier", "public") in asked.context["sent"]
    assert not AuditLine.objects.filter(action="study.exported").exists()
    client.post(url("export", "planned"), {"tier": "public", "look": "yes"})
    line = AuditLine.objects.get(action="study.exported")
    assert (line.detail["n"], line.detail["status"], line.detail["tier"]) == (70, "open", "public")
    Study.objects.filter(pk=played.study.pk).update(status="closed")
    assert client.post(url("export", "planned")).get("Content-Disposition", "").endswith('.zip"')


# Study files


def test_a_study_file_carries_the_plan_as_a_draft_and_freezes_nothing(whole: Study) -> None:
    frozen(whole)
    text = as_yaml(describe(whole))
    assert "hypothesis: Talker is judged human" in text
    copy = text.replace("slug: planned", "slug: copy")
    checked = check(copy.encode())
    assert checked.values is not None, checked.problems
    made, _changes = apply_study_file(values=checked.values)
    assert plans.content_of(plans.draft_of(made)) == plans.content_of(plans.frozen_plan(whole))
    assert plans.frozen_plan(made) is None
    assert as_yaml(describe(made)) == copy
    assert apply_study_file(values=checked.values)[1] == []

    changed = check(text.replace("target_n: 30", "target_n: 44").encode()).values
    assert changed is not None
    found = [one for one in compare(whole, changed) if one.state == "changed"]
    assert [(one.key, one.before, one.after) for one in found] == [("plan.target_n", 30, 44)]
    assert "draft" in found[0].note
    apply_study_file(values=changed)
    held, draft = plans.frozen_plan(whole), plans.draft_of(whole)
    assert plans.content_of(held)["target_n"] == 30
    assert draft is not None
    assert (draft.version, draft.content["target_n"]) == (2, 44)


@pytest.mark.parametrize(("part", "by", "said"), [
    ("success-rate.difference", "success-rate.diference", "Did you mean “success-rate.difference”?"),
    ("analysis_set: per_protocol", "analysis_set: perprotocol", "Did you mean “per_protocol”?"),
    ("target_n: 30", "target_n: -3", "lies outside"),
    ("hypothesis:", "hypotesis:", "Did you mean “hypothesis”?"),
])  # fmt: skip
def test_a_plan_in_a_file_is_checked_by_line(whole: Study, part: str, by: str, said: str) -> None:
    frozen(whole)
    text = as_yaml(describe(whole))
    assert part in text
    problems = check(text.replace(part, by, 1).encode()).errors
    assert [one.line for one in problems] == [text[: text.index(part)].count("\n") + 1]
    assert said in problems[0].message


def test_the_panel_template_reveals_nothing_before_the_debrief(db: None) -> None:
    values = template("panel")
    assert values["settings"]["speech"]["reveal"] == "never"
    assert template("speech")["settings"]["speech"]["reveal"] == "after_round"
    assert values["plan"] == plans.EMPTY
