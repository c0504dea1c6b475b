"""Many at once: equal requests become one capture, unequal ones leave one winner, nobody waits in a circle."""

import asyncio
import uuid
from collections import Counter

import httpx

from .world import Capture, IntakeProcess, Place, Tenant, new_capture


async def send_all(intake: IntakeProcess, tenant: Tenant, captures: list[Capture]) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=len(captures))
    async with httpx.AsyncClient(limits=limits, timeout=60, headers=tenant.headers) as client:
        return await asyncio.gather(*(_send(client, intake, capture) for capture in captures))


async def _send(client: httpx.AsyncClient, intake: IntakeProcess, capture: Capture) -> httpx.Response:
    boundary = uuid.uuid4().hex
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return await client.post(f"{intake.url}/v1/captures", content=capture.body(boundary), headers=headers)


async def test_fifty_equal_requests_are_one_capture(place: Place, intake: IntakeProcess, tenant: Tenant) -> None:
    answers = await send_all(intake, tenant, [new_capture(b"one page")] * 50)
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 49}
    assert len({answer.content for answer in answers}) == 1
    assert place.rows("SELECT count(*) FROM capture WHERE tenant_id = %s", tenant.tenant_id) == [(1,)]
    assert place.rows("SELECT count(*) FROM job WHERE tenant_id = %s", tenant.tenant_id) == [(1,)]


async def test_unequal_requests_under_one_key_leave_one_winner(
    place: Place, intake: IntakeProcess, tenant: Tenant
) -> None:
    key = uuid.uuid4().hex
    answers = await send_all(intake, tenant, [new_capture(b"page %d" % n, idempotency_key=key) for n in range(12)])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 11}
    assert place.rows("SELECT count(*) FROM receipt WHERE tenant_id = %s", tenant.tenant_id) == [(1,)]


async def test_shared_artifacts_in_any_order_do_not_deadlock(intake: IntakeProcess, tenant: Tenant) -> None:
    pages = [b"page %d" % n for n in range(8)]
    captures = [new_capture(*(pages if turn % 2 else reversed(pages))) for turn in range(24)]
    answers = await send_all(intake, tenant, captures)
    assert {answer.status_code for answer in answers} == {201}
