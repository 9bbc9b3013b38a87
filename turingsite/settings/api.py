"""Settings of the REST interface: who gets in, how much, in which shape."""

from __future__ import annotations

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "turingsite.api.authentication.TokenAuthentication",
        "turingsite.api.authentication.DeskSession",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["turingsite.api.authentication.OnDesk"],
    "DEFAULT_THROTTLE_CLASSES": [
        "turingsite.api.throttling.CallerThrottle",
        "turingsite.api.throttling.VisitorThrottle",
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["turingsite.api.requests.SmallJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "turingsite.api.schema.ResourceSchema",
    "DEFAULT_METADATA_CLASS": None,  # OPTIONS says nothing that the schema does not say better
    "EXCEPTION_HANDLER": "turingsite.api.errors.handler",
    "URL_FORMAT_OVERRIDE": None,  # ``format`` is a parameter of reports
}

# Requests by minute or hour: of one token or account, of one participant (strangers together), exports made
# by one caller, wrong tokens that begin alike.
API_RATES = {"caller": "600/minute", "visitor": "300/minute", "export": "20/hour", "wrong_token": "30/minute"}

SPECTACULAR_SETTINGS = {
    "TITLE": "Turingsite",
    "DESCRIPTION": "Studies in which people and machines are put to the Turing test.",
    "VERSION": "1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "turingsite.api.schema.with_errors",
    ],
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "Language": "studies.models.Language",
        "EndState": "studies.models.EndState",
        "StudyStatus": "studies.models.Study.Status",
        "ParticipantState": "studies.models.Participant.State",
        "Kind": "dialogues.models.Kind",
        "Nature": "dialogues.models.Nature",
        "Choice": "dialogues.models.Choice",
        "DialogueState": "dialogues.models.Dialogue.State",
    },
}
