"""What a study's plan says: its content, its file, and what every report says of it. Reads only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from django.utils import translation
from django.utils.translation import gettext_lazy as _

from studies import registry
from studies.looks import Reopening, reopenings_of
from studies.markdown import as_markdown_lines, as_markdown_text
from studies.models import AuditLine, Plan, Study
from studies.outcomes import counted_words, together

#: Stored rules over verdicts; ``all`` is the headline unless the frozen plan says otherwise.
ANALYSIS_SETS = ("all", "published", "first_round", "per_protocol")
HEADLINE = "all"
#: A plan in which nothing was decided yet. ``outcome`` and ``families`` are "report.name" of the registry.
EMPTY: dict[str, Any] = {
    "hypothesis": "",
    "outcome": "",
    "analysis_set": HEADLINE,
    "families": [],
    "target_by": "system",
    "target_n": 0,
    "margin": 0.10,
    "planning": "",
    "stopping": "",
    "exclusions": "",
    "notes": "",
}
#: What must be decided before a plan can be frozen.
NEEDED = ("hypothesis", "outcome", "stopping")
LABELS: Mapping[str, Any] = {
    "hypothesis": _("Hypothesis"),
    "outcome": _("Primary outcome"),
    "analysis_set": _("Analysis set"),
    "families": _("Families of comparisons"),
    "target_by": _("Cells of the target"),
    "target_n": _("Verdicts per cell"),
    "margin": _("Margin of equivalence"),
    "planning": _("How the target was found"),
    "stopping": _("Stopping rule"),
    "exclusions": _("Exclusions"),
    "notes": _("Notes"),
}
CELLS: Mapping[str, Any] = {
    "system": _("each system in each language"),
    "kind": _("each kind in each language"),
}
NO_PLAN = "No plan was frozen for this study. What its reports say is exploratory.\n"


@dataclass(frozen=True)
class FrozenVersion:
    """A version as it was frozen. ``changed``: keys that differ from the version before.

    ``verdicts`` there were then; ``others``: outcomes of other sorts, by sort.
    """

    version: int
    frozen_at: str
    sha256: str
    status: str
    verdicts: int
    reason: str = ""
    changed: tuple[str, ...] = ()
    others: Mapping[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        return together(self.verdicts, self.others)


@dataclass(frozen=True)
class PlanNote:
    """What is said of the plan beside every figure: its versions, and what it decides about the reports.

    ``reopened``: when the study was opened again after its outcomes had been read.
    """

    versions: tuple[FrozenVersion, ...]
    analysis_set: str
    margin: float
    outcome: str
    reopened: tuple[Reopening, ...] = ()

    @property
    def first(self) -> FrozenVersion:
        return self.versions[0]

    @property
    def current(self) -> FrozenVersion:
        return self.versions[-1]

    @property
    def changes(self) -> tuple[FrozenVersion, ...]:
        return self.versions[1:]

    @property
    def exploratory(self) -> bool:
        """Whether answers were there before anything was fixed."""
        return any(self.first.counts.values())

    def as_data(self) -> dict[str, Any]:
        """Plain values for manifests and reports, read back by ``read_note``."""
        return {
            "sha256": self.current.sha256,
            "exploratory": self.exploratory,
            "analysis_set": self.analysis_set,
            "margin": self.margin,
            "outcome": self.outcome,
            "versions": [{**asdict(one), "changed": list(one.changed)} for one in self.versions],
            "reopened": [one.as_data() for one in self.reopened],
        }


def read_note(data: Any) -> PlanNote | None:
    """What ``as_data`` gave; ``None`` for nothing. ValueError for anything else."""
    if data is None:
        return None
    try:
        versions = tuple(
            FrozenVersion(
                int(one["version"]),
                str(one["frozen_at"]),
                str(one["sha256"]),
                str(one["status"]),
                int(one["verdicts"]),
                str(one["reason"]),
                tuple(str(key) for key in one["changed"]),
                _by_sort(one),
            )
            for one in data["versions"]
        )
        # Exports made before reopening was noted lack it.
        reopened = tuple(
            Reopening(str(one["at"]), int(one["verdicts"]), _by_sort(one)) for one in data.get("reopened", ())
        )
        note = PlanNote(
            versions, str(data["analysis_set"]), float(data["margin"]), str(data["outcome"]), reopened
        )
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError("not a note on a plan") from problem
    if not versions:
        raise ValueError("a note on a plan names a version")
    return note


def _by_sort(data: Any) -> dict[str, int]:
    """Other outcomes than verdicts; exports made before they were counted lack them."""
    return {str(key): int(n) for key, n in data.get("others", {}).items()}


def draft_of(study: Study) -> Plan | None:
    return study.plans.drafts().first()


def frozen_plan(study: Study) -> Plan | None:
    """The plan that holds now."""
    return study.plans.frozen().last()


def content_of(plan: Plan | None) -> dict[str, Any]:
    """The plan's content, keys that it lacks as in an empty one."""
    return {**EMPTY, **(plan.content if plan is not None else {})}


def note_of(study: Study) -> PlanNote | None:
    """What the reports of ``study`` say of its plan; ``None`` without a frozen one."""
    rows = list(study.plans.frozen())
    if not rows:
        return None
    versions, before, others = [], None, _others_then(study)
    for row in rows:
        versions.append(
            FrozenVersion(
                row.version,
                moment(row.frozen_at),
                row.sha256,
                row.status,
                row.verdicts,
                row.reason,
                tuple(key for key, _was, _now in changes(before, row)) if before is not None else (),
                others.get(row.version, {}),
            )
        )
        before = row
    content = content_of(rows[-1])
    return PlanNote(
        tuple(versions),
        content["analysis_set"],
        float(content["margin"]),
        str(content["outcome"]),
        reopenings_of(study),
    )


def _others_then(study: Study) -> dict[int, dict[str, int]]:
    """Outcomes that were no verdicts when each version was frozen, as the trail has them."""
    lines = AuditLine.objects.filter(study=study, action="plan.frozen", detail__has_key="others")
    return {line.detail["version"]: line.detail["others"] for line in lines}


def headline(study: Study) -> str:
    """The analysis set of the study's reports unless another is asked for."""
    plan = frozen_plan(study)
    return str(content_of(plan)["analysis_set"]) if plan is not None else HEADLINE


def changes(before: Plan | None, after: Plan) -> Iterator[tuple[str, Any, Any]]:
    """Keys in which two versions differ, with what was and what is."""
    was, now = content_of(before), content_of(after)
    for key in EMPTY:
        if was[key] != now[key]:
            yield key, was[key], now[key]


def outcomes() -> dict[str, Any]:
    """What a plan may name as its primary outcome, by "report.name"."""
    return {
        f"{report.key}.{name}": label
        for report in registry.reports
        for name, label in report.outcomes.items()
    }


def families() -> dict[str, Any]:
    """Families in which p values are adjusted together, by "report.name"."""
    return {
        f"{report.key}.{name}": label
        for report in registry.reports
        for name, label in report.families.items()
    }


def moment(at: datetime | None) -> str:
    """A time as files name it: UTC, to the second."""
    return at.astimezone(UTC).isoformat(timespec="seconds") if at is not None else ""


def digest(markdown: str) -> str:
    return hashlib.sha256(markdown.encode()).hexdigest()


def as_markdown(
    plan: Plan, earlier: list[Plan], *, at: datetime, status: str, counts: Mapping[str, int]
) -> str:
    """The file of a plan: the same words for the same plan, in English, with the study's own words.

    ``earlier``: the frozen versions before it; each change since the first is listed. ``counts``: outcomes
    there are, by sort.
    """
    with translation.override("en"):
        return "\n".join(_lines(plan, earlier, at, status, counts)) + "\n"


def _lines(
    plan: Plan, earlier: list[Plan], at: datetime, status: str, counts: Mapping[str, int]
) -> Iterator[str]:
    study, content = plan.study, content_of(plan)
    yield f"# Plan of the study “{as_markdown_text(study.title_en)}”, version {plan.version}"
    yield ""
    yield f"Study `{study.slug}`, frozen {moment(at)}: its state was {status.replace('_', ' ')},"
    yield f"and it had {counted_words(counts)} that count."
    for key in EMPTY:
        if key in ("target_by", "target_n"):
            continue
        yield from ("", f"## {LABELS[key]}", "", *_said(key, content[key]))
        if key == "families":
            yield from ("", "## Target", "")
            yield (
                f"{content['target_n']} verdicts in {CELLS[content['target_by']]}."
                if content["target_n"]
                else "None; outcomes stay hidden until the study is closed."
            )
    yield from ("", "## Study", "")
    yield f"- Judging languages: {', '.join(study.languages)}"
    yield f"- Activities: {', '.join(study.activities)}"
    yield f"- Seed: {study.seed}"
    for before, after in pairwise([*earlier, plan]):
        yield from ("", f"## Changed with version {after.version}", "")
        yield f"Version {before.version}: frozen {moment(before.frozen_at)}, SHA-256 `{before.sha256}`."
        yield from ("", f"Because: {as_markdown_text(after.reason)}", "")
        for key, was, now in changes(before, after):
            yield f"- {LABELS[key]}: {_short(key, was)} → {_short(key, now)}"


def _said(key: str, value: Any) -> list[str]:
    if key == "outcome":
        return [f"{outcomes().get(value, value)} (`{value}`)" if value else "None."]
    if key == "families":
        known = families()
        return [f"- {known.get(one, one)} (`{one}`)" for one in value] or ["None."]
    if key == "analysis_set":
        return [f"`{value}`"]
    return as_markdown_lines(str(value)) or ["None."]


def _short(key: str, value: Any) -> str:
    words = ", ".join(value) if isinstance(value, list) else str(value)
    return f"“{as_markdown_text(words)}”" if words.strip() else "nothing"
