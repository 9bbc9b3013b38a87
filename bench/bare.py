"""The anchor of the request benchmarks: a Django project with no middleware and one view.

``/answer/<code>`` does one indexed read and one insert. ``python -m bench.bare N`` makes the tables and
N items.
"""

from __future__ import annotations

import json
import sys

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.db import connection, models
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from turingsite.settings import production

if not settings.configured:
    settings.configure(
        SECRET_KEY=production.SECRET_KEY,
        ALLOWED_HOSTS=production.ALLOWED_HOSTS,
        DATABASES=production.DATABASES,
        ROOT_URLCONF="bench.bare",
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        USE_TZ=True,
    )
    django.setup(set_prefix=False)


class Item(models.Model):
    code = models.CharField(max_length=20, unique=True)

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.code


class Answer(models.Model):
    item = models.ForeignKey(Item, models.CASCADE)
    choice = models.CharField(max_length=10)
    evidence = models.JSONField(default=dict)
    given_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "bench"

    def __str__(self) -> str:
        return self.choice


def answer(request: HttpRequest, code: str) -> HttpResponse:
    data = json.loads(request.body)
    item = Item._default_manager.get(code=code)
    Answer._default_manager.create(item=item, choice=data["choice"], evidence={"at": data["at"]})
    return JsonResponse({"stored": True})


urlpatterns = [path("answer/<str:code>", answer)]
application = get_wsgi_application()


if __name__ == "__main__":
    with connection.schema_editor() as editor:
        editor.create_model(Item)
        editor.create_model(Answer)
    Item._default_manager.bulk_create(Item(code=f"item-{number}") for number in range(int(sys.argv[1])))
