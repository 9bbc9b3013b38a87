"""Anchors of the live room's benchmark, a Django project with no middleware: Channels' ``group_send``, and a
plain dictionary of sockets. Both store each message by one insert.

``/ws/group/<room>/`` and ``/ws/plain/<room>/``. ``python -m bench.room_anchor`` makes the table.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.db import connection, models
from django.urls import path

from turingsite.settings import production

if not settings.configured:
    settings.configure(
        SECRET_KEY=production.SECRET_KEY,
        ALLOWED_HOSTS=production.ALLOWED_HOSTS,
        DATABASES=production.DATABASES,
        ROOT_URLCONF="bench.room_anchor",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
        CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
    )
    django.setup(set_prefix=False)

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from channels.routing import ProtocolTypeRouter, URLRouter


class Message(models.Model):
    room = models.CharField(max_length=20, db_index=True)
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.text


def stored(room: str, text: str) -> dict[str, Any]:
    """The frame of a message that was stored."""
    message = Message._default_manager.create(room=room, text=text)
    return {"type": "event", "seq": message.pk, "at": message.at.isoformat(), "text": message.text}


class GroupConsumer(AsyncJsonWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    async def connect(self) -> None:
        self.room = self.scope["url_route"]["kwargs"]["room"]
        await self.channel_layer.group_add(self.room, self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(self.room, self.channel_name)

    async def receive_json(self, content: dict[str, Any]) -> None:
        frame = await database_sync_to_async(stored)(self.room, content["text"])  # as its manual says
        await self.channel_layer.group_send(self.room, {"type": "room.message", "frame": frame})

    async def room_message(self, event: dict[str, Any]) -> None:
        await self.send_json(event["frame"])


rooms: defaultdict[str, set[Any]] = defaultdict(set)


async def plain(scope: dict[str, Any], receive: Any, send: Any) -> None:
    room = scope["url_route"]["kwargs"]["room"]
    await receive()
    await send({"type": "websocket.accept"})
    rooms[room].add(send)
    try:
        while (message := await receive())["type"] == "websocket.receive":
            frame = await sync_to_async(stored)(room, json.loads(message["text"])["text"])
            text = json.dumps(frame)
            for one in list(rooms[room]):
                await one({"type": "websocket.send", "text": text})
    finally:
        rooms[room].discard(send)


_routes: list[tuple[str, Any]] = [
    ("ws/group/<str:room>/", GroupConsumer.as_asgi()),
    ("ws/plain/<str:room>/", plain),
]
application = ProtocolTypeRouter(
    {"http": get_asgi_application(), "websocket": URLRouter([path(*route) for route in _routes])}
)
urlpatterns: list[Any] = []


if __name__ == "__main__":
    with connection.schema_editor() as editor:
        editor.create_model(Message)
