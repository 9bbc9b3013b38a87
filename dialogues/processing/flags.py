"""Rules that mark a dialogue after processing, each with its number. Flags mark, they never delete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from turingsite.audio.process import EVEN

SHORTEST, LONGEST = 20.0, 60.0  # seconds
LEAST_SHARE, MOST_SHARE = 0.4, 0.6  # of the utterances
LONGEST_OVERLAP = 0.5  # seconds
MOST_OVERLAPS = 5
LEAST_SPEECH = 0.5  # seconds
MOST_CLIPPED = 0.0005  # of all samples: one in two thousand is heard
MOST_GAIN = 30.0  # dB: more lifts the noise of a faint recording into hearing


@dataclass(frozen=True)
class Raised:
    """A rule that applies, the number it applies to, and what a person should see of it."""

    rule: str
    value: float | None
    evidence: dict[str, Any]


def raised(numbers: dict[str, Any]) -> list[Raised]:
    """The flags that the numbers of ``turingsite.audio.process`` call for."""
    return list(_raised(numbers))


def of_length(seconds: float) -> Iterator[Raised]:
    """The flag of a length that is unusual, measured or declared."""
    if not SHORTEST <= seconds <= LONGEST:
        yield Raised("duration", seconds, {"low": SHORTEST, "high": LONGEST})


def _raised(numbers: dict[str, Any]) -> Iterator[Raised]:
    result, loudness = numbers["result"], numbers["loudness"]
    duration = numbers.get("play", {}).get("duration", result["duration"])
    yield from of_length(duration)
    no_speech = result["speech_seconds"] < LEAST_SPEECH
    if no_speech:
        yield Raised("no_speech", result["speech_seconds"], {"low": LEAST_SPEECH})
    shares = result["utterance_share"]
    if len(shares) < 2:
        yield Raised("few_speakers", float(len(shares)), {"low": 2, "speakers": sorted(shares)})
    else:
        least, most = min(shares.values()), max(shares.values())
        if least < LEAST_SHARE or most > MOST_SHARE:
            evidence = {"low": LEAST_SHARE, "high": MOST_SHARE, "utterances": shares}
            yield Raised("balance", least, {**evidence, "talking_time": result["speech_share"]})

    turns = numbers["turns"]
    if turns["given"] == 0 and turns["used"]:
        yield Raised("detected-turns", float(turns["used"]), {"found_by": turns["found_by"]})

    overlaps = result["overlaps"]
    if overlaps["longest"] > LONGEST_OVERLAP or overlaps["count"] > MOST_OVERLAPS:
        limits = {"longest_allowed": LONGEST_OVERLAP, "most_allowed": MOST_OVERLAPS}
        yield Raised("interruptions", overlaps["longest"], {**overlaps, **limits})

    clipped = numbers["source"]["clipped"]
    if clipped > MOST_CLIPPED:
        yield Raised("clipping", clipped, {"high": MOST_CLIPPED, "peak_db": numbers["source"]["peak_db"]})
    gain = max(loudness["gain"].values(), default=0.0)
    if gain > MOST_GAIN and not no_speech:
        yield Raised("faint", gain, {"high": MOST_GAIN, "gain": loudness["gain"]})
    if loudness["is_even"] is False:
        yield Raised("uneven_loudness", loudness["difference"], {"high": EVEN, "after": loudness["after"]})
    for warning in numbers["source"]["warnings"]:
        if warning["code"] in ("truncated", "damaged"):
            yield Raised(warning["code"], numbers["source"]["duration"], dict(warning["params"]))
