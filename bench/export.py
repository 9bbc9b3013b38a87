"""The export of a million verdicts beside the database's own programs on the same query.

Judged is the table of verdicts as an export writes it (cells, lines, SHA-256, compression; a file of a zip):
on PostgreSQL beside psql (its copy to a file; bound 1.5), on SQLite beside its command line (bound 2.2). Runs
take turns; the shortest of ours is judged beside the shortest of theirs, for other work on the machine only
makes one longer. Peak memory over the start is that of ``export_study``, all tables and companions included:
at most 100 MB. Its whole time is shown.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.servers import ROOT, run, workspace

VERDICTS = int(os.environ.get("BENCH_VERDICTS", "1000000"))
PAIRS = int(os.environ.get("BENCH_PAIRS", "4"))
BOUNDS = {"postgresql": 1.5, "sqlite": 2.2}
MEMORY = 100.0  # MB


def main() -> int:
    good = True
    for kind in BOUNDS:
        if kind == "sqlite" and shutil.which("sqlite3") is None:
            print("sqlite        left out: there is no program sqlite3 (apt-get install sqlite3)")
            continue
        with workspace(kind) as environment:
            run(environment, "manage.py", "migrate", "--verbosity", "0")
            run(environment, "-m", "bench.many_verdicts", str(VERDICTS))
            good &= _one("table", environment)
            good &= _one("memory", environment)
    return 0 if good else 1


def _one(what: str, environment: dict[str, str]) -> bool:
    command = [sys.executable, "-m", "bench.export", what]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def table() -> bool:
    """The table alone, in turn with the other program."""
    from django.db import connection

    from bench.many_verdicts import SLUG
    from studies import export_files, exports
    from studies.models import Study
    from studies.registry import datasets

    study, dataset = Study.objects.get(slug=SLUG), datasets.get("verdicts")
    columns = exports.shown_columns(dataset, "controlled")
    source = exports._Source(study, dataset, columns, None, "", exports._told_nobody)
    wanted = exports._Wanted("controlled", ("csv",), bom=False, language="")
    times, rows = [], 0
    with tempfile.TemporaryDirectory() as folder:
        other, statement = _program(connection, source, Path(folder))
        for _pair in range(PAIRS):
            begin = time.perf_counter()
            subprocess.run(other, check=True, stdout=subprocess.DEVNULL, input=statement, text=True)
            theirs = time.perf_counter() - begin
            begin = time.perf_counter()
            with export_files.snapshot(), exports.zipped(Path(folder) / "ours.zip") as archive:
                rows = exports._write_table(archive, source, wanted).rows
            ours = time.perf_counter() - begin
            times.append((ours, theirs))
            print(
                f"{connection.vendor:13} {ours:6.1f} s beside {theirs:6.1f} s  {ours / theirs:.2f}",
                flush=True,
            )
    bound = BOUNDS[connection.vendor]
    ratio = min(ours for ours, _theirs in times) / min(theirs for _ours, theirs in times)
    print(f"{connection.vendor:13} {rows:,} verdicts: ratio {ratio:.2f}  (≤ {bound:g})", flush=True)
    return rows == VERDICTS and ratio <= bound


def _program(connection: Any, source: Any, folder: Path) -> tuple[list[str], str]:
    """psql or sqlite3 writing the same query to a file: its command, and what it reads."""
    from studies.copying import statement

    sql, params = statement(source.query(), source.columns)
    target = folder / "theirs.csv"
    if connection.vendor == "postgresql":
        settings = connection.settings_dict
        address = (
            f"postgresql://{settings['USER']}:{settings['PASSWORD']}@{settings['HOST']}:{settings['PORT']}"
        )
        return ["psql", f"{address}/{settings['NAME']}"], f"\\copy ({sql}) TO '{target}' CSV\n"
    for value in params:
        sql = sql.replace("%s", "'" + value + "'" if isinstance(value, str) else str(value), 1)
    return ["sqlite3", "-csv", str(connection.settings_dict["NAME"])], f".output {target}\n{sql};\n"


def memory() -> bool:
    """The whole export: its peak beyond what the process has when it begins."""
    from bench.many_verdicts import SLUG
    from studies import exports
    from studies.models import Study

    study = Study.objects.get(slug=SLUG)
    exports.rows_to_read(study, "controlled", ("csv",))
    unit = 1024 if sys.platform == "darwin" else 1
    with tempfile.TemporaryDirectory() as folder:
        start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        exports.export_study(study=study, path=Path(folder) / "whole.zip")
        seconds = time.perf_counter() - begin
        size = (Path(folder) / "whole.zip").stat().st_size / 1e6
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start) / 1024 / unit
    print(f"whole export  {seconds:6.1f} s, {size:.0f} MB; memory over start {grown:.0f} MB  (≤ {MEMORY:g})")
    return grown <= MEMORY


if __name__ == "__main__":
    if sys.argv[1:]:
        import django

        django.setup()
        sys.exit(0 if {"table": table, "memory": memory}[sys.argv[1]]() else 1)
    sys.exit(main())
