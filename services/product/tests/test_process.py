"""The API as a process of its own, with its second port."""

import socket
from pathlib import Path

import httpx
import psycopg
from assay_cli.stack.databases import Database

from .clients import PEPPER, give_key
from .parts import Process, Projection, until
from .stories import Story


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _is_ready(port: int) -> bool:
    try:
        return httpx.get(f"http://127.0.0.1:{port}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def test_the_api_serves_and_stops_when_asked(product_db: Database, projection: Projection, tmp_path: Path) -> None:
    told = Story("ten_a", "cat_shop")
    told.product(1)
    projection.apply(told.deliveries())
    with psycopg.connect(product_db.dsn("assay_operator")) as operator:
        key = give_key(operator, "ten_a")
    port, ops_port = _free_port(), _free_port()
    env = {
        "ASSAY_DSN": product_db.dsn("assay_product_api"),
        "ASSAY_KEY_PEPPER": PEPPER.get_secret_value(),
        "ASSAY_HTTP_PORT": str(port),
        "ASSAY_OPS_PORT": str(ops_port),
    }
    process = Process("api", env, tmp_path / "api.log")
    try:
        until(lambda: _is_ready(ops_port))
        answer = httpx.get(
            f"http://127.0.0.1:{port}/v1/catalogs/cat_shop/items", headers={"Authorization": f"Bearer {key}"}
        )
        assert [one["name"] for one in answer.json()["items"]] == ["Kettle 1"]
        assert "cat_shop" not in httpx.get(f"http://127.0.0.1:{ops_port}/metrics").text
        assert process.stop() == 0
    finally:
        process.close()
    assert key not in process.logged()
