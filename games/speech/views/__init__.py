"""Pages and requests of the game. ``trials``: what the player page sends; ``pages``: everything around it.

Requests with JSON get JSON; plain forms get a redirect to where the person then is.
"""

from games.speech.views.pages import board, check, clip, nickname, pause, play, round_, sound
from games.speech.views.trials import failed, keys, known, listening, next_, trial, verdict

__all__ = [
    "board",
    "check",
    "clip",
    "failed",
    "keys",
    "known",
    "listening",
    "next_",
    "nickname",
    "pause",
    "play",
    "round_",
    "sound",
    "trial",
    "verdict",
]
