"""Everything a participant's browser gets from this floor's pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode

from django.utils import formats, timezone
from django.utils.translation import gettext as _

from studies import arrivals, codes, selectors, texts
from studies.models import Completion, ConsentText, Participant, Study


def welcome_page(study: Study, query: Mapping[str, str], *, activity: str = "") -> dict[str, Any]:
    """``activity``: what the visitor was invited to do as their own."""
    text = selectors.current_consent_text(study, activity)
    words = texts.shown(study, text) if text else {}
    return {
        "study": study,
        "tagline": words.get("tagline") or study.title,
        "facts": words.get("welcome") or words.get("summary", []),
        "notice": study.notice,
        "query": forwarded(study, query),
    }


def forwarded(study: Study, query: Mapping[str, str]) -> str:
    """The part of the address that goes along until consent: recruiter ids, source tag, test flag."""
    pairs = dict(arrivals.recruiter_ids(study, query))
    if tag := arrivals.source_tag(query):
        pairs["src"] = tag
    if arrivals.is_test(study, query):
        pairs["test"] = "1"
    return f"?{urlencode(pairs)}" if pairs else ""


def consent_page(study: Study, text: ConsentText) -> dict[str, Any]:
    words = texts.shown(study, text)
    return {
        "study": study,
        "activity": text.activity,
        "version": text.version,
        "summary": words["summary"],
        "sections": words["sections"],
        "contact": study.contact,
    }


def consent_copy(study: Study, text: ConsentText, participant: Participant | None) -> str:
    """The text to keep, plain, in the reader's language, with version, hash and what was chosen."""
    words = texts.shown(study, text)
    lines = [study.title, "", _("What you consent to"), ""]
    lines += [f"{label}: {value}" for label, value in words["summary"]]
    for heading, paragraph in words["sections"]:
        lines += ["", heading, paragraph]
    lines += ["", _("Version %(version)s, SHA-256 %(hash)s") % {"version": text.version, "hash": text.sha256}]
    given = getattr(participant, "consent", None)
    if participant is not None and given is not None:
        yes, no = _("yes"), _("no")
        lines += [
            "",
            _("Given on %(when)s")
            % {"when": formats.date_format(timezone.localtime(given.given_at), "DATETIME_FORMAT")},
            f"{_('I have read this and take part.')} {yes}",
            f"{_('What I write in my own words may be published.')} {yes if given.publish_text else no}",
            f"{_('You may contact me again.')} {yes if given.contact_again else no}",
            "",
            _("Receipt code, to withdraw: %(code)s") % {"code": codes.grouped(participant.receipt_code)},
            _("Code to continue on another device: %(code)s")
            % {"code": codes.grouped(participant.resume_code)},
        ]
    return "\n".join(lines) + "\n"


def leave_page(participant: Participant) -> dict[str, Any]:
    return {
        "study": participant.study,
        "participant": participant,
        "resume_code": codes.grouped(participant.resume_code),
        "receipt_code": codes.grouped(participant.receipt_code),
        "pay": pay_text(selectors.pay_if_stopped(participant)),
    }


def debrief_page(participant: Participant) -> dict[str, Any]:
    """What was studied and withheld, the person's answers beside the truth, pay, and how to withdraw."""
    study = participant.study
    completion = selectors.completion_of(participant)
    return {
        "study": study,
        "participant": participant,
        "erased": participant.erased_at is not None,
        "withdrawn": participant.withdrawn_at is not None,
        "sections": _told(participant),
        "rows": selectors.debrief_rows(participant),
        "facts": selectors.debrief_facts(participant),
        "receipt_code": codes.grouped(participant.receipt_code),
        "pay": pay_text(completion),
        "code": completion.code if completion else "",
        "link": return_link(completion, participant) if completion else "",
        "contact": study.contact,
        "erasure_day": texts.day_text(study.erasure_until) if study.erasure_until else "",
    }


def _told(participant: Participant) -> list[list[str]]:
    """What the person is told afterwards: by the text they agreed to and, where they have gone over to an
    activity of their own since, by that one's, too.
    """
    given = getattr(participant, "consent", None)
    now = selectors.text_of(participant)
    read = now if given is None else given.text
    found: list[list[str]] = []
    for text in (read, None if now and read and now.activity == read.activity else now):
        if text is not None:
            found += [one for one in texts.shown(participant.study, text)["debrief"] if one not in found]
    return found


def withdraw_page(study: Study) -> dict[str, Any]:
    day = texts.day_text(study.erasure_until) if study.erasure_until else ""
    return {"study": study, "erasure_day": day, "contact": study.contact}


def pay_text(completion: Completion | None) -> str:
    if completion is None:
        return ""
    return str(texts.pick({"en": completion.pay_en, "zh": completion.pay_zh or completion.pay_en}))


def return_link(completion: Completion, participant: Participant) -> str:
    """The recruiter's return link; {NAME} in it stands for the id that came under that name."""
    link = completion.link
    for name, value in participant.recruiter.items():
        link = link.replace(f"{{{name}}}", quote(str(value), safe=""))
    return link


def study_card(study: Study) -> dict[str, Any]:
    """A study on the front page."""
    page = welcome_page(study, {})
    return {"slug": study.slug, "title": study.title, "tagline": page["tagline"], "facts": page["facts"][:1]}
