"""Peak memory of importing 1,500 dialogues beside that of importing 100: it must not grow with the manifest.

Clips of two seconds, so that the number of rows counts and not their length. Bound: 1.25.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import soundfile

from bench.servers import ROOT, run, workspace

FEW, MANY, BOUND = 100, 1_500, 1.25
SECONDS, RATE = 2, 16_000
COLUMNS = ("id", "kind", "language", "audio", "turns_a", "turns_b")


def write(directory: Path, count: int, *, seed: int) -> Path:
    """A manifest of ``count`` human dialogues and their clips, each with a sound of its own."""
    rng = np.random.default_rng(seed)
    directory.mkdir()
    for number in range(count):
        samples = 0.1 * rng.standard_normal(SECONDS * RATE)
        soundfile.write(directory / f"d{number}.wav", samples.astype(np.float32), RATE, subtype="PCM_16")
    manifest = directory / "manifest.csv"
    with manifest.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for number in range(count):
            name = f"b{seed}-{number}"
            table.writerow((name, "human_human", "en", f"d{number}.wav", "0-0.9", "1-1.9"))
    return manifest


def peak(environment: dict[str, str], manifest: Path, expected: int) -> int:
    """Peak resident kilobytes of the import command in a process of its own."""
    command = [sys.executable, "manage.py", "import_dialogues", str(manifest), "--no-processing"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read() if process.stdout else ""
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    taken = sum(line.startswith(("+", "!")) for line in output.splitlines())
    if process.returncode or taken != expected:
        raise RuntimeError(f"{taken} of {expected} rows were taken in:\n{output[-2000:]}")
    return int(usage.ru_maxrss)


def main() -> int:
    if sys.platform == "darwin":
        print("ru_maxrss is in bytes here; the ratio is the same.")
    with workspace("sqlite") as environment:
        run(environment, "manage.py", "migrate", "--verbosity", "0")
        folder = Path(environment["VAR_DIR"])
        few = peak(environment, write(folder / "few", FEW, seed=1), FEW)
        many = peak(environment, write(folder / "many", MANY, seed=2), MANY)
    print(f"importing {FEW:5,} dialogues    {few / 1024:7.1f} MB at most")
    told = f"ratio {many / few:.2f}  (≤ {BOUND:g})"
    print(f"importing {MANY:5,} dialogues    {many / 1024:7.1f} MB at most  {told}")
    return 0 if many / few <= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
