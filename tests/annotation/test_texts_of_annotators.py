"""Texts of the annotation in a study whose own are the listening game's: who reads which, and what of pay."""

from __future__ import annotations

from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import AnnotationSettings
from annotation.selectors_desk import problems_of
from annotation.services.invitations import make_invitation
from annotation.services.settings import change_annotation_settings, prepare
from studies import datasets, files, selectors
from studies.models import Consent, ConsentText, EndState, Participant, Study
from studies.services import create_study, publish_consent_text
from studies.services.opening import settle_texts
from tests import factories
from tests.annotation.walking import Walker
from tests.studies.conftest import Visitor
from turingsite.errors import Conflict

pytestmark = [pytest.mark.both, pytest.mark.django_db]
GAME = "human or"
HIDDEN = "came to you twice"


@pytest.fixture
def study(db: None) -> Study:
    made: Study = factories.speech_study("invited", systems=1)
    publish_consent_text(
        study=made, body=create_study(slug="t", title_en="T", user=None).consent_texts.get().body
    )
    prepare(made)
    made.refresh_from_db()
    return made


def invited(study: Study) -> Any:
    visitor: Any = Visitor(study.slug)
    code = make_invitation(study=study).code
    visitor.client.get(reverse("annotation:join", args=[study.slug, code]))
    return visitor


def words(answer: Any) -> str:
    return unescape(answer.content.decode())


def agree(visitor: Any, study: Study, activity: str) -> Any:
    visitor.post("age/", {"adult": "yes"})
    text = selectors.current_consent_text(study, activity)
    assert text is not None
    return visitor.post("consent/", {"part": "on", "activity": text.activity, "version": text.version})


def test_who_is_invited_reads_the_annotations_texts_on_every_page(study: Study) -> None:
    visitor = invited(study)
    assert "score how human the second speaker sounds" in words(visitor.get())
    visitor.post("age/", {"adult": "yes"})
    page = words(visitor.get("consent/"))
    assert "how long you worked" in page
    assert "minutes a round" not in page
    assert "how long you worked" in words(visitor.get("consent/copy/"))
    agree(visitor, study, "annotation")
    given = Consent.objects.get()
    assert (given.text.activity, given.sha256) == ("annotation", given.text.sha256)
    Participant.objects.update(end_state=EndState.DONE, state="completed")
    assert HIDDEN in words(visitor.get("debrief/"))


def test_who_comes_by_the_studys_own_link_reads_the_games(study: Study) -> None:
    visitor: Any = Visitor(study.slug)
    assert "score how human" not in words(visitor.get())
    visitor.post("age/", {"adult": "yes"})
    assert "how long you worked" not in words(visitor.get("consent/"))
    agree(visitor, study, "")
    assert Consent.objects.get().text.activity == ""
    Participant.objects.update(end_state=EndState.DONE, state="completed")
    assert HIDDEN not in words(visitor.get("debrief/"))


def test_the_other_text_of_the_same_version_is_not_what_was_read(study: Study) -> None:
    visitor = invited(study)
    answer = agree(visitor, study, "")
    assert answer.status_code == 400
    assert "The text has changed while you read it" in words(answer)
    assert not Participant.objects.exists()


def test_an_older_version_of_the_annotations_text_is_refused_a_new_general_one_is_not(study: Study) -> None:
    from studies import services

    old = selectors.current_consent_text(study, "annotation")
    assert old is not None
    publish_consent_text(study=study, body=old.body)
    fields: Any = {"study": study, "language": "en", "publish_text": False, "contact_again": False}
    services.consent(text=old, key="a" * 12, activity="annotation", **fields)
    publish_consent_text(study=study, body=old.body, activity="annotation")
    with pytest.raises(Conflict) as refused:
        services.consent(text=old, key="b" * 12, activity="annotation", **fields)
    assert refused.value.code == "new_text"


def test_without_texts_of_its_own_the_general_one_is_read_and_the_desk_warns(
    study: Study, client: Client
) -> None:
    settings = AnnotationSettings.objects.get(study=study)
    settings.study = study
    assert not any("not about annotating" in one for one in problems_of(settings))
    study.consent_texts.exclude(activity="").delete()
    assert any("not about annotating" in one for one in problems_of(settings))
    assert "score how human" not in words(invited(study).get())


def test_a_player_who_went_over_is_told_of_both(study: Study) -> None:
    person = factories.ParticipantFactory(study=study, state=Participant.State.ACTIVE)
    factories.ConsentFactory(participant=person, text=selectors.current_consent_text(study))
    walker = Walker(person)
    link = reverse("annotation:join", args=[study.slug, make_invitation(study=study).code])
    assert "how long you worked" in words(walker.client.get(link))
    walker.client.post(link)
    Participant.objects.update(end_state=EndState.DONE, state="completed")
    page = words(walker.client.get(f"/s/{study.slug}/debrief/"))
    assert HIDDEN in page
    game = selectors.current_consent_text(study)
    assert game is not None
    assert game.body["en"]["debrief"][0][1].split(".")[0] in page


# Pay


def shown(study: Study) -> str:
    visitor = invited(study)
    visitor.post("age/", {"adult": "yes"})
    return words(visitor.get("consent/"))


def test_consent_names_rate_and_currency_and_says_unpaid_without(study: Study) -> None:
    assert "This study is not paid." in shown(study)
    Study.objects.filter(pk=study.pk).update(currency="GBP")
    study.refresh_from_db()
    change_annotation_settings(study=study, rate_per_hour=Decimal(12))
    page = shown(study)
    assert "GBP\u00a012.00 for an hour of work." in page
    assert "not paid" not in page


def test_a_new_rate_in_a_running_study_is_a_new_version(study: Study) -> None:
    before = selectors.current_consent_text(study, "annotation")
    change_annotation_settings(study=study, rate_per_hour=Decimal(9))
    after = selectors.current_consent_text(study, "annotation")
    assert before is not None
    assert after is not None
    assert after.version == before.version + 1
    assert "9.00" in str(after.body["zh"]["summary"])


def test_guidelines_speak_of_pay_only_where_there_is_a_rate(study: Study) -> None:
    visitor = invited(study)
    agree(visitor, study, "annotation")
    assert "<h2>Pay" not in words(visitor.get("annotation/guidelines/"))
    assert "{rate}" not in words(visitor.get("annotation/guidelines/"))
    Study.objects.filter(pk=study.pk).update(currency="GBP")
    change_annotation_settings(study=study, rate_per_hour=Decimal(12))
    assert "pays GBP\u00a012.00 for an hour" in words(visitor.get("annotation/guidelines/"))


def test_the_desk_warns_of_a_rate_without_currency_and_of_a_text_that_hides_it(study: Study) -> None:
    settings = AnnotationSettings.objects.get(study=study)
    settings.study, settings.rate_per_hour = study, Decimal(12)
    assert any("no currency" in one for one in problems_of(settings))
    study.currency = "GBP"
    assert not any("no currency" in one or "does not name" in one for one in problems_of(settings))
    text = selectors.source_of(study)
    assert text is not None
    publish_consent_text(study=study, body=text.body, activity="annotation")
    assert any("does not name the pay per hour" in one for one in problems_of(settings))


# The desk, files, exports


def test_the_desk_edits_both_texts(study: Study, client: Client) -> None:
    Study.objects.filter(pk=study.pk).update(status="paused")
    member = factories.StudyMemberFactory(study=study)
    client.force_login(member.user)
    address = reverse("admin:desk_texts", args=[study.slug])
    page = client.get(f"{address}?for=annotation")
    assert 'aria-current="page">Annotation' in words(page)
    form = page.context["forms"][0]
    data = {field.html_name: field.value() or "" for field in form} | {"tagline_en": "Score with us."}
    general = selectors.source_of(study)
    assert client.post(f"{address}?for=annotation", data).status_code == 302
    stored = selectors.current_consent_text(study, "annotation")
    assert stored is not None
    assert stored.body["en"]["tagline"] == "Score with us."
    assert selectors.source_of(study) == general
    assert client.get(f"{address}?for=speech").status_code == 404


def test_setting_up_on_the_desk_stores_the_text_once(client: Client) -> None:
    study = factories.speech_study("plain", systems=1)
    member = factories.StudyMemberFactory(study=study)
    client.force_login(member.user)
    for _ in range(2):
        client.post(reverse("admin:desk_annotation", args=[study.slug]))
    settled = study.consent_texts.filter(activity="annotation").order_by("version")
    assert [text.body.get("of") for text in settled] == [None, 1]  # the study is open: filled in at once
    assert "{host}" not in str(settled[1].body)


def test_where_everybody_annotates_there_is_one_text() -> None:
    study = factories.StudyFactory(slug="all", activities=["annotation"])
    prepare(study)
    assert not ConsentText.objects.filter(study=study).exists()


def test_a_study_file_carries_both(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(status="paused")
    study.refresh_from_db()
    values = files.describe(study)
    assert list(values["consent_for"]) == ["annotation"]
    assert "{rate}" in str(values["consent_for"])
    checked = files.check(files.as_yaml(values).encode())
    assert checked.values == values, checked.problems
    again = files.compare(study, values)
    assert {one.state for one in again if one.key.startswith("consent")} == {"unchanged"}


def test_the_export_says_which_text_was_agreed_to(study: Study) -> None:
    visitor = invited(study)
    agree(visitor, study, "annotation")
    row = datasets.CONSENTS.query(study).get()
    assert (row.text.activity, row.text.version) == ("annotation", 2)
    assert "text_activity" in [column.name for column in datasets.CONSENTS.columns]


def test_opening_fills_in_both(study: Study) -> None:
    study.host = "Somebody"
    study.save()
    settle_texts(study)
    for activity in ("", "annotation"):
        text = selectors.current_consent_text(study, activity)
        assert text is not None
        assert "Somebody" in str(text.body)
