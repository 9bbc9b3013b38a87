"""What people decide about dialogues on the desk: flags confirmed or rejected, marks, in play or not."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from dialogues.models import Dialogue, Flag, StudyItem
from studies import audit
from studies.characters import cleaned
from studies.models import Study
from turingsite.errors import Conflict, Invalid, NotFound

AGGRESSIVE = "aggressive"
REVIEW = "review"  # the source of a person's own mark
LONGEST_REASON = 1000
CHUNK = 500


@transaction.atomic
def review_flag(
    *, dialogue: Dialogue, flag_id: int, review: str, user: Any, now: datetime | None = None
) -> Flag:
    """Confirm or reject a flag of the dialogue, or take that back (""); kept with who and when.

    A rejected flag stays and counts in no report. What was found on single turns follows.
    """
    if review not in Flag.Review.values:
        raise Invalid("unknown_review", _("A flag is confirmed or rejected."))
    flag = dialogue.flags.select_for_update().filter(pk=flag_id, turn=None).first()
    if flag is None:
        raise NotFound("no_flag", _("This flag is no longer there. Load the page again."))
    if review == flag.review:
        return flag
    decided = {"review": review, "reviewed_by": user if review else None}
    decided["reviewed_at"] = (now or timezone.now()) if review else None
    dialogue.flags.filter(rule=flag.rule, source=flag.source).update(**decided)
    audit.record("flag.reviewed", user=user, target=dialogue.pk, rule=flag.rule, review=review or "open")
    flag.refresh_from_db()
    return flag


@transaction.atomic
def mark_aggressive(*, dialogue: Dialogue, reason: str, user: Any, now: datetime | None = None) -> Flag:
    """A reviewer's mark that the talk is aggressive, with the reason; marked again, the new reason counts."""
    reason = cleaned(reason).strip()
    if not reason:
        message = _("Say in a few words what is aggressive.")
        raise Invalid("no_reason", message, fields={"reason": message})
    if len(reason) > LONGEST_REASON:
        message = _("At most %(most)s characters.") % {"most": LONGEST_REASON}
        raise Invalid("reason_too_long", message, fields={"reason": message})
    flag, _made = Flag.objects.update_or_create(
        dialogue=dialogue,
        turn=None,
        rule=AGGRESSIVE,
        source=REVIEW,
        defaults={
            "evidence": {"reason": reason},
            "review": Flag.Review.CONFIRMED,
            "reviewed_by": user,
            "reviewed_at": now or timezone.now(),
        },
    )
    audit.record("flag.marked", user=user, target=dialogue.pk, rule=AGGRESSIVE)
    return flag


@transaction.atomic
def set_in_play(
    *, study: Study, dialogues: QuerySet[Dialogue], active: bool, user: Any, expected: int | None = None
) -> int:
    """Take these dialogues of the study out of play, or put them back; how many items changed.

    Nothing is deleted: what was judged stays judged, people in the middle of a clip finish it. ``expected``:
    how many the person was shown; Conflict where there are now others, so that nobody moves what they have
    not seen.
    """
    items = StudyItem.objects.filter(study=study, is_active=not active, dialogue__in=dialogues.values("pk"))
    pks = list(items.values_list("pk", flat=True))
    if expected is not None and len(pks) != expected:
        raise Conflict(
            "list_changed",
            _("The list has changed: %(n)s dialogues now. Look at it again."),
            {"n": len(pks)},
        )
    changed = 0
    for start in range(0, len(pks), CHUNK):
        changed += StudyItem.objects.filter(pk__in=pks[start : start + CHUNK]).update(is_active=active)
    if changed:
        codes = list(items.model.objects.filter(pk__in=pks[:CHUNK]).values_list("dialogue__code", flat=True))
        audit.record(
            "items.put_back" if active else "items.taken_out",
            study=study,
            user=user,
            target=study.slug,
            items=changed,
            dialogues=sorted(codes)[:50],
        )
    return changed
