"""A YAML file that the desk takes in: uploaded, or as text to mend where something was wrong with it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from studies.files.schema import LARGEST
from turingsite.desk.forms import Answering


class FileOrText(Answering):
    """A file, or the text of one as shown before. Subclasses name the field ``upload``."""

    upload = forms.FileField(required=False, allow_empty_file=True)
    text = forms.CharField(
        label=_("The file's text"),
        required=False,
        strip=False,
        max_length=LARGEST,
        widget=forms.Textarea(attrs={"rows": 16, "spellcheck": "false", "class": "mono"}),
        help_text=_("Mend it here, or in your file and upload it again."),
    )

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("upload") is None and not self.cleaned_data.get("text", "").strip():
            self.add_error("upload", _("Choose a file."))
        return self.cleaned_data

    def data_given(self) -> bytes:
        """What is to be checked."""
        upload = self.cleaned_data["upload"]
        if upload is not None:
            # One byte more than allowed tells that it is too large.
            data: bytes = upload.read(LARGEST + 1)
            return data
        return str(self.cleaned_data["text"]).replace("\r\n", "\n").encode()
