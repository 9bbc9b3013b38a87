"""What the public tier changes in the tables: days in the place of times, profiles coarsened.

Columns that never become public carry their tier; this is about values.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from studies import datasets as own
from studies.coarsening import FEWEST, WITHHELD, coarsen
from studies.models import Study
from studies.registry import Column, Dataset
from studies.selectors import PROFILE

#: What the participants' table says about a person and few may share; withheld together with the profile.
OF_PERSON = ("device_class", "source")

#: Tables in which more than times changes.
CHANGED = (own.PARTICIPANTS.key, own.ANSWERS.key)

RULE = (
    "People who answered the same questions of the same version of the profile are taken together; where "
    f"they are fewer than {FEWEST}, their profile is left out whole. Then answers, kind of device and link "
    "tag are withheld, for as few people as a greedy search finds, until each combination that is shown has "
    f"at least {FEWEST} people: in each step the question that brings most people into such a combination, "
    "of equals the one with the smallest entropy."
)


def public_column(column: Column) -> Column:
    """The column as the public tier has it."""
    if column.type != "datetime":
        return column
    return replace(column, type="date", meaning=f"{column.meaning} (day in the study's time zone)")


class PublicTier:
    """The rows of one study as anybody may have them. Reads the people and their profiles once."""

    def __init__(self, study: Study) -> None:
        self._zone = ZoneInfo(study.time_zone)
        self._people = {
            str(row["participant"]): tuple(str(row[name]) for name in OF_PERSON)
            for row in own.PARTICIPANTS.rows(study)
        }
        self._left_out: set[str] = set()
        self._shown: dict[str, dict[str, str]] = {}
        self._withheld: Counter[str] = Counter()
        self._coarsen(study)

    def changes(self, dataset: Dataset) -> bool:
        """Whether more than times changes: what depends on the profiles of others is made in Python."""
        return dataset.key in CHANGED

    def rows(self, dataset: Dataset, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        times = [one.name for one in dataset.columns if one.type == "datetime"]
        for row in rows:
            public = dict(row)
            for name in times:
                if public[name] is not None:
                    public[name] = public[name].astimezone(self._zone).date()
            if dataset.key == own.PARTICIPANTS.key:
                public |= {name: self._shown[public["participant"]][name] for name in OF_PERSON}
            elif dataset.key == own.ANSWERS.key and public["questionnaire"] == PROFILE:
                if public["participant"] in self._left_out:
                    continue
                public["value"] = self._shown[public["participant"]][public["question"]]
            yield public

    def summary(self) -> dict[str, Any]:
        """What was coarsened, for the manifest."""
        return {
            "times": "days in the study's time zone",
            "profile": {
                "fewest_people": FEWEST,
                "rule": RULE,
                "withheld_value": WITHHELD,
                "people": len(self._people),
                "profiles_left_out": len(self._left_out),
                "withheld": dict(sorted(self._withheld.items())),
            },
        }

    def _coarsen(self, study: Study) -> None:
        answers: dict[str, dict[str, str]] = defaultdict(dict)
        versions: dict[str, set[int]] = defaultdict(set)
        for row in own.ANSWERS.rows(study):
            if row["questionnaire"] == PROFILE:
                answers[row["participant"]][row["question"]] = row["value"]
                versions[row["participant"]].add(row["version"])
        alike: dict[tuple[Any, ...], list[str]] = defaultdict(list)
        for person in self._people:
            alike[tuple(sorted(versions[person])), tuple(sorted(answers[person]))].append(person)
        without: list[str] = []
        for (_versions, questions), people in alike.items():
            if len(people) < FEWEST or not questions:
                self._left_out.update(people if questions else ())
                without += people
            else:
                self._show(people, questions, answers)
        self._show(without, (), answers)

    def _show(
        self, people: list[str], questions: tuple[str, ...], answers: Mapping[str, Mapping[str, str]]
    ) -> None:
        names = (*OF_PERSON, *questions)
        profiles = {
            person: (*self._people[person], *(answers[person][key] for key in questions)) for person in people
        }
        for person, values in coarsen(profiles).items():
            self._shown[person] = dict(zip(names, values, strict=True))
            self._withheld.update(name for name, value in self._shown[person].items() if value == WITHHELD)
