"""Cut the font down to the card's words and draw the cards anew: ``python -m games.speech.card.build``.

Needs fonttools and Noto Sans CJK (Debian: fonts-noto-cjk); only who changes the card needs either.
"""

from __future__ import annotations

import argparse
import string
from pathlib import Path

from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTCollection  # type: ignore[import-untyped]

from games.speech.card import drawing

SOURCE = Path("/usr/share/fonts/opentype/noto")
FACE = "Noto Sans CJK SC"
WEIGHTS = {"regular": "NotoSansCJK-Regular.ttc", "bold": "NotoSansCJK-Bold.ttc"}
CARDS = Path(__file__).resolve().parents[3] / "static" / "card"
FAMILY_NAMES = {1: drawing.FAMILY, 16: drawing.FAMILY, 6: "TuringsiteCard"}
# Copyright, family, style, version, PostScript name, licence and its address.
KEPT_NAMES = (0, 1, 2, 5, 6, 13, 14)


def characters() -> str:
    """Every character of the card's words, and printable ASCII."""
    words = "".join(text for words in drawing.WORDS.values() for text in words.values())
    return "".join(sorted(set(words) | set(string.printable[:95])))


def cut(collection: Path, out: Path, style: str) -> None:
    """One face of ``collection`` with ``characters`` only, under a name of its own."""
    fonts = TTCollection(str(collection)).fonts
    font = next(one for one in fonts if one["name"].getDebugName(16) == FACE or _family(one) == FACE)
    options = subset.Options()
    options.layout_features = ["kern", "palt"]
    options.name_IDs = list(KEPT_NAMES)
    options.hinting = False
    options.desubroutinize = True
    options.recalc_timestamp = False
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters())
    subsetter.subset(font)
    for record in list(font["name"].names):
        if record.nameID in FAMILY_NAMES:
            record.string = FAMILY_NAMES[record.nameID] + ("-" + style.title() if record.nameID == 6 else "")
    top = font["CFF "].cff
    top.fontNames = [f"TuringsiteCard-{style.title()}"]
    top.topDictIndex[0].FamilyName = drawing.FAMILY
    top.topDictIndex[0].FullName = f"{drawing.FAMILY} {style.title()}"
    font.save(out)


def _family(font: object) -> str:
    return str(font["name"].getDebugName(1))  # type: ignore[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fonts", type=Path, default=SOURCE, help="folder of the Noto collections")
    folder = parser.parse_args().fonts
    for style, name in WEIGHTS.items():
        cut(folder / name, drawing.FONTS / f"card-{style}.otf", style)
    CARDS.mkdir(parents=True, exist_ok=True)
    for language in drawing.WORDS:
        (CARDS / f"{language}.png").write_bytes(drawing.png(language))


if __name__ == "__main__":
    main()
