"""The smallest valid rooms, seats and group games. As in ``factories``: rows as they stand, no rules."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import factory
from factory.django import DjangoModelFactory

from dialogues.models import Nature
from games.group import models as group
from games.room import models as room
from studies.models import MachineConfig, Rater
from tests.factories import NOW, ParticipantFactory, StudyFactory

NAMES = (
    "Alder",
    "Birch",
    "Cedar",
    "Elm",
    "Hazel",
    "Juniper",
    "Linden",
    "Maple",
    "Oak",
    "Rowan",
    "Spruce",
    "Willow",
    "Yew",
)


class RoomFactory(DjangoModelFactory):
    """A room in which people talk, 150 seconds from ``NOW`` on."""

    class Meta:
        model = room.Room

    study = factory.SubFactory(StudyFactory, activities=["group"])
    game = "group"
    language = "en"
    seed = 7
    phase = "discussion"
    writable = True
    phase_started_at = NOW
    deadline = NOW + timedelta(seconds=150)
    opened_at = NOW


class SeatFactory(DjangoModelFactory):
    """A person's seat."""

    class Meta:
        model = room.Seat

    room = factory.SubFactory(RoomFactory)
    position = factory.LazyAttribute(lambda row: row.room.seats.count())
    pseudonym = factory.LazyAttribute(lambda row: NAMES[row.position])
    nature = Nature.HUMAN
    participant = factory.SubFactory(ParticipantFactory, study=factory.SelfAttribute("..room.study"))
    rater = factory.LazyAttribute(lambda row: row.participant.rater if row.participant else None)


class AgentFactory(DjangoModelFactory):
    """The offline agent at some version, with its machine rater."""

    class Meta:
        model = group.Agent

    key = "offline"
    version = factory.Sequence(lambda n: n + 1000)
    name = "Offline"
    thinking = "offline"
    sha256 = factory.LazyAttribute(
        lambda row: hashlib.sha256(f"{row.key} {row.version}".encode()).hexdigest()
    )

    @factory.lazy_attribute
    def machine(self) -> MachineConfig:
        machine = MachineConfig.objects.create(name=self.name, sha256=self.sha256)
        Rater.objects.create(machine=machine)
        return machine


class GroupSettingsFactory(DjangoModelFactory):
    class Meta:
        model = group.GroupSettings

    study = factory.SubFactory(StudyFactory, activities=["group"])


class GameFactory(DjangoModelFactory):
    """A game under way: ``people`` seats and the agent's, the agent's somewhere among them (``agent_at``)."""

    class Meta:
        model = group.Game
        skip_postgeneration_save = True

    room = factory.SubFactory(RoomFactory)
    study = factory.SelfAttribute("room.study")
    number = factory.Sequence(lambda n: n + 1)
    agent = factory.SubFactory(AgentFactory)
    people = 5

    @factory.post_generation
    def agent_at(self: group.Game, create: bool, given: int | None, **extra: object) -> None:
        if not create:
            return
        for position in range(self.people + 1):
            if position == (2 if given is None else given):
                SeatFactory(
                    room=self.room,
                    nature=Nature.MACHINE,
                    participant=None,
                    rater=self.agent.machine.rater if self.agent else None,
                )
            else:
                SeatFactory(room=self.room)
