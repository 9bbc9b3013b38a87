"""Reads of the corpus that span tables, and the doors of the desk: whose dialogues and imports."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, Exists, FilteredRelation, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from dialogues.models import Dialogue, ImportBatch, ImportRow, StudyItem, System, Verdict
from studies.models import Study, StudyMember
from turingsite.errors import NotFound


def works_on_desk(user: Any) -> bool:
    """Whether ``user`` is an operator, or a researcher or colleague of any study."""
    if not user.is_authenticated or not user.is_active or not user.is_staff:
        return False
    return (
        bool(user.is_superuser)
        or StudyMember.objects.filter(user=user, role__in=StudyMember.DESK_ROLES).exists()
    )


def desk_dialogues(user: Any) -> QuerySet[Dialogue]:
    """Dialogues of the studies ``user`` may open and of their own imports; all for operators."""
    if user.is_superuser:
        return Dialogue.objects.all()
    studies = Study.objects.visible_to(user)
    in_study = StudyItem.objects.filter(dialogue=OuterRef("pk"), study__in=studies)
    own = ImportRow.objects.filter(dialogue=OuterRef("pk"), batch__user=user)
    return Dialogue.objects.filter(Q(Exists(in_study)) | Q(Exists(own)))


def access_desk_dialogue(code: str, user: Any) -> Dialogue:
    """A dialogue ``user`` may see on the desk; NotFound for everybody else."""
    dialogue = (
        desk_dialogues(user).select_related("recording", "topic", "strategy", "job").filter(code=code).first()
    )
    if dialogue is None:
        raise NotFound("no_dialogue", _("There is no such dialogue."))
    return dialogue


def desk_imports(user: Any) -> QuerySet[ImportBatch]:
    """Imports of ``user`` and into studies they may open; all for operators."""
    if user.is_superuser:
        return ImportBatch.objects.all()
    return ImportBatch.objects.filter(Q(user=user) | Q(study__in=Study.objects.visible_to(user)))


def access_import(pk: int, user: Any) -> ImportBatch:
    """An import ``user`` may see; NotFound for everybody else."""
    batch = desk_imports(user).select_related("study").filter(pk=pk).first()
    if batch is None:
        raise NotFound("no_import", _("There is no such import."))
    return batch


def items_in_play(study: Study, language: str, **item: Any) -> QuerySet[Dialogue]:
    """The study's active dialogues of a language that may be played, with parties ``a`` and ``b``, by key.

    ``item`` narrows the study's items (``study_items__role=…``). One query without subqueries: it is asked
    with every draw.
    """
    return (
        Dialogue.objects.filter(
            study_items__study=study,
            study_items__is_active=True,
            **item,
            language=language,
            state=Dialogue.State.READY,
        )
        .annotate(
            a=FilteredRelation("parties", condition=Q(parties__label="A")),
            b=FilteredRelation("parties", condition=Q(parties__label="B")),
        )
        .filter(Q(recording=None) | Q(recording__may_play=True))
        .filter(Q(a__speaker=None) | Q(a__speaker__may_play=True, a__speaker__withdrawn_at=None))
        .filter(Q(b__speaker=None) | Q(b__speaker__may_play=True, b__speaker__withdrawn_at=None))
        .order_by("pk")
    )


def items_of(study: Study) -> dict[tuple[str, str], int]:
    """Active dialogues that are ready to play, by language and kind."""
    found = (
        StudyItem.objects.filter(study=study, is_active=True, dialogue__state=Dialogue.State.READY)
        .values_list("dialogue__language", "dialogue__kind")
        .annotate(n=Count("pk"))
    )
    return {(language, kind): n for language, kind, n in found}


def unready_items_of(study: Study) -> dict[str, int]:
    """Items that cannot be played, by their dialogue's state."""
    found = (
        StudyItem.objects.filter(study=study, is_active=True)
        .exclude(dialogue__state=Dialogue.State.READY)
        .values_list("dialogue__state")
        .annotate(n=Count("pk"))
    )
    return dict(found)


def verdicts_of(study: Study) -> dict[tuple[str, str], int]:
    """Analysed verdicts of the game (set *all*) by language and kind: how many, not which."""
    found = (
        Verdict.objects.of_game()
        .filter(study=study, exclusion="", rater__participant__isnull=False)
        .values_list("dialogue__language", "dialogue__kind")
        .annotate(n=Count("pk"))
    )
    return {(language, kind): n for language, kind, n in found}


def left_out_of(study: Study) -> dict[str, int]:
    """Verdicts of the game left out of the set *all*, by reason."""
    found = (
        Verdict.objects.of_game()
        .filter(study=study)
        .exclude(exclusion="")
        .values_list("exclusion")
        .annotate(n=Count("pk"))
        .order_by("exclusion")
    )
    return dict(found)


def names_of_systems(study: Study) -> list[str]:
    """Names and codes of the systems in the study: what nobody may see before they have answered."""
    systems = System.objects.filter(parties__dialogue__study_items__study=study).distinct()
    return [name for system in systems for name in (system.name, system.code)]
