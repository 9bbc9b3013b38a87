"""Everything a player's browser gets: the trial, the reveal, the board, the context of every page.

Blind: before the verdict nothing here may differ by kind. No kind, system, dialogue code or path leaves this
module until the round (or the item) is revealed. Every context has ``study`` and ``participant``; the rest,
by template:

- ``speech/sound.html``: ``clip`` (address of the sound), ``tries_left``, ``tried``, ``wrong`` (the last word
  was not it), ``error``, ``urls.answer`` (POST fields ``word``, ``tried``).
- ``speech/trial.html``: ``trial`` (the JSON object), ``answers`` (two of ``value``, ``label``, ``nature`` in
  this person's order), ``introduce`` (first trial: show the instruction), ``keys_off``, ``urls`` (``state``,
  ``listening``, ``verdict``, ``next``, ``failed``, ``known``, ``keys``, ``leave``). Form fields without
  scripts: verdict ``choice``; failed ``why``; known ``known`` (true, false); keys ``off``.
- ``speech/check.html``: ``options`` (pairs value, label), ``error``, ``urls.answer`` (POST field ``topic``).
- ``speech/round.html``: ``round`` (``number``, ``for_fun``, ``revealed``, ``of``; where revealed also
  ``correct``, ``points``, ``points_round``, ``points_answers``), ``rows`` (``position``, ``said``, ``was``,
  ``line``, ``right``; empty where not revealed), ``more`` (another round is there), ``next_for_fun``,
  ``standing`` (``points``, ``rounds``, ``rank``; or None), ``resume_code``, ``urls`` (``next``, ``pause``,
  ``board`` or "", ``finish``).
- ``speech/board.html``: ``rows`` (``rank``, ``nickname``, ``points``, ``rounds``, ``you``; or ``cut`` with
  ``from``, ``to`` for ranks left out; ``rank`` and ``points`` None for yourself without a round),
  ``by_accuracy`` (points are per cent), ``languages`` and ``periods`` (``label``, ``url``, ``current``),
  ``nickname``, ``urls`` (``nickname``, ``back``).
- ``speech/nickname.html``: ``nickname``, ``error``, ``urls`` (``save`` POST field ``nickname``, ``back``).
- ``speech/pause.html``: ``resume_code`` (in groups of four), ``reason`` ("" | ``paused`` study | ``sound``:
  too many clips failed), ``rounds``, ``in_round`` (a round is open), ``more``, ``urls`` (``continue``,
  ``board`` or "", ``finish``).
- round, board and pause: ``share`` (``link``, ``title``, ``card``; or None), the same for every participant.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dialogues import time_line
from dialogues.models import Choice, Dialogue, Nature, System
from games.speech.models import ContentCheck, Round, SpeechPlayer, SpeechSettings, Trial
from studies import codes
from studies.models import Participant, Study


def page(study: Study, participant: Participant, **rest: Any) -> dict[str, Any]:
    return {"study": study, "participant": participant, **rest}


def address(name: str, study: Study, *args: object) -> str:
    return reverse(f"speech:{name}", args=[study.slug, *args])


def order(player: SpeechPlayer) -> list[str]:
    """The two answers from left to right, as drawn for this person."""
    return ["human", "machine"] if player.human_left else ["machine", "human"]


def trial_json(trial: Trial, *, following: Trial | None, settings: SpeechSettings) -> dict[str, Any]:
    """The ``trial`` object of the page. ``plays``, ``pauses``, ``hidden`` let a reloaded page count on."""
    round_ = trial.round
    length = round(time_line.length(trial.exposure, trial.dialogue), 2)
    # At the last position nothing is fetched ahead: more to come would tell that this one is a check.
    ahead = following if trial.position < settings.round_size else None
    return {
        "code": trial.code,
        "position": trial.position,
        "of": settings.round_size,
        "round": round_.number,
        "for_fun": round_.for_fun,
        "audio": reverse("dialogues:media", args=[trial.exposure.token]),
        "length": length,
        "turns": time_line.flat(time_line.turns(trial.exposure, trial.dialogue), length),
        "order": order(round_.player),
        "heard": round(trial.heard, 3),
        "ranges": trial.ranges,
        "plays": trial.plays,
        "pauses": trial.pauses,
        "hidden": trial.hidden_seconds,
        "unlocked": bool(trial.gate),
        "answer": trial.answer or None,
        "known": trial.known,
        "preload": reverse("dialogues:media", args=[ahead.exposure.token]) if ahead else None,
        "ask": {"confidence": settings.ask_confidence, "reason": settings.ask_reason},
    }


def trial_page(
    study: Study, participant: Participant, trial: Trial, *, following: Trial | None, settings: SpeechSettings
) -> dict[str, Any]:
    player = trial.round.player
    labels = {"human": _("Human"), "machine": _("Machine")}
    return page(
        study,
        participant,
        trial=trial_json(trial, following=following, settings=settings),
        answers=[{"value": value, "label": labels[value], "nature": value} for value in order(player)],
        introduce=trial.round.number == 1 and trial.position == 1,
        keys_off=player.keys_off,
        urls={
            "state": address("trial", study),
            "listening": address("listening", study, trial.code),
            "verdict": address("verdict", study, trial.code),
            "next": address("next", study, trial.code),
            "failed": address("failed", study, trial.code),
            "known": address("known", study, trial.code),
            "keys": address("keys", study),
            "leave": reverse("studies:leave", args=[study.slug]),
        },
    )


def reveal(trial: Trial, settings: SpeechSettings) -> dict[str, Any]:
    """What one trial was. Only for trials whose verdict is stored."""
    said, was = trial.answer, trial.dialogue.truth
    return {
        "position": trial.position,
        "said": said,
        "was": str(was),
        "right": said == was,
        "line": system_line(trial.dialogue) if settings.show_system else "",
    }


def system_line(dialogue: Dialogue) -> str:
    """One line on who or what speaker B was."""
    party = next((party for party in dialogue.parties.all() if party.label == "B"), None)
    system = party.system if party else None
    known = system or (party.speaker if party else None)
    zh = (get_language() or "en").startswith("zh")
    line = known and ((zh and known.line_zh) or known.line_en)
    if line:
        return str(line)
    if dialogue.truth == Nature.HUMAN:
        return _("A person in a recorded conversation")
    if system is None:
        return ""
    kinds = {
        System.Role.S2S: _("A speech model that answers directly: %(name)s"),
        System.Role.TTS: _("A text read by a synthetic voice: %(name)s"),
    }
    return kinds.get(System.Role(system.role), "%(name)s") % {"name": system.name}


def round_page(
    study: Study,
    participant: Participant,
    round_: Round,
    *,
    trials: Iterable[Trial],
    settings: SpeechSettings,
    standing: dict[str, Any] | None,
    more: bool,
    next_for_fun: bool,
    share: dict[str, Any] | None,
) -> dict[str, Any]:
    revealed = settings.reveal != SpeechSettings.Reveal.NEVER
    judged = [trial for trial in trials if trial.answer in Choice.values]
    summary: dict[str, Any] = {
        "number": round_.number,
        "for_fun": round_.for_fun,
        "revealed": revealed,
        "of": len(judged),
    }
    if revealed:
        base = 10 if round_.points and settings.points == SpeechSettings.Points.BEYOND_HALF else 0
        summary |= {
            "correct": round_.correct,
            "points": round_.points,
            "points_round": base,
            "points_answers": round_.points - base,
        }
    return page(
        study,
        participant,
        round=summary,
        rows=[reveal(trial, settings) for trial in judged] if revealed else [],
        more=more,
        next_for_fun=next_for_fun,
        share=share,
        standing=standing if revealed else None,
        resume_code=codes.grouped(participant.resume_code),
        urls={
            "next": address("play", study),
            "pause": address("pause", study),
            "board": address("board", study) if board_is_open(settings) else "",
            "finish": finish(study, more=more),
        },
    )


def finish(study: Study, *, more: bool) -> str:
    """Where stopping leads: a question first while there is more to do."""
    return reverse("studies:leave" if more else "studies:go", args=[study.slug])


def board_is_open(settings: SpeechSettings) -> bool:
    """Points tell how many answers were right, so a study that reveals nothing has no board."""
    return settings.leaderboard and settings.reveal != SpeechSettings.Reveal.NEVER


def board_page(
    study: Study,
    participant: Participant,
    *,
    rows: list[dict[str, Any]],
    language: str,
    period: str,
    settings: SpeechSettings,
    share: dict[str, Any] | None,
) -> dict[str, Any]:
    here = address("board", study)
    languages = [(code, _("English") if code == "en" else _("Chinese")) for code in study.languages]
    if len(languages) > 1:
        languages.append(("all", _("Both")))
    return page(
        study,
        participant,
        rows=[
            row if row.get("cut") else row | {"nickname": row["nickname"] or anonymous(row)} for row in rows
        ],
        by_accuracy=settings.points == SpeechSettings.Points.ACCURACY,
        languages=[
            {"label": label, "url": f"{here}?language={code}&period={period}", "current": code == language}
            for code, label in languages
        ],
        periods=[
            {"label": label, "url": f"{here}?language={language}&period={code}", "current": code == period}
            for code, label in [("today", _("Today")), ("all", _("All time"))]
        ],
        nickname=participant.nickname,
        share=share,
        urls={"nickname": address("nickname", study), "back": address("play", study)},
    )


def anonymous(row: dict[str, Any]) -> str:
    """How a player without nickname stands on the board."""
    return _("You") if row["you"] else _("Anonymous player")


def nickname_page(
    study: Study, participant: Participant, *, typed: str | None = None, error: str = ""
) -> dict[str, Any]:
    return page(
        study,
        participant,
        nickname=participant.nickname if typed is None else typed,
        error=error,
        urls={"save": address("nickname", study), "back": address("board", study)},
    )


def sound_page(
    study: Study, participant: Participant, player: SpeechPlayer, *, tries_left: int, error: str = ""
) -> dict[str, Any]:
    return page(
        study,
        participant,
        clip=address("clip", study, player.sound_tries),
        tries_left=tries_left,
        error=error,
        wrong=player.sound_tries > 0,
        tried=player.sound_tries,
        urls={"answer": address("sound", study)},
    )


def check_page(
    study: Study, participant: Participant, check: ContentCheck, *, error: str = ""
) -> dict[str, Any]:
    """Options are numbered as shown: a topic's own code says more than is needed."""
    topics = {topic.pk: topic for topic in check.options.all()}
    zh = (get_language() or "en").startswith("zh")
    options = []
    for number, pk in enumerate(check.order):
        topic = topics[pk]
        label = (topic.label_zh if zh else topic.label_en) or topic.label_en or topic.label_zh
        options.append((str(number), label))
    return page(
        study, participant, options=options, error=error, urls={"answer": address("check", study, check.code)}
    )


def pause_page(
    study: Study,
    participant: Participant,
    *,
    reason: str,
    rounds: int,
    in_round: bool,
    more: bool,
    settings: SpeechSettings,
    share: dict[str, Any] | None,
) -> dict[str, Any]:
    return page(
        study,
        participant,
        share=share,
        reason=reason,
        rounds=rounds,
        in_round=in_round,
        more=more,
        resume_code=codes.grouped(participant.resume_code),
        urls={
            "continue": address("play", study),
            "board": address("board", study) if board_is_open(settings) else "",
            "finish": finish(study, more=more),
        },
    )
