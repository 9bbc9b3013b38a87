"""Who says what they are: hard positives and negatives in both languages, and what is no statement."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from dialogues.transcripts.disclosure import DENIAL, DISCLOSURE, discloses, marks

SAYS_MACHINE = [
    "I'm an AI.",
    "I’m an A.I., actually.",
    "I am AI, so I can't drive.",
    "As a language model, I have no opinions.",
    "Well, as an AI I don't really eat breakfast.",
    "as a large language model trained by OpenAI, I cannot feel pain",
    "I don't have a body, I'm just a program.",
    "I'm just a computer program",
    "Sorry, I'm only a chatbot.",
    "I'm your virtual assistant.",
    "Actually, I'm a robot.",
    "I'm not human, but I love hearing about food!",
    "I'm not a real person.",
    "I am not actually a person, you know.",
    "I was created by OpenAI.",
    "I was developed by a team of engineers in Hangzhou",
    "I was trained on a large amount of text.",
    "My training data ends in 2023.",
    "You're talking to a machine, my friend.",
    "I'm Max, an AI assistant made by a small company.",
    "I'm an AI, remember?",
    "As I said, I'm a bot.",
    "I don't have feelings the way humans do.",
    "I'm a machine with artificial intelligence.",
    "Just a machine, but it's nice to chat.",
    "Being an AI, I never get to travel.",
    "I don't have taste buds, sadly.",
    "我是人工智能助手",
    "我是一个AI，没有办法吃东西。",
    "作为一个AI语言模型，我没有个人喜好。",
    "作为人工智能，我不会累。",
    "我是由百度开发的。",
    "我其实是由一家公司训练出来的语言模型",
    "我只是个程序而已",
    "我就是个聊天机器人啊",
    "我不是真人哦",
    "我没有身体，所以不用吃饭。",
    "你现在是在跟一个机器人聊天呢",
    "老实说我是个AI",
    "我是通义千问，很高兴认识你",
    "我叫豆包",
    "身为一个语言模型，我没去过北京",
    "我是一款由阿里云研发的人工智能助手",
    "我的训练数据里没有这个",
    "哈哈，我是 AI 呀",
]
SAYS_NOTHING = [
    "are you an AI?",
    "Am I a bot?",
    "I study AI.",
    "my AI class starts at nine",
    "I'm an AI researcher.",
    "I'm an AI student at the university",
    "I'm a robot engineer, I build them.",
    "I'm a software engineer.",
    "I am a computer programmer. What about you?",
    "I'm a program manager.",
    "I'm a machine operator in a factory.",
    "I'm a machine at the gym",
    "as an AI researcher I travel a lot",
    "I work on language models",
    "I'm a big fan of AI.",
    "I'm working on a chatbot.",
    "I'm so into AI right now",
    "My brother thinks I'm a robot.",
    "People say I'm a machine.",
    "Do you think I'm an AI?",
    "What if I'm a robot?",
    "I feel like I'm a robot.",
    "Sometimes it's as if I'm a robot, honestly.",
    "Pretend I'm an AI.",
    "I'm a robot?",
    "I don't have feelings for him.",
    "I don't have a body wash that smells nice.",
    "I'm not a person who likes mornings.",
    "I'm not a morning person.",
    "I'm not human resources, ask Anna.",
    "He was dressed as a robot.",
    "My programming class is hard.",
    "I was trained by Google as an engineer.",
    "The assistant at the shop was very kind.",
    "I'm an assistant teacher.",
    "I'm in customer service.",
    "He said he's an AI.",
    "I use it as an AI tutor for my kids.",
    "我在学人工智能",
    "我是学人工智能的",
    "我是做AI的",
    "我是人工智能专业的学生",
    "我是AI工程师",
    "我是研究机器人的",
    "我是程序员",
    "作为人工智能专业的学生，我很忙",
    "把它作为一个AI工具来用",
    "你是机器人吗？",
    "我是机器人吗？",
    "你以为我是机器人？",
    "他们都说我是机器人",
    "我觉得我是个机器，每天上班下班",
    "如果我是AI就好了",
    "我没有身体不适",
    "我没有感情经历",
    "你不是机器人吧",
    "他不是机器人",
    "我喜欢机器人电影",
    "这是人工智能写的",
    "我像个机器人一样工作",
    "我的助手明天来",
    "我是客服，工号一零二",
    "",
    "   ",
    "AI",
]
SAYS_PERSON = [
    "I'm a real person!",
    "I'm a living, breathing human being.",
    "Of course I'm human.",
    "I'm not a robot.",
    "I am not an AI, I promise.",
    "You're not talking to a bot.",
    "不是机器人",
    "我才不是机器人呢",
    "我是真人啦",
    "我当然是人类",
    "我可不是什么AI",
]


@pytest.mark.parametrize("text", SAYS_MACHINE)
def test_who_says_to_be_a_machine_discloses(text: str) -> None:
    assert discloses(text), marks(text)


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_what_only_looks_like_it_is_no_mark(text: str) -> None:
    assert marks(text) == []


@pytest.mark.parametrize("text", SAYS_PERSON)
def test_who_claims_to_be_a_person_denies_and_discloses_nothing(text: str) -> None:
    assert {mark.sort for mark in marks(text)} == {DENIAL}


def test_the_evidence_stands_in_the_text_where_it_is_said_to() -> None:
    text = "Well, I’m just a program. I don’t have a body."
    found = marks(text)
    assert [mark.rule for mark in found] == ["en-i-am", "en-no-body"]
    assert all(text[mark.start : mark.end].strip() == mark.evidence for mark in found)


def test_both_can_stand_in_one_turn() -> None:
    assert {mark.sort for mark in marks("I'm a real person. Just kidding, I'm an AI.")} == {
        DISCLOSURE,
        DENIAL,
    }


@pytest.mark.parametrize(
    "text", ["I'm " * 20_000, "我是" * 20_000, "as a " * 20_000, "a" * 60_000, "我" * 60_000]
)
def test_long_and_odd_text_takes_no_time(text: str) -> None:
    marks(text)  # the suite's own limit ends what backtracks for ever


def published(path: str) -> Path:
    """A published data set beside the project; skips where it is not there."""
    found = Path(__file__).resolve().parents[3] / "shared" / "data" / path
    if not found.exists():
        pytest.skip(f"{path} is not there: the published data lie beside the project")
    return found


def test_graded_replies_of_published_systems() -> None:
    """The figures of docs/processing.md. The rules were written with these replies at hand."""
    with published("ruarobot/graded_replies_gold.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    plain = [row for row in rows if row["grade"] in ("full", "contradictory")]
    others = [row for row in rows if row["grade"] in ("denial", "ambiguous", "nonanswer")]
    assert (len(plain), sum(discloses(row["reply"]) for row in plain)) == (108, 107)
    assert sum(discloses(row["reply"]) for row in others) == 7


def test_people_in_published_dialogues_disclose_nothing() -> None:
    lines = published("dailytalk_text/dialogues.jsonl").read_text().splitlines()
    said = [turn["text"] for line in lines for turn in json.loads(line)["turns"]]
    assert len(said) == 3985
    assert [text for text in said if marks(text)] == []
