"""Every write of this floor, by topic: check the rule, write, leave an audit line where staff act or somebody
withdraws, all in one transaction.

``opening``: studies and their texts. ``consenting``: how visitors become participants, or do not.
``answering``: language and questionnaires. ``naming``: nicknames. ``ending``: how a participation ends.
``erasing``: what is removed. ``holding``: the lock on a person's row. ``paying``: codes, links and pay.
``planning``: the plan and its freezing. ``launching``: the soft launch and its pause.
"""

from studies.services.answering import choose_language, note_interface_language, record_answers
from studies.services.consenting import consent, turn_away
from studies.services.ending import begin, close, complete, let_go_on, screen_out, stop, withdraw
from studies.services.erasing import erase
from studies.services.holding import hold
from studies.services.launching import note_done
from studies.services.naming import set_nickname
from studies.services.opening import change_status, create_study, publish_consent_text, publish_questionnaire
from studies.services.planning import discard_draft, freeze_plan, save_draft, to_be_frozen

__all__ = [
    "begin",
    "change_status",
    "choose_language",
    "close",
    "complete",
    "consent",
    "create_study",
    "discard_draft",
    "erase",
    "freeze_plan",
    "hold",
    "let_go_on",
    "note_done",
    "note_interface_language",
    "publish_consent_text",
    "publish_questionnaire",
    "record_answers",
    "save_draft",
    "screen_out",
    "set_nickname",
    "stop",
    "to_be_frozen",
    "turn_away",
    "withdraw",
]
