"""The content security policy stands on every answer, whoever made it, and an answer may have its own."""

from __future__ import annotations

from typing import Any

import pytest
from csp.decorators import csp_exempt, csp_update
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from turingsite.middleware import PolicyMiddleware

HEADER = "Content-Security-Policy"


@pytest.mark.parametrize("path", ["/health/live", "/desk/login/", "/no/such/page", "/api/v1/studies/"])
def test_every_answer_has_the_policy_of_the_site(db: None, client: Client, path: str) -> None:
    policy = client.get(path)[HEADER]
    assert policy == build_policy()
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_answer_may_have_a_policy_of_its_own(rf: RequestFactory) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse()

    def asked(made: Any) -> Any:
        return PolicyMiddleware(made)(rf.get("/"))

    assert "https://example.org" in asked(csp_update({"img-src": "https://example.org"})(view))[HEADER]
    assert HEADER not in asked(csp_exempt()(view))
    assert asked(view)[HEADER] == build_policy()
