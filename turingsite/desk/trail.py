"""The audit trail on the desk: of one study for its people, of the whole site for operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, time, timedelta
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from annotation.models import AnnotationSettings, Layer, ReviewDecision
from dialogues.selectors import desk_dialogues, desk_imports
from games.group.models import Game, GroupSettings
from games.room.models import Seat
from games.speech.models import SpeechSettings
from studies.looks import LOOKS
from studies.models import AuditLine, EndState, Language, Study, StudyMember
from studies.outcomes import counted_in, counted_words, together
from studies.registry import reports
from studies.selectors import access_desk_study
from turingsite.desk.group_words import PHASES
from turingsite.desk.paging import newest_first
from turingsite.desk.trail_words import DEEDS, DETAILS, GROUPS, actions_of, group_of
from turingsite.desk.wording import ACTORS, called
from turingsite.errors import NotFound

KINDS = ("participant", "command", "system")
VERDICTS = "verdicts"  # not a report, but read over the API like one
#: Lines whose target is a group game, its room or a seat in it.
OF_GAMES = frozenset(
    {"group.next_phase", "group.cancelled", "group.watched", "group.concern_seen", "group.preview_opened"}
    | {"room.extended", "seat.removed"}
)
LONGEST = 60  # lines of a detail that are listed; the rest is counted
#: Details whose values are enumerated; every other value is a name or a number and stays as it is.
CHOICES: Mapping[str, Mapping[Any, Any]] = {
    **{key: dict(Study.Status.choices) for key in ("was", "now_is", "status")},
    "role": dict(StudyMember.Role.choices),
    "decision": dict(ReviewDecision.Decision.choices),
    "arm": dict(Layer.choices),
    "phase": PHASES,
    "why": dict(Seat.Left.choices),
}
ENDS: Mapping[str, Any] = dict(EndState.choices)


class TrailFilter(forms.Form):
    """What is shown of the trail; stays in the address."""

    group = forms.ChoiceField(label=gettext_lazy("Of what"), required=False)
    who = forms.ChoiceField(label=gettext_lazy("Of whom"), required=False)
    day = forms.DateField(
        label=gettext_lazy("On the day"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )

    def __init__(self, data: Any, *, people: Iterable[tuple[int, str]]) -> None:
        super().__init__(data)
        everything = ("", _("all"))
        self.fields["group"].choices = [everything, *GROUPS.items()]  # type: ignore[attr-defined]
        self.fields["who"].choices = [  # type: ignore[attr-defined]
            everything,
            *((str(pk), name) for pk, name in people),
            *((kind, ACTORS[kind]) for kind in KINDS),
        ]


@require_safe
def study_trail(request: HttpRequest, slug: str) -> HttpResponse:
    """Who did what to the study, when."""
    study = access_desk_study(slug, request.user)
    return _trail(request, AuditLine.objects.filter(study=study), ZoneInfo(study.time_zone), study)


@require_safe
def site_trail(request: HttpRequest) -> HttpResponse:
    """Every line there is, also those that belong to no study; for operators."""
    if not request.user.is_superuser:
        raise NotFound("no_page", _("There is nothing at this address."))
    return _trail(request, AuditLine.objects.all(), ZoneInfo("UTC"), None)


def _trail(
    request: HttpRequest, lines: QuerySet[AuditLine], zone: ZoneInfo, study: Study | None
) -> HttpResponse:
    actors = lines.exclude(actor=None).order_by().values("actor").distinct()
    people = get_user_model().objects.filter(pk__in=actors).order_by("username")
    form = TrailFilter(request.GET, people=people.values_list("pk", "username"))
    form.is_valid()
    asked = form.cleaned_data
    page = newest_first(request, _filtered(lines, asked, zone).select_related("actor", "study"))
    said = _Sentences(page.rows, request.user)
    context = {
        "study": study,
        "title": _("Audit trail"),
        "zone": str(zone),
        "form": form,
        "filtered": any(asked.values()),
        "rows": [
            {
                "at": line.at.astimezone(zone),
                "actor": str(line.actor) if line.actor else called(ACTORS, line.actor_kind),
                "said": said.deed(line),
                "details": said.details(line),
                "group": GROUPS[group_of(line.action)],
                "study": line.study if study is None else None,
            }
            for line in page.rows
        ],
        "page": page,
    }
    return render(request, "desk/trail.html", context)


def _filtered(lines: QuerySet[AuditLine], asked: Mapping[str, Any], zone: ZoneInfo) -> QuerySet[AuditLine]:
    group, who, day = asked.get("group"), asked.get("who"), asked.get("day")
    if group == "other":
        lines = lines.exclude(action__in=DEEDS)
    elif group:
        lines = lines.filter(action__in=actions_of(group))
    if who in KINDS:
        lines = lines.filter(actor=None, actor_kind=who)
    elif who:
        lines = lines.filter(actor_id=int(who))
    if day:
        start = datetime.combine(day, time.min, zone)
        end = datetime.combine(day + timedelta(days=1), time.min, zone)
        lines = lines.filter(at__gte=start, at__lt=end)
    return lines


class _Sentences:
    """Puts lines into words. What they point to is looked up once for all, as far as ``user`` may see it."""

    def __init__(self, lines: list[AuditLine], user: Any) -> None:
        numbers: dict[str, set[int]] = {}
        for line in lines:
            if line.target.isdecimal() and len(line.target) < 19:
                numbers.setdefault(line.action.split(".")[0], set()).add(int(line.target))
        owners = {line.detail.get("owner") for line in lines if isinstance(line.detail.get("owner"), int)}
        corpus = numbers.get("dialogue", set()) | numbers.get("flag", set())
        found = desk_dialogues(user).filter(pk__in=corpus) if corpus else ()
        self.dialogues = {one.pk: one for one in found}
        batches = numbers.get("import")
        self.imports = {one.pk: one for one in desk_imports(user).filter(pk__in=batches)} if batches else {}
        users = get_user_model().objects.filter(pk__in=numbers.get("study", set()) | owners)
        self.games = _games({line.target for line in lines if line.action in OF_GAMES})
        self.users = {one.pk: one.get_username() for one in users}

    def deed(self, line: AuditLine) -> SafeString:
        """The clause after the actor's name; an action without words as it is stored."""
        deed = DEEDS.get(line.action)
        if deed is None:
            return format_html("<code>{}</code> {}", line.action, line.target)
        # The phrase is ours, its one place is filled with escaped text or a link.
        return mark_safe(str(conditional_escape(deed.words)) % {"target": self.target(line)})  # noqa: S308

    def target(self, line: AuditLine) -> SafeString | str:
        slug = line.study.slug if line.study else ""
        number = int(line.target) if line.target.isdecimal() and len(line.target) < 19 else 0
        sort = line.action.split(".")[0]
        if sort in ("dialogue", "flag"):
            one = self.dialogues.get(number)
            if one is None:
                return conditional_escape(_("dialogue no. %(number)s") % {"number": line.target})
            return _link(reverse("admin:desk_dialogue", args=[one.code]), one.external_id)
        if sort == "import":
            words = _("import no. %(number)s") % {"number": line.target}
            there = number in self.imports
            return (
                _link(reverse("admin:desk_import", args=[number]), words)
                if there
                else conditional_escape(words)
            )
        if line.action == "report.read" and slug and line.target in reports:
            address = reverse("admin:desk_report", args=[slug, line.target])
            return _link(address, str(reports.get(line.target).title))
        if line.action == "report.read" and slug and line.target == VERDICTS:
            return _link(reverse("admin:desk_verdicts", args=[slug]), _("Verdicts"))
        if sort == "plan" and slug:
            version = line.detail.get("version") or line.target.removeprefix("version ")
            return _link(reverse("admin:desk_plan", args=[slug]), _("version %(n)s") % {"n": version})
        if line.action in OF_GAMES:
            game = self.games.get(line.target)
            if game is None or game.study_id != line.study_id:
                return conditional_escape(_("a group game"))
            address = reverse("admin:desk_group_game", args=[slug, game.code])
            return _link(address, _("group game %(number)s") % {"number": game.number})
        if line.action == "group.bots_called":
            return conditional_escape(dict(Language.choices).get(line.target, line.target))
        if sort == "annotator" and not line.target:  # as an erasure leaves it
            return conditional_escape(_("(erased)"))
        if sort == "study" and number:
            name = self.users.get(number) or _("account no. %(number)s") % {"number": line.target}
            return conditional_escape(name)
        return format_html("<code>{}</code>", line.target)

    def details(self, line: AuditLine) -> list[tuple[str, str]]:
        """Names and values of what else was noted; a change as “was → is”."""
        detail = dict(line.detail)
        rows: list[tuple[str, str]] = []
        if line.action in LOOKS and "n" in detail:
            rows.append((str(DETAILS["n"]), counted_words(counted_in(line))))
            detail = {key: value for key, value in detail.items() if key not in ("n", "of", "also")}
        for key, others in (("n", "others"), ("seen", "seen_others")):
            if key in detail and line.action in ("plan.frozen", "study.status"):
                counts = together(detail.pop(key), detail.pop(others, {}))
                rows.append((str(DETAILS[key]), counted_words(counts)))
        if "was" in detail or "now_is" in detail:
            was, now_is = detail.pop("was", None), detail.pop("now_is", None)
            words = CHOICES["was"]
            rows.append((_("status"), f"{_value(was, words)} → {_value(now_is, words)}"))
        pairs = detail.pop("values", None)
        names = detail.pop("changed", None)
        if isinstance(pairs, dict):
            rows += [
                (_field(key), f"{_value(both[0], _levels(key))} → {_value(both[1], _levels(key))}")
                for key, both in pairs.items()
                if isinstance(both, list) and len(both) == 2
            ]
        if isinstance(names, list | dict):
            rest = [name for name in names if not isinstance(pairs, dict) or name not in pairs]
            if rest:
                rows.append((str(DETAILS["changed"]), ", ".join(_field(str(name)) for name in rest)))
        elif names is not None:
            rows.append((str(DETAILS["changed"]), _value(names)))
        for key, value in detail.items():
            if key == "round" and line.action in OF_GAMES:
                continue  # tells how long the AI was among them
            if key == "version" and line.action.startswith("plan."):
                continue
            shown = self.users.get(value, value) if key == "owner" and isinstance(value, int) else value
            rows.append((str(DETAILS.get(key, key)), _value(shown, CHOICES.get(key, {}))))
        return rows


def _games(targets: set[str]) -> dict[str, Game]:
    """Group games by what lines name them by: their own code, their room's, or that of one of its seats."""
    if not targets:
        return {}
    named = Q(code__in=targets) | Q(room__code__in=targets) | Q(room__seats__code__in=targets)
    found: dict[str, Game] = {}
    for game in Game.objects.filter(named).select_related("room").prefetch_related("room__seats").distinct():
        found |= dict.fromkeys([game.code, game.room.code, *(s.code for s in game.room.seats.all())], game)
    return found


def _link(address: str, words: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', address, words)


def _column(name: str) -> Any:
    """The column of that name of a study or of its activities; None where there is none."""
    for model in (Study, SpeechSettings, AnnotationSettings, GroupSettings):
        try:
            return model._meta.get_field(name)
        except FieldDoesNotExist:
            continue
    return None


def _field(name: str) -> str:
    """A column of a study or of its game by the name its form has; an end by its own."""
    return str(getattr(_column(name), "verbose_name", "") or ENDS.get(name, name))


def _levels(name: str) -> Mapping[Any, Any]:
    """What the values of a column are called, where they are enumerated."""
    return dict(getattr(_column(name), "flatchoices", None) or ())


def _value(value: Any, words: Mapping[Any, Any] = MappingProxyType({})) -> str:
    """A stored value, called as ``words`` call it."""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if value is None or value == "":
        return "–"
    if isinstance(value, list):
        rest = len(value) - LONGEST
        return ", ".join(_value(one, words) for one in value[:LONGEST]) + (f" + {rest}" if rest > 0 else "")
    if isinstance(value, dict):
        return ", ".join(f"{key} {_value(one, words)}" for key, one in value.items()) or "–"
    return str(words.get(value, value))
