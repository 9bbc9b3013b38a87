"""The bytes of a file of scores, or of the table in an export's zip, read by the words of a taxonomy."""

from __future__ import annotations

import io
import zipfile

from django.utils.translation import gettext_noop

from annotation.importing.columns import MOST_BYTES, layout_of
from annotation.importing.taxonomies import Words
from dialogues.importing.columns import header_key
from dialogues.importing.manifest import Manifest, ManifestRefused, read_manifest
from dialogues.importing.uploads import UNUSABLE, UploadRefused, unpacked

TABLE, REFERENCES = "scores", "reference_scores"


def read_scores(data: bytes, name: str, words: Words, *, references: bool = False) -> Manifest:
    """The lines of a file of scores. ManifestRefused with what to change, also for a header that almost names
    a dimension: its scores would be left out.
    """
    if data[:4] == b"PK\x03\x04":
        data, name = _from_export(data, REFERENCES if references else TABLE)
    manifest = read_manifest(data, name, layout_of(words, with_raters=not references))
    wide = {header_key(dim.key) for dim in words.dims}
    for note in manifest.notes:
        if note.code == "unknown_column" and note.params.get("meant") in wide:
            raise ManifestRefused(
                "unknown_dimension",
                gettext_noop(
                    "There is no dimension “%(column)s”. Did you mean “%(meant)s”? Correct the first line. "
                    "Nothing was read."
                ),
                {"column": note.params["column"], "meant": note.params["meant"]},
            )
    return manifest


def _from_export(data: bytes, table: str) -> tuple[bytes, str]:
    """The table of that name in the zip of an export; other zips (a workbook is one) stay as they are."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for ending in ("csv", "jsonl"):
                name = f"tables/{table}.{ending}"
                if name in archive.namelist():
                    return _unpacked(archive, archive.getinfo(name)), name
    except (*UNUSABLE, OSError):
        pass
    return data, ""


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The table, no more of it than a table may have, whatever the zip says of its size."""
    if entry.flag_bits & 0x1:
        message = gettext_noop("The zip is locked with a password. Make one without.")
        raise ManifestRefused("encrypted", message)
    try:
        if entry.file_size <= MOST_BYTES:
            return b"".join(unpacked(archive, entry, entry.filename, MOST_BYTES))
    except UploadRefused:
        pass
    except (*UNUSABLE, OSError) as error:
        message = gettext_noop("The zip is damaged or of an unusual kind. Make it again.")
        raise ManifestRefused("bad_zip", message) from error
    message = gettext_noop("“%(file)s” unpacks to far more than a table would.")
    raise ManifestRefused("zip_bomb", message, {"file": entry.filename})
