"""What is wrong with this site, and what to set: ``manage.py doctor``, and a page of the desk for operators.

``findings``: what a check says. ``machine``: this machine and its files. ``rows``: the database. ``workers``:
Redis, queues, clock. ``agents``: who plays the agents of group games. ``outside``: the site as the world
reaches it. ``examine`` puts them in order. No check changes anything, and none waits for longer than a few
seconds.
"""

from turingsite.doctor.examining import examine
from turingsite.doctor.findings import Finding, Level

__all__ = ["Finding", "Level", "examine"]
