"""What every place shares. Values that differ by place are set in embedded, production and test."""

from __future__ import annotations

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _

from turingsite import env, logs

from .api import API_RATES, REST_FRAMEWORK, SPECTACULAR_SETTINGS  # noqa: F401

BASE_DIR = env.BASE_DIR
VAR_DIR = env.path("VAR_DIR", BASE_DIR / "var")

INSTALLED_APPS = [
    "turingsite.apps.TuringsiteConfig",
    "turingsite.demo",
    "turingsite.api.apps.ApiConfig",
    "games.group",
    "games.room",
    "games.speech",
    "annotation",
    "dialogues",
    "studies",
    "turingsite.apps.DeskConfig",  # the admin, as the researcher's desk
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "csp",
    "axes",
]

MIDDLEWARE = [
    "turingsite.observing.ObservingMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "studies.language.LanguageParameterMiddleware",
    "django.middleware.common.CommonMiddleware",
    "turingsite.middleware.ReadableMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "turingsite.middleware.PolicyMiddleware",
    "turingsite.middleware.DomainErrorMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "turingsite.urls"
WSGI_APPLICATION = "turingsite.wsgi.application"
ASGI_APPLICATION = "turingsite.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_TEMPLATE = "errors/locked.html"
AXES_LOCKOUT_PARAMETERS = ["username"]  # addresses are not stored
SILENCED_SYSTEM_CHECKS = ["axes.W006"]  # addresses are not stored, so they cannot lock anybody out
AXES_DISABLE_ACCESS_LOG = True
AXES_CLIENT_IP_CALLABLE = "turingsite.middleware.no_client_address"

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = env.path("STATIC_ROOT", VAR_DIR / "static")
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# Originals and playing files. Nothing below is served by URL: playing files go through the exposure.
MEDIA_ROOT = VAR_DIR / "media"
MEDIA_X_ACCEL = env.text("MEDIA_X_ACCEL", "")  # internal nginx location, for example /protected/
EXPORT_ROOT = VAR_DIR / "exports"
EXPORT_AT_ONCE = env.number("EXPORT_AT_ONCE", 50_000)  # rows; larger exports are made by a worker
EXPORT_KEEP_DAYS = env.number("EXPORT_KEEP_DAYS", 14)
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
# The turns of a dialogue are one form: 5 fields a turn, 2000 turns, the few beside them, and one turn more so
# that the editor says what is wrong. What a request costs is bounded by its size above.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 10_050

CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "turingsite.views.csrf_failure"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
PARTICIPANT_COOKIE_DAYS = 180
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF, "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "manifest-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}

REDIS_URL = ""  # without Redis each server process reads from rows what others wrote, a second later at most

CELERY_BROKER_URL = "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TIMEZONE = "UTC"
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_ROUTES = {
    "dialogues.tasks.*": {"queue": "audio"},
    "studies.tasks.run_export": {"queue": "exports"},
}
CELERY_BEAT_SYNC_EVERY = 1  # its file is as fresh as its last task: the health check reads the date
CELERY_BEAT_SCHEDULE = {  # seconds; every sweep is idempotent and looks at rows alone
    "heartbeat": {"task": "turingsite.tasks.beat", "schedule": 30},
    "processing": {"task": "dialogues.tasks.sweep_processing", "schedule": 15},
    "play-files": {"task": "dialogues.tasks.tidy_play_files", "schedule": 3600},
    "imports": {"task": "dialogues.tasks.sweep_imports", "schedule": 10},
    "exports": {"task": "studies.tasks.sweep_exports", "schedule": 20},
    "audits": {"task": "dialogues.tasks.sweep_audits", "schedule": 15},
    "reviews": {"task": "annotation.tasks.sweep_reviews", "schedule": 3600},
    "batches": {"task": "annotation.tasks.sweep_leases", "schedule": 60},
    "rooms": {"task": "games.room.tasks.sweep_rooms", "schedule": 5},
    "lobbies": {"task": "games.group.tasks.sweep_lobbies", "schedule": 5},
    "group-games": {"task": "games.group.tasks.sweep_games", "schedule": 5},
}

PUBLIC_URL = env.text("PUBLIC_URL", "")

METRICS_TOKEN = env.text("METRICS_TOKEN", "")  # without it there is no /metrics
LOG_FORMAT = env.text("LOG_FORMAT", "text")  # text (key=value) or json
LOGGING = logs.configuration(as_json=LOG_FORMAT == "json")
