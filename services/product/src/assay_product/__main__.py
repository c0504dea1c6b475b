"""Wires one process of the product by name: `apply` or `api`."""

import asyncio
import sys

from assay_runtime.health import Health
from assay_runtime.http import KeyRing, serve
from assay_runtime.postgres import open_async_pool, open_sync_pool
from assay_runtime.process import await_schema, running
from assay_runtime.settings import read
from assay_runtime.stop import Stop

from assay_product import api
from assay_product.apply import Applier
from assay_product.settings import ApiSettings, ApplySettings
from assay_product.store.queries import Reader

SCHEMA = "assay_product"


def run_apply() -> None:
    """Apply events until asked to stop."""
    settings, name = read(ApplySettings), "product.apply"
    with (
        running(name, settings) as (stop, health),
        open_sync_pool(settings.dsn, settings.pool_min, settings.pool_max, name) as pool,
    ):
        await_schema(settings, SCHEMA, stop, health)
        Applier(settings, pool, stop, health).run()


def run_api() -> None:
    """Serve the catalog until asked to stop."""
    settings = read(ApiSettings)
    with running("product.api", settings) as (stop, health):
        await_schema(settings, SCHEMA, stop, health)
        asyncio.run(_serve(settings, stop, health))


async def _serve(settings: ApiSettings, stop: Stop, health: Health) -> None:
    async with await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, "product.api") as pool:
        reader = Reader(pool)
        keys = KeyRing(settings.key_pepper, reader.find_key)
        await serve(api.make_app(reader, keys, docs=settings.environment != "production"), settings, stop, health)


def main() -> None:
    """Run the process that the command line names."""
    match sys.argv[1:]:
        case ["apply"]:
            run_apply()
        case ["api"]:
            run_api()
        case _:
            sys.exit("usage: python -m assay_product apply|api")


if __name__ == "__main__":
    main()
