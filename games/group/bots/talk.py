"""What bots say: short, of all kinds that people send, the same for the same seed."""

from __future__ import annotations

import random

LINES = {
    "en": (
        "hi everyone", "hello!", "so, who is the machine here?", "I am definitely not a robot",
        "what did you all have for breakfast?", "toast", "coffee, that's all", "hmm",
        "whoever answers too fast is the one", "I think it's the quiet one", "why me??", "lol",
        "what's the weather like where you are", "raining here",
        "my cat just walked over the keyboard", "say something only a person would say",
        "that sounded like a machine tbh", "no it didn't", "ok let's vote soon", "I have no idea",
        "anyone else nervous?", "yes", "not really", "haha fair", "weekend was mostly laundry",
        "went to my sister's, too much cake", "worked, sadly", "can we agree on somebody",
        "wait, who hasn't said anything", "I'm typing with one hand, sorry",
        "what's your favourite smell", "bread, obviously", "petrol, don't judge",
        "that's oddly specific", "ok that was human", "are we all from the same place?",
        "I'd rather not say", "lots of people asking, nobody answering",
        "my money is on the polite one", "politeness is not a crime", "how do you even tell",
        "typos. machines don't make them", "you could fake taht", "see, I can type badly as well",
        "is it late where you are?", "past my bedtime", "one more minute",
        "this is harder than I thought", "I keep changing my mind", "fine, I'm convinced",
    ),
    "zh": (
        "大家好", "哈喽", "所以谁是机器？", "反正我是真人", "你们早饭吃的什么", "包子", "就喝了杯咖啡",
        "嗯……", "回得太快的那个最可疑", "我觉得是不说话的那位", "为什么是我？？", "哈哈哈",
        "你们那边天气怎么样", "下雨呢", "我家猫刚踩了键盘", "说句只有真人才会说的话",
        "这句真像机器写的", "哪有", "要投票了吧", "完全看不出来", "有人紧张吗", "有", "还好", "也对",
        "周末基本在洗衣服", "去我姐家了，蛋糕吃多了", "加班，唉", "咱们先统一一下意见？",
        "等等，谁还没说过话", "我单手打字，见谅", "你们最喜欢什么味道", "刚出炉的面包",
        "汽油味，别笑我", "这也太具体了", "好吧，这句是真人", "大家是一个地方的吗", "这个就不说了",
        "都在问，没人答", "我押最客气的那位", "客气也有错吗", "到底怎么分辨啊",
        "看错别字，机器不会打错", "打错也能装的", "你看，我也会打搓字", "你们那边很晚了吗", "早该睡了",
        "再来一分钟", "比想的难", "我一直在改主意", "行，我信了",
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
