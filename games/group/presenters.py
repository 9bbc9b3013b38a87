"""All that a participant's browser gets of the group game: its part of the room's state, its pages.

Until a game has ended nothing here tells whose seat is the agent's, but what a vote has shown to everybody.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django import forms
from django.urls import reverse
from django.utils.translation import gettext as _

from dialogues.models import Nature
from games.group import selectors
from games.group.models import Game, GroupSettings, Ticket, Vote
from games.group.selectors import rule, topic_of
from games.group.services.gathering import waiting_with
from games.group.services.voting import why_not
from games.room.models import Seat
from games.room.presenters import event_frame, room_state
from games.room.selectors import events_after
from studies.models import Participant, Study
from studies.texts import content_language

Data = dict[str, Any]
MOST_LINES = 5000  # of the log on the page; the page asks for what is left out


def address(name: str, study: Study) -> str:
    return reverse(f"group:{name}", args=[study.slug])


def play_state(seat: Seat) -> Data:
    """What the seat's page gets beside the room's own state; the same keys for every seat.

    ``next``: where the person goes when it is over for them, "" while they play; who is out may go at once,
    or watch on while ``you.may_read``.
    """
    room = seat.room
    game = room.group_game
    voted = Vote.objects.filter(voter=seat, round=room.round).exists()
    open_to_vote = not voted and why_not(room, game, seat) is None
    others = selectors.living(room) if open_to_vote else []
    is_over = selectors.is_over_for(seat, game)
    return {
        "topic": topic_of(game, room.language),
        "voted": voted,
        "votes_for": [one.code for one in others if one.pk != seat.pk],
        "abstain": bool(rule(game, "abstain_button")),
        "show_tallies": bool(rule(game, "show_tallies")),
        "out": _out(game),
        "end": game.end,
        "next": address("survey", room.study) if is_over else "",
    }


def _out(game: Game) -> list[Data]:
    """Who was voted out and what they were, as everybody was told; with the votes where they are shown."""
    tallies = bool(rule(game, "show_tallies"))
    return [
        {
            "seat": one.seat.code,
            "nature": one.seat.nature,
            "round": one.round,
            **({"tally": one.tally} if tallies else {}),
        }
        for one in game.eliminations.select_related("seat").order_by("round")
    ]


def wait_state(ticket: Ticket, settings: GroupSettings, now: datetime) -> Data:
    """The waiting room as its page asks for it again and again. Counts of people; the agent is none."""
    waiting = waiting_with(ticket, settings, now)
    starts = waiting.starts_at
    return {
        "ready": ticket.state == Ticket.State.READY,
        "here": waiting.here,
        "others_ready": waiting.ready - (ticket.state == Ticket.State.READY),
        "ready_now": waiting.ready,
        "people": settings.people,
        "least": min(settings.least_people, settings.people),
        "starts_in": None if starts is None else max(0.0, round((starts - now).total_seconds(), 1)),
        "waited": round((now - ticket.joined_at).total_seconds()),
        "ask": ticket.patience_until <= now,
        "goto": "",
    }


def wait_page(participant: Participant, ticket: Ticket, settings: GroupSettings, now: datetime) -> Data:
    study = participant.study
    paused = study.status == Study.Status.PAUSED
    minutes = max(1, round((settings.discussion_seconds + settings.vote_seconds) / 60))
    names = ("wait", "ready", "keep_waiting", "stop_waiting")
    return {
        **_common(participant),
        "wait": wait_state(ticket, settings, now),
        "paused": paused,
        "settings": {
            "people": settings.people,
            "discussion_seconds": settings.discussion_seconds,
            "vote_seconds": settings.vote_seconds,
            "round_minutes": minutes,
            "spectators": settings.spectators,
        },
        "urls": {name: address(name, study) for name in names},
    }


def room_page(participant: Participant, seat: Seat, now: datetime) -> Data:
    """The live room: its state and log as the socket sends them, and the addresses of its forms.

    ``message_id``: what a message written without a script is called, so that it arrives once.
    """
    study = participant.study
    named = ("log", "send", "act", "typing", "concern", "leave")
    return {
        **_common(participant),
        "state": room_state(seat, now),
        "events": [event_frame(one) for one in events_after(seat.room_id, 0, limit=MOST_LINES)],
        "message_id": f"form-{secrets.token_hex(8)}",
        "urls": {
            **{name: reverse(f"room:{name}", args=[study.slug]) for name in named},
            "socket": f"/ws/s/{study.slug}/room/",
            "play": address("play", study),
        },
    }


def survey_page(participant: Participant, seat: Seat, game: Game, form: forms.Form) -> Data:
    sheet = selectors.survey_of(game)
    zh = content_language() == "zh" and sheet is not None and bool(sheet.title_zh)
    return {
        **_common(participant),
        **_result(seat, game),
        "title": "" if sheet is None else sheet.title_zh if zh else sheet.title_en,
        "form": form,
        "urls": {"survey": address("survey", participant.study)},
    }


def over_page(participant: Participant, seat: Seat, game: Game) -> Data:
    """After a game in a study in which people may play again."""
    study = participant.study
    return {
        **_common(participant),
        **_result(seat, game),
        "paused": study.status == Study.Status.PAUSED,
        "urls": {"again": address("again", study), "finish": reverse("studies:leave", args=[study.slug])},
    }


def _result(seat: Seat, game: Game) -> Data:
    """How it went, in words. ``agent``: who the AI was, once the game has ended; "" before."""
    return {
        "running": not game.end,
        "end": game.end,
        "result": how_it_ended(seat, game),
        "agent": agent_name(game),
        "you": seat.pseudonym,
    }


def agent_name(game: Game) -> str:
    """Who the AI was. "" until the game has ended: who has gone might tell those who still play."""
    if not game.end:
        return ""
    seat = game.room.seats.filter(nature=Nature.MACHINE).first()
    return seat.pseudonym if seat else ""


def how_it_ended(seat: Seat, game: Game) -> str:
    """The end as one person met it, in a sentence."""
    if selectors.left_early(seat, game):
        return {
            Seat.Left.REMOVED: _("You were taken out of the game by the people who run the study."),
            Seat.Left.GONE: _("Your page was closed for so long that the game went on without you."),
        }.get(Seat.Left(seat.left_why), _("You left the game."))
    if seat.out_at is not None and not game.end:
        return _("You were voted out. The others are still playing.")
    return how_it_went(game)


def how_it_went(game: Game) -> str:
    """The end of the game in a sentence; "" before."""
    if not game.end:
        return ""
    return {
        Game.End.AGENT_OUT: _("The AI was voted out."),
        Game.End.SURVIVED: _("The AI was not found."),
        Game.End.ABANDONED: _("Too many people left, so the game could not go on. That is not your fault."),
        Game.End.CANCELLED: _("The people who run the study had to end the game. That is not your fault."),
    }[Game.End(game.end)]


def _common(participant: Participant) -> Data:
    return {"study": participant.study, "participant": participant}
