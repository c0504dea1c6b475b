"""The stages' inbox: the truth about which jobs took effect; its key holds no attempt, so none can do so twice."""

from assay_contracts.ids import JobId, TenantId
from assay_runtime.sql import load
from psycopg import AsyncConnection
from psycopg.rows import TupleRow

_SQL = load("assay_resolver", "inbox")


async def insert_done(conn: AsyncConnection[TupleRow], tenant_id: TenantId, job_id: JobId) -> bool:
    """Claim the job's one effect for this transaction; False if another transaction had it."""
    cursor = await conn.execute(_SQL["insert_done"], {"tenant_id": tenant_id, "job_id": job_id})
    return await cursor.fetchone() is not None
