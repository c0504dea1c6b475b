"""④ normalize: from what the adapters found to one reading, whose facts carry catalog values."""

from assay_contracts.ids import Stage, new_id
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import CaptureRow
from assay_runtime.postgres import AsyncPool

from assay_stages import store
from assay_stages.extract.facts import from_json
from assay_stages.normalize import profiles
from assay_stages.normalize.listing_key import listing_key
from assay_stages.normalize.reading import Extraction, Reading
from assay_stages.reader_threads import ReaderThreads
from assay_stages.store import Connection, ExtractionRow
from assay_stages.work import Effect, Ended


class NormalizeStage:
    """Reads the capture's product by the profile that the pin selects."""

    stage: Stage = "normalize"
    next_stage: Stage | None = "identity"

    def __init__(self, pool: AsyncPool, threads: ReaderThreads) -> None:
        """The pool serves the reads between the job's two transactions."""
        self._pool = pool
        self._threads = threads

    async def prepare(self, job: ResolutionJob, capture: CaptureRow) -> Effect:
        """Read the group's extractions, which nobody changes any more, and make the reading of them."""
        profile = profiles.select(job.pins.profile if job.pins else None)
        if not is_page_there(capture.fetch_status):
            return _nothing(f"the page answered {capture.fetch_status}")
        async with self._pool.connection() as conn:
            rows = await store.list_extractions(conn, job)
        reading = await self._threads.run(lambda: profile.read_product(_extractions(rows), capture.url))
        key = listing_key(capture.key, capture.url)
        if reading is None:
            return _nothing("no product with a name")
        if key is None:
            return _nothing("the capture's address names no listing")
        return _effect(job, reading, key + reading.key_part)


def is_page_there(fetch_status: int) -> bool:
    """Whether the fetch brought the page itself: what a page of an error shows is not about the product."""
    return 200 <= fetch_status < 300


def _extractions(rows: list[ExtractionRow]) -> list[Extraction]:
    return [Extraction(row.sha256, row.adapter, from_json(row.found)) for row in rows]


def _nothing(cause: str) -> Effect:
    async def write(_conn: Connection) -> Ended:
        return Ended("nothing", cause)

    return write


def _effect(job: ResolutionJob, reading: Reading, key: str) -> Effect:
    reading_id = new_id("rdg")

    async def write(conn: Connection) -> Ended:
        await store.insert_reading(conn, job, reading_id, key, reading)
        return Ended("ok")

    return write
