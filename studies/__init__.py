"""Studies, people, raters, consent, questionnaires, audit, exports, erasure, reports: for every activity."""
