"""What holds no data and is open to everybody: the entry, the schema, the page of documentation, 404."""

from __future__ import annotations

from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.exceptions import NotFound as NoSuchPage
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from turingsite.api.errors import body, words
from turingsite.api.reading import chapters
from turingsite.api.schema import error_words, schema_in_language
from turingsite.api.serializers import Out
from turingsite.api.views.edge import Resource
from turingsite.errors import Invalid


class EntrySerializer(Out):
    studies = serializers.URLField()
    schema = serializers.URLField()
    docs = serializers.URLField()


class Open(Resource):
    """For everybody, with or without a token."""

    permission_classes = (AllowAny,)


class Entry(Open):
    serializer_class = EntrySerializer

    @extend_schema(operation_id="entry", summary=_("Where to go from here"), tags=["about"], auth=[])
    def get(self, request: Request) -> Response:
        return Response(
            {
                name: request.build_absolute_uri(reverse(f"api:{name}"))
                for name in ("studies", "schema", "docs")
            }
        )


class Schema(Open):
    """This interface as OpenAPI 3, in JSON or YAML, in the reader's language."""

    parameters = frozenset({"format"})
    renderer_classes = (JSONRenderer, OpenApiJsonRenderer, OpenApiYamlRenderer)
    formats: ClassVar[dict[str, type[BaseRenderer]]] = {"json": JSONRenderer, "yaml": OpenApiYamlRenderer}

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not self.formats.keys() >= set(request.query_params.getlist("format")):
            said = _("Choose one of: %(known)s.") % {"known": ", ".join(self.formats)}
            wrong = _("Some parameters of the address can't be used.")
            raise Invalid("bad_parameter", wrong, fields={"format": said})

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        """The address says more than the header Accept, which programs that fetch addresses fill in."""
        asked = self.formats.get(request.query_params.get("format", ""))
        if asked is not None:
            return asked(), str(asked.media_type)
        found: tuple[BaseRenderer, str] = super().perform_content_negotiation(request, force)
        return found

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(schema_in_language())


class Missing(Open):
    """Whatever else is asked for below /api/, in the one shape of errors."""

    renderer_classes: tuple[type[BaseRenderer], ...] = (JSONRenderer,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NoSuchPage(words(404))


@csrf_exempt  # it takes nothing: what is sent is refused in the one shape of errors, not by a page
def docs(request: HttpRequest) -> HttpResponse:
    """The schema as a page to read, made here: no script, nothing from another host."""
    if request.method not in ("GET", "HEAD"):
        refused = MethodNotAllowed(str(request.method))
        answer = JsonResponse(body(refused.default_code, str(refused.detail)), status=refused.status_code)
        answer["Allow"] = "GET, HEAD"
        return answer
    root = request.build_absolute_uri("/").rstrip("/")
    context = {
        "chapters": chapters(schema_in_language(), root),
        "errors": sorted(error_words().items()),
        "first_example": f'curl -H "Authorization: Bearer $TOKEN" {root}{reverse("api:studies")}',
    }
    return render(request, "api/docs.html", context)
