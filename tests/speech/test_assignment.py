"""Assignment: the mix, no repeats in a round, no guessing the next from the last, dialogues level, draws
recorded.
"""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest

from dialogues.models import Dialogue, Kind, Party, StudyItem, Verdict
from games.speech import assignment, balance
from games.speech.assignment import Draws
from games.speech.balance import HUMAN, MACHINES, Candidate
from games.speech.models import Round, Trial
from games.speech.services import player_of, settings_of
from studies.assignment import lease_end, levelling, pick, seeded, tilted
from studies.export_words import product_version
from studies.models import Study
from tests import factories
from tests.clock import START, Clock
from tests.speech.conftest import Person

ROUNDS = 10_000


def paper_sized_pool() -> list[Candidate]:
    """Nine systems of each machine kind with five dialogues each, as many of people; openings and voices
    shared.
    """
    number = itertools.count(1)

    def candidate(kind: str, system: int | None) -> Candidate:
        n = next(number)
        return Candidate(n, kind, f"opening-{n * 7 % 45}", system, n * 11 % 40 + 1)

    machines = [
        candidate(kind, base + system)
        for kind, base in zip(MACHINES, (1, 101), strict=True)
        for system in range(9)
        for _ in range(5)
    ]
    return machines + [candidate(HUMAN, None) for _ in range(90)]


class Simulation:
    """People who each play some rounds, one after the other, on counts in memory."""

    def __init__(self, mix: str, seed: int, size: int = ROUNDS) -> None:
        self.pool = paper_sized_pool()
        self.counts: Counter[int] = Counter()
        self.rounds: list[list[Candidate]] = []
        self.people: list[list[Candidate]] = []
        self.replaced = 0
        lengths = random.Random(seed)
        for person in itertools.count():
            if len(self.rounds) >= size:
                break
            self._play(person, min(lengths.choice([1, 1, 2, 3, 5]), size - len(self.rounds)), mix, seed)

    def _play(self, person: int, rounds: int, mix: str, seed: int) -> None:
        exposed: set[int] = set()
        heard: list[Candidate] = []
        for _ in range(rounds):
            here: list[Candidate] = []
            for _ in range(5):
                chosen = balance.draw(
                    self.pool,
                    self.counts,
                    mix=mix,
                    exposed=exposed,
                    in_round=[candidate.dialogue for candidate in here],
                    rng=seeded(seed, person, len(heard)),
                )
                assert chosen is not None
                candidate, record = chosen
                self.replaced += record["wished"] != record["kind"]
                here.append(candidate)
                heard.append(candidate)
                exposed.add(candidate.dialogue)
                self.counts[candidate.dialogue] += 1
            self.rounds.append(here)
        self.people.append(heard)


@pytest.fixture(scope="module")
def half() -> Simulation:
    return Simulation("half", 2026)


@pytest.mark.slow
class TestTenThousandRounds:
    def test_the_mix_is_as_set(self, half: Simulation) -> None:
        kinds = Counter(candidate.kind for heard in half.rounds for candidate in heard)
        total = sum(kinds.values())
        assert kinds[HUMAN] / total == pytest.approx(0.5, abs=0.002)
        for kind in MACHINES:
            assert kinds[kind] / total == pytest.approx(0.25, abs=0.002)

    def test_every_composition_of_a_round_occurs(self, half: Simulation) -> None:
        humans = Counter(sum(candidate.kind == HUMAN for candidate in heard) for heard in half.rounds)
        assert set(humans) == {0, 1, 2, 3, 4, 5}
        for number, binomial in enumerate([1, 5, 10, 10, 5, 1]):
            assert humans[number] / ROUNDS == pytest.approx(binomial / 32, abs=0.015)

    def test_no_opening_system_or_speaker_comes_twice_in_a_round(self, half: Simulation) -> None:
        for heard in half.rounds:
            openings = [candidate.opening for candidate in heard]
            systems = [candidate.system for candidate in heard if candidate.system]
            speakers = [candidate.speaker for candidate in heard]
            assert len(set(openings)) == 5
            assert len(set(systems)) == len(systems)
            assert len(set(speakers)) == 5

    def test_nobody_hears_a_dialogue_twice(self, half: Simulation) -> None:
        for heard in half.people:
            assert len({candidate.dialogue for candidate in heard}) == len(heard)

    def test_a_kind_tells_nothing_about_a_later_one(self, half: Simulation) -> None:
        human = np.array(
            [[candidate.kind == HUMAN for candidate in heard] for heard in half.rounds], dtype=float
        )
        within = np.corrcoef(human.T)
        assert np.abs(within[np.triu_indices(5, 1)]).max() <= 0.03
        for lag in range(1, 6):
            pairs = [
                (heard[place].kind == HUMAN, heard[place + lag].kind == HUMAN)
                for heard in half.people
                for place in range(len(heard) - lag)
            ]
            earlier, later = np.array(pairs, dtype=float).T
            assert abs(np.corrcoef(earlier, later)[0, 1]) <= 0.03, lag

    def test_dialogues_stay_level(self, half: Simulation) -> None:
        for kind in (HUMAN, *MACHINES):
            counts = [half.counts[candidate.dialogue] for candidate in half.pool if candidate.kind == kind]
            assert max(counts) - min(counts) <= 12
            assert np.std(counts) < 0.01 * np.mean(counts)

    def test_published_mix_is_a_third_each(self) -> None:
        simulation = Simulation("published", 7, size=2000)
        kinds = Counter(candidate.kind for heard in simulation.rounds for candidate in heard)
        for kind in (HUMAN, *MACHINES):
            assert kinds[kind] / 10_000 == pytest.approx(1 / 3, abs=0.004)


class TestBalancing:
    def test_same_seed_same_draw(self) -> None:
        pool = paper_sized_pool()

        def draws(seed: int) -> list[int]:
            return [
                chosen.candidate.dialogue
                for n in range(20)
                if (
                    chosen := balance.draw(
                        pool, {}, mix="half", exposed=(), in_round=(), rng=seeded(seed, "K", n)
                    )
                )
            ]

        assert draws(1) == draws(1)
        assert draws(1) != draws(2)

    def test_tilt_is_gentle_and_bounded(self) -> None:
        assert tilted({"a": 0.5, "b": 0.5}, {"a": 10, "b": 10}) == {"a": 0.5, "b": 0.5}
        assert tilted({"a": 0.5, "b": 0.5}, {"a": 11, "b": 10})["a"] == pytest.approx(0.5 - 0.5 / 120)
        assert tilted({"a": 0.5, "b": 0.5}, {"a": 1000, "b": 0})["a"] == pytest.approx(0.375)

    def test_levelling_prefers_what_is_behind(self) -> None:
        assert levelling({"a": 3, "b": 4, "c": 6}) == {"a": 1.0, "b": 0.5, "c": 0.125}

    def test_pick_follows_the_weights(self) -> None:
        rng = random.Random(1)
        picked = Counter(pick(rng, {"a": 3.0, "b": 1.0}) for _ in range(4000))
        assert picked["a"] / 4000 == pytest.approx(0.75, abs=0.03)
        with pytest.raises(ValueError, match="nothing"):
            pick(rng, {})

    def test_lease_end(self) -> None:
        assert lease_end(START, 30) == START + timedelta(minutes=30)

    @pytest.mark.parametrize(
        ("mix", "kinds", "expected"),
        [
            ("half", {HUMAN, *MACHINES}, {HUMAN: 0.5, "human_machine": 0.25, "pseudo_human": 0.25}),
            ("half", {HUMAN, "pseudo_human"}, {HUMAN: 0.5, "pseudo_human": 0.5}),
            ("half", {"human_machine", "pseudo_human"}, {"human_machine": 0.5, "pseudo_human": 0.5}),
            ("half", {HUMAN}, {HUMAN: 1.0}),
            ("published", {HUMAN, *MACHINES}, {HUMAN: 1 / 3, "human_machine": 1 / 3, "pseudo_human": 1 / 3}),
        ],
    )
    def test_shares(self, mix: str, kinds: set[str], expected: dict[str, float]) -> None:
        assert balance.shares(mix, kinds) == pytest.approx(expected)

    def test_a_kind_without_candidates_is_replaced_by_one_of_the_same_truth(self) -> None:
        pool = [
            Candidate(1, "human_machine", "a", 1, 1),
            Candidate(2, "pseudo_human", "b", 2, 2),
            Candidate(3, HUMAN, "c", None, 3),
        ]
        replaced = set()
        for n in range(200):
            chosen = balance.draw(pool, {}, mix="half", exposed={1}, in_round=(), rng=seeded(1, n))
            assert chosen is not None
            if chosen.record["wished"] == "human_machine":
                replaced.add(chosen.record["kind"])
        assert replaced == {"pseudo_human"}

    def test_nothing_left_is_none(self) -> None:
        pool = [Candidate(1, HUMAN, "a", None, 1), Candidate(2, HUMAN, "a", None, 2)]
        assert balance.draw(pool, {}, mix="half", exposed={1, 2}, in_round=(), rng=seeded(1)) is None
        assert balance.draw(pool, {}, mix="half", exposed=(), in_round=[1], rng=seeded(1)) is None


@pytest.mark.django_db
@pytest.mark.both
class TestRows:
    def test_many_people_stay_level_on_rows(self, clock: Clock) -> None:
        study = factories.speech_study(systems=5)
        for _ in range(12):
            person = Person(factories.ParticipantFactory(study=study), clock)
            person.trial()
            Trial.objects.filter(state=Trial.State.CURRENT, gate="").update(
                gate="ended", unlocked_at=clock.now
            )
            while "trial" in (state := person.state()):
                Trial.objects.filter(code=state["trial"]["code"]).update(gate="ended")
                person.answer(state["trial"])
                person.next(state["trial"])
        counts = Counter(Verdict.objects.values_list("dialogue__kind", flat=True))
        assert sum(counts.values()) == 60
        assert 22 <= counts[Kind.HUMAN_HUMAN] <= 38
        for kind in Kind.values:
            levels = Counter(
                Verdict.objects.filter(dialogue__kind=kind).values_list("dialogue_id", flat=True)
            )
            assert max(levels.values()) - min(levels.values()) <= 4
        for round_ in Round.objects.all():
            here = Dialogue.objects.filter(speech_trials__round=round_)
            systems = list(
                here.filter(parties__label="B", parties__system__isnull=False).values_list("parties__system")
            )
            assert len(systems) == len(set(systems))

    def test_the_draw_is_recorded(self, person: Person, study: Study) -> None:
        code = person.trial()["code"]
        trial = Trial.objects.get(code=code)
        draw = trial.draw
        assert (draw["seed"], draw["key"], draw["counter"]) == (study.seed, person.participant.code, 0)
        assert draw["build"] == product_version()
        assert draw["chosen"] == trial.dialogue_id
        assert draw["kind"] == trial.dialogue.kind
        assert sum(draw["odds"].values()) == pytest.approx(1, abs=0.001)
        assert (draw["free"], draw["candidates"] >= 1) == (24, True)
        behind = Trial.objects.get(state=Trial.State.DRAWN)
        assert behind.draw["counter"] == 1

    def test_a_recorded_draw_can_be_repeated(self, person: Person, study: Study) -> None:
        person.trial()
        for trial in Trial.objects.order_by("pk"):
            draw = trial.draw
            rng = seeded(draw["seed"], "trial", draw["key"], draw["counter"])
            assert pick(rng, {kind: draw["odds"][kind] for kind in draw["odds"]}) == draw["wished"]

    def test_a_live_lease_counts_and_an_old_one_does_not(
        self, person: Person, study: Study, clock: Clock
    ) -> None:
        code = person.trial()["code"]
        dialogue = Trial.objects.get(code=code).dialogue_id
        assert assignment.counts(study, now=clock.now)[dialogue] == 1
        later = clock.now + timedelta(minutes=31)
        assert assignment.counts(study, now=later) == {}

    def test_an_answered_trial_counts_once(self, person: Person, study: Study, clock: Clock) -> None:
        trial = person.trial()
        person.listen(trial)
        person.answer(trial)
        dialogue = Trial.objects.get(code=trial["code"]).dialogue_id
        assert assignment.counts(study, now=clock.now)[dialogue] == 1

    def test_pilots_do_not_move_the_balance_of_the_study(self, study: Study, clock: Clock) -> None:
        pilot = Person(factories.ParticipantFactory(study=study, is_pilot=True), clock)
        trial = pilot.trial()
        pilot.listen(trial)
        pilot.answer(trial)
        Trial.objects.filter(state=Trial.State.DRAWN).delete()
        assert assignment.counts(study, now=clock.now) == {}
        assert sum(assignment.counts(study, now=clock.now, on_trial=True).values()) == 1

    def test_a_later_system_starts_level_in_its_own_block(self, study: Study, clock: Clock) -> None:
        rater = factories.RaterFactory(participant__study=study)
        old = Dialogue.objects.order_by("pk")[0]
        StudyItem.objects.update(added_at=clock.now)
        clock.pass_(86_400)
        factories.VerdictFactory(rater=rater, dialogue=old, given_at=clock.now)
        assert assignment.counts(study, now=clock.now) == {old.pk: 1}
        clock.pass_(86_400)
        new = factories.add_dialogue(study, kind=Kind.HUMAN_MACHINE)
        StudyItem.objects.filter(dialogue=new).update(block=2, added_at=clock.now)
        assert assignment.counts(study, now=clock.now) == {}
        clock.pass_(60)
        factories.VerdictFactory(rater=rater, dialogue=new, given_at=clock.now)
        assert assignment.counts(study, now=clock.now) == {new.pk: 1}

    def test_only_active_main_items_of_the_language_are_drawn(self, study: Study) -> None:
        before = {candidate.dialogue for candidate in assignment.pool(study, "en")}
        for role in ("gold", "attention", "calibration"):
            factories.StudyItemFactory(study=study, role=role)
        factories.StudyItemFactory(study=study, is_active=False)
        factories.add_dialogue(study, language="zh")
        factories.StudyItemFactory()
        assert {candidate.dialogue for candidate in assignment.pool(study, "en")} == before
        assert len(before) == 24

    def test_a_draw_of_a_large_study_is_fast(
        self, clock: Clock, django_assert_max_num_queries: object
    ) -> None:
        study = factories.StudyFactory(slug="large", languages=["en", "zh"])
        factories.SpeechSettingsFactory(study=study)
        systems = [factories.SystemFactory() for _ in range(20)]
        speakers = [factories.SpeakerFactory() for _ in range(40)]
        add_many(study, 1500, systems, speakers)
        participant = factories.ParticipantFactory(study=study)
        player = player_of(participant)
        round_ = Round.objects.create(player=player, number=1, language="en", started_at=clock.now)
        best = 1.0
        for attempt in range(5):
            draws = Draws(player, "en", settings_of(study), now=clock.now)
            begun = time.process_time()
            with django_assert_max_num_queries(8):  # type: ignore[operator]
                assert draws.draw(round_, attempt + 1, 0, Trial.State.DRAWN) is not None
            best = min(best, time.process_time() - begun)
        assert best < 0.02  # seconds of this process; about .006 on one core of a small server


def add_many(study: Study, count: int, systems: list, speakers: list) -> None:
    kinds = [Kind.HUMAN_HUMAN, Kind.HUMAN_MACHINE, Kind.HUMAN_HUMAN, Kind.PSEUDO_HUMAN]
    dialogues = Dialogue.objects.bulk_create(
        Dialogue(
            external_id=f"large-{n}",
            content_hash=f"{n:064d}",
            kind=kinds[n % 4],
            language="en" if n % 8 < 4 else "zh",
            opening=f"opening-{n % 300}",
            state=Dialogue.State.READY,
            play_path=f"play/{n}.mp3",
            play_duration=30.0,
        )
        for n in range(count)
    )
    Party.objects.bulk_create(
        Party(
            dialogue=dialogue,
            label=label,
            nature="human" if label == "A" else dialogue.truth,
            system=systems[n % len(systems)] if label == "B" and dialogue.truth == "machine" else None,
            speaker=speakers[n % len(speakers)] if label == "A" else None,
        )
        for n, dialogue in enumerate(dialogues)
        for label in "AB"
    )
    StudyItem.objects.bulk_create(StudyItem(study=study, dialogue=dialogue) for dialogue in dialogues)
