"""What only objects can break: each wrong is put into a copy of the bucket, and named."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Protocol, cast

import pytest
from aiobotocore.session import AioSession
from assay_cli.check import check
from assay_cli.testing import Bucket
from assay_runtime.evidence import EvidenceStore

from .copies import copy_bucket
from .place import Place, settings_of
from .seed import rules, spoilt
from .shop import LAMP_PAGE, STORY, TWO

CHAIR = STORY[2]


LOST = f"{TWO}/{sha256(LAMP_PAGE).hexdigest()}"


class _Client(Protocol):
    """What somebody with the store's own keys can do under any name."""

    async def put_object(self, **request: object) -> object: ...
    async def delete_object(self, **request: object) -> object: ...


@asynccontextmanager
async def _client(bucket: Bucket) -> AsyncGenerator[_Client]:
    made = AioSession().create_client(  # pyright: ignore[reportUnknownMemberType] - aiobotocore has no types
        "s3",
        endpoint_url=bucket.endpoint,
        region_name=bucket.settings["ASSAY_S3_REGION"],
        aws_access_key_id=bucket.settings["ASSAY_S3_ACCESS_KEY"],
        aws_secret_access_key=bucket.settings["ASSAY_S3_SECRET_KEY"],
    )
    async with made as client:
        yield cast("_Client", client)


async def _put_bytes(bucket: Bucket, key: str, body: bytes) -> None:
    async with _client(bucket) as client:
        await client.put_object(Bucket=bucket.name, Key=key, Body=body)


async def _lose(bucket: Bucket) -> None:
    async with _client(bucket) as client:
        await client.delete_object(Bucket=bucket.name, Key=LOST)


async def _alter(bucket: Bucket) -> None:
    await _put_bytes(bucket, LOST, LAMP_PAGE.replace(b"12.50", b"99.99"))


async def _cut(bucket: Bucket) -> None:
    await _put_bytes(bucket, LOST, LAMP_PAGE[:-1])


async def _misplace(bucket: Bucket) -> None:
    await _put_bytes(bucket, f"{TWO}/{CHAIR.sha256}", CHAIR.body)


async def _put_for_nobody(bucket: Bucket) -> None:
    await _put_bytes(bucket, f"ten_nobody/{CHAIR.sha256}", CHAIR.body)


async def _put_beside(bucket: Bucket) -> None:
    await _put_bytes(bucket, "backup.tar", b"everything")


SEEDS: tuple[tuple[str, Callable[[Bucket], Awaitable[None]]], ...] = (
    ("i1_bytes_missing_or_other", _lose),
    ("i1_bytes_missing_or_other", _alter),
    ("i1_bytes_missing_or_other", _cut),
    ("i11_object_under_another_tenant", _misplace),
    ("i11_object_of_no_tenant", _put_for_nobody),
    ("i11_object_of_no_tenant", _put_beside),
)


@pytest.mark.parametrize(("rule", "spoil"), SEEDS, ids=[f"{rule}-{spoil.__name__}" for rule, spoil in SEEDS])
def test_a_wrong_in_the_bucket_is_named(
    world: Place, evidence_bucket: Bucket, rule: str, spoil: Callable[[Bucket], Awaitable[None]]
) -> None:
    evidence = settings_of(evidence_bucket)

    async def prepare() -> None:
        await copy_bucket(world, evidence)
        await spoil(evidence_bucket)

    asyncio.run(prepare())
    with spoilt(world, evidence=evidence) as sources:
        assert rules(check(sources)) == {rule}


def test_bytes_that_nobody_was_promised_are_no_violation(world: Place, evidence_bucket: Bucket) -> None:
    """A refused pin leaves its statement in the bucket."""
    evidence, body = settings_of(evidence_bucket), b"a statement that was refused"

    async def prepare() -> None:
        await copy_bucket(world, evidence)
        async with EvidenceStore(evidence) as store:
            await store.put(TWO, sha256(body).hexdigest(), body, "application/json")
            await store.prove_conditional_puts()

    asyncio.run(prepare())
    with spoilt(world, evidence=evidence) as sources:
        assert check(sources) == []
