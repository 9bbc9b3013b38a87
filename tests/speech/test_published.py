"""The published figures through the ordinary path: counts as files, files by command, figures by report."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command

from dialogues.models import Dialogue, Verdict
from studies.exports import export_study
from studies.models import Participant, Study

VECTORS = Path(__file__).parents[2].parent / "shared" / "data" / "paper_vectors.json"
PEOPLE = 397  # as published
ON_ONE = 60  # verdicts on one dialogue, about
KINDS = {"H-H": "human_human", "H-M": "human_machine", "PH": "pseudo_human"}
PUBLISHED = {
    "H-H": (654, 922, 0.7093, 1.6604, 0.09683),
    "H-M": (808, 967, 0.8356, -1.0106, 0.31220),
    "PH": (577, 902, 0.6397, -1.6018, 0.10919),
}

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        not VECTORS.exists(), reason="the published counts are not beside the project (paper_vectors.json)"
    ),
]


class Given(NamedTuple):
    """A verdict as a row of a file."""

    dialogue: str
    rater: str
    choice: str


def bins() -> Iterator[tuple[str, int, int, int]]:
    """Kind, place of the bin, verdicts in it, right ones."""
    cells = json.loads(VECTORS.read_text())["cochran_armitage_table10_11"]
    for label in KINDS:
        for place, (right, n) in enumerate(zip(cells[label]["correct"], cells[label]["n"], strict=True)):
            if n:
                yield label, place, n, right


def expanded() -> tuple[list[dict[str, Any]], list[Given]]:
    """Rows of a manifest and of a file of verdicts that hold the published counts."""
    dialogues: list[dict[str, Any]] = []
    verdicts: list[Given] = []
    for label, place, n, right in bins():
        clips = -(-n // ON_ONE)
        names = [f"{label}-{place}-{number}" for number in range(clips)]
        dialogues += [
            {"id": name, "kind": KINDS[label], "language": "en", "duration": 20 + 5 * place + 2.5}
            for name in names
        ]
        true, false = ("human", "machine") if label == "H-H" else ("machine", "human")
        for at in range(n):
            rater = f"r{(at // clips + 41 * len(dialogues)) % PEOPLE:03}"
            verdicts.append(Given(names[at % clips], rater, true if at < right else false))
    return dialogues, verdicts


def write(path: Path, header: list[str], rows: list[Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as out:
        sheet = csv.writer(out)
        sheet.writerow(header)
        sheet.writerows(rows)
    return path


def told(name: str, *arguments: str) -> str:
    out = io.StringIO()
    call_command(name, *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def imported(db: None, tmp_path: Path) -> Study:
    dialogues, verdicts = expanded()
    manifest = write(
        tmp_path / "dialogues.csv", list(dialogues[0]), [list(row.values()) for row in dialogues]
    )
    file = write(tmp_path / "verdicts.csv", list(Given._fields), verdicts)
    assert f"{len(dialogues)} accepted, 0 accepted with a warning" in told("import_dialogues", str(manifest))
    said = told("import_verdicts", str(file), "--study", "published", "--create")
    assert "2791 accepted, 0 accepted with a warning, 0 unchanged, 0 refused." in said
    assert "2791 unchanged" in told("import_verdicts", str(file), "--study", "published")
    return Study.objects.get(slug="published")


def rows(printed: str, table: str) -> dict[str, dict[str, Any]]:
    found = next(one for one in json.loads(printed)["tables"] if one["table"] == table)
    return {row["kind"]: row for row in found["rows"] if row.get("language") in (None, "en")}


def test_published_figures_come_out_of_commands(imported: Study, tmp_path: Path) -> None:
    assert Verdict.objects.count() == 2791
    assert Participant.objects.count() <= PEOPLE
    assert not Dialogue.objects.playable().exists()

    printed = told("report", "accuracy", "--study", "published", "--format", "json")

    by_kind, trend = rows(printed, "by_kind"), rows(printed, "trend")
    for label, (right, n, accuracy, z, p) in PUBLISHED.items():
        assert by_kind[label]["n"] == n
        assert by_kind[label]["accuracy"] == pytest.approx(right / n)
        assert by_kind[label]["accuracy"] == pytest.approx(accuracy, abs=5e-5)
        assert trend[label]["n"] == n
        assert trend[label]["z"] == pytest.approx(z, abs=5e-5)
        assert trend[label]["p_z"] == pytest.approx(p, abs=5e-6)
    assert by_kind["all"]["n"] == 2791
    assert by_kind["all"]["accuracy"] == pytest.approx(2039 / 2791)

    export = tmp_path / "published.zip"
    export_study(study=imported, path=export)
    assert told("report", "accuracy", "--from", str(export), "--format", "json") == printed
