"""All checks in order."""

from __future__ import annotations

from django.conf import settings

from turingsite.doctor import agents, machine, outside, rows, workers
from turingsite.doctor.findings import Finding, Level


def examine(*, ask: bool = True, address: str | None = None) -> list[Finding]:
    """Every finding. ``ask``: also workers and the world, which takes some seconds.

    ``address``: where the site is reached, without a slash at the end (default: PUBLIC_URL).
    """
    address = (settings.PUBLIC_URL if address is None else address).rstrip("/")
    found = [*machine.checks(), *machine.secret(), *rows.database()]
    has_rows = not any(one.level == Level.ERROR for one in found if one.check in ("database", "migrations"))
    if has_rows:
        found += [*rows.clock(), *rows.work(), *rows.batches(), *agents.agents()]
    found += [*workers.redis(), *workers.beat()]
    found += [*machine.disk(), *machine.static(), *machine.texts(), *machine.fonts()]
    found += outside.origins(address)
    if ask:
        found += [*workers.workers(), *outside.proxy(address), *outside.live(address)]
        found += outside.ranges(address)
        if has_rows:
            found += outside.completions()
    return found


def worst(findings: list[Finding]) -> Level:
    order = [Level.ERROR, Level.WARNING, Level.NOTE, Level.OK]
    return next((level for level in order if any(one.level == level for one in findings)), Level.OK)
