"""How far people came in a study: numbers for the desk, no outcomes. Apart: test participants and those whose
answers were erased, as in the funnel report, which can be made from an export and so never sees them."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Q, Sum
from django.utils.translation import gettext_lazy as _

from studies.models import Answer, Participant, Study, TurnedAway
from studies.selectors import PROFILE


class Step(NamedTuple):
    """A step of the funnel and how many people reached it."""

    key: str
    label: object
    people: int


class People(NamedTuple):
    """Who came, and who was turned away before anything was stored of them (by reason)."""

    steps: list[Step]
    turned_away: dict[str, int]
    ended: dict[str, int]
    test: int
    pilot: int
    erased: int


def people_of(study: Study) -> People:
    """Consent, language, profile and the ends; the games' own steps come from the games."""
    counted = Q(consented_at__isnull=False, is_test=False, erased_at=None)
    counts = Participant.objects.filter(study=study).aggregate(
        consented=Count("pk", filter=counted),
        language=Count("pk", filter=counted & ~Q(judging_language="")),
        test=Count("pk", filter=Q(is_test=True)),
        pilot=Count("pk", filter=counted & Q(is_pilot=True)),
        erased=Count("pk", filter=Q(erased_at__isnull=False, is_test=False)),
    )
    profiled = (
        Answer.objects.filter(
            questionnaire__study=study,
            questionnaire__key=PROFILE,
            rater__participant__is_test=False,
            rater__participant__erased_at=None,
        )
        .values("rater")
        .distinct()
        .count()
    )
    away = TurnedAway.objects.filter(study=study).values_list("reason").annotate(n=Sum("count"))
    ended = Participant.objects.filter(counted, study=study).exclude(end_state="")
    return People(
        steps=[
            Step("consented", _("Consented"), counts["consented"]),
            Step("language", _("Chose a language"), counts["language"]),
            Step("profile", _("Answered the profile"), profiled),
        ],
        turned_away=dict(away),
        ended=dict(ended.values_list("end_state").annotate(n=Count("pk")).order_by("end_state")),
        test=counts["test"],
        pilot=counts["pilot"],
        erased=counts["erased"],
    )
