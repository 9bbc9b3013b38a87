"""Background workers: each writes its newest result to the notes; the foreground reads and never waits.

A worker is one class (goal, frequency, ``work``), added to ``workers``; an agent's data name those it has.
"""

from games.group.agent.workers.participation import Participation
from games.group.agent.workers.seam import Worker, checked, workers

workers.add(Participation)

__all__ = ["Participation", "Worker", "checked", "workers"]
