"""How far people come: test participants count nowhere in it."""

from __future__ import annotations

import pytest

from games.speech.funnel import listening_of
from games.speech.models import Trial
from tests import factories

pytestmark = pytest.mark.django_db


def test_listening_leaves_test_participants_out() -> None:
    study = factories.StudyFactory()
    for is_test in (False, True, True):
        person = factories.ParticipantFactory(study=study, is_test=is_test)
        round_ = factories.RoundFactory(player__participant=person)
        factories.TrialFactory(round=round_, state=Trial.State.DONE, gate=Trial.Gate.TIMEOUT, known=True)
        factories.TrialFactory(round=round_, position=2, state=Trial.State.FAILED)
    assert listening_of(study)[:4] == (1, 1, 1, 1)
