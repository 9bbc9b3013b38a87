"""Check the cells of one row that need no file: ids, kinds, names. All faults of a row are told."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import Any

from django.utils.translation import gettext_noop

from dialogues.builtin import folded
from dialogues.importing import notes
from dialogues.importing.declared import declared_length, has_sound
from dialogues.importing.known import Known
from dialogues.importing.notes import Note
from dialogues.importing.plan import CONSENT, Plan
from dialogues.models import Dialogue, Kind, Nature, Speaker, StudyItem
from studies.models import Language

ID = re.compile(r"[^\W_][\w.\-]*")
ID_LENGTH = 120
SPEAKER_LENGTH = 60
LENGTHS = {"opening": 120, "topic": 60, "source_corpus": 80, "licence": 120, "system": 120, "system_a": 120}
KIND_MEANT = {
    "hh": "human_human", "humans": "human_human", "human": "human_human", "realhuman": "human_human",
    "真人": "human_human",
    "hm": "human_machine", "machine": "human_machine", "humanai": "human_machine", "ai": "human_machine",
    "humanbot": "human_machine", "s2s": "human_machine", "人机": "human_machine", "机器": "human_machine",
    "ph": "pseudo_human", "pseudo": "pseudo_human", "tts": "pseudo_human", "synthetic": "pseudo_human",
    "伪真人": "pseudo_human",
}  # fmt: skip
LANGUAGE_MEANT = {"english": "en", "eng": "en", "英文": "en", "英语": "en", "chinese": "zh", "mandarin": "zh",
                  "cn": "zh", "zho": "zh", "中文": "zh", "汉语": "zh"}  # fmt: skip
YES, NO = {"yes", "y", "true", "1", "是"}, {"no", "n", "false", "0", "否"}


def check_cells(data: dict[str, Any], known: Known, *, create_systems: bool) -> tuple[Plan, list[Note]]:
    """The plan as far as cells go, and everything to say about them."""
    said: list[Note] = []
    text = {name: _text(name, value, said) for name, value in data.items() if not isinstance(value, list)}
    plan = Plan(external_id=text.get("id", ""))
    said += _id(plan.external_id)
    plan.kind = _kind(text.get("kind", ""), said)
    plan.language = _language(text.get("language", ""), said)
    plan.topic = _topic(text.get("topic", ""), known)
    plan.strategy = _strategy(text.get("strategy", ""), known, said)
    plan.opening = text.get("opening", "")
    plan.source_corpus = text.get("source_corpus", "")
    plan.licence = text.get("licence", "")
    plan.origin = _one_of("origin", text.get("origin", ""), list(Dialogue.Origin.values), said)
    plan.channels = _one_of(
        "channels", text.get("channels", ""), [c for c in Dialogue.Channels.values if c], said
    )
    plan.declared = declared_length(text.get("duration", ""), sounds=has_sound(data), said=said)
    plan.may_play = _yes_no("may_play", text.get("may_play", ""), True, said)
    plan.may_redistribute = _yes_no("may_redistribute", text.get("may_redistribute", ""), False, said)
    plan.may_derive = _yes_no("may_derive", text.get("may_derive", ""), True, said)
    _role(plan, text, said)
    _systems(plan, text, known, said, create=create_systems)
    _speakers(plan, text, data.get("speaker_consent", ""), known, said)
    if not plan.may_play:
        said.append(
            notes.warning("not_played", gettext_noop("may_play is no: participants will not hear this."))
        )
    return plan, said


def _text(name: str, value: Any, said: list[Note]) -> str:
    """The cell as clean text; formula-like and overlong cells are told (ids tell their own faults)."""
    text = unicodedata.normalize("NFC", str(value)).strip()
    if text in ("-", "–", "—", "n/a", "N/A", "NA", "null", "None"):
        return ""
    if name in ("id", "turns", "turns_a", "turns_b"):
        return text
    if text[:1] in ("=", "+", "@", "-"):
        said.append(
            notes.refused(
                "formula",
                gettext_noop(
                    "“%(value)s” in %(column)s looks like a spreadsheet formula. Begin it with a letter."
                ),
                value=notes.shortened(text),
                column=name,
            )
        )
    elif any(not c.isprintable() for c in text):
        said.append(
            notes.refused(
                "control_characters", gettext_noop("%(column)s holds control characters."), column=name
            )
        )
    elif len(text) > LENGTHS.get(name, 10_000):
        said.append(
            notes.refused(
                "too_long",
                gettext_noop("%(column)s has %(length)s characters; at most %(most)s."),
                column=name,
                length=len(text),
                most=LENGTHS.get(name, 10_000),
            )
        )
    return text


def _id(value: str) -> list[Note]:
    if not value:
        return [
            notes.refused("no_id", gettext_noop("The id is empty. Give each dialogue a name of its own."))
        ]
    if len(value) > ID_LENGTH:
        message = gettext_noop("The id has %(length)s characters; at most %(most)s.")
        return [notes.refused("id_too_long", message, length=len(value), most=ID_LENGTH)]
    if value[0] in "=+@-":
        message = gettext_noop(
            "The id “%(id)s” looks like a spreadsheet formula. Begin it with a letter or digit."
        )
        return [notes.refused("id_formula", message, id=notes.shortened(value))]
    if "/" in value or "\\" in value or ".." in value:
        message = gettext_noop(
            "The id “%(id)s” looks like a path. Use letters, digits, dot, dash and underscore."
        )
        return [notes.refused("id_path", message, id=notes.shortened(value))]
    if not ID.fullmatch(value):
        message = gettext_noop(
            "The id “%(id)s” has characters that ids may not have. "
            "Use letters, digits, dot, dash and underscore."
        )
        return [notes.refused("id_characters", message, id=notes.shortened(value))]
    return []


def _kind(value: str, said: list[Note]) -> str:
    if value in Kind.values:
        return value
    if not value:
        message = gettext_noop("The kind is empty. Write human_human, human_machine or pseudo_human.")
        said.append(notes.refused("no_kind", message))
        return ""
    _not_known("kind", "unknown_kind", value, _kind_meant(value), list(Kind.values), said)
    return ""


def _kind_meant(value: str) -> str:
    key = folded(value)
    for kind in Kind.values:
        if key == folded(kind):
            return str(kind)
    return KIND_MEANT.get(key) or _close(value, list(Kind.values))


def _language(value: str, said: list[Note]) -> str:
    stem = re.split(r"[-_]", value.casefold())[0]
    if stem in Language.values and (len(value) == 2 or value[2] in "-_"):
        return stem
    if not value:
        said.append(notes.refused("no_language", gettext_noop("The language is empty. Write en or zh.")))
        return ""
    _not_known(
        "language",
        "unknown_language",
        value,
        LANGUAGE_MEANT.get(folded(value), ""),
        list(Language.values),
        said,
    )
    return ""


def _topic(value: str, known: Known) -> str:
    found = known.topic(value) if value else None
    return str(found["code"]) if found else value


def _strategy(value: str, known: Known, said: list[Note]) -> str:
    if not value or value in known.strategies:
        return value
    same = next((code for code in known.strategies if folded(code) == folded(value)), "")
    _not_known(
        "strategy",
        "unknown_strategy",
        value,
        same or _close(value, list(known.strategies)),
        list(known.strategies),
        said,
    )
    return ""


def _role(plan: Plan, text: dict[str, str], said: list[Note]) -> None:
    """What the study uses the dialogue for; only a spoken instruction asks for an answer, and it has to."""
    plan.role = _one_of("role", text.get("role", ""), list(StudyItem.Role.values), said)
    plan.expected = _one_of("expected", text.get("expected", ""), list(Nature.values), said)
    if plan.role == StudyItem.Role.ATTENTION and not text.get("expected"):
        message = gettext_noop("An attention item needs the answer that the voice asks for, in expected.")
        said.append(notes.refused("no_expected", message))
    elif plan.expected and not (text.get("role") and plan.role in ("", StudyItem.Role.ATTENTION)):
        message = gettext_noop("Only attention items ask for an answer: write attention in role.")
        said.append(notes.refused("expected_not_expected", message))


def _systems(plan: Plan, text: dict[str, str], known: Known, said: list[Note], *, create: bool) -> None:
    b, a = text.get("system", ""), text.get("system_a", "")
    if plan.kind == Kind.HUMAN_HUMAN:
        if a or b:
            message = gettext_noop("A human–human dialogue has no system, but “%(system)s” is given.")
            said.append(notes.refused("system_not_expected", message, system=notes.shortened(b or a)))
        if plan.strategy:
            message = gettext_noop("A strategy says how a machine was spoken to; it is left out here.")
            said.append(notes.warning("strategy_left_out", message))
            plan.strategy = ""
        return
    if plan.kind and not b and plan.declared is None:
        message = gettext_noop("A %(kind)s dialogue needs the system that speaks as B.")
        said.append(notes.refused("no_system", message, kind=plan.kind))
    if plan.kind == Kind.PSEUDO_HUMAN and not a and b:
        a = b
    for label, name in (("B", b), ("A", a)):
        if not name or (label == "A" and folded(name) == folded(b) and "B" not in plan.systems):
            continue
        entry = known.system(name)
        if entry is None and not create:
            if label == "B" or folded(name) != folded(b):
                said.append(_unknown_system(name, known))
            continue
        plan.systems[label] = entry["name"] if entry else name
        if entry is None and label == "B":
            said.append(
                notes.warning(
                    "system_created",
                    gettext_noop("The system “%(system)s” is new; this row creates it."),
                    system=name,
                )
            )
        elif entry and label == "B":
            _fits(plan, entry, said)


def _unknown_system(name: str, known: Known) -> Note:
    """How a new system is allowed, the desk and the command say in their own words."""
    close = known.close_systems(name)
    if close:
        message = gettext_noop("Is “%(system)s” a new system, or did you mean %(meant)s?")
        return notes.question("unknown_system", message, system=notes.shortened(name), meant=", ".join(close))
    message = gettext_noop("“%(system)s” is not a known system.")
    return notes.question("unknown_system", message, system=notes.shortened(name))


def _fits(plan: Plan, entry: dict[str, Any], said: list[Note]) -> None:
    languages = entry.get("languages") or []
    if languages and plan.language and plan.language not in languages:
        message = gettext_noop(
            "%(system)s is listed for %(languages)s only, this dialogue is in %(language)s."
        )
        said.append(
            notes.warning(
                "system_language",
                message,
                system=entry["name"],
                languages=", ".join(languages),
                language=plan.language,
            )
        )
    expected = "tts" if plan.kind == Kind.PSEUDO_HUMAN else "s2s"
    if plan.kind and entry.get("role") and entry["role"] != expected:
        message = gettext_noop(
            "%(system)s is listed as another sort of system (%(role)s) than %(kind)s dialogues have."
        )
        said.append(
            notes.warning("system_role", message, system=entry["name"], role=entry["role"], kind=plan.kind)
        )


def _speakers(plan: Plan, text: dict[str, str], consent: Any, known: Known, said: list[Note]) -> None:
    for label in "AB":
        code = text.get(f"speaker_{label.lower()}", "")
        if not code or code[0] in "=+@-":
            continue
        if len(code) > SPEAKER_LENGTH or not ID.fullmatch(code):
            message = gettext_noop(
                "“%(code)s” is no speaker code. Use letters, digits, dot, dash and underscore, no names."
            )
            said.append(notes.refused("speaker_code", message, code=notes.shortened(code)))
        elif label == "B" and plan.kind == Kind.HUMAN_MACHINE:
            message = gettext_noop("B is a machine in a human_machine dialogue; speaker_b is left out.")
            said.append(notes.warning("speaker_left_out", message))
        else:
            plan.speakers[label] = code
    same = "A" in plan.speakers and plan.speakers["A"] == plan.speakers.get("B")
    if same and plan.kind == Kind.HUMAN_HUMAN:
        message = gettext_noop("speaker_a and speaker_b are the same person (%(code)s).")
        said.append(notes.warning("same_speaker", message, code=plan.speakers["A"]))
    words = (
        consent if isinstance(consent, list) else re.split(r"[\s,;|、，；]+", str(consent).casefold().strip())
    )
    if words and words != [""]:
        strange = [str(word) for word in words if word not in CONSENT]
        if strange:
            message = gettext_noop("speaker_consent knows the words %(words)s, not “%(strange)s”.")
            said.append(
                notes.refused(
                    "consent_words",
                    message,
                    words=", ".join(CONSENT),
                    strange=notes.shortened(", ".join(strange)),
                )
            )
        else:
            plan.consent = sorted({str(word) for word in words})
    said += _speaker_rights(plan, known)


def _speaker_rights(plan: Plan, known: Known) -> list[Note]:
    """What the people behind the voices allow: a withdrawn speaker's recording is not taken in again.

    Who is not stored yet comes with this row or an earlier one of the file: the check must foresee that.
    """
    said = []
    cloned = plan.kind == Kind.PSEUDO_HUMAN
    stored = {one.code: one for one in Speaker.objects.filter(code__in=plan.speakers.values())}
    for code in dict.fromkeys(plan.speakers.values()):
        speaker = stored.get(code) or known.newcomers.get(code) or Speaker(code=code, **plan.agreed)
        if speaker.withdrawn_at:
            message = gettext_noop("Speaker %(code)s has withdrawn; their recordings can't be taken in.")
            said.append(notes.refused("speaker_withdrawn", message, code=speaker.code))
        elif cloned and not speaker.may_clone:
            message = gettext_noop("Speaker %(code)s has not agreed to their voice being cloned.")
            said.append(notes.refused("speaker_not_cloned", message, code=speaker.code))
        elif not speaker.may_play:
            if (code in stored or code in known.newcomers) and _widened(speaker, plan):
                said.append(_consent_kept(speaker, plan))
            message = gettext_noop(
                "Speaker %(code)s has not agreed to being played in public: nobody will hear this."
            )
            said.append(notes.warning("speaker_not_played", message, code=speaker.code))
        elif (code in stored or code in known.newcomers) and _widened(speaker, plan):
            said.append(_consent_kept(speaker, plan))
    return said


def _widened(speaker: Speaker, plan: Plan) -> list[str]:
    """What the row says was agreed to and the speaker's record does not."""
    return [word for word in plan.consent or [] if not getattr(speaker, CONSENT[word])]


def _consent_kept(speaker: Speaker, plan: Plan) -> Note:
    message = gettext_noop(
        "Speaker %(code)s did not agree to %(words)s before; a manifest never adds consent. "
        "An operator records it with the speaker."
    )
    return notes.warning("consent_kept", message, code=speaker.code, words=", ".join(_widened(speaker, plan)))


def _one_of(column: str, value: str, allowed: list[str], said: list[Note]) -> str:
    low = value.casefold()
    if not value or low in allowed:
        return low
    _not_known(column, f"unknown_{column}", value, _close(low, allowed), allowed, said)
    return ""


def _yes_no(column: str, value: str, default: bool, said: list[Note]) -> bool:
    low = value.casefold()
    if low in YES or low in NO or not value:
        return default if not value else low in YES
    message = gettext_noop("%(column)s is yes or no, not “%(value)s”.")
    said.append(notes.refused("yes_or_no", message, column=column, value=notes.shortened(value)))
    return default


def _close(value: str, among: list[str]) -> str:
    found = difflib.get_close_matches(
        value.casefold().replace("-", "_").replace(" ", "_"), among, n=1, cutoff=0.6
    )
    return found[0] if found else ""


def _not_known(column: str, code: str, value: str, meant: str, allowed: list[str], said: list[Note]) -> None:
    if meant:
        message = gettext_noop("The %(column)s “%(value)s” is not known. Did you mean “%(meant)s”?")
        said.append(notes.refused(code, message, column=column, value=notes.shortened(value), meant=meant))
    else:
        message = gettext_noop("The %(column)s “%(value)s” is not known. Use one of: %(allowed)s.")
        said.append(
            notes.refused(
                code, message, column=column, value=notes.shortened(value), allowed=", ".join(allowed)
            )
        )
