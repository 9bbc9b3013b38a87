"""The nuisance audit before a study opens: run on what is in play, kept, its warnings answered in words.

The figures are those of ``nuisance_report``, over the dialogues that people would be given. An audit belongs
to a fingerprint of these dialogues and of how they were processed: other material is asked about anew.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import CharField, Count, F, Q, QuerySet, TextField
from django.db.models.functions import MD5, Cast
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from dialogues.models import AuditAnswer, Dialogue, Modality, StimulusAudit, StudyItem
from dialogues.nuisance_report import COMPARISONS, FEATURES, FEWEST, HUMAN_MACHINE, figures, scopes_of
from studies import audit, codes
from studies.characters import cleaned
from studies.models import Study
from turingsite.errors import Conflict, Invalid

logger = logging.getLogger("turingsite.audits")

AT_ONCE = 1000  # dialogues: so many take under a second, more are a job
LEASE = timedelta(minutes=5)
TRIES = 3
SHORTEST_ANSWER, LONGEST_ANSWER = 10, 2000  # characters
KEPT = ("language", "comparison", "feature", "first_n", "other_n", "n", "auc", "low", "high", "se", "warning")
State = StimulusAudit.State
UNFORESEEN = (ArithmeticError, LookupError, MemoryError, RuntimeError, TypeError, ValueError)


def in_play(study: Study) -> QuerySet[Dialogue]:
    """The spoken dialogues that people would be given and judge."""
    return Dialogue.objects.playable().filter(
        study_items__study=study,
        study_items__is_active=True,
        study_items__role=StudyItem.Role.MAIN,
        modality=Modality.SPEECH,
    )


def is_needed(study: Study) -> bool:
    """Whether enough is in play for any comparison of kinds; with fewer there is nothing to say."""
    found = in_play(study).values_list("kind").annotate(n=Count("pk")).order_by()
    counts: dict[str, int] = dict(found)

    def count(kinds: tuple[str, ...]) -> int:
        return sum(counts.get(kind, 0) for kind in kinds)

    return any(min(count(first), count(other)) >= FEWEST for _key, _name, first, other in COMPARISONS)


def fingerprint(study: Study) -> str:
    """What an audit is about: the dialogues in play, their kinds, and the numbers of their processing."""
    rows = (
        in_play(study)
        .annotate(numbers=MD5(Cast("quality", TextField()), output_field=CharField()))
        .order_by("code")
        .values_list("code", "content_hash", "kind", "language", "source_corpus", "play_duration", "numbers")
    )
    digest = hashlib.sha256(" ".join(key for key, _name, _read in FEATURES).encode())
    for row in rows.iterator(chunk_size=2000):
        digest.update(repr(row).encode())
    return digest.hexdigest()


def current(study: Study) -> StimulusAudit | None:
    """The audit of what is in play now; None where there is none."""
    return StimulusAudit.objects.filter(study=study, fingerprint=fingerprint(study)).first()


def warnings_of(made: StimulusAudit) -> list[dict[str, Any]]:
    """The figures beyond the limit, each with the ``key`` under which it is answered; the same only once."""
    asked = asked_as(made.result)
    rows = ({**row, "key": key_of(row)} for row in made.result if row["warning"])
    return [row for row in rows if asked[row["key"]] == row["key"]]


def asked_as(result: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """The key of every warned figure and the one it is asked under: the widest of the very same dialogues.

    With one machine kind H-H against H-M says again what human against machine says; with one language that
    language says what all say.
    """
    warned = {key_of(row): row for row in result if row["warning"]}

    def widest(row: Mapping[str, Any]) -> str:
        comparisons = ((HUMAN_MACHINE,) if row["comparison"].startswith("hh_") else ()) + (row["comparison"],)
        for language in ("all", row["language"]):
            for comparison in comparisons:
                key = key_of({**row, "language": language, "comparison": comparison})
                one = warned.get(key, {})
                # It is over all of the row's dialogues: where they are as many, they are the same.
                if (one.get("first_n"), one.get("other_n")) == (row["first_n"], row["other_n"]):
                    return key
        return key_of(row)

    return {key: widest(row) for key, row in warned.items()}


def key_of(row: Mapping[str, Any]) -> str:
    return f"{row['language']}/{row['comparison']}/{row['feature']}"


def unanswered(made: StimulusAudit) -> list[str]:
    """Keys of the warnings that nobody answered."""
    answered = set(made.answers.values_list("key", flat=True))
    return [row["key"] for row in warnings_of(made) if row["key"] not in answered]


def opening_problems(study: Study) -> list[str]:
    """What the audit holds against taking people whose answers count, in words that say what to do."""
    if not is_needed(study):
        return []
    made = current(study)
    if made is None or made.state == State.FAILED:
        return [
            _("Run the nuisance audit on the dialogues in play: “Audit before opening” on the study's page.")
        ]
    if made.state != State.DONE:
        return [_("The nuisance audit is still at work. Wait a moment.")]
    left = len(unanswered(made))
    if not left:
        return []
    return [
        ngettext(
            "The nuisance audit warns of %(n)s figure that nobody has answered: say in words why the study "
            "may open all the same (“Audit before opening” on the study's page), or change the dialogues.",
            "The nuisance audit warns of %(n)s figures that nobody has answered: say in words why the study "
            "may open all the same (“Audit before opening” on the study's page), or change the dialogues.",
            left,
        )
        % {"n": left}
    ]


def at_opening(study: Study, user: Any = None) -> None:
    """Run the audit where none is current and it takes no time; a larger one is asked for by its problem."""
    if is_needed(study) and in_play(study).count() <= AT_ONCE and current(study) is None:
        made = ask(study=study, user=user)
        run(audit_id=made.pk)


@transaction.atomic
def ask(*, study: Study, user: Any = None) -> StimulusAudit:
    """The audit of what is in play, waiting to be run where it is new or had failed.

    Conflict where too few dialogues are in play for any comparison.
    """
    if not is_needed(study):
        raise Conflict(
            "too_few_dialogues",
            _("An audit needs %(n)s dialogues each of two kinds that can be played."),
            {"n": FEWEST},
        )
    mark = fingerprint(study)
    made = StimulusAudit.objects.filter(study=study, fingerprint=mark).first()
    if made is None:
        try:
            with transaction.atomic():
                made = StimulusAudit.objects.create(
                    study=study, user=user, fingerprint=mark, dialogues=in_play(study).count()
                )
        except IntegrityError:  # asked for twice at once
            return StimulusAudit.objects.get(study=study, fingerprint=mark)
        audit.record("audit.asked", study=study, user=user, target=mark[:12], dialogues=made.dialogues)
    elif StimulusAudit.objects.filter(pk=made.pk, state=State.FAILED).update(
        state=State.QUEUED, attempts=0, reason="", claim="", lease_until=None, step=0
    ):
        made.refresh_from_db()
    return made


def run(*, audit_id: int, on_step: Callable[[int, int], None] | None = None) -> StimulusAudit | None:
    """Claim the audit and make it; None where another worker has it, or it is made."""
    now, token = timezone.now(), codes.media_token()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    claimed = StimulusAudit.objects.filter(
        free, pk=audit_id, state__in=(State.QUEUED, State.RUNNING), attempts__lt=TRIES
    ).update(state=State.RUNNING, claim=token, lease_until=now + LEASE, attempts=F("attempts") + 1)
    if not claimed:
        return None
    made = StimulusAudit.objects.select_related("study").get(pk=audit_id)
    try:
        _make(made, token, on_step)
    except UNFORESEEN as error:
        logger.exception("event=audit_failed audit=%s", audit_id)
        _fail(made, token, f"{type(error).__name__}: {error}")
    made.refresh_from_db()
    return made


def waiting() -> list[int]:
    """Audits that nobody is at: new ones and those whose worker went away; hopeless ones fail."""
    now = timezone.now()
    lost = StimulusAudit.objects.filter(state=State.RUNNING, lease_until__lt=now)
    for made in lost.filter(attempts__gte=TRIES):
        _fail(made, made.claim, gettext_noop("The audit ended its worker again and again."))
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    found = StimulusAudit.objects.filter(free, state__in=(State.QUEUED, State.RUNNING), attempts__lt=TRIES)
    return list(found.order_by("pk").values_list("pk", flat=True)[:20])


def fault_of(text: str) -> str:
    """What keeps ``text`` from being an answer in words; empty where nothing does."""
    if len(text) > LONGEST_ANSWER:
        return _("At most %(most)s characters.") % {"most": LONGEST_ANSWER}
    if len(text) < SHORTEST_ANSWER:
        return _("Say it in words: at least %(least)s characters.") % {"least": SHORTEST_ANSWER}
    return ""


def material_changed() -> Conflict:
    return Conflict(
        "material_changed", _("The dialogues have changed since this audit. Run it again; it asks anew.")
    )


@transaction.atomic
def answer(*, made: StimulusAudit, answers: Mapping[str, str], user: Any, now: datetime | None = None) -> int:
    """Store answers by warning key; an empty one is left as it was. How many were new or other words.

    Invalid with ``fields`` by key. Conflict where the material has changed since the audit was made.
    """
    known = {row["key"] for row in warnings_of(made)}
    given = {key: cleaned(text).strip() for key, text in answers.items() if key in known}
    there = dict(made.answers.values_list("key", "text"))
    changed = {key: text for key, text in given.items() if text and there.get(key) != text}
    faults = {key: fault for key, text in changed.items() if (fault := fault_of(text))}
    if faults:
        raise Invalid("bad_answer", _("Nothing was stored: look at the marked answers."), fields=faults)
    if made.fingerprint != fingerprint(made.study):
        raise material_changed()
    for key, text in changed.items():
        AuditAnswer.objects.update_or_create(
            audit=made, key=key, defaults={"text": text, "user": user, "answered_at": now or timezone.now()}
        )
    if changed:
        audit.record(
            "audit.answered",
            study=made.study,
            user=user,
            target=made.fingerprint[:12],
            now=now,
            warnings=sorted(changed),
        )
    return len(changed)


def _make(made: StimulusAudit, token: str, on_step: Callable[[int, int], None] | None) -> None:
    own = StimulusAudit.objects.filter(pk=made.pk, claim=token, state=State.RUNNING)
    if made.fingerprint != fingerprint(made.study):
        _fail(made, token, gettext_noop("The dialogues changed before the audit was made. Run it again."))
        return
    rows = list(
        in_play(made.study)
        .order_by("code")
        .values("kind", "language", "source_corpus", "quality", duration=F("play_duration"))
    )
    steps = len(scopes_of(rows)) * len(COMPARISONS)
    result: list[dict[str, Any]] = []
    for step, (alone, together) in enumerate(figures(rows), 1):
        result += [_stored(row) for row in (*together, *alone)]
        if not own.update(step=step, steps=steps, lease_until=timezone.now() + LEASE):
            return  # another worker has it
        if on_step:
            on_step(step, steps)
    with transaction.atomic():
        if own.update(
            state=State.DONE,
            result=result,
            dialogues=len(rows),
            claim="",
            lease_until=None,
            reason="",
            finished_at=timezone.now(),
        ):
            audit.record(
                "audit.made",
                study=made.study,
                user=made.user,
                target=made.fingerprint[:12],
                dialogues=len(rows),
                warnings=len(set(asked_as(result).values())),
            )


def _stored(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in KEPT}


def _fail(made: StimulusAudit, token: str, reason: str) -> None:
    StimulusAudit.objects.filter(pk=made.pk, claim=token, state=State.RUNNING).update(
        state=State.FAILED, claim="", lease_until=None, reason=reason[:500], finished_at=timezone.now()
    )
