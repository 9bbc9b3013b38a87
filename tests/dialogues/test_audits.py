"""The audit before opening: kept for what is in play, answered in words, asked anew for new material."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from dialogues import audits, tasks
from dialogues.models import Dialogue, StimulusAudit
from studies import services as studies
from studies.models import AuditLine, Study
from studies.registry import datasets
from studies.selectors import opening_problems
from tests import factories
from turingsite.errors import Conflict, Invalid

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(cast: Any) -> Study:
    """A draft of the speech game with six dialogues of each kind in English that can be played."""
    made = studies.create_study(
        slug="new-one",
        title_en="New",
        user=cast.researcher,
        host="U",
        contact="a@example.org",
        languages=["en"],
    )
    for kind in ("human_human", "human_machine", "pseudo_human"):
        for _ in range(6):
            factories.add_dialogue(made, kind=kind)
    return made


def widen(study: Study) -> None:
    """Make people's dialogues longer than all others: length tells them apart."""
    rows = Dialogue.objects.filter(study_items__study=study)
    for n, row in enumerate(rows):
        seconds = (40.0 if row.kind == "human_human" else 25.0) + n / 100
        Dialogue.objects.filter(pk=row.pk).update(play_duration=seconds)


def made(study: Study, user: Any = None) -> StimulusAudit:
    audit = audits.ask(study=study, user=user)
    audits.run(audit_id=audit.pk)
    audit.refresh_from_db()
    return audit


def open_(study: Study, **options: Any) -> Study:
    return studies.change_status(study=study, to=options.pop("to", "open"), **options)


def test_opening_without_a_warning_runs_the_audit_itself_and_keeps_it(study: Study, cast: Any) -> None:
    assert any("Run the nuisance audit" in one for one in opening_problems(study))
    assert open_(study, user=cast.researcher).status == "open"
    kept = StimulusAudit.objects.get()
    assert (kept.state, kept.dialogues, kept.user) == ("done", 18, cast.researcher)
    assert opening_problems(study) == []


@pytest.mark.parametrize("to", ["open", "soft_launch"])
def test_a_warning_nobody_answered_keeps_the_study_shut(study: Study, cast: Any, to: str) -> None:
    widen(study)
    with pytest.raises(Conflict) as refused:
        open_(study, to=to)
    assert refused.value.code == "not_ready"
    assert "nobody has answered" in str(refused.value)
    assert not StimulusAudit.objects.exists()  # the opening was undone as a whole
    audit = made(study)
    open_problems = opening_problems(study)
    assert any("figures that nobody has answered" in one for one in open_problems)
    keys = audits.unanswered(audit)
    assert "en/human_machine/length" in keys
    audits.answer(made=audit, answers={keys[0]: "People talk longer."}, user=cast.researcher)
    with pytest.raises(Conflict):
        open_(study, to=to)
    audits.answer(made=audit, answers=dict.fromkeys(keys[1:], "Likewise here."), user=cast.researcher)
    assert open_(study, to=to).status == to


def test_a_pilot_needs_no_answers(study: Study) -> None:
    widen(study)
    assert open_(study, to="pilot").status == "pilot"


def test_answers_keep_who_when_and_what_and_go_with_the_material(study: Study, cast: Any) -> None:
    widen(study)
    audit = made(study, cast.researcher)
    now = timezone.now()
    keys = audits.unanswered(audit)
    assert audits.answer(
        made=audit, answers=dict.fromkeys(keys, "So it is, by nature."), user=cast.researcher
    ) == len(keys)
    kept = audit.answers.get(key="en/human_machine/length")
    assert (kept.text, kept.user) == ("So it is, by nature.", cast.researcher)
    assert abs(kept.answered_at - now) < timedelta(minutes=1)
    line = AuditLine.objects.get(action="audit.answered")
    assert "So it is" not in str(line.detail)
    # the same again is no other audit and asks nothing
    assert made(study).pk == audit.pk
    assert audits.unanswered(audit) == []
    assert (
        audits.answer(made=audit, answers=dict.fromkeys(keys, "So it is, by nature."), user=cast.researcher)
        == 0
    )
    # new material asks anew, and the old answers stay with what they were about
    factories.add_dialogue(study, kind="human_human", play_duration=44.0)
    again = made(study)
    assert again.pk != audit.pk
    assert audits.unanswered(again)
    assert audit.answers.count() == len(keys)
    with pytest.raises(Conflict):
        audits.answer(made=audit, answers={keys[0]: "Other words."}, user=cast.researcher)


def test_processing_again_with_other_numbers_asks_anew(study: Study) -> None:
    first = made(study)
    row = Dialogue.objects.filter(study_items__study=study).first()
    assert row is not None
    Dialogue.objects.filter(pk=row.pk).update(play_path="play/other.mp3")  # the same again
    assert audits.current(study) == first
    Dialogue.objects.filter(pk=row.pk).update(quality={"result": {"turn_count": 7}})
    assert audits.current(study) is None


def test_what_is_taken_out_of_play_is_not_audited(study: Study) -> None:
    widen(study)
    study.items.filter(dialogue__kind="human_human").update(is_active=False)
    study.items.filter(dialogue__kind="pseudo_human").update(is_active=False)
    assert not audits.is_needed(study)
    with pytest.raises(Conflict):
        audits.ask(study=study)


def test_too_few_dialogues_leave_nothing_to_answer(cast: Any) -> None:
    few = factories.StudyFactory(slug="few")
    for kind in ("human_human", "human_machine"):
        for _ in range(4):
            factories.add_dialogue(few, kind=kind)
    assert audits.opening_problems(few) == []


def test_a_large_study_is_asked_to_run_it_as_a_job(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audits, "AT_ONCE", 5)
    with pytest.raises(Conflict, match="Run the nuisance audit"):
        open_(study)
    audit = audits.ask(study=study)
    assert any("still at work" in one for one in opening_problems(study))
    assert audits.waiting() == [audit.pk]
    tasks.run_audit(audit.pk)
    tasks.run_audit(audit.pk)  # comes twice
    audit.refresh_from_db()
    assert (audit.state, audit.attempts, audit.step, audit.steps) == ("done", 1, 4, 4)
    assert open_(study).status == "open"


def test_an_audit_whose_worker_was_killed_comes_back_and_not_for_ever(study: Study) -> None:
    audit = audits.ask(study=study)
    past = timezone.now() - timedelta(seconds=1)
    StimulusAudit.objects.update(state="running", attempts=1, claim="dead", lease_until=past)
    assert audits.waiting() == [audit.pk]
    StimulusAudit.objects.update(attempts=audits.TRIES)
    assert audits.waiting() == []
    audit.refresh_from_db()
    assert audit.state == "failed"
    assert made(study).state == "done"  # asked for again, it is tried again


def test_material_that_changes_before_the_audit_is_made_fails_it_in_words(study: Study) -> None:
    audit = audits.ask(study=study)
    factories.add_dialogue(study, kind="human_human")
    audits.run(audit_id=audit.pk)
    audit.refresh_from_db()
    assert (audit.state, audit.result) == ("failed", [])
    assert "changed before" in audit.reason


def test_too_long_an_answer_is_refused_at_its_field(study: Study, cast: Any) -> None:
    widen(study)
    audit = made(study)
    key = audits.unanswered(audit)[0]
    with pytest.raises(Invalid) as refused:
        audits.answer(made=audit, answers={key: "x" * 3000}, user=cast.researcher)
    assert list(refused.value.fields) == [key]
    assert audits.answer(made=audit, answers={"en/no/such": "x", key: "  "}, user=cast.researcher) == 0


def test_reviewers_find_figures_and_answers_in_the_export(study: Study, cast: Any) -> None:
    widen(study)
    audit = made(study)
    audits.answer(
        made=audit, answers={"en/human_machine/length": "People talk longer."}, user=cast.researcher
    )
    rows = list(datasets.get("stimulus_audits").rows(study))
    [own] = [row for row in rows if (row["comparison"], row["feature"]) == ("human_machine", "length")]
    assert (own["auc"], own["warning"], own["answer"]) == (1.0, True, "People talk longer.")
    assert len(rows) == len(audit.result)
    assert cast.researcher.username not in str(rows)


def test_with_one_machine_kind_and_one_language_each_warning_is_asked_once(study: Study, cast: Any) -> None:
    widen(study)
    study.items.filter(dialogue__kind="pseudo_human").update(is_active=False)
    audit = made(study)
    warned = [row["feature"] for row in audit.result if row["warning"]]
    assert warned.count("length") == 2  # H-H against H-M is human against machine
    asked = audits.unanswered(audit)
    assert [key for key in asked if key.endswith("/length")] == ["en/human_machine/length"]
    assert len(asked) == len(set(warned))
    audits.answer(made=audit, answers=dict.fromkeys(asked, "People talk longer."), user=cast.researcher)
    assert open_(study).status == "open"
    rows = datasets.get("stimulus_audits").rows(study)
    assert {row["answer"] for row in rows if row["warning"]} == {"People talk longer."}


@pytest.mark.parametrize("text", ["x", "ok", "无所谓"])
def test_an_answer_has_some_words(study: Study, cast: Any, text: str) -> None:
    widen(study)
    audit = made(study)
    key = audits.unanswered(audit)[0]
    with pytest.raises(Invalid) as refused:
        audits.answer(made=audit, answers={key: text}, user=cast.researcher)
    assert "at least 10 characters" in str(refused.value.fields[key])
    audit.answers.create(key=key, text=text, answered_at=timezone.now())  # from before the rule
    assert audits.answer(made=audit, answers={key: text}, user=cast.researcher) == 0


@pytest.mark.parametrize("odd", ["\x00", "\x1b", "\x85", "\ud800", "\ufffe"])
def test_an_answer_keeps_no_character_that_cannot_be_shown(study: Study, cast: Any, odd: str) -> None:
    widen(study)
    audit = made(study)
    key = audits.warnings_of(audit)[0]["key"]
    audits.answer(made=audit, answers={key: f"{odd}People talk{odd} longer."}, user=cast.researcher)
    assert audit.answers.get().text == "People talk longer."
