"""The audit before opening: run it, watch it, answer each warning in words."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dialogues import audits, tasks
from dialogues.models import AuditAnswer, StimulusAudit
from dialogues.nuisance_report import COMPARISONS, FEWEST, NAMES, in_words
from studies.models import Language, Study
from studies.selectors import access_desk_study
from turingsite.desk.doors import access_managed_study, manages, tell
from turingsite.desk.wake import wake
from turingsite.errors import DomainError, Invalid

State = StimulusAudit.State


def stimuli(request: HttpRequest, slug: str) -> HttpResponse:
    """What but the talk tells the kinds apart among the dialogues in play, and the owner's answers."""
    study = access_desk_study(slug, request.user)
    typed: dict[str, str] = {}
    errors: dict[str, str] = {}
    if request.method == "POST":
        study = access_managed_study(slug, request.user)
        if request.POST.get("do") == "run":
            _run(request, study)
            return redirect("admin:desk_stimuli", slug)
        typed = {name[7:]: str(text) for name, text in request.POST.items() if name.startswith("answer-")}
        try:
            if _answer(request, study, typed):
                return redirect("admin:desk_stimuli", slug)
        except DomainError as error:
            errors = {key: str(text) for key, text in error.fields.items()}
            tell(request, error)
    return _page(request, study, typed, errors)


def _run(request: HttpRequest, study: Study) -> None:
    try:
        made = audits.ask(study=study, user=request.user)
    except DomainError as error:
        tell(request, error)
        return
    if made.dialogues <= audits.AT_ONCE:
        audits.run(audit_id=made.pk)
    else:
        wake(tasks.run_audit, made.pk)


def _answer(request: HttpRequest, study: Study, typed: dict[str, str]) -> bool:
    """Store the answers; whether there was an audit to answer. ``for_all`` answers what is still open."""
    made = audits.current(study)
    if made is None or made.state != State.DONE:
        messages.error(request, _("The dialogues have changed since this audit. Run it again; it asks anew."))
        return True
    for_all = request.POST.get("for_all", "").strip()
    if for_all:
        if fault := audits.fault_of(for_all):
            raise Invalid(
                "bad_answer", _("Nothing was stored: look at the marked answers."), fields={"for_all": fault}
            )
        for key in audits.unanswered(made):
            typed[key] = typed.get(key, "").strip() or for_all
    changed = audits.answer(made=made, answers=typed, user=request.user)
    left = len(audits.unanswered(made))
    if changed:
        words = ngettext("%(n)s answer stored.", "%(n)s answers stored.", changed) % {"n": changed}
        if left:
            words += " " + ngettext("%(n)s is still open.", "%(n)s are still open.", left) % {"n": left}
        messages.success(request, words)
    return True


def _page(request: HttpRequest, study: Study, typed: dict[str, str], errors: dict[str, str]) -> HttpResponse:
    made = audits.current(study)
    earlier = StimulusAudit.objects.filter(study=study, state=State.DONE)
    if made is not None:
        earlier = earlier.exclude(pk=made.pk)
    answers = {one.key: one for one in made.answers.select_related("user")} if made else {}
    before = _earlier_answers(study, made)
    warned = [
        {
            **_words(row),
            "key": row["key"],
            "typed": typed.get(row["key"], answers[row["key"]].text if row["key"] in answers else ""),
            "answer": answers.get(row["key"]),
            "earlier": before.get(row["key"]),
            "error": errors.get(row["key"], ""),
        }
        for row in (audits.warnings_of(made) if made else [])
    ]
    context = {
        "study": study,
        "title": _("Audit before opening"),
        "manages": manages(request.user, study),
        "made": made,
        "needed": audits.is_needed(study),
        "count": audits.in_play(study).count(),
        "fewest": FEWEST,
        "busy": made is not None and made.state in (State.QUEUED, State.RUNNING),
        "warned": warned,
        "open": sum(one["answer"] is None for one in warned),
        "for_all": request.POST.get("for_all", ""),
        "for_all_error": errors.get("for_all", ""),
        "figures": [_words(row) for row in made.result] if made else [],
        "earlier": [(one, len(audits.warnings_of(one)), one.answers.count()) for one in earlier[:10]],
    }
    return render(request, "desk/stimuli.html", context, status=400 if errors else 200)


def _earlier_answers(study: Study, made: StimulusAudit | None) -> dict[str, AuditAnswer]:
    """The latest answer to each warning in audits of other material, to be read beside the question."""
    rows = AuditAnswer.objects.filter(audit__study=study).select_related("user").order_by("answered_at")
    return {one.key: one for one in rows if made is None or one.audit_id != made.pk}


def _words(row: dict[str, Any]) -> dict[str, Any]:
    """A figure as people read it."""
    names = {key: name for key, name, _first, _other in COMPARISONS}
    languages = {"all": _("all languages"), **dict(Language.choices)}
    auc, low, high = row["auc"], row.get("low"), row.get("high")
    interval = f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""
    return {
        "language": languages.get(row["language"], row["language"]),
        "comparison": names.get(row["comparison"], row["comparison"]),
        "feature": NAMES.get(row["feature"], row["feature"]),
        "first_n": row["first_n"],
        "other_n": row["other_n"],
        "auc": "" if auc is None else f"{auc:.2f}",
        "interval": interval,
        "warning": row["warning"],
        "words": in_words(row),
    }
