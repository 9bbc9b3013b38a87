"""Run the benchmarks, each in a process of its own, and say at the end which stayed within their bounds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {
    "run",
    "bare",
    "anchor",
    "anchor_settings",
    "many_verdicts",
    "room_anchor",
    "room_crowd",
    "room_settings",
    "servers",
}


def names() -> list[str]:
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_BENCHMARKS)


def main(chosen: list[str]) -> int:
    unknown = set(chosen) - set(names())
    if unknown:
        print(f"No benchmark {', '.join(sorted(unknown))}. There are: {', '.join(names())}.")
        return 2
    results: dict[str, tuple[bool, float]] = {}
    for name in chosen or names():
        print(f"== {name}", flush=True)
        start = time.monotonic()
        status = subprocess.run(
            [sys.executable, "-m", f"bench.{name}"], cwd=HERE.parent, check=False
        ).returncode
        results[name] = (status == 0, time.monotonic() - start)
    print("==")
    for name, (within, seconds) in results.items():
        print(f"{name:20} {'within its bound' if within else 'OUTSIDE its bound':20} {seconds:6.1f} s")
    return 0 if all(within for within, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
