"""What bots say: short, of all kinds that people send, the same for the same seed."""

from __future__ import annotations

import random

LINES = {
    "en": (
        "hi everyone", "hello!", "so, who is the machine here?", "I am definitely not a robot",
        "what did you all have for breakfast?", "toast", "coffee, that's all", "hmm",
        "whoever answers too fast is the one", "I think it's the quiet one", "why me??", "lol",
        "what's the weather like where you are", "raining here", "my cat just walked over the keyboard",
        "say something only a person would say",
        "that sounded like a machine tbh", "no it didn't",
        "ok let's vote soon", "I have no idea", "anyone else nervous?", "yes", "not really", "haha fair",
    ),
    "zh": (
        "大家好", "哈喽", "所以谁是机器？", "反正我是真人", "你们早饭吃的什么", "包子", "就喝了杯咖啡",
        "嗯……", "回得太快的那个最可疑", "我觉得是不说话的那位", "为什么是我？？", "哈哈哈",
        "你们那边天气怎么样",
        "下雨呢", "我家猫刚踩了键盘", "说句只有真人才会说的话", "这句真像机器写的", "哪有",
        "要投票了吧", "完全看不出来", "有人紧张吗", "有", "还好", "也对",
    ),
}  # fmt: skip

#: Texts that have broken chats before; all are sent as they are.
AWKWARD = (
    "<b>bold</b> <script>alert(1)</script>",
    "\u202eright to left\u202c",
    "zero\u200bwidth\u200djoiner",
    "🙂" * 40,
    "a" * 120,
    "=1+1",
    "line one\nline two",
    "“quotes” & 'more' %s {x} \\n",
)


def line(rng: random.Random, language: str) -> str:
    """Something to say in ``language`` (en or zh)."""
    return rng.choice(LINES["zh" if language.startswith("zh") else "en"])
