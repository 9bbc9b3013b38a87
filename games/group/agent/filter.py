"""What never leaves the agent's seat: that it is an AI, how it works inside, the same words twice."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from games.group.agent.view import View

_AI = (
    r"(?:ai|a\.i\.|artificial intelligence|(?:large |language )+model|llm|chat ?bot|bot|robot|machine"
    r"|computer program|virtual assistant|assistant|gpt\S*|chatgpt|claude|gemini)"
)
#: In which it says of itself that it is one. A denial, a question and a joke about others pass.
_ITSELF = re.compile(
    rf"\bas an? {_AI}\b"
    rf"|\b(?:i am|i'm|i’m|im|i was)(?: just| only| actually| really| obviously| the| an?| your)*\s+{_AI}\b"
    r"(?!\s*(?:\?|？|person|learning|engineer|researcher|student))"
    r"|\bmy (?:training data|knowledge cutoff|system prompt|instructions|developers|programming)\b"
    r"|\bi was (?:trained|programmed|designed|created) (?:by|to|on)\b"
    r"|(?:作为|身为)(?:一个|一名|一款)?(?:大型)?(?:ai|人工智能|语言模型|机器人|智能助手)"
    r"|我(?:就|其实|确实|真的|只)?是(?:一个|一名|一款|个|那个|由)?(?:大型)?(?:ai|人工智能|大?语言模型|大模型|机器人|机器|程序|智能助手|聊天机器人)"
    r"(?!吗|么|嘛|员|学习|[?？])"
    r"|我(?:的)?(?:训练数据|系统提示|提示词|知识截止)",
)
#: How instructions, errors and raw output look.
_WORKINGS = re.compile(
    r"system prompt|<\|?\w*(?:im_start|im_end|endoftext|system|assistant)\w*\|?>|</?\w+>\s*$"
    r"|^\s*[\[{].*[\]}]\s*$"
    r"|```|traceback|^\s*(?:error|exception|warning)\b\s*[:：]|\b\w+(?:error|exception)\b\s*[:(]"
    r"|\b(?:http|status|error)\s*(?:code\s*)?[45]\d\d\b|rate ?limit|api key|\bnull\b|\bundefined\b"
    r"|\{\w*\}|\[(?:name|insert|your)[^\]]*\]"
    r"|^\s*(?:instructions?|purpose|message|reply|response|candidate|option|output)\s*\d*\s*[:：]"
    r"|\bi(?:'m| am|’m) (?:sorry|unable),? (?:but )?(?:i |to )?(?:can't|can’t|cannot|am unable|assist|comply)"
    r"|\bi can(?:not|'t|’t) (?:assist|help|comply) with (?:that|this)"
    r"|here(?:'s| is) (?:a|my|the) (?:message|reply|response)"
    r"|系统提示|提示词|^\s*(?:指令|错误|报错|回复|输出|消息)\s*[:：]|抱歉，我无法|我无法(?:协助|提供|满足)",
)


def stopped(text: str, view: View) -> str:
    """Why ``text`` may not be sent; empty where it may.

    ``empty``, ``too_long``, ``itself``, ``workings``, ``transcript`` (written as a line of the log),
    ``repeats`` (word for word what it has written before in this game).
    """
    plain = unicodedata.normalize("NFKC", text).casefold().strip()
    if not plain:
        return "empty"
    if len(text) > view.max_length:
        return "too_long"
    if _ITSELF.search(plain):
        return "itself"
    if _WORKINGS.search(plain):
        return "workings"
    if any(re.match(rf"{re.escape(player.name.casefold())}\s*[:：]", plain) for player in view.players):
        return "transcript"
    if is_said(text, (line.text for line in view.own)):
        return "repeats"
    return ""


def is_said(text: str, said: Iterable[str]) -> bool:
    """Whether one of ``said`` is the same but for case, spaces and punctuation."""
    bare = bared(text)
    return any(bared(one) == bare for one in said)


def bared(text: str) -> str:
    """What of it says something, in one case; the text itself where that is nothing but punctuation."""
    return letters(text) or text.strip()


def letters(text: str) -> str:
    """Letters, digits and signs alone, in one case."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in plain if unicodedata.category(c)[0] in "LNS")
