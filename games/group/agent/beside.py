"""One worker of one game: writes its result to the notes beside the talk, when there is something new."""

from __future__ import annotations

from django.utils import timezone

from games.group.agent import trace
from games.group.agent.loop import Play, release
from games.group.agent.thinking import Call
from games.group.agent.thoughts import told
from games.group.agent.view import Note
from games.group.agent.workers import Worker, checked, workers
from games.group.models import AgentNote


class Beside:
    """Runs in a thread of its own; what it reads is the newest look of the foreground."""

    def __init__(self, play: Play, worker: Worker, every: float, calls: list[Call]) -> None:
        self.play, self.worker, self.every, self.calls = play, worker, every, calls
        self._read = 0  # up to this line
        self._note: AgentNote | None = None

    def turn(self) -> float:
        """One run, if there is something new; seconds to the next."""
        view = self.play.view
        if view is None or view.seq == self._read:
            return self.every
        self._read = view.seq
        note = self._note = trace.open_note(
            game_id=self.play.game_id, worker=self.worker.key, view=view, now=timezone.now()
        )
        release()
        value = dict(self.worker.work(view))
        trace.keep_calls(calls=self.calls, note=note, now=timezone.now())
        if trace.close_note(note=note, value=value, now=timezone.now()):
            self.play.table.notes[self.worker.key] = Note(note.pk, value)
        return self.every

    def begin(self, failure: BaseException | None = None) -> float:
        """Go on after ``failure``, which is kept; the note before stands."""
        note, self._note = self._note, None
        if note is not None and failure is not None:
            trace.keep_calls(calls=self.calls, note=note, now=timezone.now())
            trace.close_note(note=note, failure=told(failure), now=timezone.now())
        return self.every


def beside(play: Play) -> list[Beside]:
    """The workers that the agent's data name; the play must have begun."""
    found = []
    for settings in checked(play.agent.workers):
        calls: list[Call] = []
        worker = workers.get(settings["worker"])(play.agent, settings, calls.append)
        found.append(Beside(play, worker, float(settings.get("every", worker.every)), calls))
    return found
