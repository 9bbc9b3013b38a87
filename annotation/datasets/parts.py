"""Columns that several tables have, and the rows of people who are still there."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import Case, F, IntegerField, Q, Value, When
from django.db.models.functions import Coalesce, Substr
from django.utils.crypto import salted_hmac

from annotation.models import Resolution, ReviewComment, ReviewDecision
from dialogues.datasets import RATER, rater_code, rater_code_in_sql, rater_kind, rater_kind_in_sql
from studies.models import Study
from studies.tidy import Made, column

RATER_KINDS = ("participant", "machine", "staff")


def rater_columns() -> tuple[Made, Made]:
    """Of rows that have a rater themselves."""
    return (
        column("rater", "code of the person or machine", RATER, make=rater_code, sql=rater_code_in_sql),
        column(
            "rater_kind", "what the rater is", RATER, levels=RATER_KINDS, make=rater_kind,
            sql=rater_kind_in_sql,
        ),
    )  # fmt: skip


def rater_of_score() -> Made:
    """Of rows about a score."""
    return column(
        "rater",
        "code of the person or machine who gave the score",
        tuple(f"score__{lookup}" for lookup in RATER),
        make=rater_code,
        sql=lambda study: Coalesce(
            "score__rater__participant__code", Substr("score__rater__machine__sha256", 1, 16)
        ),
    )


def dialogue_column(lookup: str = "dialogue__code") -> Made:
    return column("dialogue", "code of the dialogue", lookup)


def dimension_columns(at: str = "dimension") -> tuple[Made, Made, Made]:
    """What was scored, and by which version of which taxonomy; ``at``: the lookup of the dimension."""
    return (
        column("dimension", "key of the dimension", f"{at}__key"),
        column("taxonomy", "name of the taxonomy", f"{at}__taxonomy__name"),
        column("taxonomy_version", "its version", f"{at}__taxonomy__version", type="integer"),
    )


def value_columns(about: str, value: str = "value", evidence: str = "evidence") -> tuple[Made, Made, Made]:
    """A score in the published coding, whether there was evidence, and the score where there was."""
    return (
        column(
            "score",
            f"{about}: 1 machine-like to 5 human-like; 3 also where there is no evidence (published coding)",
            value,
            type="integer",
            unit="step",
        ),
        column("evidence", "there was evidence in the dialogue", evidence, type="boolean"),
        column(
            "score_on_evidence",
            "the score; empty where there is no evidence",
            (value, evidence),
            type="integer",
            unit="step",
            make=lambda given, heard: given if heard else None,
            sql=lambda study: Case(
                When(**{evidence: True}, then=F(value)), default=Value(None), output_field=IntegerField()
            ),
        ),
    )


def of_annotators_present(lookup: str = "annotator__participant") -> Q:
    """Rows of annotators who were not erased."""
    return Q(**{f"{lookup}__erased_at": None})


# Reviewers


def reviewer_code(user: int | None, study: Study) -> str:
    """What tells reviewers apart outside: the same in every export of a study, another in every study."""
    if user is None:
        return ""
    return salted_hmac("annotation.reviewer", f"{study.pk}:{user}", algorithm="sha256").hexdigest()[:12]


def _reviewer_codes(study: Study) -> dict[int | None, str]:
    """Code by key of everybody who took part in the study's reviews."""
    users = get_user_model().objects.filter(
        Q(pk__in=ReviewDecision.objects.filter(case__study=study).values("reviewer"))
        | Q(pk__in=ReviewComment.objects.filter(case__study=study).values("author"))
        | Q(pk__in=Resolution.objects.filter(case__study=study).values("closed_by"))
    )
    return {pk: reviewer_code(pk, study) for pk in users.values_list("pk", flat=True)}


def reviewer_column(meaning: str, lookup: str) -> Made:
    def made(user: int | None, codes: dict[int | None, str]) -> str:
        return codes.get(user, "")

    def in_sql(study: Study) -> Any:
        known = [When(**{lookup: pk}, then=Value(code)) for pk, code in _reviewer_codes(study).items()]
        return Case(*known, default=Value(""))

    return column("reviewer", meaning, lookup, make=made, beside=_reviewer_codes, sql=in_sql)
