"""Dialogues on the desk: the list, and one with its waveform, turns, numbers, flags and processing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from dialogues import media, tasks
from dialogues.models import Dialogue, Flag, Turn
from dialogues.processing import services as processing
from dialogues.processing.correcting import Corrected, correct_turns
from dialogues.selectors import access_desk_dialogue, desk_dialogues
from studies.models import Study
from turingsite.desk.doors import access_desk, tell
from turingsite.desk.forms import DialogueFilter, ProcessForm, TurnsForm
from turingsite.desk.paging import by_name
from turingsite.desk.pictures import waveform
from turingsite.desk.wake import wake
from turingsite.errors import DomainError, NotFound

# What a flag says, in words. Rules that are not listed are shown by their name.
RULES = {
    "duration": gettext_lazy("length outside 20–60 s"),
    "no_speech": gettext_lazy("no speech"),
    "few_speakers": gettext_lazy("fewer than two speakers"),
    "balance": gettext_lazy("one speaker has most of the turns"),
    "interruptions": gettext_lazy("interruptions"),
    "clipping": gettext_lazy("clipping"),
    "faint": gettext_lazy("recorded too faintly"),
    "uneven_loudness": gettext_lazy("loudness of A and B differs"),
    "truncated": gettext_lazy("the file stops early"),
    "damaged": gettext_lazy("part of the file is damaged"),
}


@require_safe
def dialogues(request: HttpRequest) -> HttpResponse:
    """The dialogues this person may see, by id; filters are kept in the address."""
    access_desk(request.user)
    mine = desk_dialogues(request.user)
    slugs = list(Study.objects.visible_to(request.user).order_by("slug").values_list("slug", flat=True)[:200])
    rules = list(Flag.objects.order_by("rule").values_list("rule", flat=True).distinct()[:50])
    form = DialogueFilter(request.GET, studies=slugs, flags=rules)
    wanted: dict[str, str] = form.cleaned_data if form.is_valid() else {}
    rows = mine.select_related("topic", "job").prefetch_related("parties__system", "flags")
    if wanted.get("q"):
        rows = rows.filter(external_id__startswith=wanted["q"].replace("\0", ""))
    for name, column in (("kind", "kind"), ("language", "language"), ("state", "state")):
        if wanted.get(name):
            rows = rows.filter(**{column: wanted[name]})
    if wanted.get("study"):
        rows = rows.filter(study_items__study__slug=wanted["study"])
    if wanted.get("flag"):
        rows = rows.filter(flags__rule=wanted["flag"]).distinct()
    page = by_name(request, rows, "external_id")
    table = [
        {
            "dialogue": row,
            "system": next((p.system.name for p in row.parties.all() if p.label == "B" and p.system), ""),
            "flags": sorted({str(RULES.get(flag.rule, flag.rule)) for flag in row.flags.all()}),
        }
        for row in page.rows
    ]
    context = {"form": form, "rows": table, "page": page, "filtered": any(wanted.values())}
    return render(request, "desk/dialogues.html", context)


def dialogue(request: HttpRequest, code: str) -> HttpResponse:
    """One dialogue with everything the desk knows of it."""
    return _dialogue(request, access_desk_dialogue(code, request.user), None)


def _dialogue(request: HttpRequest, found: Dialogue, turns_form: TurnsForm | None) -> HttpResponse:
    turns = list(found.turns.select_related("party").order_by("index"))
    visible = Study.objects.visible_to(request.user)
    job = getattr(found, "job", None)
    lines = "\n".join(
        f"{t.party.label} {t.start:g} {t.end:g}" for t in turns if t.start is not None and t.end is not None
    )
    context = {
        "dialogue": found,
        "job": job,
        "busy": job is not None and job.state in ("queued", "running"),
        "turns": turns,
        "detected": any(turn.source == Turn.Source.DETECTED for turn in turns),
        "parties": found.parties.select_related("system", "speaker").order_by("label"),
        "picture": waveform(found, turns),
        "numbers": _numbers(found.quality),
        "flags": [
            (RULES.get(flag.rule, flag.rule), flag.value, flag.source)
            for flag in found.flags.filter(turn=None).order_by("rule")
        ],
        "items": found.study_items.filter(study__in=visible).select_related("study"),
        "verdicts": found.verdicts.filter(study__in=visible, exclusion="").aggregate(n=Count("pk"))["n"],
        "process_form": ProcessForm(initial={"profile": job.gap_profile if job else "own-1"}),
        "turns_form": turns_form or TurnsForm(initial={"lines": lines}),
    }
    wrong = turns_form is not None and bool(turns_form.errors)
    return render(request, "desk/dialogue.html", context, status=400 if wrong else 200)


def _numbers(quality: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """Rows of the quality table: what, in the original, as played. Empty where not processed yet."""
    if not quality or "result" not in quality:
        return []
    source, loudness, result = quality["source"], quality["loudness"], quality["result"]
    gaps, play = quality["gaps"], quality.get("play", {})
    rows: list[tuple[str, Any, Any]] = [
        (_("Length (s)"), source["duration"], play.get("duration", result["duration"])),
        (_("Codec"), f"{source['format']} {source['subtype']}", "MP3"),
        (_("Sample rate (Hz)"), source["sample_rate"], 24000),
        (_("Channels"), source["channels"], 1),
    ]
    rows += [
        (_("Loudness of %(who)s (LUFS)") % {"who": who}, value, loudness["after"].get(who))
        for who, value in sorted(loudness["before"].items())
    ]
    rows += [
        (_("Gaps"), gaps["before"]["count"], gaps["after"]["count"]),
        (_("Mean gap (s)"), gaps["before"]["mean"], gaps["after"]["mean"]),
        (_("Longest gap (s)"), gaps["before"]["longest"], gaps["after"]["longest"]),
        (_("True peak (dBFS)"), source["peak_db"], play.get("true_peak", loudness["true_peak"])),
        (_("Clipped share"), source["clipped"], None),
    ]
    rows += [
        (_("Talking time of %(who)s") % {"who": who}, None, f"{value:.0%}")
        for who, value in sorted(result["speech_share"].items())
    ]
    rows += [
        (_("Overlaps"), None, result["overlaps"]["count"]),
        (_("Noise floor in pauses (dBFS)"), None, result["noise_floor"]["pauses"]),
        (_("Bandwidth (Hz)"), None, result["bandwidth_hz"]),
        (_("Bytes per second"), None, play.get("bytes_per_second")),
    ]
    return rows


@require_safe
def sound(request: HttpRequest, code: str) -> HttpResponse:
    """The playing file, for listening on the desk."""
    found = access_desk_dialogue(code, request.user)
    if not found.play_path:
        raise media.no_sound()
    return media.answer(request, found.play_path)


@require_safe
def original(request: HttpRequest, code: str) -> FileResponse:
    """The original as received, to save."""
    found = access_desk_dialogue(code, request.user)
    if found.recording is None:
        raise media.no_sound()
    path = Path(settings.MEDIA_ROOT) / found.recording.path
    try:
        return FileResponse(path.open("rb"), as_attachment=True, filename=f"{found.external_id}{path.suffix}")
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


@require_POST
def turns(request: HttpRequest, code: str) -> HttpResponse:
    """Correct the turns, by hand, and process again."""
    found = access_desk_dialogue(code, request.user)
    form = TurnsForm(request.POST)
    if form.is_valid():
        given = [
            Corrected(who, start, end, was=index)
            for index, (who, start, end) in enumerate(form.cleaned_data["lines"])
        ]
        try:
            job = correct_turns(dialogue=found, turns=given, user=request.user)
        except DomainError as error:
            form.refuse(error)
        else:
            if job is not None:
                wake(tasks.process_dialogue, job.pk)
            messages.success(request, _("The turns are stored; the dialogue is processed again."))
            return redirect("admin:desk_dialogue", code)
    return _dialogue(request, found, form)
