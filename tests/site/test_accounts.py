"""Accounts in the admin: operators alone, without groups and permissions, which open nothing here."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse

from tests import factories

pytestmark = pytest.mark.django_db


def test_an_operator_changes_what_an_account_opens(client):
    operator = factories.UserFactory(is_staff=True, is_superuser=True)
    person = factories.UserFactory(is_staff=False)
    client.force_login(operator)
    address = reverse("admin:auth_user_change", args=[person.pk])
    page = client.get(address).content.decode()
    assert 'name="is_staff"' in page
    for absent in ("groups", "user_permissions", 'name="last_login', 'name="date_joined'):
        assert absent not in page
    answer = client.post(address, {"username": person.username, "is_active": "on", "is_staff": "on"})
    assert answer.status_code == 302
    person.refresh_from_db()
    assert person.is_staff
    assert Group not in admin.site._registry


def test_people_of_a_study_do_not_reach_accounts(client, cast):
    client.force_login(cast.researcher)
    assert client.get(reverse("admin:auth_user_changelist")).status_code in (403, 404)
