"""Where each schema is spoken: as the message of a topic, around it, or in an API."""

from collections.abc import Mapping
from typing import Final

from assay_contracts.topics import TOPICS

API_DOCUMENTS: Final[Mapping[str, str]] = {
    "capture.v1": "the metadata of `POST /v1/captures` of intake",
    "receipt.v1": "the answer to `POST /v1/captures` of intake",
    "job.v1": "jobs of the workers' API",
    "execution.v1": "executions of the workers' API",
    "report.base.v1": "what a job of the workers' API is recorded with",
    "pulse.worker.v1": "frames of the WebSocket of the workers' gateway",
}


def usage_of(name: str) -> str:
    """A few words for where documents of a schema are found; of a part, where those of its schema are."""
    whole = name.partition("#")[0]
    if whole == "envelope.v1":
        return "around the message of every topic keyed by tenant"
    if whole in API_DOCUMENTS:
        return API_DOCUMENTS[whole]
    return ", ".join(f"topic `{topic.name}`" for topic in TOPICS.values() if topic.message == whole)
