"""Transcripts are searched at import and by command; flags come, go, and stay where a person had a say."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dialogues.models import Dialogue, Flag
from dialogues.services import review_flag
from dialogues.transcripts import services
from dialogues.transcripts.script import script_of
from studies.models import AuditLine
from studies.reports import Options, run_report
from tests import factories

LEAK, DENIAL = "identity-disclosure", "identity-denial"


def talk(*texts: str, language: str = "en", kind: str = "human_machine", **more: Any) -> Dialogue:
    """A dialogue of four turns, A first, that say these words."""
    dialogue: Dialogue = factories.DialogueFactory(kind=kind, language=language, **more)
    for turn, text in zip(dialogue.turns.order_by("index"), texts, strict=False):
        dialogue.turns.filter(pk=turn.pk).update(text=text)
    return dialogue


def raised(dialogue: Dialogue) -> set[tuple[str, int | None]]:
    return set(dialogue.flags.values_list("rule", "turn__index"))


@pytest.mark.django_db
class TestScan:
    def test_what_b_says_is_flagged_on_turn_and_dialogue(self) -> None:
        dialogue = talk(
            "Are you an AI?", "I'm an AI.", "Really?", "I have no body. As a language model I can't."
        )
        done = services.scan(dialogue=dialogue)
        assert done.transcribed
        assert raised(dialogue) == {(LEAK, None), (LEAK, 1), (LEAK, 3)}
        own = dialogue.flags.get(rule=LEAK, turn=None)
        assert (own.value, own.evidence["turns"], own.source) == (2, [1, 3], "rule")
        [mark] = dialogue.flags.get(turn__index=1).evidence["marks"]
        assert (mark["rule"], mark["evidence"]) == ("en-i-am", "I'm an AI")

    def test_a_may_say_what_a_likes(self) -> None:
        dialogue = talk("I'm an AI.", "Oh, are you?", "As a language model I know.", "Fine.")
        services.scan(dialogue=dialogue)
        assert raised(dialogue) == set()

    def test_a_denial_is_another_mark(self) -> None:
        dialogue = talk("你是机器人吗？", "我才不是机器人呢，我是真人。", language="zh")
        services.scan(dialogue=dialogue)
        assert raised(dialogue) == {(DENIAL, None), (DENIAL, 1)}

    def test_again_changes_nothing(self) -> None:
        dialogue = talk("Hi", "I'm a chatbot.")
        services.scan(dialogue=dialogue)
        before = list(dialogue.flags.order_by("pk").values_list("pk", flat=True))
        assert not services.scan(dialogue=dialogue).changed
        assert list(dialogue.flags.order_by("pk").values_list("pk", flat=True)) == before

    def test_a_corrected_text_lifts_the_rules_flags_and_nobody_elses(self) -> None:
        dialogue = talk("Hi", "I'm a chatbot.")
        services.scan(dialogue=dialogue)
        now = timezone.now()
        dialogue.flags.create(rule=LEAK, source="review", review="confirmed", reviewed_at=now)
        dialogue.flags.create(rule="duration", source="quality", value=12.0)
        dialogue.turns.filter(index=1).update(text="I'm a chef.")
        services.scan(dialogue=dialogue)
        assert set(dialogue.flags.values_list("rule", "source")) == {
            (LEAK, "review"),
            ("duration", "quality"),
        }

    def test_what_a_person_confirmed_stays_and_what_was_rejected_is_asked_anew(self) -> None:
        dialogue = talk("Hi", "I'm a chatbot.", "Hm", "Yes")
        services.scan(dialogue=dialogue)
        own = dialogue.flags.filter(rule=LEAK, turn=None)
        own.update(review="rejected", reviewed_at=timezone.now())
        services.scan(dialogue=dialogue)
        assert own.get().review == "rejected"
        dialogue.turns.filter(index=3).update(text="As an AI, I don't sleep.")
        services.scan(dialogue=dialogue)
        assert (own.get().review, own.get().reviewed_at) == ("", None)
        own.update(review="confirmed", reviewed_at=timezone.now())
        dialogue.turns.update(text="Nothing.")
        services.scan(dialogue=dialogue)
        assert raised(dialogue) == {(LEAK, None)}

    def test_no_words_are_no_transcript(self) -> None:
        assert not services.scan(dialogue=talk("Only A speaks.")).transcribed

    @pytest.mark.parametrize(("language", "text", "flagged"), [
        ("en", "今天的天气真不错，我们去公园吧", True),
        ("zh", "The weather is fine today", True),
        ("zh", "我用iPhone和ChatGPT写作业，还有Word文档啊", True),
        ("zh", "我昨天用手机上的微信给妈妈打了电话，她说OK", False),
        ("en", "We had Gong Bao chicken, c'est la vie", False),
        ("en", "hm 好", False),
    ])  # fmt: skip
    def test_another_script_than_declared_is_flagged_with_its_share(
        self, language: str, text: str, flagged: bool
    ) -> None:
        dialogue = talk(text, language=language)
        services.scan(dialogue=dialogue)
        found = dialogue.flags.filter(rule="wrong-language").first()
        assert (found is not None) == flagged
        if found is not None:
            own = script_of(text, language).own
            assert own is not None
            assert found.value == round(own, 4)


@pytest.mark.django_db
class TestCommand:
    def run(self, **options: Any) -> str:
        out = io.StringIO()
        call_command("scan_dialogues", stdout=out, **options)
        return out.getvalue()

    def test_it_counts_what_it_found_and_what_cannot_be_known(self) -> None:
        talk("Hi", "I'm an AI.", external_id="leaks")
        talk(external_id="silent")
        said = self.run()
        assert "leaks  identity-disclosure" in said
        assert "identity-disclosure: 1" in said
        assert "2 dialogues, 1 with words of B; flags of 1 changed." in said
        assert "1 have no transcript of B" in said
        assert "flags of 0 changed" in self.run()
        assert AuditLine.objects.filter(action="dialogues.scanned").count() == 2

    def test_a_study_alone(self, cast: Any) -> None:
        inside, outside = talk("Hi", "I'm an AI."), talk("Hi", "I'm an AI.")
        factories.StudyItemFactory(study=cast.study, dialogue=inside)
        self.run(study=cast.study.slug)
        assert (inside.flags.exists(), outside.flags.exists()) == (True, False)
        with pytest.raises(CommandError):
            self.run(study="nowhere")

    def test_thousands_take_few_queries_each(self, django_assert_max_num_queries: Any) -> None:
        for _ in range(20):
            talk("Hi", "Fine, thanks.")
        with django_assert_max_num_queries(20 * 4 + 10):
            self.run()
        assert Flag.objects.count() == 0


@pytest.mark.django_db
class TestLeaksReport:
    def leaks(self, study: Any) -> list[Any]:
        result = run_report("leaks", study, Options())
        rows = [row for row in result.tables[0].rows if row["strategy"] == "all"]
        return [row["leaks"] for row in rows if row["speaker"] == "machines"][:1]

    def test_what_the_scan_finds_is_what_the_report_counts(self, cast: Any) -> None:
        for text in ("I'm an AI.", "As a language model, yes.", "I'm a nurse."):
            factories.StudyItemFactory(study=cast.study, dialogue=talk("Hi", text))
        call_command("scan_dialogues", stdout=io.StringIO())
        assert self.leaks(cast.study) == [2]

    def test_a_rejected_flag_counts_no_more_and_a_confirmed_one_does(self, cast: Any) -> None:
        dialogue = talk("Hi", "I'm an AI.")
        factories.StudyItemFactory(study=cast.study, dialogue=dialogue)
        services.scan(dialogue=dialogue)
        flag = dialogue.flags.get(turn=None)
        for review, count in (("rejected", 0), ("confirmed", 1), ("", 1)):
            review_flag(dialogue=dialogue, flag_id=flag.pk, review=review, user=cast.researcher)
            assert self.leaks(cast.study) == [count], review
            assert set(dialogue.flags.values_list("review", flat=True)) == {review}

    def test_where_nothing_could_be_searched_the_report_has_no_number(self, cast: Any) -> None:
        factories.StudyItemFactory(study=cast.study, dialogue=talk())
        call_command("scan_dialogues", stdout=io.StringIO())
        assert self.leaks(cast.study) == [None]
