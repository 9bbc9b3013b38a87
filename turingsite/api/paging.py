"""Pages of long tables by key: rows after a mark, in the order in which they were written, never counted.

Rows that are added while somebody reads come at the end; none is lost and none comes twice.
"""

from __future__ import annotations

import re
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from turingsite.errors import Invalid

SIZE, MOST = 100, 1000
CURSOR = r"^[0-9a-z]{1,12}$"  # every text of this shape fits into a key
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class KeysetPagination(BasePagination):
    """``?limit=`` rows from ``?cursor=`` on; ``next`` is the address of what follows, null at the end."""

    display_page_controls = False

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        limit = limit_in(request)
        cursor = request.query_params.get("cursor", "")
        rows = queryset.order_by("pk")
        if cursor:
            rows = rows.filter(pk__gt=key_of(cursor))
        found = list(rows[: limit + 1])
        self.following: str | None = None
        if len(found) > limit:
            found = found[:limit]
            mark = cursor_of(found[-1].pk)
            self.following = replace_query_param(request.build_absolute_uri(), "cursor", mark)
        return found

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"next": self.following, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {
                "next": {
                    "type": "string",
                    "format": "uri",
                    "nullable": True,
                    "description": _("Address of the rows that follow; null at the end."),
                },
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "description": _("Rows on a page."),
                "schema": {"type": "integer", "minimum": 1, "maximum": MOST, "default": SIZE},
            },
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": _("Where to go on, as in “next”."),
                "schema": {"type": "string", "pattern": CURSOR},
            },
        ]


def limit_in(request: Request) -> int:
    asked = request.query_params.get("limit", str(SIZE))
    if not re.fullmatch(r"[0-9]{1,4}", asked, re.ASCII) or not 1 <= int(asked) <= MOST:
        message = _("Ask for 1 to %(most)d rows.") % {"most": MOST}
        raise Invalid("bad_parameter", message, fields={"limit": message})
    return int(asked)


def key_of(cursor: str) -> int:
    if not re.fullmatch(CURSOR.strip("^$"), cursor, re.ASCII):
        message = _("This is no cursor. Take it from “next” as it stands.")
        raise Invalid("bad_parameter", message, fields={"cursor": message})
    return int(cursor, 36)


def cursor_of(key: int) -> str:
    text = ""
    while key:
        key, digit = divmod(key, 36)
        text = _DIGITS[digit] + text
    return text or "0"
