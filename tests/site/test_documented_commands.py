"""Every command the documents name runs, in their order, on studies that were played."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import soundfile
from django.core.management import call_command, get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandError

from dialogues.models import Dialogue
from games.group.interchange import FORMAT
from studies.models import Study
from tests import factories
from tests.site.test_documents import CODE, DOCUMENTS, ROOT
from tests.speech.played import Played
from turingsite.api.models import ApiToken

LINE = re.compile(r"(?:^|\s)manage\.py ([a-z_]+)([^#\n]*)")
# They stay until they are stopped, ask for a password, want a running site, or take a minute (tests/demo runs
# what seed_demo does); their options are parsed.
NOT_RUN = {
    "serve", "run_agents", "createsuperuser", "play_speech_game", "play_group_game", "annotate", "seed_demo",
}  # fmt: skip
PLACE = re.compile(r"(?!STUDY$)[A-Z]{3,}")  # a word that stands for one: FILE, SLUG (a study is called STUDY)
MAY_END_WITH_ONE = {"doctor", "check"}  # there is something to say about a site of the tests


class Documented(NamedTuple):
    where: str
    name: str
    words: list[str]
    to: str  # file that the output goes to, or ""


def command_of(name: str) -> BaseCommand:
    app = get_commands()[name]
    return load_command_class(app, name) if isinstance(app, str) else app


def is_mention(name: str) -> bool:
    """Whether the bare name, within a sentence, only speaks of a command that wants more than its name."""
    try:
        command_of(name).create_parser("manage.py", name).parse_args([])
    except CommandError:
        return True
    return False


def documented() -> Iterator[Documented]:
    for path in DOCUMENTS:
        for one, block in CODE.findall(path.read_text()):
            for line in (one or block).splitlines():
                found = LINE.search(line)
                if found is None or "…" in found[2]:
                    continue
                # What may be left out is left out: [--study SLUG].
                words, _sign, to = re.sub(r"\[[^]]*\]", "", found[2]).partition(">")
                if words.strip() or block or not is_mention(found[1]):
                    yield Documented(path.name, found[1], shlex.split(words), to.strip())


COMMANDS = list(documented())


@pytest.mark.parametrize("one", COMMANDS, ids=lambda one: f"{one.where}: {one.name} {' '.join(one.words)}")
def test_every_command_is_understood(one: Documented) -> None:
    parser = command_of(one.name).create_parser("manage.py", one.name)
    parser.parse_args(one.words)  # raises CommandError for what it does not know


@pytest.fixture
def place(db: None, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the documents take for granted: recordings, filled-in files, verdicts."""
    for name in ("VAR_DIR", "MEDIA_ROOT", "EXPORT_ROOT"):
        folder = tmp_path / name.lower()
        folder.mkdir()
        setattr(settings, name, folder)
    monkeypatch.chdir(tmp_path)
    researcher = factories.UserFactory(username="researcher", is_staff=True)
    for slug in ("demo", "my-study", "STUDY"):
        Played(slug, name=f"talker-{slug.lower()}")
        study = Study.objects.get(slug=slug)
        factories.StudyMemberFactory(study=study, user=researcher)
        factories.ConsentTextFactory(study=study)
        factories.QuestionnaireFactory(study=study)
    Dialogue.objects.update(state=Dialogue.State.READY)
    (tmp_path / "recordings").mkdir()
    rows = []
    for number in range(4):
        name = f"talk-{number}.wav"
        sound = np.random.default_rng(number).normal(0, 0.1, 16_000)
        soundfile.write(tmp_path / "recordings" / name, sound, 16_000)
        rows.append(f"talk-{number},human_human,en,{name}")
    filled_in["manifest.csv"] = "\n".join(["id,kind,language,audio", *rows]) + "\n"
    (tmp_path / "dialogues.csv").write_text(
        "id,kind,language,duration\nd1,human_human,en,25\nd2,human_human,en,31\n"
    )
    verdicts = "dialogue,rater,choice\nd1,ann,human\nd2,ann,machine\nd1,bo,human\nd2,bo,human\n"
    (tmp_path / "verdicts.csv").write_text(verdicts)
    seats = [{"seat": "a", "nature": "human"}, {"seat": "b", "nature": "human"}]
    game = {"id": "g1", "language": "en", "end": "survived", "rounds": 1, "format": FORMAT}
    table = {**game, "seats": [*seats, {"seat": "m", "nature": "machine"}]}
    (tmp_path / "games.jsonl").write_text(json.dumps(table) + "\n")
    labelled = Study.objects.get(slug="my-study")
    factories.AnnotationSettingsFactory(study=labelled)
    codes = Dialogue.objects.filter(study_items__study=labelled).order_by("pk").values_list("code", flat=True)
    scores = [
        f"{code},{rater},{dimension},{1 + (3 * at + step + len(dimension)) % 5},raw"
        for at, code in enumerate(codes)
        for step, rater in enumerate(("ann", "bo", "cy"))
        for dimension in ("rhythm", "accent")
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["dialogue,rater,dimension,score,layer", *scores]) + "\n")
    call_command("import_scores", tmp_path / "scores.csv", study="my-study", stdout=io.StringIO())
    return tmp_path


filled_in: dict[str, str] = {}  # files that a command begins and a person finishes


def finish(path: Path) -> None:
    """What the documents ask a person to do with a file: fill it in."""
    if path.name in filled_in:
        path.write_text(filled_in[path.name])
    if path.name == "mine.yaml":
        text = path.read_text().replace("host: ''", "host: A university")
        path.write_text(text.replace("contact: ''", "contact: study@example.org"))


def here(words: list[str]) -> list[str]:
    """The words of a command, with the beginning of a token that was really made."""
    if "--revoke" not in words:
        return words
    made = ApiToken.objects.order_by("-pk")[0].prefix
    at = words.index("--revoke") + 1
    return [*words[:at], words[at][:4] + made, *words[at + 1 :]]


@pytest.mark.slow
def test_every_command_runs(place: Path) -> None:
    ran = []
    for one in COMMANDS:
        if one.name in NOT_RUN or any(PLACE.fullmatch(word) for word in one.words):
            continue
        out, beside = io.StringIO(), io.StringIO()
        try:
            call_command(one.name, *here(one.words), stdout=out, stderr=beside)
        except (SystemExit, CommandError) as end:
            if one.name not in MAY_END_WITH_ONE:
                said = out.getvalue() + beside.getvalue()
                pytest.fail(f"{one.where}: {one.name} {one.words}: {end}\n{said}")
        if one.to:
            (place / one.to).write_text(out.getvalue())
            finish(place / one.to)
        if "--out" in one.words:
            made = place / one.words[one.words.index("--out") + 1]
            assert made.stat().st_size > 0, one
            finish(made)
        ran.append(one.name)
    assert {"import_dialogues", "report", "export", "export_study", "check_study", "doctor"} <= set(ran)
    assert Study.objects.filter(slug="elsewhere").exists()
    assert Dialogue.objects.filter(external_id="talk-0").exists()


def test_documents_name_every_command_of_ours() -> None:
    ours = {
        name
        for name, app in get_commands().items()
        if isinstance(app, str) and (ROOT / app.replace(".", "/")).is_dir()
    }
    text = "\n".join(path.read_text() for path in DOCUMENTS if path.name != "CHANGELOG.md")
    assert ours - set(re.findall(r"manage\.py ([a-z_]+)", text)) == set()


def test_words_of_make_that_need_nothing_run() -> None:
    import subprocess

    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    targets = set(re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {line.split()[0] for line in done.stdout.splitlines()} == targets
    for target in targets:
        # Understood and with what it needs, without doing it.
        assert subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True).returncode == 0, target
