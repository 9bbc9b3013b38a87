"""What each end state gives people, changed from the desk in one go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db import transaction

from studies import audit
from studies.models import Completion, Study

COLUMNS = ("code", "link", "amount", "pay_en", "pay_zh")


@transaction.atomic
def change_completions(*, study: Study, rows: Iterable[Mapping[str, Any]], user: Any = None) -> list[str]:
    """Set code, link and pay by end state; which changed. Rows of other studies are left alone."""
    changed = []
    for row in rows:
        kept: Completion | None = row.get("id")
        if kept is None or kept.study_id != study.pk:
            continue
        stored = Completion.objects.get(pk=kept.pk)
        fields = [name for name in COLUMNS if row[name] != getattr(stored, name)]
        for name in fields:
            setattr(stored, name, row[name])
        if fields:
            stored.save(update_fields=fields)
            changed.append(stored.end_state)
    if changed:
        audit.record("study.completions", study=study, user=user, target=study.slug, changed=changed)
    return changed
