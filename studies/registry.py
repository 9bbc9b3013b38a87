"""The one registry: activities, arrivals, erasers, datasets, reports, companions; apps add theirs in ready().

INSTALLED_APPS lists the floors from the top down: erasers run from what points down to what is pointed at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from studies.tables import Table

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

    from studies.figures import Figure
    from studies.files.shapes import Shape
    from studies.models import Participant, Study
    from studies.reports import ReportResult

    # Said to be an alias: in a cycle of imports mypy would take it for a variable.
    Text: TypeAlias = str | _StrPromise


class Keyed(Protocol):
    @property
    def key(self) -> str: ...


T = TypeVar("T", bound=Keyed)


class Registry(Generic[T]):
    """Things of one sort by their key, in the order in which they were added."""

    def __init__(self, sort: str) -> None:
        self._sort = sort
        self._items: dict[str, T] = {}

    def add(self, item: T) -> T:
        """Add ``item``; ValueError where the key is taken."""
        if item.key in self._items:
            raise ValueError(f"{self._sort} {item.key!r} is registered twice")
        self._items[item.key] = item
        return item

    def get(self, key: str) -> T:
        """The item of that key; KeyError where there is none."""
        return self._items[key]

    def __contains__(self, key: object) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[T]:
        return iter(self._items.values())

    def keys(self) -> list[str]:
        return list(self._items)


@dataclass(frozen=True)
class DebriefRow:
    """One answer of a participant beside the truth; ``said`` and ``was`` are "human", "machine" or words."""

    what: Text
    said: str
    was: str
    line: str = ""


def _nothing(study: Study) -> None:
    return None


def _leave_nothing(participant: Participant) -> None:
    return None


def _not_hindered(participant: Participant) -> bool:
    return False


def _no_end(participant: Participant) -> str:
    return ""


def _no_problems(study: Study) -> list[Text]:
    return []


def _nothing_at(study: Study, user: Any) -> None:
    return None


def _has_none(study: Study) -> bool:
    return False


def _has_it(study: Study) -> bool:
    return True


def _no_facts(_participant: Participant) -> list[tuple[Text, str]]:
    return []


def _no_rows(participant: Participant) -> list[DebriefRow]:
    return []


def _no_figures(result: ReportResult) -> Sequence[Figure]:
    return ()


def _no_places(study: Study, language: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Activity:
    """What people do in a study, as far as the study's pages need to know it.

    ``next_url(participant)``: where the person is inside the activity. ``is_complete``: nothing is left.
    ``is_enough``: stopping now still counts as done (default: only when complete). ``ready(study)``: what
    keeps the study from opening, in words. ``prepare(study)``: make the activity's settings for a new study.
    ``counting(study)``: what more must be so before people come in whose answers count (not in a pilot);
    ``at_opening(study, user)`` is called at that moment, before it is asked.
    ``places(study, language)``: words for the ``place_names`` that texts may leave open, as {round_size}.
    ``hindered``: what is ours (the technique, the material) has kept the person from taking part; asked where
    somebody stops before it is enough. ``stops_as``: the end state of somebody who stops then, where the
    activity knows a better one than withdrawal. ``left``: take what others see of somebody who withdrew away
    at once.
    ``debrief_facts``: heading and words of what the person did, for the debrief.
    ``card``: the static file of the picture beside a shared link, ``{language}`` in it for "en" or "zh".
    """

    key: str
    title: Text
    start_url_name: str
    next_url: Callable[[Participant], str]
    is_complete: Callable[[Participant], bool]
    is_enough: Callable[[Participant], bool] | None = None
    debrief_rows: Callable[[Participant], list[DebriefRow]] = _no_rows
    debrief_facts: Callable[[Participant], list[tuple[Text, str]]] = _no_facts
    ready: Callable[[Study], list[Text]] = _no_problems
    prepare: Callable[[Study], None] = _nothing
    counting: Callable[[Study], Sequence[Text]] = _no_problems
    at_opening: Callable[[Study, Any], None] = _nothing_at
    place_names: tuple[str, ...] = ()
    places: Callable[[Study, str], Mapping[str, str]] = _no_places
    card: str = ""
    hindered: Callable[[Participant], bool] = _not_hindered
    stops_as: Callable[[Participant], str] = _no_end
    left: Callable[[Participant], None] = _leave_nothing

    def counts_as_done(self, participant: Participant) -> bool:
        return (self.is_enough or self.is_complete)(participant)


@dataclass(frozen=True)
class Eraser:
    """Removes one app's rows of a participant. ``models`` names what it takes care of ("app_label.Model").

    ``erase`` runs inside the transaction of the withdrawal and returns how many rows it removed or emptied.
    """

    key: str
    models: tuple[str, ...]
    erase: Callable[[Participant], int]


@dataclass(frozen=True)
class Column:
    """One column of a dataset, as the data dictionary describes it. ``tier``: the widest tier that has it.

    ``type`` is one of string, integer, number, boolean, datetime, date, object, array.
    """

    name: str
    meaning: Text
    unit: str = ""
    levels: tuple[str, ...] = ()
    tier: str = "public"
    type: str = "string"


@dataclass(frozen=True)
class Dataset:
    """One tidy table of the export. ``models`` names the tables it is made from ("app_label.Model").

    ``primary_key`` names the columns that tell rows apart, ``counted`` the column of reasons whose levels the
    manifest counts. ``by_column`` reads some of the columns without making rows. ``outcomes``: the rows are
    what people said, which stays hidden while a study runs.
    """

    key: str
    title: Text
    models: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: Callable[[Study], Iterable[Mapping[str, Any]]]
    primary_key: tuple[str, ...] = ()
    counted: str = ""
    by_column: Callable[[Study, Sequence[str] | None], Table] | None = None
    outcomes: bool = False

    def table(self, study: Study, columns: Sequence[str] | None = None) -> Table:
        """The rows kept by column; only the columns named, all where that is ``None``."""
        if self.by_column is not None:
            return self.by_column(study, columns)
        return Table.of(self.rows(study))


@dataclass(frozen=True)
class Report:
    """A pure function over tidy rows; ``datasets`` names the tables whose rows ``build`` is given.

    ``columns``: of a large table those that it reads; of a table that is not named there, all.
    ``outcomes``: its figures that a plan may name as the primary one; ``families``: comparisons whose p
    values are adjusted together. ``figures``: of its result, from the tables alone. ``blind``: whatever it
    is given, it shows nothing by kind or system of the dialogues. ``layers``: of labels, with their words;
    such a report reads one of them, the first unless asked, in place of an analysis set. ``sets``: whether it
    reads an analysis set of verdicts at all. ``of``: the sort of outcomes that its figures rest on.
    ``has(study)``: whether it is listed among the study's.
    """

    key: str
    title: Text
    datasets: tuple[str, ...]
    build: Callable[..., Any]
    outcomes: Mapping[str, Text] = field(default_factory=dict)
    families: Mapping[str, Text] = field(default_factory=dict)
    figures: Callable[[ReportResult], Sequence[Figure]] = _no_figures
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    blind: bool = False
    layers: Mapping[str, Text] = field(default_factory=dict)
    sets: bool = True
    of: Literal["verdicts", "scores", "games"] = "verdicts"
    has: Callable[[Study], bool] = _has_it

    @property
    def shows_outcomes(self) -> bool:
        """Whether it is hidden while a study runs, and reading it is noted."""
        return not self.blind and any(datasets.get(key).outcomes for key in self.datasets)


@dataclass(frozen=True)
class Outcomes:
    """A sort of outcomes, as a study has many: what is counted where they are seen or a plan is frozen.

    ``dataset``: the table they are rows of. ``count(study)``: those that count now. ``words(n)``: as
    “12 games”. ``has(study)``: people leave such outcomes in it, though there may be none yet.
    """

    key: str
    dataset: str
    count: Callable[[Study], int]
    words: Callable[[int], str]
    has: Callable[[Study], bool]


@dataclass(frozen=True)
class StudyPart:
    """An activity's part of a study file, under ``settings`` by the activity's key.

    ``fields``: the shape of every setting. ``read(study)`` and ``defaults()`` give all of them.
    ``refusal(study, name)``: why a setting may not change now, empty where it may.
    ``write(study, values, user)`` sets some. ``has(study)``: the study has such settings though the activity
    is not among those that everybody does.
    """

    key: str
    fields: Mapping[str, Shape]
    read: Callable[[Study], dict[str, Any]]
    defaults: Callable[[], dict[str, Any]]
    refusal: Callable[[Study, str], Text]
    write: Callable[[Study, Mapping[str, Any], Any], None]
    has: Callable[[Study], bool] = _has_none


@dataclass(frozen=True)
class Companion:
    """A text file that exports have beside their tables, if it is not empty; ``key`` is its path in the zip.

    ``text(study, language)`` reads what it needs itself, at the moment of the tables; ``language`` is that of
    the dialogues the export is limited to, or "".
    """

    key: str
    text: Callable[[Study, str], str]


@dataclass(frozen=True)
class Arrival:
    """What becomes of a visitor who brought a word along, as the code of an invitation.

    ``arrive(participant, word, user)`` runs inside the transaction of the consent, for a new participant and
    for one who was there already; a DomainError undoes the consent. Sent twice, it changes nothing.
    ``activity``: what newcomers do from then on as their own; they read its text.
    """

    key: str
    arrive: Callable[[Participant, str, Any], None]
    activity: str = ""


@dataclass(frozen=True)
class Target:
    """Tells whether a study has what its frozen plan wants; noted with every look at outcomes."""

    key: str
    reached: Callable[[Study], bool]


activities: Registry[Activity] = Registry("activity")
erasers: Registry[Eraser] = Registry("eraser")
datasets: Registry[Dataset] = Registry("dataset")
reports: Registry[Report] = Registry("report")
outcomes: Registry[Outcomes] = Registry("sort of outcomes")
companions: Registry[Companion] = Registry("companion")
arrivals: Registry[Arrival] = Registry("arrival")
targets: Registry[Target] = Registry("target")
study_parts: Registry[StudyPart] = Registry("part of study files")
