"""What texts say about the annotation in numbers, from the study's settings: {batch_size}, {rate}."""

from __future__ import annotations

from collections.abc import Mapping

from annotation.models import AnnotationSettings
from studies.models import Study
from studies.money import money
from studies.texts import EARNED, UNPAID, pay_of_done

NAMES = ("batch_size", "rate", "rate_earned")
AN_HOUR = {"en": "{amount} for an hour of work.", "zh": "每小时 {amount}。"}
RATE_EARNED = {
    "en": "Paid is the time in which you are active: calibration and listening again count, reading the "
    "guidelines and breaks do not. What you have earned stays yours, also if you stop early or do not "
    "pass calibration, and what you score never changes it.",
    "zh": "报酬按您实际工作的时间计算：校准和反复听计入，阅读说明和休息不计入。已得的报酬归您所有，"
    "提前停下或校准没有通过也不例外；评多少分不影响报酬。",
}


def places(study: Study, language: str) -> Mapping[str, str]:
    """``NAMES`` with their words: how many dialogues a batch has, and what an hour is paid.

    Without a rate it is what the study pays people who finish, or that it pays nothing.
    """
    settings = AnnotationSettings.objects.filter(study=study).first() or AnnotationSettings(study=study)
    rate, flat = settings.rate_per_hour, pay_of_done(study, language)
    if rate is not None:
        words = AN_HOUR[language].format(amount=money(rate, study.currency)), RATE_EARNED[language]
    else:
        words = flat or UNPAID[language], EARNED[language] if flat else ""
    return {"batch_size": str(settings.batch_size), "rate": words[0], "rate_earned": words[1]}
