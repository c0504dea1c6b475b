"""What readers are promised: the live generation of their own tenant, with evidence, and nothing else."""

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_runtime.http import open_routes
from fastapi.routing import iter_route_contexts

from .clients import Client, give_key
from .parts import Projection
from .stories import Story

GTIN = "04006381333931"
ITEMS = "/v1/catalogs/cat_shop/items"


@pytest.fixture
def shop(projection: Projection) -> Story:
    told = Story("ten_a", "cat_shop")
    for n in range(5):
        told.product(n, GTIN if n == 3 else None)
    told.map("lst_other", "item_3")
    told.offer("lst_other", "18")
    told.set("lst_other", "sku", {"type": "code", "code": "SKU_77%"})
    told.set("item_3", "mpn", {"type": "code", "code": "KX-100"})
    projection.apply(told.deliveries())
    return told


@pytest.mark.usefixtures("shop")
async def test_catalogs_are_listed_with_what_is_live(api: Client) -> None:
    assert (await api.read("/v1/catalogs"))["catalogs"] == [
        {"catalog_id": "cat_shop", "history_epoch": "history-1", "generation": 1, "items": 5}
    ]


@pytest.mark.usefixtures("shop")
async def test_an_item_shows_values_evidence_and_offers(api: Client) -> None:
    item = await api.read(f"{ITEMS}/item_3")
    names = {one["name"]: one for one in item["attributes"]}
    assert names["name"]["value"] == {"type": "text", "text": "Kettle 3", "lang": None}
    assert names["name"]["by"] == "rule"
    assert names["name"]["evidence"][0]["place"] == "0#/name"
    prices = {one["listing_id"]: one["offers"][0]["value"]["price"] for one in item["listings"]}
    assert prices == {"lst_3": "19.9", "lst_other": "18"}
    assert {one["via"] for one in item["listings"]} == {"gtin"}


@pytest.mark.usefixtures("shop")
async def test_one_attribute_can_be_asked_for(api: Client) -> None:
    answer = await api.read(f"{ITEMS}/item_3/attributes/mpn")
    assert [one["value"]["code"] for one in answer["lines"]] == ["KX-100"]
    assert (await api.ask(f"{ITEMS}/item_1/attributes/mpn")).status_code == 404


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("kettle 3", ["item_3"]),
        ("KETTLE", ["item_0", "item_1", "item_2", "item_3", "item_4"]),
        ("acme kx-1", ["item_3"]),
        ("4006381333931", ["item_3"]),
        (GTIN, ["item_3"]),
        ("sku_77%", ["item_3"]),
        ("sku?77%", []),
        ("%", ["item_3"]),
        ("nothing like it", []),
    ],
)
async def test_search_finds_words_of_items_and_of_their_listings(api: Client, query: str, found: list[str]) -> None:
    answer = await api.http.get(ITEMS, params={"q": query}, headers={"Authorization": f"Bearer {api.keys['ten_a']}"})
    assert [one["item_id"] for one in answer.json()["items"]] == found


@pytest.mark.usefixtures("shop")
async def test_pages_meet_without_a_gap_or_a_repeat(api: Client) -> None:
    seen: list[str] = []
    following = ""
    while True:
        page = await api.read(f"{ITEMS}?limit=2{following}")
        seen += [one["item_id"] for one in page["items"]]
        if page["next"] is None:
            break
        following = f"&after={page['next']}"
    assert seen == ["item_0", "item_1", "item_2", "item_3", "item_4"]


@pytest.mark.usefixtures("shop")
async def test_a_page_of_another_generation_is_gone(api: Client, product_db: Database) -> None:
    following = (await api.read(f"{ITEMS}?limit=2"))["next"]
    with psycopg.connect(product_db.admin_dsn) as administrator:
        administrator.execute("UPDATE generation SET state = 'old'")
        administrator.execute("INSERT INTO generation VALUES ('ten_a', 'cat_shop', 2, 'history-1', 'live')")
        administrator.execute("INSERT INTO cursor VALUES ('ten_a', 'cat_shop', 2)")
    answer = await api.ask(f"{ITEMS}?limit=2&after={following}")
    assert (answer.status_code, answer.json()["code"]) == (410, "stale_page")
    assert (await api.ask(f"{ITEMS}?after=nonsense")).status_code == 410


async def test_a_merged_id_leads_to_its_root(api: Client, shop: Story, projection: Projection) -> None:
    shop.merge("item_0", "item_1")
    shop.map("lst_0", "item_1")
    shop.merge("item_1", "item_2")
    projection.apply(shop.deliveries())
    answer = await api.ask(f"{ITEMS}/item_0")
    assert (answer.status_code, answer.headers["Location"]) == (307, f"{ITEMS}/item_2")
    answer = await api.ask(f"{ITEMS}/item_0/attributes/name")
    assert (answer.status_code, answer.headers["Location"]) == (307, f"{ITEMS}/item_2/attributes/name")
    assert [one["item_id"] for one in (await api.read(ITEMS))["items"]] == ["item_2", "item_3", "item_4"]


async def test_a_retired_item_is_hidden_from_lists_and_says_so(
    api: Client, shop: Story, projection: Projection
) -> None:
    shop.retire("item_4")
    projection.apply(shop.deliveries())
    assert "item_4" not in [one["item_id"] for one in (await api.read(ITEMS))["items"]]
    assert (await api.read(f"{ITEMS}/item_4"))["state"] == "retired"


async def test_a_tag_changes_with_each_thing_shown(api: Client, shop: Story, projection: Projection) -> None:
    tags = [(await api.ask(f"{ITEMS}/item_1")).headers["ETag"]]
    assert tags[0].startswith('"history-1:1:1:')
    assert (await api.ask(f"{ITEMS}/item_1", **{"If-None-Match": tags[0]})).status_code == 304
    shop.offer("lst_1", "17")
    projection.apply(shop.deliveries())
    tags.append((await api.ask(f"{ITEMS}/item_1")).headers["ETag"])
    shop.clear("item_1", "brand")
    projection.apply(shop.deliveries())
    tags.append((await api.ask(f"{ITEMS}/item_1")).headers["ETag"])
    assert len(set(tags)) == 3
    assert (await api.ask(f"{ITEMS}/item_1", **{"If-None-Match": tags[0]})).status_code == 200


async def test_a_gap_shows_in_the_status(api: Client, projection: Projection) -> None:
    told = Story("ten_a", "cat_gap")
    told.product(1)
    told.product(2)
    projection.apply(told.deliveries(1, 2, 4, 7, 8))
    status = await api.read("/v1/catalogs/cat_gap/status")
    assert (status["progress"], status["highest"], status["processed"]) == (2, 8, 3)
    assert (status["parked"], status["missing"], status["halted"]) == (2, 3, None)
    assert [one["position"] for one in status["waiting"]] == [7, 8]


async def test_a_halted_stream_says_why(api: Client, shop: Story, projection: Projection) -> None:
    ghost = Story("ten_a", "cat_shop")
    ghost.create("item_9")
    projection.apply(ghost.deliveries())
    assert "position 1" in (await api.read("/v1/catalogs/cat_shop/status"))["halted"]


async def test_every_route_hides_another_tenants_things(api: Client, shop: Story) -> None:
    values = {"catalog_id": "cat_shop", "item_id": "item_3", "name": "mpn"}
    paths = {str(route.path) for route in iter_route_contexts(api.app.routes)}
    paths.discard(str(api.app.openapi_url))
    assert len(paths) == 5
    for template in paths:
        path = template.format(**values)
        theirs, missing = await api.ask(path, "ten_b"), await api.ask(path.replace("cat_shop", "cat_none"), "ten_b")
        assert (await api.ask(path)).status_code == 200
        if "{" in template:
            assert theirs.status_code == 404
        assert theirs.content == missing.content
        assert shop.catalog.catalog_id not in theirs.text


async def test_no_route_is_open(api: Client, product_db: Database) -> None:
    assert open_routes(api.app) == []
    assert (await api.http.get(ITEMS)).status_code == 401
    with psycopg.connect(product_db.dsn("assay_operator")) as operator:
        other = give_key(operator, "ten_a", ("captures:write",))
        operator.execute("UPDATE api_key SET revoked_at = now() WHERE scopes = '{catalog:read}'")
    assert (await api.http.get(ITEMS, headers={"Authorization": f"Bearer {other}"})).status_code == 403
    assert (await api.ask(ITEMS)).status_code == 401


@pytest.mark.parametrize("query", ["?q=%00", "/item_%00", "/item_1/attributes/na%0ame", "?q=%ff", "?after=%00&limit=0"])
@pytest.mark.usefixtures("shop")
async def test_hostile_paths_are_refused_politely(api: Client, query: str) -> None:
    assert (await api.ask(ITEMS + query)).status_code < 500


async def test_rows_of_another_tenant_are_invisible_to_the_role(shop: Story, product_db: Database) -> None:
    with psycopg.connect(product_db.dsn("assay_product_api")) as conn:
        for tenant, seen in ((shop.catalog.tenant_id, True), ("ten_b", False), ("", False)):
            conn.execute("SELECT set_config('assay.tenant_id', %s, false)", [tenant])
            for table in ("generation", "cursor", "item", "mapping", "attribute"):
                row = conn.execute(f"SELECT count(*) > 0 FROM {table}".encode()).fetchone()
                assert row == (seen,), (table, tenant)
            found = conn.execute("SELECT FROM attribute_owners_matching('cat_shop', 1, '{%}')").fetchall()
            assert bool(found) == seen
