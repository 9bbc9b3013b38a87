"""Pages of the expert review: studies, a study's queue, a case, and what is decided and said there."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Dimension, ReviewCase
from annotation.review import access
from annotation.review.case_page import case_page, scores_named
from annotation.review.conflict_page import conflict_page
from annotation.review.forms import APPROVE, Sent, refuse_incomplete, sent
from annotation.review.queue import SHOWS, following_case, page_of, progress_of
from annotation.services import reviewing
from annotation.services.review_cases import refresh_now_and_then
from annotation.services.review_rules import Moved
from dialogues import media
from studies.characters import cleaned
from studies.refusals import translated
from turingsite.errors import Conflict, DomainError, Invalid, NotFound, Refused

View = Callable[..., HttpResponse]
Act = Callable[[HttpRequest, ReviewCase, Sent], None]


def for_accounts(view: View) -> View:
    """Sends people without an account to the desk's login; pages show nothing to caches."""

    @never_cache
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        return view(request, *args, **kwargs)

    return wrapped


@for_accounts
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    """The studies whose reviews this person does or follows."""
    found = list(access.followed_by(request.user).order_by("-created_at")[:100])
    if not found and not request.user.is_staff:
        raise NotFound("no_page", access.NO_PAGE)
    rows = [
        {
            "study": study,
            "progress": progress_of(study, request.user),
            "reviews": access.is_reviewer(request.user, study),
        }
        for study in found
    ]
    return render(request, "annotation/review_studies.html", {"rows": rows})


@for_accounts
@require_safe
def queue(request: HttpRequest, slug: str) -> HttpResponse:
    """The cases of a study, largest disagreement first; for its researchers, how far it has come."""
    study = access.access_followed(slug, request.user)
    reviews = access.is_reviewer(request.user, study)
    after = request.GET.get("after", "")
    left = 0 if after else refresh_now_and_then(study, timezone.now())
    shows = dict(SHOWS) if reviews else {key: words for key, words in SHOWS.items() if key != "mine"}
    show = request.GET.get("show", "")
    show = show if show in shows else next(iter(shows)) if reviews else "all"
    context = {
        "study": study,
        "reviews": reviews,
        "shows": shows.items(),
        "show": show,
        "page": page_of(study, request.user, show, after),
        "progress": progress_of(study, request.user),
        "wanted": study.annotation.reviewers,
        "left": left,
    }
    return render(request, "annotation/review_queue.html", context)


@for_accounts
@require_safe
def case(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """One dialogue with its truth and everybody's scores. Opening it is noted."""
    return _shown(request, access.access_case(slug, code, request.user))


def _shown(
    request: HttpRequest, found: ReviewCase, *, error: DomainError | None = None, form: Any = None
) -> HttpResponse:
    """The case, also with what was refused and what had been filled in."""
    if access.has_rated(request.user, found.dialogue):
        return render(request, "annotation/review_rated.html", {"study": found.study}, status=403)
    access.open_case(found, request.user, timezone.now())
    found.refresh_from_db()
    asked = request.GET
    opened = form.get("open", "") if form else asked.get("open", "")
    context = case_page(found, request.user, opened=opened, rater=asked.get("rater", ""))
    kept = {"scores": form.getlist("score"), **form.dict()} if form else {}
    context |= {"error": error and translated(error), "form": form, "kept": kept, "opened": opened}
    context["following"] = following_case(found, request.user)
    return render(request, "annotation/review_case.html", context, status=error.status if error else 200)


@for_accounts
@require_safe
def sound(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """The sound of a case, for a reviewer who opened it."""
    found = access.access_case(slug, code, request.user)
    exposure = access.access_sound(found, request.user)
    answer = media.answer(request, exposure.dialogue.play_path)
    if request.method == "GET" and answer.status_code in (200, 206):
        media.note_first_byte(exposure=exposure.pk, now=timezone.now())
    return answer


def _post(act: Act) -> View:
    """A view that does ``act`` and goes back to the case; what is refused is shown there, with the input."""

    @for_accounts
    @require_POST
    @wraps(act)
    def wrapped(request: HttpRequest, slug: str, code: str) -> HttpResponse:
        found = access.access_case(slug, code, request.user)
        try:
            form = sent(request.POST)
            act(request, found, form)
        except Moved as error:
            found.refresh_from_db()
            context = conflict_page(found, request.user, form, act.__name__, error)
            return render(request, "annotation/review_conflict.html", context, status=error.status)
        except (Invalid, Conflict, Refused) as error:
            return _shown(request, found, error=error, form=request.POST)
        return redirect(_back(found, form, request.POST.get("open", "")))

    return wrapped


def _back(found: ReviewCase, form: Sent, opened: str) -> str:
    """The address of the case with the discussion that was open, at the row that was decided on."""
    place = reverse("review:case", args=[found.study.slug, found.code])
    at = form.dimension or "".join(form.scores[:1]).rpartition(".")[0]
    asked = f"?{urlencode({'open': opened})}" if opened else ""
    return f"{place}{asked}" + (f"#d-{quote(at)}" if at else "")


@_post
def approve(request: HttpRequest, found: ReviewCase, form: Sent) -> None:
    """One score as it is, or all that are left of a dimension or of the case."""
    now = timezone.now()
    if form.scores:
        return _decide_each(request, found, form._replace(choice=APPROVE))
    if not form.dimension and form.lot != "all":
        raise Invalid("no_score", _("Choose whose scores you mean."))
    dimension = _dimension(found, form.dimension)
    n = reviewing.approve_lot(
        case=found, reviewer=request.user, dimension=dimension, version=form.version, now=now
    )
    words = ngettext("Stored: %(n)s score approved.", "Stored: %(n)s scores approved.", n)
    messages.success(request, words % {"n": n})
    return None


@_post
def decide(request: HttpRequest, found: ReviewCase, form: Sent) -> None:
    """Approve or propose a value for one or several raters' scores of a dimension."""
    refuse_incomplete(form)
    _decide_each(request, found, form)


def _decide_each(request: HttpRequest, found: ReviewCase, form: Sent) -> None:
    reviewing.decide_each(
        case=found,
        scores=scores_named(found, form.scores),
        reviewer=request.user,
        approve=form.choice == APPROVE,
        value=None if form.choice == APPROVE else form.value,
        reason=form.reason,
        version=form.version,
        now=timezone.now(),
    )
    messages.success(request, _("Stored."))


@_post
def agree(request: HttpRequest, found: ReviewCase, form: Sent) -> None:
    """Close differences of a dimension with the value agreed on."""
    refuse_incomplete(form)
    if form.choice == APPROVE:
        raise Invalid("no_choice", _("Choose the value you agreed on."))
    reviewing.agree_each(
        case=found,
        scores=scores_named(found, form.scores),
        reviewer=request.user,
        value=form.value,
        reason=form.reason,
        version=form.version,
        now=timezone.now(),
    )
    messages.success(request, _("Stored."))


@_post
def comment(request: HttpRequest, found: ReviewCase, form: Sent) -> None:
    """Say something on a dimension, or on the case."""
    reviewing.comment(
        case=found,
        author=request.user,
        text=cleaned(request.POST.get("text", "")),
        dimension=_dimension(found, form.dimension),
        now=timezone.now(),
    )


def _dimension(found: ReviewCase, key: str) -> Dimension | None:
    if not key:
        return None
    dimension = Dimension.objects.filter(taxonomy=found.study.annotation.taxonomy, key=key).first()
    if dimension is None:
        raise Invalid("no_dimension", _("There is no such dimension."))
    return dimension
