"""The restore fence: only jobs of the open history epoch take effect, and none is ever relabelled."""

from collections.abc import Mapping

from assay_resolver.epochs import Epoch, registry
from assay_runtime.postgres import AsyncPool

from assay_stages.admission import Refuse


class Fence:
    """Remembers the registry of epochs, and reads it again for a name that it does not know or no longer trusts."""

    def __init__(self, pool: AsyncPool) -> None:
        """Nothing is known until the first question."""
        self._pool = pool
        self._known: Mapping[str, Epoch] = {}

    async def check(self, name: str) -> Epoch | Refuse:
        """The epoch of this name if it is open, else why its messages are refused."""
        if name not in self._known:
            await self.reread()
        epoch = self._known.get(name)
        if epoch is None:
            return Refuse("unknown_epoch", f"no history epoch is named {name[:100]!r}")
        if epoch.state == "closed":
            return Refuse("closed_epoch", f"history epoch {name} is closed")
        return epoch

    async def reread(self) -> None:
        """Adopt what the database says now."""
        async with self._pool.connection() as conn:
            self._known = await registry(conn)
