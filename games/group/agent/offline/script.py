"""When the script writes, what it could say, which of it, and whom it votes for; by the view alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from games.group.agent.filter import is_said
from games.group.agent.offline.hearing import Heard, hear
from games.group.agent.offline.lines import Lines, Mouth, Talk, talk_in
from games.group.agent.thinking import Ballot, Decision, Proposal, Report, Review
from games.group.agent.view import Line, View
from games.group.models import Agent

CLOSING = 6.0  # seconds before the end in which nothing new is begun
TOO_MUCH = 1.5  # times its fair share of the messages
LATELY = 6  # messages that are still worth an answer
STALE = 12.0  # seconds after which it takes nothing up any more
FRESH = 10.0  # seconds in which what somebody wrote makes “you are quiet” wrong
IN_A_ROW = 2  # messages without anybody writing between

#: How much each purpose is preferred where several fit.
WEIGHTS: Mapping[str, float] = {
    "deny": 5, "turn": 3, "joke": 2, "answer": 5, "greet": 4, "agree": 3, "doubt": 3, "guess": 3,
    "react": 3, "ask": 2, "echo": 1.5, "topic": 1.5, "quiet": 2, "open": 2,
}  # fmt: skip
DEFENCE = ("deny", "turn", "joke")


class Script:
    """The scripted thinking (``thinking.Thinking``). It keeps nothing between two calls."""

    def __init__(self, agent: Agent, report: Report) -> None:
        self.most = max(1, int(agent.parameters.get("candidates", 3)))

    def decide(self, view: View) -> Decision:
        if view.remaining is not None and view.remaining < CLOSING:
            return _wait("the time is nearly up")
        talk = talk_in(view.language)
        spoken = [line for line in view.said if line.round == view.round]
        last = spoken[-1] if spoken else None
        owed = _owed(view, talk)
        if owed is not None:
            patience = view.chance("answer", owed.line.seq).uniform(0.3, 3)
            if view.since(owed.line.at) < patience:
                return _wait(f"line {owed.line.seq} means it; it takes its time")
            return _send(f"line {owed.line.seq} means it ({owed.key or 'named'})")
        if not view.own and last is None:
            return _send("nobody has begun")
        if _balance(view) > TOO_MUCH and len(spoken) > 3:
            return _wait("it has written more than its share")
        taken = _taken_up(view)
        if taken is not None:
            return _send(f"takes up line {taken.seq}")
        return self._after_silence(view, last)

    def _after_silence(self, view: View, last: Line | None) -> Decision:
        """Nothing calls for a word: it breaks a long silence, but does not go on alone for ever."""
        since = last.at if last is not None else view.phase_began or view.now
        alone = last is not None and last.seat == view.you
        if alone and all(line.seat == view.you for line in view.said[-IN_A_ROW:]):
            return _wait("nobody has written since it wrote")
        patience = view.chance("silence", view.seq).uniform(9, 22) * (1.5 if alone else 1)
        if view.since(since) >= patience:
            return _send(f"nobody has written for {view.since(since):.0f} s")
        return _wait("lets it pass" if last is not None else "lets others begin")

    def propose(self, view: View) -> Sequence[Proposal]:
        talk, mouth = talk_in(view.language), Mouth(view, talk_in(view.language))
        found: dict[str, str] = {}
        for heard, lines in _occasions(view, talk):
            names = _names(view, heard)
            seq = heard.line.seq if heard is not None else view.seq
            for purpose in sorted(lines, key=lambda one: -WEIGHTS.get(one, 1)):
                if purpose in found:
                    continue
                text = mouth.pick(lines[purpose], names, view.chance("line", seq, purpose))
                if text:
                    found[purpose] = text
                if len(found) == self.most:
                    break
            if found:  # what was said last is worth more than what could be said besides
                break
        return [Proposal(purpose, text) for purpose, text in found.items()]

    def review(self, view: View, candidates: Sequence[Proposal]) -> Review:
        accused = _owed(view, talk_in(view.language))
        verdicts, weights = [], []
        for proposal in candidates:
            against = _against(view, proposal, accused)
            verdicts.append(against or "fits")
            weights.append(0.0 if against else WEIGHTS.get(proposal.purpose, 1))
        if not any(weights):
            return Review(None, "none of them fits", verdicts)
        words = [proposal.text for proposal in candidates]
        [chosen] = view.chance("review", *words).choices(range(len(candidates)), weights)
        return Review(chosen, f"to {candidates[chosen].purpose}", verdicts)

    def vote(self, view: View) -> Ballot:
        """Whoever suspects it most; then whom the others suspect; then whoever wrote least."""
        if not view.votes_for:
            return Ballot(None, "there is nobody to vote for")
        talk = talk_in(view.language)
        against_me: Counter[str] = Counter()
        suspected: Counter[str] = Counter()
        for line in view.said:
            if line.seat is None or line.seat == view.you:
                continue
            for seat in hear(view, line, talk).suspects:
                if seat == view.you:
                    against_me[line.seat] += 1
                else:
                    suspected[seat] += 1
        wrote = Counter(line.seat for line in view.said)
        most = max(wrote.values(), default=0) + 1
        points = {
            seat: 3 * against_me[seat] + 2 * suspected[seat] + (1 - wrote[seat] / most)
            for seat in view.votes_for
        }
        best = max(points.values())
        target = view.chance("vote", view.round).choice(
            sorted(seat for seat in points if points[seat] == best)
        )
        reason = (
            f"suspected it {against_me[target]} times, was suspected {suspected[target]} times, "
            f"wrote {wrote[target]} messages"
        )
        return Ballot(target, f"{view.name_of(target)}: {reason}")


def _wait(reason: str) -> Decision:
    return Decision(False, f"Script: {reason}.")


def _send(reason: str) -> Decision:
    return Decision(True, f"Script: {reason}.")


def _balance(view: View) -> float:
    """Its part of this round's messages in fair shares, by the worker's note; 1 where there is none."""
    note = view.notes.get("participation")
    if note is None or note.value.get("round") != view.round or note.value.get("balance") is None:
        return 1.0
    return float(note.value["balance"])


def _since_own(view: View) -> list[Line]:
    """What others wrote in this round after the agent's last message, the newest ``LATELY`` of it."""
    own = view.own[-1].seq if view.own else 0
    fresh = [
        line for line in view.said if line.seq > own and line.seat != view.you and line.round == view.round
    ]
    return fresh[-LATELY:]


def _owed(view: View, talk: Talk) -> Heard | None:
    """The newest message since its own that means the agent; accusations before all else."""
    meant = [
        heard for line in _since_own(view) if (heard := hear(view, line, talk)).to_me or _asks_all(heard)
    ]
    accused = [heard for heard in meant if heard.key == "accused"]
    found = accused or meant
    return found[-1] if found else None


def _taken_up(view: View) -> Line | None:
    """The newest message that it cares to take up though nobody asks it to; ever fewer, the more it wrote."""
    eager = min(0.45, max(0.08, 0.3 * (1.5 - _balance(view))))
    for line in reversed(_since_own(view)):
        mood = view.chance("mood", line.seq)
        if mood.random() < eager and mood.uniform(0.5, 5) <= view.since(line.at) <= STALE:
            return line
    return None


def _asks_all(heard: Heard) -> bool:
    return heard.key == "are_you" and not heard.named


def _occasions(view: View, talk: Talk) -> Iterator[tuple[Heard | None, Lines]]:
    """What it could react to, the best first, with the lines for it."""
    owed = _owed(view, talk)
    if owed is not None:
        yield owed, _lines_for(owed, view, talk)
    taken = _taken_up(view)
    if taken is not None:
        heard = hear(view, taken, talk)
        yield heard, _lines_for(heard, view, talk)
    fresh = [hear(view, line, talk) for line in reversed(_since_own(view))]
    if not view.own and not fresh:
        yield None, talk.said["greeting"]
    silent = not fresh or view.since(fresh[0].line.at) > FRESH
    if not silent:
        for heard in fresh[:3]:
            yield heard, _lines_for(heard, view, talk)
    yield None, _openers(view, talk)


def _lines_for(heard: Heard, view: View, talk: Talk) -> Lines:
    if heard.key == "greeting" and view.own and not heard.to_me:
        return {}  # it has greeted before
    if heard.key:
        return talk.said[heard.key]
    lines = dict(talk.topics[heard.topic].lines) if heard.topic is not None else {}
    if heard.is_question:
        return {**talk.said["question"], **lines}
    if lines:  # somebody told something: it tells or asks something on the same
        return {"react": talk.said["statement"]["react"], **lines}
    return talk.said["statement"]


def _openers(view: View, talk: Talk) -> Lines:
    """To begin, or after a silence: the room's topic, somebody quiet, a topic of its own."""
    lines: dict[str, Sequence[str]] = dict(talk.said["silence"])
    own = view.chance("topic", view.seq).choice(talk.topics)
    lines["ask"] = own.lines["ask"]
    if view.topic:
        given = next((topic for topic in talk.topics if topic.when.search(view.topic.casefold())), None)
        lines["topic"] = given.lines["answer"] if given is not None else talk.said["topic"]["open"]
    return lines


def _names(view: View, heard: Heard | None) -> dict[str, str]:
    """Who may be named in a line. ``quiet``: another than the author who has written least."""
    wrote = Counter(line.seat for line in view.said)
    author = heard.line.seat if heard is not None else None
    rest = [player for player in view.others if player.seat != author]
    view.chance("quiet", view.seq).shuffle(rest)
    quiet = min(rest, key=lambda player: wrote[player.seat], default=None)
    names = {"quiet": quiet.name if quiet is not None and wrote[quiet.seat] <= 2 else ""}
    if heard is not None:
        alive = {player.seat: player.name for player in view.others}
        names["name"] = alive.get(author or "", "")
        names["word"] = heard.word
        others = [alive[seat] for seat in heard.suspects or heard.named if seat in alive]
        names["other"] = others[0] if others else ""
    return names


def _against(view: View, proposal: Proposal, owed: Heard | None) -> str:
    """Why the proposal does not fit what the view shows; empty where it does."""
    if is_said(proposal.text, (line.text for line in view.said)):
        return "somebody has said it"
    if owed is not None and owed.key == "accused" and proposal.purpose not in DEFENCE:
        return "it is accused and has to answer that"
    recent = [line for line in view.said if line.seat != view.you and view.since(line.at) < FRESH]
    if proposal.purpose == "open" and recent and view.own:
        return "it is not silent any more"
    if proposal.purpose == "quiet" and any(view.name_of(line.seat) in proposal.text for line in recent):
        return "who was quiet has written"
    return ""
