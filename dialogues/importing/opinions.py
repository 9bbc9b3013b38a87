"""What rows of opinions (verdicts, scores) share: whose, on what, when; people under the codes of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, time
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import Note
from dialogues.models import Dialogue
from studies.models import Participant, Rater, Study

PREFIX = "import:"  # before a rater's id in recruiter_key: no recruiter's person is taken for one of a file
SOURCE = "import"
ID_LENGTH = 120
CHUNK = 500  # values in one IN: SQLite takes no more than a thousand parameters everywhere
BATCH = 500
EARLIEST = 1970  # years before it are slips, and the first cannot be told in every time zone


class Clip(NamedTuple):
    """A dialogue as far as an opinion on it needs it."""

    pk: int
    state: str
    modality: str
    language: str


class Opinion(Protocol):
    """A row that was taken in."""

    @property
    def rater(self) -> str: ...
    @property
    def clip(self) -> Clip | None: ...
    @property
    def given_at(self) -> datetime | None: ...


def clips_named(names: Iterable[str]) -> dict[str, Clip]:
    """Dialogues by the name the file gives: their id in a manifest, else their code."""
    found: dict[str, Clip] = {}
    wanted = sorted(name for name in set(names) if 0 < len(name) <= ID_LENGTH)
    for column in ("code", "external_id"):
        for start in range(0, len(wanted), CHUNK):
            rows = Dialogue.objects.filter(**{f"{column}__in": wanted[start : start + CHUNK]})
            for name, *rest in rows.values_list(column, "pk", "state", "modality", "language"):
                found[name] = Clip(*rest)
    return found


def faults_of_rater(rater: str, *, gone: bool) -> Iterator[Note]:
    """What stands against a rater's code; ``gone``: that person has withdrawn."""
    if not rater:
        yield notes.refused("no_rater", gettext_noop("The rater is empty. Give every person a code."))
    elif len(rater) > ID_LENGTH or not rater.isprintable():
        yield notes.refused(
            "bad_rater",
            gettext_noop("The rater's code has more than %(most)s characters, or some that don't print."),
            most=ID_LENGTH,
        )
    elif "@" in rater:
        yield notes.refused(
            "rater_is_address",
            gettext_noop("The rater looks like an e-mail address. Use codes that name nobody."),
        )
    elif gone:
        yield notes.refused("rater_withdrew", gettext_noop("This person has withdrawn from the study."))


def moment(value: str, zone: ZoneInfo, now: datetime, said: list[Note]) -> datetime | None:
    """The time that a cell states, in ``zone`` where it has no offset; faults go to ``said``."""
    if not value:
        return None
    written = value.replace("/", "-")
    try:
        at = parse_datetime(written)
        if at is None and (day := parse_date(written)):
            at = datetime.combine(day, time(), zone)
    except ValueError:
        at = None
    if at is None or at.year < EARLIEST:
        message = gettext_noop("“%(value)s” is no time. Write it like 2025-03-01T12:30:00+08:00.")
        said.append(notes.refused("bad_time", message, value=notes.shortened(value)))
        return None
    at = at if at.tzinfo else at.replace(tzinfo=zone)
    if at > now:
        message = gettext_noop("The time %(value)s lies in the future.")
        said.append(notes.refused("future_time", message, value=notes.shortened(value)))
        return None
    return at


def raters_of_file(study: Study, taken: Iterable[Opinion], now: datetime) -> dict[str, Rater]:
    """Rater by the id in the file; new people get random codes, the file's id stays inside."""
    own = Rater.objects.filter(participant__study=study, participant__recruiter_key__startswith=PREFIX)
    there = {
        rater.participant.recruiter_key.removeprefix(PREFIX): rater
        for rater in own.select_related("participant")
        if rater.participant is not None
    }
    began: dict[str, datetime] = {}
    languages: dict[str, set[str]] = {}
    for row in taken:
        began[row.rater] = min(began.get(row.rater, now), row.given_at or now)
        languages.setdefault(row.rater, set()).update({row.clip.language} if row.clip else ())
    return there | _newcomers(study, {who: at for who, at in began.items() if who not in there}, languages)


def _newcomers(
    study: Study, began: Mapping[str, datetime], languages: Mapping[str, set[str]]
) -> dict[str, Rater]:
    people = Participant.objects.bulk_create(
        (
            Participant(
                study=study,
                state=Participant.State.COMPLETED,
                recruiter_key=f"{PREFIX}{who}",
                source=SOURCE,
                judging_language=next(iter(languages[who])) if len(languages[who]) == 1 else "",
                joined_at=since,
            )
            for who, since in began.items()
        ),
        batch_size=BATCH,
    )
    made = Rater.objects.bulk_create((Rater(participant=one) for one in people), batch_size=BATCH)
    return {
        person.recruiter_key.removeprefix(PREFIX): rater for person, rater in zip(people, made, strict=True)
    }
