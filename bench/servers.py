"""What the benchmarks of requests share: production servers, their processor time, plain clients."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil
import psycopg

from tests.servers_plugin import Servers

ROOT = Path(__file__).resolve().parents[1]
HOST = "bench.example.org"


class Site:
    """A gunicorn with the project's own configuration."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.process = process
        self.port = port

    def processor_seconds(self) -> float:
        """User and system time of the server and its workers so far."""
        parent = psutil.Process(self.process.pid)
        return sum(_processor_seconds(one) for one in [parent, *parent.children(recursive=True)])

    def client(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)


def _processor_seconds(process: psutil.Process) -> float:
    """Of one process so far. Linux keeps a clock for each that is finer than the hundredths psutil reads."""
    if not sys.platform.startswith("linux"):
        return float(sum(process.cpu_times()[:2]))
    return time.clock_gettime(~process.pid << 3 | 2)  # as clock_getcpuclockid(3) makes it


@contextlib.contextmanager
def workspace(kind: str) -> Iterator[dict[str, str]]:
    """Environment of production processes on a fresh database of ``kind`` and Redis; gone afterwards."""
    servers = Servers()
    directory = Path(tempfile.mkdtemp(prefix="turingsite-bench-"))
    try:
        redis = os.environ.get("REDIS_URL") or servers.valkey()
        if kind == "sqlite":
            database = f"sqlite:///{directory / 'bench.sqlite3'}"
        else:
            server = os.environ.get("DATABASE_URL") or servers.postgres()
            database = _fresh_database(server, directory.name.replace("-", "_"))
        yield {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "turingsite.settings.production",
            "SECRET_KEY": "k3J9x-Qm2Zp7_Ws8Lr4Tv1Yb6Nc5Hd0GfAe",
            "ALLOWED_HOSTS": HOST,
            "CSRF_TRUSTED_ORIGINS": f"https://{HOST}",
            "SECURE_SSL_REDIRECT": "false",
            "SECURE_COOKIES": "false",
            "DATABASE_URL": database,
            "REDIS_URL": redis,
            "VAR_DIR": str(directory),
        }
        if kind != "sqlite" and os.environ.get("DATABASE_URL"):
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f'DROP DATABASE "{database.rsplit("/", 1)[1]}" WITH (FORCE)'.encode())
    finally:
        servers.stop()
        shutil.rmtree(directory, ignore_errors=True)


def _fresh_database(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return f"{server.rsplit('/', 1)[0]}/{name}"


def run(environment: Mapping[str, str], *words: str) -> str:
    """Output of a Python command in ``environment``; CalledProcessError where it fails."""
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


@contextlib.contextmanager
def gunicorn(
    environment: Mapping[str, str], application: str, *, workers: int = 1, threads: int = 8
) -> Iterator[Site]:
    """``application`` under the project's gunicorn configuration, ready to be asked."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    own = {"BIND": f"127.0.0.1:{port}", "WEB_WORKERS": str(workers), "WEB_THREADS": str(threads)}
    command = [
        str(Path(sys.executable).with_name("gunicorn")),
        application,
        "--config",
        "deploy/gunicorn.conf.py",
    ]
    process = subprocess.Popen([*command, "--log-level", "error"], cwd=ROOT, env={**environment, **own})
    try:
        end = time.monotonic() + 60
        while not _accepts(port):
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{application} did not start")
            time.sleep(0.1)
        yield Site(process, port)
    finally:
        process.terminate()
        process.wait(30)


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def is_within(pairs: Sequence[tuple[float, float]], *, each: int, bound: float, what: str) -> bool:
    """Print what a request costs beside the bare view's; whether the median ratio of the pairs is in bounds.

    ``pairs``: processor seconds of ``each`` requests to the bare view and to ours, in one run; the first pair
    warms up and is left out.
    """
    pairs = pairs[1:]
    bare, whole = (sum(times) / len(pairs) / each * 1000 for times in zip(*pairs, strict=True))
    ratio = statistics.median(ours / anchor for anchor, ours in pairs)
    print(f"{'bare view, one read and one insert':<36} {bare:6.2f} ms of processor time")
    print(f"{what + ', whole request':<36} {whole:6.2f} ms  ratio {ratio:.2f}  (≤ {bound:g})")
    return ratio <= bound
