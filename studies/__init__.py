"""Studies, people, raters, consent, questionnaires, audit, exports, erasure, reports: what every activity shares."""
