"""The columns of a file of verdicts, and the words in which a choice may be written."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from dialogues.builtin import folded
from dialogues.importing.columns import Column, Layout
from dialogues.models import Choice

#: What the file may say about its raters: questions of the study's profile.
ATTRIBUTES = ("age", "gender", "education", "familiarity")

VERDICTS = Layout(
    (
        Column(
            "dialogue",
            True,
            gettext_noop("The dialogue's id in its manifest, or its code."),
            "en-001",
            ("id", "dialogue_id", "dialog", "item", "clip", "external_id", "对话", "对话编号"),
        ),
        Column(
            "rater",
            True,
            gettext_noop("A code for the person, the same in all their rows. No names."),
            "r001",
            ("participant", "person", "user", "worker", "subject", "player", "rater_id", "评判者", "用户"),
        ),
        Column(
            "choice",
            True,
            gettext_noop("human, machine or unscored; also 真人, 机器, 未计分."),
            "human",
            ("verdict", "answer", "judgement", "judgment", "label", "response", "判断", "选择"),
        ),
        Column(
            "time",
            False,
            gettext_noop("When it was given (ISO 8601); without an offset in the study's time zone."),
            "2025-03-01T12:30:00+08:00",
            ("given_at", "timestamp", "date", "datetime", "时间"),
        ),
        Column(
            "round",
            False,
            gettext_noop("Which of the person's rounds it was given in, from 1."),
            "1",
            ("round_number", "轮次"),
        ),
        Column(
            "age",
            False,
            gettext_noop("The person's answer in the profile, by value or label; or a number of years."),
            "18-25",
            ("age_group", "年龄"),
        ),
        Column("gender", False, gettext_noop("Likewise."), "female", ("sex", "性别")),
        Column("education", False, gettext_noop("Likewise."), "bachelor", ("degree", "学历")),
        Column("familiarity", False, gettext_noop("Likewise."), "often", ("experience", "熟悉程度")),
    ),
    '{"dialogue": …, "rater": …, "choice": …}',
)

_CHOICES = {
    Choice.HUMAN: ("human", "真人", "人", "人类"),
    Choice.MACHINE: ("machine", "机器", "机器人"),
    Choice.UNSCORED: ("unscored", "未计分", "不计分"),
}
CHOICES = {folded(word): choice for choice, words in _CHOICES.items() for word in words}

#: Words that are probably meant for a choice, but could also mean another thing: told, never taken.
MEANT = {
    folded(word): choice
    for choice, words in {
        Choice.HUMAN: ("h", "real", "person", "people", "hh", "是人", "真"),
        Choice.MACHINE: ("m", "ai", "bot", "robot", "computer", "hm", "人工智能", "假人", "电脑"),
        Choice.UNSCORED: ("skip", "skipped", "none", "null", "unsure", "不确定", "跳过"),
    }.items()
    for word in words
}
