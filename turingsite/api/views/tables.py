"""Studies, participants, dialogues, verdicts, scores: lists in pages, and single rows by their code."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Score
from dialogues.models import Dialogue, Verdict
from studies.models import Participant, Study
from studies.services.running import note_reading
from turingsite.api import filters, selectors, serializers
from turingsite.api.blinding import LOOK, SCORES, VERDICTS, access_outcomes, has_read
from turingsite.api.schema import LOOK_PARAMETER
from turingsite.api.views.edge import Resource, RowList
from turingsite.errors import NotFound


@extend_schema_view(get=extend_schema(summary=_("Studies that are yours"), tags=["studies"]))
class StudyList(RowList):
    model = Study
    serializer_class = serializers.StudySerializer

    def get_queryset(self) -> QuerySet[Study]:
        fake = getattr(self, "swagger_fake_view", False)
        return Study.objects.none() if fake else selectors.studies_of(self.request)


class StudyDetail(Resource):
    serializer_class = serializers.StudySerializer

    @extend_schema(summary=_("One study"), tags=["studies"])
    def get(self, request: Request, slug: str) -> Response:
        return Response(self.get_serializer(self.study()).data)


@extend_schema_view(
    get=extend_schema(
        summary=_("Participants"),
        description=_("Everybody who consented, by code. People whose answers were erased are in no list."),
        tags=["participants"],
    )
)
class ParticipantList(RowList):
    model = Participant
    serializer_class = serializers.ParticipantSerializer
    filterset_class = filters.ParticipantFilter

    def rows(self, study: Study) -> QuerySet[Participant]:
        return selectors.participants_of(study)


class ParticipantDetail(Resource):
    serializer_class = serializers.ParticipantSerializer

    @extend_schema(summary=_("One participant"), tags=["participants"])
    def get(self, request: Request, slug: str, code: str) -> Response:
        found = selectors.participants_of(self.study()).filter(code=code).first()
        return Response(self.get_serializer(_there(found)).data)


@extend_schema_view(
    get=extend_schema(
        summary=_("Dialogues"),
        description=_("With kind, systems and flags, as the desk shows them. Never for participants."),
        tags=["dialogues"],
    )
)
class DialogueList(RowList):
    model = Dialogue
    serializer_class = serializers.DialogueSerializer
    filterset_class = filters.DialogueFilter

    def rows(self, study: Study) -> QuerySet[Dialogue]:
        return selectors.dialogues_of(study)


class DialogueDetail(Resource):
    serializer_class = serializers.DialogueSerializer

    @extend_schema(summary=_("One dialogue"), tags=["dialogues"])
    def get(self, request: Request, slug: str, code: str) -> Response:
        found = selectors.dialogues_of(self.study()).filter(code=code).first()
        return Response(self.get_serializer(_there(found)).data)


class OutcomeList(RowList):
    """Rows that are what people said: hidden while the study runs, each walk through them noted."""

    table: str
    parameters = frozenset({LOOK})

    def outcomes(self, study: Study) -> QuerySet[Any]:
        raise NotImplementedError

    def rows(self, study: Study) -> QuerySet[Any]:
        access_outcomes(self.request, study)
        return self.outcomes(study)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Once this page is found, the reading is noted: a walk through the table once, not page by page."""
        found = super().paginate_queryset(queryset)
        study, user = self.study(), self.request.user
        if "cursor" not in self.request.query_params or not has_read(user, study, self.table):
            note_reading(
                study=study,
                report=self.table,
                analysis_set="",
                n=queryset.count(),
                of=self.table,
                user=user,
            )
        return found


@extend_schema_view(
    get=extend_schema(
        summary=_("Verdicts"),
        description=_(
            "In the order in which they were given. Hidden while the study runs, as on the desk: then the "
            "answer is 403 with the code “blind”. Every reading of outcomes is noted in the audit trail."
        ),
        parameters=[LOOK_PARAMETER],
        tags=["verdicts"],
    )
)
class VerdictList(OutcomeList):
    model = Verdict
    table = VERDICTS
    serializer_class = serializers.VerdictSerializer
    filterset_class = filters.VerdictFilter

    def outcomes(self, study: Study) -> QuerySet[Verdict]:
        return selectors.verdicts_of(study)


@extend_schema_view(
    get=extend_schema(
        summary=_("Scores"),
        description=_(
            "Single dimensions of a dialogue as annotators and reviewers scored them, in the order in which "
            "they were stored. Name a layer: labels of different layers are never mixed. Hidden while the "
            "study runs, and noted, as verdicts are."
        ),
        parameters=[LOOK_PARAMETER],
        tags=["scores"],
    )
)
class ScoreList(OutcomeList):
    model = Score
    table = SCORES
    serializer_class = serializers.ScoreSerializer
    filterset_class = filters.ScoreFilter

    def outcomes(self, study: Study) -> QuerySet[Score]:
        return selectors.scores_of(study)


def _there(row: Any) -> Any:
    if row is None:
        raise NotFound("not_found", _("There is nothing at this address."))
    return row
