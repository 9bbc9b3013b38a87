"""System checks name what is wrong and how to mend it; the right settings pass."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks

GOOD = {
    "DEBUG": False,
    "SECRET_KEY": "k3J9x-Qm2Zp7_Ws8Lr4Tv1Yb6Nc5Hd0GfAe",
    "REDIS_URL": "redis://redis:6379/0",
    "CELERY_BROKER_URL": "redis://redis:6379/0",
    "EMBEDDED_WORKER": False,
    "ALLOWED_HOSTS": ["study.example.org"],
    "CSRF_TRUSTED_ORIGINS": ["https://study.example.org"],
    "MEDIA_X_ACCEL": "/protected/",
    "PUBLIC_URL": "https://study.example.org",
    "METRICS_TOKEN": "0123456789abcdef0123",
    "DATABASES": {"default": {"ENGINE": "django.db.backends.postgresql"}},
}


@pytest.fixture(autouse=True)
def in_production(monkeypatch) -> None:
    monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "turingsite.settings.production")


def ids_under(settings, **changes: object) -> set[str | None]:
    for name, value in (GOOD | changes).items():
        setattr(settings, name, value)
    return {message.id for message in run_checks(tags=["turingsite"])}


def test_right_production_settings_pass(settings) -> None:
    assert ids_under(settings) == set()


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"MEDIA_ROOT": "/dev/null/media"}, "turingsite.E001"),
        ({"EXPORT_ROOT": "/dev/null/exports"}, "turingsite.E002"),
        ({"CELERY_BROKER_URL": "memory://localhost"}, "turingsite.E003"),
        ({"EMBEDDED_WORKER": True}, "turingsite.E004"),
        ({"MEDIA_X_ACCEL": "protected"}, "turingsite.E005"),
        ({"METRICS_TOKEN": "short"}, "turingsite.E006"),
        ({"LOG_FORMAT": "xml"}, "turingsite.E007"),
        ({"PUBLIC_URL": "study.example.org"}, "turingsite.E008"),
        ({"PUBLIC_URL": "ftp://study.example.org"}, "turingsite.E008"),
        ({"DEBUG": True}, "turingsite.E010"),
        ({"SECRET_KEY": "a" * 40}, "turingsite.E011"),
        ({"DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}}, "turingsite.W010"),
        ({"PUBLIC_URL": ""}, "turingsite.W012"),
        ({"REDIS_URL": "localhost"}, "turingsite.E012"),
        ({"ALLOWED_HOSTS": ["*"]}, "turingsite.E013"),
        ({"ALLOWED_HOSTS": []}, "turingsite.E013"),
        ({"CSRF_TRUSTED_ORIGINS": []}, "turingsite.E014"),
        ({"CSRF_TRUSTED_ORIGINS": ["study.example.org"]}, "turingsite.E014"),
        ({"CSRF_TRUSTED_ORIGINS": ["https://other.example.org"]}, "turingsite.W011"),
    ],
)
def test_wrong_combination_is_found(settings, changes: dict[str, object], found: str) -> None:
    assert ids_under(settings, **changes) == {found}


def test_every_finding_has_a_hint(settings) -> None:
    for name, value in (GOOD | {"DEBUG": True, "REDIS_URL": "", "ALLOWED_HOSTS": []}).items():
        setattr(settings, name, value)
    messages = run_checks(tags=["turingsite"])
    assert len(messages) == 3
    assert all(message.hint for message in messages)
