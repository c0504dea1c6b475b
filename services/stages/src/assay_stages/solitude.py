"""Lets a job that is suspected of killing its process run with nothing beside it, so that the blame is certain."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Solitude:
    """Many may be `beside_others` at once, or one `alone`; who waits to be alone goes before newcomers."""

    def __init__(self) -> None:
        """Nobody is in."""
        self._changed = asyncio.Condition()
        self._beside = 0
        self._waiting_alone = 0
        self._alone = False

    @asynccontextmanager
    async def beside_others(self) -> AsyncGenerator[None]:
        """Enter once nobody is alone or waits to be."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._alone and not self._waiting_alone)
            self._beside += 1
        try:
            yield
        finally:
            async with self._changed:
                self._beside -= 1
                self._changed.notify_all()

    @asynccontextmanager
    async def alone(self) -> AsyncGenerator[None]:
        """Enter once everybody has left; until this leaves nobody enters."""
        async with self._changed:
            self._waiting_alone += 1
            try:
                await self._changed.wait_for(lambda: not self._alone and not self._beside)
                self._alone = True
            finally:
                self._waiting_alone -= 1
                self._changed.notify_all()
        try:
            yield
        finally:
            async with self._changed:
                self._alone = False
                self._changed.notify_all()
