"""One process, SQLite, in-process broker, no key, no server: the default for a demo or a single laptop."""

from __future__ import annotations

from turingsite import env

from .base import *  # noqa: F403
from .base import STATIC_ROOT, VAR_DIR
from .local_secret import local_secret

STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # and VAR_DIR; static files are served from their sources

DEBUG = env.flag("DEBUG", default=False)
SECRET_KEY = local_secret(VAR_DIR / "secret_key")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", ["*"])
DATABASES = {"default": env.database(f"sqlite:///{VAR_DIR / 'turingsite.sqlite3'}")}
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
EMBEDDED_WORKER = True
CELERY_BROKER_URL = "memory://localhost"
CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.05}
