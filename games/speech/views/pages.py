"""Pages around the trial: the way in, sound check, content check, reveal, board, nickname, pause."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dialogues.media import answer_file, no_sound
from games.speech import leaderboard, presenters, selectors, services, sound_words
from games.speech.assignment import Draws
from games.speech.models import Round, SpeechPlayer
from games.speech.services.checks import TRIES, access_check
from games.speech.services.playing import is_over
from games.speech.services.verdicts import storable
from games.speech.views.edge import place_of, url_of
from studies import access, sharing
from studies.models import Participant, Study
from studies.refusals import translated
from studies.services import set_nickname
from studies.views.edge import OPEN, elsewhere, fields_of, is_json, unreadable, whole
from turingsite.errors import Conflict, Invalid, NotFound, gettext_noop

ENDED = {"paused_ok": True, "ended_ok": True, "closed_ok": True}


@never_cache
@require_safe
def play(request: HttpRequest, slug: str) -> HttpResponse:
    participant = access.participant_of(request, slug, **OPEN)
    place = place_of(participant)
    url = place["Location"] if isinstance(place, HttpResponse) else url_of(place, participant)
    return elsewhere(request, url)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sound(request: HttpRequest, slug: str) -> HttpResponse:
    """Press play, type the word you hear."""
    participant = access.participant_of(request, slug, **OPEN)
    error = ""
    if request.method == "POST":
        data = fields_of(request)
        try:
            if data.get("again"):
                services.restart_sound(participant=participant)
            else:
                services.answer_sound(
                    participant=participant,
                    typed=str(data.get("word", "")),
                    now=timezone.now(),
                    tried=whole(data, "tried"),
                )
        except Invalid as refused:
            if is_json(request):
                raise
            error = translated(refused)
        else:
            return elsewhere(request, presenters.address("play", participant.study))
    place = place_of(participant)
    if isinstance(place, HttpResponse):
        return place
    if place.name != "sound":
        return elsewhere(request, url_of(place, participant))
    context = presenters.sound_page(
        participant.study, participant, place.player, tries_left=TRIES - place.player.sound_tries, error=error
    )
    return render(request, "speech/sound.html", context, status=400 if error else 200)


@never_cache
@require_safe
def clip(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The spoken word of the sound check that is asked for now. ``number`` only keeps browsers from mixing
    tries.
    """
    participant = access.participant_of(request, slug, **OPEN)
    player = services.player_of(participant)
    word = sound_words.word(player.sound_word, participant.judging_language)
    if word is None:
        raise no_sound()
    return answer_file(request, word.path, cache="private, no-store")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest, slug: str, code: str) -> HttpResponse:
    """What did they talk about?"""
    participant = access.participant_of(request, slug, **OPEN)
    asked = access_check(participant, code)
    error = ""
    if request.method == "POST":
        try:
            option = whole(fields_of(request), "topic")
            services.answer_check(
                participant=participant,
                code=code,
                option=-1 if option is None else option,
                now=timezone.now(),
            )
        except Invalid as refused:
            if is_json(request):
                raise
            error = translated(refused)
        else:
            return elsewhere(request, presenters.address("play", participant.study))
    elif asked.answered_at is not None:
        return elsewhere(request, presenters.address("play", participant.study))
    context = presenters.check_page(participant.study, participant, asked, error=error)
    return render(request, "speech/check.html", context, status=400 if error else 200)


@never_cache
@require_safe
def round_(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The reveal of a finished round, or only its end where the study reveals nothing."""
    participant = access.participant_of(request, slug, **ENDED)
    study = participant.study
    settings = services.settings_of(study)
    found = selectors.access_round(participant, number)
    last = Round.objects.filter(player=found.player).order_by("-number").first()
    now = timezone.now()
    if request.method == "GET":
        services.mark_round_seen(round_=found, now=now)
    more = not is_over(settings, last) and study.status in Study.JOINABLE and not participant.end_state
    context = presenters.round_page(
        study,
        participant,
        found,
        trials=selectors.judged_trials(found),
        settings=settings,
        standing=leaderboard.standing(study, settings, participant, now=now),
        more=more,
        next_for_fun=more and _only_for_fun(participant, found.player),
        share=sharing.offer(request, study),
    )
    return render(request, "speech/round.html", context)


def _only_for_fun(participant: Participant, player: SpeechPlayer) -> bool:
    player.participant = participant
    draws = Draws(
        player, participant.judging_language, services.settings_of(participant.study), now=timezone.now()
    )
    return draws.has_unheard is False


@never_cache
@require_safe
def board(request: HttpRequest, slug: str) -> HttpResponse:
    participant = access.participant_of(request, slug, **ENDED)
    study = participant.study
    settings = services.settings_of(study)
    if not presenters.board_is_open(settings):
        raise NotFound("no_board", gettext_noop("This study has no leaderboard."))
    language = request.GET.get("language", participant.judging_language)
    if language not in [*study.languages, "all"]:
        language = "all"
    period = "today" if request.GET.get("period") == "today" else "all"
    context = presenters.board_page(
        study,
        participant,
        rows=leaderboard.board(
            study,
            settings,
            language=language,
            today=period == "today",
            you=participant,
            now=timezone.now(),
        ),
        language=language,
        period=period,
        settings=settings,
        share=sharing.offer(request, study),
    )
    return render(request, "speech/board.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def nickname(request: HttpRequest, slug: str) -> HttpResponse:
    participant = access.participant_of(request, slug, **(ENDED if request.method != "POST" else OPEN))
    typed, error = None, ""
    if request.method == "POST":
        value = fields_of(request).get("nickname", "")
        if not isinstance(value, str):
            raise unreadable()
        try:
            set_nickname(participant=participant, nickname=value)
        except (Invalid, Conflict) as refused:
            if is_json(request):
                raise
            typed, error = storable(value, 100), translated(refused)
        else:
            return elsewhere(request, presenters.address("board", participant.study))
    context = presenters.nickname_page(participant.study, participant, typed=typed, error=error)
    return render(request, "speech/nickname.html", context, status=400 if error else 200)


@never_cache
@require_safe
def pause(request: HttpRequest, slug: str) -> HttpResponse:
    """A break: the code to go on elsewhere, and the way back."""
    participant = access.participant_of(request, slug, **OPEN)
    study = participant.study
    settings = services.settings_of(study)
    player = services.player_of(participant)
    last = Round.objects.filter(player=player).order_by("-number").first()
    in_round = last is not None and last.state == Round.State.OPEN
    reason = "paused" if study.status == Study.Status.PAUSED else ""
    if not reason and last is not None and services.sound_fails(last, now=timezone.now()):
        reason = "sound"
    context = presenters.pause_page(
        study,
        participant,
        reason=reason,
        rounds=selectors.rounds_played(player),
        in_round=in_round,
        more=not is_over(settings, last),
        settings=settings,
        share=sharing.offer(request, study),
    )
    return render(request, "speech/pause.html", context)
