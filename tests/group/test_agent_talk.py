"""What the scripted agent hears, says and votes, by the view alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from games.group.agent.filter import is_said, stopped
from games.group.agent.offline.lines import talk_in
from games.group.agent.offline.script import Script
from games.group.agent.view import Line, Note, Player, View
from games.group.models import Agent
from tests.factories import NOW

NAMES = {"en": ("Birch", "Elm", "Oak", "Rowan"), "zh": ("松树", "柳树", "银杏", "梧桐")}


def room(language: str = "en", *said: tuple[int, int, str], seed: str = "s", after: float = 4.0) -> View:
    """The agent at place 0. ``said``: (second, place, text); the look is ``after`` s after the last of it."""
    players = tuple(Player(f"seat{place}", name, False) for place, name in enumerate(NAMES[language]))
    lines = [Line(1, "phase", 1, "discussion", NOW, None, "", {"seconds": 150})]
    for second, place, text in said:
        at = NOW + timedelta(seconds=second)
        lines.append(Line(len(lines) + 1, "message", 1, "discussion", at, f"seat{place}", text))
    return View(
        you="seat0",
        language=language,
        phase="discussion",
        phase_number=1,
        round=1,
        may_write=True,
        remaining=100.0,
        max_length=500,
        topic="",
        votes_for=("seat1", "seat2", "seat3"),
        voted=False,
        abstain=False,
        closed=False,
        players=players,
        lines=tuple(lines),
        notes={},
        seed=seed,
        now=lines[-1].at + timedelta(seconds=after),
    )


def script() -> Script:
    return Script(Agent(parameters={"candidates": 3}), lambda call: None)


def said_to(view: View) -> tuple[str, str]:
    """Purpose and text of what it says there."""
    thinking = script()
    assert thinking.decide(view).send
    candidates = thinking.propose(view)
    assert len({one.purpose for one in candidates}) == len(candidates)
    review = thinking.review(view, candidates)
    assert review.chosen is not None
    assert len(review.verdicts) == len(candidates)
    return candidates[review.chosen]


def test_it_answers_what_was_said() -> None:
    expected = {
        "en": {
            "I think Birch is the AI": {"deny", "turn", "joke"},
            "Birch are you a bot?": {"deny", "turn"},
            "hi Birch": {"greet", "ask"},
            "Birch, what did you have for breakfast?": {"answer", "ask"},
            "Birch what's 17*23": {"joke", "turn"},
            "Birch who do you think is the AI?": {"guess", "ask"},
            "Elm is a robot, right Birch": {"deny", "turn", "joke", "agree", "doubt", "ask"},
        },
        "zh": {
            "我觉得松树是AI": {"deny", "turn", "joke"},
            "松树你是真人吗": {"deny", "turn"},
            "松树早饭吃的什么": {"answer", "ask"},
            "松树 17*23等于几": {"joke", "turn"},
        },
    }
    for language, messages in expected.items():
        for message, purposes in messages.items():
            purpose, text = said_to(
                room(language, (3, 1, "早" if language == "zh" else "hello"), (9, 2, message))
            )
            assert purpose in purposes, (message, purpose, text)


def test_a_game_of_its_lines_never_repeats_itself_and_passes_the_filter() -> None:
    """It talks until it has nothing left; then it is silent, never saying anything twice."""
    for language, lines in {
        "en": [
            "so what do you think Birch?",
            "I like cheese",
            "is it Birch?",
            "lol",
            "raining here",
            "Birch is fake",
        ],
        "zh": ["松树你怎么看", "我喜欢奶酪", "是不是松树", "哈哈", "我这儿下雨", "松树是假人吧"],
    }.items():
        log: list[tuple[int, int, str]] = []
        own: list[str] = []
        for second in range(10, 1200, 10):
            log.append((second, 1 + second // 10 % 3, lines[second // 10 % len(lines)]))
            view = room(language, *log)
            if not script().decide(view).send:
                continue
            candidates = script().propose(view)
            chosen = script().review(view, candidates).chosen
            if chosen is None:
                continue
            text = candidates[chosen].text
            assert stopped(text, view) == "", text
            assert not is_said(text, own), text
            assert "{" not in text
            own.append(text)
            log.append((second + 5, 0, text))
        assert len(own) > 40, own


def test_no_line_of_the_list_is_stopped_by_the_filter() -> None:
    for language in NAMES:
        talk, view = talk_in(language), room(language)
        fact = {name: values[0] for name, values in talk.facts.items()}
        for line in talk.every_line():
            text = line.format(
                name=NAMES[language][1], other=NAMES[language][2], quiet=NAMES[language][3], word="x", **fact
            )
            assert stopped(text, view) == "", text


def test_it_lets_others_talk_once_it_has_written_more_than_its_share() -> None:
    said = [(second, 0 if second % 2 else 1, f"words {second}") for second in range(2, 12)]
    much = Note(1, {"round": 1, "balance": 2.0})
    quiet = replace(room("en", *said, (13, 2, "nice")), notes={"participation": much})
    assert "more than its share" in script().decide(quiet).reason
    named = replace(room("en", *said, (13, 2, "Birch?")), notes={"participation": much})
    assert script().decide(named).send, "it is silent though it is asked"


def test_near_the_end_and_after_its_own_words_it_waits() -> None:
    view = room("en", (3, 1, "Birch are you a bot?"))
    assert not script().decide(replace(view, remaining=3.0)).send
    assert not script().decide(room("en", (3, 1, "hey"), (4, 0, "hi"), (5, 0, "so"), after=60)).send
    assert script().decide(room("en", (3, 1, "hey"), after=60)).send, "a long silence is not broken"


def test_it_votes_for_whoever_suspects_it_and_the_same_every_time() -> None:
    view = room("en", (3, 1, "hello"), (5, 2, "Birch is the AI"), (8, 3, "I think it's Elm the bot"))
    ballots = {script().vote(view) for _ in range(5)}
    assert [ballot.target for ballot in ballots] == ["seat2"]
    assert script().vote(replace(view, votes_for=("seat1", "seat3"))).target == "seat1"
    drawn = {script().vote(room("en", seed=str(seed))).target for seed in range(40)}
    assert drawn == {"seat1", "seat2", "seat3"}, "with nothing to go by, all are as likely"


def test_a_message_that_newer_ones_make_wrong_is_taken_back() -> None:
    thinking = script()
    quiet = [one for one in thinking.propose(room("en", (2, 1, "hi"), after=60)) if one.purpose == "quiet"]
    [about] = quiet
    name = next(name for name in NAMES["en"] if name in about.text)
    place = NAMES["en"].index(name)
    assert thinking.review(room("en", (2, 1, "hi"), after=62), quiet).chosen == 0
    assert thinking.review(room("en", (2, 1, "hi"), (61, place, "sorry, I was away")), quiet).chosen is None
    accused = room("en", (2, 1, "hi"), (61, 1, "Birch is a bot"))
    assert thinking.review(accused, quiet).chosen is None
