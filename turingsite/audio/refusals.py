"""Why a file cannot be used as a recording, each reason in words a person can act on."""

from __future__ import annotations

from turingsite.errors import Invalid, gettext_noop


class AudioRefused(Invalid):
    """The file is no usable recording; it will not become one by trying again."""


class NotAFile(AudioRefused):
    def __init__(self, name: str) -> None:
        super().__init__(
            "not_a_file", gettext_noop("%(name)s is missing, or is not an ordinary file."), {"name": name}
        )


class EmptyFile(AudioRefused):
    def __init__(self) -> None:
        super().__init__("empty", gettext_noop("The file is empty (0 bytes)."))


class HeaderOnly(AudioRefused):
    def __init__(self) -> None:
        super().__init__("header_only", gettext_noop("The file has a header, but no sound follows it."))


class NotAudio(AudioRefused):
    def __init__(self) -> None:
        super().__init__(
            "not_audio",
            gettext_noop(
                "This is not a sound file that can be read here, whatever its name says. "
                "Use WAV, FLAC, MP3, OGG, Opus or M4A."
            ),
        )


class Unreadable(AudioRefused):
    def __init__(self, kind: str) -> None:
        super().__init__(
            "unreadable",
            gettext_noop("The file looks like %(kind)s, but no sound in it can be read: it may be damaged."),
            {"kind": kind},
        )


class BadRate(AudioRefused):
    def __init__(self, rate: int) -> None:
        super().__init__(
            "sample_rate",
            gettext_noop("A sample rate of %(rate)s Hz is not usable; between 4000 and 384000 Hz is."),
            {"rate": rate},
        )


class TooLong(AudioRefused):
    def __init__(self, max_seconds: float) -> None:
        super().__init__(
            "too_long",
            gettext_noop("The recording is longer than %(minutes)s minutes. Cut it into dialogues first."),
            {"minutes": f"{max_seconds / 60:g}"},
        )


class NoDecoder(AudioRefused):
    def __init__(self, kind: str) -> None:
        super().__init__(
            "no_decoder",
            gettext_noop(
                "To read %(kind)s files, install ffmpeg or the Python package imageio-ffmpeg on the "
                "server, or save the file as WAV or FLAC."
            ),
            {"kind": kind},
        )
