"""The one resource of participants: where they stand in a study, by the cookie of their browser."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from studies.access import participant_of
from studies.models import EndState, Participant
from studies.selectors import position
from turingsite.api.serializers import Out, Text
from turingsite.api.views.edge import Resource


class MeSerializer(Out):
    state = serializers.ChoiceField(Participant.State.choices)
    end_state = serializers.ChoiceField(EndState.choices, allow_blank=True)
    step = Text(help_text=_("What comes next: language, profile, an activity, or end."))
    next = serializers.URLField(help_text=_("Address of the page that comes next."))


class Me(Resource):
    """No token and no login: only the participant's own cookie counts."""

    authentication_classes: tuple[Any, ...] = ()
    permission_classes = (AllowAny,)
    serializer_class = MeSerializer

    @extend_schema(
        summary=_("Where I stand in a study"),
        description=_(
            "For participants, by the cookie of their browser; nothing in it gives an answer away."
        ),
        tags=["participants"],
        auth=[],
    )
    def get(self, request: Request, slug: str) -> Response:
        person = participant_of(request._request, slug, ended_ok=True, paused_ok=True, closed_ok=True)
        step = position(person)
        return Response(
            MeSerializer(
                {
                    "state": person.state,
                    "end_state": person.end_state,
                    "step": step.name,
                    "next": request.build_absolute_uri(step.url),
                }
            ).data
        )
