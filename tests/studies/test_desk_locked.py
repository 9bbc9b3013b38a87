"""Forms of the desk whose fields may not change any more: shown as such, with the reason, kept when saved."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse

from studies import registry
from studies.models import Study
from studies.services import create_study
from tests import factories


def url(name: str) -> str:
    return reverse(f"admin:desk_{name}", args=["mine"])


@pytest.fixture
def study(client: Any, cast: Any) -> Study:
    client.force_login(cast.researcher)
    return create_study(slug="mine", title_en="Mine", user=cast.researcher)


def controls(html: str, name: str) -> list[str]:
    return re.findall(rf'<(?:input|textarea|select)[^>]*name="{name}"[^>]*>', html)


def test_settings_that_people_met_are_disabled_with_the_reason(client: Any, study: Study) -> None:
    fixed = (
        "min_age",
        "profile_at",
        "speech-round_size",
        "speech-mix",
        "speech-reveal",
        "speech-show_system",
    )
    before = client.get(url("settings")).content.decode()
    assert not any("disabled" in one for name in fixed for one in controls(before, name))
    player = factories.SpeechPlayerFactory(participant=factories.ParticipantFactory(study=study))
    factories.RoundFactory(player=player)
    page = client.get(url("settings"))
    html = page.content.decode()
    for name in fixed:
        assert controls(html, name)
        assert all("disabled" in one for one in controls(html, name)), name
    assert not any("disabled" in one for one in controls(html, "host"))
    assert "people have taken part" in html
    assert "people have played" in html
    # As a browser sends it: without the disabled fields.
    sent = {
        form.add_prefix(field.name): field.value()
        for form in [*page.context["forms"], *page.context["ends"]]
        for field in form
        if not (field.field.disabled or field.value() is None or field.value() is False)
    }
    ends = page.context["ends"].management_form
    sent |= {ends.add_prefix(field.name): field.value() for field in ends}
    saved = client.post(url("settings"), {**sent, "host": "A lab"})
    assert saved.status_code == 302
    study.refresh_from_db()
    assert (study.host, study.min_age, study.speech.round_size) == ("A lab", 18, 5)


def test_texts_of_an_open_study_are_to_be_read(client: Any, study: Study) -> None:
    assert 'type="submit" class="btn"' in client.get(url("texts")).content.decode()
    Study.objects.filter(pk=study.pk).update(status="open")
    html = client.get(url("texts")).content.decode()
    assert "Pause the study" in html
    assert all("disabled" in one for one in controls(html, "[a-z]+_(?:en|zh)"))
    assert len(controls(html, "[a-z]+_(?:en|zh)")) == 10
    assert 'type="submit" class="btn"' not in html


def test_every_place_that_texts_may_leave_open_is_listed(client: Any, study: Study) -> None:
    html = client.get(url("texts")).content.decode()
    names = [name for activity in registry.activities for name in activity.place_names]
    assert "round_size" in names
    for name in (*names, "approval", "earned", "host"):
        assert f"{{{name}}}" in re.sub(r"<textarea.*?</textarea>", "", html, flags=re.S)
