"""Correcting turns on the original's waveform: handles where there is script, fields everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from dialogues import media, tasks
from dialogues.models import Dialogue, Recording, Turn
from dialogues.processing.correcting import correct_turns, stamp
from dialogues.selectors import access_desk_dialogue
from studies.refusals import translated
from turingsite.audio.decode import decode
from turingsite.audio.peaks import peaks
from turingsite.desk import turn_rows
from turingsite.desk.pictures import WIDTH, outline
from turingsite.desk.turn_rows import NoEdit, TurnRow
from turingsite.desk.wake import wake
from turingsite.errors import DomainError

KEPT = 24 * 3600  # seconds: the outline of an original never changes
TYPES = {
    ".wav": "audio/wav",
    ".flac": "audio/flac",
    ".mp3": "audio/mpeg",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".m4a": "audio/mp4",
    ".aac": "audio/aac",
    ".webm": "audio/webm",
}
MOST_BYTES = 2 << 20  # of one answer: browsers ask for more by ranges


def turns(request: HttpRequest, code: str) -> HttpResponse:
    """The turns as rows; stored and processed again, or edited by a button and shown unsaved."""
    found = access_desk_dialogue(code, request.user)
    if request.method != "POST":
        rows = turn_rows.stored(list(found.turns.select_related("party").order_by("index")))
        return _page(request, found, rows)
    rows = turn_rows.typed(request.POST)
    do = request.POST.get("do", "store")
    if do != "store":
        try:
            rows, at = turn_rows.edited(rows, do, at=turn_rows.seconds(request.POST.get("at", "")))
        except NoEdit:
            at = 0
        return _page(request, found, rows, unsaved=True, focus=at)
    return _store(request, found, rows)


def _store(request: HttpRequest, found: Dialogue, rows: list[TurnRow]) -> HttpResponse:
    asked, told = turn_rows.corrected(rows)
    if any(row.errors for row in told):
        return _page(request, found, told, problem=_("Some times are no numbers: look at the marked fields."))
    try:
        job = correct_turns(
            dialogue=found, turns=asked, user=request.user, seen=request.POST.get("seen", "")[:40]
        )
    except DomainError as error:
        return _page(request, found, turn_rows.with_faults(rows, error.fields), problem=translated(error))
    if len({turn.speaker for turn in asked}) < 2:
        messages.warning(request, _("Only one speaker has turns; a dialogue has two."))
    if job is None:
        messages.success(request, _("The words are stored."))
    else:
        wake(tasks.process_dialogue, job.pk)
        messages.success(
            request,
            _("The turns are stored; the dialogue is processed again. Until then it plays as before."),
        )
    return redirect("admin:desk_dialogue", found.code)


def _page(
    request: HttpRequest,
    found: Dialogue,
    rows: list[TurnRow],
    *,
    problem: str = "",
    unsaved: bool = False,
    focus: int | None = None,
) -> HttpResponse:
    length = found.recording.duration if found.recording else None
    heights = _peaks(found.recording) if found.recording else []
    last = len(rows) - 1
    context = {
        "dialogue": found,
        "rows": [
            {
                "n": n,
                "number": n + 1,
                "row": row,
                "last": n == last,
                "focus": n == focus,
                "lines": min(6, 1 + len(row.text) // 60),
            }
            for n, row in enumerate(rows)
        ],
        "length": length,
        "points": outline(heights) if heights else "",
        "width": WIDTH,
        "blocks": _blocks(rows, length),
        "ticks": _ticks(length),
        "labels": sorted(found.parties.values_list("label", flat=True)),
        "problem": problem,
        "unsaved": unsaved,
        "detected": found.turns.filter(source=Turn.Source.DETECTED).exists(),
        "seen": request.POST.get("seen", "")[:40] or stamp(found),
    }
    return render(request, "desk/turns.html", context, status=400 if problem else 200)


def _blocks(rows: list[TurnRow], length: float | None) -> list[dict[str, Any]]:
    """Where turns lie on the waveform, for the picture without script."""
    blocks = []
    for row in rows:
        start, end = row.seconds
        if length and start is not None and end is not None and 0 <= start < end:
            x, width = 100 * start / length, 100 * (end - start) / length
            lane = "a" if row.speaker == turn_rows.OPENS else "b"
            blocks.append({"x": f"{x:.2f}%", "width": f"{max(0.2, width):.2f}%", "lane": lane})
    return blocks


def _ticks(length: float | None) -> list[dict[str, str]]:
    if not length:
        return []
    every = 5 if length < 90 else 30
    return [{"x": f"{100 * s / length:.2f}%", "label": f"{s}"} for s in range(0, int(length) + 1, every)]


def _peaks(recording: Recording) -> list[int]:
    """The original's outline; empty where it cannot be read. Decoding is slow, so it is kept."""
    key = f"peaks.{recording.sha256}"
    found: list[int] | None = cache.get(key)
    if found is None:
        try:
            found = peaks(decode(Path(settings.MEDIA_ROOT) / recording.path).samples.mean(axis=1), 1200)
        except (DomainError, OSError):
            found = []
        cache.set(key, found, KEPT)
    return found


@require_safe
def listen(request: HttpRequest, code: str) -> HttpResponse:
    """The original in the page, by ranges: its seconds are those of the turns."""
    found = access_desk_dialogue(code, request.user)
    if found.recording is None:
        raise media.no_sound()
    path = Path(settings.MEDIA_ROOT) / found.recording.path
    kind = TYPES.get(path.suffix.lower(), "application/octet-stream")
    return media.answer_file(request, path, content_type=kind, most=MOST_BYTES)
