"""Every write of the speech game, by topic. Each takes ``now``, checks the rule, writes, and can be sent
twice.

``playing``: where a person is, rounds, the next trial. ``slots``: the order of a round. ``listening``: what
was heard, the gate. ``verdicts``: answers and their exclusions. ``failures``: clips that fail. ``checks``:
sound check, content checks, spoken instructions. ``scoring``: points. ``readiness``: what keeps a study from
opening. Imports go playing → slots, checks, scoring → players; nobody imports playing except ``failures``.
"""

from dialogues.listening import Listening
from games.speech.services.checks import answer_check, answer_sound, restart_sound
from games.speech.services.failures import report_failure
from games.speech.services.listening import record_listening
from games.speech.services.players import player_of, settings_of, switch_keys
from games.speech.services.playing import Place, mark_round_seen, next_trial, sound_fails, start_or_resume
from games.speech.services.readiness import ready
from games.speech.services.verdicts import give_verdict, mark_known

__all__ = [
    "Listening",
    "Place",
    "answer_check",
    "answer_sound",
    "give_verdict",
    "mark_known",
    "mark_round_seen",
    "next_trial",
    "player_of",
    "ready",
    "record_listening",
    "report_failure",
    "restart_sound",
    "settings_of",
    "sound_fails",
    "start_or_resume",
    "switch_keys",
]
