"""The database writes cells as Python does: one rule, two ways of running it, the same bytes."""

from __future__ import annotations

import io
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import JSONField, Value
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialogues.models import Exposure, Flag, Verdict
from studies import cells, copying, sheets
from studies.cells_sql import cell
from studies.exports import TIERS, export_study, shown_columns
from studies.models import Answer, MachineConfig, Participant, Study
from studies.public import PublicTier
from studies.registry import datasets
from studies.tidy import TidyDataset
from tests import factories
from tests.speech.played import Played

pytestmark = [pytest.mark.both, pytest.mark.django_db]

STARTS = [
    *"=+-@|%＝＋－＠",
    "'",
    "\t",
    "\r",
    "\n",
    " =",
    "\u3000＝",
    "\u00a0-",
    "\x1c+",
    "\u2003@",
    "\u200b=",
]
TEXTS = [
    *(f"{start}cmd|'x'!A1" for start in STARTS),
    *STARTS,
    "-3.5", "+7", "-1e-3", "-1.e3", "-.5", "-5.", "+-5", "-1e", "-1e5.", "- 5", "-٣", "-1e400", "+1E+2",
    " -3.5", "12", "1,000", 'say "hi"', '"', ",", "a\nb", "a\r\nb", "a\rb", "\\.", "\\", "\\N", "NULL",
    "你好，世界", "🙂 =1", "é", "e\u0301", "\u2028", "\x7f", "\x1f", " ", "", "[z", "~z", "`z", "{z",
]  # fmt: skip
NUMBERS = [
    0.0, -0.0, 1.0, -3.5, 0.1, 1 / 3, 5e-05, 0.0001, 1.5e-7, 5e-324, 1e14, 1e15, 1234567890123456.0,
    1234567890123456.5, -1e15, 9999999999999998.0, 1e16, 1.5e16, -123456789012345678.0, 1e22,
    1.7976931348623157e308, 100.0, 123456.789, 2**53 + 2.0,
]  # fmt: skip
VALUES: list[Any] = [
    {}, [], {"b": 1, "a": 2, "": 3, "aa": 4, "é": 5, "你": 6, "z": {"yy": [], "x": None}},
    [1.0, 5e-05, 1e16, 1e22, 1e23, -0.0, 0.1, 10**30, -(10**19), 1.5e-7, True, False, None],
    ['quote "', "line\nfeed", "tab\t", "back\\slash", "\x01\x1f\x7f", "\u2028", "🙂", "=1", "/", "\b\f\r"],
    "plain", "=formula", "", 3, -3.5, True, False, {"k": "v, w"},
]  # fmt: skip
NULL = Value(None, JSONField())  # the null of JSON, which is not that of SQL
MOMENTS = [
    datetime(2026, 3, 2, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 3, 2, 12, 0, 0, 1, tzinfo=UTC),
    datetime(2026, 3, 2, 12, 0, 0, 500_000, tzinfo=UTC),
    datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2026, 3, 29, 1, 30, tzinfo=UTC),  # summer time begins in Berlin
]


def awkward() -> Played:
    """A study in which every column that takes text, numbers or JSON has met what is awkward in it."""
    played, draw = Played(), random.Random(3)
    study = played.study
    Study.objects.filter(pk=study.pk).update(
        title_en="=2+5", title_zh="＝危险\n", approval="-3.5", time_zone="Europe/Berlin", closed_at=MOMENTS[0]
    )
    played.system.name, played.system.aliases = '+Talker, "the" =best\nof all', TEXTS
    played.system.benchmark = {"score": VALUES, **dict.fromkeys(TEXTS, 1)}
    played.system.save()
    for at, number in enumerate(NUMBERS):
        Flag.objects.create(dialogue=played.machine[0], rule=f"rule-{at}", value=number)
    factories.ConsentFactory(participant=played.people[0], publish_text=True)
    factories.ConsentFactory(participant=played.people[1], text=study.consent_texts.get())
    free = factories.QuestionnaireFactory(
        study=study,
        key="after",
        questions=[{"key": f"q{at}", "kind": "text" if at % 2 else "single"} for at in range(400)],
    )
    said = [*TEXTS, *VALUES, *NUMBERS, NULL]
    for person in played.people[:3]:
        Answer.objects.bulk_create(
            Answer(
                rater=person.rater,
                questionnaire=free,
                question=f"q{at}",
                value=value,
                scale=VALUES,
                language="en",
                answered_at=MOMENTS[at % len(MOMENTS)],
            )
            for at, value in enumerate(said)
        )
        Participant.objects.filter(pk=person.pk).update(
            source=draw.choice(TEXTS), nickname=draw.choice(TEXTS)[:24], recruiter={"PID": "=1", "S": "你"}
        )
    heard = [*NUMBERS, 1, 0, 10**30, -7, "0.5", True, None, [1], {"a": 1}]
    for at, verdict in enumerate(Verdict.objects.order_by("pk")):
        verdict.evidence = {
            **{key: heard[(at + n) % len(heard)] for n, key in enumerate(("heard", "replays", "answer_ms"))},
            **{key: TEXTS[(at + n) % len(TEXTS)] for n, key in enumerate(("device", "left", "gate"))},
            "length": heard[(at * 7) % len(heard)],
            "hidden": heard[(at * 5) % len(heard)],
        }
        verdict.reason = {"ticks": TEXTS[at : at + 3], "text": TEXTS[at % len(TEXTS)], "n": NUMBERS}
        verdict.protocol_breaks = ["too_fast"] * (at % 3)
        verdict.activity = TEXTS[at % len(TEXTS)][:20]
        verdict.given_at, verdict.changed_at = MOMENTS[at % 5], None if at % 2 else MOMENTS[at % 4]
        verdict.round_finished = bool(at % 2)
        verdict.confidence = None if at % 3 else 1 + at % 5
        verdict.save()
    odd = list(Verdict.objects.order_by("pk")[:4])
    for verdict, evidence, reason in zip(odd, ([], 3, "text", NULL), ([], "text", NULL, 3), strict=True):
        verdict.evidence, verdict.reason = evidence, reason
        verdict.save()
    machine = MachineConfig.objects.create(name="judge", sha256="-1" + "ab" * 31)
    for rater in (
        factories.RaterFactory(participant=None, machine=machine),
        factories.RaterFactory(participant=None, user=factories.UserFactory()),
    ):
        factories.VerdictFactory(study=study, rater=rater, dialogue=played.human[0])
        Exposure.objects.create(study=study, rater=rater, dialogue=played.human[0], given_at=MOMENTS[1])
    player = factories.SpeechPlayerFactory(participant=played.people[2])
    chosen, system = played.machine[0].pk, played.system.pk
    for number, put in enumerate(
        (
            {},
            {
                "seed": 2**63,
                "chosen": chosen,
                "systems": {str(system): 3, "0": 1, "999999": 2},
                "weight": 1e-5,
            },
            {"chosen": 999_999_999, "systems": {}},
        )
    ):
        trial = factories.TrialFactory(
            round=factories.RoundFactory(player=player, number=number + 1, state="finished"),
            dialogue=played.machine[number],
            draw=put,
            ranges=[[0, 1.5], [2.0, 1e-5]],
            heard=NUMBERS[number],
        )
        assert trial.pk
    return played


def by_row(study: Study, dataset: TidyDataset, tier: str) -> bytes:
    below, rows = io.BytesIO(), dataset.rows(study)
    columns = shown_columns(dataset, tier)
    sheet = sheets.CsvSheet(below, columns, bom=False)
    for row in PublicTier(study).rows(dataset, rows) if tier == "public" else rows:
        sheet.write(row)
    sheet.close()
    return below.getvalue()


def test_every_table_has_the_same_bytes_either_way() -> None:
    study = awkward().study
    copied = set()
    for dataset in datasets:
        if not isinstance(dataset, TidyDataset):
            continue
        for tier in TIERS:
            columns = shown_columns(dataset, tier)
            query = dataset.selected(study, columns)
            if query is None or (tier == "public" and dataset.key in ("participants", "answers")):
                continue
            copied.add(dataset.key)
            made = sheets.csv_header(columns) + b"".join(one.data for one in copying.blocks(query, columns))
            expected = by_row(study, dataset, tier)
            for one, other in zip(made.split(b"\n"), expected.split(b"\n"), strict=True):
                assert one.split(b",") == other.split(b","), (dataset.key, tier)
    assert {"verdicts", "exposures", "participants", "dialogues", "systems", "flags"} <= copied
    if connection.vendor == "postgresql":
        assert {"answers", "trials"} <= copied


def test_the_export_is_the_same_with_and_without_the_databases_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = awkward().study
    for tier in TIERS:
        quick = export_study(study=study, path=tmp_path / "quick.zip", tier=tier, now=MOMENTS[0])
        with monkeypatch.context() as slow:
            slow.setattr(TidyDataset, "selected", lambda *_unused: None)
            plain = export_study(study=study, path=tmp_path / "plain.zip", tier=tier, now=MOMENTS[0])
        hashes = [
            {one["path"]: one for one in made["files"] if one["path"] != "plan.md"} for made in (quick, plain)
        ]
        assert hashes[0] == hashes[1]
        assert quick["excluded"] == plain["excluded"]


def cell_of(kind: str, given: str, value: Any) -> Any:
    with connection.cursor() as cursor:
        sql = cell(connection.vendor, kind, "given").replace("%", "%%")
        cursor.execute(f"SELECT {sql} FROM (SELECT {given} AS given) AS one", [value])  # noqa: S608
        return cursor.fetchone()[0] or ""


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.sampled_from(TEXTS)
)
def test_any_text_is_guarded_alike(text: str) -> None:
    given = "%s::text" if connection.vendor == "postgresql" else "%s"
    assert cell_of("string", given, text) == cells.written(text, "string")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tail=st.text("+-.eE0123456789 ", max_size=8), sign=st.sampled_from(["+", "-", " -", "-0", "="]))
def test_what_looks_like_a_number_is_told_apart_alike(sign: str, tail: str) -> None:
    given = "%s::text" if connection.vendor == "postgresql" else "%s"
    assert cell_of("string", given, sign + tail) == cells.written(sign + tail, "string")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.floats() | st.sampled_from(NUMBERS) | st.integers(-(10**17), 10**17).map(float))
def test_any_number_is_written_alike(number: float) -> None:
    given = "%s::float8" if connection.vendor == "postgresql" else "%s"
    made = cell_of("number", given, number)
    text = "" if made == "" else made if isinstance(made, str) else repr(made)
    if connection.vendor == "sqlite" and number == 0:
        text = repr(number)  # `or` above took the zero for nothing
    if abs(number) < 2**53:
        assert text == cells.written(number, "number")
    else:  # PostgreSQL takes no text that lies just between two numbers: a digit more, the same value
        assert cells.read(text, "number") == cells.read(cells.written(number, "number"), "number")


def test_a_zero_byte_survives_where_the_database_holds_one() -> None:
    if connection.vendor == "postgresql":
        pytest.skip("PostgreSQL holds none")
    study = factories.StudyFactory()
    person = factories.ParticipantFactory(study=study)
    Participant.objects.filter(pk=person.pk).update(source="=a\0b", nickname="\0c")
    dataset = datasets.get("participants")
    assert isinstance(dataset, TidyDataset)
    columns = shown_columns(dataset, "internal")
    query = dataset.selected(study, columns)
    assert query is not None
    made = b"".join(one.data for one in copying.blocks(query, columns))
    assert b"'=a\0b" in made
    assert sheets.csv_header(columns) + made == by_row(study, dataset, "internal")
