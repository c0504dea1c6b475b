"""Each HTTP route is in the guide, and no page names a route that there is not."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import assay_intake.api
import assay_product.api
import assay_relay.api.consumers
import assay_relay.api.leases
import assay_relay.api.streams
import assay_resolver_api.cases
import assay_resolver_api.dead_letters
import assay_resolver_api.decisions
import assay_resolver_api.items
import assay_resolver_api.listings
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from .documents import pages, quoted, read, table

ROUTERS: Mapping[str, tuple[APIRouter, ...]] = {
    "intake": (assay_intake.api.router,),
    "product": (assay_product.api.router,),
    "relay": (
        assay_relay.api.consumers.router,
        assay_relay.api.leases.router,
        assay_relay.api.streams.router,
    ),
    "resolver": (
        assay_resolver_api.cases.router,
        assay_resolver_api.items.router,
        assay_resolver_api.listings.router,
        assay_resolver_api.decisions.router,
        assay_resolver_api.dead_letters.router,
    ),
}


def _plain(route: str) -> str:
    """A route whatever its parameters are called: those of pages are in braces or in capitals."""
    return re.sub(r"{[^}]*}|(?<=/)[A-Z0-9]+(?=/|$)", "{}", route)


def _routes(routers: Iterable[APIRouter]) -> set[str]:
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    return {_plain(f"{method} {route.path}") for route in routes for method in route.methods or ()}


def _named(page: Path) -> set[str]:
    return {_plain(route) for route in re.findall(r"`((?:GET|POST|PUT|DELETE) /v1/[^`?\s]*)", read(page))}


def test_the_guide_has_every_route_at_its_service() -> None:
    rows = table(read("docs/guide/http.md"), "Over HTTP")
    for service, routers in ROUTERS.items():
        assert {_plain(quoted(row["route"])[0]) for row in rows if row["at"] == service} == _routes(routers)


@pytest.mark.parametrize("page", pages(), ids=str)
def test_every_named_route_exists(page: Path) -> None:
    known = {route for routers in ROUTERS.values() for route in _routes(routers)}
    assert _named(page) - known == set()
