"""The process `relay api` from its start to its stop."""

from assay_runtime.evidence import EvidenceStore
from assay_runtime.health import Health
from assay_runtime.http import serve
from assay_runtime.postgres import open_async_pool
from assay_runtime.stop import Stop

from assay_relay.api.application import build_app
from assay_relay.api.context import Context
from assay_relay.settings import ApiSettings


async def run(settings: ApiSettings, health: Health, stop: Stop) -> None:
    """Serve until asked to stop; requests under way end first."""
    pool = await open_async_pool(settings.dsn, settings.pool_min, settings.pool_max, "relay api")
    async with pool, EvidenceStore(settings) as bucket:
        await serve(build_app(Context(pool, bucket, settings)), settings, stop, health)
