"""The site as the world reaches it: proxy, hosts and origins, parts of sounds, return links."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host
from django.test import RequestFactory
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from studies.models import Completion, Study
from turingsite.doctor import probe
from turingsite.doctor.asking import Answer, ask, ask_all
from turingsite.doctor.findings import Finding, error, note, ok, warning
from turingsite.observing import HEADER

LINKS = 40  # return links that are asked at most
BROKEN_GATEWAY = (502, 503, 504)


def origins(address: str) -> Iterator[Finding]:
    """Whether forms sent from the public address are taken: hosts and origins name it."""
    if not address:
        return
    parts = urlsplit(address)
    host = parts.hostname or ""
    origin = f"{parts.scheme}://{parts.netloc}"
    if not validate_host(host, settings.ALLOWED_HOSTS):
        yield error(
            "hosts",
            _("ALLOWED_HOSTS does not name %(host)s: every page answers 400."),
            _("Add it: ALLOWED_HOSTS=%(host)s"),
            host=host,
        )
    elif parts.scheme == "https" and origin not in settings.CSRF_TRUSTED_ORIGINS:
        yield warning(
            "origins",
            _("CSRF_TRUSTED_ORIGINS does not name %(origin)s: forms may be refused behind a proxy."),
            _("Add it: CSRF_TRUSTED_ORIGINS=%(origin)s"),
            origin=origin,
        )
    else:
        yield ok("origins", _("Hosts and origins name the public address."))


def proxy(address: str) -> Iterator[Finding]:
    """Whether the public address leads here, with the host and the scheme that people use."""
    if not address:
        yield note(
            "proxy",
            _("The public address is not known, so nothing was asked from outside."),
            _("Set PUBLIC_URL, or give doctor the address: --url https://study.example.org"),
        )
        return
    alive = ask(f"{address}{reverse('health_live')}")
    trouble = _unreached(address, alive)
    if trouble is not None:
        yield trouble
        return
    page = ask(f"{address}/")
    if page.status in (301, 302, 307, 308) and page.header("Location").rstrip("/") == address:
        yield error(
            "proxy",
            _("The proxy does not say that people come by https, so every page leads to itself."),
            _("Let it set the header X-Forwarded-Proto to https, also where TLS ends before it."),
        )
    elif page.status == 200:
        yield ok("proxy", _("%(address)s leads here, and keeps host and scheme."), address=address)
    else:
        yield warning(
            "proxy", _("The front page at %(address)s answers %(n)s."), address=address, n=page.status
        )


def live(address: str) -> Iterator[Finding]:
    """Whether the proxy reaches the service of what stays open."""
    if not address or settings.EMBEDDED_WORKER:
        return
    answer = ask(f"{address}/live/")
    if answer.status in BROKEN_GATEWAY:
        yield error(
            "live",
            _("The proxy does not reach the live service (it answers %(n)s)."),
            _("Start uvicorn turingsite.asgi, or mend the location /live/ of the proxy."),
            n=answer.status,
        )
    elif answer.status and answer.header(HEADER):
        yield ok("live", _("The live service answers."))


def _unreached(address: str, answer: Answer) -> Finding | None:
    given = {"address": address, "n": answer.status}
    if not answer.status:
        return warning(
            "proxy",
            _("%(address)s was not reached from here (%(trouble)s)."),
            _("Open it in a browser. Some networks do not let a machine reach its own public address."),
            address=address,
            trouble=answer.trouble,
        )
    if answer.status in BROKEN_GATEWAY:
        return error(
            "proxy",
            _("The proxy at %(address)s does not reach the web process (it answers %(n)s)."),
            _("See whether the web process runs, and under which name the proxy asks for it."),
            **given,
        )
    if answer.status == 400:
        return error(
            "proxy",
            _("%(address)s answers 400: the proxy passes on another host, or ALLOWED_HOSTS lacks it."),
            _("Let the proxy pass on the header Host as it came, and name the host in ALLOWED_HOSTS."),
            **given,
        )
    if answer.status != 200 or not answer.header(HEADER):
        return error(
            "proxy",
            _("Something else than this site answers at %(address)s (%(n)s)."),
            _("Mend PUBLIC_URL or the proxy."),
            **given,
        )
    return None


def ranges(address: str) -> Iterator[Finding]:
    """Whether parts of a sound can be had: Safari plays nothing without. Asks for a file made for it."""
    folder = Path(settings.MEDIA_ROOT) / probe.FOLDER
    name = secrets.token_hex(16)
    content = secrets.token_bytes(probe.SIZE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    except OSError as problem:
        yield error(
            "media",
            _("No file can be written to the media directory (%(what)s)."),
            _("Give the user of this process write access, or set VAR_DIR."),
            what=type(problem).__name__,
        )
        return
    try:
        path = reverse("health_range", args=[probe.token(name)])
        if address:
            answer = ask(f"{address}{path}", headers={"Range": "bytes=1-4"})
        elif settings.MEDIA_X_ACCEL:
            yield note("media", _("The proxy sends the sounds. It was not asked: its address is not known."))
            return
        else:
            answer = _asked_here(path, name)
    finally:
        (folder / name).unlink(missing_ok=True)
    if not answer.status:
        yield warning("media", _("Whether parts of a sound can be had was not found out: no answer."))
    elif answer.status == 206 and answer.body == content[1:5]:
        yield ok("media", _("Parts of a sound can be had (206), as every browser asks for them."))
    else:
        yield error(
            "media",
            _("Parts of a sound cannot be had (the answer is %(n)s, not 206): Safari plays nothing."),
            _("Let the proxy pass on the header Range; with MEDIA_X_ACCEL, let it see the media directory."),
            n=answer.status,
        )


def _asked_here(path: str, name: str) -> Answer:
    response = probe.part(RequestFactory().get(path, headers={"range": "bytes=1-4"}), probe.token(name))
    return Answer(response.status_code, dict(response.headers), response.content)


def return_links() -> list[tuple[str, str]]:
    """Study and return link, of every study that takes people now."""
    rows = Completion.objects.filter(study__status__in=Study.JOINABLE).exclude(link="")
    return list(rows.order_by("study", "end_state").values_list("study__slug", "link")[:LINKS])


def completions() -> Iterator[Finding]:
    """Whether return links lead anywhere: people are paid by them."""
    links = return_links()
    answers = ask_all((_with_ids(link) for _slug, link in links), method="HEAD")
    troubles = 0
    for slug, link in links:
        answer = answers[_with_ids(link)]
        if answer.status == 405 or 200 <= answer.status < 400:
            continue
        troubles += 1
        host = urlsplit(link).hostname or ""
        yield warning(
            "completion",
            _("Study %(study)s: the return link to %(host)s answers %(n)s.")
            if answer.status
            else _("Study %(study)s: the return link to %(host)s was not reached (%(trouble)s)."),
            _("Open it in a browser, and mend it in the study's settings: people are paid by it."),
            study=slug,
            host=host,
            n=answer.status,
            trouble=answer.trouble,
        )
    if links and not troubles:
        yield ok("completion", _("%(n)s return links answer."), n=len(links))


def _with_ids(link: str) -> str:
    """The link with an id of nobody in the places for recruiters' ids."""
    while "{" in link and "}" in link[link.index("{") :]:
        start = link.index("{")
        link = link[:start] + "doctor" + link[link.index("}", start) + 1 :]
    return link
