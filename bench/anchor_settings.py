"""Production settings with one more address: a clip served by Django's FileResponse."""

from __future__ import annotations

from turingsite.settings.production import *  # noqa: F403

ROOT_URLCONF = "bench.anchor"
