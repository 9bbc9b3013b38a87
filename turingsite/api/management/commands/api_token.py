"""``manage.py api_token USER --study SLUG``: a token for the API, printed once; ``--revoke`` ends one."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from studies.exports import study_named
from turingsite.api.models import ApiToken
from turingsite.api.services import DAYS, make_token, revoke_token
from turingsite.errors import DomainError


class Command(BaseCommand):
    help = "Make a token for the API, for a person with a desk account, or end one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="account name of the owner; the token sees what they see")
        parser.add_argument("--study", action="append", default=[], help="a study it opens; may be repeated")
        parser.add_argument("--name", default="command line", help="what it is for")
        parser.add_argument("--days", type=int, default=DAYS, help=f"how long it lasts (default {DAYS})")
        parser.add_argument("--export", action="store_true", help="it may also make and fetch exports")
        parser.add_argument("--revoke", metavar="BEGINNING", help="end the owner's token that begins so")

    def handle(self, *args: Any, **options: Any) -> None:
        name = options["user"]
        owner = get_user_model().objects.filter(username=name).first()
        if owner is None:
            raise CommandError(f"There is no account “{name}”.")
        if options["revoke"]:
            return self._revoke(owner, options["revoke"])
        if not options["study"]:
            raise CommandError("Name at least one study with --study.")
        try:
            made = make_token(
                owner=owner,
                studies=[study_named(slug) for slug in dict.fromkeys(options["study"])],
                name=options["name"],
                days=options["days"],
                may_export=options["export"],
            )
        except DomainError as refusal:
            said = "; ".join([str(refusal), *(f"{k}: {v}" for k, v in refusal.fields.items())])
            raise CommandError(said) from refusal
        self.stderr.write(f"Lasts until {made.token.expires_at:%Y-%m-%d}. It is shown this once:")
        self.stdout.write(made.secret)
        return None

    def _revoke(self, owner: Any, beginning: str) -> None:
        prefix = beginning.removeprefix("tts_")
        token = ApiToken.objects.filter(owner=owner, prefix=prefix).first()
        if token is None:
            raise CommandError(f"{owner.get_username()} has no token that begins with “{beginning}”.")
        done = revoke_token(token=token)
        self.stdout.write("Revoked." if done else "It was revoked before.")
