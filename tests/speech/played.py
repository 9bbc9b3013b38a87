"""A study played to a known pattern: the worked sets of the statistics, as rows of the database."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from dialogues.models import Choice, Dialogue, Kind, System, Verdict
from studies.models import Participant, Study
from tests import factories

MACHINE = "1100.. 11..00 1.01.0 .1000. 11.1.1 0.00.0 .10.00 1.1.10 00..00 .1001."
HUMAN = "11.1 1.11 101. .111 11.1 .010 1.10 11.1 0.01 110."


class Played:
    """The study, its ten people, six dialogues of one system and four of human speakers."""

    def __init__(self, slug: str = "worked", name: str = "Talker") -> None:
        self.study: Study = factories.StudyFactory(slug=slug)
        factories.SpeechSettingsFactory(study=self.study)
        self.people: list[Participant] = [
            factories.ParticipantFactory(study=self.study, source="club" if i < 4 else "")
            for i in range(len(MACHINE.split()))
        ]
        self.system: System = factories.SystemFactory(name=name, code=name.lower(), languages=["en"])
        self.machine = [self.dialogue(Kind.HUMAN_MACHINE, 20.0 + 5 * i, system=self.system) for i in range(6)]
        self.human = [self.dialogue(Kind.HUMAN_HUMAN, 20.0 + 5 * i) for i in range(4)]
        self.pattern(MACHINE, self.machine)
        self.pattern(HUMAN, self.human)

    def dialogue(self, kind: str, length: float = 30.0, **more: Any) -> Dialogue:
        made: Dialogue = factories.DialogueFactory(kind=kind, play_duration=length, **more)
        factories.StudyItemFactory(study=self.study, dialogue=made)
        return made

    def pattern(self, rows: str, dialogues: list[Dialogue]) -> None:
        """Verdicts: 1 said human, 0 said machine, '.' unheard; row for person, column for dialogue."""
        for person, row in zip(self.people, rows.split(), strict=True):
            for dialogue, mark in zip(dialogues, row, strict=True):
                if mark != ".":
                    self.verdict(person, dialogue, Choice.HUMAN if mark == "1" else Choice.MACHINE)

    def verdict(self, person: Participant, dialogue: Dialogue, choice: str, **more: Any) -> Verdict:
        more.setdefault("given_at", factories.NOW + timedelta(minutes=1))
        made: Verdict = factories.VerdictFactory(
            rater=person.rater,
            study=self.study,
            dialogue=dialogue,
            choice=choice,
            round_finished=more.pop("round_finished", True),
            **more,
        )
        return made
