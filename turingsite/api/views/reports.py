"""Reports: the list, and each of them as text or as a picture of a figure, from the one ``run_report``."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.models import Layer
from studies.figures import PICTURES
from studies.models import Language, Study
from studies.registry import Report, reports
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, ReportResult, access_report, run_report
from studies.services.running import note_reading
from turingsite.api.blinding import LOOK, access_outcomes
from turingsite.api.schema import LOOK_PARAMETER
from turingsite.api.serializers import Out, Text
from turingsite.api.views.edge import Resource
from turingsite.desk.report_parts import picture_file

LAYERS = Layer.values
TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


class ReportSerializer(Out):
    name = Text()
    title = Text()
    outcomes = serializers.BooleanField(help_text=_("Shows what people said; hidden while the study runs."))
    url = serializers.URLField()


class TableSerializer(Out):
    table = Text()
    title = Text()
    how = Text(help_text=_("How it is computed."))
    columns = serializers.ListField(child=Text())
    rows = serializers.ListField(child=serializers.DictField())


class PlanVersionSerializer(Out):
    version = serializers.IntegerField()
    frozen_at = serializers.DateTimeField()
    sha256 = Text()
    status = Text(help_text=_("State of the study then."))
    verdicts = serializers.IntegerField(help_text=_("Analysed verdicts there were then."))
    others = serializers.DictField(
        child=serializers.IntegerField(), help_text=_("Outcomes of other sorts there were then, as games.")
    )
    reason = Text(help_text=_("Why the plan was changed; empty for the first version."))
    changed = serializers.ListField(child=Text())


class PlanSerializer(Out):
    sha256 = Text(help_text=_("Of the plan that holds."))
    exploratory = serializers.BooleanField(help_text=_("There were answers before it."))
    analysis_set = Text()
    margin = serializers.FloatField()
    outcome = Text()
    versions = PlanVersionSerializer(many=True)


class ReportResultSerializer(Out):
    report = Text()
    title = Text()
    study = Text()
    set = Text(allow_null=True, help_text=_("Analysis set; null where none is read."))
    layer = Text(allow_null=True, help_text=_("Layer of labels; null where an analysis set is read."))
    language = Text(allow_null=True, help_text=_("Of the dialogues; null for all."))
    plan = PlanSerializer(allow_null=True, help_text=_("The study's frozen plan; null without one."))
    n = serializers.IntegerField(help_text=_("Verdicts, scores or games that the figures rest on."))
    of = serializers.ChoiceField(["verdicts", "scores", "games"], help_text=_("What n counts."))
    persons = serializers.IntegerField()
    dialogues = serializers.IntegerField()
    excluded = serializers.DictField(
        child=serializers.IntegerField(), help_text=_("Verdicts left out, by reason.")
    )
    excluded_total = serializers.IntegerField()
    tables = TableSerializer(many=True)
    notes = serializers.ListField(child=Text())


class ReportQuery(serializers.Serializer[Any]):
    set = serializers.ChoiceField(
        ANALYSIS_SETS, required=False, help_text=_("Analysis set; without it the plan's, else all.")
    )
    layer = serializers.ChoiceField(
        LAYERS, required=False, help_text=_("Layer of labels, in reports on the annotation; without it raw.")
    )
    language = serializers.ChoiceField(
        Language.choices, required=False, help_text=_("Of the dialogues; without it all.")
    )
    format = serializers.ChoiceField(
        [*FORMATS, *PICTURES], default="json", help_text=_("The report as text, or a figure of it.")
    )
    figure = serializers.RegexField(
        r"^[-a-zA-Z0-9_]{1,80}$", default="", help_text=_("Which figure; without it the first one.")
    )


class ReportList(Resource):
    serializer_class = ReportSerializer

    @extend_schema(
        summary=_("Reports it has"),
        tags=["reports"],
        responses=ReportSerializer(many=True),
        filters=False,
    )
    def get(self, request: Request, slug: str) -> Response:
        study = self.study()
        rows = [_line(request, study, report) for report in reports if report.has(study)]
        return Response(ReportSerializer(rows, many=True).data)


def _line(request: Request, study: Study, report: Report) -> dict[str, Any]:
    address = reverse("api:report", args=[study.slug, report.key])
    return {
        "name": report.key,
        "title": report.title,
        "outcomes": report.shows_outcomes,
        "url": request.build_absolute_uri(address),
    }


class ReportDetail(Resource):
    serializer_class = ReportResultSerializer
    parameters = frozenset({LOOK, "set", "layer", "language", "format", "figure"})

    @extend_schema(
        summary=_("One report"),
        description=_(
            "The figures of the desk's page. While the study runs, reports with outcomes answer 403 with the "
            "code “blind”. Every reading of outcomes is noted in the audit trail."
        ),
        tags=["reports"],
        parameters=[ReportQuery, LOOK_PARAMETER],
        responses={
            (200, "application/json"): ReportResultSerializer,
            **{(200, TYPES[name]): str for name in FORMATS if name != "json"},
            **{(200, kind): OpenApiTypes.BINARY for kind in ("image/svg+xml", "image/png")},
        },
    )
    def get(self, request: Request, slug: str, name: str) -> HttpResponse:
        study = self.study()
        report = access_report(name)
        asked = ReportQuery(data={k: v for k, v in request.query_params.items() if k not in (LOOK, "lang")})
        asked.is_valid(raise_exception=True)
        if report.shows_outcomes:
            access_outcomes(request, study)
        chosen = asked.validated_data
        result = run_report(
            name,
            study,
            Options(
                analysis_set=chosen.get("set", ""),
                language=chosen.get("language", ""),
                layer=chosen.get("layer", ""),
            ),
        )
        if report.shows_outcomes:
            note_reading(
                study=study,
                report=name,
                analysis_set=result.layer or result.analysis_set,
                n=result.basis.n,
                of=result.basis.of,
                user=request.user,
            )
        return _file(result, chosen["format"], chosen["figure"])


def _file(result: ReportResult, wanted: str, figure: str) -> HttpResponse:
    """The report as text, or one of its figures as a picture; all but JSON to be saved under a name."""
    name = f"{result.study}-{result.key}"
    if wanted in PICTURES:
        drawn, content, kind = picture_file(result, wanted, figure)
        answer, name = HttpResponse(content, content_type=kind), f"{name}-{drawn.key}"
    else:
        kind = TYPES[wanted] if wanted == "json" else f"{TYPES[wanted]}; charset=utf-8"
        answer = HttpResponse(FORMATS[wanted](result), content_type=kind)
    if wanted != "json":
        answer["Content-Disposition"] = f'attachment; filename="{name}.{wanted}"'
    return answer
