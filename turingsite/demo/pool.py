"""Process sound on several processors. A worker imports this module before Django is set up."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor

import django


def process(jobs: Sequence[int], *, workers: int, on_done: Callable[[int], None]) -> None:
    """Run the processing jobs in ``workers`` processes; ``on_done`` is told how many are through."""
    # Not forked: threads and connections of this process would not survive that.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=django.setup) as pool:
        for done, _ in enumerate(pool.map(_run, jobs), 1):
            on_done(done)


def _run(job_id: int) -> None:
    # Importing models needs Django set up, which is done once this module is there.
    from dialogues.processing import services

    services.run(job_id=job_id)
