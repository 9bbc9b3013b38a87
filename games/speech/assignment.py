"""Draws on rows: the pool of a study, its counts, the trial that comes out, and the spoken instructions."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Any

from django.db.models import Count, Min

from dialogues.models import Exposure, Nature, StudyItem, Verdict
from dialogues.models.opinions import GAME
from dialogues.selectors import items_in_play
from games.speech import balance
from games.speech.balance import Candidate
from games.speech.models import Round, SpeechPlayer, SpeechSettings, Trial
from studies.assignment import lease_end, seeded
from studies.export_words import product_version
from studies.models import Study

ACTIVITY = GAME
ANSWERS = (str(Nature.HUMAN), str(Nature.MACHINE))
COUNTED = (Verdict.Exclusion.NONE,)
COUNTED_ON_TRIAL = (Verdict.Exclusion.NONE, Verdict.Exclusion.PILOT, Verdict.Exclusion.TEST)


def pool(study: Study, language: str) -> list[Candidate]:
    """The study's main dialogues of a language that may be played, in one query without subqueries."""
    columns = ("pk", "kind", "opening", "b__system_id", "a__speaker_id")
    rows = items_in_play(study, language, study_items__role=StudyItem.Role.MAIN).values_list(*columns)
    return [Candidate(*row) for row in rows]


def instructions(study: Study, language: str) -> list[tuple[int, str]]:
    """The study's spoken instructions in a language: dialogue, and the answer asked for."""
    rows = items_in_play(
        study,
        language,
        study_items__role=StudyItem.Role.ATTENTION,
        study_items__expected__in=ANSWERS,
    )
    return list(rows.values_list("pk", "study_items__expected"))


def counts(study: Study, *, now: datetime, on_trial: bool = False) -> dict[int, int]:
    """Completed verdicts and live leases per dialogue, since the newest block of systems entered the study.

    A system added later starts level with the others: what they gained before does not count against it.
    """
    verdicts = Verdict.objects.filter(
        study=study, activity=ACTIVITY, exclusion__in=COUNTED_ON_TRIAL if on_trial else COUNTED
    )
    since = _block_start(study)
    if since is not None:
        verdicts = verdicts.filter(given_at__gte=since)
    leases = Trial.objects.filter(
        state__in=(Trial.State.DRAWN, Trial.State.CURRENT),
        lease_until__gt=now,
        verdict=None,
        round__for_fun=False,
        round__player__participant__study=study,
    )
    total: dict[int, int] = dict(verdicts.order_by().values_list("dialogue_id").annotate(n=Count("pk")))
    for dialogue, count in leases.order_by().values_list("dialogue_id").annotate(n=Count("pk")):
        total[dialogue] = total.get(dialogue, 0) + count
    return total


def _block_start(study: Study) -> datetime | None:
    """When the newest block began, or None while there is only one."""
    blocks = dict(
        StudyItem.objects.filter(study=study, role=StudyItem.Role.MAIN)
        .order_by()
        .values_list("block")
        .annotate(start=Min("added_at"))
    )
    return blocks[max(blocks)] if len(blocks) > 1 else None


class Draws:
    """The draws of one request for one player: pool, counts and history are read once, then kept up to date.

    One counter numbers all draws of a person; with the study's seed and the person's code it gives each draw
    its own numbers. Callers hold the player's lock; the database holds the rule of one live trial per place.
    """

    def __init__(
        self, player: SpeechPlayer, language: str, settings: SpeechSettings, *, now: datetime
    ) -> None:
        self.player = player
        self.participant = player.participant
        self.study = player.participant.study
        self.language = language
        self.settings = settings
        self.now = now

    @cached_property
    def pool(self) -> list[Candidate]:
        return pool(self.study, self.language)

    @cached_property
    def counts(self) -> dict[int, int]:
        on_trial = self.participant.is_pilot or self.participant.is_test
        return counts(self.study, now=self.now, on_trial=on_trial)

    @cached_property
    def exposed(self) -> set[int]:
        """Dialogues this person was given in the study, by whatever activity."""
        given = Exposure.objects.filter(study=self.study, rater=self.participant.rater)
        return set(given.values_list("dialogue_id", flat=True))

    @cached_property
    def trials(self) -> list[tuple[int, int]]:
        """Round and dialogue of every trial ever drawn for this player."""
        drawn = Trial.objects.filter(round__player=self.player).order_by("pk")
        return list(drawn.values_list("round_id", "dialogue_id"))

    @property
    def has_unheard(self) -> bool | None:
        """Whether dialogues are left that the person has not met; None where the language has none at all."""
        dialogues = {candidate.dialogue for candidate in self.pool}
        return None if not dialogues else not dialogues <= self.exposed

    def draw(self, round_: Round, position: int, attempt: int, state: Trial.State) -> Trial | None:
        """Draw and store one trial with its exposure; None where this round may hold no more dialogues."""
        counter = len(self.trials)
        key = self.participant.code
        chosen = balance.draw(
            self.pool,
            self.counts,
            mix=self.settings.mix,
            exposed=() if round_.for_fun else self.exposed,
            in_round=[dialogue for number, dialogue in self.trials if number == round_.pk],
            rng=seeded(self.study.seed, "trial", key, counter),
        )
        if chosen is None:
            return None
        trial = self._given(
            round_,
            chosen.candidate.dialogue,
            state,
            position=position,
            attempt=attempt,
            draw=self._record(key, counter, chosen.record),
        )
        self.counts[trial.dialogue_id] = self.counts.get(trial.dialogue_id, 0) + 1
        return trial

    def _record(self, key: str, counter: int, decided: dict[str, Any]) -> dict[str, Any]:
        """All that decided a draw: where its randomness began, the build that drew, what it weighed."""
        return {
            "seed": self.study.seed, "key": key, "counter": counter, "build": product_version(), **decided
        }  # fmt: skip

    def draw_instruction(self, round_: Round, position: int, state: Trial.State) -> Trial | None:
        """Draw and store a spoken instruction, half of them for either answer; None where none is left."""
        free = [row for row in instructions(self.study, self.language) if row[0] not in self.exposed]
        if not free:
            return None
        counter = len(self.trials)
        key = self.participant.code
        rng = seeded(self.study.seed, "instruction", key, counter)
        wished = rng.choice(ANSWERS)
        candidates = [row for row in free if row[1] == wished] or free
        dialogue, expected = rng.choice(candidates)
        record = {"wished": wished, "candidates": len(candidates), "free": len(free), "chosen": dialogue}
        return self._given(
            round_,
            dialogue,
            state,
            position=position,
            expected=expected,
            draw=self._record(key, counter, record),
        )

    def _given(self, round_: Round, dialogue: int, state: Trial.State, **fields: Any) -> Trial:
        whose = {"study": self.study, "rater": self.participant.rater, "dialogue_id": dialogue}
        exposure = Exposure.objects.filter(**whose).first() if round_.for_fun else None
        if exposure is None:
            exposure = Exposure.objects.create(**whose, given_at=self.now)
        trial = Trial.objects.create(
            round=round_,
            dialogue_id=dialogue,
            exposure=exposure,
            state=state,
            **fields,
            drawn_at=self.now,
            lease_until=lease_end(self.now, self.settings.lease_minutes),
            served_at=self.now if state == Trial.State.CURRENT else None,
        )
        self.trials.append((round_.pk, dialogue))
        self.exposed.add(dialogue)
        return trial
