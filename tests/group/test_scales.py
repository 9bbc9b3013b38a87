"""Questions on five steps are drawn as a row; all others as everywhere."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from django.template import engines

from studies.forms import questionnaire_form

PAGE = (
    "{% load survey %}{% for field in form %}"
    "{% if field|is_scale %}{% scale field %}{% else %}as ever{% endif %}{% endfor %}"
)


def drawn(labels: list[str], data: dict[str, Any] | None = None, kind: str = "scale") -> str:
    options = [{"value": label[0], "label": {"en": label}} for label in labels]
    question = {"key": "likeness", "kind": kind, "text": {"en": "How human?"}, "options": options}
    sheet: Any = SimpleNamespace(questions=[question])
    return engines["django"].from_string(PAGE).render({"form": questionnaire_form(sheet, data)})


def test_five_steps_are_a_row_with_poles_and_a_way_out() -> None:
    page = drawn(["1 – not at all", "2", "3", "4", "5 – entirely"], {"likeness": "4"})
    assert page.count('type="radio"') == 6
    assert page.count('name="likeness"') == 6
    assert 'value="4" aria-label="4" checked' in page
    assert 'aria-label="5: entirely"' in page
    assert "<span>not at all</span><span>entirely</span>" in page
    assert "Prefer not to say" in page


def test_other_questions_are_drawn_as_everywhere() -> None:
    assert drawn(["1", "2", "3"]) == "as ever"
    assert drawn(["1", "2", "3", "4", "5", "6", "7"]) == "as ever"
    assert drawn(["1", "2", "3", "4", "5"], kind="multi") == "as ever"
