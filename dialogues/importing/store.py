"""Write what a plan says: recording, systems, topic, speakers, dialogue with parties and turns, item, job.

Called by ``services`` inside the transaction of one row; never on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Q

from dialogues import builtin, flagging
from dialogues.flagging import Wanted
from dialogues.importing.files import Kept
from dialogues.importing.known import Known, new_code
from dialogues.importing.plan import Checked, Plan
from dialogues.models import (
    Dialogue,
    Kind,
    Nature,
    Party,
    ProcessingJob,
    Recording,
    Speaker,
    Strategy,
    StudyItem,
    System,
    Topic,
    Turn,
    TurnFile,
)
from dialogues.processing.flags import of_length
from dialogues.transcripts import services as transcripts
from studies import audit
from studies.models import Study


@dataclass(frozen=True)
class Sound:
    """A kept file with what decoding it showed. ``parts``: the files as received that it was joined from."""

    kept: Kept
    codec: str
    sample_rate: int
    channels: int
    duration: float
    parts: tuple[Sound, ...] = ()


def store(checked: Checked, sound: Sound, known: Known) -> Dialogue:
    """The dialogue of an accepted plan, waiting for processing."""
    plan = checked.plan
    received = [_recording(plan, part) for part in sound.parts]
    recording = _recording(plan, sound, received)
    dialogue = _dialogue(checked, known, recording=recording, channels=plan.channels)
    TurnFile.objects.bulk_create(
        TurnFile(dialogue=dialogue, index=index, recording=part) for index, part in enumerate(received)
    )
    parties = {label: _party(dialogue, plan, label, known) for label in "AB"}
    Turn.objects.bulk_create(
        Turn(
            dialogue=dialogue,
            party=parties[turn.speaker],
            index=index,
            start=round(turn.start, 4),
            end=round(turn.end, 4),
            text=turn.text,
        )
        for index, turn in enumerate(plan.turns)
    )
    if any(turn.text for turn in plan.turns):
        transcripts.scan(dialogue=dialogue)
    # The seed follows the content, so that a second installation draws the same gaps.
    ProcessingJob.objects.create(dialogue=dialogue, seed=int(checked.content_hash[:15], 16))
    return dialogue


def declare(checked: Checked, known: Known) -> Dialogue:
    """The dialogue of an accepted plan without sound: no recording, no job, a state that nothing plays."""
    dialogue = _dialogue(checked, known, state=Dialogue.State.DECLARED, play_duration=checked.plan.declared)
    for label in "AB":
        _party(dialogue, checked.plan, label, known)
    wanted = [Wanted(one.rule, one.value, one.evidence) for one in of_length(checked.plan.declared or 0.0)]
    flagging.renew(dialogue, source="quality", wanted=wanted)
    return dialogue


def _dialogue(checked: Checked, known: Known, **fields: Any) -> Dialogue:
    plan = checked.plan
    return Dialogue.objects.create(
        external_id=plan.external_id,
        content_hash=checked.content_hash,
        kind=plan.kind,
        language=plan.language,
        topic=_topic(plan, known),
        strategy=_strategy(plan.strategy),
        opening=plan.opening,
        origin=plan.origin,
        source_corpus=plan.source_corpus,
        **fields,
    )


def put_into_study(dialogue: Dialogue, study: Study, plan: Plan) -> tuple[StudyItem, bool]:
    """Make the dialogue an item of the study; the item, and whether it is new.

    A system that enters a study which was opened before starts a block of its own.
    """
    role = plan.role or StudyItem.Role.MAIN
    return StudyItem.objects.get_or_create(
        study=study,
        dialogue=dialogue,
        defaults={
            "role": role,
            "expected": plan.expected,
            # A spoken instruction is judged in no period.
            "block": _block(dialogue, study) if role == StudyItem.Role.MAIN else 1,
        },
    )


def _block(dialogue: Dialogue, study: Study) -> int:
    if study.opened_at is None:
        return 1
    system = dialogue.parties.filter(label="B").values_list("system", flat=True).first()
    if system is None:
        return 1
    items = StudyItem.objects.filter(study=study)
    own = items.filter(dialogue__parties__label="B", dialogue__parties__system=system).aggregate(
        n=Max("block")
    )["n"]
    if own:
        return int(own)
    last = items.order_by("-block").values("block", "added_at").first()
    if last is None:
        return 1
    # Systems that come in before anybody judged the last block share it.
    judged = study.verdicts.of_game().filter(given_at__gte=last["added_at"]).exists()
    return int(last["block"]) + (1 if judged or last["block"] == 1 else 0)


def _recording(plan: Plan, sound: Sound, parts: Sequence[Recording] = ()) -> Recording:
    """The row of a kept file. What is joined from ``parts`` has no right that one of them lacks."""
    agreed = plan.consent
    recording, made = Recording.objects.get_or_create(
        sha256=sound.kept.sha256,
        defaults={
            "path": sound.kept.path,
            "size": sound.kept.size,
            "codec": sound.codec[:40],
            "sample_rate": sound.sample_rate,
            "channels": sound.channels,
            "duration": sound.duration,
            "licence": plan.licence,
            "is_joined": bool(sound.parts),
            # What the speakers did not agree to, no licence allows.
            "may_play": plan.may_play
            and (agreed is None or "played" in agreed)
            and all(part.may_play for part in parts),
            "may_redistribute": plan.may_redistribute
            and (agreed is None or "published" in agreed)
            and all(part.may_redistribute for part in parts),
            "may_derive": plan.may_derive
            and (agreed is None or bool({"cloned", "training"} & set(agreed)))
            and all(part.may_derive for part in parts),
        },
    )
    if not made:
        _narrow(recording, plan)
    return recording


def _narrow(recording: Recording, plan: Plan) -> None:
    """A later row about the same sound may take rights away, never add any: the narrower of both counts."""
    agreed = plan.consent
    refused = {
        "may_play": not plan.may_play or (agreed is not None and "played" not in agreed),
        # Nothing said means no by default, which takes nothing back.
        "may_redistribute": agreed is not None and "published" not in agreed,
        "may_derive": not plan.may_derive
        or (agreed is not None and not {"cloned", "training"} & set(agreed)),
    }
    gone = [name for name, is_refused in refused.items() if is_refused and getattr(recording, name)]
    if gone:
        joined = Dialogue.objects.filter(turn_files__recording=recording).values("recording")
        Recording.objects.filter(Q(pk=recording.pk) | Q(pk__in=joined)).update(**dict.fromkeys(gone, False))
        audit.record("recording.narrowed", target=recording.sha256[:12], rights=gone)
        recording.refresh_from_db()


def _topic(plan: Plan, known: Known) -> Topic | None:
    if not plan.topic:
        return None
    entry = known.topic(plan.topic)
    if entry is None:
        code = new_code(plan.topic, taken=lambda c: Topic.objects.filter(code=c).exists())
        topic = Topic.objects.create(code=code, **{f"label_{plan.language}": plan.topic})
        known.refresh()
        return topic
    topic, _ = Topic.objects.get_or_create(
        code=entry["code"], defaults={"label_en": entry["label_en"], "label_zh": entry["label_zh"]}
    )
    return topic


def _strategy(code: str) -> Strategy | None:
    if not code:
        return None
    entry = next((e for e in builtin.strategies() if e["code"] == code), {"code": code})
    strategy, _ = Strategy.objects.get_or_create(
        code=code, defaults={"name_en": entry.get("name_en", code), "name_zh": entry.get("name_zh", "")}
    )
    return strategy


def _party(dialogue: Dialogue, plan: Plan, label: str, known: Known) -> Party:
    name = plan.systems.get(label)
    return Party.objects.create(
        dialogue=dialogue,
        label=label,
        nature=_nature(plan, label),
        system=system_called(name, kind=plan.kind, known=known) if name else None,
        speaker=_speaker(plan, plan.speakers[label]) if label in plan.speakers else None,
    )


def system_called(name: str, *, kind: str, known: Known) -> System:
    """The system of that name, made from the built-in table or as a new one where the import may do so."""
    entry = known.system(name)
    if entry is not None:
        return built_in_system(entry)
    system = System.objects.create(
        name=name,
        code=new_code(name, taken=lambda c: System.objects.filter(code=c).exists()),
        role=System.Role.TTS if kind == Kind.PSEUDO_HUMAN else System.Role.S2S,
    )
    known.refresh()
    return system


def built_in_system(entry: dict[str, Any]) -> System:
    """The row of a known system, written on first use."""
    fields = ("name", "vendor", "version", "release_year", "open_weights", "languages", "role", "aliases")
    system, _ = System.objects.get_or_create(
        code=entry["code"], defaults={name: entry[name] for name in fields if name in entry}
    )
    return system


def _nature(plan: Plan, label: str) -> str:
    """A machine speaks where a system is named, and where the kind says so though no system is known."""
    of_kind = {"B": plan.kind != Kind.HUMAN_HUMAN, "A": plan.kind == Kind.PSEUDO_HUMAN}
    return Nature.MACHINE if label in plan.systems or of_kind[label] else Nature.HUMAN


def _speaker(plan: Plan, code: str) -> Speaker:
    speaker, _ = Speaker.objects.get_or_create(
        code=code, defaults={"languages": [plan.language], **plan.agreed}
    )
    return speaker
