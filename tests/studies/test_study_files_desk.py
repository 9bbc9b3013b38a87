"""Study files on the desk: saved, uploaded, told by line, compared, applied; a new study from one."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from studies import services
from studies.files import as_yaml, check, describe
from studies.models import AuditLine, Study
from tests import factories


def url(name: str, *args: object) -> str:
    return reverse(f"admin:desk_{name}", args=args)


def upload(text: str | bytes, **more: str) -> dict[str, Any]:
    data = text.encode() if isinstance(text, str) else text
    return {"upload": SimpleUploadedFile("study.yaml", data), **more}


def not_applied(researcher: Any, address: str, data: str | bytes) -> Any:
    """The page after such a file was to be applied and was not: at an address that can be loaded again."""
    lines = AuditLine.objects.count()
    sent = researcher.post(address, upload(data, apply="yes"))
    assert sent.status_code == 302, "going back sends no form again"
    assert sent.url.startswith(f"{address}?checked=")
    page = researcher.get(sent.url)
    assert researcher.get(sent.url).context["form"].errors == page.context["form"].errors
    assert AuditLine.objects.count() == lines
    return page


@pytest.fixture
def study(cast: Any) -> Study:
    made = services.create_study(
        slug="mine", title_en="Mine", title_zh="我的", user=cast.researcher, host="X", contact="a@example.org"
    )
    factories.StudyMemberFactory(study=made, user=cast.colleague, role="colleague")
    return made


@pytest.fixture
def researcher(client: Any, cast: Any) -> Any:
    client.force_login(cast.researcher)
    return client


def test_a_study_is_saved_as_a_file_with_its_codes_for_who_manages_it(
    client: Any, cast: Any, study: Study
) -> None:
    client.force_login(cast.researcher)
    saved = client.get(url("study_yaml", "mine"))
    assert saved.content.decode() == as_yaml(describe(study))
    assert 'filename="mine.yaml"' in saved["Content-Disposition"]
    client.force_login(cast.colleague)
    text = client.get(url("study_yaml", "mine")).content.decode()
    assert study.completions.all()[0].code not in text
    assert client.get(url("study_file", "mine")).status_code == 404
    client.force_login(cast.stranger)
    assert client.get(url("study_yaml", "mine")).status_code == 404
    assert client.post(url("study_file", "mine"), upload(text)).status_code == 404


def test_an_uploaded_file_is_compared_and_applied_only_when_told(researcher: Any, study: Study) -> None:
    text = (
        as_yaml(describe(study))
        .replace("en: Mine", "en: Mine, better")
        .replace("soft_launch_n: 20", "soft_launch_n: 25")
    )
    page = researcher.post(url("study_file", "mine"), upload(text), follow=True)
    assert page.status_code == 200
    assert "~ title" in page.context["lines"]
    assert "    +25" in page.context["lines"]
    study.refresh_from_db()
    assert study.title_en == "Mine"
    shown = page.context["form"]["text"].value()
    assert shown == text
    done = researcher.post(url("study_file", "mine"), {"text": shown.replace("\n", "\r\n"), "apply": "yes"})
    assert done.url == url("study", "mine")
    study.refresh_from_db()
    assert (study.title_en, study.soft_launch_n) == ("Mine, better", 25)
    line = AuditLine.objects.get(study=study, action="study.file_applied")
    assert line.actor is not None
    again = researcher.post(url("study_file", "mine"), upload(as_yaml(describe(study))), follow=True)
    assert again.context["nothing"]
    assert "Nothing would change" in again.content.decode()


def test_what_is_wrong_is_told_by_line_and_can_be_mended_in_place(researcher: Any, study: Study) -> None:
    text = as_yaml(describe(study)).replace("profile_at:", "profle_at:")
    at = text[: text.index("profle_at")].count("\n") + 1
    page = researcher.post(url("study_file", "mine"), upload(text), follow=True)
    body = page.content.decode()
    assert f"{at}:1" in body
    assert "Did you mean “profile_at”?" in body
    assert "Apply it" not in body
    mended = researcher.post(
        url("study_file", "mine"), {"text": text.replace("profle_at", "profile_at")}, follow=True
    )
    assert mended.status_code == 200
    assert mended.context["nothing"]


@pytest.mark.parametrize("data", [
    b"", b"\xff\xfe\x00", b"a: [", b"- 1", b"&a [*a]", b"x" * 1_100_000, "语: 言".encode("gbk"), b"\0",
])  # fmt: skip
def test_files_that_are_none_are_refused_in_words(researcher: Any, study: Study, data: bytes) -> None:
    page = researcher.post(url("study_file", "mine"), upload(data), follow=True)
    assert page.context["problems"] or page.context["form"].errors
    forced = not_applied(researcher, url("study_file", "mine"), data)
    assert forced.context["problems"] or forced.context["form"].errors


@pytest.mark.parametrize("escape", [r"\0", r"\a", r"\ud800", r"\uffff"])
@pytest.mark.parametrize("place", ["host: ", "title:\n  en: ", "hist"])
def test_escaped_control_characters_are_told_by_line(
    researcher: Any, study: Study, place: str, escape: str
) -> None:
    text = as_yaml(describe(study))
    if place == "hist":
        text += f'"h{escape}t": 1\n'
    else:
        start = text.index(place) + len(place)
        text = text[:start] + f'"H{escape}"' + text[text.index("\n", start) :]
    line = text[: text.index(escape)].count("\n") + 1
    page = researcher.post(url("study_file", "mine"), upload(text), follow=True)
    assert page.status_code == 200
    assert [one.line for one in page.context["problems"] if one.is_error] == [line]
    forced = not_applied(researcher, url("study_file", "mine"), text)
    assert [one.line for one in forced.context["problems"] if one.is_error] == [line]


def test_what_may_not_change_any_more_is_shown_and_not_applied(researcher: Any, study: Study) -> None:
    factories.ParticipantFactory(study=study)
    text = as_yaml(describe(study)).replace("min_age: 18", "min_age: 21").replace("en: Mine", "en: Other")
    page = researcher.post(url("study_file", "mine"), upload(text), follow=True)
    assert page.context["refused"]
    assert "Apply it" not in page.content.decode()
    forced = not_applied(researcher, url("study_file", "mine"), text)
    assert forced.context["form"].non_field_errors()
    assert "people have taken part" in forced.content.decode()
    study.refresh_from_db()
    assert (study.min_age, study.title_en) == (18, "Mine")


def test_a_file_of_another_study_is_not_taken(researcher: Any, study: Study, cast: Any) -> None:
    text = as_yaml(describe(study)).replace("slug: mine", f"slug: {cast.study.slug}")
    page = not_applied(researcher, url("study_file", "mine"), text)
    assert "This is a file of the study “conversations”" in page.content.decode()
    cast.study.refresh_from_db()
    assert cast.study.title_en == "Short conversations"


def test_a_new_study_comes_from_a_template_filled_in(researcher: Any, cast: Any) -> None:
    saved = researcher.get(url("study_template", "panel")).content.decode()
    assert check(saved.encode()).errors == []
    values = yaml.safe_load(saved)
    assert values["settings"]["speech"]["reveal"] == "never"
    text = saved.replace("slug: my-panel-study", "slug: panel-one").replace("amount: null", "amount: 3.5", 1)
    page = researcher.post(url("new_study_file"), upload(text), follow=True)
    assert page.status_code == 200
    shown = page.context["lines"]
    assert "+ settings.speech.reveal: never" in shown
    assert shown[shown.index("+ languages") + 1].startswith("    - ")
    assert max(map(len, shown)) <= 140
    assert "A new study at “panel-one”" in page.content.decode()
    assert not Study.objects.filter(slug="panel-one").exists()
    made = researcher.post(
        url("new_study_file"), {"text": page.context["form"]["text"].value(), "apply": "yes"}
    )
    assert made.url == url("study", "panel-one")
    study = Study.objects.get(slug="panel-one")
    assert (study.status, study.speech.reveal, study.members.get().user) == (
        "draft",
        "never",
        cast.researcher,
    )
    assert float(study.completions.get(end_state="done").amount or 0) == 3.5
    assert researcher.get(url("study_template", "nothing")).status_code == 404


def test_a_new_study_takes_no_address_that_is_taken(researcher: Any, study: Study, cast: Any) -> None:
    foreign = Study.objects.exclude(slug__in=["mine", cast.study.slug])[0]
    for slug in ("mine", foreign.slug):
        text = (
            as_yaml(describe(study)).replace("slug: mine", f"slug: {slug}").replace("en: Mine", "en: Taken")
        )
        page = not_applied(researcher, url("new_study_file"), text)
        assert "Another study has this address." in page.content.decode()
        assert Study.objects.get(slug=slug).title_en != "Taken"


def test_the_first_page_of_a_new_study_leads_there(researcher: Any) -> None:
    assert url("new_study_file") in researcher.get(url("create")).content.decode()


def test_what_was_checked_has_an_address_of_its_own_for_whoever_sent_it(
    researcher: Any, client: Any, study: Study, cast: Any
) -> None:
    text = as_yaml(describe(study)).replace("en: Mine", "en: Better")
    sent = researcher.post(url("study_file", "mine"), upload(text))
    assert sent.status_code == 302, "going back sends no form again"
    for _time in range(2):
        page = researcher.get(sent.url)
        assert "~ title" in page.context["lines"]
        assert page.context["form"]["text"].value() == text
    other = sent.url.partition("=")[0] + "=other"
    new = url("new_study_file") + "?" + sent.url.partition("?")[2]
    for elsewhere in (other, new, url("study_file", "mine")):
        assert "lines" not in researcher.get(elsewhere).context
    researcher.post(url("study_file", "mine"), {"text": text, "apply": "yes"})
    assert "lines" not in researcher.get(sent.url).context
    factories.StudyMemberFactory(study=study, user=cast.stranger, role="researcher")
    sent = researcher.post(url("study_file", "mine"), upload(text))
    client.force_login(cast.stranger)
    assert "lines" not in client.get(sent.url).context


def test_no_file_at_all_is_asked_for(researcher: Any) -> None:
    page = researcher.post(url("new_study_file"), {"text": ""}, follow=True)
    assert [status for _address, status in page.redirect_chain] == [302]
    assert page.context["form"].errors == {"upload": ["Choose a file."]}
    assert "1:1" not in page.content.decode()
