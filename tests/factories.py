"""The smallest valid object of each kind. Rules of order live in services: these write rows as they stand."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

import factory
from django.contrib.auth import get_user_model
from factory.django import DjangoModelFactory

from annotation import models as annotation
from annotation.services.taxonomies import default_taxonomy
from dialogues import models as corpus
from games.speech import models as speech
from studies import models as studies

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

BODY = {
    language: {
        "tagline": "Hear short conversations.",
        "summary": [["Who", "A university"]],
        "sections": [["What you do", "You listen and answer."]],
        "debrief": [["What was studied", "How people tell human from machine speech."]],
    }
    for language in ("en", "zh")
}


class UserFactory(DjangoModelFactory):
    class Meta:
        model = get_user_model()
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"user{n}")
    password = factory.django.Password("a password for tests")


class StudyFactory(DjangoModelFactory):
    class Meta:
        model = studies.Study

    slug = factory.Sequence(lambda n: f"study-{n}")
    title_en = "Short conversations"
    title_zh = "听对话"
    status = studies.Study.Status.OPEN
    languages = factory.LazyFunction(lambda: ["en", "zh"])
    activities = factory.LazyFunction(lambda: ["speech"])
    seed = 20260302
    host = "A university"
    contact = "study@example.org"


class StudyMemberFactory(DjangoModelFactory):
    class Meta:
        model = studies.StudyMember

    study = factory.SubFactory(StudyFactory)
    user = factory.SubFactory(UserFactory, is_staff=True)
    role = studies.StudyMember.Role.RESEARCHER


class ConsentTextFactory(DjangoModelFactory):
    class Meta:
        model = studies.ConsentText

    study = factory.SubFactory(StudyFactory)
    version = 1
    body = factory.LazyFunction(lambda: BODY)
    sha256 = "0" * 64


class CompletionFactory(DjangoModelFactory):
    class Meta:
        model = studies.Completion

    study = factory.SubFactory(StudyFactory)
    end_state = studies.EndState.DONE
    code = factory.LazyAttribute(lambda row: f"CODE-{row.end_state}".upper())


class QuestionnaireFactory(DjangoModelFactory):
    class Meta:
        model = studies.Questionnaire

    study = factory.SubFactory(StudyFactory)
    key = "profile"
    title_en = "About you"
    title_zh = "关于您"
    questions = factory.LazyFunction(
        lambda: [
            {
                "key": "age",
                "kind": "single",
                "required": True,
                "text": {"en": "How old are you?", "zh": "您的年龄？"},
                "options": [
                    {"value": "18-25", "label": {"en": "18–25", "zh": "18–25 岁"}},
                    {"value": "26-35", "label": {"en": "26–35", "zh": "26–35 岁"}},
                ],
            }
        ]
    )


class ParticipantFactory(DjangoModelFactory):
    """A person who consented, with their rater."""

    class Meta:
        model = studies.Participant
        skip_postgeneration_save = True

    study = factory.SubFactory(StudyFactory)
    state = studies.Participant.State.CONSENTED
    judging_language = "en"
    joined_at = NOW
    consented_at = NOW
    rater = factory.RelatedFactory("tests.factories.RaterFactory", factory_related_name="participant")


class RaterFactory(DjangoModelFactory):
    class Meta:
        model = studies.Rater

    participant = factory.SubFactory(ParticipantFactory, rater=None)


class ConsentFactory(DjangoModelFactory):
    class Meta:
        model = studies.Consent

    participant = factory.SubFactory(ParticipantFactory)
    text = factory.SubFactory(ConsentTextFactory, study=factory.SelfAttribute("..participant.study"))
    sha256 = "0" * 64
    language = "en"
    given_at = NOW


class AnswerFactory(DjangoModelFactory):
    class Meta:
        model = studies.Answer

    rater = factory.SubFactory(RaterFactory)
    questionnaire = factory.SubFactory(
        QuestionnaireFactory, study=factory.SelfAttribute("..rater.participant.study")
    )
    question = "age"
    value = "18-25"
    scale = factory.LazyFunction(lambda: ["18-25", "26-35"])
    language = "en"
    answered_at = NOW


class SystemFactory(DjangoModelFactory):
    class Meta:
        model = corpus.System

    name = factory.Sequence(lambda n: f"System {n}")
    code = factory.Sequence(lambda n: f"system-{n}")


class SpeakerFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Speaker

    code = factory.Sequence(lambda n: f"speaker-{n}")


class TopicFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Topic

    code = factory.Sequence(lambda n: f"topic-{n}")
    label_en = factory.LazyAttribute(lambda row: f"Label of {row.code}")
    label_zh = factory.LazyAttribute(lambda row: f"{row.code} 标签")


class StrategyFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Strategy

    code = factory.Sequence(lambda n: f"strategy-{n}")


class RecordingFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Recording

    sha256 = factory.Sequence(lambda n: hashlib.sha256(str(n).encode()).hexdigest())
    path = factory.LazyAttribute(lambda row: f"originals/{row.sha256}.wav")
    duration = 30.0


class DialogueFactory(DjangoModelFactory):
    """A dialogue ready to play, of four turns. Speaker B is a person for ``human_human``, a system otherwise.

    ``system=`` and ``speaker_a=`` choose who speaks; no file is written.
    """

    class Meta:
        model = corpus.Dialogue
        skip_postgeneration_save = True

    external_id = factory.Sequence(lambda n: f"dialogue-{n}")
    content_hash = factory.LazyAttribute(lambda row: hashlib.sha256(row.external_id.encode()).hexdigest())
    kind = corpus.Kind.HUMAN_HUMAN
    language = "en"
    topic = factory.SubFactory(TopicFactory)
    opening = factory.Sequence(lambda n: f"opening-{n}")
    recording = factory.SubFactory(RecordingFactory)
    state = corpus.Dialogue.State.READY
    play_path = factory.LazyAttribute(lambda row: f"play/{row.content_hash}.mp3")
    play_duration = 30.0
    play_size = 180_000

    @factory.post_generation
    def system(self: corpus.Dialogue, create: bool, given: corpus.System | None, **extra: Any) -> None:
        if create:
            machine = None if self.truth == corpus.Nature.HUMAN else given or SystemFactory()
            speaker = SpeakerFactory() if machine is None else None
            self.parties.create(label="B", nature=self.truth, system=machine, speaker=speaker)

    @factory.post_generation
    def speaker_a(self: corpus.Dialogue, create: bool, given: corpus.Speaker | None, **extra: Any) -> None:
        if create:
            a = self.parties.create(
                label="A", nature=corpus.Nature.HUMAN, speaker=given or SpeakerFactory(), system=None
            )
            b = self.parties.get(label="B")
            quarter = (self.play_duration or 30.0) / 4
            corpus.Turn.objects.bulk_create(
                corpus.Turn(
                    dialogue=self,
                    party=a if index % 2 == 0 else b,
                    index=index,
                    start=index * quarter,
                    end=(index + 1) * quarter,
                    play_start=index * quarter,
                    play_end=(index + 1) * quarter,
                )
                for index in range(4)
            )


class StudyItemFactory(DjangoModelFactory):
    class Meta:
        model = corpus.StudyItem

    study = factory.SubFactory(StudyFactory)
    dialogue = factory.SubFactory(DialogueFactory)


class ExposureFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Exposure

    rater = factory.SubFactory(RaterFactory)
    study = factory.SelfAttribute("rater.participant.study")
    dialogue = factory.SubFactory(DialogueFactory)
    given_at = NOW


class VerdictFactory(DjangoModelFactory):
    class Meta:
        model = corpus.Verdict

    rater = factory.SubFactory(RaterFactory)
    study = factory.SelfAttribute("rater.participant.study")
    dialogue = factory.SubFactory(DialogueFactory)
    activity = "speech"
    choice = corpus.Choice.HUMAN
    first_choice = factory.SelfAttribute("choice")
    round_number = 1
    position = 1
    given_at = NOW


class SpeechSettingsFactory(DjangoModelFactory):
    class Meta:
        model = speech.SpeechSettings

    study = factory.SubFactory(StudyFactory)


class SpeechPlayerFactory(DjangoModelFactory):
    class Meta:
        model = speech.SpeechPlayer

    participant = factory.SubFactory(ParticipantFactory)
    human_left = True
    sound_passed = True


class RoundFactory(DjangoModelFactory):
    class Meta:
        model = speech.Round

    player = factory.SubFactory(SpeechPlayerFactory)
    number = 1
    language = "en"
    started_at = NOW


class TrialFactory(DjangoModelFactory):
    class Meta:
        model = speech.Trial

    round = factory.SubFactory(RoundFactory)
    position = 1
    dialogue = factory.SubFactory(DialogueFactory)
    exposure = factory.LazyAttribute(
        lambda row: ExposureFactory(rater=row.round.player.participant.rater, dialogue=row.dialogue)
    )
    drawn_at = NOW
    lease_until = NOW


class AnnotationSettingsFactory(DjangoModelFactory):
    class Meta:
        model = annotation.AnnotationSettings

    study = factory.SubFactory(StudyFactory, activities=["annotation"])
    taxonomy = factory.LazyFunction(default_taxonomy)
    calibration = False
    gold_share = 0.0


class AnnotatorFactory(DjangoModelFactory):
    """A participant who annotates, past the guidelines and calibration."""

    class Meta:
        model = annotation.Annotator

    participant = factory.SubFactory(ParticipantFactory)
    state = annotation.Annotator.State.WORKING
    category_order = factory.LazyFunction(
        lambda: [row.key for row in default_taxonomy().categories.order_by("position")]
    )
    joined_at = NOW
    passed_at = NOW


class BatchFactory(DjangoModelFactory):
    class Meta:
        model = annotation.Batch

    annotator = factory.SubFactory(AnnotatorFactory)
    number = factory.LazyAttribute(lambda row: row.annotator.batches.count() + 1)
    kind = annotation.Batch.Kind.WORK
    started_at = NOW
    lease_until = NOW


class BatchItemFactory(DjangoModelFactory):
    """One dialogue in a batch, ordinary work on the first place, nothing said yet."""

    class Meta:
        model = annotation.BatchItem

    batch = factory.SubFactory(BatchFactory)
    rater = factory.SelfAttribute("batch.annotator.participant.rater")
    study = factory.SelfAttribute("batch.annotator.participant.study")
    dialogue = factory.SubFactory(DialogueFactory)
    position = factory.LazyAttribute(lambda row: row.batch.items.count() + 1)
    purpose = annotation.BatchItem.Purpose.WORK
    exposure = factory.LazyAttribute(lambda row: ExposureFactory(rater=row.rater, dialogue=row.dialogue))
    given_at = NOW


class ScoreFactory(DjangoModelFactory):
    """A score without an item, as imported; ``dimension`` is the first one."""

    class Meta:
        model = annotation.Score

    rater = factory.SubFactory(RaterFactory)
    study = factory.SelfAttribute("rater.participant.study")
    dialogue = factory.SubFactory(DialogueFactory)
    dimension = factory.LazyFunction(lambda: default_taxonomy().dimensions.order_by("position").first())
    value = 4
    given_at = NOW


def annotate(
    item: annotation.BatchItem, values: dict[str, int | None] | int = 4, choice: str = "human"
) -> annotation.BatchItem:
    """Fill ``item`` in as a finished one: a score for every dimension (None: no evidence), choice, place."""
    dimensions = default_taxonomy().dimensions.all()
    for dimension in dimensions:
        value = values if isinstance(values, int) else values.get(dimension.key, 4)
        annotation.Score.objects.create(
            study=item.study,
            rater=item.rater,
            dialogue=item.dialogue,
            dimension=dimension,
            layer=item.layer,
            repeat=item.repeat,
            item=item,
            value=value or 3,
            evidence=value is not None,
            given_at=NOW,
        )
    if item.purpose == annotation.BatchItem.Purpose.WORK and item.place is None:
        taken = annotation.BatchItem.objects.filter(
            study=item.study, dialogue=item.dialogue, layer=item.layer, place__isnull=False
        ).count()
        item.place = taken + 1
    item.choice, item.confidence, item.state = choice, 4, annotation.BatchItem.State.FINISHED
    item.finished_at = NOW
    item.save()
    return item


def annotated_study(
    slug: str = "scored", *, dialogues: int = 4, raters: int = 3, values: dict[str, int | None] | int = 4
) -> studies.Study:
    """A study whose dialogues (half human, half machine) are scored by ``raters`` people, alike."""
    study = StudyFactory(slug=slug, languages=["en"], activities=["annotation"])
    AnnotationSettingsFactory(study=study, raters=raters)
    kinds = (corpus.Kind.HUMAN_HUMAN, corpus.Kind.PSEUDO_HUMAN)
    items = [add_dialogue(study, kind=kinds[n % 2]) for n in range(dialogues)]
    for _ in range(raters):
        annotator = AnnotatorFactory(participant=ParticipantFactory(study=study))
        batch = BatchFactory(annotator=annotator, state=annotation.Batch.State.FINISHED, finished_at=NOW)
        for dialogue in items:
            annotate(BatchItemFactory(batch=batch, dialogue=dialogue), values)
    return study


def speech_study(
    slug: str = "game",
    *,
    systems: int = 6,
    per_system: int = 1,
    languages: tuple[str, ...] = ("en",),
    **settings: Any,
) -> studies.Study:
    """A study with enough dialogues for rounds of any composition; ``settings`` go to its speech game.

    Per language: ``systems`` of each machine kind, ``per_system`` dialogues each, and as many of people.
    """
    study = StudyFactory(slug=slug, languages=list(languages))
    SpeechSettingsFactory(study=study, **{"sound_check": False, "content_checks": 0} | settings)
    topics = [TopicFactory() for _ in range(6)]
    for language in languages:
        for kind in (corpus.Kind.HUMAN_MACHINE, corpus.Kind.PSEUDO_HUMAN):
            for _ in range(systems):
                system = SystemFactory()
                for n in range(per_system):
                    add_dialogue(study, kind=kind, language=language, system=system, topic=topics[n % 6])
        for n in range(2 * systems * per_system):
            add_dialogue(study, kind=corpus.Kind.HUMAN_HUMAN, language=language, topic=topics[n % 6])
    return study


def add_dialogue(study: studies.Study, **fields: Any) -> corpus.Dialogue:
    dialogue: corpus.Dialogue = DialogueFactory(**fields)
    StudyItemFactory(study=study, dialogue=dialogue)
    return dialogue


def known_dialogue(
    study: studies.Study,
    values: dict[str, int | None] | int = 4,
    *,
    role: str = annotation.ReferenceDialogue.Role.CALIBRATION,
    **fields: Any,
) -> annotation.ReferenceDialogue:
    """A dialogue of the study with known scores (None: no evidence) on the dimensions named, or on all."""
    dialogue = add_dialogue(study, **fields)
    reference = annotation.ReferenceDialogue.objects.create(
        study=study, dialogue=dialogue, role=role, source="review", added_at=NOW
    )
    for dimension in default_taxonomy().dimensions.all():
        if isinstance(values, int) or dimension.key in values:
            value = values if isinstance(values, int) else values[dimension.key]
            annotation.ReferenceScore.objects.create(
                reference=reference, dimension=dimension, value=value or 3, evidence=value is not None
            )
    return reference
