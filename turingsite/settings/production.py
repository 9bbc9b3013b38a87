"""Real deployment: every secret and address from the environment, none with a default."""

from __future__ import annotations

from turingsite import env

from .base import *  # noqa: F403

DEBUG = False
SECRET_KEY = env.secret("SECRET_KEY")
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
DATABASES = {"default": env.database()}
if DATABASES["default"]["ENGINE"].endswith("postgresql"):
    DATABASES["default"].setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": env.number("DATABASE_POOL_SIZE", 8),
    }
REDIS_URL = env.text("REDIS_URL")
CELERY_BROKER_URL = REDIS_URL
# Shared by all web processes: the brake on guessing codes counts across them.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
EMBEDDED_WORKER = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "turingsite.assets.AssetStorage"},
}
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = env.flag("SECURE_SSL_REDIRECT", default=True)
SECURE_REDIRECT_EXEMPT = [r"^health/", r"^metrics$"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("SECURE_COOKIES", default=True)
SECURE_HSTS_SECONDS = env.number("SECURE_HSTS_SECONDS", 31_536_000)
