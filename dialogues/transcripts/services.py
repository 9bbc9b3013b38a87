"""Search transcripts and write what is found as flags; the same transcript again changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from dialogues import flagging
from dialogues.flagging import Wanted
from dialogues.models import Dialogue, Turn
from dialogues.transcripts.disclosure import DENIAL, DISCLOSURE, VERSION, Mark, marks
from dialogues.transcripts.script import LEAST, script_of
from studies import audit

SOURCE = "rule"
JUDGED = "B"
RULES = {DISCLOSURE: "identity-disclosure", DENIAL: "identity-denial"}
LANGUAGE = "wrong-language"
CHUNK = 200


class Scanned(NamedTuple):
    """``transcribed``: B has words to search. ``rules``: flags of the dialogue. ``changed``: any of them."""

    transcribed: bool
    rules: frozenset[str]
    changed: bool


@transaction.atomic
def scan(*, dialogue: Dialogue, turns: Sequence[Turn] | None = None) -> Scanned:
    """Search what B says for statements of what B is, and all of it for the language it is in.

    Only B's turns are searched: A may ask. Quotations stand with the turns alone, and go when these do.
    """
    found = list(turns if turns is not None else dialogue.turns.select_related("party").order_by("index"))
    wanted = [*_identity(found), *_language(dialogue, found)]
    changed = flagging.renew(dialogue, source=SOURCE, wanted=wanted, on_turns=True)
    return Scanned(
        transcribed=any(turn.party.label == JUDGED and turn.text.strip() for turn in found),
        rules=frozenset(one.rule for one in wanted if one.turn is None),
        changed=changed,
    )


def scan_all(*, dialogues: QuerySet[Dialogue], user: Any = None) -> Iterator[tuple[Dialogue, Scanned]]:
    """Scan one dialogue after the other, each in its own transaction; one audit line at the end."""
    counts: Counter[str] = Counter()
    rows = dialogues.order_by("pk").prefetch_related("turns__party")
    for dialogue in rows.iterator(chunk_size=CHUNK):
        done = scan(dialogue=dialogue, turns=sorted(dialogue.turns.all(), key=lambda turn: turn.index))
        counts.update(dialogues=1, transcribed=int(done.transcribed), changed=int(done.changed))
        counts.update(done.rules)
        yield dialogue, done
    audit.record("dialogues.scanned", user=user, rules=VERSION, counts=dict(counts))


def _identity(turns: Iterable[Turn]) -> Iterator[Wanted]:
    """A flag for each of B's turns that says what B is, and one of its sort for the dialogue."""
    by_sort: dict[str, list[tuple[Turn, list[Mark]]]] = {sort: [] for sort in RULES}
    for turn in turns:
        if turn.party.label != JUDGED or not turn.text.strip():
            continue
        said = marks(turn.text)
        for sort in RULES:
            own = [mark for mark in said if mark.sort == sort]
            if own:
                by_sort[sort].append((turn, own))
    for sort, places in by_sort.items():
        if not places:
            continue
        rules = sorted({mark.rule for _turn, own in places for mark in own})
        evidence = {"turns": [turn.index for turn, _own in places], "rules": rules, "version": VERSION}
        yield Wanted(RULES[sort], float(len(places)), evidence)
        for turn, own in places:
            quoted = [{"rule": m.rule, "start": m.start, "end": m.end, "evidence": m.evidence} for m in own]
            yield Wanted(RULES[sort], float(len(own)), {"marks": quoted, "version": VERSION}, turn.pk)


def _language(dialogue: Dialogue, turns: Iterable[Turn]) -> Iterator[Wanted]:
    script = script_of("\n".join(turn.text for turn in turns), dialogue.language)
    if script.own is not None and script.is_wrong(dialogue.language):
        evidence = {"low": LEAST[dialogue.language], "letters": script.letters, "language": dialogue.language}
        yield Wanted(LANGUAGE, round(script.own, 4), evidence)
