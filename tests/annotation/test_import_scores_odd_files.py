"""Files of scores that are broken, endless or made to do harm: one sentence each, in bounded memory."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Score
from studies.models import Study
from tests.annotation.test_import_scores import corpus, study  # noqa: F401  (fixtures)

pytestmark = pytest.mark.django_db
HEAD = "dialogue,rater,dimension,score,layer"
TABLE = "tables/scores.csv"


def told(path: Path, *options: str) -> str:
    """What the command says, where it refuses the file, and where it refuses all rows."""
    out = io.StringIO()
    try:
        call_command("import_scores", str(path), "--study", "labelled", *options, stdout=out, no_color=True)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


def both(path: Path) -> str:
    """What it says, the same in a dry run, nothing written."""
    said = told(path)
    assert told(path, "--dry-run").splitlines()[:2] == said.splitlines()[:2]
    assert not Score.objects.exists()
    return said


def zipped(path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(TABLE, content)
    return bytearray(path.read_bytes())


@pytest.mark.parametrize("score", ["9" * 400, "-" + "9" * 400, "9" * 5000])
@pytest.mark.parametrize("column", ["score", "first_score"])
def test_a_score_of_very_many_digits_is_outside(
    study: Study,  # noqa: F811
    tmp_path: Path,
    score: str,
    column: str,
) -> None:
    path = tmp_path / "a.csv"
    cells = (score, "") if column == "score" else ("4", score)
    path.write_text(f"{HEAD},first_score\nd1,ann,rhythm,{cells[0]},raw,{cells[1]}\n")
    assert "is outside 1 to 5" in both(path)


@pytest.mark.parametrize(
    "at", ["0001-01-01T00:00:00+23:59", "0001-01-01", "1969-12-31T23:00:00Z", "0001-01-01T00:00:00+00:00"]
)
def test_a_time_that_no_database_tells_is_refused(study: Study, tmp_path: Path, at: str) -> None:  # noqa: F811
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD},given_at\nd1,ann,rhythm,4,raw,{at}\n")
    assert "is no time" in both(path)


@pytest.mark.parametrize(
    "header",
    [
        "x" * 1_000_000,
        '"' + "x" * 1_000_000 + '"',
        ",".join(f"c{n}" for n in range(100_000)),
        f"{HEAD}" + ",x" * 1000,
    ],
)
def test_an_endless_header_is_refused_at_once(study: Study, tmp_path: Path, header: str) -> None:  # noqa: F811
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\nd1,ann,rhythm,4,raw\n")
    assert "names more than 1000 columns" in both(path)


def test_a_line_of_endless_keys_is_refused(study: Study, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "a.jsonl"
    path.write_text("{" + ",".join(f'"c{n}": 1' for n in range(100_000)) + "}\n")
    assert "more than 1000 keys" in both(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_broken_stream_in_a_zip_is_said(study: Study, tmp_path: Path, method: int) -> None:  # noqa: F811
    path = tmp_path / "a.zip"
    data = zipped(path, f"{HEAD}\n".encode() * 500, method)
    at = 30 + len(TABLE) + 12
    data[at : at + 20] = b"\xff" * 20
    path.write_bytes(data)
    assert "The zip is damaged" in both(path)


def test_a_zip_that_lies_of_its_size_or_has_a_password_is_said(study: Study, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "a.zip"
    data = zipped(path, f"{HEAD}\nd1,ann,rhythm,4,raw\n".encode(), zipfile.ZIP_STORED)
    central = data.index(b"PK\x01\x02")
    lying = data.copy()
    lying[central + 20 : central + 28] = (5_000_000).to_bytes(4, "little") * 2
    path.write_bytes(lying)
    assert "The zip is damaged" in both(path)
    locked = data.copy()
    locked[6] |= 1
    locked[central + 8] |= 1
    path.write_bytes(locked)
    assert "locked with a password" in both(path)


@pytest.mark.parametrize("megabytes", [40, 400])
def test_a_table_that_unpacks_to_far_too_much_is_not_read_whole(
    study: Study,  # noqa: F811
    tmp_path: Path,
    megabytes: int,
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(TABLE, "w") as table:
        for _ in range(megabytes):
            table.write(b"x" * 1_000_000)
    tracemalloc.start()
    assert "unpacks to far more than a table would" in told(path, "--dry-run")
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()
