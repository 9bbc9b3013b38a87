"""What was said, as a list to read, and the look at it before its time."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dialogues.models import Choice, Kind, Verdict
from studies.selectors import access_desk_study
from studies.services.running import look_early
from turingsite.desk.doors import LOOKED, sees_outcomes
from turingsite.desk.paging import latest_first
from turingsite.desk.wording import GATES, REASONS, called
from turingsite.errors import DomainError


def verdicts(request: HttpRequest, slug: str) -> HttpResponse:
    """Verdicts with their listening evidence, to read. What was said stays hidden while the study runs."""
    study = access_desk_study(slug, request.user)
    open_ = sees_outcomes(request, study)
    rows = Verdict.objects.of_game().filter(study=study)
    state = request.GET.get("state", "")
    if state == "analysed":
        rows = rows.filter(exclusion="")
    elif state and state in Verdict.Exclusion.values:
        rows = rows.filter(exclusion=state)
    page = latest_first(
        request,
        rows.select_related("rater__participant", "rater__user", "rater__machine", "dialogue"),
        "given_at",
    )
    table = [_verdict_row(verdict, open_) for verdict in page.rows]
    headings = [
        _("Given"), _("Rater"), _("Dialogue"), _("Kind"), _("Round"), _("Said"), _("Heard"), _("Replays"),
        _("Gate"),
        _("Left out"), _("Breaks of protocol"),
    ]  # fmt: skip
    choices = [("analysed", _("analysed")), *((v, label) for v, label in Verdict.Exclusion.choices if v)]
    return _list(
        request,
        study,
        _("Verdicts"),
        headings,
        table,
        page,
        numbers={4, 6, 7},
        choices=("state", state, choices),
        blind=not open_,
    )


def _verdict_row(verdict: Verdict, open_: bool) -> list[Any]:
    evidence = verdict.evidence if isinstance(verdict.evidence, dict) else {}
    heard = evidence.get("heard")
    return [
        verdict.given_at,
        str(verdict.rater),
        {"text": verdict.dialogue.external_id, "code": verdict.dialogue.code},
        Kind(verdict.dialogue.kind).label,
        f"{verdict.round_number}.{verdict.position}",
        Choice(verdict.choice).label if open_ else "·",
        f"{heard:.0%}" if isinstance(heard, int | float) else "",
        evidence.get("replays", ""),
        called(GATES, str(evidence.get("gate", ""))),
        verdict.get_exclusion_display() if verdict.exclusion else "",
        ", ".join(called(REASONS, str(one)) for one in verdict.protocol_breaks),
    ]


@require_POST
def look(request: HttpRequest, slug: str) -> HttpResponse:
    """Look at outcomes before the study has closed: allowed, and noted with how many there were."""
    study = access_desk_study(slug, request.user)
    if not sees_outcomes(request, study):
        try:
            look_early(study=study, user=request.user)
        except DomainError as error:
            messages.error(request, str(error))
        else:
            request.session[LOOKED] = [*request.session.get(LOOKED, []), study.pk]
    goto = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(goto, allowed_hosts={request.get_host()}):
        return redirect("admin:desk_study", slug)
    return redirect(goto)


def _list(
    request: HttpRequest,
    study: Any,
    title: str,
    headings: list[str],
    table: list[list[Any]],
    page: Any,
    *,
    numbers: set[int] | None = None,
    choices: tuple[str, str, Any] | None = None,
    blind: bool = False,
) -> HttpResponse:
    zone = ZoneInfo(study.time_zone)
    numbers = numbers or set()
    rows = [[(_shown(cell, zone), index in numbers) for index, cell in enumerate(row)] for row in table]
    context = {
        "study": study,
        "title": title,
        "zone": study.time_zone,
        "headings": [(word, index in numbers) for index, word in enumerate(headings)],
        "rows": rows,
        "body": _body(rows),
        "page": page,
        "choices": choices,
        "blind": blind,
    }
    return render(request, "desk/list.html", context)


def _body(rows: list[list[tuple[Any, bool]]]) -> SafeString:
    """The rows as markup. A template takes longer over five hundred cells than the database over the rows."""
    lines = (format_html_join("", "{}", ((_cell(at, *cell),) for at, cell in enumerate(row))) for row in rows)
    return format_html_join("", "<tr>{}</tr>", ((line,) for line in lines))


def _cell(at: int, cell: Any, number: bool) -> SafeString:
    if isinstance(cell, dict):
        address = reverse("admin:desk_dialogue", args=[cell["code"]])
        return format_html('<td><a href="{}">{}</a></td>', address, cell["text"])
    markup = '<th scope="row">{}</th>' if at == 0 else '<td class="r">{}</td>' if number else "<td>{}</td>"
    return format_html(markup, cell)


def _shown(cell: Any, zone: ZoneInfo) -> Any:
    return cell.astimezone(zone).strftime("%Y-%m-%d %H:%M") if hasattr(cell, "astimezone") else cell
