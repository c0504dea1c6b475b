# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false, reportPrivateImportUsage=false
# The patched methods are private and mostly untyped.
"""Repairs of faust-streaming 0.15.3 and aiokafka 0.14.0, applied once before the first app is made.

1. A table's recovery resumes the source partitions before it seeks them to the committed offsets, so that a record
   fetched in between arrives after the seek and the hole before it is committed over (faust-streaming issue 596).
   The loop that drains the consumer is parked before that seek.
2. The same loop drops changelog records that it fetched around a rebalance, while the consumer's position has gone
   past them: recovery waits for records that never come. It is parked before the seek of the changelogs too
   (seen in 2 of 100 recoveries without; no upstream issue).
3. aiokafka's sender asks for metadata again with no pause while no broker answers, which fills one core and the log
   (no upstream issue): a refused answer costs 0.2 s.

Standby replicas of tables must be 0, since the second park covers active partitions only.
"""

import asyncio
from importlib.metadata import version

from aiokafka.client import AIOKafkaClient
from faust import streams
from faust.tables.recovery import Recovery
from faust.transport.consumer import Consumer

from assay_stages.errors import UnfitFaust

VERSIONS = {"faust-streaming": "0.15.3", "aiokafka": "0.14.0"}
PARK_SECONDS = 30.0
METADATA_PAUSE_SECONDS = 0.2

_TURN_SECONDS = 0.05
_wait_next_records = Consumer._wait_next_records
_on_recovery_completed = Recovery.on_recovery_completed
_seek_offsets = Recovery._seek_offsets
_metadata_update = AIOKafkaClient._metadata_update


def apply() -> None:
    """Patch the classes; UnfitFaust for other versions than those the repairs were made for.

    Also without Faust's compiled iterator: the one in Python acknowledges records that it skips.
    """
    for package, known in VERSIONS.items():
        if version(package) != known:
            raise UnfitFaust(f"{package} {version(package)} is installed, its repairs are for {known}")
    if streams._CStreamIterator is None:
        raise UnfitFaust("faust-streaming is installed without its compiled iterator")
    Consumer._wait_next_records = _wait_parked
    Recovery.on_recovery_completed = _complete_parked
    Recovery._seek_offsets = _seek_parked
    AIOKafkaClient._metadata_update = _update_with_pause


async def _wait_parked(self, timeout):  # noqa: ASYNC109 (the signature is Faust's)
    """Say when the drain loop stands still."""
    if not self.flow_active:
        self.parked = True
        try:
            await self.wait(self.can_resume_flow)
        finally:
            self.parked = False
    return await _wait_next_records(self, timeout)


async def _park(app):
    """Stop the flow and wait until the drain loop holds no records."""
    consumer = app.consumer
    consumer.stop_flow()
    app.flow_control.suspend()
    app.flow_control.clear()
    for _ in range(round(PARK_SECONDS / _TURN_SECONDS)):
        if not app._fetcher.started or getattr(consumer, "parked", False):
            break
        await asyncio.sleep(_TURN_SECONDS)


async def _complete_parked(self, generation_id=0):
    await _park(self.app)
    return await _on_recovery_completed(self, generation_id)


async def _seek_parked(self, consumer, tps, offsets, title):
    if title == "active":
        await _park(self.app)
    return await _seek_offsets(self, consumer, tps, offsets, title)


async def _update_with_pause(self, cluster_metadata, topics):
    updated = await _metadata_update(self, cluster_metadata, topics)
    if not updated:
        await asyncio.sleep(METADATA_PAUSE_SECONDS)
    return updated
