"""Shapes of what the desk sends about a taxonomy: words, categories, dimensions, sections of guidelines."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from annotation.models import Category, Dimension, Taxonomy
from annotation.services.taxonomies import CALIBRATION
from annotation.taxonomy_file import HIGH, KEY_FORM, KEY_PATTERN, LOW
from studies.characters import TypedForm
from turingsite.desk.file_form import FileOrText
from turingsite.desk.forms import Answering

SHORT, LONG = forms.Textarea(attrs={"rows": 3}), forms.Textarea(attrs={"rows": 8})
POINTS = [*(str(point) for point in range(LOW, HIGH + 1)), "0"]


def called_words(point: str) -> str:
    """What the words of a point of the scale are called, in the language of the page."""
    return str(_("Words for no evidence")) if point == "0" else str(_("Words for %(n)s")) % {"n": point}


def key_field(most: int) -> forms.CharField:
    return forms.CharField(
        label=_("Key"),
        max_length=most,
        validators=[RegexValidator(rf"^{KEY_PATTERN}$", KEY_FORM)],
        help_text=_("Stands in exports and files. Small letters, figures and dashes."),
        widget=forms.TextInput(attrs={"autocapitalize": "none", "spellcheck": "false"}),
    )


class Lines(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 3})

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        text = super().clean(value)
        return [line.strip() for line in text.splitlines() if line.strip()]


class TwoLanguages(Answering):
    """A form whose fields come in pairs: the page shows ``…_en`` and ``…_zh`` side by side."""

    def pairs(self) -> list[tuple[Any, Any]]:
        """Fields as rows of one or two."""
        rows = []
        for field in self:
            if field.name.endswith("_zh"):
                continue
            other = field.name.removesuffix("_en") + "_zh"
            rows.append((field, self[other] if field.name.endswith("_en") and other in self.fields else None))
        return rows


class WordsForm(TwoLanguages):
    """Title, summary, source and the words of the scale."""

    title_en = forms.CharField(label=_("Title (English)"), max_length=120)
    title_zh = forms.CharField(label=_("Title (Chinese)"), max_length=120, required=False)
    summary_en = forms.CharField(label=_("Summary (English)"), required=False, widget=SHORT)
    summary_zh = forms.CharField(label=_("Summary (Chinese)"), required=False, widget=SHORT)
    source = forms.CharField(
        label=_("Source"), required=False, widget=SHORT, help_text=_("What to cite, and what you changed.")
    )

    def __init__(self, data: Any = None, *, taxonomy: Taxonomy) -> None:
        initial = {name: getattr(taxonomy, name) for name in self.base_fields}
        for point in POINTS:
            for language in ("en", "zh"):
                initial[f"scale_{point}_{language}"] = taxonomy.scale.get(point, {}).get(language, "")
        super().__init__(data, initial=initial)
        for point in POINTS:
            for language, called in (("en", _("English")), ("zh", _("Chinese"))):
                self.fields[f"scale_{point}_{language}"] = forms.CharField(
                    label=f"{called_words(point)} · {called}", max_length=80, required=language == "en"
                )

    def columns(self) -> dict[str, Any]:
        """The columns of a taxonomy that were sent."""
        found = {name: self.cleaned_data[name] for name in self.base_fields}
        scale = {
            point: {language: self.cleaned_data[f"scale_{point}_{language}"] for language in ("en", "zh")}
            for point in POINTS
        }
        return found | {"scale": scale}


class SectionForm(TypedForm):
    """One section of the guidelines, in Markdown."""

    title_en = forms.CharField(label=_("Heading (English)"), max_length=120)
    title_zh = forms.CharField(label=_("Heading (Chinese)"), max_length=120, required=False)
    text_en = forms.CharField(label=_("Text (English)"), widget=LONG)
    text_zh = forms.CharField(label=_("Text (Chinese)"), required=False, widget=LONG)
    calibration = forms.BooleanField(label=_("Only where the study calibrates"), required=False)


SectionRows = forms.formset_factory(SectionForm, extra=1, can_delete=True, can_order=True, max_num=40)


def sections_of(taxonomy: Taxonomy) -> list[dict[str, Any]]:
    """The guidelines' sections as the rows of the form begin with them."""
    return [
        {
            f"{name}_{language}": one[name].get(language, "")
            for name in ("title", "text")
            for language in ("en", "zh")
        }
        | {"calibration": one.get("when") == CALIBRATION}
        for one in taxonomy.guidelines.get("sections", [])
    ]


def sections_sent(rows: Any) -> list[dict[str, Any]]:
    """What a valid set of section forms asks for, in its order."""
    return [
        {
            name: {language: row.cleaned_data[f"{name}_{language}"] for language in ("en", "zh")}
            for name in ("title", "text")
        }
        | ({"when": CALIBRATION} if row.cleaned_data["calibration"] else {})
        for row in rows.ordered_forms
        if row.cleaned_data
    ]


class CategoryForm(TwoLanguages):
    key = key_field(40)
    name_en = forms.CharField(label=_("Name (English)"), max_length=80)
    name_zh = forms.CharField(label=_("Name (Chinese)"), max_length=80, required=False)
    summary_en = forms.CharField(label=_("Summary (English)"), required=False, widget=SHORT)
    summary_zh = forms.CharField(label=_("Summary (Chinese)"), required=False, widget=SHORT)

    def __init__(self, data: Any = None, *, row: Category | None = None) -> None:
        super().__init__(data, initial=initial_of(self, row))


class DimensionForm(TwoLanguages):
    category = forms.ChoiceField(label=_("Category"))
    key = key_field(60)
    name_en = forms.CharField(label=_("Name (English)"), max_length=80)
    name_zh = forms.CharField(label=_("Name (Chinese)"), max_length=80, required=False)
    low_en = forms.CharField(label=_("Machine-like end (English)"), max_length=120)
    low_zh = forms.CharField(label=_("Machine-like end (Chinese)"), max_length=120, required=False)
    high_en = forms.CharField(label=_("Human-like end (English)"), max_length=120)
    high_zh = forms.CharField(label=_("Human-like end (Chinese)"), max_length=120, required=False)
    description_en = forms.CharField(label=_("Description (English)"), required=False, widget=SHORT)
    description_zh = forms.CharField(label=_("Description (Chinese)"), required=False, widget=SHORT)
    examples_en = Lines(label=_("Examples (English)"), required=False, help_text=_("One a line."))
    examples_zh = Lines(label=_("Examples (Chinese)"), required=False, help_text=_("One a line."))

    def __init__(self, data: Any = None, *, taxonomy: Taxonomy, row: Dimension | None = None) -> None:
        initial = initial_of(self, row) | ({"category": row.category.key} if row is not None else {})
        super().__init__(data, initial=initial)
        categories = taxonomy.categories.order_by("position")
        self.fields["category"].choices = [(one.key, one.name) for one in categories]  # type: ignore[attr-defined]


def initial_of(form: Answering, row: Category | Dimension | None) -> dict[str, Any]:
    return {name: getattr(row, name) for name in form.base_fields if name != "category"} if row else {}


class TaxonomyFileForm(FileOrText):
    upload = forms.FileField(label=_("Taxonomy file (YAML)"), required=False, allow_empty_file=True)
