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
from turingsite.errors import Conflict, DomainError, Invalid

State = StimulusAudit.State
TYPED = "stimuli-typed-{}"  # in the session: what was typed for an audit that no longer holds, by study


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
            _answer(request, study, typed)
            return redirect("admin:desk_stimuli", slug)
        except Conflict as error:
            # The new audit asks nearly the same: what was typed waits for it.
            words = {"answers": {key: text for key, text in typed.items() if text.strip()}}
            request.session[TYPED.format(study.pk)] = words | {"for_all": request.POST.get("for_all", "")}
            tell(request, error)
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


def _answer(request: HttpRequest, study: Study, typed: dict[str, str]) -> None:
    """Store the answers, ``for_all`` where none is yet. Conflict where there is no audit to answer."""
    made = audits.current(study)
    if made is None or made.state != State.DONE:
        raise audits.material_changed()
    for_all = request.POST.get("for_all", "").strip()
    if for_all and (fault := audits.fault_of(for_all)):
        raise Invalid(
            "bad_answer", _("Nothing was stored: look at the marked answers."), fields={"for_all": fault}
        )
    answers = {key: text for key, text in typed.items() if text.strip()}
    if for_all:
        answers = dict.fromkeys(audits.unanswered(made), for_all) | answers
    changed = audits.answer(made=made, answers=answers, user=request.user)
    request.session.pop(TYPED.format(study.pk), None)
    left = len(audits.unanswered(made))
    if changed:
        words = ngettext("%(n)s answer stored.", "%(n)s answers stored.", changed) % {"n": changed}
        if left:
            words += " " + ngettext("%(n)s is still open.", "%(n)s are still open.", left) % {"n": left}
        messages.success(request, words)


def _page(request: HttpRequest, study: Study, typed: dict[str, str], errors: dict[str, str]) -> HttpResponse:
    made = audits.current(study)
    earlier = StimulusAudit.objects.filter(study=study, state=State.DONE)
    if made is not None:
        earlier = earlier.exclude(pk=made.pk)
    answers = {one.key: one for one in made.answers.select_related("user")} if made else {}
    before = _earlier_answers(study, made)
    waiting = {} if typed else request.session.get(TYPED.format(study.pk), {})
    for_all = request.POST.get("for_all", waiting.get("for_all", ""))
    typed = typed or {key: text for key, text in waiting.get("answers", {}).items() if key not in answers}
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
    keys = {one["key"] for one in warned}
    still_open = sum(one["answer"] is None for one in warned)
    unasked = [text for key, text in typed.items() if key not in keys] if waiting else []
    if waiting and for_all and still_open < 2:  # there is no field for it
        unasked.append(for_all)
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
        "open": still_open,
        "for_all": for_all,
        "waiting": bool(waiting) and (still_open > 0 or made is None or made.state != State.DONE),
        "unasked": unasked,
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
