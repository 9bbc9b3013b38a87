"""From the link to consent: welcome, age, consent, and coming back with a code."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from studies import access, arrivals, language, presenters, selectors, services, sharing, throttle
from studies.forms import AgeForm, CodeForm, ConsentForm
from studies.models import Participant, Study, TurnedAway
from studies.texts import content_language
from turingsite.errors import Conflict, NotFound

Reason = TurnedAway.Reason


@never_cache
@require_safe
def welcome(request: HttpRequest, slug: str) -> HttpResponse:
    study = selectors.access_study(slug, request.user)
    back = _who_comes_back(request, study)
    if back is not None:
        response = redirect("studies:go", slug)
        access.remember(response, back)
        return response
    refused = _not_now(request, study, count=True)
    if refused:
        return refused
    page = presenters.welcome_page(study, request.GET, activity=arrivals.activity_of(request, study))
    page["preview"] = sharing.preview(request, study, words=page["tagline"])
    return render(request, "studies/welcome.html", page)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def age(request: HttpRequest, slug: str) -> HttpResponse:
    study = selectors.access_study(slug, request.user)
    back = _who_comes_back(request, study)
    if back is not None:
        return _taking_part(request, back, wants_out=request.POST.get("adult") == "no")
    refused = _not_now(request, study)
    if refused:
        return refused
    query = presenters.forwarded(study, request.GET)
    context = {"study": study, "query": query}
    if request.method != "POST":
        return render(request, "studies/age.html", context)
    form = AgeForm(request.POST)
    if not form.is_valid():
        return render(request, "studies/age.html", {**context, "form": form}, status=400)
    if form.cleaned_data["adult"] == "no":
        services.turn_away(study=study, reason=Reason.UNDER_AGE)
        response = render(request, "studies/turned_away.html", {**context, "reason": "under_age"}, status=403)
        arrivals.forget(response, study)
        response.delete_cookie(settings.CSRF_COOKIE_NAME, samesite="Lax")
        return response
    visit = arrivals.Visit(
        age=study.min_age,
        recruiter=arrivals.recruiter_ids(study, request.GET),
        source=arrivals.source_tag(request.GET),
        is_test=arrivals.is_test(study, request.GET),
    )
    response = redirect("studies:consent", slug)
    arrivals.keep(response, study, visit)
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str) -> HttpResponse:
    study = selectors.access_study(slug, request.user)
    visit = arrivals.visit_of(request, study)
    holder = access.held_by(request, slug)
    if visit is None:
        return redirect("studies:go" if holder else "studies:welcome", slug)
    if holder is not None and ("refuse" in request.POST or holder.resume_code == visit.key):
        return _taking_part(request, holder, wants_out="refuse" in request.POST)
    activity = arrivals.activity_of(request, study)
    text = selectors.current_consent_text(study, activity)
    refused = _not_now(request, study, ids=visit.recruiter)
    if refused or text is None:
        return refused or render(request, "studies/not_now.html", {"study": study}, status=503)
    page = presenters.consent_page(study, text)
    if request.method != "POST":
        form = ConsentForm(initial={"version": text.version})
        return render(request, "studies/consent.html", {**page, "form": form})
    if "refuse" in request.POST:
        services.turn_away(study=study, reason=Reason.CONSENT_REFUSED)
        response = render(request, "studies/turned_away.html", {"study": study, "reason": "consent_refused"})
        arrivals.forget(response, study)
        return response
    form = ConsentForm(request.POST)
    if form.is_valid() and form.read() != (text.activity, text.version):
        form.add_error(None, _("The text has changed while you read it. Please read it again."))
    if not form.is_valid():
        return render(request, "studies/consent.html", {**page, "form": form}, status=400)
    participant = services.consent(
        study=study,
        text=text,
        key=visit.key,
        language=content_language(),
        publish_text=form.cleaned_data["publish"],
        contact_again=form.cleaned_data["again"],
        recruiter=visit.recruiter,
        source=visit.source,
        device_class=arrivals.device_class(request),
        is_test=visit.is_test,
        activity=activity,
        arrive=arrivals.arrival_of(request, study),
    )
    response = redirect("studies:go", slug)
    access.remember(response, participant)
    arrivals.put_down(response, study)
    return response


@require_safe
def consent_copy(request: HttpRequest, slug: str) -> HttpResponse:
    """The consent text to keep: for participants the version they agreed to, with their choices and codes."""
    study = selectors.access_study(slug, request.user)
    participant = access.held_by(request, slug)
    given = getattr(participant, "consent", None)
    activity = arrivals.activity_of(request, study)
    text = given.text if given is not None else selectors.current_consent_text(study, activity)
    if text is None:
        raise NotFound("no_text", _("This study has no consent text yet."))
    response = HttpResponse(
        presenters.consent_copy(study, text, participant), content_type="text/plain; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-consent-v{text.version}.txt"'
    return response


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, slug: str) -> HttpResponse:
    """Type the code from last time. The answer to a wrong one is always the same."""
    study = selectors.access_study(slug, request.user)
    if request.method != "POST":
        return render(request, "studies/resume.html", {"study": study, "form": CodeForm()})
    typed = request.POST.get("code", "")
    throttle.check(study, "resume", typed)
    form = CodeForm(request.POST)
    if form.is_valid():
        try:
            participant = selectors.access_resume(study, form.cleaned_data["code"])
        except NotFound as error:
            throttle.count(study, "resume", typed)
            form.add_error("code", _(str(error)))
        else:
            response = redirect("studies:go", slug)
            access.remember(response, participant)
            language.remember_language(response, language.supported(participant.interface_language) or "en")
            return response
    return render(request, "studies/resume.html", {"study": study, "form": form}, status=400)


def _who_comes_back(request: HttpRequest, study: Study) -> Participant | None:
    """The participant behind this address: the panel's person id decides, else the cookie of this browser."""
    ids = arrivals.recruiter_ids(study, request.GET)
    person = ids.get(study.recruiter_params[0], "") if study.recruiter_params else ""
    if person:
        return study.participants.select_related("study").filter(recruiter_key=person).first()
    return access.held_by(request, study.slug)


def _taking_part(request: HttpRequest, participant: Participant, *, wants_out: bool) -> HttpResponse:
    """Where somebody goes on who takes part already, and came back to a page from before that: never to a
    second row, nor to a page that says nothing is stored.
    """
    response = redirect("studies:leave" if wants_out else "studies:go", participant.study.slug)
    access.remember(response, participant)
    return response


def _not_now(
    request: HttpRequest, study: Study, *, ids: dict[str, str] | None = None, count: bool = False
) -> HttpResponse | None:
    """The page that says why nobody, or not this visitor, can join now; None where they can."""
    if study.status == Study.Status.CLOSED:
        if count:
            services.turn_away(study=study, reason=Reason.CLOSED)
        return render(request, "studies/not_now.html", {"study": study}, status=410)
    if study.status == Study.Status.PAUSED:
        response = render(request, "studies/not_now.html", {"study": study}, status=503)
        response["Retry-After"] = "3600"
        return response
    if study.status == Study.Status.DRAFT and request.method == "POST":
        raise Conflict("draft", _("This study is a draft. Set it to “pilot” to try it out."))
    if study.recruiter_required and arrivals.arrival_of(request, study) is None:
        ids = arrivals.recruiter_ids(study, request.GET) if ids is None else ids
        if not ids.get(study.recruiter_params[0] if study.recruiter_params else ""):
            if count:
                services.turn_away(study=study, reason=Reason.NO_RECRUITER_ID)
            context = {"study": study, "reason": "no_recruiter_id"}
            return render(request, "studies/turned_away.html", context, status=403)
    return None
