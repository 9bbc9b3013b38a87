"""The audit trail in words: what was done, to which group it belongs, what its details are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _


class Deed(NamedTuple):
    """An action as a clause that follows the actor's name; ``%(target)s`` is where its object is named."""

    group: str
    words: Any


GROUPS: Mapping[str, Any] = {
    "study": _("Study"),
    "plan": _("Plan"),
    "desk": _("People on the desk"),
    "participants": _("Participants"),
    "outcomes": _("Looks at outcomes"),
    "exports": _("Exports"),
    "corpus": _("Dialogues"),
    "imports": _("Imports"),
    "annotation": _("Annotation"),
    "games": _("Group games"),
    "api": _("API"),
    "other": _("Other"),
}

DEEDS: Mapping[str, Deed] = {
    "study.created": Deed("study", _("made the study")),
    "study.status": Deed("study", _("changed the status")),
    "study.settings": Deed("study", _("changed the settings")),
    "study.completions": Deed("study", _("changed codes, links or pay")),
    "study.file_applied": Deed("study", _("applied a study file")),
    "agent.published": Deed("study", _("stored the agent %(target)s")),
    "speech.settings": Deed("study", _("changed the speech game's settings")),
    "group.settings": Deed("study", _("changed the group game's settings")),
    "consent_text.published": Deed("study", _("stored the texts, version %(target)s")),
    "questionnaire.published": Deed("study", _("stored the questionnaire %(target)s")),
    "demo.played": Deed("study", _("simulated rounds for the demo")),
    "demo.games": Deed("study", _("simulated group games for the demo")),
    "demo.labelled": Deed("study", _("simulated annotation and review for the demo")),
    "plan.drafted": Deed("plan", _("changed the draft of the plan, %(target)s")),
    "plan.discarded": Deed("plan", _("threw the draft of the plan away, %(target)s")),
    "plan.frozen": Deed("plan", _("froze the plan, %(target)s")),
    "study.member_added": Deed("desk", _("gave %(target)s a part in the study")),
    "study.member_removed": Deed("desk", _("took the part in the study away from %(target)s")),
    "participant.withdrew": Deed("participants", _("withdrew")),
    "participant.erased": Deed("participants", _("had everything erased")),
    "study.looked_early": Deed("outcomes", _("looked at outcomes while the study ran")),
    "group.watched": Deed("outcomes", _("opened %(target)s")),
    "report.read": Deed("outcomes", _("read the report %(target)s")),
    "audit.asked": Deed("outcomes", _("asked for the nuisance audit %(target)s")),
    "audit.made": Deed("outcomes", _("made the nuisance audit %(target)s")),
    "audit.answered": Deed("outcomes", _("answered warnings of the nuisance audit %(target)s")),
    "study.exported": Deed("exports", _("made the export %(target)s")),
    "export.requested": Deed("exports", _("asked for the export %(target)s")),
    "export.stopped": Deed("exports", _("stopped the export %(target)s")),
    "export.fetched": Deed("exports", _("fetched the export %(target)s")),
    "items.put_back": Deed("corpus", _("put dialogues back into play")),
    "items.taken_out": Deed("corpus", _("took dialogues out of play")),
    "speaker.withdrew": Deed("corpus", _("noted that speaker %(target)s withdrew")),
    "speaker.returned": Deed("corpus", _("took back the withdrawal of speaker %(target)s")),
    "flag.reviewed": Deed("corpus", _("reviewed a flag of %(target)s")),
    "flag.marked": Deed("corpus", _("put a flag on %(target)s")),
    "dialogues.scanned": Deed("corpus", _("scanned the transcripts")),
    "dialogue.turns_corrected": Deed("corpus", _("corrected the turns of %(target)s")),
    "dialogue.queued": Deed("corpus", _("sent %(target)s to processing")),
    "dialogue.processed": Deed("corpus", _("processed %(target)s")),
    "dialogue.processing_failed": Deed("corpus", _("could not process %(target)s")),
    "recording.narrowed": Deed("corpus", _("took rights of the recording %(target)s away")),
    "import.created": Deed("imports", _("uploaded %(target)s")),
    "import.confirmed": Deed("imports", _("confirmed %(target)s")),
    "import.stopped": Deed("imports", _("stopped %(target)s")),
    "import.resumed": Deed("imports", _("let %(target)s go on")),
    "import.done": Deed("imports", _("finished %(target)s")),
    "verdicts.imported": Deed("imports", _("imported verdicts")),
    "scores.imported": Deed("imports", _("imported scores")),
    "group_games.imported": Deed("imports", _("imported group games")),
    "annotation.settings": Deed("annotation", _("changed the annotation settings")),
    "taxonomy.copied": Deed("annotation", _("made the copy %(target)s of a taxonomy")),
    "taxonomy.edited": Deed("annotation", _("edited the taxonomy %(target)s")),
    "taxonomy.loaded": Deed("annotation", _("loaded the taxonomy %(target)s from a file")),
    "invitation.made": Deed("annotation", _("made the invitation %(target)s")),
    "invitation.closed": Deed("annotation", _("closed the invitation %(target)s")),
    "annotator.paused": Deed("annotation", _("paused the annotator %(target)s")),
    "annotator.resumed": Deed("annotation", _("let the annotator %(target)s go on")),
    "annotator.set_aside": Deed("annotation", _("set the scores of the annotator %(target)s aside")),
    "annotator.taken_back": Deed("annotation", _("took the scores of the annotator %(target)s back in")),
    "annotator.another_try": Deed("annotation", _("gave the annotator %(target)s another try")),
    "reference.made": Deed("annotation", _("made the scores of the dialogue %(target)s known")),
    "reference.retired": Deed("annotation", _("retired the known scores of the dialogue %(target)s")),
    "reference.reckoned_anew": Deed(
        "annotation",
        _("reckoned the known scores of the dialogue %(target)s anew, since a rater's were erased"),
    ),
    "reference.activated": Deed("annotation", _("took the known scores of the dialogue %(target)s up again")),
    "review.decided": Deed("annotation", _("decided on a score in the review %(target)s")),
    "review.lot_approved": Deed("annotation", _("approved scores in one go in the review %(target)s")),
    "review.commented": Deed("annotation", _("commented in the review %(target)s")),
    "review.agreed": Deed("annotation", _("closed a difference in the review %(target)s")),
    "review.closed": Deed("annotation", _("closed the review %(target)s")),
    "review.reopened": Deed("annotation", _("opened the review %(target)s again")),
    "group.next_phase": Deed("games", _("ended a phase of %(target)s by hand")),
    "room.extended": Deed("games", _("gave %(target)s more time")),
    "seat.removed": Deed("games", _("removed a player from %(target)s")),
    "group.cancelled": Deed("games", _("stopped %(target)s")),
    "group.concern_seen": Deed("games", _("looked at what was reported in %(target)s")),
    "group.preview_opened": Deed("games", _("opened all seats of %(target)s")),
    "group.bots_called": Deed("games", _("called bots, language %(target)s")),
    "api.token_made": Deed("api", _("made the API token %(target)s")),
    "api.token_revoked": Deed("api", _("revoked the API token %(target)s")),
}

#: What details are called; a detail without a name here is shown under its own.
DETAILS: Mapping[str, Any] = {
    "activity": _("activity"),
    "answers": _("answers"),
    "arm": _("arm"),
    "bots": _("bots"),
    "changed": _("changed"),
    "counts": _("found"),
    "days": _("days"),
    "decision": _("decision"),
    "dialogues": _("dialogues"),
    "dimension": _("dimension"),
    "files": _("files"),
    "formats": _("formats"),
    "given_away": _("given to others"),
    "items": _("dialogues"),
    "layers": _("layers"),
    "may_export": _("may export"),
    "moved": _("moved"),
    "n": _("outcomes then"),
    "owner": _("owner"),
    "people": _("people"),
    "phase": _("phase"),
    "places": _("places"),
    "profile": _("gap profile"),
    "reached": _("target reached"),
    "removed": _("taken out"),
    "review": _("review"),
    "rights": _("rights"),
    "role": _("part"),
    "rounds": _("rounds"),
    "rows": _("rows"),
    "rule": _("rule"),
    "rules": _("rules"),
    "scores": _("scores"),
    "seconds": _("seconds"),
    "seen": _("read while closed"),
    "set": _("analysis set"),
    "stale_exports": _("exports out of date"),
    "status": _("status then"),
    "template": _("template"),
    "tier": _("tier"),
    "tries": _("tries"),
    "turns": _("turns"),
    "verdicts": _("verdicts"),
    "version": _("version"),
    "warnings": _("warnings"),
    "why": _("why"),
}


def group_of(action: str) -> str:
    return DEEDS[action].group if action in DEEDS else "other"


def actions_of(group: str) -> list[str]:
    return [action for action, deed in DEEDS.items() if deed.group == group]
