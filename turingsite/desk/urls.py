"""Addresses of the desk's own pages, below /admin/, all named ``admin:desk_…``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import URLPattern, path

from turingsite.desk import (
    annotation,
    annotators,
    corpus,
    doctor,
    exports,
    group,
    group_concerns,
    group_doors,
    group_game,
    group_levers,
    group_preview,
    group_replay,
    group_waiting,
    imports,
    live,
    marks,
    opinions,
    participants,
    plan,
    planner,
    references,
    reports,
    stimuli,
    studies,
    studyfiles,
    taxonomies,
    taxonomy_editing,
    texts,
    tokens,
    trail,
    turns,
)

View = Callable[..., Any]

_VERSION = "taxonomies/<slug:taxonomy>/<int:version>"
#: Below a study's annotation.
_ANNOTATION: list[tuple[str, View, str]] = [
    ("", annotation.overview, "annotation"),
    ("settings/", annotation.settings, "annotation_settings"),
    ("invitations/", annotation.invitations, "annotation_invitations"),
    ("annotators/", annotators.annotators, "annotators"),
    ("annotators.csv", annotators.pay, "annotation_pay"),
    ("annotators/<slug:code>/", annotators.annotator, "annotator"),
    ("references/", references.references, "references"),
    ("taxonomies/", taxonomies.taxonomies, "taxonomies"),
    ("taxonomies/file/", taxonomies.taxonomy_file, "taxonomy_file"),
    (f"{_VERSION}.yaml", taxonomies.taxonomy_yaml, "taxonomy_yaml"),
    (f"{_VERSION}/", taxonomies.taxonomy, "taxonomy"),
    (f"{_VERSION}/words/", taxonomy_editing.words, "taxonomy_words"),
    (f"{_VERSION}/category/", taxonomy_editing.category, "taxonomy_category_new"),
    (f"{_VERSION}/category/<slug:part>/", taxonomy_editing.category, "taxonomy_category"),
    (f"{_VERSION}/dimension/", taxonomy_editing.dimension, "taxonomy_dimension_new"),
    (f"{_VERSION}/dimension/<slug:part>/", taxonomy_editing.dimension, "taxonomy_dimension"),
]
#: Below a study's group game.
_GROUP: list[tuple[str, View, str]] = [
    ("", group.games, "group"),
    ("settings/", group.settings, "group_settings"),
    ("agents/", group.agents, "group_agents"),
    ("waiting/", group_waiting.waiting, "group_waiting"),
    ("preview/", group_preview.preview, "group_preview"),
    ("concerns/", group_concerns.concerns, "group_concerns"),
    ("games/<slug:code>/", group_game.game, "group_game"),
    ("games/<slug:code>/news/", group_game.news, "group_news"),
    ("games/<slug:code>/watch/", group_doors.watch, "group_watch"),
    ("games/<slug:code>/lever/", group_levers.lever, "group_lever"),
    ("games/<slug:code>/seats/", group_preview.seats, "group_seats"),
    ("games/<slug:code>/replay/", group_replay.replay, "group_replay"),
]


def desk_urls(guarded: Callable[[View], View]) -> list[URLPattern]:
    """The patterns; ``guarded`` lets only people with a desk account in."""
    pages: list[tuple[str, View, str]] = [
        ("new-study/", studies.create, "create"),
        ("new-study/file/", studyfiles.new_study_file, "new_study_file"),
        ("new-study/<slug:name>.yaml", studyfiles.template, "study_template"),
        ("study/<slug:slug>/", studies.study, "study"),
        ("study/<slug:slug>/plan/", plan.plan, "plan"),
        ("study/<slug:slug>/plan/<int:version>.md", plan.plan_file, "plan_file"),
        ("study/<slug:slug>/planner/", planner.planner, "planner"),
        ("study/<slug:slug>/soft-launch/", plan.soft_launch, "soft_launch"),
        ("study/<slug:slug>/file/", studyfiles.study_file, "study_file"),
        ("study/<slug:slug>/file.yaml", studyfiles.study_yaml, "study_yaml"),
        ("study/<slug:slug>/live/", live.live, "live"),
        ("study/<slug:slug>/status/", studies.status, "status"),
        ("study/<slug:slug>/settings/", studies.settings, "settings"),
        ("study/<slug:slug>/texts/", texts.texts, "texts"),
        ("study/<slug:slug>/people/", studies.people, "people"),
        ("study/<slug:slug>/participants/", participants.participants, "participants"),
        ("study/<slug:slug>/participants/<slug:code>/", participants.participant, "participant"),
        ("study/<slug:slug>/verdicts/", opinions.verdicts, "verdicts"),
        ("study/<slug:slug>/audit/", trail.study_trail, "audit"),
        ("study/<slug:slug>/look/", opinions.look, "look"),
        ("study/<slug:slug>/tokens/", tokens.tokens, "tokens"),
        ("study/<slug:slug>/tokens/revoke/", tokens.revoke, "token_revoke"),
        ("study/<slug:slug>/stimuli/", stimuli.stimuli, "stimuli"),
        ("study/<slug:slug>/report/<slug:key>/", reports.report, "report"),
        ("study/<slug:slug>/export/", exports.make, "export"),
        ("study/<slug:slug>/exports/", exports.exports, "exports"),
        ("study/<slug:slug>/exports/<slug:code>/stop/", exports.cancel, "export_stop"),
        ("study/<slug:slug>/exports/<slug:code>/file/", exports.download, "export_file"),
        *((f"study/<slug:slug>/annotation/{route}", view, name) for route, view, name in _ANNOTATION),
        *((f"study/<slug:slug>/group/{route}", view, name) for route, view, name in _GROUP),
        ("audit/", trail.site_trail, "trail"),
        ("corpus/", corpus.dialogues, "dialogues"),
        ("corpus/in-play/", marks.in_play, "in_play"),
        ("corpus/<slug:code>/", corpus.dialogue, "dialogue"),
        ("corpus/<slug:code>/sound/", corpus.sound, "sound"),
        ("corpus/<slug:code>/original/", corpus.original, "original"),
        ("corpus/<slug:code>/process/", corpus.process, "process"),
        ("corpus/<slug:code>/turns/", turns.turns, "turns"),
        ("corpus/<slug:code>/listen/", turns.listen, "listen"),
        ("corpus/<slug:code>/flag/", marks.flag, "flag"),
        ("corpus/<slug:code>/aggressive/", marks.aggressive, "aggressive"),
        ("state/", doctor.doctor, "doctor"),
        ("imports/", imports.batches, "imports"),
        ("imports/new/", imports.new, "import_new"),
        ("imports/template.csv", imports.template, "import_template"),
        ("imports/<int:pk>/", imports.batch, "import"),
        ("imports/<int:pk>/<slug:step>/", imports.step, "import_step"),
    ]
    return [path(route, guarded(view), name=f"desk_{name}") for route, view, name in pages]
