"""What the corpus holds: systems, speakers, recordings, dialogues with their parties and turns."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from studies import codes, texts
from studies.models import Language, Rater


class Kind(models.TextChoices):
    """Who speaker B is. The truth of a pseudo-human dialogue is *machine*."""

    HUMAN_HUMAN = "human_human", _("human–human")
    HUMAN_MACHINE = "human_machine", _("human–machine")
    PSEUDO_HUMAN = "pseudo_human", _("pseudo-human")


class Modality(models.TextChoices):
    SPEECH = "speech", _("speech")
    TEXT = "text", _("text")


class Nature(models.TextChoices):
    HUMAN = "human", _("human")
    MACHINE = "machine", _("machine")


class System(models.Model):
    """A machine that speaks in dialogues, at one version."""

    class Role(models.TextChoices):
        S2S = "s2s", _("speech to speech")
        TTS = "tts", _("text to speech")
        TEXT = "text", _("text")

    name = models.CharField(_("name"), max_length=120, unique=True)
    code = models.SlugField(_("code"), max_length=60, unique=True)
    vendor = models.CharField(_("vendor"), max_length=120, blank=True)
    version = models.CharField(_("version or snapshot"), max_length=120, blank=True)
    release_year = models.PositiveSmallIntegerField(_("release year"), null=True, blank=True)
    open_weights = models.BooleanField(_("open weights"), null=True, blank=True)
    languages = models.JSONField(_("languages"), default=list, blank=True)
    role = models.CharField(_("role"), max_length=5, choices=Role.choices, default=Role.S2S)
    aliases = models.JSONField(_("aliases"), default=list, blank=True)
    benchmark = models.JSONField(_("outside benchmark scores"), default=dict, blank=True)
    line_en = models.CharField(_("line shown at the reveal (English)"), max_length=160, blank=True)
    line_zh = models.CharField(_("line shown at the reveal (Chinese)"), max_length=160, blank=True)

    class Meta:
        verbose_name = _("system")
        verbose_name_plural = _("systems")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Speaker(models.Model):
    """A person whose voice is in recordings, under a code; consent says what may be done with the voice."""

    code = models.CharField(_("code"), max_length=60, unique=True)
    languages = models.JSONField(_("languages"), default=list, blank=True)
    region = models.CharField(_("country or region"), max_length=80, blank=True)
    consent_text = models.CharField(_("consent text"), max_length=200, blank=True)
    consented_on = models.DateField(_("consented on"), null=True, blank=True)
    may_record = models.BooleanField(_("recorded"), default=True)
    may_play = models.BooleanField(_("played in public"), default=True)
    may_clone = models.BooleanField(_("voice cloned"), default=False)
    may_publish = models.BooleanField(_("published"), default=False)
    may_train = models.BooleanField(_("used for training"), default=False)
    line_en = models.CharField(_("line shown at the reveal (English)"), max_length=160, blank=True)
    line_zh = models.CharField(_("line shown at the reveal (Chinese)"), max_length=160, blank=True)
    withdrawn_at = models.DateTimeField(_("withdrawn"), null=True, blank=True)

    class Meta:
        verbose_name = _("speaker")
        verbose_name_plural = _("speakers")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code


class Topic(models.Model):
    """What a dialogue is about; the labels are also the answers of the content check."""

    code = models.CharField(_("code"), max_length=60, unique=True)
    label_en = models.CharField(_("label (English)"), max_length=80, blank=True)
    label_zh = models.CharField(_("label (Chinese)"), max_length=80, blank=True)

    class Meta:
        verbose_name = _("topic")
        verbose_name_plural = _("topics")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code

    @property
    def label(self) -> str:
        """In the language of the page; the code where there is none."""
        return str(texts.pick({"zh": self.label_zh, "en": self.label_en or self.code}))


class Strategy(models.Model):
    """How a human–machine dialogue was started."""

    code = models.SlugField(_("code"), max_length=60, unique=True)
    name_en = models.CharField(_("name (English)"), max_length=80, blank=True)
    name_zh = models.CharField(_("name (Chinese)"), max_length=80, blank=True)

    class Meta:
        verbose_name = _("strategy")
        verbose_name_plural = _("strategies")
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code

    @property
    def name(self) -> str:
        """In the language of the page; the code where there is none."""
        return str(texts.pick({"zh": self.name_zh, "en": self.name_en or self.code}))


class Recording(models.Model):
    """A sound file by its content's hash: as received and untouched, or joined from such (``is_joined``)."""

    sha256 = models.CharField(max_length=64, unique=True)
    path = models.CharField(_("path below the media root"), max_length=300)
    codec = models.CharField(_("codec"), max_length=40, blank=True)
    sample_rate = models.PositiveIntegerField(_("sample rate (Hz)"), null=True, blank=True)
    channels = models.PositiveSmallIntegerField(_("channels"), null=True, blank=True)
    duration = models.FloatField(_("decoded length (s)"), null=True, blank=True)
    size = models.PositiveBigIntegerField(_("size (bytes)"), default=0)
    licence = models.CharField(_("licence"), max_length=120, blank=True)
    may_play = models.BooleanField(_("may be played"), default=True)
    may_redistribute = models.BooleanField(_("may be redistributed"), default=False)
    may_derive = models.BooleanField(_("may be derived from"), default=True)
    # Made from the files of single turns, which the dialogue's ``turn_files`` name.
    is_joined = models.BooleanField(default=False)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("recording")
        verbose_name_plural = _("recordings")

    def __str__(self) -> str:
        return self.sha256[:12]


class DialogueQuerySet(models.QuerySet["Dialogue"]):
    def playable(self) -> DialogueQuerySet:
        """Ready, licensed, and no party's speaker withdrew or withheld public playing."""
        return (
            self.filter(state=Dialogue.State.READY)
            .exclude(recording__may_play=False)
            .exclude(parties__speaker__withdrawn_at__isnull=False)
            .exclude(parties__speaker__may_play=False)
        )


class Dialogue(models.Model):
    """A conversation of parties. In speech A opens, B responds and is judged.

    ``play_*`` describe the processed file, the only one a participant ever gets.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting for processing")
        READY = "ready", _("ready")
        DECLARED = "declared", _("declared without sound")
        FAILED = "failed", _("failed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class Origin(models.TextChoices):
        CURATED = "curated", _("curated")
        RECORDED = "recorded", _("recorded with the same openings")

    class Channels(models.TextChoices):
        UNSAID = "", _("to be found out")
        MIXED = "mixed", _("both speakers mixed")
        AB = "ab", _("A left, B right")
        BA = "ba", _("B left, A right")

    code = models.CharField(_("code"), max_length=20, unique=True, default=codes.public_code)
    external_id = models.CharField(_("id in the manifest"), max_length=120, unique=True)
    content_hash = models.CharField(max_length=64, db_index=True)  # of the manifest row and its files
    modality = models.CharField(
        _("modality"), max_length=6, choices=Modality.choices, default=Modality.SPEECH
    )
    kind = models.CharField(_("kind"), max_length=20, choices=Kind.choices)
    language = models.CharField(_("language"), max_length=5, choices=Language.choices)
    topic = models.ForeignKey(Topic, models.PROTECT, null=True, blank=True, related_name="dialogues")
    strategy = models.ForeignKey(Strategy, models.PROTECT, null=True, blank=True, related_name="dialogues")
    opening = models.CharField(
        _("opening"), max_length=120, blank=True
    )  # dialogues with the same opening share it
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, blank=True)
    source_corpus = models.CharField(_("source corpus"), max_length=80, blank=True)
    recording = models.ForeignKey(Recording, models.PROTECT, null=True, blank=True, related_name="dialogues")
    channels = models.CharField(_("channels"), max_length=5, choices=Channels.choices, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.WAITING)
    trouble = models.CharField(_("what went wrong"), max_length=500, blank=True)
    play_path = models.CharField(max_length=300, blank=True)  # below the media root, unguessable
    play_duration = models.FloatField(_("playing length (s)"), null=True, blank=True)
    play_size = models.PositiveIntegerField(null=True, blank=True)
    quality = models.JSONField(_("quality report"), default=dict, blank=True)
    peaks = models.JSONField(default=list, blank=True)  # for the desk's waveform, 0–100
    imported_at = models.DateTimeField(auto_now_add=True)

    objects = DialogueQuerySet.as_manager()

    class Meta:
        verbose_name = _("dialogue")
        verbose_name_plural = _("dialogues")
        ordering = ["external_id"]
        indexes = [models.Index(fields=["language", "kind", "state"])]

    def __str__(self) -> str:
        return self.external_id

    @property
    def truth(self) -> Nature:
        return Nature.HUMAN if self.kind == Kind.HUMAN_HUMAN else Nature.MACHINE


class TurnFile(models.Model):
    """A file as received that holds one turn of a dialogue whose recording was joined from such files."""

    dialogue = models.ForeignKey(Dialogue, models.CASCADE, related_name="turn_files")
    index = models.PositiveIntegerField()  # as uploaded: turns may be corrected later
    recording = models.ForeignKey(Recording, models.PROTECT, related_name="turn_files")

    class Meta:
        verbose_name = _("file of a turn")
        verbose_name_plural = _("files of turns")
        ordering = ["dialogue", "index"]
        constraints = [models.UniqueConstraint(fields=["dialogue", "index"], name="one_turn_file_per_index")]

    def __str__(self) -> str:
        return f"{self.index}"


class Party(models.Model):
    """One speaker's part in a dialogue: label, nature, and who or what it was."""

    dialogue = models.ForeignKey(Dialogue, models.CASCADE, related_name="parties")
    label = models.CharField(_("label"), max_length=20)
    nature = models.CharField(_("nature"), max_length=8, choices=Nature.choices)
    system = models.ForeignKey(System, models.PROTECT, null=True, blank=True, related_name="parties")
    speaker = models.ForeignKey(Speaker, models.PROTECT, null=True, blank=True, related_name="parties")
    rater = models.ForeignKey(Rater, models.SET_NULL, null=True, blank=True, related_name="parties")

    class Meta:
        verbose_name = _("party")
        verbose_name_plural = _("parties")
        ordering = ["dialogue", "label"]
        constraints = [models.UniqueConstraint(fields=["dialogue", "label"], name="one_party_per_label")]

    def __str__(self) -> str:
        return self.label


class Turn(models.Model):
    """A stretch of talk by one party, in seconds; ``play_*`` count on the playing file."""

    class Source(models.TextChoices):
        MANIFEST = "manifest", _("manifest")
        DETECTED = "detected", _("detected")
        CORRECTED = "corrected", _("corrected by hand")

    dialogue = models.ForeignKey(Dialogue, models.CASCADE, related_name="turns")
    party = models.ForeignKey(Party, models.CASCADE, related_name="turns")
    index = models.PositiveIntegerField()
    start = models.FloatField(null=True, blank=True)
    end = models.FloatField(null=True, blank=True)
    play_start = models.FloatField(null=True, blank=True)
    play_end = models.FloatField(null=True, blank=True)
    text = models.TextField(blank=True)
    source = models.CharField(max_length=10, choices=Source.choices, default=Source.MANIFEST)

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ["dialogue", "index"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "index"], name="one_turn_per_index"),
            models.CheckConstraint(
                name="turn_ends_after_it_starts",
                condition=Q(start__isnull=True) | Q(end__isnull=True) | Q(end__gte=F("start")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.index}"
