"""What apply reports of its durable cursors, and what it does with one that is behind what was once reported."""

from typing import NamedTuple

from assay_runtime import sql
from psycopg import Connection
from psycopg.rows import TupleRow

from assay_product.deliveries import Catalog
from assay_product.store.batch import lock_live

_CURSOR = sql.load("assay_product", "cursor")


class Progress(NamedTuple):
    """1..position of this stream are committed."""

    catalog: Catalog
    history_epoch: str
    position: int

    def document(self) -> dict[str, object]:
        """As the relay takes it."""
        tenant_id, catalog_id = self.catalog
        return {
            "tenant_id": tenant_id,
            "catalog_id": catalog_id,
            "history_epoch": self.history_epoch,
            "position": self.position,
        }


def list_progress(conn: Connection[TupleRow], history_epoch: str) -> list[Progress]:
    """Of every live generation of this epoch, as committed."""
    rows = conn.execute(_CURSOR["list_progress"], {"history_epoch": history_epoch})
    return [Progress(Catalog.of(row[0], row[1]), row[2], row[3]) for row in rows]


def halt_if_below(conn: Connection[TupleRow], catalog: Catalog, history_epoch: str, needed: int) -> str | None:
    """Halt the live generation if its progress is below `needed`, and say why; None if it is not, or was halted."""
    with conn.transaction():
        cursor = lock_live(conn, [catalog], history_epoch)[catalog]
        if cursor.history_epoch != history_epoch or cursor.progress >= needed or cursor.halted is not None:
            return None
        why = f"the relay has acknowledged or pruned 1..{needed}, this database holds 1..{cursor.progress}: rebuild it"
        tenant_id, catalog_id = catalog
        place = {"tenant_id": tenant_id, "catalog_id": catalog_id, "generation": cursor.generation}
        conn.execute(_CURSOR["halt_cursor"], {**place, "why": why})
    return why
