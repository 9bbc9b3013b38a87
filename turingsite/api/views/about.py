"""What holds no data and is open to everybody: the entry, the schema, the page of documentation, 404."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound as NoSuchPage
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from turingsite.api.errors import words
from turingsite.api.reading import chapters
from turingsite.api.schema import error_words, schema_in_language
from turingsite.api.serializers import Out
from turingsite.api.views.edge import Resource


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

    @extend_schema(exclude=True)
    def get(self, request: Request) -> Response:
        return Response(schema_in_language())


class Missing(Open):
    """Whatever else is asked for below /api/, in the one shape of errors."""

    renderer_classes: tuple[type[BaseRenderer], ...] = (JSONRenderer,)

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        raise NoSuchPage(words(404))


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """The schema as a page to read, made here: no script, nothing from another host."""
    root = request.build_absolute_uri("/").rstrip("/")
    context = {
        "chapters": chapters(schema_in_language(), root),
        "errors": sorted(error_words().items()),
        "first_example": f'curl -H "Authorization: Bearer $TOKEN" {root}{reverse("api:studies")}',
    }
    return render(request, "api/docs.html", context)
