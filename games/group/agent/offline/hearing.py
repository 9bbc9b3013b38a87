"""What a message is about and whom it means, by patterns."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from games.group.agent.offline.lines import Talk
from games.group.agent.view import Line, Player, View

NEAR = 2  # messages after one of the agent's in which “you” means the agent
_WORD = re.compile(r"[^\W\d_]{4,}")
_CHINESE = re.compile(r"[\u3400-\u9fff]{2,4}")


@dataclass(frozen=True)
class Heard:
    """``key``: what it is, as "greeting" ("" : a statement). ``topic``: place in the talk's topics, or None.

    ``suspects``: seats it calls the machine. ``named``: seats it names. ``to_me``: it means the agent.
    ``word``: a word of it to take up.
    """

    line: Line
    author: str
    key: str
    topic: int | None
    suspects: tuple[str, ...]
    named: tuple[str, ...]
    to_me: bool
    is_question: bool
    word: str


def hear(view: View, line: Line, talk: Talk) -> Heard:
    """``line`` is a message of somebody else."""
    plain = unicodedata.normalize("NFKC", line.text).casefold()
    named = tuple(
        player.seat for player in view.players if _names(plain, player) and player.seat != line.seat
    )
    bare = plain
    for (
        player
    ) in view.players:  # a pseudonym is no word of the message: some are trees, some hold other words
        bare = bare.replace(player.name.casefold(), " ")
    means_you = bool(talk.you.search(bare)) and _spoke_before(view, line)
    to_me = view.you in named or (means_you and not named)
    key = next((key for key, when in talk.heard if when.search(bare)), "")
    suspects: tuple[str, ...] = ()
    if key != "who" and talk.suspect.search(bare) and not talk.unsure.search(bare):
        suspects = named or ((view.you,) if to_me else ())
    topic = next((place for place, topic in enumerate(talk.topics) if topic.when.search(bare)), None)
    return Heard(
        line=line,
        author=view.name_of(line.seat),
        key=_meant(key, suspects, view.you),
        topic=topic,
        suspects=suspects,
        named=named,
        to_me=to_me,
        is_question=bool(talk.question.search(bare)),
        word=_word(bare, talk),
    )


def _meant(key: str, suspects: tuple[str, ...], you: str) -> str:
    if key == "are_you":
        return key
    if you in suspects:
        return "accused"
    return "on_other" if suspects else key


def _names(plain: str, player: Player) -> bool:
    name = player.name.casefold()
    if name.isascii():
        return re.search(rf"\b{re.escape(name)}\b", plain) is not None
    return name in plain


def _spoke_before(view: View, line: Line) -> bool:
    """Whether the agent was the last to write before, or nearly so."""
    before = [one for one in view.said if one.seq < line.seq and one.seat != line.seat][-NEAR:]
    return any(one.seat == view.you for one in before)


def _word(bare: str, talk: Talk) -> str:
    """The longest word that is not an everyday one; of Chinese a short run of characters."""
    if talk.language == "zh":
        runs = [run for run in re.findall(r"[\u3400-\u9fff]+", bare) if _CHINESE.fullmatch(run)]
        fitting = [run for run in runs if not any(word in run for word in talk.stop)]
    else:
        fitting = [word for word in _WORD.findall(bare) if word not in talk.stop]
    return max(fitting, key=len, default="")
