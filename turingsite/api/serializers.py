"""What goes out, field by field. No keys of rows, no names, no codes that open anything, no recruiter ids."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from annotation.models import BatchItem, Layer, Score
from dialogues.datasets import rater_code, rater_kind, shown_reason, speaker_code
from dialogues.models import Choice, Dialogue, Kind, Modality, Nature, Party, StudyItem, Verdict
from studies.models import EndState, Language, Participant, Study

Text, Moment, Truth = serializers.CharField, serializers.DateTimeField, serializers.BooleanField


class Out(serializers.Serializer[Any]):
    # Only for answers; nothing is written through one. (A docstring would become part of the schema.)
    pass


class StudySerializer(Out):
    slug = Text(help_text=_("The study's address."))
    title_en = Text()
    title_zh = Text()
    status = serializers.ChoiceField(Study.Status.choices)
    languages = serializers.ListField(
        child=serializers.ChoiceField(Language.choices), help_text=_("Languages that people judge in.")
    )
    activities = serializers.ListField(child=Text(), help_text=_("What people do, in order."))
    time_zone = Text()
    created_at = Moment()
    opened_at = Moment(allow_null=True)
    closed_at = Moment(allow_null=True)


class ParticipantSerializer(Out):
    code = Text(help_text=_("Random code of the person in this study."))
    state = serializers.ChoiceField(Participant.State.choices)
    end_state = serializers.ChoiceField(
        EndState.choices, allow_blank=True, help_text=_("Empty while the participation goes on.")
    )
    interface_language = Text()
    judging_language = serializers.ChoiceField(Language.choices, allow_blank=True)
    source = Text(  # type: ignore[assignment]  # a column of ours, not the field's own attribute
        help_text=_("Tag of the link by which the person came.")
    )
    device_class = Text()
    is_pilot = Truth(help_text=_("Came while the study was a pilot."))
    is_test = Truth(help_text=_("A test participant."))
    joined_at = Moment()
    consented_at = Moment()
    completed_at = Moment(allow_null=True)
    withdrawn_at = Moment(allow_null=True)


class PartySerializer(Out):
    label = Text(  # type: ignore[assignment]  # as above
        help_text=_("A opens, B responds and is judged.")
    )
    nature = serializers.ChoiceField(Nature.choices)
    system = Text(
        source="system.code", default=None, allow_null=True, help_text=_("Code of the system that spoke.")
    )
    speaker = serializers.SerializerMethodField(
        help_text=_("Code of the person whose voice it is; empty after their withdrawal.")
    )

    def get_speaker(self, party: Party) -> str:
        who = party.speaker
        return speaker_code(who.code, who.withdrawn_at) if who else ""


class DialogueSerializer(Out):
    code = Text(help_text=_("Random code of the dialogue."))
    external_id = Text(help_text=_("Its id in the manifest."))
    modality = serializers.ChoiceField(Modality.choices)
    kind = serializers.ChoiceField(Kind.choices, help_text=_("Who speaker B is."))
    truth = serializers.ChoiceField(
        Nature.choices, help_text=_("Nature of speaker B; a pseudo-human is a machine.")
    )
    language = serializers.ChoiceField(Language.choices)
    topic = Text(source="topic.code", default=None, allow_null=True)
    strategy = Text(source="strategy.code", default=None, allow_null=True)
    opening = Text(help_text=_("Shared by dialogues that begin with the same words."))
    origin = serializers.ChoiceField(Dialogue.Origin.choices, allow_blank=True)
    state = serializers.ChoiceField(Dialogue.State.choices)
    duration = serializers.FloatField(
        source="play_duration", allow_null=True, help_text=_("Length of the playing file in seconds.")
    )
    role = serializers.ChoiceField(
        StudyItem.Role.choices,
        allow_null=True,
        help_text=_("What it is for in the study; null once it was taken out."),
    )
    is_active = Truth(allow_null=True, help_text=_("Still given to people."))
    parties = PartySerializer(many=True)
    flags = serializers.SerializerMethodField(help_text=_("Rules that the whole dialogue met."))

    @extend_schema_field(serializers.ListField(child=Text()))
    def get_flags(self, dialogue: Dialogue) -> list[str]:
        return [flag.rule for flag in dialogue.flags.all()]


class EvidenceSerializer(Out):
    # As stored with the verdict; null where nothing was reported.
    heard = serializers.FloatField(allow_null=True, help_text=_("Share of the clip that was heard."))
    replays = serializers.IntegerField(allow_null=True)
    pauses = serializers.IntegerField(allow_null=True)
    answer_ms = serializers.IntegerField(allow_null=True, help_text=_("From unlocking to the answer."))
    hidden = serializers.FloatField(allow_null=True, help_text=_("Seconds with the page out of view."))
    device = Text(allow_null=True)
    left = Text(allow_null=True, help_text=_("Answer that stood left."))
    gate = Text(allow_null=True, help_text=_("What unlocked the answers."))
    length = serializers.FloatField(allow_null=True, help_text=_("Length of the clip in seconds."))


NUMBERS = {"heard": float, "hidden": float, "length": float, "replays": int, "pauses": int, "answer_ms": int}
WORDS = ("device", "left", "gate")


class OpinionSerializer(Out):
    # Whose it is, and on which dialogue.
    rater = serializers.SerializerMethodField(help_text=_("Code of the person or machine."))
    rater_kind = serializers.SerializerMethodField()
    dialogue = Text(source="dialogue.code")
    kind = serializers.ChoiceField(Kind.choices, source="dialogue.kind")
    system = serializers.SerializerMethodField(help_text=_("Code of the system that spoke as B."))
    language = serializers.ChoiceField(Language.choices, source="dialogue.language")

    def get_rater(self, opinion: Verdict | Score) -> str:
        return rater_code(*self._rater(opinion))

    @extend_schema_field(serializers.ChoiceField(["participant", "machine", "staff"]))
    def get_rater_kind(self, opinion: Verdict | Score) -> str:
        return rater_kind(*self._rater(opinion))

    @extend_schema_field(Text(allow_null=True))
    def get_system(self, opinion: Verdict | Score) -> str | None:
        judged: list[Party] = opinion.dialogue.judged  # type: ignore[attr-defined]  # see selectors.verdicts_of
        system = judged[0].system if judged else None
        return system.code if system else None

    @staticmethod
    def _rater(opinion: Verdict | Score) -> tuple[str | None, str | None]:
        person, machine = opinion.rater.participant, opinion.rater.machine
        return person.code if person else None, machine.sha256 if machine else None


class ScoreSerializer(OpinionSerializer):
    taxonomy = Text(source="dimension.taxonomy.name")
    taxonomy_version = serializers.IntegerField(source="dimension.taxonomy.version")
    category = Text(source="dimension.category.key")
    dimension = Text(source="dimension.key", help_text=_("Key of the dimension."))
    layer = serializers.ChoiceField(
        Layer.choices,
        help_text=_(
            "raw: raters; blind-expert: experts without the truth; truth-shown: revised with it in sight."
        ),
    )
    repeat = serializers.IntegerField(help_text=_("0, or the number of the hidden repeat."))
    purpose = serializers.ChoiceField(
        BatchItem.Purpose.choices,
        source="put_for",
        allow_blank=True,
        help_text=_("What the rater was given it for; empty where a file did not say."),
    )
    score = serializers.IntegerField(
        source="value",
        min_value=1,
        max_value=5,
        help_text=_("1 machine-like to 5 human-like; 3 also where there is no evidence."),
    )
    evidence = Truth(help_text=_("There was evidence."))
    score_on_evidence = serializers.SerializerMethodField(help_text=_("Null where there is no evidence."))
    first_score = serializers.IntegerField(
        source="first_value", allow_null=True, help_text=_("The score first given, where it was changed.")
    )
    changes = serializers.IntegerField()
    exclusion = serializers.ChoiceField(
        [pair for pair in Score.Exclusion.choices if pair[0]],
        source="why",
        allow_blank=True,
        help_text=_("Why it is in no analysis; empty where it is analysed."),
    )
    given_at = Moment()
    changed_at = Moment(allow_null=True)

    @extend_schema_field(serializers.IntegerField(allow_null=True, min_value=1, max_value=5))
    def get_score_on_evidence(self, score: Score) -> int | None:
        return score.value if score.evidence else None


class VerdictSerializer(OpinionSerializer):
    activity = Text()
    repeat = serializers.IntegerField(help_text=_("Repeat of the same question to a machine; people have 0."))
    choice = serializers.ChoiceField(Choice.choices, help_text=_("The verdict."))
    first_choice = serializers.ChoiceField(
        Choice.choices, allow_blank=True, help_text=_("What was chosen first, before any change.")
    )
    confidence = serializers.IntegerField(
        allow_null=True, min_value=1, max_value=5, help_text=_("1 unsure to 5 certain.")
    )
    reason = serializers.SerializerMethodField(
        help_text=_("Reasons ticked; free text only with consent to publish it.")
    )
    evidence = serializers.SerializerMethodField()
    round_number = serializers.IntegerField()
    position = serializers.IntegerField()
    round_finished = Truth()
    exclusion = serializers.ChoiceField(
        [pair for pair in Verdict.Exclusion.choices if pair[0]],
        allow_blank=True,
        help_text=_("Why it is in no analysis; empty where it is analysed."),
    )
    protocol_breaks = serializers.ListField(
        child=Text(), help_text=_("What keeps it out of the set per_protocol.")
    )
    given_at = Moment()
    changed_at = Moment(allow_null=True)

    @extend_schema_field(serializers.DictField())
    def get_reason(self, verdict: Verdict) -> dict[str, Any]:
        reason = verdict.reason if isinstance(verdict.reason, dict) else {}
        person = verdict.rater.participant
        consent = getattr(person, "consent", None) if person else None
        shown: dict[str, Any] = shown_reason(reason, bool(consent and consent.publish_text))
        return shown

    @extend_schema_field(EvidenceSerializer)
    def get_evidence(self, verdict: Verdict) -> dict[str, Any]:
        stored = verdict.evidence if isinstance(verdict.evidence, dict) else {}
        return {
            **{name: _number(stored.get(name), kind) for name, kind in NUMBERS.items()},
            **{name: _word(stored.get(name)) for name in WORDS},
        }


def _number(value: Any, kind: Any) -> Any:
    """The number, or null where a browser reported something else."""
    return kind(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None
