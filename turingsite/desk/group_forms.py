"""Shapes of what the desk sends about the group game: its settings, filters, levers, calls for bots."""

from __future__ import annotations

from typing import Any, ClassVar

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from games.group.models import Agent, GroupSettings
from games.group.services.agents import playable
from games.group.services.calls import MOST
from games.group.services.settings import FIXED_ONCE_PLAYED, SETTINGS, has_played
from studies.models import Language, Study
from turingsite.desk.forms import Answering
from turingsite.desk.group_words import thinking_of

#: The settings as the page groups them; every one stands in one group.
GROUPS: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (
        _("People and waiting"),
        ("people", "least_people", "start_after", "wait_minutes", "bots_after", "play_once"),
    ),
    (_("Rounds"), ("discussion_seconds", "vote_seconds", "reveal_seconds", "topic_en", "topic_zh")),
    (_("Vote"), ("agent_votes", "show_tallies", "abstain_button", "spectators")),
    (_("Messages"), ("max_length", "rate_count", "rate_seconds", "typing_indicator")),
    (_("Who leaves"), ("least_present", "gone_after")),
    (_("Agents"), ("agents",)),
)

HELP: dict[str, Any] = {
    "people": _("Beside them one agent plays. Published: 4 or 5."),
    "least_people": _("With fewer ready, nobody starts."),
    "wait_minutes": _("They may go on waiting, or leave with the code of those who waited in vain."),
    "bots_after": _("Only where test participants are allowed. Empty: never."),
    "discussion_seconds": _("Published: 150."),
    "vote_seconds": _("It ends sooner once everybody who is there has voted."),
    "topic_en": _("Everybody reads it when the game begins. Empty: people talk about what they like."),
    "agent_votes": _("As published. Its vote is in no figure of people's votes."),
    "show_tallies": _("Otherwise players learn only who is out and what they were."),
    "abstain_button": _("Without it, whoever lets the clock run out abstains."),
    "typing_indicator": _("The agent then shows it, too."),
    "least_present": _("With fewer, the game ends as abandoned."),
    "max_length": _("Characters."),
    "agents": _("Each game gets one of them, drawn with its seed."),
}


class AgentChoice(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return f"{obj} · {thinking_of(obj)}"


class GroupForm(Answering, forms.ModelForm):  # type: ignore[type-arg]
    """How the study plays; written by the service, never by ``save``."""

    agents = AgentChoice(
        Agent.objects.none(),
        label=_("Agents"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=HELP["agents"],
    )

    class Meta:
        model = GroupSettings
        fields = SETTINGS
        help_texts: ClassVar[dict[str, Any]] = HELP

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["agents"].queryset = playable()  # type: ignore[attr-defined]
        if has_played(self.instance.study):
            for name in FIXED_ONCE_PLAYED:
                self.lock(name, gettext("This can't be changed any more: people have played."))

    def groups(self) -> list[tuple[Any, list[BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in GROUPS]

    def _post_clean(self) -> None:
        """Leave the instance as it is: the service compares it with what is asked for."""


class GameFilter(Answering):
    """Which games are listed; stays in the address."""

    state = forms.ChoiceField(
        label=_("Games"),
        required=False,
        choices=[
            ("", _("all")),
            ("playing", _("being played")),
            ("played", _("played to the end")),
            ("stopped", _("ended before")),
        ],
    )
    language = forms.ChoiceField(label=_("Language"), required=False)
    tests = forms.BooleanField(label=_("With tests and previews"), required=False)

    def __init__(self, data: Any, *, study: Study) -> None:
        super().__init__(data)
        own = [(code, label) for code, label in Language.choices if code in study.languages]
        self.fields["language"].choices = [("", _("all")), *own]  # type: ignore[attr-defined]


class BotsForm(Answering):
    """How many bots to call, and for which language."""

    language = forms.ChoiceField(label=_("Language"), widget=forms.RadioSelect)
    bots = forms.IntegerField(label=_("Bots"), min_value=1, max_value=MOST, initial=1)

    def __init__(self, data: Any = None, *, study: Study, people: int) -> None:
        first = study.languages[0] if study.languages else ""
        super().__init__(data, initial={"language": first, "bots": people})
        self.fields["language"].choices = [  # type: ignore[attr-defined]
            (code, label) for code, label in Language.choices if code in study.languages
        ]


class PreviewForm(Answering):
    """In which language a preview is opened, and with which agent."""

    language = forms.ChoiceField(label=_("Language"), widget=forms.RadioSelect)
    agent = forms.ModelChoiceField(
        Agent.objects.none(), label=_("Agent"), required=False, empty_label=_("drawn, as for any game")
    )

    def __init__(self, data: Any = None, *, settings: GroupSettings) -> None:
        study = settings.study
        super().__init__(data, initial={"language": study.languages[0] if study.languages else ""})
        self.fields["language"].choices = [  # type: ignore[attr-defined]
            (code, label) for code, label in Language.choices if code in study.languages
        ]
        self.fields["agent"].queryset = playable()  # type: ignore[attr-defined]
