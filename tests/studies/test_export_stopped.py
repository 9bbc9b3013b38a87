"""An export that is stopped by a signal leaves nothing behind, whichever signal it is."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from studies.management.commands import export
from studies.models import ExportFile

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """What a shell starts behind its back ignores the interrupt; here it is Python's own again."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_stopped_export_leaves_no_part_of_a_file(
    cast: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    def stopped(self: Any, total: int) -> Callable[[int], None]:
        def more(rows: int) -> None:
            assert [one.suffix for one in tmp_path.iterdir()] == [".part"]
            os.kill(os.getpid(), number)

        return more

    monkeypatch.setattr(export.Command, "_progress", stopped)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(CommandError, match="No file was written") as refusal:
        call_command("export", cast.study.slug, out=str(tmp_path / "x.zip"))
    assert refusal.value.returncode == status
    assert list(tmp_path.iterdir()) == []
    assert not ExportFile.objects.exists()
    assert signal.getsignal(signal.SIGTERM) == before
