"""Accounts of the desk. Parts in studies say who may do what, so groups and permissions are left out."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.contrib.auth.models import Group
from django.utils.translation import gettext_lazy as _

from studies.characters import TypedForm

#: Django registers its own when the admin looks for them; this module is imported after that.
admin.site.unregister([get_user_model(), Group])


class AccountForm(TypedForm, UserChangeForm):  # type: ignore[type-arg]
    """Names go into the trail and onto pages."""


class NewAccountForm(TypedForm, AdminUserCreationForm):  # type: ignore[type-arg]
    """The same for a new account."""


@admin.register(get_user_model())
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """Name, password, and whether the person is an operator; days are read, not written."""

    form, add_form = AccountForm, NewAccountForm
    list_display = ("username", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = ("is_active", "is_staff", "is_superuser")
    search_fields = ("username",)
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (
            _("What the account opens"),
            {
                "fields": ("is_active", "is_staff", "is_superuser"),
                "description": _(
                    "“Staff” opens the desk; studies are opened by a part in them, on the study's page. "
                    "A superuser is an operator: all studies, speakers, accounts and the site's state."
                ),
            },
        ),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )
