"""Study files: written, checked by line, compared, applied; what was given stays."""

from __future__ import annotations

import zipfile
from datetime import date
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import CommandError, call_command

from games.speech.models import SpeechSettings
from studies import services, texts
from studies.exports import export_study
from studies.files import TEMPLATES, as_yaml, check, compare, describe, shown, template
from studies.models import Answer, AuditLine, Completion, EndState, Study
from studies.selectors import opening_problems
from studies.services.filing import apply_study_file
from tests import factories
from turingsite.errors import Conflict, Invalid

NAMES: dict[str, Any] = {"host": "A university", "contact": "study@example.org"}


@pytest.fixture
def made(db: None) -> Study:
    study = services.create_study(
        slug="voices",
        title_en="Voices: “yes” & no",
        title_zh="声音",
        user=None,
        profile_extras=("hearing",),
        recruiter_params=["PROLIFIC_PID"],
        erasure_until=date(2027, 3, 31),
        notice_en="A note\nof two lines",
        notice_zh="说明",
        **NAMES,
    )
    Completion.objects.filter(study=study, end_state="done").update(pay_en="£3: in all", pay_zh="3 英镑")
    SpeechSettings.objects.filter(study=study).update(max_rounds=6, margin=0.125, lease_minutes=45)
    return study


def text_of(study: Study) -> str:
    return as_yaml(describe(study))


def applied(text: str, **more: Any) -> Study:
    checked = check(text.encode())
    assert checked.values is not None, checked.problems
    return apply_study_file(values=checked.values, **more)[0]


def words_at(text: str, part: str, by: str) -> list[str]:
    """Problems of ``text`` with ``part`` replaced by ``by``."""
    assert text.count(part) >= 1, part
    return [str(one) for one in check(text.replace(part, by, 1).encode()).problems]


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# There and back


def test_a_study_survives_its_file_exactly(made: Study) -> None:
    text = text_of(made)
    checked = check(text.encode())
    assert checked.problems == []
    assert checked.values == describe(made)
    copy = text.replace("slug: voices", "slug: copy")
    study = applied(copy)
    assert study.status == Study.Status.DRAFT
    assert study.seed == made.seed
    assert text_of(study) == copy
    for field in Study._meta.fields:
        if field.name not in ("id", "slug", "created_at"):
            assert getattr(study, field.name) == getattr(made, field.name), field.name
    mine, theirs = SpeechSettings.objects.get(study=study), SpeechSettings.objects.get(study=made)
    for setting in SpeechSettings._meta.fields:
        if setting.name not in ("id", "study"):
            assert getattr(mine, setting.name) == getattr(theirs, setting.name), setting.name
    assert study.consent_texts.get().sha256 == made.consent_texts.get().sha256
    # Again: nothing to do, no new versions.
    assert apply_study_file(values=check(copy.encode()).values or {})[1] == []
    assert study.consent_texts.count() == study.questionnaires.count() == 1


def test_a_study_survives_the_commands(made: Study, tmp_path: Path) -> None:
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    call_command("export_study", "voices", out=str(first))
    before = first.read_text()
    Study.objects.get(slug="voices").delete()
    said = StringIO()
    call_command("import_study", str(first), stdout=said)
    assert "voices: a new study" in said.getvalue()
    assert "Nothing was changed. --apply does it." in said.getvalue()
    assert not Study.objects.exists()
    call_command("import_study", str(first), apply=True, stdout=said)
    call_command("export_study", "voices", out=str(second))
    assert second.read_text() == before


def test_a_study_that_was_opened_gives_the_text_as_written(made: Study) -> None:
    before = describe(made)["consent"]
    from studies.services.opening import settle_texts

    settle_texts(made)
    assert made.consent_texts.count() == 2
    assert describe(made)["consent"] == before
    assert "{host}" in str(before)


def test_who_applies_a_new_file_is_its_researcher(made: Study) -> None:
    user = factories.UserFactory(username="maker", is_staff=True)
    study = applied(text_of(made).replace("slug: voices", "slug: copy"), user=user)
    assert study.members.get().user == user
    assert AuditLine.objects.filter(study=study, action="study.file_applied", actor=user).exists()


@pytest.mark.parametrize("name", TEMPLATES[:2])
def test_a_template_is_right_and_opens_once_filled_in(db: None, name: str, tmp_path: Path) -> None:
    out = tmp_path / "new.yaml"
    call_command("export_study", template=name, out=str(out))
    text = out.read_text()
    assert text.startswith("# A study.")
    assert check(text.encode()).problems == []
    study = applied(text.replace("host: ''", "host: A university").replace("contact: ''", "contact: a@b.org"))
    # Only the recordings are missing.
    assert all("dialogue" in problem for problem in opening_problems(study))
    assert SpeechSettings.objects.get(study=study).max_rounds == (4 if name == "panel" else 0)
    assert study.recruiter_required == (name == "panel")
    assert all(row.code for row in study.completions.all())
    for language, rounds, time in (("en", "4 rounds", "About 20 minutes"), ("zh", "共 4 轮", "约 20 分钟")):
        text = str(texts.shown(study, study.consent_texts.get(), language))
        assert (rounds in text) == (name == "panel")
        assert (time in text) == (name == "panel")


def test_the_annotations_template_is_right_and_opens_once_filled_in(db: None) -> None:
    text = as_yaml(template("annotation"), to_fill=True)
    assert check(text.encode()).problems == []
    study = applied(text.replace("host: ''", "host: A university").replace("contact: ''", "contact: a@b.org"))
    assert (study.activities, study.annotation.raters) == (["annotation"], 3)
    assert all("dialogue" in problem for problem in opening_problems(study))
    for language, words in (("en", "a batch of 5 conversations"), ("zh", "一组 5 段对话")):
        assert words in str(texts.shown(study, study.consent_texts.get(), language))


def test_a_template_is_made_anew_each_time() -> None:
    template("panel")["settings"]["speech"]["max_rounds"] = 99
    template("speech")["consent"]["en"]["summary"].clear()
    assert template("panel")["settings"]["speech"]["max_rounds"] == 4
    assert template("speech")["consent"]["en"]["summary"]


# What is wrong, by line


def test_a_typo_is_told_with_line_column_and_what_was_meant(made: Study, tmp_path: Path) -> None:
    text = text_of(made)
    wrong = text.replace("profile_at: start", "profle_at: start")
    (problem,) = check(wrong.encode()).problems
    assert (problem.line, problem.column) == (line_of(text, "profile_at"), 1)
    assert problem.key == "profle_at"
    assert problem.message == "There is no key “profle_at” here. Did you mean “profile_at”?"
    path = tmp_path / "wrong.yaml"
    path.write_text(wrong)
    said = StringIO()
    with pytest.raises(CommandError, match="1 to mend"):
        call_command("check_study", str(path), stdout=said)
    assert said.getvalue().startswith(f"{path}:{problem.line}:1 profle_at: There is no key")


@pytest.mark.parametrize(
    ("part", "by", "place", "words"),
    [
        ("max_rounds: 6", "max_rounds: six", "settings.speech.max_rounds", "a whole number, but is text"),
        ("max_rounds: 6", "max_round: 6", "settings.speech.max_round", "Did you mean “max_rounds”?"),
        ("mix: half", "mix: halves", "settings.speech.mix", "“halves” is not known here. Did you"),
        ("margin: 0.125", "margin: 12.5", "settings.speech.margin", "12.5 lies outside of 0.001 to 1."),
        ("min_age: 18", "min_age: true", "min_age", "should be a whole number, but is yes or no"),
        ("time_zone: UTC", "time_zone: Asia/Shangai", "time_zone", "Did you mean “Asia/Shanghai”?"),
        ("is_listed: false", "is_listed: 'false'", "is_listed", "should be true or false, but is text"),
        ("- zh\nactivities", "- fr\nactivities", "languages[2]", "“fr” is not known here. There are: en"),
        ("- zh\nactivities", "- en\nactivities", "languages[2]", "“en” stands here twice."),
        ("- speech", "- speach", "activities[1]", "Did you mean “speech”?"),
        ("slug: voices", "slug: my voices", "slug", "Letters a to z, figures and dashes only."),
        ("slug: voices", "slug: 12", "slug", 'This should be text. Put it in quotes: "12".'),
        ("contact: study@example.org", "contact: nobody", "contact", "This is no e-mail address."),
        ("erasure_until: 2027-03-31", "erasure_until: soon", "erasure_until", "a day, like 2027-03-31"),
        ("erasure_until: 2027-03-31", "erasure_until: 2027-13-31", "erasure_until", "a day, like 2027-03-31"),
        ("value: 18-25", "value: no", "questionnaires[1].questions[1].options[1].value", "Put it in quotes"),
        ("kind: single", "kind: text", "questionnaires.profile.age", "has no options"),
        ("format: 1", "format: 2", "format", "2 lies outside of 1 to 1."),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_at_its_line(made: Study, part: str, by: str, place: str, words: str) -> None:
    text = text_of(made)
    found = check(text.replace(part, by, 1).encode()).problems
    assert len(found) == 1, found
    assert words in found[0].message
    assert found[0].key == place
    assert abs(found[0].line - line_of(text, part)) <= 1


def test_a_missing_end_state_is_told(made: Study) -> None:
    values = describe(made)
    del values["ends"]["timed_out"]
    text = as_yaml(values)
    (problem,) = check(text.encode()).problems
    assert "The end state “timed_out” is missing" in problem.message
    assert problem.line == line_of(text, "ends:") + 1


def test_missing_chinese_is_an_error_where_people_consent_and_a_hint_elsewhere(made: Study) -> None:
    values = describe(made)
    del values["consent"]["zh"]
    (problem,) = check(as_yaml(values).encode()).problems
    assert (problem.key, problem.message, problem.is_error) == ("consent", "Chinese is missing (zh).", True)
    values = describe(made)
    values["title"]["zh"] = ""
    checked = check(as_yaml(values).encode())
    (hint,) = checked.problems
    assert (hint.key, hint.is_error) == ("title", False)
    assert "Chinese is missing (zh)" in hint.message
    assert checked.values == values


def test_a_missing_key_and_one_that_stands_twice_are_told(made: Study) -> None:
    text = text_of(made)
    assert words_at(text, "slug: voices\n", "") == ["2:1 The key “slug” is missing."]
    assert words_at(text, "min_age: 18\n", "min_age: 18\nmin_age: 16\n") == [
        f"{line_of(text, 'min_age') + 1}:1 min_age: This key stands here twice."
    ]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "The file is empty."),
        (b"a: [1", "YAML cannot be read here"),
        (b"a:\n\t- b", "2:1 YAML cannot be read here"),
        (b"just words", "a group of keys"),
        (b"- 1\n- 2", "should be a group of keys, but is a list"),
        ("标题: 一".encode("gb18030"), "Save the file as UTF-8."),
        (b"a: &x [1]\nb: *x", "1:4 Anchors and references"),
        (b"a: " + b"[" * 50 + b"]" * 50, "nested too deep"),
        (b"a: " + b"x" * (1 << 20), "too large"),
        (b"--- {}\n--- {}\n", "YAML cannot be read here"),
        (b"a: !!python/object:os.system x", "There is no key “a” here."),
        (b"? [a, b]\n: c", "There is no key “” here."),
        (b"slug: " + b"9" * 6000, "slug"),
        (b"<<: {slug: a}", "There is no key “<<” here."),
    ],
)
def test_a_file_that_is_none_is_told_and_never_raises(db: None, data: bytes, words: str) -> None:
    checked = check(data)
    assert checked.values is None
    assert any(words in str(one) for one in checked.problems), checked.problems


def test_a_file_that_is_not_there_is_told(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        call_command("check_study", str(tmp_path / "none.yaml"))
    with pytest.raises(CommandError, match="Name a study, or a template"):
        call_command("export_study")


# Comparing and applying


def test_the_comparison_shows_what_would_change_and_changes_nothing(made: Study, tmp_path: Path) -> None:
    path = tmp_path / "changed.yaml"
    text = text_of(made).replace("max_rounds: 6", "max_rounds: 8")
    path.write_text(text.replace("host: A university", "host: Another one"))
    before = text_of(made)
    said = StringIO()
    call_command("import_study", str(path), stdout=said)
    lines = said.getvalue().splitlines()
    assert lines[0] == "voices: draft"
    assert "= unchanged: " in lines[1]
    assert lines[2:-1] == [
        "~ host", "    -A university", "    +Another one",
        "~ settings.speech.max_rounds", "    -6", "    +8",
    ]  # fmt: skip
    assert text_of(made) == before
    call_command("import_study", str(path), apply=True, stdout=said)
    made.refresh_from_db()
    assert made.host == "Another one"
    assert SpeechSettings.objects.get(study=made).max_rounds == 8


def test_what_the_file_leaves_out_stays(made: Study) -> None:
    values = describe(made, with_codes=False)
    for key in ("host", "erasure_until", "settings", "questionnaires", "seed"):
        del values[key]
    codes = dict(made.completions.values_list("end_state", "code"))
    checked = check(as_yaml(values).encode())
    assert checked.values is not None
    assert [one.state for one in compare(made, checked.values) if one.state != "unchanged"] == ["kept"]
    _study, changes = apply_study_file(values=checked.values)
    assert changes == []
    assert dict(made.completions.values_list("end_state", "code")) == codes
    assert made.questionnaires.filter(is_current=True).exists()


def test_changed_texts_and_questions_become_versions_and_answers_stay(made: Study) -> None:
    person = factories.ParticipantFactory(study=made)
    consent = factories.ConsentFactory(participant=person, text=made.consent_texts.get())
    answer = factories.AnswerFactory(
        rater=person.rater, questionnaire=made.questionnaires.get(), question="age"
    )
    values = describe(made)
    values["consent"]["en"]["debrief"][0][1] = "Something else."
    del values["questionnaires"][0]["questions"][0]
    notes = {one.key: one.note for one in compare(made, values) if one.state == "changed"}
    assert "the 1 people who agreed to version 1 keep it" in notes["consent"]
    assert "answers stay" in notes["questionnaires.profile"]
    apply_study_file(values=values)
    assert made.consent_texts.count() == 2
    assert made.consent_texts.order_by("-version")[0].body["en"]["debrief"][0][1] == "Something else."
    consent.refresh_from_db()
    assert consent.text.version == 1
    assert Answer.objects.get().questionnaire.version == answer.questionnaire.version == 1
    assert made.questionnaires.get(is_current=True).version == 2


def refusals(study: Study, **changed: Any) -> dict[str, str]:
    values = {**describe(study), **changed}
    with pytest.raises(Conflict) as refusal:
        apply_study_file(values=values)
    assert refusal.value.code == "refused"
    assert "Nothing was changed." in str(refusal.value)
    return {one.key: one.refusal for one in compare(study, values) if one.refusal}


def test_a_study_with_people_refuses_what_would_break_its_data(made: Study) -> None:
    person = factories.ParticipantFactory(study=made, judging_language="zh", recruiter_key="p1")
    before = text_of(made)
    for key, value, words in (
        ("min_age", 16, "people have taken part"),
        ("profile_at", "end", "people have taken part"),
        ("seed", 5, "could not repeat them"),
        ("activities", [], "another study"),
        ("languages", ["en"], "1 people judge in Chinese; it has to stay."),
        ("recruiter", {"params": ["SONA"], "required": False}, "1 people are known by “PROLIFIC_PID”"),
        ("erasure_until", date(2027, 1, 1), "promised"),
    ):
        found = refusals(made, **{key: value})
        assert len(found) == 1, found
        assert words in next(iter(found.values()))
    player = factories.SpeechPlayerFactory(participant=person)
    factories.RoundFactory(player=player)
    settings = describe(made)["settings"]
    settings["speech"]["round_size"] = 7
    assert "people have played" in refusals(made, settings=settings)["settings.speech.round_size"]
    assert text_of(made) == before
    # One refusal keeps everything out.
    refusals(made, seed=5, host="Another one")
    assert text_of(made) == before
    # And what breaks nothing goes through.
    apply_study_file(values={**describe(made), "host": "Another one", "erasure_until": date(2027, 6, 30)})


def test_a_running_study_keeps_its_text(made: Study) -> None:
    Study.objects.filter(pk=made.pk).update(status=Study.Status.OPEN)
    made.refresh_from_db()
    consent = describe(made)["consent"]
    consent["en"]["tagline"] = "Another sentence."
    assert refusals(made, consent=consent) == {
        "consent": "Pause the study before you change what people agree to."
    }


def test_a_refused_file_is_told_before_it_is_applied(made: Study, tmp_path: Path) -> None:
    factories.ParticipantFactory(study=made)
    path = tmp_path / "wrong.yaml"
    path.write_text(text_of(made).replace("min_age: 18", "min_age: 16"))
    said = StringIO()
    with pytest.raises(CommandError, match="1 of these can't be applied"):
        call_command("import_study", str(path), stdout=said)
    assert "  ! This can't be changed any more: people have taken part." in said.getvalue()
    with pytest.raises(CommandError, match=r"Nothing was changed. min_age: This can't be changed"):
        call_command("import_study", str(path), apply=True, stdout=said)


def test_a_long_text_is_shown_by_its_changed_lines(made: Study) -> None:
    values = describe(made)
    values["consent"]["zh"]["tagline"] = "另一句话。"
    lines = list(shown(compare(made, values)))
    assert "    +  tagline: 另一句话。" in lines
    assert len(lines) < 8


def test_a_value_that_the_study_refuses_leaves_nothing_behind(made: Study) -> None:
    values = {**describe(made), "slug": "copy", "contact": "a@b..org"}
    with pytest.raises(Invalid):
        apply_study_file(values=values)
    assert not Study.objects.filter(slug="copy").exists()


# In the export


@pytest.mark.parametrize(
    ("tier", "has_codes"), [("public", False), ("controlled", False), ("internal", True)]
)
def test_the_export_holds_the_file_and_only_the_internal_one_the_codes(
    made: Study, tmp_path: Path, tier: str, has_codes: bool
) -> None:
    out = tmp_path / "export.zip"
    export_study(study=made, path=out, tier=tier)
    with zipfile.ZipFile(out) as archive:
        text = archive.read("study.yaml").decode()
    assert check(text.encode()).problems == []
    ends = yaml.safe_load(text)["ends"]
    assert set(ends) == set(EndState.values)
    for row in made.completions.all():
        assert (row.code in text) is has_codes
        assert ends[row.end_state]["pay"]["en"] == row.pay_en
