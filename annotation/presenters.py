"""Everything an annotator's browser gets: the item, its batch, the context of every page.

Blind: nothing here tells what an item is for (work, known scores, a repeat), its place, the kind or system of
its dialogue, or other raters. Every context has ``study`` and ``participant``; the rest, by template:

- ``annotation/batch.html``: ``item`` (the JSON object, see ``item_json``), ``categories`` (in this rater's
  order: ``key``, ``name``, ``summary``, ``dimensions`` of ``key``, ``name``, ``low``, ``high``,
  ``description``, ``examples``), ``scale`` ("0" … "5" → words), ``answers`` (two of ``value``, ``label`` in
  this person's order), ``keys_off``, ``errors`` (what a plain form left out or got wrong: field → words),
  ``refused`` (why it comes back, "" where it does not), ``shown`` (``scores``, ``choice``, ``confidence`` as
  the fields show them: what is stored, below what was typed into a form that was refused),
  ``urls`` (``state``, ``save``, ``listening``, ``next``, ``failed``, ``known``, ``keys``, ``pause``,
  ``leave``, ``guidelines``). Forms without scripts: save takes ``score-KEY``, ``version-KEY``, ``choice``,
  ``confidence``, ``version-choice``, and ``go`` = next to go on at once; failed ``why``; keys ``off``.
- ``annotation/returned.html``: ``batch`` (``number``, ``of``, ``finished``, ``left``, ``begun``: of those
  left, how many have scores), ``urls`` (``take`` POST, ``leave``).
- ``annotation/done.html``: ``batch`` (``number``, ``of``, ``finished``, ``left_out``: known, failed or given
  to somebody else, ``minutes``), ``total`` (``batches``, ``dialogues``, ``minutes``), ``more`` (another may
  be had), ``resume_code``, ``urls`` (``next``, ``pause``, ``finish``).
- ``annotation/break.html``: ``reason`` ("" a break of one's own | ``paused`` the study | ``set_aside`` this
  person, with ``words`` of the desk | ``sound`` it fails too often | ``nothing`` none left for now |
  ``over`` all batches done), ``words``, ``total``, ``in_batch``, ``more``, ``resume_code``, ``urls``
  (``continue``, ``finish``); ``enough``: what was done counts as done.
- ``annotation/finish.html``: ``total``, ``pay`` ("" where none is set), ``urls`` (``stop`` POST, ``back``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Annotator, BatchItem, Category, Dimension, Taxonomy
from annotation.models.taxonomy import in_language
from annotation.services.batches import Place
from annotation.services.listening import SLOWEST, unlock_in
from annotation.services.scoring import Given, Saved
from dialogues import time_line
from studies import codes, texts
from studies.models import Participant, Study


def page(study: Study, participant: Participant, **rest: Any) -> dict[str, Any]:
    return {"study": study, "participant": participant, **rest}


def address(name: str, study: Study, *args: object) -> str:
    return reverse(f"annotation:{name}", args=[study.slug, *args])


def finish(study: Study, *, more: bool, enough: bool) -> str:
    """Where stopping leads: while there is more to do, to a summary for those who have done ``enough`` and
    to a question for others.
    """
    if more and enough:
        return address("finish", study)
    return reverse("studies:leave" if more else "studies:go", args=[study.slug])


def order(annotator: Annotator) -> list[str]:
    """The two answers from left to right, as drawn for this person."""
    return ["human", "machine"] if annotator.human_left else ["machine", "human"]


def item_json(
    place: Place, scores: Mapping[str, Given], items: Sequence[int], now: datetime
) -> dict[str, Any]:
    """The ``item`` object of the page. ``items``: keys of those of the batch that count, in their order.

    ``position`` of ``of`` in batch number ``batch``; ``ranges`` were heard at speed 1; ``unlock_in``: seconds
    until scores open by themselves, None before anything was played; ``slowest``: the least speed there is
    once they are open; ``plays``, ``pauses``, ``hidden``, ``slow``, ``speed`` (the slowest so far) let a
    reloaded page count on; ``break``: a break is offered.
    """
    item, batch = place.item, place.batch
    assert item is not None  # noqa: S101  (asked for places in a batch)
    assert batch is not None  # noqa: S101
    length = round(time_line.length(item.exposure, item.dialogue), 2)
    wait = None if item.gate else unlock_in(item, now=now)
    following = place.following
    return {
        "code": item.code,
        "position": items.index(item.pk) + 1,
        "of": len(items),
        "batch": batch.number,
        "kind": batch.kind,
        "audio": reverse("dialogues:media", args=[item.exposure.token]),
        "length": length,
        "turns": time_line.flat(time_line.turns(item.exposure, item.dialogue), length),
        "heard": round(item.heard, 3),
        "ranges": item.ranges,
        "unlocked": bool(item.gate),
        "unlock_in": None if wait is None else round(max(wait, 0.0), 1),
        "plays": item.plays,
        "pauses": item.pauses,
        "hidden": item.hidden_seconds,
        "slow": item.slow_seconds,
        "speed": item.slowest,
        "slowest": SLOWEST,
        "scores": scores_json(scores),
        "choice": item.choice or None,
        "confidence": item.confidence,
        "choice_version": item.version,
        "order": order(place.annotator),
        "known": item.known,
        "preload": reverse("dialogues:media", args=[following.exposure.token]) if following else None,
        "break": place.rest,
    }


def scores_json(scores: Mapping[str, Given]) -> dict[str, dict[str, Any]]:
    return {
        key: {"value": given.value, "version": given.version}
        for key, given in scores.items()
        if given.is_stored
    }


def saved_json(saved: Saved, study: Study) -> dict[str, Any]:
    """What a save answers: what is stored now of what was sent, and how far the item is."""
    body: dict[str, Any] = {
        "scores": saved.scores,
        "scored": saved.scored,
        "complete": saved.is_complete,
        "break": saved.rest,
    }
    if saved.choice is not None:
        body["choice"] = saved.choice
    if saved.conflicts:
        body["conflicts"] = saved.conflicts
    if saved.item.state == BatchItem.State.RETURNED:
        body["returned"] = address("returned", study)
    return body


def categories(taxonomy: Taxonomy, annotator: Annotator) -> list[dict[str, Any]]:
    """The categories with their dimensions, in the order drawn for this person; unknown ones at the end."""
    drawn = {key: place for place, key in enumerate(annotator.category_order)}
    rows = taxonomy.categories.prefetch_related("dimensions").order_by("position")
    return [category(row) for row in sorted(rows, key=lambda row: drawn.get(row.key, len(drawn)))]


def category(row: Category) -> dict[str, Any]:
    return {
        "key": row.key,
        "name": row.name,
        "summary": in_language(row, "summary"),
        "dimensions": [dimension(one) for one in row.dimensions.all()],
    }


def dimension(row: Dimension) -> dict[str, Any]:
    zh = texts.content_language() == "zh"
    first, second = (row.examples_zh, row.examples_en) if zh else (row.examples_en, row.examples_zh)
    return {
        "key": row.key,
        "name": row.name,
        "low": row.low,
        "high": row.high,
        "description": in_language(row, "description"),
        "examples": first or second,
    }


def scale(taxonomy: Taxonomy) -> dict[str, str]:
    return {step: str(texts.pick(words)) for step, words in sorted(taxonomy.scale.items())}


def differing(saved: Saved) -> dict[str, str]:
    """Words for each field that was changed elsewhere: what is stored, and what saving again does."""
    said = {"human": _("Human"), "machine": _("Machine"), 0: _("no evidence")}
    words = _("Answered differently elsewhere: “%(stored)s” is stored. Save again to keep what stands here.")
    return {
        key: words % {"stored": said.get(one["value"], one["value"])} for key, one in saved.conflicts.items()
    }


def filled_in(item: Mapping[str, Any], typed: Mapping[str, int | str]) -> dict[str, Any]:
    """What the fields show: the stored answers, below those ``typed`` that could not be stored."""
    scores = dict(item["scores"])
    for field, value in typed.items():
        key = field.removeprefix("score-")
        stored = scores.get(key)
        if field.startswith("score-") and (stored is None or stored["value"] != value):
            scores[key] = {"value": value, "version": stored["version"] if stored else 0, "typed": True}
    return {
        "scores": scores,
        "choice": typed.get("choice", item["choice"]),
        "confidence": typed.get("confidence", item["confidence"]),
    }


def batch_page(
    place: Place,
    item: Mapping[str, Any],
    *,
    errors: Mapping[str, Any] | None = None,
    refused: str = "",
    typed: Mapping[str, int | str] | None = None,
) -> dict[str, Any]:
    annotator = place.annotator
    participant, study = annotator.participant, annotator.participant.study
    labels = {"human": _("Human"), "machine": _("Machine")}
    taxonomy = place.settings.taxonomy
    return page(
        study,
        participant,
        item=item,
        categories=categories(taxonomy, annotator),
        scale=scale(taxonomy),
        answers=[{"value": value, "label": labels[value]} for value in order(annotator)],
        keys_off=annotator.keys_off,
        errors=dict(errors or {}),
        refused=refused,
        shown=filled_in(item, typed or {}),
        urls={
            "state": address("batch", study),
            **{name: address(name, study, item["code"]) for name in ITEM_URLS},
            "keys": address("keys", study),
            "pause": address("pause", study),
            "guidelines": address("guidelines", study),
            "leave": reverse("studies:leave", args=[study.slug]),
        },
    )


ITEM_URLS = ("save", "listening", "next", "failed", "known")


def returned_page(place: Place, counts: Mapping[str, int]) -> dict[str, Any]:
    participant = place.annotator.participant
    study = participant.study
    return page(
        study,
        participant,
        batch=counts,
        urls={
            "take": address("returned", study),
            "leave": reverse("studies:leave", args=[study.slug]),
        },
    )


def done_page(
    participant: Participant,
    *,
    batch: Mapping[str, Any],
    total: Mapping[str, Any],
    more: bool,
    enough: bool,
) -> dict[str, Any]:
    study = participant.study
    return page(
        study,
        participant,
        batch=batch,
        total=total,
        more=more,
        resume_code=codes.grouped(participant.resume_code),
        urls={
            "next": address("play", study),
            "pause": address("pause", study),
            "finish": finish(study, more=more, enough=enough),
        },
    )


def break_page(
    participant: Participant,
    *,
    reason: str,
    words: str,
    total: Mapping[str, Any],
    in_batch: bool,
    more: bool,
    enough: bool,
) -> dict[str, Any]:
    study = participant.study
    return page(
        study,
        participant,
        reason=reason,
        words=words,
        total=total,
        in_batch=in_batch,
        more=more,
        enough=enough,
        resume_code=codes.grouped(participant.resume_code),
        urls={"continue": address("play", study), "finish": finish(study, more=more, enough=enough)},
    )


def finish_page(participant: Participant, *, total: Mapping[str, Any], pay: str) -> dict[str, Any]:
    study = participant.study
    urls = {"back": address("play", study), "stop": reverse("studies:leave", args=[study.slug])}
    return page(study, participant, total=total, pay=pay, urls=urls)
