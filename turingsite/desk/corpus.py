"""Dialogues on the desk: the list, and one with its waveform, turns, numbers, flags and processing."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from dialogues import media, tasks
from dialogues.models import Dialogue, Flag, StudyItem, Turn
from dialogues.processing import services as processing
from dialogues.selectors import access_desk_dialogue, desk_dialogues
from studies.models import Study
from turingsite.desk import flagged
from turingsite.desk.corpus_forms import AggressiveForm, DialogueFilter, ProcessForm, study_label
from turingsite.desk.doors import access_desk, manages, tell
from turingsite.desk.paging import by_name
from turingsite.desk.pictures import waveform
from turingsite.desk.wake import wake
from turingsite.errors import DomainError, NotFound


@require_safe
def dialogues(request: HttpRequest) -> HttpResponse:
    """The dialogues this person may see, by id; filters are kept in the address."""
    access_desk(request.user)
    form, wanted = filter_of(request, request.GET)
    rows = filtered(request.user, wanted)
    page = by_name(
        request,
        rows.select_related("topic", "job").prefetch_related("parties__system", "flags"),
        "external_id",
    )
    table = [
        {
            "dialogue": row,
            "system": next((p.system.name for p in row.parties.all() if p.label == "B" and p.system), ""),
            "flags": flagged.standing_names(row.flags.all()),
        }
        for row in page.rows
    ]
    study = Study.objects.visible_to(request.user).filter(slug=wanted.get("study") or "-").first()
    rest = urlencode({k: v for k, v in wanted.items() if v and k != "flag"})
    context = {
        "form": form,
        "rows": table,
        "page": page,
        "filtered": any(wanted.values()),
        "wanted": [(name, value) for name, value in wanted.items() if value],
        "counts": flagged.counts(filtered(request.user, {**wanted, "flag": ""})),
        "flag": wanted.get("flag", ""),
        "rest": rest,
        "chosen_study": study,
        "play": _in_play(request, study, rows),
    }
    return render(request, "desk/dialogues.html", context)


def filter_of(request: HttpRequest, data: Any) -> tuple[DialogueFilter, dict[str, str]]:
    """The filter form filled from ``data``, and what it asks for; nothing where that makes no sense."""
    studies = Study.objects.visible_to(request.user).order_by("title_en", "slug")[:200]
    rules = Flag.objects.order_by("rule").values_list("rule", flat=True).distinct()[:100]
    form = DialogueFilter(
        data,
        studies=[(study.slug, study_label(study)) for study in studies],
        flags=[(rule, flagged.called(rule)) for rule in rules],
    )
    return form, form.cleaned_data if form.is_valid() else {}


def filtered(user: Any, wanted: dict[str, str]) -> QuerySet[Dialogue]:
    """The dialogues ``user`` may see that fit; each once."""
    rows = desk_dialogues(user)
    if wanted.get("q"):
        rows = rows.filter(external_id__startswith=wanted["q"].replace("\0", ""))
    for name in ("kind", "language", "state"):
        if wanted.get(name):
            rows = rows.filter(**{name: wanted[name]})
    if wanted.get("study"):
        items = StudyItem.objects.filter(study__slug=wanted["study"])
        if wanted.get("play"):
            items = items.filter(is_active=wanted["play"] == "in")
        rows = rows.filter(pk__in=items.values("dialogue"))
    if wanted.get("flag"):
        flags = Flag.objects.standing().filter(rule=wanted["flag"])
        rows = rows.filter(pk__in=flags.values("dialogue"))
    return rows


def _in_play(request: HttpRequest, study: Study | None, rows: QuerySet[Dialogue]) -> dict[str, int] | None:
    """How many of ``rows`` are in play in the study and how many taken out; None for who can't change it."""
    if study is None or not manages(request.user, study):
        return None
    items = StudyItem.objects.filter(study=study, dialogue__in=rows.order_by().values("pk"))
    return items.aggregate(
        inside=Count("pk", filter=Q(is_active=True)), outside=Count("pk", filter=Q(is_active=False))
    )


@require_safe
def dialogue(request: HttpRequest, code: str) -> HttpResponse:
    """One dialogue with everything the desk knows of it."""
    return shown(request, access_desk_dialogue(code, request.user))


def shown(request: HttpRequest, found: Dialogue, *, mark_form: AggressiveForm | None = None) -> HttpResponse:
    """The page of a dialogue, also with a form that was refused."""
    turns = list(found.turns.select_related("party").order_by("index"))
    visible = Study.objects.visible_to(request.user)
    job = getattr(found, "job", None)
    context = {
        "dialogue": found,
        "job": job,
        "busy": job is not None and job.state in ("queued", "running"),
        "turns": turns,
        "detected": any(turn.source == Turn.Source.DETECTED for turn in turns),
        "parties": found.parties.select_related("system", "speaker").order_by("label"),
        "picture": waveform(found, turns),
        "turn_files": found.turn_files.select_related("recording").order_by("index"),
        "numbers": _numbers(found.quality),
        "flags": flagged.described(found, turns),
        "transcribed": any(turn.party.label == "B" and turn.text.strip() for turn in turns),
        "items": found.study_items.filter(study__in=visible).select_related("study"),
        "verdicts": found.verdicts.of_game()
        .filter(study__in=visible, exclusion="")
        .aggregate(n=Count("pk"))["n"],
        "process_form": ProcessForm(initial={"profile": job.gap_profile if job else "own-1"}),
        "mark_form": mark_form or AggressiveForm(),
    }
    wrong = mark_form is not None and bool(mark_form.errors)
    return render(request, "desk/dialogue.html", context, status=400 if wrong else 200)


def _numbers(quality: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Rows of the quality table: what, in the original, as played. Empty where not processed yet."""
    if not quality or "result" not in quality:
        return []
    source, loudness, result = quality["source"], quality["loudness"], quality["result"]
    gaps, play = quality["gaps"], quality.get("play", {})
    peak = play.get("true_peak", loudness["true_peak"])
    rows: list[tuple[str, str, str]] = [
        (_("Length (s)"), to(1, source["duration"]), to(1, play.get("duration", result["duration"]))),
        (_("Codec"), f"{source['format']} {source['subtype']}", "MP3"),
        (_("Sample rate (Hz)"), to(0, source["sample_rate"]), to(0, 24000)),
        (_("Channels"), to(0, source["channels"]), to(0, 1)),
    ]
    rows += [
        (_("Loudness of %(who)s (LUFS)") % {"who": who}, to(1, value), to(1, loudness["after"].get(who)))
        for who, value in sorted(loudness["before"].items())
    ]
    rows += [
        (_("Gaps"), to(0, gaps["before"]["count"]), to(0, gaps["after"]["count"])),
        (_("Mean gap (s)"), to(2, gaps["before"]["mean"]), to(2, gaps["after"]["mean"])),
        (_("Longest gap (s)"), to(2, gaps["before"]["longest"]), to(2, gaps["after"]["longest"])),
        (_("True peak (dBFS)"), to(1, source["peak_db"]), to(1, peak)),
        (_("Clipped share"), f"{source['clipped']:.2%}", ""),
    ]
    rows += [
        (_("Talking time of %(who)s") % {"who": who}, "", f"{value:.0%}")
        for who, value in sorted(result["speech_share"].items())
    ]
    rows += [
        (_("Overlaps"), "", to(0, result["overlaps"]["count"])),
        (_("Noise floor in pauses (dBFS)"), "", to(1, result["noise_floor"]["pauses"])),
        (_("Bandwidth (Hz)"), "", to(0, result["bandwidth_hz"])),
        (_("Bytes per second"), "", to(0, play.get("bytes_per_second"))),
    ]
    return rows


def to(decimals: int, value: float | None) -> str:
    """A number to so many decimals, with no minus before a zero; empty where none was measured."""
    return "" if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


@require_safe
def sound(request: HttpRequest, code: str) -> HttpResponse:
    """The playing file, for listening on the desk."""
    found = access_desk_dialogue(code, request.user)
    if not found.play_path:
        raise media.no_sound()
    return media.answer(request, found.play_path)


@require_safe
def original(request: HttpRequest, code: str) -> FileResponse:
    """The recording, to save; with ``?turn=`` (from 1) the file as received of a turn it was joined from."""
    found = access_desk_dialogue(code, request.user)
    recording, name, turn = found.recording, found.external_id, request.GET.get("turn", "")
    if turn:
        index = int(turn) - 1 if turn.isdecimal() and len(turn) < 6 else -1
        part = found.turn_files.filter(index=index).select_related("recording").first()
        recording, name = part.recording if part else None, f"{name}-{turn}"
    if recording is None:
        raise media.no_sound()
    path = Path(settings.MEDIA_ROOT) / recording.path
    try:
        return FileResponse(path.open("rb"), as_attachment=True, filename=f"{name}{path.suffix}")
    except OSError as error:
        raise NotFound("no_sound", _("The original is not on this server.")) from error


@require_POST
def process(request: HttpRequest, code: str) -> HttpResponse:
    """Process again, also under another gap profile."""
    found = access_desk_dialogue(code, request.user)
    form = ProcessForm(request.POST)
    try:
        profile = form.cleaned_data["profile"] if form.is_valid() else None
        job = processing.queue(dialogue=found, profile=profile, user=request.user)
    except DomainError as error:
        tell(request, error)
    else:
        wake(tasks.process_dialogue, job.pk)
        messages.success(request, _("Queued. Until it is done, the dialogue plays as before."))
    return redirect("admin:desk_dialogue", code)
