"""What is read from a request: parameters in the address that are known and given once, small JSON bodies."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Mapping
from typing import IO, Any

from django.core.exceptions import RequestDataTooBig
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser
from rest_framework.request import Request

from turingsite.errors import Invalid

MOST_BYTES = 65_536


def check_parameters(request: Request, known: Collection[str]) -> None:
    """Invalid ``bad_parameter`` where one is unknown, empty or given twice.

    A misspelt filter that is passed over in silence gives a wrong figure without anybody noticing.
    """
    wrong: dict[str, str] = {}
    for name, values in request.query_params.lists():
        if name not in known:
            meant = difflib.get_close_matches(name, known, n=1)
            wrong[name] = (
                _("There is no parameter of this name. Did you mean “%(name)s”?") % {"name": meant[0]}
                if meant
                else _("There is no parameter of this name.")
            )
        elif len(values) > 1:
            wrong[name] = _("Give this parameter once.")
        elif not values[0]:
            wrong[name] = _("Give this parameter a value, or leave it out.")
    if wrong:
        raise Invalid("bad_parameter", _("Some parameters of the address can't be used."), fields=wrong)


class SmallJSONParser(BaseParser):
    """A JSON object of at most 64 KB, in UTF-8 whatever the header claims."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        data = stream.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise RequestDataTooBig
        try:
            found = json.loads(data.decode("utf-8"), parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise ParseError from error
        if not isinstance(found, dict):
            raise ParseError
        return found


def _no_number(name: str) -> None:
    raise ValueError(name)
