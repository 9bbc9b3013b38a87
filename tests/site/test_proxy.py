"""The proxy sends media itself: its answers carry nothing of the file but its bytes, and parts of it."""

from __future__ import annotations

import http.client
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from django.core import signing
from django.urls import reverse

from dialogues.models import Dialogue, Exposure
from dialogues.processing.files import write_play_file
from studies import access
from tests import factories
from tests.site.test_deployment import free_port, stop

ROOT = Path(__file__).resolve().parents[2]
CONFIG = (ROOT / "deploy/nginx.conf").read_text()
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
SIZES = (1000, 2222)
OLD, NEW = "Sat, 01 Jan 1994 00:00:00 GMT", "Fri, 01 Jan 2038 00:00:00 GMT"


def location(name: str) -> list[str]:
    """The directives of a location in the project's configuration, without comments."""
    found = re.search(rf"^\s*location {re.escape(name)} \{{\n(.*?)^\s*\}}", CONFIG, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    lines = (line.strip() for line in found[1].splitlines())
    return [line.removesuffix(";") for line in lines if line and not line.startswith("#")]


def test_protected_files_go_out_without_their_dates_and_tags() -> None:
    directives = location("/protected/")
    for needed in ("internal", "etag off", "if_modified_since off", 'add_header Last-Modified ""'):
        assert needed in directives
    others = " ".join(directives)
    assert "max_ranges" not in others  # parts of files are asked for: Safari plays nothing without
    assert "expires" not in others


def test_the_application_hands_over_to_that_location_and_folder() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    environment = compose["services"]["web"]["environment"]
    assert environment["MEDIA_X_ACCEL"] == "/protected/"
    [volume] = [v for v in compose["services"]["web"]["volumes"] if v.startswith("var:")]
    assert f"alias {volume.split(':')[1]}/media/" in location("/protected/")
    assert f"{volume}:ro" in compose["services"]["proxy"]["volumes"]


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Proxy:
    """nginx with the project's configuration before the running application, and one person's browser."""

    def __init__(self, port: int, cookie: str) -> None:
        self.port = port
        self.cookie = cookie

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers={"Cookie": self.cookie, **named})
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        answer = Answer(response.status, found, response.read())
        connection.close()
        return answer


def configured(folder: Path, port: int, application: str) -> Path:
    """The project's configuration with another port, application and folder; nothing else changes."""
    site = CONFIG
    for old, new in (
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("http://web:8000;", f"{application};"),
        ("http://live:8001;", f"{application};"),
        ("/var/lib/turingsite/media/", f"{folder}/media/"),
    ):
        assert site.count(old) == 1
        site = site.replace(old, new)
    paths = "".join(
        f"  {name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        "daemon off;\nmaster_process off;\n"
        f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{paths}{site}}}\n"
    )
    return main


@pytest.fixture
def exposures(transactional_db: None, settings: Any, tmp_path: Path) -> list[Exposure]:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_X_ACCEL = "/protected/"
    rater = factories.ParticipantFactory().rater
    given: list[Exposure] = []
    for size in SIZES:
        exposure: Exposure = factories.ExposureFactory(rater=rater)
        path = write_play_file(bytes(n % 251 for n in range(size)))
        Dialogue.objects.filter(pk=exposure.dialogue_id).update(play_path=path)
        given.append(exposure)
    return given


@pytest.fixture
def proxy(exposures: list[Exposure], live_server: Any, tmp_path: Path) -> Iterator[Proxy]:
    if NGINX is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    application = live_server.url.replace("localhost", "127.0.0.1")  # a name would be asked of the resolver
    process = subprocess.Popen(
        [NGINX, "-e", str(tmp_path / "error.log"), "-c", str(configured(tmp_path, port, application))]
    )
    participant = exposures[0].rater.participant
    assert participant is not None
    slug = participant.study.slug
    key = signing.dumps(participant.resume_code, salt=f"{access.SALT}.{slug}")
    proxy = Proxy(port, f"{access.cookie_name(slug)}={key}")
    for _ in range(100):
        try:
            proxy.get("/health/live")
            break
        except ConnectionError:
            assert process.poll() is None, (tmp_path / "error.log").read_text()
            time.sleep(0.1)
    yield proxy
    stop(process)


def test_media_through_the_proxy(proxy: Proxy, exposures: list[Exposure]) -> None:
    """One test, because starting the servers takes the time."""
    addresses = [reverse("dialogues:media", args=[exposure.token]) for exposure in exposures]
    for address, size in zip(addresses, SIZES, strict=True):
        sound = bytes(n % 251 for n in range(size))
        whole = proxy.get(address)
        assert (whole.status, whole.body) == (200, sound)
        assert whole.headers["content-type"] == "audio/mpeg"
        assert whole.headers["accept-ranges"] == "bytes"
        assert whole.headers["cache-control"] == "private, max-age=3600"
        head = proxy.get(address, "HEAD")
        assert (head.status, head.headers["content-length"], head.body) == (200, str(size), b"")
        for asked, first, last in (
            ("bytes=0-1", 0, 1),
            ("bytes=500-", 500, size - 1),
            ("bytes=-100", size - 100, size - 1),
        ):
            part = proxy.get(address, Range=asked)
            assert (part.status, part.body) == (206, sound[first : last + 1])
            assert part.headers["content-range"] == f"bytes {first}-{last}/{size}"
        beyond = proxy.get(address, Range="bytes=99999-")
        assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        for condition in (
            {"If-Modified-Since": OLD},
            {"If-Modified-Since": NEW},
            {"If-None-Match": '"386d4380-3e8"'},
            {"If-Range": NEW, "Range": "bytes=0-1"},
            {"If-Range": '"386d4380-3e8"', "Range": "bytes=0-1"},
        ):
            assert proxy.get(address, **condition).body == sound, condition
        for answer in (whole, head, part, beyond):
            assert not {"etag", "last-modified", "x-accel-redirect", "expires"} & set(answer.headers)
    for condition in ({"If-Unmodified-Since": OLD}, {"If-Unmodified-Since": NEW}, {"If-None-Match": "*"}):
        # A question about the file's date is answered alike for all: they carry the same one.
        assert len({proxy.get(address, **condition).status for address in addresses}) == 1
    path = Dialogue.objects.get(pk=exposures[0].dialogue_id).play_path
    assert proxy.get(f"/protected/{path}").status == 404
    proxy.cookie = ""
    assert proxy.get(addresses[0]).status == 404
