"""A study's reports on a page and as files."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.figures import PICTURES
from studies.models import Language, Study
from studies.plans import headline
from studies.registry import Report, outcomes
from studies.report_formats import FORMATS
from studies.reports import ANALYSIS_SETS, Options, access_report, run_report
from studies.selectors import access_desk_study
from studies.services.running import note_reading
from turingsite.desk.doors import sees_outcomes
from turingsite.desk.report_parts import picture_file, tables_of
from turingsite.desk.wording import REASONS, called

SETS = {
    "all": gettext_lazy("all valid"),
    "published": gettext_lazy("finished rounds (published)"),
    "first_round": gettext_lazy("first round"),
    "per_protocol": gettext_lazy("per protocol"),
}
TYPES = {"json": "application/json", "csv": "text/csv", "md": "text/markdown"}


def report(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    """One report: figures, tables, how each is computed; the same function as the command's."""
    study = access_desk_study(slug, request.user)
    kind = access_report(key)
    asked = request.GET.get("set", "")
    language = request.GET.get("language", "")
    options = Options(
        analysis_set=asked if asked in ANALYSIS_SETS else headline(study),
        language=language if language in dict(_languages(study)) else "",
        layer=_layer(kind, request.GET.get("layer", "")),
    )
    outcomes = kind.shows_outcomes
    context: dict[str, Any] = {
        "study": study,
        "title": kind.title,
        "key": key,
        "options": options,
        "set_words": SETS.get(options.analysis_set, options.analysis_set),
        "sets": [(name, SETS.get(name, name)) for name in ANALYSIS_SETS] if kind.sets else [],
        "layers": list(kind.layers.items()),
        "layer_words": kind.layers.get(options.layer, ""),
        "languages": _languages(study),
        "query": request.GET.urlencode(),
        "outcomes": outcomes,
    }
    if outcomes and not sees_outcomes(request, study):
        return render(request, "desk/report.html", {**context, "blind": True, **_counted(kind, study)})
    result = run_report(key, study, options)
    if outcomes:
        note_reading(
            study=study,
            report=key,
            analysis_set=result.layer or result.analysis_set,
            n=result.basis.n,
            of=result.basis.of,
            user=request.user,
        )
    wanted = request.GET.get("format", "")
    read = result.layer or result.analysis_set
    if wanted in FORMATS:
        response = HttpResponse(FORMATS[wanted](result), content_type=f"{TYPES[wanted]}; charset=utf-8")
        return _named(response, slug, key, read, ending=wanted)
    if wanted in PICTURES:
        figure, picture, kind_of_file = picture_file(result, wanted, request.GET.get("figure", ""))
        response = HttpResponse(picture, content_type=kind_of_file)
        return _named(response, slug, key, figure.key, read, ending=wanted)
    shown = {
        "result": result,
        "left_out": [(called(REASONS, reason), n) for reason, n in result.basis.excluded.items()],
        "tables": tables_of(result),
        "pictures": PICTURES,
        "formats": list(FORMATS),
        "all_open": request.GET.get("tables") == "open",
    }
    return render(request, "desk/report.html", {**context, **shown})


def _counted(kind: Report, study: Study) -> dict[str, Any]:
    """How many outcomes the report would rest on, in its own unit: all that is said of them while blind."""
    sort = outcomes.get(kind.of)
    return {"counted": sort.words(sort.count(study))}


def _languages(study: Study) -> list[tuple[str, Any]]:
    """What may be chosen: pooled and each of the study's languages; nothing where it has one."""
    own = [(value, label) for value, label in Language.choices if value in study.languages]
    return [("", _("pooled")), *own] if len(own) > 1 else []


def _layer(kind: Report, asked: str) -> str:
    """The layer of labels asked for, else the report's first; "" where it has none."""
    return asked if asked in kind.layers else next(iter(kind.layers), "")


def _named(response: HttpResponse, *parts: str, ending: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="{"-".join(filter(None, parts))}.{ending}"'
    return response
