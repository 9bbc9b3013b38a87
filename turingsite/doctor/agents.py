"""Whether somebody plays the agents of group games."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from games.group.agent.claims import abandoned_games
from games.group.models import GroupSettings
from studies.models import Study
from turingsite import heartbeat
from turingsite.doctor.findings import Finding, error, note, ok, warning

ALONE = timedelta(seconds=15)  # a killed runner's games are taken over sooner


def agents() -> Iterator[Finding]:
    """A runner that gives signs of life, and no game that waits for one. Reads rows."""
    now = timezone.now()
    age = heartbeat.age(now, heartbeat.AGENTS)
    alone = abandoned_games(now, ALONE)
    do = _("Start it: manage.py run_agents.")
    if settings.EMBEDDED_WORKER:
        do = _("Start the site: manage.py serve. It plays the agents itself.")
    if alone:
        yield error(
            "agents", _("In %(n)s games that run, nobody plays the agent: it is silent."), do, n=alone
        )
    if age is not None and age <= heartbeat.AGENTS_LATE:
        if not alone:
            yield ok("agents", _("The agents' runner gave a sign of life %(n)s s ago."), n=round(age))
    elif not GroupSettings.objects.filter(study__status__in=Study.JOINABLE).exists():
        yield note(
            "agents",
            _("No agent runner is alive. No study with a group game takes people now, so none is missed."),
        )
    else:
        say = warning if settings.EMBEDDED_WORKER else error  # somebody may look before the site is started
        yield say("agents", _("No agent runner is alive: in group games the AI would be silent."), do)
