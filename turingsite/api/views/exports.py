"""Exports: the list, asking for one, how far it is, its file. Jobs, tiers and rules are the desk's."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from studies import tasks
from studies.export_jobs import access_export, fetch, file_name, is_small, request_export, run
from studies.exports import DEFAULT_TIER, EXPORT_TIERS
from studies.models import ExportJob, Language, Study
from studies.sheets import FORMATS
from turingsite.api.blinding import EARLY, LOOK, access_outcomes
from turingsite.api.schema import LOOK_PARAMETER
from turingsite.api.selectors import access_export_rights, exports_of
from turingsite.api.serializers import Moment, Out, Text, Truth
from turingsite.api.throttling import CallerThrottle, ExportThrottle
from turingsite.api.views.edge import Resource, RowList
from turingsite.desk.doors import manages
from turingsite.desk.wake import wake
from turingsite.errors import NotFound, Refused


class ExportSerializer(Out):
    code = Text(help_text=_("Random code of the export."))
    tier = serializers.ChoiceField(EXPORT_TIERS)
    formats = serializers.SerializerMethodField()
    language = serializers.ChoiceField(
        Language.choices, allow_blank=True, help_text=_("Of the dialogues; empty for all.")
    )
    bom = Truth(help_text=_("CSV begins with a byte-order mark, as Excel wants it."))
    state = serializers.ChoiceField(ExportJob.State.choices)
    rows_done = serializers.IntegerField()
    rows_total = serializers.IntegerField()
    size = serializers.IntegerField(help_text=_("Bytes."))
    sha256 = Text(source="file.sha256", default=None, allow_null=True)
    created_at = Moment()
    finished_at = Moment(allow_null=True)
    stale = serializers.SerializerMethodField(
        help_text=_("Somebody in it had their answers erased since. Make it anew and delete copies.")
    )
    error = Text(help_text=_("What went wrong, for people."))
    file = serializers.SerializerMethodField(help_text=_("Address of the zip; null where it is not there."))

    @extend_schema_field(serializers.ListField(child=serializers.ChoiceField(list(FORMATS))))
    def get_formats(self, job: ExportJob) -> list[str]:
        return job.formats.split(",")

    def get_stale(self, job: ExportJob) -> bool:
        return job.file is not None and job.file.stale_since is not None

    @extend_schema_field(serializers.URLField(allow_null=True))
    def get_file(self, job: ExportJob) -> str | None:
        if not job.can_be_fetched:
            return None
        address = reverse("api:export_file", args=[self.context["view"].kwargs["slug"], job.code])
        return str(self.context["request"].build_absolute_uri(address))


class TrueOrFalse(serializers.BooleanField):
    """What the schema says, a boolean of JSON: not 0, not "no"."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class ExportRequest(serializers.Serializer[Any]):
    tier = serializers.ChoiceField(
        EXPORT_TIERS,
        default=DEFAULT_TIER,
        help_text=_("Fit to publish, for people who signed for it, or for the team alone."),
    )
    formats = serializers.ListField(
        child=serializers.ChoiceField(list(FORMATS)), default=["csv"], min_length=1, max_length=len(FORMATS)
    )
    language = serializers.ChoiceField(
        Language.choices, required=False, help_text=_("Of the dialogues; without it all.")
    )
    bom = TrueOrFalse(default=False)
    look = serializers.ChoiceField([EARLY], required=False, help_text=_("As in the address."))

    def to_internal_value(self, data: Any) -> Any:
        unknown = {name: _("There is no field of this name.") for name in data if name not in self.fields}
        if unknown:
            raise serializers.ValidationError(unknown)
        return super().to_internal_value(data)


class ExportList(RowList):
    model = ExportJob
    serializer_class = ExportSerializer
    throttle_classes = (CallerThrottle, ExportThrottle)
    parameters = frozenset({LOOK})

    def get_throttles(self) -> list[BaseThrottle]:
        self.brakes = super().get_throttles()
        return self.brakes

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        if 400 <= answer.status_code < 500:
            for brake in getattr(self, "brakes", ()):
                if isinstance(brake, ExportThrottle):
                    brake.give_back()
        return answer

    def rows(self, study: Study) -> QuerySet[ExportJob]:
        return exports_of(study, self.request.user)

    @extend_schema(summary=_("Exports there are"), tags=["exports"])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        return super().get(request, *args, **kwargs)

    @extend_schema(
        operation_id="studies_exports_create",
        summary=_("Make an export"),
        description=_(
            "Small ones are done when the answer comes, large ones are made by a worker: ask for the "
            "export until its state is “done”. An export holds outcomes, so while they are hidden it wants "
            "look=early."
        ),
        tags=["exports"],
        parameters=[LOOK_PARAMETER],
        request=ExportRequest,
        responses={201: ExportSerializer},
        filters=False,
    )
    def post(self, request: Request, slug: str) -> Response:
        study = self.study()
        access_export_rights(request)
        asked = ExportRequest(data=request.data)
        asked.is_valid(raise_exception=True)
        wanted = asked.validated_data
        if wanted["tier"] == "internal" and not manages(request.user, study):
            raise Refused("no_tier", _("This tier is for the people who manage the study."))
        said = wanted.pop(LOOK, "")
        access_outcomes(request, study, said=said, note=False)  # the export itself is noted, with its n
        job = request_export(study=study, user=request.user, **wanted)
        if is_small(job):
            run(job_id=job.pk)
        else:
            wake(tasks.run_export, job.pk)
        answer = self.get_serializer(access_export(study, job.code)).data
        place = request.build_absolute_uri(reverse("api:export", args=[slug, job.code]))
        return Response(answer, status=201, headers={"Location": place})


class ExportDetail(Resource):
    serializer_class = ExportSerializer

    @extend_schema(summary=_("One export"), tags=["exports"])
    def get(self, request: Request, slug: str, code: str) -> Response:
        return Response(self.get_serializer(_seen(self, code)).data)


class ExportFile(Resource):
    serializer_class = ExportSerializer

    @extend_schema(
        operation_id="studies_exports_file",
        summary=_("The file of an export"),
        description=_("409 where it is not done, out of date, or was removed. Each fetching is noted."),
        tags=["exports"],
        responses={(200, "application/zip"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, code: str) -> FileResponse:
        job = _seen(self, code)
        access_export_rights(request)
        path = fetch(job=job, user=request.user)
        return FileResponse(
            path.open("rb"), as_attachment=True, filename=file_name(job), content_type="application/zip"
        )


def _seen(view: Resource, code: str) -> ExportJob:
    """The export of that code; colleagues do not see those of the team's own tier."""
    study = view.study()
    job = access_export(study, code)
    if job.tier == "internal" and not manages(view.request.user, study):
        raise NotFound("no_export", _("There is no such export."))
    return job
