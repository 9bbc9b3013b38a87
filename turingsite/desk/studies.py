"""The desk's first page, and a study's: how it stands, how far people come, opening, pausing, settings."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.db.models import Count, Q
from django.forms import BaseModelFormSet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.review.access import reviewed_by
from dialogues import selectors as corpus
from dialogues.models import Dialogue, Kind, ProcessingJob, StudyItem, Verdict
from games.group.funnel import steps_of as group_steps_of
from games.group.live import live_of as group_live_of
from games.group.services.starting import KEY as GROUP
from games.speech.assignment import ACTIVITY as SPEECH
from games.speech.funnel import listening_of, steps_of
from games.speech.models import SpeechSettings
from games.speech.services.settings import change_speech_settings
from studies.funnel import Step, people_of
from studies.looks import seen_closed
from studies.models import EndState, Language, Participant, Study, TurnedAway
from studies.plans import frozen_plan
from studies.registry import reports
from studies.selectors import access_desk_study, opening_problems, soft_launched
from studies.services import change_status, create_study
from studies.services.opening import COUNTING, moves_of
from studies.services.paying import change_completions
from studies.services.running import add_member, change_settings, remove_member
from turingsite.desk.doors import access_desk, access_managed_study, manages, tell
from turingsite.desk.forms import CompletionRows, MemberForm, NewStudyForm, SpeechForm, StudyForm
from turingsite.desk.live import figures
from turingsite.desk.plan import beside_study
from turingsite.errors import DomainError

Status = Study.Status
MOVES = {
    Status.DRAFT: gettext_lazy("Back to draft"),
    Status.PILOT: gettext_lazy("Start the pilot"),
    Status.SOFT_LAUNCH: gettext_lazy("Start the soft launch"),
    Status.OPEN: gettext_lazy("Open"),
    Status.PAUSED: gettext_lazy("Pause"),
    Status.CLOSED: gettext_lazy("Close"),
}
REOPEN = gettext_lazy("Reopen, paused")
GO_ON = gettext_lazy("Go on with the soft launch")


def index(request: HttpRequest) -> TemplateResponse:
    """The studies this person may open, with the figures that change."""
    # Counted apart: joining people and verdicts would multiply one by the other.
    found = list(Study.objects.visible_to(request.user).order_by("-created_at")[:100])
    by_study = {"study__in": found}
    people = _counts(Participant.objects.filter(**by_study, consented_at__isnull=False, is_test=False))
    verdicts = _counts(
        Verdict.objects.of_game().filter(**by_study, exclusion="", rater__participant__isnull=False)
    )
    items = _counts(StudyItem.objects.filter(**by_study, is_active=True))
    rows = [
        {
            "study": study,
            "people": people.get(study.pk, 0),
            "verdicts": verdicts.get(study.pk, 0),
            "items": items.get(study.pk, 0),
        }
        for study in found
    ]
    context: dict[str, Any] = {
        "rows": rows,
        "works": corpus.works_on_desk(request.user),
        "reviews": reviewed_by(request.user),
    }
    if context["works"]:
        states = corpus.desk_dialogues(request.user).aggregate(
            dialogues=Count("pk"),
            waiting=Count(
                "pk", filter=Q(job__state__in=(ProcessingJob.State.QUEUED, ProcessingJob.State.RUNNING))
            ),
            failed=Count("pk", filter=Q(state=Dialogue.State.FAILED)),
        )
        context |= states
    return TemplateResponse(request, "desk/index.html", context)


def _counts(rows: Any) -> dict[int, int]:
    return dict(rows.values_list("study").annotate(n=Count("pk")).order_by())


def create(request: HttpRequest) -> HttpResponse:
    """A draft from the built-in study."""
    form = NewStudyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_study(user=request.user, **form.cleaned_data)
        except DomainError as error:
            form.refuse(error)
        else:
            messages.success(request, _("The study is there, as a draft."))
            return redirect("admin:desk_study", made.slug)
    context = {"forms": [form], "title": _("New study"), "submit": _("Create the draft"), "new_study": True}
    return render(request, "desk/form.html", context, status=400 if form.errors else 200)


def study(request: HttpRequest, slug: str) -> HttpResponse:
    """How a study stands. Counts only: outcomes are on the report pages, hidden while it runs."""
    found = access_desk_study(slug, request.user)
    people = people_of(found)
    labels = dict(EndState.choices)
    verdicts, items = corpus.verdicts_of(found), corpus.items_of(found)
    meets = GROUP in found.activities
    listens = not meets or bool(items) or bool(verdicts) or len(found.activities) > 1
    steps = [*people.steps]
    steps += steps_of(found) if SPEECH in found.activities or not meets else []
    steps += group_steps_of(found) if meets else []
    steps.append(Step("completed", _("Completed"), people.ended.get("done", 0)))
    return render(
        request,
        "desk/study.html",
        {
            "study": found,
            "manages": manages(request.user, found),
            "moves": _moves(found),
            "joinable": found.status in Study.JOINABLE,
            "problems": opening_problems(found),
            "link": request.build_absolute_uri(f"/s/{found.slug}/"),
            "steps": _with_shares(steps),
            "turned_away": [
                (TurnedAway.Reason(reason).label, n) for reason, n in sorted(people.turned_away.items())
            ],
            "ended": [(labels[end], n) for end, n in people.ended.items()],
            "people": people,
            "listens": listens,  # whether there are dialogues to judge
            "group": group_live_of(found, now=timezone.now()) if meets else None,
            "kinds": [(kind, label) for kind, label in Kind.choices],
            "verdicts": _by_language(found, verdicts),
            "verdicts_total": sum(verdicts.values()),
            "left_out": [
                (Verdict.Exclusion(reason).label, n) for reason, n in corpus.left_out_of(found).items()
            ],
            "items": _by_language(found, items),
            "items_total": sum(items.values()),
            "unready": [(Dialogue.State(s).label, n) for s, n in corpus.unready_items_of(found).items()],
            "listening": listening_of(found),
            "reports": [report for report in reports if report.has(found)],
            "last_export": found.export_files.order_by("-created_at").first(),
            "members": found.members.select_related("user").order_by("role", "user__username"),
            "member_form": MemberForm(),
            "live": figures(found),
            **beside_study(found),
        },
    )


def _moves(study: Study) -> list[tuple[str, Any]]:
    words = dict(MOVES)
    if study.status == Status.CLOSED:
        words[Status.PAUSED] = REOPEN
    if soft_launched(study):
        words[Status.SOFT_LAUNCH] = GO_ON
    return [(to, words[Status(to)]) for to in moves_of(study)]


def _with_shares(steps: list[Step]) -> list[dict[str, Any]]:
    first = max((step.people for step in steps[:1]), default=0)
    return [
        {
            "step": step,
            "share": round(100 * step.people / first) if first else None,
            "width": _width(step, first),
        }
        for step in steps
    ]


def _width(step: Step, first: int) -> str:
    return f"{min(100.0, 100 * step.people / first) if first else 0:.1f}%"


def _by_language(study: Study, counts: dict[tuple[str, str], int]) -> list[tuple[Any, list[int], int]]:
    languages = [
        code for code in Language.values if code in study.languages or any(c == code for c, _k in counts)
    ]
    rows = []
    for code in languages:
        cells = [counts.get((code, kind), 0) for kind in Kind.values]
        rows.append((Language(code).label, cells, sum(cells)))
    return rows


@require_POST
def status(request: HttpRequest, slug: str) -> HttpResponse:
    """Open, pause; close and reopen when asked twice. What stands against it is shown on the study's page."""
    found = access_managed_study(slug, request.user)
    to = request.POST.get("to", "")
    if to not in Status.values:
        messages.error(request, _("Choose what to do with the study."))
        return redirect("admin:desk_study", slug)
    sure = request.POST.get("sure") == "yes"
    if not sure and to != found.status and Status.CLOSED in (to, found.status) and to in moves_of(found):
        return _asked(request, found, to)
    try:
        change_status(study=found, to=to, knowing=sure, user=request.user)
    except DomainError as error:
        tell(request, error)
    else:
        messages.success(request, _("The study is now: %(status)s.") % {"status": Status(to).label})
        if to in COUNTING and frozen_plan(found) is None:
            messages.warning(request, _("No plan is frozen: what reports say of its answers is exploratory."))
    return redirect("admin:desk_study", slug)


def _asked(request: HttpRequest, study: Study, to: str) -> HttpResponse:
    """The page that asks before a study is closed or goes on after it was."""
    context = {
        "study": study,
        "title": MOVES[Status.CLOSED] if to == Status.CLOSED else REOPEN,
        "to": to,
        "closing": to == Status.CLOSED,
        "inside": study.participants.filter(end_state="", consented_at__isnull=False, is_test=False).count(),
        "read": len(seen_closed(study)),
    }
    return render(request, "desk/plan_status.html", context)


def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """What people read and meet; the game's settings; what each end state gives."""
    found = access_managed_study(slug, request.user)
    speech = SpeechSettings.objects.filter(study=found).first() or SpeechSettings(study=found)
    rows = found.completions.order_by("pk")
    posted = request.POST if request.method == "POST" else None
    form, game = StudyForm(posted, instance=found), SpeechForm(posted, instance=speech, prefix="speech")
    ends: BaseModelFormSet[Any, Any] = CompletionRows(posted, queryset=rows, prefix="end")
    if posted is not None and form.is_valid() & game.is_valid() & ends.is_valid():
        try:
            _store(found, request.user, form, game, ends)
        except DomainError as error:
            (game if set(error.fields) & set(game.fields) else form).refuse(error)
        else:
            messages.success(request, _("Saved."))
            return redirect("admin:desk_study", slug)
    wrong = bool(form.errors or game.errors or any(ends.errors))
    context = {
        "study": found,
        "forms": [form, game],
        "ends": ends,
        "end_labels": dict(EndState.choices),
        "title": _("Settings"),
        "submit": _("Save"),
    }
    return render(request, "desk/form.html", context, status=400 if wrong else 200)


def _store(
    found: Study, user: Any, form: StudyForm, game: SpeechForm, ends: BaseModelFormSet[Any, Any]
) -> None:
    with transaction.atomic():
        change_settings(study=found, user=user, **form.cleaned_data)
        change_speech_settings(study=found, user=user, **game.cleaned_data)
        change_completions(study=found, user=user, rows=ends.cleaned_data)


@require_POST
def people(request: HttpRequest, slug: str) -> HttpResponse:
    """Add somebody with an account to the study, or take their part away."""
    found = access_managed_study(slug, request.user)
    leaving = request.POST.get("remove", "")
    try:
        if leaving:
            member = found.members.filter(
                pk=int(leaving) if leaving.isdecimal() and len(leaving) < 19 else 0
            ).first()
            if member is not None:
                remove_member(study=found, member=member, user=request.user)
        else:
            form = MemberForm(request.POST)
            if form.is_valid():
                add_member(study=found, user=request.user, **form.cleaned_data)
            else:
                messages.error(request, _("Write an account name and choose a part."))
    except DomainError as error:
        tell(request, error)
    if not manages(request.user, found):  # somebody took their own part away
        access_desk(request.user)
        return redirect("admin:index")
    return redirect("admin:desk_study", slug)
