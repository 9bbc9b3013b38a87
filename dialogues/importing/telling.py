"""What commands say of a file that was read row by row: what fails, each row that wants a word, the sums."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from dialogues.importing.notes import NOTE, Note, shortened, worded
from dialogues.models import ImportRow
from turingsite.errors import DomainError

MARKS = {"warned": "!", "refused": "x"}


class Done(Protocol):
    """What came of a file. ``created``: the study was made for it."""

    @property
    def counts(self) -> Counter[str]: ...

    @property
    def created(self) -> bool: ...


@contextmanager
def told(path: Path) -> Iterator[None]:
    """CommandError in words for a file that cannot be read or taken as a whole."""
    try:
        yield
    except OSError as error:
        raise CommandError(
            _("%(file)s can't be read: %(why)s") % {"file": path, "why": error.strerror}
        ) from error
    except DomainError as error:
        raise CommandError(worded({"message": str(error.message), "params": error.params})) from error


def tell_row(
    command: BaseCommand, *, line: int, of: Sequence[str], result: str, notes: Sequence[Note]
) -> None:
    """One row, where it wants a word: those taken in without are only counted, there may be very many."""
    refused = result == "refused"
    news = [note for note in notes if note.level != NOTE and (note.stops or not refused)]
    if not news:
        return
    style = command.style.ERROR if refused else command.style.WARNING
    label = ImportRow.State(result).label
    shown = " · ".join(shortened(part) for part in of if part) or "—"
    command.stdout.write(style(f"{MARKS.get(result, '=')} {_('line')} {line:>4}  {shown}: {label}"))
    for note in news:
        command.stdout.write(f"      {worded(note.stored())}")


def tell_end(command: BaseCommand, done: Done, slug: str, *, dry: bool) -> None:
    """The sums; CommandError where every row was refused."""
    counts = done.counts
    line = _(
        "%(accepted)s accepted, %(warned)s accepted with a warning, %(unchanged)s unchanged, "
        "%(refused)s refused."
    ) % {state: counts[state] for state in ("accepted", "warned", "unchanged", "refused")}
    command.stdout.write(f"{_('Nothing was written.')} {line}" if dry else line)
    if done.created and not dry:
        command.stdout.write(_("The study “%(slug)s” was made, as a draft.") % {"slug": slug})
    if not dry and counts["unchanged"] and not counts["accepted"] + counts["warned"]:
        command.stdout.write(_("Nothing is new in this file: the study holds it all."))
    if not any(counts[state] for state in ("accepted", "warned", "unchanged")):
        raise CommandError(_("Every row was refused."), returncode=1)
