"""Text that people typed, inside Markdown: it is shown as typed and does nothing."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import nh3
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from studies.export_words import readme
from studies.markdown import as_html, as_markdown_lines, as_markdown_text
from studies.models import Plan, Study
from studies.plans import as_markdown as plan_markdown
from studies.report_formats import as_markdown as report_markdown
from studies.reports import Basis, Heading, ReportResult, ReportTable
from tests import factories

NOW = datetime(2026, 3, 1, tzinfo=UTC)
READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
HOSTILE = [
    "![x](http://evil.test/x.png)", "[a](http://evil.test)", "<script>alert(1)</script>", "a | b", "`code`",
    "# head", "- item", "1. item", "> quote", "---", "===", "*a* __b__ ~~c~~", "&lt;", "\\", "<http://a.test>",
]  # fmt: skip


def kinds(text: str) -> set[str]:
    tokens = READER.parse(text)
    return {one.type for one in [*tokens, *(child for token in tokens for child in token.children or ())]}


def words(text: str) -> str:
    return "".join(
        child.content if child.content else "\n" * (child.type in ("softbreak", "hardbreak"))
        for token in READER.parse(text)
        for child in token.children or ()
    )


@pytest.mark.parametrize("typed", HOSTILE)
def test_typed_text_stays_text(typed: str) -> None:
    written = as_markdown_text(typed)
    assert kinds(written) <= {"paragraph_open", "inline", "text", "text_special", "paragraph_close"}
    assert words(written) == typed
    assert words("\n".join(as_markdown_lines(f"{typed}\n{typed}"))) == f"{typed}\n{typed}"


@given(st.text(st.sampled_from("ab1 _*`[]()!<>#+-=~|&;:/.\\$@\n\t"), max_size=30))
def test_whatever_is_typed_reads_the_same(typed: str) -> None:
    assert words(as_markdown_text(typed)) == " ".join(typed.split())


def test_bare_addresses_are_no_links_and_names_stay_as_they_are() -> None:
    for typed in ("http://evil.test", "www.evil.test", "me@evil.test"):
        assert not re.search(r"http://|www\.|\w@", as_markdown_text(typed))
    for name in ("GPT-4o (v1.2)", "gpt_4o_mini", "豆包 2.0", "-0.05", "n = 3, not enough"):
        assert as_markdown_text(name) == name


@pytest.mark.parametrize("typed", HOSTILE)
def test_reports_show_typed_names_as_they_are(typed: str) -> None:
    table = ReportTable("systems", "Systems", (Heading("name", "name", "text"),), ({"name": typed},))
    result = ReportResult("one", "One", "worked", "all", "", Basis(1, 1, 1), (table,), (typed,))
    text = report_markdown(result)
    assert words(text).count(typed) == 2
    assert not kinds(text) & {
        "image",
        "link_open",
        "html_block",
        "html_inline",
        "code_block",
        "blockquote_open",
    }


@pytest.mark.django_db
def test_a_title_breaks_neither_the_read_me_nor_the_plan() -> None:
    study: Study = factories.StudyFactory(title_en="A\n\n<script>x</script> ![y](http://evil.test)")
    plan = Plan(study=study, version=1, content={"notes": "fine\n\n![y](http://evil.test)\n# head"})
    plan_md = plan_markdown(plan, [], at=NOW, status="draft", counts={})
    assert "\n# head" not in plan_md
    for text in (plan_md, readme(study, [], "public")):
        assert not kinds(text) & {"image", "html_block", "html_inline"}


# What texts of a study may use, as HTML


TAGS = {"p", "ul", "ol", "li", "strong", "code"}


def test_paragraphs_lists_bold_and_code_become_html() -> None:
    text = "Score **speaker B** alone.\nOn one line.\n\n- `1`: low\n- **5**: high,\n  as heard\n\n"
    text += "1. first\n2. second"
    assert as_html(text) == (
        "<p>Score <strong>speaker B</strong> alone. On one line.</p>\n"
        "<ul><li><code>1</code>: low</li><li><strong>5</strong>: high, as heard</li></ul>\n"
        "<ol><li>first</li><li>second</li></ol>"
    )


def test_a_list_may_follow_its_lead_without_an_empty_line() -> None:
    assert as_html("Keys:\n- one\n- two") == "<p>Keys:</p>\n<ul><li>one</li><li>two</li></ul>"


def test_code_inside_bold_and_stars_inside_code() -> None:
    assert as_html("**press `1`** and `**`") == (
        "<p><strong>press <code>1</code></strong> and <code>**</code></p>"
    )


@pytest.mark.parametrize(
    "text", [*HOSTILE, "**<img src=x onerror=alert(1)>**", "`<script>`", "- <b>x", "** a **"]
)
def test_nothing_typed_brings_a_tag(text: str) -> None:
    html = as_html(text)
    assert set(re.findall(r"</?([a-z]+)", html)) <= TAGS
    assert nh3.clean(html, tags=TAGS, attributes={}) == html.replace("&quot;", '"').replace("&#x27;", "'")


@given(st.text(alphabet="ab *`-<>&\"'1.\n[]()!#"))
def test_no_text_at_all_brings_another_tag_or_an_attribute(text: str) -> None:
    html = as_html(text)
    assert set(re.findall(r"<[^>]*>", html)) <= {f"<{slash}{tag}>" for tag in TAGS for slash in ("", "/")}
