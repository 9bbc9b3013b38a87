"""Where an annotator is: batches taken up, left alone, returned, taken back; what is skipped; who waits."""

from __future__ import annotations

import pytest

from annotation.models import AnnotationSettings, Annotator, Batch, BatchItem, Score, WorkSession
from annotation.services import leases, pausing
from annotation.tasks import sweep_leases
from dialogues.models import Speaker, Verdict
from studies import registry, selectors
from studies import services as studies
from studies.models import EndState, Participant, Study
from studies.texts import UNPAID
from tests import factories
from tests.annotation.annotating import Rater, keys, work_study
from tests.clock import Clock

pytestmark = pytest.mark.django_db

HOUR = 3600


def states(batch: int = 1) -> list[str]:
    rows = BatchItem.objects.filter(batch__number=batch).order_by("batch", "position")
    return list(rows.values_list("state", flat=True))


# -- going on


def test_a_reload_and_another_visit_land_on_the_same_item(rater: Rater) -> None:
    first = rater.item()
    assert rater.item()["code"] == first["code"]
    assert rater.get("").url == rater.url("batch/")
    assert Batch.objects.count() == 1
    assert BatchItem.objects.exclude(opened_at=None).count() == 1, "only what was shown is open to the page"


def test_the_taxonomy_is_frozen_with_the_first_batch(rater: Rater) -> None:
    taxonomy = AnnotationSettings.objects.get().taxonomy
    assert taxonomy.frozen_at is None
    rater.item()
    taxonomy.refresh_from_db()
    assert taxonomy.frozen_at == rater.now


def test_the_summary_is_shown_once_and_then_comes_the_next_batch(rater: Rater) -> None:
    assert rater.batch() == {"goto": rater.url("batch/1/")}
    assert rater.get("").url == rater.url("batch/1/")
    page = rater.get("batch/1/")
    assert page.status_code == 200
    assert page.context["batch"]["finished"] == 5
    assert page.context["more"]
    assert rater.item()["batch"] == 2


def test_the_last_batch_is_smaller_and_then_nothing_is_left(rater: Rater) -> None:
    sizes = []
    for number in (1, 2, 3):
        sizes.append(rater.item()["of"])
        rater.batch()
        rater.get(f"batch/{number}/")
    assert sizes == [5, 5, 2]
    assert rater.state() == {"goto": rater.url("break/")}
    page = rater.get("break/")
    assert page.context["reason"] == "nothing"
    assert not page.context["in_batch"]
    dialogue = factories.add_dialogue(rater.participant.study)
    assert rater.item()["of"] == 1
    assert BatchItem.objects.get(dialogue=dialogue).place == 1


def test_max_batches_ends_the_activity(study: Study, clock: Clock) -> None:
    AnnotationSettings.objects.update(max_batches=1)
    rater = Rater(study, clock)
    activity = registry.activities.get("annotation")
    assert not activity.is_complete(rater.participant)
    rater.batch()
    assert not activity.is_complete(rater.participant), "the summary was not seen"
    page = rater.get("batch/1/")
    assert not page.context["more"]
    assert activity.is_complete(rater.participant)
    assert rater.state() == {"goto": f"/s/{rater.slug}/go/"}
    assert rater.client.get(f"/s/{rater.slug}/go/")["Location"] == f"/s/{rater.slug}/debrief/"
    rater.participant.refresh_from_db()
    assert rater.participant.end_state == EndState.DONE


def test_a_finished_batch_of_somebody_else_is_not_found(rater: Rater, study: Study, clock: Clock) -> None:
    rater.batch()
    assert Rater(study, clock).get("batch/1/").status_code == 404
    assert rater.get("batch/2/").status_code == 404


# -- finishing an item


def test_an_incomplete_item_is_not_finished_and_says_what_is_missing(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    first, *others = keys()
    rater.save(item, scores={first: {"value": 0, "version": 0}})
    answer = rater.next(item)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "incomplete"
    assert set(error["fields"]) == {*others, "choice", "confidence"}
    assert states()[0] == "open"


def test_a_choice_without_confidence_is_not_enough(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    answer = rater.score(item, choice={"value": "human", "confidence": None, "version": 0})
    assert answer.status_code == 200
    assert not answer.json()["complete"]
    assert set(rater.next(item).json()["error"]["fields"]) == {"confidence"}


def test_the_verdict_has_the_evidence_of_the_game_and_the_item_its_own(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    rater.listen(item, plays=2, pauses=1, hidden=3)
    rater.save(item, listening={"slow": 4, "slowest": 0.8, "plays": 3})
    clock.pass_(20)
    rater.score(item, choice={"value": "machine", "confidence": 2, "version": 0})
    rater.save(item, choice={"value": "human", "confidence": 2, "version": 1})
    rater.next(item)
    verdict, row = Verdict.objects.get(), BatchItem.objects.get(position=1)
    assert row.verdict == verdict
    assert (verdict.choice, verdict.first_choice, verdict.confidence) == ("human", "machine", 2)
    assert (verdict.activity, verdict.repeat, verdict.exclusion) == ("annotation", 0, "")
    assert verdict.protocol_breaks == []
    wanted = {"heard": 1.0, "replays": 2, "pauses": 1, "hidden": 3.0, "slow": 4.0, "slowest": 0.8}
    assert {name: verdict.evidence[name] for name in wanted} == wanted
    assert verdict.evidence["gate"] == "ended"
    assert verdict.evidence["length"] == 30.0


@pytest.mark.parametrize(("who", "exclusion"), [("is_pilot", "pilot"), ("is_test", "test")])
def test_pilots_and_tests_are_left_out_at_once(study: Study, clock: Clock, who: str, exclusion: str) -> None:
    rater = Rater(study, clock, **{who: True})
    rater.annotate()
    assert BatchItem.objects.get(state="finished").exclusion == exclusion
    assert Verdict.objects.get().exclusion == exclusion


def test_a_recording_withdrawn_while_it_is_scored_is_left_out(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    rater.score(item)
    dialogue = BatchItem.objects.get(code=item["code"]).dialogue
    Speaker.objects.filter(parties__dialogue=dialogue).update(withdrawn_at=rater.now)
    rater.next(item)
    assert BatchItem.objects.get(code=item["code"]).exclusion == "recording"
    assert Verdict.objects.get().exclusion == "recording"


def test_next_sent_twice_says_where_the_person_is(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    rater.score(item)
    second = rater.next(item).json()["item"]
    assert rater.next(item).json()["item"]["code"] == second["code"]
    assert states() == ["finished", "open", "open", "open", "open"]


# -- known and failed


def test_a_known_recording_frees_its_place_and_another_comes(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    rater.save(item, scores={keys()[0]: {"value": 2, "version": 0}})
    said = rater.post(f"item/{item['code']}/known/").json()["item"]
    row = BatchItem.objects.get(code=item["code"])
    assert (row.state, row.exclusion, row.place, row.known) == ("skipped", "known", None, True)
    assert (said["position"], said["of"]) == (1, 5)
    assert BatchItem.objects.count() == 6
    assert row.scores.count() == 1, "what was said is kept"
    assert rater.batch()["goto"] == rater.url("batch/1/")
    assert rater.get("batch/1/").context["batch"]["left_out"] == 1
    assert not Verdict.objects.filter(dialogue=row.dialogue).exists()


def test_a_sound_that_fails_is_replaced_until_it_fails_too_often(rater: Rater) -> None:
    for _ in range(5):
        item = rater.item()
        rater.post(f"item/{item['code']}/failed/", why="no_sound")
    assert rater.item()["of"] == 5
    for _ in range(5):
        if "item" in (state := rater.state()):
            rater.post(f"item/{state['item']['code']}/failed/", why="no_sound")
    assert rater.state() == {"goto": rater.url("break/")}
    assert rater.get("break/").context["reason"] == "sound"
    assert Batch.objects.get().seen_at is not None, "there is nothing to look back on"
    assert set(BatchItem.objects.values_list("failure", "place")) == {("no_sound", None)}
    assert rater.clock is not None
    rater.clock.pass_(600)
    assert rater.item()["batch"] == 2


def test_failing_twice_is_failing_once_and_a_finished_item_does_not_fail(rater: Rater) -> None:
    item = rater.item()
    for _ in range(2):
        rater.post(f"item/{item['code']}/failed/", why="\x00\ud800no_sound")
    assert BatchItem.objects.filter(state="skipped").count() == 1
    assert BatchItem.objects.get(state="skipped").failure == "no_sound"
    item = rater.item()
    rater.listen(item)
    rater.score(item)
    rater.next(item)
    assert rater.post(f"item/{item['code']}/known/").json()["error"]["code"] == "moved_on"


def test_where_no_other_dialogue_is_left_the_batch_is_smaller(clock: Clock) -> None:
    rater = Rater(work_study(dialogues=2), clock)
    said = rater.post(f"item/{rater.item()['code']}/known/").json()["item"]
    assert (said["position"], said["of"]) == (1, 1)


# -- leases


def test_a_batch_left_alone_goes_back_with_its_places_and_keeps_what_was_said(
    rater: Rater, clock: Clock, study: Study
) -> None:
    rater.annotate()
    item = rater.item()
    rater.listen(item)
    rater.save(item, scores={keys()[0]: {"value": 2, "version": 0}})
    clock.pass_(3 * HOUR - 1)
    sweep_leases()
    assert states() == ["finished", "open", "open", "open", "open"]
    clock.pass_(1)
    sweep_leases()
    assert states() == ["finished"] + ["returned"] * 4
    assert BatchItem.objects.filter(place__isnull=False).count() == 1
    assert Score.objects.count() == 19
    assert rater.state() == {"goto": rater.url("returned/")}
    page = rater.get("returned/")
    counts = {"of": 5, "finished": 1, "left": 4, "begun": 1, "left_out": 0, "minutes": 1}
    assert page.context["batch"] == {"number": 1, "kind": "work", **counts}


def test_every_sign_of_work_renews_the_lease(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    rater.listen(item)
    signs = [
        lambda: rater.save(item, scores={keys()[0]: {"value": 2, "version": 0}}),
        lambda: rater.save(item, scores={keys()[0]: {"value": 2, "version": 1}}),
        lambda: rater.post(f"item/{item['code']}/listening/", playing=True),
        lambda: rater.get("batch/"),
        lambda: rater.get(""),
    ]
    for sign in signs:
        clock.pass_(2 * HOUR)
        assert sign().status_code in (200, 302)
        sweep_leases()
    assert states() == ["open"] * 5


def test_another_rater_is_given_what_went_back_without_waiting_for_the_sweep(clock: Clock) -> None:
    study = work_study(dialogues=5, raters=1)
    away, other = Rater(study, clock), Rater(study, clock)
    away.item()
    assert other.state()["goto"].endswith("/break/")
    clock.pass_(3 * HOUR)
    assert other.item()["of"] == 5
    assert Batch.objects.get(annotator=away.annotator).state == "returned"


def test_a_returned_batch_is_taken_back_where_its_places_are_free(clock: Clock) -> None:
    study = work_study(dialogues=5, raters=1, batch_size=3)
    away, other = Rater(study, clock), Rater(study, clock)
    item = away.item()
    away.listen(item)
    away.score(item)
    clock.pass_(3 * HOUR)
    other.item()  # three of the four dialogues that are free, so one or two of those that went back
    taken = other.annotator.batches.get().items.values("dialogue")
    gone = BatchItem.objects.filter(batch__annotator=away.annotator, dialogue__in=taken)
    assert gone.exists()
    gone_codes = set(gone.values_list("code", flat=True))
    assert away.post("returned/").json() in ({"goto": away.url("batch/")}, {"goto": away.url("break/")})
    for row in BatchItem.objects.filter(batch__annotator=away.annotator):
        if row.code in gone_codes:
            assert (row.state, row.exclusion, row.place) == ("given_away", "given_away", None)
        else:
            assert (row.state, row.exclusion, row.place) == ("open", "", 1)
    held = BatchItem.objects.filter(place__isnull=False)
    assert held.values("dialogue").distinct().count() == held.count() <= 5
    assert Score.objects.filter(item__code=item["code"]).count() == 18, "answers are kept"


def test_taking_back_twice_is_once_and_goes_on_where_the_person_was(rater: Rater, clock: Clock) -> None:
    rater.annotate()
    item = rater.item()
    rater.listen(item)
    rater.save(item, scores={keys()[0]: {"value": 2, "version": 0}})
    clock.pass_(4 * HOUR)
    assert rater.get("").url == rater.url("returned/")
    for _ in range(2):
        assert rater.form("returned/").url == rater.url("batch/")
    again = rater.item()
    assert again["code"] == item["code"]
    assert again["scores"] == {keys()[0]: {"value": 2, "version": 1}}
    assert again["unlocked"]
    assert Batch.objects.get().state == "open"


def test_answers_given_while_the_time_ran_out_are_kept_and_told(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    rater.listen(item)
    clock.pass_(4 * HOUR)
    sweep_leases()
    answer = rater.save(item, scores={keys()[0]: {"value": 2, "version": 0}})
    assert answer.status_code == 200
    assert answer.json()["returned"] == rater.url("returned/")
    assert Score.objects.count() == 1
    assert rater.next(item).json() == {"goto": rater.url("returned/")}


def test_nothing_is_stored_on_what_others_were_given(clock: Clock) -> None:
    study = work_study(dialogues=1, raters=1)
    away, other = Rater(study, clock), Rater(study, clock)
    item = away.item()
    away.listen(item)
    clock.pass_(4 * HOUR)
    other.item()
    away.post("returned/")
    answer = away.save(item, scores={keys()[0]: {"value": 2, "version": 0}})
    assert answer.json()["error"]["code"] == "moved_on"
    assert away.state()["goto"] == away.url("break/")
    assert Batch.objects.get(annotator=away.annotator).state == "finished"


def test_a_withdrawal_frees_what_was_in_hand_and_nothing_more_is_stored(rater: Rater, study: Study) -> None:
    rater.annotate()
    item = rater.item()
    studies.withdraw(participant=rater.participant, erase_answers=False)
    assert states() == ["finished"] + ["returned"] * 4
    assert rater.listen(item).status_code == 410
    assert Score.objects.count() == 18
    other = Rater(study, rater.clock)
    other.item()
    studies.withdraw(participant=other.participant, erase_answers=True)
    assert not Annotator.objects.filter(pk=other.annotator.pk).exists()
    assert BatchItem.objects.filter(place__isnull=False).count() == 1


def test_the_sweep_passes_over_finished_batches(rater: Rater, clock: Clock) -> None:
    rater.batch()
    clock.pass_(4 * HOUR)
    assert leases.sweep(now=rater.now) == 0
    assert set(states()) == {"finished"}


# -- who waits


def test_a_paused_annotator_reads_why_in_the_middle_of_a_batch(rater: Rater) -> None:
    item = rater.item()
    rater.listen(item)
    rater.score(item)
    pausing.pause(annotator=rater.annotator, reason="Please write to us.")
    assert rater.state() == {"goto": rater.url("break/")}
    page = rater.get("break/")
    assert (page.context["reason"], page.context["words"]) == ("set_aside", "Please write to us.")
    assert rater.next(item).json() == {"goto": rater.url("break/")}
    assert states() == ["open"] * 5
    pausing.resume(annotator=rater.annotator)
    assert rater.item()["code"] == item["code"]


def test_a_paused_study_lets_people_finish_and_gives_nothing_new(rater: Rater, study: Study) -> None:
    rater.item()
    Study.objects.filter(pk=study.pk).update(status="paused")
    assert rater.batch()["goto"] == rater.url("batch/1/")
    rater.get("batch/1/")
    assert rater.state() == {"goto": rater.url("break/")}
    assert rater.get("break/").context["reason"] == "paused"


def test_a_closed_study_takes_nothing_more(rater: Rater, study: Study) -> None:
    item = rater.item()
    Study.objects.filter(pk=study.pk).update(status="closed")
    assert rater.listen(item).status_code == 410
    assert rater.get("batch/", headers={"accept": "application/json"}).status_code == 410


@pytest.mark.parametrize(("state", "page"), [("reading", "guidelines/"), ("calibrating", "calibration/")])
def test_nobody_works_before_guidelines_and_calibration(
    study: Study, clock: Clock, state: str, page: str
) -> None:
    rater = Rater(study, clock)
    AnnotationSettings.objects.update(calibration=True)
    Annotator.objects.update(state=state)
    assert rater.get("").url == rater.url(page)
    assert rater.state() == {"goto": rater.url(page)}
    assert not Batch.objects.exists()


def test_somebody_who_does_not_annotate_finds_nothing(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(activities=["speech"])
    rater = Rater(Study.objects.get(), None)
    rater.annotator.delete()
    assert rater.get("").status_code == 404
    rater.participant.activities = ["annotation"]
    rater.participant.save()
    assert rater.get("").url == rater.url("guidelines/")


# -- time at work


def test_active_time_counts_gaps_up_to_the_idle_limit(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    rater.listen(item)  # 30 s
    for seconds in (10, 119, 121, 1700):
        clock.pass_(seconds)
        rater.save(item, scores={})
    session = WorkSession.objects.get()
    assert session.active_seconds == 30 + 10 + 119 + 120 + 120
    assert BatchItem.objects.get(position=1).active_seconds == session.active_seconds
    clock.pass_(1800)
    rater.save(item, scores={})
    assert [one.active_seconds for one in WorkSession.objects.order_by("pk")] == [399, 0]
    assert WorkSession.objects.filter(ended_at__isnull=False).count() == 1


def test_the_page_may_say_less_and_never_more(rater: Rater, clock: Clock) -> None:
    item = rater.item()
    clock.pass_(60)
    rater.save(item, active=20)
    clock.pass_(60)
    rater.save(item, active=4000)
    clock.pass_(60)
    rater.save(item, active=-5)
    assert WorkSession.objects.get().active_seconds == 80


def test_a_break_is_offered_after_so_many_minutes_and_again_a_stretch_later(
    study: Study, clock: Clock
) -> None:
    AnnotationSettings.objects.update(break_minutes=10)
    rater = Rater(study, clock)
    item = rater.item()

    def work(minutes: int) -> bool:
        rest = False
        for _ in range(minutes):
            clock.pass_(60)
            rest = rater.save(item, scores={}).json()["break"]
        return rest

    assert not work(9)
    assert work(1)
    assert rater.item()["break"]
    assert not work(6), "the offer does not stand for ever"
    assert work(4)
    assert WorkSession.objects.get().breaks_offered == 2
    assert rater.get("break/").context["reason"] == ""
    session = WorkSession.objects.get()
    assert (session.breaks_taken, session.since_break) == (1, 0)
    rater.get("break/")
    assert WorkSession.objects.get().breaks_taken == 1, "resting twice is resting once"
    assert not work(9)
    assert work(1)


# -- the activity


def test_enough_is_the_number_of_batches_the_study_sets(rater: Rater) -> None:
    AnnotationSettings.objects.update(least_batches=2)
    activity = registry.activities.get("annotation")
    rater.batch()
    rater.get("batch/1/")
    assert not activity.counts_as_done(rater.participant)
    assert selectors.end_if_stopped(rater.participant) == EndState.WITHDREW
    rater.batch()
    assert activity.counts_as_done(rater.participant)
    assert selectors.end_if_stopped(rater.participant) == EndState.DONE


def test_whoever_finds_nothing_to_do_stops_for_a_technical_reason(clock: Clock) -> None:
    study = work_study(dialogues=0)
    rater = Rater(study, clock)
    assert rater.state()["goto"] == rater.url("break/")
    assert selectors.end_if_stopped(rater.participant) == EndState.TECHNICAL


def test_what_keeps_a_study_from_opening_is_said(clock: Clock) -> None:
    study = work_study(dialogues=3)
    ready = registry.activities.get("annotation").ready
    assert [str(one) for one in ready(study)] == ["English has 3 dialogues to annotate; a batch needs 5."]
    for _ in range(2):
        factories.add_dialogue(study)
    assert ready(study) == []
    AnnotationSettings.objects.update(calibration=True)
    assert "known scores" in str(ready(study)[0])
    AnnotationSettings.objects.all().delete()
    assert "settings" in str(ready(study)[0])


def test_a_text_may_name_the_size_of_a_batch_and_the_pay(study: Study) -> None:
    activity = registry.activities.get("annotation")
    assert activity.place_names == ("batch_size", "rate", "rate_earned")
    assert activity.places(study, "en") == {"batch_size": "5", "rate": UNPAID["en"], "rate_earned": ""}


def test_the_debrief_tells_nothing_about_single_dialogues(study: Study, clock: Clock) -> None:
    AnnotationSettings.objects.update(max_batches=1)
    rater = Rater(study, clock)
    rater.batch()
    rater.get("batch/1/")
    rater.client.get(f"/s/{rater.slug}/go/")
    person = Participant.objects.get(pk=rater.participant.pk)
    assert person.end_state
    assert selectors.debrief_rows(person) == []
