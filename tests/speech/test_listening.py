"""What counts as heard, and the gate: it holds until the end, and lets everybody through in time."""

from __future__ import annotations

from typing import Any

import pytest

from dialogues import listening
from dialogues.models import Verdict
from games.speech.models import Trial
from studies.models import Study
from tests import factories
from tests.clock import Clock
from tests.speech.conftest import Person


@pytest.mark.parametrize(
    ("ranges", "merged"),
    [
        ([[0, 5], [5, 9]], [(0, 9)]),
        ([[4, 6], [0, 5]], [(0, 6)]),
        ([[0, 1], [2, 3]], [(0, 1), (2, 3)]),
        ([[-5, 3], [28, 99]], [(0, 3), (28, 30)]),
        ([[7, 7], [9, 8]], []),
        ([[0, 30], [3, 4]], [(0, 30)]),
    ],
)
def test_union_merges_and_cuts(ranges: list, merged: list) -> None:
    assert listening.union(ranges, 30.0) == merged


def test_growth_is_cut_where_it_would_exceed_the_bound() -> None:
    assert listening.grow([[0, 10]], [(8, 20)], length=30, most=15) == [(0, 15)]
    assert listening.grow([[0, 10]], [(20, 24), (26, 30)], length=30, most=16) == [
        (0, 10),
        (20, 24),
        (26, 28),
    ]
    assert listening.grow([[0, 10]], [(20, 30)], length=30, most=5) == [(0, 10)]


@pytest.mark.django_db
@pytest.mark.both
class TestGate:
    def test_reports_add_up_over_reloads(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        url = f"trial/{trial['code']}/listening/"
        clock.pass_(10)
        assert person.post(url, ranges=[[0, 10]], plays=1).json()["heard"] == pytest.approx(0.333)
        reloaded = person.trial()
        assert (reloaded["heard"], reloaded["ranges"], reloaded["plays"]) == (
            pytest.approx(0.333),
            [[0, 10]],
            1,
        )
        clock.pass_(10)
        person.post(url, ranges=[[10, 20]], plays=1, pauses=1)
        clock.pass_(9.2)
        last = person.post(url, ranges=[[20, 29.2]], plays=1).json()
        assert (last["unlocked"], last["gate"]) == (True, "covered")
        person.answer(trial)
        evidence = Verdict.objects.get().evidence
        assert (evidence["heard"], evidence["pauses"], evidence["replays"]) == (
            pytest.approx(0.9733, abs=1e-3),
            1,
            0,
        )

    def test_scrubbing_to_the_end_does_not_open(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        clock.pass_(12)
        answer = person.post(f"trial/{trial['code']}/listening/", ranges=[[0, 1], [29, 30]], plays=1).json()
        assert (answer["heard"], answer["unlocked"]) == (pytest.approx(0.067, abs=1e-3), False)

    def test_nobody_hears_faster_than_the_clock(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        clock.pass_(4)
        answer = person.post(
            f"trial/{trial['code']}/listening/", ranges=[[0, 30]], plays=1, ended=True
        ).json()
        assert (answer["heard"], answer["unlocked"]) == (pytest.approx(0.3), False)
        clock.pass_(3)
        refused = person.answer(trial, ranges=[[0, 30]], ended=True)
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "not_heard")

    def test_claims_count_for_test_participants_where_the_study_allows_them(
        self, study: Study, clock: Clock
    ) -> None:
        bot = Person(factories.ParticipantFactory(study=study, is_test=True), clock)
        trial = bot.trial()
        claim: dict[str, Any] = {"ranges": [[0, 30]], "plays": 1, "ended": True}
        assert bot.answer(trial, **claim).status_code == 409
        Study.objects.update(test_participants=True)
        assert bot.answer(trial, **claim).status_code == 200
        verdict = Verdict.objects.get()
        assert (verdict.exclusion, verdict.protocol_breaks) == ("test", ["test"])
        assert verdict.evidence["claimed"] is True

    def test_the_wait_opens_the_gate_for_everybody(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        url = f"trial/{trial['code']}/listening/"
        assert person.post(url, playing=True, plays=1).json()["unlock_in"] == 65.0
        clock.pass_(60)
        assert person.post(url, ranges=[[0, 3]]).json() == {
            "heard": 0.1,
            "unlocked": False,
            "gate": "",
            "unlock_in": 5.0,
        }
        clock.pass_(5)
        assert person.answer(trial).status_code == 200
        verdict = Verdict.objects.get()
        assert (verdict.evidence["gate"], verdict.protocol_breaks) == ("timeout", ["not_listened"])

    def test_the_wait_does_not_begin_before_playing(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        clock.pass_(3600)
        assert person.post(f"trial/{trial['code']}/listening/").json()["unlock_in"] is None
        assert person.answer(trial).status_code == 409

    def test_faster_than_the_sound_is_kept_and_flagged(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        Trial.objects.get(code=trial["code"]).exposure.__class__.objects.update(first_byte_at=clock.now)
        person.listen(trial, seconds=20)
        assert person.answer(trial).status_code == 200
        assert Verdict.objects.get().protocol_breaks == ["too_fast"]

    def test_exactly_nine_tenths_is_not_too_fast(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        person.listen(trial, seconds=27)
        person.answer(trial)
        assert Verdict.objects.get().protocol_breaks == []

    def test_a_clip_fetched_ahead_is_not_heard_ahead(self, person: Person, clock: Clock) -> None:
        first = person.trial()
        drawn = Trial.objects.get(state=Trial.State.DRAWN)
        drawn.exposure.first_byte_at = clock.now
        drawn.exposure.save()
        person.listen(first)
        person.answer(first)
        second = person.next(first).json()["trial"]
        person.listen(second, seconds=16)
        person.answer(second)
        assert Verdict.objects.get(speech_trial__code=second["code"]).protocol_breaks == ["too_fast"]

    def test_hidden_seconds_and_counts_never_go_back(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        url = f"trial/{trial['code']}/listening/"
        person.post(url, plays=3, pauses=2, hidden=12.5)
        person.post(url, plays=1, pauses=0, hidden=0)
        row = Trial.objects.get(code=trial["code"])
        assert (row.plays, row.pauses, row.hidden_seconds) == (3, 2, 12.5)

    def test_beacon_sends_a_form_with_the_token_in_the_body(self, person: Person, clock: Clock) -> None:
        trial = person.trial()
        strict = person.client.__class__(enforce_csrf_checks=True)
        strict.cookies = person.client.cookies
        strict.get(person.url("trial/"))
        token = strict.cookies["csrftoken"].value
        clock.pass_(10)
        url = person.url(f"trial/{trial['code']}/listening/")
        body = {"ranges": "[[0, 10]]", "plays": "1", "hidden": "2", "ended": "false"}
        assert strict.post(url, body).status_code == 403
        assert strict.post(url, body | {"csrfmiddlewaretoken": token}).status_code in (200, 302)
        assert Trial.objects.get(code=trial["code"]).ranges == [[0, 10]]

    def test_report_for_a_trial_that_is_over_has_moved_on(self, person: Person) -> None:
        trial = person.trial()
        person.judge()
        late = person.post(f"trial/{trial['code']}/listening/", ranges=[[0, 3]])
        assert (late.status_code, late.json()["error"]["code"]) == (409, "moved_on")


@pytest.mark.parametrize("started", [False, True])
def test_a_clock_set_back_locks_nobody_in(person: Person, clock: Clock, started: bool) -> None:
    trial = person.trial()
    if started:
        person.post(f"trial/{trial['code']}/listening/", plays=1, playing=True)
    clock.pass_(-7200)
    assert person.listen(trial).json()["unlocked"] is True
    assert person.answer(trial).status_code == 200
    assert "not_listened" not in Verdict.objects.get().protocol_breaks
