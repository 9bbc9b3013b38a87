"""By an invitation: newcomers, players of the study, people with an account; places, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotator, Invitation, Layer
from annotation.services.invitations import close_invitation, make_invitation
from annotation.services.joining import join
from dialogues.models import Exposure
from studies.models import Consent, Participant, Study
from tests import factories
from tests.annotation.walking import Walker
from tests.factories import NOW
from tests.studies.conftest import Visitor
from tests.studies.test_at_once import at_once
from turingsite.errors import Conflict, DomainError

pytestmark = [pytest.mark.both, pytest.mark.django_db]


@pytest.fixture
def study(db: None) -> Study:
    made: Study = factories.speech_study("invited", systems=1)
    factories.AnnotationSettingsFactory(study=made)
    factories.ConsentTextFactory(study=made)
    return made


def link(invitation: Invitation) -> str:
    return reverse("annotation:join", args=[invitation.study.slug, invitation.code])


def come(visitor: Any, invitation: Invitation, query: str = "") -> Any:
    """From the link of the invitation to consent."""
    answer = visitor.client.get(link(invitation) + query)
    assert answer.url == reverse("studies:welcome", args=[visitor.slug]) + query
    assert visitor.client.get(answer.url).status_code == 200
    return visitor.agree(query)


def test_a_newcomer_becomes_an_annotator_with_their_consent(study: Study) -> None:
    invitation = make_invitation(study=study, layer=Layer.BLIND_EXPERT)
    visitor: Any = Visitor(study.slug)
    assert come(visitor, invitation, "?src=letter").url == visitor.url("go/")
    person = Participant.objects.get()
    assert (person.activities, person.source) == (["annotation"], "letter")
    annotator = person.annotator
    assert (annotator.invitation, annotator.layer) == (invitation, Layer.BLIND_EXPERT)
    assert annotator.state == Annotator.State.READING
    assert visitor.get("go/").url == reverse("annotation:play", args=[study.slug])
    assert visitor.get("annotation/guidelines/").status_code == 200


def test_nothing_is_stored_before_consent(study: Study) -> None:
    invitation = make_invitation(study=study)
    visitor: Any = Visitor(study.slug)
    visitor.client.get(link(invitation))
    visitor.post("age/", {"adult": "yes"})
    assert not Participant.objects.exists()
    assert not Annotator.objects.exists()
    cookie = visitor.client.cookies[f"w-{study.slug}"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_without_the_link_people_play_and_do_not_annotate(study: Study) -> None:
    visitor: Any = Visitor(study.slug)
    visitor.agree()
    assert Participant.objects.get().activities == []
    assert visitor.get("annotation/guidelines/").status_code == 404
    assert not Annotator.objects.exists()


def test_the_word_brought_along_is_used_once(study: Study) -> None:
    visitor: Any = Visitor(study.slug)
    come(visitor, make_invitation(study=study))
    assert visitor.client.cookies[f"w-{study.slug}"].value == ""


def test_a_word_that_was_tampered_with_or_of_another_study_counts_for_nothing(study: Study) -> None:
    other = factories.StudyFactory(slug="other")
    factories.AnnotationSettingsFactory(study=other)
    factories.ConsentTextFactory(study=other)
    theirs = make_invitation(study=other)
    visitor: Any = Visitor(study.slug)
    visitor.client.get(link(theirs))
    brought = visitor.client.cookies["w-other"].value
    for value in (brought, f"{brought}x", "x"):
        visitor.client.cookies[f"w-{study.slug}"] = value
        Visitor.agree(visitor)
        assert Participant.objects.latest("pk").activities == []
        visitor.client.cookies.clear()


def test_who_does_not_consent_is_no_annotator_and_keeps_no_word(study: Study) -> None:
    visitor: Any = Visitor(study.slug)
    visitor.client.get(link(make_invitation(study=study)))
    visitor.post("age/", {"adult": "yes"})
    visitor.post("consent/", {"refuse": "1"})
    assert visitor.client.cookies[f"w-{study.slug}"].value == ""
    assert not Participant.objects.exists()


def test_an_invitation_stands_in_for_a_panels_id(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(recruiter_required=True, recruiter_params=["PID"])
    visitor: Any = Visitor(study.slug)
    assert visitor.get().status_code == 403
    come(visitor, make_invitation(study=study))
    assert Participant.objects.get().recruiter_key == ""


@pytest.mark.parametrize("code", ["nothing", "x" * 60])
def test_an_unknown_code_and_that_of_another_study_are_not_found(study: Study, code: str) -> None:
    assert Client().get(f"/s/{study.slug}/annotation/join/{code}/").status_code == 404
    other = factories.StudyFactory(slug="other")
    factories.AnnotationSettingsFactory(study=other)
    theirs = make_invitation(study=other)
    assert Client().get(f"/s/{study.slug}/annotation/join/{theirs.code}/").status_code == 404


def test_a_closed_invitation_says_so_and_takes_nobody(study: Study) -> None:
    invitation = make_invitation(study=study)
    visitor: Any = Visitor(study.slug)
    visitor.client.get(link(invitation))
    visitor.post("age/", {"adult": "yes"})
    close_invitation(study=study, code=invitation.code, now=NOW)
    answer = visitor.agree()
    assert answer.status_code == 409
    assert "This invitation is closed" in answer.content.decode()
    assert not Participant.objects.exists()
    assert not Consent.objects.exists()
    again = visitor.client.get(link(invitation))
    assert again.status_code == 410
    assert "This invitation is closed" in again.content.decode()
    visitor.agree()  # without the word they come as anybody
    assert Participant.objects.get().activities == []


def test_places_are_counted(study: Study) -> None:
    invitation = make_invitation(study=study, places=2)
    for _ in range(2):
        come(Visitor(study.slug), invitation)
    answer = Client().get(link(invitation))
    assert answer.status_code == 410
    assert "All places are taken" in answer.content.decode()
    assert invitation.annotators.count() == 2


def test_a_place_taken_while_somebody_reads_the_consent_stores_nothing_of_them(study: Study) -> None:
    invitation = make_invitation(study=study, places=1)
    slow = Visitor(study.slug)
    slow.client.get(link(invitation))
    slow.post("age/", {"adult": "yes"})
    come(Visitor(study.slug), invitation)
    answer = slow.agree()
    assert answer.status_code == 409
    assert "Nothing about you was stored" in answer.content.decode()
    assert Participant.objects.count() == Consent.objects.count() == 1


def test_a_double_click_on_the_last_place_is_one_person(study: Study) -> None:
    invitation = make_invitation(study=study, places=1)
    visitor: Any = Visitor(study.slug)
    come(visitor, invitation)
    visitor.client.cookies.pop(f"p-{study.slug}")
    visitor.client.get(link(invitation))  # the word is back, as in a second tab
    version = study.consent_texts.get().version
    answer = visitor.post("consent/", {"part": "on", "version": version})
    assert Participant.objects.count() == 1
    assert answer.status_code == 302


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_as_many_get_in_as_there_are_places() -> None:
    study = factories.StudyFactory(slug="many")
    factories.AnnotationSettingsFactory(study=study)
    invitation = make_invitation(study=study, places=3)
    people = [factories.ParticipantFactory(study=study) for _ in range(8)]
    results = at_once(
        *(lambda one=one: join(participant=one, code=invitation.code, now=NOW) for one in people)
    )
    refused = [result for result in results if isinstance(result, DomainError)]
    assert len(refused) == 5
    assert {error.code for error in refused} == {"full"}
    assert invitation.annotators.count() == 3
    assert sum(one.activities == ["annotation"] for one in study.participants.all()) == 3


# People who are there already


def player(study: Study) -> Walker:
    return Walker(factories.ParticipantFactory(study=study, state=Participant.State.ACTIVE))


def test_a_player_is_asked_and_keeps_what_they_heard(study: Study) -> None:
    invitation = make_invitation(study=study)
    walker = player(study)
    heard = factories.ExposureFactory(
        rater=walker.participant.rater, dialogue=study.items.all()[0].dialogue
    ).dialogue
    page = walker.client.get(link(invitation))
    assert page.status_code == 200
    assert "You take part in this study already" in page.content.decode()
    assert not Annotator.objects.exists()  # looking is not accepting
    answer = walker.client.post(link(invitation))
    assert answer.url == reverse("studies:go", args=[study.slug])
    person = Participant.objects.get()
    assert person.activities == ["annotation"]
    assert walker.client.get(answer.url).url == reverse("annotation:play", args=[study.slug])
    walker.read_guidelines()
    for _ in range(2):
        walker.get("")
    given = Exposure.objects.filter(rater=person.rater)
    assert given.filter(dialogue=heard).count() == 1
    assert given.get(dialogue=heard).annotation_items.count() == 0
    assert given.exclude(dialogue=heard).exists()


def test_an_annotator_who_comes_again_goes_on_in_their_arm(study: Study) -> None:
    first, second = make_invitation(study=study), make_invitation(study=study, layer=Layer.BLIND_EXPERT)
    walker = player(study)
    walker.client.post(link(first))
    close_invitation(study=study, code=first.code, now=NOW)
    for invitation in (first, second):
        assert walker.client.get(link(invitation)).url == reverse("studies:go", args=[study.slug])
        walker.client.post(link(invitation))
    assert Annotator.objects.get().layer == Layer.RAW
    assert Annotator.objects.get().invitation == first


def test_a_player_is_refused_a_full_invitation_and_goes_on_playing(study: Study) -> None:
    invitation = make_invitation(study=study, places=1)
    player(study).client.post(link(invitation))
    late = player(study)
    assert late.client.post(link(invitation)).status_code == 410
    late.participant.refresh_from_db()
    assert late.participant.activities == []
    with pytest.raises(Conflict):
        join(participant=late.participant, code=invitation.code, now=NOW)


def test_people_who_finished_or_left_are_not_taken_back(study: Study) -> None:
    invitation = make_invitation(study=study)
    for fields in ({"end_state": "done", "state": "completed"}, {"withdrawn_at": NOW, "state": "withdrawn"}):
        walker = Walker(factories.ParticipantFactory(study=study, **fields))
        assert walker.client.post(link(invitation)).url == reverse("studies:go", args=[study.slug])
    assert not Annotator.objects.exists()


def test_where_all_annotate_no_invitation_is_needed(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(activities=["annotation"])
    visitor: Any = Visitor(study.slug)
    visitor.agree()
    assert visitor.get("annotation/guidelines/").status_code == 200
    annotator = Annotator.objects.get()
    assert (annotator.invitation, annotator.layer) == (None, Layer.RAW)


# With an account


def test_an_account_is_remembered_and_leads_back_from_another_browser(study: Study) -> None:
    user = factories.UserFactory()
    invitation = make_invitation(study=study)
    visitor: Any = Visitor(study.slug)
    visitor.client.force_login(user)
    come(visitor, invitation)
    person = Participant.objects.get()
    assert person.user == user
    elsewhere: Any = Client()
    elsewhere.force_login(user)
    assert elsewhere.get(link(invitation)).url == reverse("studies:go", args=[study.slug])
    assert elsewhere.get(f"/s/{study.slug}/annotation/guidelines/").status_code == 200
    assert Participant.objects.count() == 1


def test_who_joined_without_an_account_links_one_by_opening_the_link_again(study: Study) -> None:
    invitation = make_invitation(study=study)
    walker = player(study)
    walker.client.post(link(invitation))
    user = factories.UserFactory()
    walker.client.force_login(user)
    walker.client.get(link(invitation))
    assert Participant.objects.get().user == user


def test_an_account_has_one_participation_in_a_study_and_a_participation_one_account(study: Study) -> None:
    invitation = make_invitation(study=study)
    first, second = factories.UserFactory(), factories.UserFactory()
    one, two = player(study), player(study)
    for walker, user in ((one, first), (one, second), (two, first)):
        join(participant=walker.participant, code=invitation.code, user=user, now=NOW)
    owners = dict(Participant.objects.values_list("pk", "user"))
    assert owners == {one.participant.pk: first.pk, two.participant.pk: None}
