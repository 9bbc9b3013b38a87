"""What commands that send bots have in common: options, the site's address, who may claim, how it ends."""

from __future__ import annotations

import os
import urllib.parse
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.core.management.base import BaseCommand, CommandError

from studies.models import Study

AT_ONCE = 32

Plan = TypeVar("Plan")
Result = TypeVar("Result")


def add_bot_options(parser: ArgumentParser, *, bots: int) -> None:
    """``bots``: how many come unless said otherwise."""
    parser.add_argument("--study", required=True, metavar="SLUG", help="address of the study")
    parser.add_argument("--bots", type=int, default=bots, help=f"how many bots (default {bots})")
    parser.add_argument("--seed", type=int, default=1, help="the same seed makes the same bots")
    parser.add_argument(
        "--base-url", default="", help="where the site runs (default this machine, PORT or 8000)"
    )
    parser.add_argument(
        "--listen",
        choices=["real", "claimed"],
        default="real",
        help="real: as long as the clips; claimed: at once, where the study allows test participants",
    )


def site_of(options: Mapping[str, Any]) -> str:
    """Where the site runs; CommandError for what is no address."""
    base = str(options["base_url"]) or f"http://127.0.0.1:{os.environ.get('PORT', '8000')}"
    parts = urllib.parse.urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CommandError(f"{base} is no address: it begins with http:// or https://")
    return base


def mind_people(command: BaseCommand, study: Study, options: Mapping[str, Any]) -> None:
    """Say where bots count as people; CommandError where they would claim to have heard and may not."""
    if study.test_participants:
        return
    if options["listen"] == "claimed":
        raise CommandError(
            f"{study.slug} takes no test participants: nobody may claim to have heard (--listen real)."
        )
    command.stderr.write(f"{study.slug} takes no test participants: bots count as people.")


def sent(plans: Sequence[Plan], run: Callable[[Plan], Result]) -> Iterator[Result]:
    """Run the plans side by side; the results in their order."""
    with ThreadPoolExecutor(min(AT_ONCE, len(plans))) as pool:
        for done in [pool.submit(run, plan) for plan in plans]:
            yield done.result()


def conclude(command: BaseCommand, wrong: Sequence[str]) -> None:
    """The last word: CommandError with what is wrong."""
    if wrong:
        raise CommandError("Something is wrong:\n" + "\n".join(f"  {line}" for line in wrong))
    command.stdout.write(command.style.SUCCESS("Nothing found wrong"))
