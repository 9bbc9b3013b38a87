"""The planner through its page: the worked values, in words where nothing is enough, into the plan."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from dialogues.models import Verdict
from dialogues.pilot import Correlations, correlations_of
from studies import plans
from tests import factories
from tests.speech.played import Played
from turingsite.stats import icc_by_pairs

EXPECTED = {
    "aim": "test", "expected": "0.4", "against": "0.5", "power": "0.8", "half_width": "0.1", "each": "2",
    "dialogues": "30", "icc_person": "0.07", "icc_dialogue": "0.1",
}  # fmt: skip


@pytest.fixture
def page(client: Any, cast: Any) -> Any:
    client.force_login(cast.researcher)
    address = reverse("admin:desk_planner", args=[cast.study.slug])

    def get(**changed: str) -> Any:
        return client.get(address, {**EXPECTED, **changed})

    get.post = lambda **changed: client.post(address, {**EXPECTED, **changed})  # type: ignore[attr-defined]
    get.plain = lambda: client.get(address)  # type: ignore[attr-defined]
    return get


@pytest.mark.parametrize(("changed", "persons"), [
    ({"dialogues": "30"}, 598),
    ({"dialogues": "40"}, 382),
    ({"dialogues": "60"}, 280),
    ({"dialogues": "100"}, 231),
    ({"expected": "0.3", "dialogues": "9"}, 129),
    ({"expected": "0.3", "dialogues": "18"}, 61),
    ({"aim": "interval", "expected": "0.5", "dialogues": "18"}, 283),
])  # fmt: skip
def test_the_worked_values_come_out(page: Any, changed: dict[str, str], persons: int) -> None:
    answer = page(**changed)
    assert answer.context["plan"].persons == persons
    assert f'<p class="figure">{persons}</p>' in answer.content.decode()
    chosen = [row for row in answer.context["rows"] if row.chosen]
    assert [(row.persons, row.verdicts) for row in chosen] == [(persons, 2 * persons)]


@pytest.mark.parametrize(("changed", "said"), [
    ({"dialogues": "20"}, "It begins to be reachable with 21 dialogues"),
    ({"dialogues": "9", "aim": "interval", "expected": "0.5"}, "With 9 dialogues no number of persons"),
    ({"dialogues": "1"}, "With 1 dialogue no number of persons is enough."),
])  # fmt: skip
def test_too_few_dialogues_are_told_in_words(page: Any, changed: dict[str, str], said: str) -> None:
    text = page(**changed).content.decode()
    assert said in text
    assert "Take it into the plan" not in text


@pytest.mark.parametrize("changed", [
    {"expected": "0"}, {"expected": "1"}, {"expected": "x"}, {"against": "0.4"}, {"power": "1"},
    {"each": "0"},
    {"dialogues": "0"}, {"dialogues": "1e9"}, {"icc_dialogue": "-1"}, {"half_width": "0"}, {"aim": "luck"},
    {"expected": "nan"}, {"each": "inf"},
])  # fmt: skip
def test_bad_expectations_are_answered_beside_the_field(page: Any, changed: dict[str, str]) -> None:
    answer = page(**changed)
    assert answer.status_code == 400
    assert set(answer.context["form"].errors) == set(changed)


def test_the_answer_goes_into_the_plans_draft(page: Any, cast: Any) -> None:
    assert page.post().status_code == 302
    content = plans.content_of(plans.draft_of(cast.study))
    assert (content["target_n"], content["target_by"]) == (1196, "system")
    assert content["planning"].startswith("Planned for a success rate of 0.4 against 0.5, power 0.8")
    assert "598 persons with 2 verdicts each on a system, 30 dialogues" in content["planning"]
    assert page.post(dialogues="9").url == reverse("admin:desk_planner", args=[cast.study.slug])
    assert plans.content_of(plans.draft_of(cast.study)) == content


def test_correlations_come_from_the_pilot_where_it_has_pairs(page: Any, client: Any, cast: Any) -> None:
    first = page.plain()
    assert first.context["form"]["icc_person"].value() == 0.07
    assert "The pilot has no pairs yet (0 verdicts on machines)" in first.content.decode()

    played = Played("piloted")
    assert correlations_of(played.study).verdicts == 0  # what counts is no pilot
    Verdict.objects.filter(study=played.study).update(exclusion="pilot")
    rows = Verdict.objects.filter(study=played.study, dialogue__kind="human_machine")
    y = [verdict.choice == "human" for verdict in rows]
    found = correlations_of(played.study)
    assert (found.verdicts, found.persons, found.dialogues) == (40, 10, 6)
    assert found.person == pytest.approx(icc_by_pairs(y, [verdict.rater_id for verdict in rows]))
    assert found.dialogue == pytest.approx(icc_by_pairs(y, [verdict.dialogue_id for verdict in rows]))
    factories.StudyMemberFactory(study=played.study, user=cast.researcher)
    answer = client.get(reverse("admin:desk_planner", args=["piloted"]))
    assert answer.context["form"]["icc_person"].value() == 0.07, "ten persons are too few"
    assert answer.context["form"]["dialogues"].value() == 6, "as many as the study has"
    assert "40 verdicts by 10 persons on 6 dialogues" in answer.content.decode()


@pytest.mark.parametrize("pairs", [200, 199])
@pytest.mark.parametrize("dialogue", [0.2, -0.01])
def test_rough_and_negative_correlations_are_shown_and_not_begun_with(
    page: Any, monkeypatch: Any, pairs: int, dialogue: float
) -> None:
    found = Correlations(0.03, dialogue, 900, 60, 12, pairs, 4000)
    monkeypatch.setattr("turingsite.desk.planner.correlations_of", lambda _study: found)
    answer = page.plain()
    form = answer.context["form"]
    assert form["icc_person"].value() == (0.03 if pairs == 200 else 0.07)
    assert form["icc_dialogue"].value() == (0.2 if dialogue > 0 else 0.1)
    usual, pilot = answer.context["compared"]
    assert (usual.person, usual.dialogue, usual.persons) == (0.07, 0.1, 598)
    assert (pilot.person, pilot.dialogue) == (0.03, max(0.0, dialogue))
    taken = pairs == 200 and dialogue > 0
    assert ("in place of what is too rough or below 0" in answer.content.decode()) is not taken


def test_the_pilots_correlations_are_pooled_within_systems(db: None) -> None:
    """Two systems, one always and one never judged human, are no likeness of dialogues."""
    study = factories.StudyFactory()
    systems = [factories.SystemFactory(), factories.SystemFactory()]
    people = [factories.ParticipantFactory(study=study) for _ in range(4)]
    for system, choice in zip(systems, ("human", "machine"), strict=True):
        for _n in range(3):
            dialogue = factories.add_dialogue(study, kind="human_machine", system=system)
            for person in people:
                factories.VerdictFactory(
                    rater=person.rater, dialogue=dialogue, choice=choice, exclusion="pilot"
                )
    found = correlations_of(study)
    assert found.verdicts == 24
    assert (found.person, found.dialogue) == (None, None)
