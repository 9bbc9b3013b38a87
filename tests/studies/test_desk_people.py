"""Participants on the desk: filters, finding somebody by code, one person's page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse

from studies.models import Participant
from tests import factories
from tests.speech.conftest import Person


def people(client, study, **asked: str):
    return client.get(reverse("admin:desk_participants", args=[study.slug]), asked)


def page_of(client, person: Participant):
    return client.get(reverse("admin:desk_participant", args=[person.study.slug, person.code]))


def test_people_are_filtered_by_state_end_and_source(client, cast):
    Participant.objects.filter(study=cast.study).delete()
    states: dict[str, dict[str, Any]] = {
        "done": {"state": "completed", "end_state": "done", "source": "club"},
        "left": {"state": "withdrawn", "end_state": "withdrew", "withdrawn_at": factories.NOW},
        "here": {"state": "active", "source": "club"},
    }
    made = {name: factories.ParticipantFactory(study=cast.study, **fields) for name, fields in states.items()}
    client.force_login(cast.researcher)

    def shown(**asked: str) -> set[str]:
        codes = {row["person"].code for row in people(client, cast.study, **asked).context["rows"]}
        return {name for name, one in made.items() if one.code in codes}

    assert shown() == {"done", "left", "here"}
    assert shown(state="active") == {"here"}
    assert shown(end="withdrew") == {"left"}
    assert shown(end="running") == {"here"}
    assert shown(source="club") == {"done", "here"}
    assert shown(source="-") == {"left"}
    assert shown(source="club", end="done") == {"done"}
    assert shown(state="x", end="\0", source="'--") == {"done", "left", "here"}


def test_somebody_is_found_by_their_participant_code_alone(client, cast):
    person = cast.participant
    client.force_login(cast.researcher)
    typed = f" {person.code[:4].lower()} {person.code[4:]} "
    answer = people(client, cast.study, code=typed)
    assert answer.url == reverse("admin:desk_participant", args=[cast.study.slug, person.code])
    for secret in (person.resume_code, person.receipt_code):
        answer = people(client, cast.study, code=secret)
        assert answer.status_code == 200
        assert answer.context["secret"]
        assert "This is no participant code." in answer.content.decode()
    elsewhere = factories.ParticipantFactory()
    assert (
        "Nobody in this study has this code."
        in people(client, cast.study, code=elsewhere.code).content.decode()
    )


@pytest.mark.parametrize(
    ("who", "status"), [("researcher", 200), ("colleague", 200), ("reviewer", 404), ("stranger", 404)]
)
def test_a_persons_page_opens_to_the_studys_people_only(client, cast, who, status):
    client.force_login(getattr(cast, who))
    assert page_of(client, cast.participant).status_code == status


def test_nobody_is_found_in_another_study_or_after_erasure(client, cast):
    erased = factories.ParticipantFactory(
        study=cast.study, erased_at=factories.NOW, withdrawn_at=factories.NOW
    )
    other = factories.ParticipantFactory()
    client.force_login(cast.researcher)
    address = reverse("admin:desk_participant", args=[cast.study.slug, other.code])
    assert client.get(address).status_code == 404
    assert page_of(client, erased).status_code == 404
    assert page_of(client, cast.participant).status_code == 200


def test_a_persons_page_tells_what_happened_and_no_outcome(client, db):
    study = factories.speech_study()
    factories.CompletionFactory(study=study, end_state="done", code="DONE-7", pay_en="£3")
    researcher = factories.UserFactory(is_staff=True)
    factories.StudyMemberFactory(study=study, user=researcher, role="researcher")
    person = factories.ParticipantFactory(study=study, nickname="Tide", recruiter={"PROLIFIC_PID": "abc"})
    player = Person(person)
    first = player.trial()
    player.post(f"trial/{first['code']}/failed/", why="network")
    for _ in range(5):
        trial = player.trial()
        round_ = person.speech.rounds.get()
        round_.trials.filter(code=trial["code"]).update(
            gate="timeout", unlocked_at=factories.NOW, served_at=factories.NOW - timedelta(minutes=5)
        )
        assert player.answer(trial, "machine").status_code == 200
        player.next(trial)
    player.get("round/1/")
    player.client.post(f"/s/{study.slug}/leave/", {"choice": "stop"})

    client.force_login(researcher)
    page = page_of(client, person)
    what = [(one.what, one.more) for one in page.context["moments"]]
    for expected in ("Opened the study", "Agreed to take part", "Began round 1", "Finished round 1", "Ended"):
        assert expected in [first for first, _more in what]
    assert ("The sound failed", "round 1, place 1: network") in what
    assert ("Finished round 1", "5 answers") in what
    assert [one.at for one in page.context["moments"]] == sorted(one.at for one in page.context["moments"])
    text = page.content.decode()
    assert "DONE-7" in text
    secrets = ("Tide", "abc", person.resume_code, person.receipt_code)
    for hidden in (*secrets, "correct", "points", "Human", "Machine"):
        assert hidden not in text


def test_people_read_the_code_to_name_in_a_mail(db):
    person = factories.ParticipantFactory(study=factories.speech_study())
    person.study.contact = "lab@example.org"
    person.study.save()
    player = Person(person)
    assert person.code in player.client.get(f"/s/{player.slug}/leave/").content.decode()
    ended = player.client.post(f"/s/{player.slug}/leave/", {"choice": "stop"}, follow=True)
    assert person.code in ended.content.decode()
