#!/usr/bin/env python
"""Command line entry. Commands write rows or run inline with progress; they never send tasks to a queue."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "turingsite.settings.embedded")
    from django.core.management import execute_from_command_line

    import turingsite.celery  # noqa: F401  (shared tasks bind to this app)

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
