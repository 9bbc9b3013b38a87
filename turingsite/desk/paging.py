"""Pages of long lists without counting them: rows beyond a mark, and one more to see whether it goes on."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import urlencode

from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

SIZE = 50
M = TypeVar("M", bound=Model)


class Page(NamedTuple, Generic[M]):
    """Rows to show; ``first`` and ``following`` are addresses, empty where there is no such page."""

    rows: list[M]
    first: str
    following: str


def newest_first(request: HttpRequest, rows: QuerySet[M]) -> Page[M]:
    """Rows by falling key, from the one in ``?before=`` on."""
    before = request.GET.get("before", "")
    ordered = rows.order_by("-pk")
    if before.isdecimal() and len(before) < 19:
        ordered = ordered.filter(pk__lt=int(before))
    return _page(request, list(ordered[: SIZE + 1]), "before", lambda row: row.pk)


def latest_first(request: HttpRequest, rows: QuerySet[M], field: str) -> Page[M]:
    """Rows by falling time ``field``, which is never empty, then key; from the one in ``?before=`` on."""
    said, _, last = request.GET.get("before", "").partition("~")
    ordered = rows.order_by(f"-{field}", "-pk")
    if (moment := _moment(said)) and last.isdecimal() and len(last) < 19:
        # the bound first: an index on the time can begin there
        ordered = ordered.filter(**{f"{field}__lte": moment}).filter(
            Q(**{f"{field}__lt": moment}) | Q(pk__lt=int(last))
        )
    return _page(
        request,
        list(ordered[: SIZE + 1]),
        "before",
        lambda row: f"{getattr(row, field).astimezone(UTC).isoformat()}~{row.pk}",
    )


def _moment(said: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    return moment if moment.tzinfo and moment.year > 1 else None


def by_name(request: HttpRequest, rows: QuerySet[M], field: str) -> Page[M]:
    """Rows by the unique ``field``, from the one in ``?after=`` on."""
    after = request.GET.get("after", "").replace("\0", "")
    ordered = rows.order_by(field)
    if after:
        ordered = ordered.filter(**{f"{field}__gt": after})
    return _page(request, list(ordered[: SIZE + 1]), "after", lambda row: getattr(row, field))


def _page(request: HttpRequest, found: list[M], mark: str, key: Any) -> Page[M]:
    rest = {name: value for name, value in request.GET.items() if name not in ("before", "after")}
    shown = found[:SIZE]
    following = f"?{urlencode({**rest, mark: key(shown[-1])})}" if len(found) > SIZE else ""
    first = f"?{urlencode(rest)}" if mark in request.GET else ""
    return Page(shown, first, following)
