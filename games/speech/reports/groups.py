"""Accuracy by groups of people: one joint test per factor first, then the share of right verdicts by group.

Nothing is shown of groups of fewer than ten persons, nor what they could be worked out from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy
from numpy.typing import NDArray

from games.speech.reports import families
from games.speech.reports.breakdown import LAST_ROUND
from games.speech.reports.figures import COUNTS, HOW_TWO_WAY, share_row
from games.speech.reports.judged import Judged, Mask
from studies.coarsening import WITHHELD
from studies.estimates import NOTE, adjust, interval_headings, not_enough, too_few
from studies.questions import DECLINE
from studies.reports import Heading, ReportTable, Tables
from studies.selectors import PROFILE
from turingsite import stats
from turingsite.stats.arrays import clusters

FEWEST_PERSONS = 10

#: Columns of the participants' table that tell people apart, beside the answers of the profile.
OF_PERSON = ("device_class", "interface_language")
COLUMNS = {
    "answers": ("participant", "questionnaire", "question", "value", "scale"),
    "participants": ("participant", "source", *OF_PERSON),
}


class Factor(NamedTuple):
    """What tells people apart: its levels in order, and the place of each rater's (−1: not known)."""

    key: str
    levels: Sequence[str]
    place: NDArray[np.intp]


class Group(NamedTuple):
    """The verdicts of people of one level; ``hidden`` says why nothing of it may be shown."""

    level: str
    mask: Mask
    hidden: str = ""


def factors_of(tables: Tables, judged: Judged) -> list[Factor]:
    """Questions of the profile with a choice of answers, as they were asked; then device and language."""
    said: dict[str, dict[str, str]] = {}
    scales: dict[str, list[str]] = {}
    offered: dict[str, object] = {}
    answers = tables["answers"]
    for person, questionnaire, question, value, scale in zip(
        *(answers.column(name) for name in COLUMNS["answers"]), strict=True
    ):
        if questionnaire == PROFILE and scale:
            said.setdefault(question, {})[person] = value
            if offered.get(question) is not scale:  # read from the database, equal scales are one list
                offered[question] = scale
                known = scales.setdefault(question, [])
                known += [str(level) for level in scale if str(level) not in known]
    people = tables["participants"]
    for name in OF_PERSON:
        said[name] = dict(zip(people.column("participant"), people.column(name), strict=True))
        scales[name] = sorted(set(said[name].values()) - {"", WITHHELD})
    found = []
    for key, by_person in said.items():
        levels = [level for level in scales[key] if level != DECLINE]
        levels += [DECLINE] if DECLINE in scales[key] else []
        place = {level: at for at, level in enumerate(levels)}
        places = [place.get(by_person.get(code, ""), -1) for code in judged.raters]
        # An answer of several choices is no level of its scale.
        if any(at >= 0 for at in places):
            found.append(Factor(key, levels, np.array(places, dtype=np.intp)))
    return found


def groups_of(judged: Judged, factor: Factor) -> list[Group]:
    """Every level of a factor. Hidden are those of few people, and the smallest of the others as long as the
    people in no shown group would be few: their figure follows from the total."""
    place = factor.place[judged.person]
    masks = [place == at for at in range(len(factor.levels))]
    persons = [clusters(judged.person[mask]) for mask in masks]
    shown = {at for at, n in enumerate(persons) if n >= FEWEST_PERSONS}
    few = set(range(len(masks))) - shown
    everybody = clusters(judged.person)
    while shown and 0 < everybody - sum(persons[at] for at in shown) < FEWEST_PERSONS:
        shown.remove(min(shown, key=lambda at: persons[at]))
    return [
        Group(
            level,
            mask,
            ""
            if at in shown
            else _("fewer than %(n)s persons, not shown") % {"n": FEWEST_PERSONS}
            if at in few
            else _("not shown, so that no smaller group can be worked out"),
        )
        for at, (level, mask) in enumerate(zip(factor.levels, masks, strict=True))
    ]


def tables_of(tables: Tables, judged: Judged) -> tuple[ReportTable, ReportTable]:
    """The joint test of each factor, and accuracy by group."""
    found = [(factor, groups_of(judged, factor)) for factor in factors_of(tables, judged)]
    return _factors(judged, found), _groups(judged, found)


def _factors(judged: Judged, found: list[tuple[Factor, list[Group]]]) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for factor, groups in found:
        mask = np.zeros(judged.n, dtype=np.bool_)
        for group in groups:
            if not group.hidden and group.level != DECLINE:
                mask |= group.mask
        test = stats.joint_wald(
            judged.correct[mask],
            factor.place[judged.person[mask]],
            judged.person[mask],
            judged.dialogue[mask],
            adjust=tuple(_held_equal(judged, mask)),
        )
        rows.append(
            {
                "factor": factor.key,
                "n": test.n,
                "persons": test.participants,
                "dialogues": test.items,
                "statistic": test.statistic,
                "df": test.df,
                "df_error": test.df_error,
                "p": test.p,
                "note": "" if test.p is not None else _why_not(test),
            }
        )
    adjust(rows, "factors")
    return ReportTable(
        "factors",
        gettext_lazy("Does accuracy differ between groups of people"),
        (
            FACTOR,
            *COUNTS,
            Heading("statistic", "F"),
            Heading("df", gettext_lazy("df"), "count"),
            Heading("df_error", gettext_lazy("df of the error"), "count"),
            Heading("p", "p", "p"),
            *families.HEADINGS,
            NOTE,
        ),
        tuple(rows),
        gettext_lazy(
            "One joint Wald test per factor in the linear model of right verdicts, adjusted for language, "
            "kind and round, with the two-way variance; F with the smaller number of clusters less one. "
            "Groups not shown and people who would rather not say are left out of it."
        ),
    )


def _why_not(test: stats.JointTest) -> str:
    if test.n and not test.df:
        return _("one group alone")
    if test.lack == "no_spread":
        return _("nothing left to compare after language, kind and round")
    if test.lack == "one_cluster":
        return too_few((test.df or 0) + 1)
    return not_enough(test.n)


def _held_equal(judged: Judged, mask: Mask) -> Iterator[NDArray[np.intp]]:
    yield judged.language.numbers[mask]
    yield judged.kind.numbers[mask]
    yield np.minimum(judged.round_number[mask], LAST_ROUND)


def _groups(judged: Judged, found: list[tuple[Factor, list[Group]]]) -> ReportTable:
    rows: list[dict[str, Any]] = []
    for factor, groups in found:
        for group in groups:
            row: dict[str, Any] = {"factor": factor.key, "group": group.level}
            if group.hidden:
                row["note"] = group.hidden
            else:
                row |= share_row(judged, group.mask, "correct", "accuracy")
            rows.append(row)
    return ReportTable(
        "groups",
        gettext_lazy("Accuracy by groups of people"),
        (
            FACTOR,
            Heading("group", gettext_lazy("group"), "text", LEVELS),
            *COUNTS,
            *interval_headings("accuracy", gettext_lazy("right")),
            NOTE,
        ),
        tuple(rows),
        HOW_TWO_WAY,
    )


FACTOR = Heading(
    "factor",
    gettext_lazy("by"),
    "text",
    {
        "age": gettext_lazy("age"),
        "gender": gettext_lazy("gender"),
        "education": gettext_lazy("education"),
        "familiarity": gettext_lazy("familiarity with AI"),
        "native_language": gettext_lazy("native language"),
        "language_level": gettext_lazy("level in the language judged"),
        "hearing": gettext_lazy("difficulty hearing"),
        "played_before": gettext_lazy("played before"),
        "sound_through": gettext_lazy("listens with"),
        "place": gettext_lazy("surroundings"),
        "device_class": gettext_lazy("device"),
        "interface_language": gettext_lazy("language of the pages"),
    },
)
#: What the answers of the built-in profile are called; those of other questions stay as they are.
LEVELS: Mapping[str, Any] = {
    "under-18": gettext_lazy("under 18"),
    "18-25": "18–25",
    "26-35": "26–35",
    "36-45": "36–45",
    "46+": gettext_lazy("46 and over"),
    "female": gettext_lazy("women"),
    "male": gettext_lazy("men"),
    "other": gettext_lazy("another"),
    "high_school": gettext_lazy("high school or below"),
    "junior_college": gettext_lazy("junior college"),
    "bachelor": gettext_lazy("bachelor"),
    "master": gettext_lazy("master"),
    "phd": gettext_lazy("PhD"),
    "never": pgettext_lazy("familiarity with AI", "never"),
    "seldom": gettext_lazy("seldom"),
    "sometimes": gettext_lazy("sometimes"),
    "often": gettext_lazy("often"),
    "very": gettext_lazy("very familiar"),
    "en": gettext_lazy("English"),
    "zh": gettext_lazy("Chinese"),
    "zh-hans": gettext_lazy("Chinese"),
    "native": gettext_lazy("native"),
    "fluent": gettext_lazy("fluent"),
    "good": gettext_lazy("good"),
    "basic": gettext_lazy("basic"),
    "no": gettext_lazy("no"),
    "some": gettext_lazy("some"),
    "yes": gettext_lazy("yes"),
    "similar": gettext_lazy("a similar one"),
    "this": gettext_lazy("this one"),
    "headphones": gettext_lazy("headphones"),
    "speaker": gettext_lazy("a loudspeaker"),
    "quiet": gettext_lazy("quiet"),
    "noisy": gettext_lazy("noisy"),
    "desktop": gettext_lazy("computer"),
    "phone": gettext_lazy("phone"),
    "tablet": gettext_lazy("tablet"),
    DECLINE: gettext_lazy("prefer not to say"),
}
