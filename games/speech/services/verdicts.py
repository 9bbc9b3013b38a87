"""Answers: one row per person and dialogue whatever is clicked twice, with the evidence and what excludes
it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from dialogues import time_line
from dialogues.listening import COVERED, Listening, is_claimed
from dialogues.models import Choice, Verdict
from dialogues.withdrawing import is_withdrawn
from games.speech.assignment import ACTIVITY
from games.speech.models import SpeechPlayer, Trial
from games.speech.services import listening
from games.speech.services.players import access_trial, moved_on
from studies.models import Participant
from studies.prepared import PreparedCreate, PreparedUpdate
from studies.services.holding import refuse_if_over
from turingsite.errors import Conflict, Invalid

TOO_FAST = 0.9  # of the length after the first byte
CHECKS_FAILED = 2  # so many failed checks mark a person's verdicts
LONGEST_REASON = 1000
LONGEST_WAIT = 86_400_000  # ms

_GIVEN = PreparedCreate(Verdict)
_ANSWERED = PreparedUpdate(Trial, "answer", "verdict", *listening.HEARING_FIELDS, guard="state")


@transaction.atomic
def give_verdict(
    *,
    participant: Participant,
    code: str,
    choice: str,
    now: datetime,
    answer_ms: int | None = None,
    confidence: int | None = None,
    reason: dict[str, Any] | None = None,
    report: Listening | None = None,
    scripted: bool = True,
) -> Trial:
    """Store what a person says about speaker B, or change it while the trial is current; the first choice is
    kept.

    Gone after withdrawal or in a closed study; NotFound for what was not served; Conflict ``not_heard``
    while the gate is locked, ``moved_on`` for another answer once the person went on. The same answer again
    changes nothing.
    """
    refuse_if_over(participant)
    if choice not in (Choice.HUMAN, Choice.MACHINE):
        raise Invalid(
            "bad_choice", _("Answer human or machine."), fields={"choice": _("Answer human or machine.")}
        )
    if confidence is not None and not 1 <= confidence <= 5:
        raise Invalid("bad_confidence", _("Confidence goes from 1 to 5."))
    trial = access_trial(participant, code)
    if trial.state != Trial.State.CURRENT:
        if trial.answer == choice:
            return trial
        raise moved_on()
    if report is not None:
        listening.apply(trial, report, participant=participant, now=now)
    listening.open_gate(trial, scripted=scripted, now=now)
    if not trial.gate:
        raise Conflict("not_heard", _("You can answer once you have heard it all."))
    if trial.answer and trial.verdict_id is None:
        return _answered(trial, choice)  # met again for fun: the verdict of the first time stands
    asked: dict[str, Any] = {} if confidence is None else {"confidence": confidence}
    if reason:
        asked["reason"] = _tidy(reason)
    if trial.verdict_id is None:
        trial.verdict = _first(trial, participant, choice, asked, now=now, answer_ms=answer_ms)
    else:
        _again(trial, participant, choice, asked, now=now, answer_ms=answer_ms)
    return _answered(trial, choice)


def _answered(trial: Trial, choice: str) -> Trial:
    """Store the trial with its answer and what was heard; the trial is locked and current."""
    trial.answer = choice
    values = (choice, trial.verdict_id, *listening.heard_of(trial))
    if not _ANSWERED.write(trial.pk, *values, was=Trial.State.CURRENT):
        raise moved_on()
    return trial


def _first(
    trial: Trial,
    participant: Participant,
    choice: str,
    asked: dict[str, Any],
    *,
    now: datetime,
    answer_ms: int | None,
) -> Verdict | None:
    """The verdict row of this trial; None where the dialogue was judged before (only for fun)."""
    whose = {"study_id": participant.study_id, "rater": participant.rater, "dialogue_id": trial.dialogue_id}
    if trial.round.for_fun and Verdict.objects.filter(**whose, repeat=0).exists():
        return None
    verdict = Verdict(
        **whose,
        repeat=0,
        activity=ACTIVITY,
        choice=choice,
        first_choice=choice,
        evidence=evidence(trial, participant, answer_ms=answer_ms),
        round_number=trial.round.number,
        position=trial.position,
        exclusion=exclusion(trial, participant),
        protocol_breaks=protocol_breaks(trial, participant, now=now),
        given_at=now,
        **asked,
    )
    _GIVEN.write(verdict)
    return verdict


def _again(
    trial: Trial,
    participant: Participant,
    choice: str,
    asked: dict[str, Any],
    *,
    now: datetime,
    answer_ms: int | None,
) -> None:
    """Change the verdict where the person changed it; when the first one was made stays in the evidence."""
    verdict = trial.verdict
    assert verdict is not None  # noqa: S101  (its key was just seen)
    for name, value in asked.items():
        setattr(verdict, name, value)
    if verdict.choice != choice:
        verdict.choice = choice
        verdict.changed_at = now
        first = verdict.evidence.get("first_answer_ms", verdict.evidence.get("answer_ms"))
        verdict.evidence = evidence(trial, participant, answer_ms=answer_ms) | {"first_answer_ms": first}
    elif not asked:
        return
    verdict.save(update_fields=["choice", "changed_at", "evidence", "confidence", "reason"])


def evidence(trial: Trial, participant: Participant, *, answer_ms: int | None) -> dict[str, Any]:
    """How the dialogue was heard and answered. Times in seconds unless named, moments in ISO 8601."""
    left = "human" if trial.round.player.human_left else "machine"
    found: dict[str, Any] = {
        "heard": round(trial.heard, 4),
        "replays": max(trial.plays - 1, 0),
        "pauses": trial.pauses,
        "answer_ms": None if answer_ms is None else min(max(answer_ms, 0), LONGEST_WAIT),
        "hidden": round(trial.hidden_seconds, 1),
        "device": participant.device_class,
        "left": left,
        "gate": trial.gate,
        "length": round(time_line.length(trial.exposure, trial.dialogue), 3),
        "served_at": _iso(trial.served_at),
        "first_byte_at": _iso(trial.exposure.first_byte_at),
        "first_play_at": _iso(trial.first_play_at),
        "unlocked_at": _iso(trial.unlocked_at),
    }
    if is_claimed(participant):
        found["claimed"] = True
    return found


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="milliseconds") if moment else None


def exclusion(trial: Trial, participant: Participant) -> str:
    """Why a verdict is not in the set *all*, or nothing. Where several apply, a check is a check before all,
    then comes the one about the person.
    """
    if trial.is_check:
        return Verdict.Exclusion.CHECK
    if participant.is_test:
        return Verdict.Exclusion.TEST
    if participant.is_pilot:
        return Verdict.Exclusion.PILOT
    if trial.round.for_fun:
        return Verdict.Exclusion.FOR_FUN
    if trial.known:
        return Verdict.Exclusion.KNOWN
    if is_withdrawn(trial.dialogue_id):  # while it was being judged
        return Verdict.Exclusion.RECORDING
    return Verdict.Exclusion.NONE


def protocol_breaks(trial: Trial, participant: Participant, *, now: datetime) -> list[str]:
    """All that keeps a verdict out of *per_protocol*."""
    length = time_line.length(trial.exposure, trial.dialogue)
    served = trial.served_at or trial.drawn_at
    # Fetched ahead, the first byte is older than the trial: nobody heard it before it was served.
    start = max(trial.exposure.first_byte_at or served, served)
    too_fast = (now - start).total_seconds() < TOO_FAST * length and not is_claimed(participant)
    breaks = {
        "too_fast": too_fast,
        "not_listened": trial.heard < COVERED and trial.gate != Trial.Gate.ENDED,
        "known": trial.known,
        "for_fun": trial.round.for_fun,
        "pilot": participant.is_pilot,
        "test": participant.is_test,
        "checks_failed": trial.round.player.checks_failed >= CHECKS_FAILED,
    }
    return [name for name, broken in breaks.items() if broken]


def _tidy(reason: dict[str, Any]) -> dict[str, Any]:
    ticks = reason.get("ticks") or []
    if not isinstance(ticks, list):
        raise Invalid("bad_reason", _("The reason cannot be read."))
    text = storable(str(reason.get("text") or ""), LONGEST_REASON)
    return {"ticks": [storable(str(tick), 20) for tick in ticks[:10]], "text": text}


def storable(text: str, longest: int) -> str:
    """``text`` without what a database refuses (NUL, halves of surrogate pairs), cut to ``longest``
    characters.
    """
    return text.replace("\x00", "").encode("utf-8", "ignore").decode("utf-8")[:longest]


@transaction.atomic
def mark_known(*, participant: Participant, code: str, known: bool, now: datetime) -> Trial:
    """“I know this recording”, or not after all; until the next one is asked for. The verdict is kept either
    way.
    """
    refuse_if_over(participant)
    trial = access_trial(participant, code)
    if trial.state != Trial.State.CURRENT:
        if trial.known == known:
            return trial
        raise moved_on()
    trial.known = known
    trial.save(update_fields=["known"])
    verdict = trial.verdict
    if verdict is not None:
        verdict.exclusion = exclusion(trial, participant)
        others = [name for name in verdict.protocol_breaks if name != "known"]
        verdict.protocol_breaks = [*others, "known"] if known else others
        verdict.save(update_fields=["exclusion", "protocol_breaks"])
    return trial


def mark_checks_failed(player: SpeechPlayer) -> None:
    """Two failed checks mark every verdict of the person; later ones are marked as they come."""
    changed = []
    for verdict in Verdict.objects.filter(rater__participant=player.participant_id, activity=ACTIVITY):
        if "checks_failed" not in verdict.protocol_breaks:
            verdict.protocol_breaks = [*verdict.protocol_breaks, "checks_failed"]
            changed.append(verdict)
    Verdict.objects.bulk_update(changed, ["protocol_breaks"])
