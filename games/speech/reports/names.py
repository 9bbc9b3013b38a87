"""What strategies and topics are called on the page: built-in ones, and those that somebody added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dialogues import builtin
from studies.texts import pick

#: Of the dialogues' table, beside the codes in ``strategy`` and ``topic``.
COLUMNS = ("strategy_en", "strategy_zh", "topic_en", "topic_zh")


def names_of(dialogues: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Names in the reader's language by code; what nobody named has none and is shown by its code.

    A name that a dialogue's row holds goes before the built-in one: somebody may have changed it. Exports
    made before the table had names leave the built-in ones.
    """
    given: dict[str, dict[str, str]] = {
        **{one["code"]: {"en": one["name_en"], "zh": one["name_zh"]} for one in builtin.strategies()},
        **{one["code"]: {"en": one["label_en"], "zh": one["label_zh"]} for one in builtin.topics()},
    }
    for row in dialogues:
        for kind in ("topic", "strategy"):
            words = {one: str(row.get(f"{kind}_{one}") or "") for one in ("en", "zh")}
            if row[kind] and any(words.values()):
                code = str(row[kind])
                given[code] = {"en": words["en"] or code, "zh": words["zh"]}
    return {code: str(pick(words)) for code, words in given.items()}
