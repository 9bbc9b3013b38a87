"""What every resource shares: known parameters only, the study of the address, no copy kept on the way."""

from __future__ import annotations

from typing import Any

from django.db.models import Model, QuerySet
from django.utils.cache import patch_vary_headers
from django_filters.rest_framework import DjangoFilterBackend  # type: ignore[import-untyped]
from rest_framework import generics
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from studies.models import Study
from turingsite.api.paging import KeysetPagination
from turingsite.api.requests import check_parameters
from turingsite.api.selectors import access_study

EVERYWHERE = frozenset({"lang"})  # taken by the middleware, as on every page


class Resource(generics.GenericAPIView[Any]):
    """A resource; ``parameters`` names what its address may carry besides filters and pages."""

    parameters: frozenset[str] = frozenset()
    pages = False
    http_method_names = ("get", "head", "post")  # no OPTIONS, in the header Allow neither
    pagination_class: type[BasePagination] | None = None
    filter_backends: tuple[Any, ...] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if hasattr(self, str(request.method).lower()):  # otherwise 405 is the better answer
            check_parameters(request, self.known_parameters())

    def known_parameters(self) -> frozenset[str]:
        filters = getattr(getattr(self, "filterset_class", None), "base_filters", {})
        pages = ("limit", "cursor") if self.pages else ()
        return EVERYWHERE | self.parameters | frozenset(filters) | frozenset(pages)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        answer: Response = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = "private, no-store"
        patch_vary_headers(answer, ("Authorization", "Cookie", "Accept-Language"))
        return answer

    def study(self) -> Study:
        return access_study(self.request, self.kwargs["slug"])


class RowList(Resource, generics.ListAPIView[Any]):
    """Rows of one study, in pages."""

    model: type[Model]
    pages = True
    pagination_class = KeysetPagination
    filter_backends = (DjangoFilterBackend,)

    def get_queryset(self) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return self.model._default_manager.none()
        return self.rows(self.study())

    def rows(self, study: Study) -> QuerySet[Any]:
        raise NotImplementedError
