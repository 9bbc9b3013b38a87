"""What a study's page says once it has ended: exports that are out of date, and no word of coming in."""

from __future__ import annotations

import pytest
from django.urls import reverse

from studies.models import Study
from studies.services import withdraw

TOLD = "Somebody had their answers erased after the last export."


@pytest.mark.django_db
def test_the_desk_says_when_the_last_export_is_out_of_date(client, cast, settings, tmp_path):
    settings.EXPORT_ROOT = tmp_path / "exports"
    client.force_login(cast.researcher)
    slug = cast.study.slug
    page = reverse("admin:desk_study", args=[slug])

    def told() -> bool:
        return TOLD in client.get(page).content.decode()

    def export() -> None:
        client.post(reverse("admin:desk_export", args=[slug]), {"tier": "controlled", "look": "yes"})

    assert not told()
    export()
    assert not told()
    withdraw(participant=cast.participant, erase_answers=True)
    assert told()
    assert "1, in no number above" in " ".join(client.get(page).content.decode().split())
    export()
    assert not told()


@pytest.mark.django_db
def test_a_closed_study_speaks_of_nobody_coming_in(client, cast):
    client.force_login(cast.researcher)
    page = reverse("admin:desk_study", args=[cast.study.slug])
    assert "People come in at" in client.get(page).content.decode()
    Study.objects.filter(pk=cast.study.pk).update(status=Study.Status.CLOSED)
    text = client.get(page).content.decode()
    assert "People come in at" not in text
    assert "Nothing stands against opening" not in text
