"""Settings, and what they point to on this machine: disk, secret, static files, texts, fonts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.checks import ERROR, run_checks
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from studies.figures.drawing import draws_chinese
from turingsite.checks import PRODUCTION
from turingsite.doctor.findings import Finding, error, note, ok, warning

GIGABYTE = 1_000_000_000
FULL, TIGHT = GIGABYTE, 5 * GIGABYTE  # bytes free
# Decisions for a whole domain, which is seldom the study's own to make.
NOT_OURS = {"security.W005", "security.W021"}
NEEDED = "css/site.css"  # a static file every page has
KNOWN = ("Leaderboard", "zh-hans")  # a text that is surely translated


def in_production() -> bool:
    return os.environ.get("DJANGO_SETTINGS_MODULE", "") == PRODUCTION


def checks() -> Iterator[Finding]:
    """The system checks, with what Django says of a deployment where this is one."""
    found = [
        message
        for message in run_checks(include_deployment_checks=in_production())
        if not message.is_silenced() and message.id not in NOT_OURS
    ]
    for message in found:
        make = error if message.level >= ERROR else warning
        yield make(message.id or "checks", message.msg, message.hint or "")
    if not found:
        yield ok("checks", _("The system checks find nothing."))


def secret() -> Iterator[Finding]:
    """Whether others can read the key that was made here; how long it is, the system checks say."""
    file = Path(settings.VAR_DIR) / "secret_key"
    if in_production() or not file.exists():
        return
    if file.stat().st_mode & 0o077:
        yield error(
            "secret",
            _("Other users of this machine can read the secret key."),
            _("Run chmod 600 %(file)s."),
            file=file,
        )
    else:
        yield ok("secret", _("The secret key is nobody else's to read."))


def disk() -> Iterator[Finding]:
    """Space where originals, playing files and exports go."""
    folder = Path(settings.VAR_DIR)
    while not folder.exists():
        folder = folder.parent
    usage = shutil.disk_usage(folder)
    given = {"free": f"{usage.free / GIGABYTE:.1f}", "of": f"{usage.total / GIGABYTE:.0f}"}
    says = _("%(free)s GB of %(of)s GB are free.")
    do = _("Make room, or put VAR_DIR on a larger disk: imports and exports stop when it is full.")
    if usage.free < FULL:
        yield error("disk", says, do, **given)
    elif usage.free < TIGHT:
        yield warning("disk", says, do, **given)
    else:
        yield ok("disk", says, **given)


def static() -> Iterator[Finding]:
    """Styles and scripts, under the names that pages ask for."""
    try:
        address = staticfiles_storage.url(NEEDED)
    except ValueError:
        yield error(
            "static", _("Static files are not collected: pages fail."), _("Run manage.py collectstatic.")
        )
        return
    name = address.removeprefix(settings.STATIC_URL)
    if in_production() and not (Path(settings.STATIC_ROOT) / name).is_file():
        yield error(
            "static",
            _("Static files are not where they are served from: pages have no style."),
            _("Run manage.py collectstatic, with the same STATIC_ROOT as the web process."),
        )
        return
    yield ok("static", _("Static files are there."))


def texts() -> Iterator[Finding]:
    """Compiled translations: without them Chinese pages are English."""
    known, language = KNOWN
    with translation.override(language):
        translated = translation.gettext(known) != known
    if translated:
        yield ok("texts", _("Both languages are there."))
    else:
        yield error(
            "texts",
            _("The Chinese texts are not compiled: Chinese pages are in English."),
            _("Run pybabel compile --directory locale --domain django."),
        )


def fonts() -> Iterator[Finding]:
    """A font with Chinese, for figures as PNG; as SVG they need none."""
    if draws_chinese():
        yield ok("fonts", _("Figures can be drawn as PNG in both languages."))
    else:
        yield note(
            "fonts",
            _("No font with Chinese characters was found: figures with Chinese words come as SVG only."),
            _("Install one where the site runs (Debian: fonts-noto-cjk)."),
        )
