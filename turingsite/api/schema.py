"""The interface described: OpenAPI 3 from the resources, with how one says who one is and what goes wrong."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiParameter

LOOK_PARAMETER = OpenApiParameter(
    "look",
    str,
    enum=["early"],
    description=gettext_lazy("See outcomes while the study runs; noted with how many there were."),
)
ERROR = {"$ref": "#/components/schemas/Error"}
#: Component of an error answer by status, and the statuses that every operation may answer.
NAMES = {
    400: "BadRequest", 401: "NoToken", 403: "NotAllowed", 404: "NotFound", 406: "NotAcceptable",
    409: "Conflict", 410: "Gone", 413: "TooLarge", 415: "WrongType", 429: "TooMany", 500: "ServerError",
    503: "TryLater",
}  # fmt: skip
ALWAYS = (400, 401, 403, 404, 406, 429, 500, 503)
WITH_BODY = (409, 413, 415)
MORE = {"me": (410,), "file": (409,)}  # by the end of the address


class ResourceSchema(AutoSchema):
    """Descriptions are written for readers of the interface; docstrings are for readers of the code."""

    def get_description(self) -> str:  # type: ignore[override]  # as in AutoSchema, not in DRF's base
        return ""


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # a registering base
    target_class = "turingsite.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": _("A token from the study's page on the desk. Never in the address."),
        }


class DeskScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "turingsite.api.authentication.DeskSession"
    name = "desk"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": _("The desk's login, to look at addresses in a browser."),
        }


def error_words() -> dict[int, str]:
    """What each status of an error means, in the reader's language."""
    return {
        400: _("Something of the request can't be used; “fields” says what."),
        401: _("No token, or one that is unknown, revoked or expired."),
        403: _("Not allowed: outcomes are hidden (“blind”), or the token was not made for this."),
        404: _("There is no such thing, or it is not yours to see."),
        406: _("The answer does not come in the form that the header Accept asks for."),
        409: _("The state has moved on, or a rule of order forbids this now."),
        410: _("It was here and has ended."),
        413: _("The body is larger than 64 KB."),
        415: _("The body is not JSON."),
        429: _("Too many requests; the header Retry-After says when to go on."),
        500: _("A fault of ours. It has been noted."),
        503: _("A passing fault; try the same again later."),
    }


def with_errors(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Hook of the generator: the one shape of errors, and for each operation which of them may come."""
    parts = result.setdefault("components", {})
    parts.setdefault("schemas", {})["Error"] = {
        "type": "object",
        "description": _("The shape of everything that goes wrong."),
        "required": ["code", "message", "fields"],
        "additionalProperties": False,
        "properties": {
            "code": {"type": "string", "description": _("For programs; never translated.")},
            "message": {"type": "string", "description": _("For people, in their language.")},
            "fields": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": _("What is wrong with which parameter or field."),
            },
        },
    }
    parts["schemas"]["ExportRequest"]["additionalProperties"] = False
    parts["responses"] = {NAMES[status]: _response(status, said) for status, said in error_words().items()}
    for path, methods in result["paths"].items():
        for method, operation in methods.items():
            more = WITH_BODY if method == "post" else MORE.get(path.rsplit("/", 1)[1], ())
            for status in (*ALWAYS, *more):
                operation["responses"].setdefault(
                    str(status), {"$ref": f"#/components/responses/{NAMES[status]}"}
                )
    return result


def _response(status: int, said: str) -> dict[str, Any]:
    response: dict[str, Any] = {"description": said, "content": {"application/json": {"schema": ERROR}}}
    if status == 429:
        response["headers"] = {
            "Retry-After": {"description": _("Seconds to wait."), "schema": {"type": "integer"}}
        }
    return response


def schema_in_language() -> dict[str, Any]:
    """The whole description in the language of the request. Made once for each."""
    return _schema(get_language() or "en")


@lru_cache(maxsize=4)
def _schema(language: str) -> dict[str, Any]:
    made: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return made
