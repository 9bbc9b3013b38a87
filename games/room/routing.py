"""Addresses of sockets, for Channels' router."""

from __future__ import annotations

from typing import Any

from channels.routing import URLRouter
from django.urls import path, re_path

from games.room.consumers import Receive, Scope, Send, room_socket


async def nothing_there(scope: Scope, receive: Receive, send: Send) -> None:
    """Refuses every other socket (403)."""
    await receive()
    await send({"type": "websocket.close"})


# Applications stand where Django's types want views.
_routes: list[tuple[str, Any]] = [("ws/s/<slug:slug>/room/", room_socket)]
_otherwise: Any = nothing_there

sockets = URLRouter(
    [*(path(address, application) for address, application in _routes), re_path("", _otherwise)]
)
