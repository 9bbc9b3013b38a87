"""Tests: real PostgreSQL and Redis from DATABASE_URL and REDIS_URL (the plugin starts them if unset)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from turingsite import env

from .base import *  # noqa: F403

DEBUG = False
SECRET_KEY = "for tests only, never for a running site"  # noqa: S105
ALLOWED_HOSTS = ["*"]
DATABASES = {"default": env.database(f"sqlite:///{Path(tempfile.gettempdir()) / 'turingsite-test.sqlite3'}")}
REDIS_URL = env.text("REDIS_URL", "")
VAR_DIR = env.path("TEST_VAR_DIR", Path(tempfile.gettempdir()) / f"turingsite-test-{os.getpid()}")
MEDIA_ROOT = VAR_DIR / "media"
EXPORT_ROOT = VAR_DIR / "exports"
STATIC_ROOT = VAR_DIR / "static"
WHITENOISE_USE_FINDERS = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMBEDDED_WORKER = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, not memory: several connections have to contend as they do in a running site.
    DATABASES["default"]["TEST"] = {"NAME": f"{DATABASES['default']['NAME']}-test"}
