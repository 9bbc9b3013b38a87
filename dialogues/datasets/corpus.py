"""Systems, dialogues, parties, turns, items, flags: what is judged, and what is known of it."""

from __future__ import annotations

from django.db.models import Case, Exists, F, JSONField, OuterRef, Q, QuerySet, Subquery, Value, When

from dialogues.models import (
    Dialogue,
    Flag,
    Kind,
    Modality,
    Nature,
    Party,
    StudyItem,
    System,
    Turn,
    TurnFile,
    Verdict,
)
from dialogues.withdrawing import of_withdrawn, withdrawn
from studies.models import Language, Study
from studies.tidy import Made, column, dataset

#: The party that is judged.
JUDGED = "B"


def _in_study(study: Study) -> Q:
    """Dialogues that belong to the study, or were judged in it before they were taken out."""
    return Q(pk__in=StudyItem.objects.filter(study=study).values("dialogue")) | Q(
        pk__in=Verdict.objects.filter(study=study).values("dialogue")
    )


def _dialogues(study: Study) -> QuerySet[Dialogue]:
    judged = Party.objects.filter(dialogue=OuterRef("pk"), label=JUDGED)
    return (
        Dialogue.objects.filter(_in_study(study))
        .annotate(
            judged_system=Subquery(judged.values("system__code")[:1]),
            transcribed=Exists(
                Turn.objects.filter(dialogue=OuterRef("pk"), party__label=JUDGED).exclude(text="")
            ),
            is_gone=Case(
                When(Q(state=Dialogue.State.WITHDRAWN) | Q(pk__in=withdrawn()), then=Value(True)),
                default=Value(False),
            ),
        )
        .order_by("external_id")
    )


def _systems(study: Study) -> QuerySet[System]:
    spoken = Party.objects.filter(dialogue__in=Dialogue.objects.filter(_in_study(study)))
    return System.objects.filter(pk__in=spoken.values("system")).order_by("code")


def _parties(study: Study) -> QuerySet[Party]:
    inside = Dialogue.objects.filter(_in_study(study))
    return Party.objects.filter(dialogue__in=inside).order_by("dialogue__external_id", "label")


def _turns(study: Study) -> QuerySet[Turn]:
    inside = Dialogue.objects.filter(_in_study(study))
    return Turn.objects.filter(~of_withdrawn(), dialogue__in=inside).order_by(
        "dialogue__external_id", "index"
    )


def _turn_files(study: Study) -> QuerySet[TurnFile]:
    inside = Dialogue.objects.filter(_in_study(study))
    return TurnFile.objects.filter(~of_withdrawn(), dialogue__in=inside).order_by(
        "dialogue__external_id", "index"
    )


def _items(study: Study) -> QuerySet[StudyItem]:
    return StudyItem.objects.filter(study=study).order_by("dialogue__external_id")


def _flags(study: Study) -> QuerySet[Flag]:
    inside = Dialogue.objects.filter(_in_study(study))
    return Flag.objects.filter(dialogue__in=inside).order_by("dialogue__external_id", "rule", "pk")


def speaker_code(code: str | None, withdrawn_at: object) -> str:
    return "" if withdrawn_at is not None else code or ""


def _of_recording(name: str, meaning: str, lookup: str = "", *, type: str = "string") -> Made:
    """A column of the dialogues that says something of the recording; empty once it is withdrawn."""
    empty = Value({}, JSONField()) if type == "object" else Value("")
    return column(
        name,
        f"{meaning}; empty after a withdrawal",
        (lookup or name, "is_gone"),
        type=type,
        make=lambda value, is_gone: empty.value if is_gone else value,
        sql=lambda study: Case(When(is_gone=True, then=empty), default=F(lookup or name)),
    )


SYSTEMS = dataset(
    "systems",
    "Machines that speak in the study's dialogues",
    models=("dialogues.System",),
    query=_systems,
    primary_key=("system",),
    columns=(
        column("system", "code of the system", "code"),
        column("name", "its name"),
        column("vendor", "who makes it"),
        column("version", "version or snapshot"),
        column("release_year", "year of release", type="integer", unit="year"),
        column("open_weights", "weights are public; empty where unknown", type="boolean"),
        column("languages", "languages it speaks", type="array"),
        column("role", "speech to speech, text to speech, or text", levels=System.Role.values),
        column("aliases", "other names for it", type="array"),
        column("benchmark", "scores it has on other benchmarks", type="object"),
    ),
)

DIALOGUES = dataset(
    "dialogues",
    "Dialogues of the study",
    models=("dialogues.Dialogue", "dialogues.Recording", "dialogues.Topic", "dialogues.Strategy"),
    query=_dialogues,
    language="language",
    primary_key=("dialogue",),
    columns=(
        column("dialogue", "random code of the dialogue", "code"),
        _of_recording("external_id", "id in the manifest"),
        column("modality", "speech or text", levels=Modality.values),
        column("kind", "who speaker B is", levels=Kind.values),
        column(
            "truth",
            "nature of speaker B; a pseudo-human is a machine",
            "kind",
            levels=Nature.values,
            make=lambda kind: "human" if kind == Kind.HUMAN_HUMAN else "machine",
            sql=lambda study: Case(
                When(kind=Kind.HUMAN_HUMAN, then=Value("human")), default=Value("machine")
            ),
        ),
        column("system", "system that spoke as B; empty where B is a person", "judged_system"),
        column("language", "language spoken", levels=Language.values),
        column("topic", "what it is about", "topic__code"),
        column("strategy", "how a human–machine dialogue was started", "strategy__code"),
        column("topic_en", "its English name, where it has one", "topic__label_en"),
        column("topic_zh", "its Chinese name, where it has one", "topic__label_zh"),
        column("strategy_en", "the strategy's English name, where it has one", "strategy__name_en"),
        column("strategy_zh", "the strategy's Chinese name, where it has one", "strategy__name_zh"),
        _of_recording("opening", "code shared by dialogues that begin with the same words"),
        column("origin", "where a human dialogue comes from", levels=Dialogue.Origin.values),
        _of_recording("source_corpus", "corpus it was taken from"),
        column("transcribed", "whether the words of speaker B are known", type="boolean"),
        column("state", "whether it can be played", levels=Dialogue.State.values),
        column("duration", "length of the playing file", "play_duration", type="number", unit="s"),
        _of_recording("content_sha256", "SHA-256 of the manifest row and its files", "content_hash"),
        _of_recording(
            "recording_sha256",
            "SHA-256 of the recording: received, or joined from turn_files",
            "recording__sha256",
        ),
        column("licence", "licence of the recording", "recording__licence"),
        _of_recording("quality", "quality report: levels, gaps, overlaps before and after", type="object"),
    ),
)

PARTIES = dataset(
    "parties",
    "Speakers of the dialogues",
    models=("dialogues.Party", "dialogues.Speaker"),
    query=_parties,
    language="dialogue__language",
    primary_key=("dialogue", "label"),
    columns=(
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("label", "A opens, B responds and is judged"),
        column("nature", "human or machine", levels=Nature.values),
        column("system", "system that spoke", "system__code"),
        column(
            "speaker",
            "code of the person whose voice it is; empty after their withdrawal",
            ("speaker__code", "speaker__withdrawn_at"),
            make=speaker_code,
            sql=lambda study: Case(When(speaker__withdrawn_at=None, then=F("speaker__code"))),
        ),
    ),
)

TURNS = dataset(
    "turns",
    "Turns in the playing files; none of withdrawn recordings",
    models=("dialogues.Turn",),
    query=_turns,
    language="dialogue__language",
    primary_key=("dialogue", "index"),
    columns=(
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("index", "place in the dialogue, from 0", type="integer"),
        column("label", "who speaks", "party__label"),
        column("start", "start in the original", type="number", unit="s"),
        column("end", "end in the original", type="number", unit="s"),
        column("play_start", "start in the playing file", type="number", unit="s"),
        column("play_end", "end in the playing file", type="number", unit="s"),
        column("source", "where the times come from", levels=Turn.Source.values),
    ),
)

TURN_FILES = dataset(
    "turn_files",
    "Files as received, of dialogues that came as one file a turn; none of withdrawn ones",
    models=("dialogues.TurnFile", "dialogues.Recording"),
    query=_turn_files,
    language="dialogue__language",
    primary_key=("dialogue", "index"),
    columns=(
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("index", "place among the dialogue's files, from 0", type="integer"),
        column("file_sha256", "SHA-256 of the file received", "recording__sha256"),
        column("duration", "its length", "recording__duration", type="number", unit="s"),
    ),
)

ITEMS = dataset(
    "items",
    "Which dialogues the study uses, and as what",
    models=("dialogues.StudyItem",),
    query=_items,
    language="dialogue__language",
    primary_key=("dialogue",),
    columns=(
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("role", "what it is for", levels=StudyItem.Role.values),
        column("expected", "of attention items: the answer that the voice asks for", levels=Nature.values),
        column("block", "period in which its system joined the study, from 1", type="integer"),
        column("is_active", "still given to people", type="boolean"),
        column("added_at", "when it joined the study", type="datetime"),
    ),
)

FLAGS = dataset(
    "flags",
    "Marks on dialogues and turns; they never delete anything",
    models=("dialogues.Flag",),
    query=_flags,
    language="dialogue__language",
    primary_key=("dialogue", "turn", "rule", "source"),
    columns=(
        column("dialogue", "code of the dialogue", "dialogue__code"),
        column("turn", "turn marked; empty for the whole dialogue", "turn__index", type="integer"),
        column("rule", "rule that was met"),
        column("value", "the number that met it, in the rule's unit", type="number"),
        column("source", "who marked it: quality (the sound), rule (the transcript), review (a person)"),
        column("raised_at", "when it was marked", type="datetime"),
        column("review", "what a person made of it", levels=("confirmed", "rejected")),
        column("reviewed_at", "when that was", type="datetime"),
    ),
)
