"""Addresses below /api/; whatever is not named here is answered in the shape of errors."""

from __future__ import annotations

from django.urls import path, re_path

from turingsite.api.views import about, exports, reports, tables, taking_part

app_name = "api"

V1 = "v1/"
STUDY = f"{V1}studies/<slug:slug>"

urlpatterns = [
    path(V1, about.Entry.as_view(), name="entry"),
    path(f"{V1}schema", about.Schema.as_view(), name="schema"),
    path(f"{V1}docs", about.docs, name="docs"),
    path(f"{V1}studies", tables.StudyList.as_view(), name="studies"),
    path(STUDY, tables.StudyDetail.as_view(), name="study"),
    path(f"{STUDY}/participants", tables.ParticipantList.as_view(), name="participants"),
    path(f"{STUDY}/participants/<slug:code>", tables.ParticipantDetail.as_view(), name="participant"),
    path(f"{STUDY}/me", taking_part.Me.as_view(), name="me"),
    path(f"{STUDY}/dialogues", tables.DialogueList.as_view(), name="dialogues"),
    path(f"{STUDY}/dialogues/<slug:code>", tables.DialogueDetail.as_view(), name="dialogue"),
    path(f"{STUDY}/verdicts", tables.VerdictList.as_view(), name="verdicts"),
    path(f"{STUDY}/scores", tables.ScoreList.as_view(), name="scores"),
    path(f"{STUDY}/reports", reports.ReportList.as_view(), name="reports"),
    path(f"{STUDY}/reports/<slug:name>", reports.ReportDetail.as_view(), name="report"),
    path(f"{STUDY}/exports", exports.ExportList.as_view(), name="exports"),
    path(f"{STUDY}/exports/<slug:code>", exports.ExportDetail.as_view(), name="export"),
    path(f"{STUDY}/exports/<slug:code>/file", exports.ExportFile.as_view(), name="export_file"),
    re_path(r"", about.Missing.as_view(), name="missing"),
]
