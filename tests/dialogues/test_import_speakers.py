"""What the check says of speakers who come with the file itself is what importing it does."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dialogues import audits
from dialogues.importing import services
from dialogues.importing.manifest import read_manifest
from dialogues.models import Dialogue, Recording, Speaker, Verdict
from games.speech.assignment import pool
from studies.models import AuditLine
from studies.registry import datasets
from tests import factories
from tests.dialogues.test_import import as_manifest, write

HUMAN = {"kind": "human_human", "language": "en"}
PSEUDO = {"kind": "pseudo_human", "language": "en", "system": "Spark-TTS"}


@pytest.fixture
def audio(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path / "media"
    for number in range(1, 5):
        write(tmp_path / f"{number}.wav", seed=number)
    return tmp_path


def outcomes(rows, folder):
    """State and codes of each row: as checked, and as imported."""
    manifest = read_manifest(
        as_manifest([{"id": f"d{n}", "audio": f"{n}.wav", **row} for n, row in enumerate(rows, 1)]), "m.jsonl"
    )
    batch = services.create_batch(name="m.jsonl", manifest=manifest, preview=True)
    services.check_batch(batch_id=batch.pk, folders=[folder])
    checked = told(batch)
    services.confirm_batch(batch=batch)
    services.run_batch(batch_id=batch.pk, folders=[folder])
    return checked, told(batch)


def told(batch):
    return [(row.state, {m["code"] for m in row.messages}) for row in batch.rows.order_by("line")]


@pytest.mark.django_db
def test_the_check_foresees_who_comes_with_an_earlier_row(audio):
    checked, imported = outcomes(
        [
            {**HUMAN, "speaker_a": "p1", "speaker_consent": "recorded played"},
            {**PSEUDO, "speaker_b": "p1", "speaker_consent": "recorded played cloned"},
            {**HUMAN, "speaker_a": "p2", "speaker_consent": "recorded"},
            {**HUMAN, "speaker_b": "p2", "speaker_consent": "recorded played"},
        ],
        audio,
    )
    assert checked == imported
    assert [state for state, _ in checked] == ["warned", "refused", "warned", "warned"]
    assert checked[1][1] == {"speaker_not_cloned"}
    assert "speaker_not_played" in checked[2][1] & checked[3][1]


@pytest.mark.django_db
def test_a_voice_is_not_cloned_without_consent_in_its_own_row(audio):
    checked, imported = outcomes([{**PSEUDO, "speaker_b": "p1", "speaker_consent": "recorded played"}], audio)
    assert checked == imported == [("refused", {"speaker_not_cloned"})]
    assert not Speaker.objects.exists()


@pytest.mark.django_db
def test_a_refused_row_brings_nobody(audio):
    checked, imported = outcomes(
        [
            {**HUMAN, "audio": "nowhere.wav", "speaker_a": "p1", "speaker_consent": "recorded"},
            {**PSEUDO, "speaker_b": "p1", "speaker_consent": "recorded played cloned"},
        ],
        audio,
    )
    assert checked == imported
    assert [state for state, _ in checked] == ["refused", "warned"]
    assert Speaker.objects.get().may_clone


@pytest.mark.django_db
def test_a_later_row_cannot_add_consent_and_says_so(audio):
    checked, imported = outcomes(
        [
            {**HUMAN, "speaker_a": "p1", "speaker_consent": "recorded"},
            {**HUMAN, "speaker_a": "p1", "speaker_consent": "recorded played published"},
        ],
        audio,
    )
    assert checked == imported
    assert "consent_kept" in imported[1][1]
    speaker = Speaker.objects.get(code="p1")
    assert (speaker.may_play, speaker.may_publish) == (False, False)
    assert not Dialogue.objects.playable().exists()


@pytest.mark.django_db
def test_a_later_row_about_the_same_sound_takes_rights_away_and_never_adds_any(audio):
    first = {**HUMAN, "audio": "1.wav", "may_redistribute": "yes"}
    outcomes([{**first, "id": "a"}], audio)
    outcomes([{**first, "id": "b", "may_redistribute": "", "may_play": "yes"}], audio)
    recording = Recording.objects.get()
    assert (recording.may_play, recording.may_redistribute) == (True, True)
    outcomes([{**first, "id": "c", "may_play": "no"}], audio)
    outcomes([{**first, "id": "d", "may_play": "yes", "may_derive": "yes"}], audio)
    recording.refresh_from_db()
    assert (recording.may_play, recording.may_redistribute, recording.may_derive) == (False, True, True)
    assert not Dialogue.objects.playable().exists()


@pytest.mark.django_db
def test_verdicts_on_a_withdrawn_voice_are_kept_and_in_no_analysis(client):
    study = factories.StudyFactory()
    person, second = factories.SpeakerFactory(code="p9"), factories.SpeakerFactory(code="p8")
    own = factories.add_dialogue(study, kind="human_human", speaker_a=person)
    both = factories.add_dialogue(study, kind="human_human", speaker_a=person)
    both.parties.filter(label="B").update(speaker=second)
    other = factories.add_dialogue(study, kind="human_human")
    for dialogue in (own, both, other):
        factories.VerdictFactory(study=study, dialogue=dialogue)
    factories.VerdictFactory(study=study, dialogue=own, exclusion="known")
    client.force_login(factories.UserFactory(is_staff=True, is_superuser=True))

    def store(speaker, moment):
        address = reverse("admin:dialogues_speaker_change", args=[speaker.pk])
        form = client.get(address).context["adminform"].form
        values = {name: form[name].value() for name in form.fields if name != "withdrawn_at"}
        data = {name: value for name, value in values.items() if value not in (None, False)}
        assert client.post(address, {**data, "withdrawn_at": moment}).status_code == 302

    def reasons():
        rows = Verdict.objects.order_by("pk").values_list("dialogue", "exclusion")
        return [(pk, reason) for pk, reason in rows]

    store(person, "2026-01-02T10:00")
    left_out = [(own.pk, "recording"), (both.pk, "recording"), (other.pk, ""), (own.pk, "known")]
    assert reasons() == left_out
    assert AuditLine.objects.get(action="speaker.withdrew").detail["verdicts"] == 2
    store(second, "2026-01-03T10:00")
    assert reasons() == left_out
    store(person, "")  # by mistake; the second is still gone
    assert reasons() == [(own.pk, ""), (both.pk, "recording"), (other.pk, ""), (own.pk, "known")]


@pytest.mark.django_db
@pytest.mark.parametrize("change", [{"withdrawn_at": factories.NOW}, {"may_play": False}])
def test_a_speaker_who_withdraws_takes_recordings_and_clones_out_of_play(change):
    study = factories.StudyFactory()
    person = factories.SpeakerFactory(code="p9")
    own = factories.add_dialogue(study, kind="human_human", speaker_a=person)
    clone = factories.add_dialogue(study, kind="pseudo_human")
    clone.parties.filter(label="B").update(speaker=person)
    other = factories.add_dialogue(study, kind="human_human")
    Speaker.objects.filter(pk=person.pk).update(**change)
    assert [one.dialogue for one in pool(study, "en")] == [other.pk]
    assert list(audits.in_play(study)) == [other]
    if "withdrawn_at" in change:
        rows = list(datasets.get("parties").rows(study))
        assert {row["dialogue"] for row in rows} == {own.code, clone.code, other.code}
        assert "p9" not in {row["speaker"] for row in rows}
