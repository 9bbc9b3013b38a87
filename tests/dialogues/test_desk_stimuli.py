"""The desk's page of the audit before opening."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dialogues import audits, tasks
from dialogues.models import AuditAnswer, Dialogue, StimulusAudit
from studies.models import Study
from tests import factories
from turingsite.desk import stimuli

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(cast: Any, client: Client) -> Study:
    """The cast's study with six dialogues of each kind; people talk longer than machines."""
    for kind in ("human_human", "human_machine", "pseudo_human"):
        for n in range(6):
            seconds = (40.0 if kind == "human_human" else 25.0) + n
            factories.add_dialogue(cast.study, kind=kind, play_duration=seconds)
    client.force_login(cast.researcher)
    found: Study = cast.study
    return found


def url(study: Study) -> str:
    return reverse("admin:desk_stimuli", args=[study.slug])


def run(client: Client, study: Study) -> Any:
    assert client.post(url(study), {"do": "run"}).status_code == 302
    return client.get(url(study))


def test_it_is_run_and_each_warning_is_asked_about(client: Client, study: Study) -> None:
    before = client.get(url(study))
    assert "Not run yet" in before.content.decode()
    page = run(client, study)
    keys = [one["key"] for one in page.context["warned"]]
    assert "all/human_machine/length" in keys or "en/human_machine/length" in keys
    text = page.content.decode()
    assert text.count("<textarea") == len(keys) + 1
    assert "style=" not in text


def test_answers_are_stored_one_by_one_or_for_all_that_are_open(
    client: Client, cast: Any, study: Study
) -> None:
    page = run(client, study)
    first = page.context["warned"][0]["key"]
    client.post(url(study), {"do": "answer", f"answer-{first}": "They do talk longer."})
    audit = StimulusAudit.objects.get()
    assert audit.answers.get().text == "They do talk longer."
    client.post(
        url(study), {"do": "answer", f"answer-{first}": "They do talk longer.", "for_all": "Likewise here."}
    )
    assert audits.unanswered(audit) == []
    assert audit.answers.get(key=first).text == "They do talk longer."
    page = client.get(url(study))
    assert "Every warning is answered" in page.content.decode()
    assert cast.researcher.username in page.content.decode()


def test_answers_typed_stay_on_the_page_when_one_is_refused(client: Client, study: Study) -> None:
    page = run(client, study)
    keys = [one["key"] for one in page.context["warned"]]
    data = {"do": "answer", f"answer-{keys[0]}": "x" * 3000, f"answer-{keys[1]}": "Fine words."}
    refused = client.post(url(study), data)
    assert refused.status_code == 400
    typed = {one["key"]: one for one in refused.context["warned"]}
    assert typed[keys[0]]["error"]
    assert typed[keys[1]]["typed"] == "Fine words."
    assert not StimulusAudit.objects.get().answers.exists()


def test_new_material_asks_anew_with_the_earlier_words_beside(client: Client, study: Study) -> None:
    run(client, study)
    client.post(url(study), {"do": "answer", "for_all": "They do talk longer."})
    factories.add_dialogue(study, kind="human_human", play_duration=47.0)
    changed = client.get(url(study))
    assert "The dialogues have changed" in changed.content.decode()
    late = client.post(url(study), {"do": "answer", "for_all": "Late, but said."}, follow=True)
    assert "have changed since this audit" in late.content.decode()
    page = run(client, study)
    assert page.context["open"] == len(page.context["warned"])
    assert "They do talk longer." in page.content.decode()


def test_words_for_an_audit_that_no_longer_holds_wait_for_the_new_one(client: Client, study: Study) -> None:
    page = run(client, study)
    first = page.context["warned"][0]["key"]
    factories.add_dialogue(study, kind="human_human", play_duration=47.0)
    data = {"do": "answer", f"answer-{first}": "They do talk longer.", "for_all": "Likewise for these."}
    data["answer-zh/human_machine/length"] = "Nobody asks this any more."
    late = client.post(url(study), data, follow=True)
    text = late.content.decode()
    assert "have changed since this audit" in text
    for words in ("They do talk longer.", "Likewise for these.", "Nobody asks this any more."):
        assert words in text
    assert not AuditAnswer.objects.exists()

    page = run(client, study)
    assert "Your words wait here" in page.content.decode()
    assert {one["key"]: one["typed"] for one in page.context["warned"]}[first] == "They do talk longer."
    assert page.context["for_all"] == "Likewise for these."
    assert page.context["unasked"] == ["Nobody asks this any more."]
    typed = {f"answer-{one['key']}": one["typed"] for one in page.context["warned"]}
    client.post(url(study), {"do": "answer", **typed, "for_all": page.context["for_all"]})
    made = StimulusAudit.objects.latest("pk")
    assert audits.unanswered(made) == []
    assert made.answers.get(key=first).text == "They do talk longer."
    assert "Your words wait here" not in client.get(url(study)).content.decode()


def test_a_large_audit_is_a_job_whose_progress_shows(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(stimuli, "wake", lambda task, row: sent.append(row))
    monkeypatch.setattr(audits, "AT_ONCE", 3)
    page = run(client, study)
    assert sent == [StimulusAudit.objects.get().pk]
    assert page.context["busy"]
    assert "data-renew" in page.content.decode()
    tasks.run_audit(sent[0])
    assert client.get(url(study)).context["warned"]


def test_colleagues_read_and_only_who_manages_answers(client: Client, cast: Any, study: Study) -> None:
    run(client, study)
    client.force_login(cast.colleague)
    page = client.get(url(study))
    assert page.status_code == 200
    assert "<textarea" not in page.content.decode()
    assert client.post(url(study), {"do": "answer", "for_all": "They do talk longer."}).status_code == 404
    client.force_login(cast.stranger)
    assert client.get(url(study)).status_code == 404


def test_too_few_dialogues_are_told(client: Client, cast: Any) -> None:
    client.force_login(cast.researcher)
    assert "Nothing to audit yet" in client.get(url(cast.study)).content.decode()
    answer = client.post(url(cast.study), {"do": "run"}, follow=True)
    assert "needs 5 dialogues" in answer.content.decode()
    assert not Dialogue.objects.exists()


def test_a_warning_says_which_kind_has_more_and_one_letter_answers_nothing(
    client: Client, study: Study
) -> None:
    page = run(client, study)
    said = {one["key"]: one["words"] for one in page.context["warned"]}
    assert said["en/human_machine/length"] == "longer in human–human dialogues, in 100% of pairs"
    assert said["en/human_machine/length"] in page.content.decode()
    refused = client.post(url(study), {"do": "answer", "for_all": "x"})
    assert refused.status_code == 400
    assert "at least 10 characters" in refused.context["for_all_error"]
    assert not StimulusAudit.objects.get().answers.exists()
