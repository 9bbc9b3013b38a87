"""A study that has met everything the annotation's tables can hold: layers, repeats, review, references."""

from __future__ import annotations

from datetime import timedelta

from annotation.models import (
    Attempt,
    Batch,
    BatchItem,
    GuidelineConfirmation,
    Invitation,
    Layer,
    ReferenceDialogue,
    ReferenceScore,
    Resolution,
    ReviewCase,
    ReviewComment,
    ReviewDecision,
    Score,
    WorkSession,
)
from dialogues.models import Dialogue
from studies.models import Participant
from tests import factories
from tests.factories import NOW

LATER = NOW + timedelta(hours=3, microseconds=120)
WORDS = '=2+5, "said" she\nand 你好'


class Labelled:
    """``study`` with two raters and a blind expert on three dialogues, a reference and two reviewers.

    ``reference`` is a calibration dialogue; the first rater's second dialogue came back as a repeat.
    """

    def __init__(self, slug: str = "scored") -> None:
        self.study = factories.annotated_study(
            slug, dialogues=3, raters=2, values={"accent": 2, "stress": None}
        )
        self.people = list(Participant.objects.filter(study=self.study).order_by("pk"))
        self.dialogues = list(Dialogue.objects.filter(study_items__study=self.study).order_by("external_id"))
        self.first, self.second = (person.annotator for person in self.people)
        self._change_some()
        self._repeat()
        self._expert()
        self._review(slug)
        self._reference()
        self._around()

    def _change_some(self) -> None:
        mine = Score.objects.filter(study=self.study, rater=self.people[0].rater)
        one = mine.filter(dimension__key="rhythm").order_by("pk")[0]
        one.first_value, one.first_evidence, one.changes, one.version = 3, False, 2, 3
        one.value, one.changed_at = 5, LATER
        one.save()

    def _repeat(self) -> None:
        batch = factories.BatchFactory(annotator=self.first, state=Batch.State.OPEN)
        exposure = BatchItem.objects.get(
            rater=self.people[0].rater, dialogue=self.dialogues[1], repeat=0
        ).exposure
        self.repeated = factories.annotate(
            factories.BatchItemFactory(
                batch=batch, dialogue=self.dialogues[1], purpose="repeat", repeat=1, exposure=exposure,
                draw={"why": WORDS, "seed": 2**63, "chosen": self.dialogues[1].pk, "n": 1e-5},
            ),
            3,
            choice="machine",
        )  # fmt: skip
        self.open = factories.BatchItemFactory(batch=batch, dialogue=factories.add_dialogue(self.study))
        factories.ScoreFactory(
            rater=self.people[0].rater, dialogue=self.open.dialogue, item=self.open, value=1
        )

    def _expert(self) -> None:
        person = factories.ParticipantFactory(study=self.study)
        self.expert = factories.AnnotatorFactory(
            participant=person,
            layer=Layer.BLIND_EXPERT,
            invitation=Invitation.objects.create(study=self.study, label=WORDS, layer=Layer.BLIND_EXPERT),
            paused_at=LATER,
            paused_reason=WORDS,
        )
        item = factories.BatchItemFactory(
            batch__annotator=self.expert, dialogue=self.dialogues[0], layer=Layer.BLIND_EXPERT
        )
        factories.annotate(item, {"accent": 1})

    def _review(self, slug: str) -> None:
        self.reviewers = [factories.UserFactory(username=f"secret-name-{n}-{slug}") for n in range(2)]
        case = ReviewCase.objects.create(
            study=self.study, dialogue=self.dialogues[0], disagreement=1.25, made_at=NOW,
            state="closed", closed_at=LATER,
        )  # fmt: skip
        raw = Score.objects.filter(
            study=self.study, dialogue=self.dialogues[0], layer=Layer.RAW, rater=self.people[0].rater
        )
        for at, score in enumerate(raw.order_by("pk")[:3]):
            for reviewer in self.reviewers:
                ReviewDecision.objects.create(
                    case=case, score=score, reviewer=reviewer, decision="propose", value=5, reason=WORDS,
                    given_at=NOW, superseded_at=LATER,
                )  # fmt: skip
                ReviewDecision.objects.create(
                    case=case, score=score, reviewer=reviewer, decision="approve", value=score.value,
                    evidence=score.evidence, given_at=LATER, in_lot=True,
                )  # fmt: skip
            result = Score.objects.create(
                study=self.study, rater=score.rater, dialogue=score.dialogue, dimension=score.dimension,
                layer=Layer.TRUTH_SHOWN, revises=score, value=5 if at else score.value,
                evidence=True if at else score.evidence, given_at=LATER,
            )  # fmt: skip
            Resolution.objects.create(
                case=case, score=score, result=result, how="agreed" if at else "unanimous",
                reason=WORDS if at else "", closed_by=self.reviewers[0] if at else None, closed_at=LATER,
            )  # fmt: skip
        for number, reviewer in enumerate((*self.reviewers, self.reviewers[0])):
            ReviewComment.objects.create(
                case=case, author=reviewer, text=f"{number} {WORDS}", given_at=NOW,
                dimension=raw.order_by("pk")[0].dimension if number else None,
            )  # fmt: skip

    def _reference(self) -> None:
        self.reference = ReferenceDialogue.objects.create(
            study=self.study, dialogue=factories.add_dialogue(self.study), role="calibration",
            source="review", added_at=NOW,
        )  # fmt: skip
        for at, dimension in enumerate(self.study.annotation.taxonomy.dimensions.all()):
            ReferenceScore.objects.create(
                reference=self.reference, dimension=dimension, value=3 if at == 4 else 1 + at % 5,
                evidence=at != 4,
            )  # fmt: skip

    def _around(self) -> None:
        Attempt.objects.create(
            annotator=self.first, number=1, state="passed", dialogues=10, compared=120, mean_difference=0.75,
            clear=80, clear_share=2 / 3, against=0.25, choices_right=7, started_at=NOW, ended_at=LATER,
        )  # fmt: skip
        GuidelineConfirmation.objects.create(
            annotator=self.first, taxonomy=self.study.annotation.taxonomy, sha256="ab" * 32, language="en",
            seconds=95, given_at=NOW,
        )  # fmt: skip
        for hours in range(3):
            WorkSession.objects.create(
                annotator=self.first, started_at=NOW + timedelta(hours=hours), active_seconds=100 / 3,
                last_at=NOW + timedelta(hours=hours, minutes=40), ended_at=NOW + timedelta(hours=hours + 1),
            )  # fmt: skip
        self.study.annotation.rate_per_hour = "12.50"
        self.study.annotation.save()
