"""A browser as far as bots need one: cookies, redirects, forms, ranges, and answers it does not wait for."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http.cookiejar import CookieJar
from typing import Any

from studies.bots.forms import Form, read_forms

TIMEOUT = 30.0


@dataclass(frozen=True)
class Page:
    """An answer as received; ``url`` is where redirects led."""

    status: int
    url: str
    headers: Message
    body: bytes

    @property
    def path(self) -> str:
        return urllib.parse.urlsplit(self.url).path

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> dict[str, Any]:
        """The body as an object; empty where it is none."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def form(self, action: str, name: str = "") -> Form | None:
        """The first form whose action (query aside) ends like that, with a field ``name`` if given."""
        for form in read_forms(self.text):
            target = urllib.parse.urlsplit(urllib.parse.urljoin(self.url, form.action)).path
            if target.endswith(action) and (not name or name in form.names):
                return form
        return None

    def data(self, ident: str) -> dict[str, Any]:
        """The object in ``<script type="application/json" id=…>``; empty where there is none."""
        at = self.text.find(f'id="{ident}"')
        start, end = self.text.find(">", at) + 1, self.text.find("</script>", at)
        if at < 0 or end < start:
            return {}
        value = json.loads(self.text[start:end])
        return value if isinstance(value, dict) else {}


class Browser:
    """One person's browser. Several threads may use it at once, as several tabs would."""

    def __init__(self, base: str, *, language: str = "en") -> None:
        self.base = base.rstrip("/")
        self.cookies = CookieJar()
        self.language = language
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def get(self, url: str, *, wants_json: bool = False, bytes_range: str = "") -> Page:
        headers = {
            "Accept": "application/json" if wants_json else "text/html",
            "Accept-Language": self.language,
        }
        if bytes_range:
            headers["Range"] = f"bytes={bytes_range}"
        return self._open(urllib.request.Request(self._absolute(url), headers=headers))

    def post_json(self, url: str, data: Mapping[str, Any]) -> Page:
        return self._open(self._json_request(url, data))

    def submit(self, page: Page, form: Form, values: Mapping[str, str | list[str]], button: str = "") -> Page:
        """Send ``form`` of ``page`` with ``values`` in place of what it holds; ``button`` is "name=value"."""
        pairs = form.filled(values, button)
        target = urllib.parse.urljoin(page.url, form.action)
        encoded = urllib.parse.urlencode(pairs)
        headers = {"Accept": "text/html", "Accept-Language": self.language, "Referer": page.url}
        if form.method == "get":
            glue = "&" if "?" in target else "?"
            return self._open(urllib.request.Request(f"{target}{glue}{encoded}", headers=headers))
        return self._open(urllib.request.Request(target, data=encoded.encode(), headers=headers))

    def post_and_leave(self, url: str, data: Mapping[str, Any]) -> None:
        """Send and hang up before the answer comes: what is lost is the answer, not the request."""
        request = self._json_request(url, data)
        self.cookies.add_cookie_header(request)
        parts = urllib.parse.urlsplit(request.full_url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT)
        body = request.data if isinstance(request.data, bytes) else b""
        connection.request("POST", parts.path, body=body, headers=dict(request.header_items()))
        connection.close()

    def cookie(self, name: str) -> str:
        return next((cookie.value or "" for cookie in self.cookies if cookie.name == name), "")

    def _json_request(self, url: str, data: Mapping[str, Any]) -> urllib.request.Request:
        headers = {
            "Accept": "application/json",
            "Accept-Language": self.language,
            "Content-Type": "application/json",
            "X-CSRFToken": self.cookie("csrftoken"),
            "Referer": self.base + "/",
        }
        return urllib.request.Request(self._absolute(url), data=json.dumps(data).encode(), headers=headers)

    def _absolute(self, url: str) -> str:
        return urllib.parse.urljoin(self.base + "/", url)

    def _open(self, request: urllib.request.Request) -> Page:
        try:
            with self._opener.open(request, timeout=TIMEOUT) as answer:
                return Page(answer.status, answer.url, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return Page(error.code, error.url, error.headers, error.read())
