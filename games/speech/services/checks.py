"""The sound check before the first round, the question what was talked about, what was asked for by voice."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from dialogues.models import Dialogue, StudyItem, Topic
from games.speech import sound_words
from games.speech.models import ContentCheck, SpeechPlayer, SpeechSettings, Trial
from games.speech.services.players import locked_player
from games.speech.services.verdicts import CHECKS_FAILED, mark_checks_failed
from studies.assignment import seeded
from studies.models import Participant
from studies.services.holding import refuse_if_over
from turingsite.errors import Invalid, NotFound

TRIES = 3
OPTIONS = 4
ROUNDS = 2  # the checks are spread over the first rounds, so that most people meet them all


def ensure_sound_word(player: SpeechPlayer, participant: Participant) -> bool:
    """Draw the word of this try where none is set. Whether there is a word: without one there is no sound
    check.
    """
    if sound_words.word(player.sound_word, participant.judging_language) is not None:
        return True
    words = sound_words.words(participant.judging_language)
    if not words:
        return False
    rng = seeded(participant.study.seed, "sound", participant.code)
    drawn = rng.sample(range(len(words)), min(TRIES, len(words)))
    player.sound_word = words[drawn[player.sound_tries % len(drawn)]].id
    player.save(update_fields=["sound_word"])
    return True


@transaction.atomic
def answer_sound(*, participant: Participant, typed: str, now: datetime, tried: int | None = None) -> bool:
    """Take the word a person heard; whether the sound check is over. Three tries, then on, with the failure
    kept.

    ``tried`` says how many tries the page knew of: a word sent twice, or from an older page, is one try.
    """
    refuse_if_over(participant)
    player = locked_player(participant)
    if player.sound_passed is not None:
        return True
    if tried is not None and tried != player.sound_tries:
        return False
    if not ensure_sound_word(player, participant):
        return True
    word = sound_words.word(player.sound_word, participant.judging_language)
    heard = sound_words.heard_as(typed)
    if not heard:
        raise Invalid("no_word", _("Type the word you hear."), fields={"word": _("Type the word you hear.")})
    player.sound_tries += 1
    if word is not None and heard in word.accept:
        player.sound_passed = True
    elif player.sound_tries >= TRIES:
        player.sound_passed = False
    player.sound_word = ""
    player.save(update_fields=["sound_tries", "sound_passed", "sound_word"])
    return player.sound_passed is not None


@transaction.atomic
def restart_sound(*, participant: Participant) -> None:
    """Ask for a word again, for people who changed their device or headphones."""
    refuse_if_over(participant)
    player = locked_player(participant)
    player.sound_tries, player.sound_passed, player.sound_word = 0, None, ""
    player.save(update_fields=["sound_tries", "sound_passed", "sound_word"])


def ask_after(
    trial: Trial, *, player: SpeechPlayer, settings: SpeechSettings, now: datetime
) -> ContentCheck | None:
    """Perhaps ask what was talked about in the trial just left.

    Sampling without replacement: of the verdicts still to come in the first rounds, each is followed by a
    check with probability (checks left / verdicts left). Left out where the dialogue has no topic, or fewer
    than three others.
    """
    left = settings.content_checks - player.checks_asked
    if left <= 0 or trial.round.for_fun:
        return None
    rounds = min(ROUNDS, settings.max_rounds) if settings.max_rounds else ROUNDS
    place = (trial.round.number - 1) * settings.round_size + trial.position
    slots = max(rounds * settings.round_size - place + 1, 1)
    participant = player.participant
    rng = seeded(participant.study.seed, "check", participant.code, place)
    if rng.random() >= left / slots:
        return None
    topics = _topics(trial, participant)
    correct = trial.dialogue.topic_id
    others = sorted(pk for pk in topics if pk != correct)
    if correct not in topics or len(others) < OPTIONS - 1:
        return None
    order = [correct, *rng.sample(others, OPTIONS - 1)]
    rng.shuffle(order)
    check = ContentCheck.objects.create(trial=trial, order=order, correct_id=correct, asked_at=now)
    check.options.set(order)
    SpeechPlayer.objects.filter(pk=player.pk).update(checks_asked=F("checks_asked") + 1)
    player.checks_asked += 1
    return check


def count_answer(trial: Trial, *, player: SpeechPlayer) -> None:
    """Count the spoken instruction just left as failed where another answer was given than asked for."""
    if trial.answer != trial.expected:
        _count_failure(player)


def _count_failure(player: SpeechPlayer) -> None:
    """The second failed check, of whichever sort, marks the person's verdicts; nothing else follows from it,
    least of all for pay.
    """
    player.checks_failed += 1
    player.save(update_fields=["checks_failed"])
    if player.checks_failed == CHECKS_FAILED:
        mark_checks_failed(player)


def _topics(trial: Trial, participant: Participant) -> set[int]:
    """Topics of the study's dialogues in this language that people can read in either interface language."""
    dialogues = Dialogue.objects.filter(
        study_items__study=participant.study_id,
        study_items__role=StudyItem.Role.MAIN,
        language=trial.round.language,
    )
    named = Topic.objects.exclude(label_en="", label_zh="").filter(dialogues__in=dialogues)
    return set(named.distinct().values_list("pk", flat=True))


@transaction.atomic
def answer_check(*, participant: Participant, code: str, option: int, now: datetime) -> ContentCheck:
    """Store which topic a person chose, counted from 0 in the order shown. The first answer stands."""
    refuse_if_over(participant)
    player = locked_player(participant)
    check = access_check(participant, code)
    if check.answered_at is not None:
        return check
    if not 0 <= option < len(check.order):
        raise Invalid(
            "bad_topic", _("Choose one of the topics."), fields={"topic": _("Choose one of the topics.")}
        )
    check.chosen_id = check.order[option]
    check.answered_at = now
    check.save(update_fields=["chosen", "answered_at"])
    if check.chosen_id != check.correct_id:
        _count_failure(player)
    return check


def access_check(participant: Participant, code: str) -> ContentCheck:
    """The check of that code if it was put to this person; NotFound otherwise."""
    check = (
        ContentCheck.objects.select_related("trial__round")
        .prefetch_related("options")
        .filter(code=code, trial__round__player__participant=participant)
        .first()
    )
    if check is None:
        raise NotFound("no_check", _("There is no such question here."))
    return check
