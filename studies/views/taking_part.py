"""From consent to the end: where a person is, language, questionnaires, leaving, debrief, withdrawal."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from studies import access, presenters, selectors, services, throttle
from studies.codes import grouped
from studies.forms import LanguageForm, WithdrawForm, questionnaire_form
from studies.models import Participant, Study
from studies.texts import content_language
from turingsite.errors import Conflict, NotFound


@never_cache
@require_safe
def go(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the person to where the server says they are."""
    participant = access.held_by(request, slug)
    if participant is None or not (participant.end_state or participant.is_gone):
        participant = access.participant_of(request, slug, closed_ok=True)
        services.note_interface_language(participant=participant, language=content_language())
        if participant.study.status == Study.Status.CLOSED:
            services.close(participant=participant)
    step = selectors.position(participant)
    if step.name == "end" and not participant.end_state:
        services.complete(participant=participant)
    elif step.name in (participant.activities or participant.study.activities):
        services.begin(participant=participant)
    return redirect(step.url)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def language(request: HttpRequest, slug: str) -> HttpResponse:
    participant = access.participant_of(request, slug)
    form = LanguageForm(participant.study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        services.choose_language(participant=participant, language=form.cleaned_data["language"])
        return redirect("studies:go", slug)
    context = {"study": participant.study, "participant": participant, "form": form}
    return render(request, "studies/language.html", context, status=400 if request.method == "POST" else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def questionnaire(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    participant = access.participant_of(request, slug)
    sheet = selectors.current_questionnaire(participant.study, key)
    if sheet is None:
        raise NotFound("no_questionnaire", _("There is no such page in this study."))
    form = questionnaire_form(sheet, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        services.record_answers(
            participant=participant,
            questionnaire=sheet,
            values=form.cleaned_data,
            language=content_language(),
        )
        return redirect("studies:go", slug)
    context = {
        "study": participant.study,
        "participant": participant,
        "title": sheet.title_zh if content_language() == "zh" and sheet.title_zh else sheet.title_en,
        "form": form,
    }
    return render(request, "studies/questionnaire.html", context, status=400 if form.is_bound else 200)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Go on, stop here, or withdraw; with the codes to come back and to withdraw later."""
    participant = access.held_by(request, slug)
    if participant is None:
        participant = access.participant_of(request, slug)
    if request.method == "POST" and request.POST.get("choice") == "stop":
        services.stop(participant=participant)
    if participant.end_state or participant.is_gone:
        return redirect("studies:debrief", slug)
    return render(request, "studies/leave.html", presenters.leave_page(participant))


@never_cache
@require_safe
def debrief(request: HttpRequest, slug: str) -> HttpResponse:
    participant = access.held_by(request, slug)
    if participant is None:
        participant = access.participant_of(request, slug)
    if not participant.end_state:
        return redirect("studies:go", slug)
    return render(request, "studies/debrief.html", presenters.debrief_page(participant))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def withdraw(request: HttpRequest, slug: str) -> HttpResponse:
    """Stop, or stop and erase, with the receipt code; works without a cookie and after the study closed."""
    study = selectors.access_study(slug, request.user)
    holder = access.held_by(request, slug)
    context = presenters.withdraw_page(study)
    if request.method != "POST":
        initial = {"code": grouped(holder.receipt_code)} if holder else {}
        return render(request, "studies/withdraw.html", {**context, "form": WithdrawForm(initial=initial)})
    throttle.check(study, "receipt", request.POST.get("code", ""))
    form = WithdrawForm(request.POST)
    if form.is_valid():
        done = _withdraw(study, form)
        if done is not None:
            page = {**context, "erased": done.erased_at is not None}
            response = render(request, "studies/withdrawn.html", page)
            if holder is None:
                # So that people who came with the code alone can still see the debrief.
                access.remember(response, done)
            return response
    return render(request, "studies/withdraw.html", {**context, "form": form}, status=400)


def _withdraw(study: Study, form: WithdrawForm) -> Participant | None:
    """The participant who is withdrawn now; None with the reason in the form."""
    try:
        participant = selectors.access_receipt(study, form.cleaned_data["code"])
        services.withdraw(participant=participant, erase_answers=form.cleaned_data["choice"] == "erase")
    except NotFound as error:
        throttle.count(study, "receipt", form.cleaned_data["code"])
        form.add_error("code", _(str(error)))
        return None
    except Conflict as error:
        form.add_error("choice", str(error))
        return None
    return participant
