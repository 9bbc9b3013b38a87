"""ASGI entry: everything in one process where embedded, only live sockets in production."""

from __future__ import annotations

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.embedded")

from django.core.asgi import get_asgi_application

django_application = get_asgi_application()

from channels.routing import ProtocolTypeRouter

from games.room.keeping import keeping
from games.room.routing import sockets
from turingsite.agents import agents
from turingsite.worker import with_worker

application = with_worker(
    ProtocolTypeRouter({"http": django_application, "websocket": sockets}), beside=[keeping, agents]
)
