"""Who takes part, by code: the list with its filters, and one person's page for answering their mail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from dialogues.models import Verdict
from games.speech import story as game
from studies import codes, story
from studies.models import EndState, Participant, Study
from studies.selectors import access_desk_study, completion_of
from studies.services.launching import Stretch, stretches_of
from turingsite.desk.paging import newest_first
from turingsite.desk.wording import DEVICES, called
from turingsite.errors import NotFound

SOURCES = 50  # source tags to choose from
RUNNING = "running"  # nobody's end state: not ended yet
NO_SOURCE = "-"


class PeopleFilter(forms.Form):
    """Who is shown; stays in the address. ``code`` leads to the page of one person."""

    code = forms.CharField(
        label=gettext_lazy("Participant code"),
        required=False,
        max_length=40,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    state = forms.ChoiceField(label=gettext_lazy("State"), required=False)
    end = forms.ChoiceField(label=gettext_lazy("Ended"), required=False)
    source = forms.ChoiceField(label=gettext_lazy("Source"), required=False)

    def __init__(self, data: Any, *, sources: list[str]) -> None:
        super().__init__(data)
        choices: dict[str, list[tuple[str, Any]]] = {
            "state": list(Participant.State.choices),
            "end": [(RUNNING, _("not yet")), *EndState.choices],
            "source": [(one or NO_SOURCE, one or _("without a source")) for one in sources],
        }
        for name, some in choices.items():
            self.fields[name].choices = [("", _("all")), *some]  # type: ignore[attr-defined]


def _people(study: Study) -> QuerySet[Participant]:
    """Those who agreed; of those who had everything erased there is nothing to show."""
    return Participant.objects.filter(study=study, erased_at=None, consented_at__isnull=False)


@require_safe
def participants(request: HttpRequest, slug: str) -> HttpResponse:
    """Participants by code. No nickname, no recruiter id, no code that opens anything, nobody erased."""
    study = access_desk_study(slug, request.user)
    people = _people(study)
    sources = list(people.order_by("source").values_list("source", flat=True).distinct()[:SOURCES])
    form = PeopleFilter(request.GET, sources=sources)
    form.is_valid()
    asked = form.cleaned_data
    typed = codes.normalise(asked.get("code") or "")
    if typed and people.filter(code=typed).exists():
        return redirect("admin:desk_participant", slug, typed)
    page = newest_first(request, _filtered(people, asked))
    given = dict(
        Verdict.objects.of_game()
        .filter(study=study, rater__participant__in=page.rows)
        .values_list("rater__participant")
        .annotate(n=Count("pk"))
        .order_by()
    )
    zone, launch = ZoneInfo(study.time_zone), stretches_of(study)
    context = {
        "study": study,
        "title": _("Participants"),
        "zone": study.time_zone,
        "form": form,
        "unknown": bool(typed),
        "secret": len(typed) in (len(codes.resume_code()), len(codes.receipt_code())),
        "filtered": any(asked.values()),
        "rows": [
            {
                "person": person,
                "device": called(DEVICES, person.device_class),
                "verdicts": given.get(person.pk, 0),
                "joined": person.joined_at.astimezone(zone),
                "notes": _notes(person, launch),
            }
            for person in page.rows
        ],
        "page": page,
    }
    return render(request, "desk/participants.html", context)


def _filtered(people: QuerySet[Participant], asked: Mapping[str, Any]) -> QuerySet[Participant]:
    if asked.get("state"):
        people = people.filter(state=asked["state"])
    if asked.get("end"):
        people = people.filter(end_state="" if asked["end"] == RUNNING else asked["end"])
    if asked.get("source"):
        people = people.filter(source="" if asked["source"] == NO_SOURCE else asked["source"])
    return people


def _notes(person: Participant, launch: list[Stretch]) -> list[str]:
    # Whoever joined in it, counted or not: it pauses while some are in the middle.
    joined = person.in_soft_launch or any(one.has(person.joined_at) for one in launch)
    notes = [
        (person.is_pilot, _("pilot")),
        (person.is_test, _("test")),
        (joined and not (person.is_pilot or person.is_test), _("soft launch")),
    ]
    return [word for is_so, word in notes if is_so]


@require_safe
def participant(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """What happened to one person and what they get, moment by moment; never what they judged, or how."""
    study = access_desk_study(slug, request.user)
    person = _people(study).select_related("study", "rater", "consent__text").filter(code=code).first()
    if person is None:
        raise NotFound("no_participant", _("There is no such participant in this study."))
    zone = ZoneInfo(study.time_zone)
    moments = sorted([*story.moments_of(person), *game.moments_of(person)], key=lambda one: one.at)
    completion = completion_of(person)
    context = {
        "study": study,
        "title": person.code,
        "zone": study.time_zone,
        "person": person,
        "notes": _notes(person, stretches_of(study)),
        "device": called(DEVICES, person.device_class),
        "completion": completion,
        "verdicts": Verdict.objects.of_game().filter(study=study, rater=person.rater).count(),
        "facts": game.facts_of(person),
        "moments": [one._replace(at=one.at.astimezone(zone)) for one in moments],
    }
    return render(request, "desk/participant.html", context)
