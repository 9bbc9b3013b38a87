"""Who sends a request: a token in the Authorization header, or the desk's own login."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from turingsite.api import token_text
from turingsite.api.models import ApiToken
from turingsite.api.services import note_use
from turingsite.api.throttling import WrongTokenThrottle

NO_TOKEN = "0" * 64  # compared with where there is no such token, so that both take as long


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer tts_…``; nowhere else is a token looked for, least of all in the address."""

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        scheme, _space, rest = get_authorization_header(request).partition(b" ")
        if scheme.lower() != b"bearer":
            return None
        text = rest.strip().decode("latin-1")
        prefix = token_text.prefix_in(text)
        token = ApiToken.objects.select_related("owner").filter(prefix=prefix or "").first()
        if not token_text.same(text, token.sha256 if token else NO_TOKEN) or token is None:
            WrongTokenThrottle().brake(prefix or "")
            raise AuthenticationFailed(_("This token is not known here."), "bad_token")
        now = timezone.now()
        if token.revoked_at is not None:
            raise AuthenticationFailed(_("This token was revoked."), "token_revoked")
        if token.expires_at <= now:
            raise AuthenticationFailed(_("This token has expired. Make a new one."), "token_expired")
        if not token.owner.is_active or not token.owner.is_staff:
            raise AuthenticationFailed(_("The owner of this token has no account any more."), "token_revoked")
        note_use(token=token, today=now.date())
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="api"'


class DeskSession(SessionAuthentication):
    """The desk's login, so that addresses can be opened in a browser; writing needs the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Any, Any] | None:
        found = super().authenticate(request)
        return found if found is not None and found[0].is_staff else None


class OnDesk(BasePermission):
    """Somebody with an account for the desk; which studies are theirs is asked by the selectors."""

    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user and request.user.is_authenticated and request.user.is_staff)
