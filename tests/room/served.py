"""The site's ASGI application with the rules of ``tests.room.live``, for server processes of tests."""

from __future__ import annotations

from turingsite.asgi import application

__all__ = ["application"]

__import__("tests.room.live")  # adds the rules; only now, with Django set up
