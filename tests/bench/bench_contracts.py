"""How close the decoder comes to the fastest plain parse of the same bytes, and how far it is from `jsonschema`.

One resolution job of about 1 KB as our encoder writes it, measured in CPU time of this process. The limits are measured
in the same run, in rounds that alternate: every round asks each reader SLICES times for a slice of its documents, so
that what else the machine does falls on all alike. ROUNDS rounds. The last line is one JSON object.
"""

import gc
import json
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson
import pydantic_core
from assay_contracts.decoder import decode, judge
from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_contracts.evidence import evidence_uri
from assay_contracts.ids import CatalogId, SourceId, TenantId, job_id, new_id, uuid7
from assay_contracts.job import ArtifactRef, ResolutionJob
from assay_contracts.reading import Reader
from assay_contracts.timestamps import Timestamp
from assay_contracts.topics import topic

ROUNDS = int(os.environ.get("ROUNDS", "9"))
SLICES = int(os.environ.get("SLICES", "20"))
FAST_CALLS = 1_000
SLOW_CALLS = 15
TOPIC = topic("resolution.job.v1")
TENANT = TenantId("ten_nordlicht")


@dataclass(frozen=True)
class Subject:
    """One way of reading, and how often a slice calls it."""

    read: Callable[[], object]
    calls: int = FAST_CALLS

    def slice(self) -> float:
        """CPU seconds of one slice."""
        read = self.read
        started = time.process_time()
        for _ in range(self.calls):
            read()
        return time.process_time() - started


def job() -> bytes:
    """A job of two artifacts, as intake writes it."""
    capture = new_id("cap")
    artifacts = [
        ArtifactRef(
            artifact_id=new_id("art"),
            ref=evidence_uri(TENANT, digest * 64),
            sha256=digest * 64,
            media_type="text/html; charset=utf-8",
            bytes=48_213,
        )
        for digest in "af"
    ]
    payload = ResolutionJob(
        job_id=job_id(capture, "extract", 1),
        stage="extract",
        tenant_id=TENANT,
        catalog_id=CatalogId("cat_lamps"),
        capture_id=capture,
        receipt_id=new_id("rcpt"),
        source_id=SourceId("src_shop"),
        artifacts=tuple(artifacts),
        pins=None,
        enqueued_at=Timestamp("2026-05-19T07:23:20.123456Z"),
        attempt_group=1,
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
        history_epoch="history-1",
    )
    return encode(Envelope(id=uuid7(), ts=1_747_639_400, attempt=1, payload=payload))


def in_another_order(data: bytes) -> bytes:
    """The same message as another's encoder might write it."""
    document = json.loads(data)
    payload = dict(reversed(document.pop("payload").items()))
    return orjson.dumps({"payload": payload, **document})


def subjects(data: bytes) -> Mapping[str, Subject]:
    """The parsers, and our ways to a verdict and to a message."""
    foreign = in_another_order(data)
    spaced = json.dumps(json.loads(data), indent=1).encode()
    reference = Reader("resolution.job.v1", Envelope[ResolutionJob], TOPIC.max_bytes, enveloped=True)
    return {
        "parse orjson": Subject(lambda: orjson.loads(data)),
        "parse jiter": Subject(lambda: pydantic_core.from_json(data)),
        "parse json": Subject(lambda: json.loads(data)),
        "verdict": Subject(lambda: judge("resolution.job.v1", data)),
        "message": Subject(lambda: decode("resolution.job.v1", data)),
        "verdict, other order": Subject(lambda: judge("resolution.job.v1", foreign)),
        "message, other order": Subject(lambda: decode("resolution.job.v1", foreign)),
        "verdict, whitespace": Subject(lambda: judge("resolution.job.v1", spaced), SLOW_CALLS),
        "verdict by jsonschema": Subject(lambda: reference.judge_slowly(data), SLOW_CALLS),
    }


def run_round(measured: Mapping[str, Subject]) -> dict[str, float]:
    """Microseconds of CPU a call, every subject in turn and in turn again."""
    seconds = dict.fromkeys(measured, 0.0)
    for _ in range(SLICES):
        for name, subject in measured.items():
            seconds[name] += subject.slice()
    return {name: seconds[name] / (SLICES * subject.calls) * 1e6 for name, subject in measured.items()}


def ratios_of(costs: Mapping[str, float]) -> dict[str, float]:
    """What one round says."""
    plain = min(cost for name, cost in costs.items() if name.startswith("parse "))
    return {
        "decode": plain / costs["verdict"],
        "typed": plain / costs["message"],
        "reference": costs["verdict by jsonschema"] / costs["verdict"],
        "decode_other_order": plain / costs["verdict, other order"],
        "typed_other_order": plain / costs["message, other order"],
        "reference_other_order": costs["verdict by jsonschema"] / costs["verdict, other order"],
    }


def print_table(rounds: list[dict[str, float]]) -> None:
    """For people."""
    print(f"{'microseconds of CPU':<24}{'median':>9}{'least':>9}{'most':>9}")
    for name in rounds[0]:
        costs = [each[name] for each in rounds]
        print(f"{name:<24}{statistics.median(costs):>9.2f}{min(costs):>9.2f}{max(costs):>9.2f}")


def main() -> None:
    """Measure, print, and end with the JSON line."""
    data = job()
    measured = subjects(data)
    run_round(measured)
    gc.collect()
    rounds = [run_round(measured) for _ in range(ROUNDS)]
    print_table(rounds)
    each = [ratios_of(costs) for costs in rounds]
    medians = {name: round(statistics.median(one[name] for one in each), 3) for name in each[0]}
    ratios = {name: medians.pop(name) for name in ("decode", "typed", "reference")}
    limits = {name: round(statistics.median(costs[name] for costs in rounds), 3) for name in rounds[0]}
    samples = {**{name: [round(one[name], 3) for one in each] for name in ratios}, **medians, "bytes": len(data)}
    print(json.dumps({"bench": "contracts", "ratios": ratios, "limits": limits, "samples": samples}))


if __name__ == "__main__":
    main()
