"""The admin's own lists of the corpus: systems, topics, strategies, speakers. Dialogues have own pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import DateField, DateTimeField, JSONField, QuerySet
from django.forms import DateInput, DateTimeInput, Textarea
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from dialogues.models import Speaker, Strategy, System, Topic
from dialogues.selectors import desk_dialogues, works_on_desk
from dialogues.withdrawing import follow_speaker
from studies.characters import TypedForm


class CatalogueForm(TypedForm, forms.ModelForm):  # type: ignore[type-arg]
    """What people type into these lists ends in figures, files and pages."""


class CatalogueAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """Shared by all studies: everybody on the desk reads and adds; changing is the operators'."""

    form = CatalogueForm
    # The browser's own pickers: the admin's have no labels, and are small on a phone.
    formfield_overrides = {
        JSONField: {"widget": Textarea(attrs={"rows": 2})},
        DateField: {"widget": DateInput(format="%Y-%m-%d", attrs={"type": "date"})},
        DateTimeField: {
            "form_class": forms.DateTimeField,
            "widget": DateTimeInput(format="%Y-%m-%dT%H:%M", attrs={"type": "datetime-local"}),
        },
    }

    def has_module_permission(self, request: HttpRequest) -> bool:
        return works_on_desk(request.user)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return works_on_desk(request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return works_on_desk(request.user)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_superuser)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise Http404
        return super().changelist_view(request, extra_context)

    def changeform_view(
        self, request: HttpRequest, object_id: Any = None, form_url: str = "", extra_context: Any = None
    ) -> Any:
        if not self.has_view_permission(request):
            raise Http404
        if object_id is not None and self.get_object(request, object_id) is None:
            raise Http404
        return super().changeform_view(request, object_id, form_url, extra_context)


@admin.register(System)
class SystemAdmin(CatalogueAdmin):
    list_display = ("name", "vendor", "version", "role", "release_year", "open_weights")
    list_filter = ("role", "open_weights")
    search_fields = ("name", "code", "vendor")
    prepopulated_fields = {"code": ("name",)}


@admin.register(Topic)
class TopicAdmin(CatalogueAdmin):
    list_display = ("code", "label_en", "label_zh")
    search_fields = ("code", "label_en", "label_zh")


@admin.register(Strategy)
class StrategyAdmin(CatalogueAdmin):
    list_display = ("code", "name_en", "name_zh")


@admin.register(Speaker)
class SpeakerAdmin(CatalogueAdmin):
    """Consent is the operators' to write; others read the speakers of the dialogues they may see."""

    list_display = ("code", "region", "may_play", "may_publish", "may_clone", "withdrawn")
    list_filter = ("may_play", "may_publish", "may_clone")
    search_fields = ("code",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Speaker]:
        rows: QuerySet[Speaker] = super().get_queryset(request)
        if request.user.is_superuser:
            return rows
        return rows.filter(parties__dialogue__in=desk_dialogues(request.user)).distinct()

    def save_model(self, request: HttpRequest, obj: Speaker, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change and "withdrawn_at" in form.changed_data:
            follow_speaker(speaker=obj, user=request.user)

    @admin.display(description=_("withdrawn"), boolean=True)
    def withdrawn(self, speaker: Speaker) -> bool:
        return speaker.withdrawn_at is not None
