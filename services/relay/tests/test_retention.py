"""What may go and what must stay: floors are the least that anyone needs, and everyone is told in time."""

import asyncio

import pytest
from assay_relay.api import retention
from assay_relay.api.errors import Gone, NotFound, RegisteredOtherwise, StillOpen
from assay_relay.api.retention import Registration

from .retention_world import Retention, admin


async def test_nothing_goes_while_no_consumer_reads_a_stream(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    assert await retained.prune() == 0
    kept = await retention.show(retained.pool, stream)
    assert (kept.state.floor, kept.keepers) == (0, [])


async def test_a_consumer_without_a_row_for_a_new_stream_holds_it(retained: Retention) -> None:
    old = retained.stream(catalog="cat_old")
    retained.grow(old, 5)
    await retained.register("reader")
    await retained.report("reader", old, 5)
    new = retained.stream(catalog="cat_new")
    retained.grow(new, 5)
    assert await retained.prune() == 5
    assert (retained.floor(old), retained.floor(new)) == (5, 0)
    assert await retained.holes() == []


async def test_a_consumer_that_comes_late_is_told_the_floor_and_holds_it(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("first")
    await retained.report("first", stream, 4)
    await retained.prune()
    assert await retained.register("second") == 4
    retained.grow(stream, 5)
    await retained.report("first", stream, 10)
    assert await retained.prune() == 0
    assert await retained.read(stream, 4) == [5, 6, 7, 8, 9, 10]
    with pytest.raises(Gone):
        await retained.read(stream, 3)


async def test_the_slowest_live_reader_and_every_lease_hold(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 10)
    await retained.register("fast")
    await retained.register("slow")
    await retained.register("shadow", "shadow")
    await retained.report("fast", stream, 9)
    await retained.report("slow", stream, 6)
    lease = await retained.lease(stream, position=3)
    await retained.prune()
    assert retained.floor(stream) == 3
    await retained.move(lease, 8)
    await retained.prune()
    assert retained.floor(stream) == 6
    await retained.report("slow", stream, 10)
    await retained.prune()
    assert retained.floor(stream) == 8
    await retained.release(lease)
    await retained.prune()
    assert retained.floor(stream) == 9
    assert await retained.holes() == []


async def test_only_what_is_published_and_old_goes(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 4)
    await retained.register("reader")
    retained.grow(stream, 2, published=False)
    await retained.report("reader", stream, 6)
    assert await retained.prune(retained.pruner(age_seconds=3_600.0)) == 0
    assert await retained.prune() == 4
    assert await retained.read(stream, 4) == [5, 6]


async def test_the_floor_keeps_the_digest_of_what_is_gone(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 3)
    at_three = await _digest(retained)
    retained.grow(stream, 4)
    await retained.register("reader")
    await retained.report("reader", stream, 3)
    await retained.prune()
    kept = await retention.show(retained.pool, stream)
    assert (kept.state.floor, kept.state.floor_digest) == (3, at_three)


async def _digest(retained: Retention) -> bytes:
    row = retained.outbox.connection.execute("SELECT digest FROM cursor").fetchone()
    assert row is not None
    return bytes(row[0])


async def test_progress_is_monotonic_and_foreign_reports_are_refused(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 10)
    await retained.register("reader")
    assert (await retained.report("reader", stream, 7)).outcome == "moved"
    again = await retained.report("reader", stream, 5)
    assert (again.outcome, again.acknowledged) == ("older", 7)
    assert (await retained.report("reader", stream, 11)).outcome == "beyond_head"
    unknown = type(stream)(stream.tenant_id, "cat_none", stream.history_epoch)
    assert (await retained.report("reader", unknown, 1)).outcome == "unknown_stream"
    await retained.prune()
    await retained.register("restored")
    below = await retained.report("restored", stream, 3)
    assert (below.outcome, below.floor) == ("below_floor", 7)
    retained.outbox.connection.execute("UPDATE history_epoch SET state = 'closed'")
    assert (await retained.report("reader", stream, 9)).outcome == "foreign_epoch"
    with pytest.raises(NotFound):
        await retained.report("nobody", stream, 1)


async def test_a_consumer_is_what_it_was_registered_as(retained: Retention) -> None:
    stream = retained.stream()
    other = retained.stream(tenant="ten_b")
    some = Registration("some", "live", [(stream.tenant_id, stream.catalog_id), (other.tenant_id, other.catalog_id)])
    assert (await retention.register(retained.pool, some, "t")).is_new
    assert not (await retention.register(retained.pool, some, "t")).is_new
    fewer = some._replace(catalogs=[(stream.tenant_id, stream.catalog_id), (other.tenant_id, "cat_x")])
    for changed in (some._replace(kind="shadow"), some._replace(catalogs=None), fewer):
        with pytest.raises(RegisteredOtherwise):
            await retention.register(retained.pool, changed, "t")
    with pytest.raises(NotFound):
        await retention.register(retained.pool, Registration("new", "live", [("ten_a", "cat_none")]), "t")


async def test_only_an_explicit_act_removes_a_consumer_and_it_is_on_record(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("busy")
    await retained.register("dead")
    await retained.report("busy", stream, 5)
    assert await retained.prune() == 0
    assert [name for name, _ in retained.store.list_silent(0.0)] == ["busy", "dead"]
    await retained.unregister("dead")
    assert await retained.prune() == 5
    acts = retained.outbox.connection.execute("SELECT act, subject, because FROM retention_act").fetchall()
    assert acts == [("unregister", "dead", "the test is over")]
    with pytest.raises(NotFound):
        await retained.unregister("dead")


async def test_an_expired_lease_holds_nothing_and_never_comes_back(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    lease = await retained.lease(stream)
    await retained.report("reader", stream, 5)
    assert await retained.prune() == 0
    retained.outbox.connection.execute("UPDATE retention_lease SET expires_at = clock_timestamp() - interval '1 ms'")
    with pytest.raises(Gone):
        await retained.move(lease, 0)
    retained.forget(lease.lease_id)
    assert await retained.prune() == 5
    with pytest.raises(Gone):
        await retained.lease(stream, position=0)
    retained.outbox.connection.execute("UPDATE retention_lease SET expires_at = clock_timestamp() - interval '1 day'")
    assert [lease_id for lease_id, _, _ in retained.store.delete_expired()] == [lease.lease_id]


async def test_a_closed_stream_leaves_retention_by_an_explicit_act(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    with pytest.raises(StillOpen):
        await retention.release_stream(retained.pool, stream, "t", "it is old")
    retained.outbox.connection.execute("UPDATE history_epoch SET state = 'closed'")
    assert await retained.prune() == 0
    await retention.release_stream(retained.pool, stream, "t", "it is old")
    assert await retained.prune() == 5


async def test_a_stopped_holder_of_the_lock_does_not_stop_pruning_for_ever(retained: Retention) -> None:
    stream = retained.stream()
    retained.grow(stream, 5)
    await retained.register("reader")
    await retained.report("reader", stream, 5)
    holder = admin(retained.database)
    holder.execute("SET idle_in_transaction_session_timeout = '300ms'")
    holder.execute("BEGIN")
    holder.execute("SELECT FROM retention_control FOR UPDATE")
    assert await asyncio.wait_for(retained.prune(), 8) == 5
    holder.close()
