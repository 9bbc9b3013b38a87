"""The planner: how many people a system needs, in words, and over numbers of dialogues."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from dialogues.pilot import (
    ENOUGH_DIALOGUES,
    ENOUGH_PAIRS,
    ENOUGH_PERSONS,
    Correlations,
    correlations_of,
)
from dialogues.targets import fewest_dialogues
from studies.models import Study
from studies.selectors import access_desk_study
from studies.services import save_draft
from turingsite.desk.doors import access_managed_study, manages, tell
from turingsite.desk.plan_forms import PlannerForm
from turingsite.errors import DomainError
from turingsite.stats import Plan, persons_for_interval, persons_for_test
from turingsite.stats.planning import ICC_DIALOGUE, ICC_PERSON

#: Numbers of dialogues shown beside the chosen one.
SHOWN = (9, 20, 30, 40, 60, 100, 200)


class Row(NamedTuple):
    """Persons and verdicts that so many dialogues of a system need; ``None``: not reachable with them."""

    dialogues: int
    persons: int | None
    verdicts: int | None
    chosen: bool


class Compared(NamedTuple):
    """Persons needed with correlations from one source; ``None``: not reachable with them."""

    is_pilot: bool
    person: float
    dialogue: float
    persons: int | None


def planner(request: HttpRequest, slug: str) -> HttpResponse:
    """Expectations in the address, persons needed below; a POST takes the answer into the plan."""
    if request.method == "POST":
        return _take(request, access_managed_study(slug, request.user))
    study = access_desk_study(slug, request.user)
    pilot = correlations_of(study)
    form = PlannerForm(request.GET) if "expected" in request.GET else PlannerForm(_first(study, pilot))
    context: dict[str, Any] = {
        "study": study,
        "title": _("Planner"),
        "form": form,
        "pilot": pilot,
        "enough": {"pairs": ENOUGH_PAIRS, "persons": ENOUGH_PERSONS, "dialogues": ENOUGH_DIALOGUES},
        "manages": manages(request.user, study),
    }
    if form.is_valid():
        context |= _answer(form.cleaned_data)
        context["compared"] = _compared(form.cleaned_data, pilot)
    return render(request, "desk/plan_planner.html", context, status=200 if form.is_valid() else 400)


def needed(values: dict[str, Any], dialogues: int) -> Plan:
    """Persons for what the form says, on so many dialogues; none are enough with a single one."""
    if dialogues < 2:
        return replace(needed(values, 2), persons=None, dialogues=dialogues)
    more = {
        "verdicts_each": values["each"],
        "icc_person": values["icc_person"],
        "icc_dialogue": values["icc_dialogue"],
    }
    if values["aim"] == "interval":
        return persons_for_interval(values["expected"], values["half_width"], dialogues, **more)
    return persons_for_test(values["expected"], values["against"], dialogues, power=values["power"], **more)


def _first(study: Study, pilot: Correlations) -> dict[str, Any]:
    """What the form begins with: the study's dialogues; the pilot's correlations if they rest on enough."""
    values = {name: field.initial for name, field in PlannerForm.base_fields.items()}
    fewest = fewest_dialogues(study)
    if fewest:
        values["dialogues"] = fewest
    if pilot.person_usable and pilot.person is not None:
        values["icc_person"] = round(pilot.person, 3)
    if pilot.dialogue_usable and pilot.dialogue is not None:
        values["icc_dialogue"] = round(pilot.dialogue, 3)
    return values


def _compared(values: dict[str, Any], pilot: Correlations) -> list[Compared]:
    """Persons with the usual correlations and with the pilot's, all else as in the form."""
    both = [(False, ICC_PERSON, ICC_DIALOGUE)]
    if pilot.person is not None or pilot.dialogue is not None:
        # Below 0 by chance: nothing is gained by planning with less than independence.
        found = [min(0.99, max(0.0, one or 0.0)) for one in (pilot.person, pilot.dialogue)]
        both.append((True, found[0], found[1]))
    return [
        Compared(
            is_pilot,
            person,
            dialogue,
            needed({**values, "icc_person": person, "icc_dialogue": dialogue}, values["dialogues"]).persons,
        )
        for is_pilot, person, dialogue in both
    ]


def _answer(values: dict[str, Any]) -> dict[str, Any]:
    chosen = values["dialogues"]
    plan = needed(values, chosen)
    fewest = plan.fewest_dialogues
    counts = sorted({*SHOWN, chosen, *([fewest] if fewest is not None else [])})
    rows = []
    for count in counts:
        persons = needed(values, count).persons
        rows.append(Row(count, persons, _verdicts(values, persons), count == chosen))
    return {"plan": plan, "rows": rows, "verdicts": _verdicts(values, plan.persons)}


def _verdicts(values: dict[str, Any], persons: int | None) -> int | None:
    return None if persons is None else math.ceil(persons * values["each"] - 1e-9)


def _take(request: HttpRequest, study: Study) -> HttpResponse:
    form = PlannerForm(request.POST)
    found = needed(form.cleaned_data, form.cleaned_data["dialogues"]) if form.is_valid() else None
    verdicts = _verdicts(form.cleaned_data, found.persons) if found is not None else None
    if found is None or verdicts is None:
        messages.error(request, _("This cannot be taken into the plan: it is not reachable."))
        return redirect("admin:desk_planner", study.slug)
    content = {"target_by": "system", "target_n": verdicts, "planning": _in_words(form.cleaned_data, found)}
    try:
        save_draft(study=study, content=content, user=request.user)
    except DomainError as error:
        tell(request, error)
        return redirect("admin:desk_planner", study.slug)
    messages.success(request, _("Taken into the plan's draft."))
    return redirect("admin:desk_plan", study.slug)


def _in_words(values: dict[str, Any], found: Plan) -> str:
    """What the plan says of how its target was found; in English, like the plan's file."""
    aim = (
        f"± {values['half_width']:g} around a success rate of {values['expected']:g}"
        if values["aim"] == "interval"
        else f"a success rate of {values['expected']:g} against {values['against']:g}, "
        f"power {values['power']:g}"
    )
    return (
        f"Planned for {aim}, two-sided .05: {found.persons} persons with {values['each']:g} verdicts each "
        f"on a system, {found.dialogues} dialogues per system and language; correlations of two verdicts: "
        f"person {values['icc_person']:g}, dialogue {values['icc_dialogue']:g}."
    )
