"""Write the games of a file: people under the codes of the file, rooms, logs, votes, answers. One game, one
transaction: a game that cannot come in never stops the others."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from dialogues.importing import notes
from dialogues.importing.notes import Note, result_of
from dialogues.importing.opinions import PREFIX, SOURCE
from dialogues.models import Nature
from games.group.importing.agents import agent_of
from games.group.importing.checking import check
from games.group.importing.shapes import FileGame, FileLine
from games.group.models import Agent, Elimination, Game, Vote
from games.group.selectors import SURVEY
from games.group.services.dialogues import store_dialogue
from games.group.services.starting import KEY, locked_settings
from games.room.models import Event, Room, Seat
from studies import audit, builtin
from studies.models import Answer, EndState, Participant, Questionnaire, Rater, Study
from studies.services import create_study
from turingsite.errors import NotFound

NOON = time(12, tzinfo=UTC)  # of the day: files say no time of day
LONGEST_PERSON = 190  # characters of a person's key that are kept as they are


class Row(NamedTuple):
    """A game of the file and what became of it: accepted, warned, unchanged or refused."""

    game: FileGame
    result: str

    @property
    def notes(self) -> list[Note]:
        return self.game.notes


class Imported(NamedTuple):
    """``created``: the study was made for them."""

    rows: list[Row]
    created: bool

    @property
    def counts(self) -> Counter[str]:
        return Counter(row.result for row in self.rows)


def preview_games(*, games: Iterable[FileGame], slug: str, create: bool = False) -> Imported:
    """What importing them would do. NotFound for a study that does not exist, unless ``create``."""
    study = _study(slug, create=create)
    known: set[str] = set()
    return Imported([_checked(study, game, known) for game in games], study is None)


def import_games(
    *,
    games: Iterable[FileGame],
    slug: str,
    create: bool = False,
    user: Any = None,
    now: datetime | None = None,
) -> Imported:
    """Take in what can be, each game by itself; the same file again changes nothing (by the games' ids).

    ``create`` makes the study, a draft of the built-in group game, where there is none. NotFound for a study
    that does not exist.
    """
    now = now or timezone.now()
    study = _study(slug, create=create)
    created = False
    rows, known = [], set[str]()
    for game in games:
        row = _checked(study, game, known)
        if row.result in ("accepted", "warned"):
            if study is None:
                study = create_study(slug=slug, title_en=slug, user=user, template="group")
                created = True
            row = _taken(study, row, now)
        rows.append(row)
    taken = sum(row.result in ("accepted", "warned") for row in rows)
    if study is not None and taken:
        audit.record("group_games.imported", study=study, user=user, target=study.slug, now=now, games=taken)
    return Imported(rows, created)


def _study(slug: str, *, create: bool) -> Study | None:
    study = Study.objects.filter(slug=slug).first()
    if study is None and not create:
        raise NotFound("no_study", _("There is no study “%(slug)s”. --create makes it."), {"slug": slug})
    return study


def _checked(study: Study | None, game: FileGame, known: set[str]) -> Row:
    if not game.refused:
        check(game)
    if not game.refused and game.id in known:
        message = gettext_noop("The file has another game with the id “%(id)s” above; this one is left out.")
        game.notes.append(notes.warning("double_id", message, id=notes.shortened(game.id)))
        return Row(game, "unchanged")
    known.add(game.id)
    there = study is not None and not game.refused and _is_there(study, game)
    return Row(game, result_of(game.notes, unchanged=there))


def _is_there(study: Study, game: FileGame) -> bool:
    """Imported before, or played here and exported since."""
    return Game.objects.filter(Q(external_id=game.id) | Q(code=game.id), study=study).exists()


def _taken(study: Study, row: Row, now: datetime) -> Row:
    try:
        with transaction.atomic():
            stored = _write(study, row.game, now)
            store_dialogue(stored)
    except IntegrityError:
        message = gettext_noop("Somebody else is importing this game at the moment. Try again in a minute.")
        row.game.notes.append(notes.refused("imported_meanwhile", message))
        return Row(row.game, "refused")
    return row


def _write(study: Study, file: FileGame, now: datetime) -> Game:
    locked_settings(study)  # numbers of games are given out one after the other
    opened = datetime.combine(file.day or now.date(), NOON)
    ended = opened + timedelta(seconds=file.seconds)
    agent = agent_of(file.agent)
    room = Room.objects.create(
        study=study,
        game=KEY,
        language=file.language,
        seed=file.seed,
        phase="end",
        phase_number=1,
        round=file.rounds,
        phase_started_at=ended,
        last_seq=len(file.log),
        is_test=file.is_test,
        opened_at=opened,
        closed_at=ended,
    )
    number = (Game.objects.filter(study=study).aggregate(n=Max("number"))["n"] or 0) + 1
    game = Game.objects.create(
        study=study,
        room=room,
        number=number,
        agent=agent,
        rules=file.rules,
        people=sum(not seat.is_agent for seat in file.seats),
        end=file.end,
        ended_at=ended,
        source=Game.Source.IMPORTED,
        external_id=file.id,
        questionnaire=_questionnaire(study) if file.answers else None,
    )
    people = _people(study, file, opened)
    seats = _seats(room, file, people, agent, opened)
    _log(room, file, seats, opened)
    _votes(game, file, seats, opened)
    _answers(game, file, people, opened)
    return game


def _person_key(person: str) -> str:
    if len(person) > LONGEST_PERSON:
        person = hashlib.sha256(person.encode()).hexdigest()
    return f"{PREFIX}{person}"


def _people(study: Study, file: FileGame, opened: datetime) -> dict[str, Rater]:
    """Raters by seat; somebody who is in the file's other games is the same person."""
    wanted = {seat.key: _person_key(seat.person) for seat in file.seats if not seat.is_agent}
    there = {
        rater.participant.recruiter_key: rater
        for rater in Rater.objects.filter(
            participant__study=study, participant__recruiter_key__in=wanted.values()
        ).select_related("participant")
        if rater.participant is not None
    }
    for key in dict.fromkeys(wanted.values()):
        if key not in there:
            person = Participant.objects.create(
                study=study,
                state=Participant.State.COMPLETED,
                end_state=EndState.DONE,
                recruiter_key=key,
                source=SOURCE,
                judging_language=file.language,
                is_pilot=file.is_pilot,
                is_test=file.is_test,
                joined_at=opened,
                completed_at=opened,
            )
            there[key] = Rater.objects.create(participant=person)
    return {seat: there[key] for seat, key in wanted.items()}


def _seats(
    room: Room, file: FileGame, people: Mapping[str, Rater], agent: Agent | None, opened: datetime
) -> dict[str, Seat]:
    machine = agent.machine.rater if agent is not None else None
    made = Seat.objects.bulk_create(
        Seat(
            room=room,
            position=at,
            pseudonym=seat.pseudonym,
            nature=Nature.MACHINE if seat.is_agent else Nature.HUMAN,
            participant=None if seat.is_agent else people[seat.key].participant,
            rater=machine if seat.is_agent else people[seat.key],
            out_round=seat.out_round,
            out_at=None if seat.out_round is None else opened + timedelta(seconds=seat.out_second or 0.0),
            left_why=seat.left,
            left_at=room.closed_at if seat.left else None,
        )
        for at, seat in enumerate(file.seats)
    )
    return {seat.key: row for seat, row in zip(file.seats, made, strict=True)}


def _log(room: Room, file: FileGame, seats: Mapping[str, Seat], opened: datetime) -> None:
    Event.objects.bulk_create(
        (
            Event(
                room=room,
                seq=at + 1,
                kind=line.kind,
                seat=seats.get(line.seat),
                round=line.round,
                phase=line.phase,
                text=line.text,
                length=line.characters or len(line.text),
                at=opened + timedelta(seconds=line.second),
                edited=line.edited,
                withdrawn=line.withdrawn,
                data=_data(line, seats),
            )
            for at, line in enumerate(file.log)
        ),
        batch_size=500,
    )


def _data(line: FileLine, seats: Mapping[str, Seat]) -> dict[str, Any]:
    """With the seats' new codes; what was counted of words that are not in the file."""
    data = dict(line.data)
    if isinstance(data.get("tally"), dict):
        data["tally"] = {seats[key].code: n for key, n in data["tally"].items() if key in seats}
    if line.kind == Event.Kind.MESSAGE and not line.text and not line.withdrawn:
        data |= {"words": line.words, "question": line.question}
    return data


def _votes(game: Game, file: FileGame, seats: Mapping[str, Seat], opened: datetime) -> None:
    Vote.objects.bulk_create(
        Vote(
            game=game,
            round=vote.round,
            voter=seats[vote.voter],
            target=None if vote.target is None else seats[vote.target],
            at=opened + timedelta(seconds=vote.second),
        )
        for vote in file.votes
    )
    Elimination.objects.bulk_create(
        Elimination(
            game=game,
            round=one.round,
            seat=seats[one.seat],
            living=one.living,
            tally={seats[key].code: n for key, n in one.tally.items()},
            tied=[seats[key].code for key in one.tied],
            draw=dict(one.draw),
            at=opened + timedelta(seconds=one.second),
        )
        for one in file.eliminations
    )


def _questionnaire(study: Study) -> Questionnaire:
    """The study's survey after a game; the built-in one where it has none."""
    found = Questionnaire.objects.filter(study=study, key=SURVEY, is_current=True).first()
    if found is not None:
        return found
    own = next(one for one in builtin.load("group")["surveys"] if one["key"] == SURVEY)
    return Questionnaire.objects.create(
        study=study,
        key=SURVEY,
        title_en=own["title"]["en"],
        title_zh=own["title"]["zh"],
        questions=own["questions"],
    )


def _answers(game: Game, file: FileGame, people: Mapping[str, Rater], opened: datetime) -> None:
    at = opened + timedelta(seconds=file.seconds)
    Answer.objects.bulk_create(
        Answer(
            rater=people[answer.seat],
            questionnaire=game.questionnaire,
            question=answer.question,
            value=answer.value,
            scale=list(answer.scale),
            language=answer.language,
            about=game.code,
            answered_at=at,
        )
        for answer in file.answers
    )
