"""What one transaction promises, on a real database."""

import hashlib
import threading
from uuid import UUID

import psycopg
import pytest
from assay_cli.stack.databases import Database
from assay_contracts.encoder import encode
from assay_contracts.envelope import Envelope
from assay_product import batch
from assay_product.batch import apply_batch, release
from assay_product.deliveries import Delivery
from assay_product.generation import Mark, running_digest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .parts import Projection
from .stories import EPOCH, Story


def _told(tenant: str = "ten_a") -> Story:
    told = Story(tenant)
    told.product(1)
    told.name("item_1", "Kettle, the first")
    told.offer("lst_1", "17.5")
    return told


def test_events_in_order_become_the_fold(projection: Projection) -> None:
    told = _told()
    report = projection.apply(told.deliveries())
    assert projection.rows(told.catalog) == told.fold()
    assert report.applied == len(told.events)
    assert projection.cursor(told.catalog)[:3] == (7, 7, 7)


def test_the_digest_is_that_of_the_whole_history(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries(7, 6, 5))
    projection.apply(told.deliveries(1, 2, 3, 4))
    digest = bytes(32)
    for position, delivery in enumerate(told.deliveries(), 1):
        digest = running_digest(digest, position, _mark(told, delivery.value, position))
    assert projection.cursor(told.catalog)[3] == digest


def _mark(told: Story, value: bytes | None, position: int) -> Mark:
    assert value is not None
    return Mark(UUID(told.events[position - 1].event_id.removeprefix("evt_")), hashlib.sha256(value).digest())


def test_a_gap_holds_progress_and_nothing_else(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries(1, 2, 3, 5, 6, 7))
    progress, highest, processed, _, _ = projection.cursor(told.catalog)
    assert (progress, highest, processed) == (3, 7, 6)
    assert projection.count("parked") == 0
    projection.apply(told.deliveries(4))
    assert projection.cursor(told.catalog)[:3] == (7, 7, 7)
    assert projection.rows(told.catalog) == told.fold()


def test_reversed_order_gives_the_fold(projection: Projection) -> None:
    told = _told()
    for position in range(7, 0, -1):
        projection.apply(told.deliveries(position))
    assert projection.rows(told.catalog) == told.fold()
    assert projection.cursor(told.catalog)[:3] == (7, 7, 7)
    assert projection.count("parked") == 0


def test_repeats_change_nothing(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries())
    before = projection.rows(told.catalog), projection.cursor(told.catalog)
    report = projection.apply(told.deliveries(3, 3, 1, 7, 2))
    assert (report.applied, report.repeated) == (0, 5)
    assert (projection.rows(told.catalog), projection.cursor(told.catalog)) == before


def test_a_repeat_of_a_parked_event_is_parked_once(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries(4, 4))
    projection.apply(told.deliveries(4))
    assert projection.count("parked") == 1


def test_revision_six_before_five_does_not_make_five_late(projection: Projection) -> None:
    told = Story()
    told.create("item_1")
    for n in range(6):
        told.name("item_1", f"Kettle {n}")
    projection.apply(told.deliveries(1, 2, 3, 4, 5, 7))
    assert projection.count("parked", waits_for_revision=5) == 1
    report = projection.apply(told.deliveries(6))
    assert (report.applied, report.released, report.ignored) == (2, 1, 0)
    assert projection.rows(told.catalog) == told.fold()


def test_a_chain_of_parked_events_is_released_in_its_order(projection: Projection) -> None:
    told = Story()
    told.create("item_1")
    for n in range(30):
        told.name("item_1", f"Kettle {n}")
    for position in range(31, 1, -1):
        projection.apply(told.deliveries(position))
    assert projection.count("parked") == 30
    report = projection.apply(told.deliveries(1))
    assert report.released == 30
    assert projection.rows(told.catalog) == told.fold()


def test_what_one_transaction_leaves_is_released_by_the_next(
    projection: Projection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "RELEASED_AT_ONCE", 1)
    monkeypatch.setattr(batch, "READ_AT_ONCE", 1)
    told = _told()
    projection.apply(told.deliveries(2, 3, 4, 5, 6, 7))
    assert projection.apply(told.deliveries(1)).released == 1
    while batch.release(projection.conn, told.catalog, EPOCH).released:
        pass
    assert projection.rows(told.catalog) == told.fold()
    assert projection.count("parked") == 0


def test_an_event_behind_a_ref_waits_visibly(projection: Projection) -> None:
    told = _told()
    event = told.events[2].model_copy(update={"data": None, "ref": f"r2://evidence-private/ten_a/{'cd' * 32}"})
    identity = UUID(event.event_id.removeprefix("evt_"))
    told.values[2] = encode(Envelope(id=identity, ts=1, attempt=1, payload=event))
    projection.apply(told.deliveries())
    assert projection.cursor(told.catalog)[:3] == (2, 7, 5)
    assert projection.count("parked", reason="data") == 1
    assert projection.count("parked", reason="dependency") == 1


def test_another_epoch_changes_nothing(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries(1, 2))
    forged = Story("ten_a", told.catalog.catalog_id, "history-0")
    forged.product(9)
    before = projection.rows(told.catalog), projection.cursor(told.catalog)
    report = projection.apply([forged.delivery(value, 100 + n) for n, value in enumerate(forged.values)])
    assert report.refused == {"foreign_epoch": len(forged.values)}
    assert (projection.rows(told.catalog), projection.cursor(told.catalog)) == before
    assert projection.count("dead_letter", reason="foreign_epoch") == len(forged.values)


def test_a_generation_of_another_epoch_takes_nothing(projection: Projection) -> None:
    old = _told()
    projection.apply(old.deliveries())
    new = Story("ten_a", old.catalog.catalog_id, "history-2")
    new.create("item_9")
    report = projection.apply(new.deliveries(), epoch="history-2")
    assert report.refused == {"foreign_epoch": 1}
    assert projection.rows(old.catalog) == old.fold()


def test_another_event_at_a_known_position_halts_the_stream(projection: Projection) -> None:
    told, ghost = _told(), Story("ten_a", None)
    ghost.catalog = told.catalog
    ghost.create("item_7")
    ghost.create("item_8")
    projection.apply(told.deliveries(1, 2, 3))
    report = projection.apply([ghost.delivery(ghost.values[1], 50), *told.deliveries(4, 5)])
    assert report.refused == {"position_conflict": 1}
    assert "position 2" in report.halted[told.catalog]
    assert projection.count("parked", reason="halted") == 2
    assert projection.cursor(told.catalog)[0] == 3
    projection.apply(told.deliveries(6, 7))
    assert projection.count("parked", reason="halted") == 4


def test_a_halted_stream_goes_on_when_a_person_lets_it(projection: Projection, product_db: Database) -> None:
    told = _told()
    projection.apply(told.deliveries(1, 2, 3))
    with psycopg.connect(product_db.dsn("assay_operator")) as operator:
        operator.execute("UPDATE cursor SET halted = 'looked at'")
    projection.apply(told.deliveries(4, 5, 6, 7))
    assert release(projection.conn, told.catalog, EPOCH).applied == 0
    with psycopg.connect(product_db.dsn("assay_operator")) as operator:
        operator.execute("UPDATE cursor SET halted = NULL")
    assert release(projection.conn, told.catalog, EPOCH).applied == 4
    assert projection.rows(told.catalog) == told.fold()


@pytest.mark.parametrize("value", [None, b"", b"\xff", b"{}", b'{"version":1,"version":1}'])
def test_poison_bytes_are_kept_and_passed(projection: Projection, value: bytes | None) -> None:
    told = _told()
    first, *others = told.deliveries()
    poison = told.delivery(value, 100)
    report = projection.apply([first, poison, *others])
    assert report.refused.total() == 1
    assert projection.rows(told.catalog) == told.fold()
    row = projection.conn.execute('SELECT value, tenant_id FROM dead_letter WHERE "offset" = 100').fetchone()
    assert row == (value, None)


def test_two_tenants_with_one_page_do_not_meet(projection: Projection) -> None:
    ours, theirs = Story("ten_a", "cat_shop"), Story("ten_b", "cat_shop")
    for told in (ours, theirs):
        told.product(1, "04006381333931")
    theirs.name("item_1", "Another name")
    projection.apply([*ours.deliveries(), *theirs.deliveries()])
    assert projection.rows(ours.catalog) == ours.fold()
    assert projection.rows(theirs.catalog) == theirs.fold()


def test_offsets_move_with_the_effect_and_never_back(projection: Projection) -> None:
    told = _told()
    projection.apply(told.deliveries())
    projection.apply(told.deliveries(1))
    assert projection.count("kafka_offset", next_offset=7) == 1


def test_two_appliers_over_many_streams_do_not_deadlock(projection: Projection, product_db: Database) -> None:
    stories = [_told(f"ten_{n}") for n in range(12)]
    forward = [delivery for told in stories for delivery in told.deliveries()]
    backward = [delivery for told in reversed(stories) for delivery in told.deliveries()]
    failures: list[Exception] = []

    def work(deliveries: list[Delivery]) -> None:
        try:
            with psycopg.connect(product_db.dsn("assay_apply")) as conn:
                for start in range(0, len(deliveries), 20):
                    apply_batch(conn, deliveries[start : start + 20], EPOCH)
        except psycopg.Error as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[chosen]) for chosen in (forward, backward) * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    for told in stories:
        assert projection.rows(told.catalog) == told.fold()


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_delivery_of_a_valid_history_gives_its_fold(projection: Projection, data: st.DataObject) -> None:
    told = _any_history(Story(), data)
    positions = data.draw(st.permutations(range(1, len(told.events) + 1)))
    repeats = data.draw(st.lists(st.sampled_from(positions), max_size=10))
    order = data.draw(st.permutations([*positions, *repeats]))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(order)), max_size=6)))
    for start, end in zip([0, *cuts], [*cuts, len(order)], strict=True):
        projection.apply(told.deliveries(*order[start:end]) if start < end else [])
    assert projection.rows(told.catalog) == told.fold()
    assert projection.cursor(told.catalog)[:3] == (len(told.events),) * 3
    assert projection.count("parked", catalog_id=told.catalog.catalog_id) == 0


def _any_history(told: Story, data: st.DataObject) -> Story:
    """Items with listings and values, then whatever decisions may do to them."""
    items = data.draw(st.integers(1, 3))
    for n in range(items):
        told.product(n)
    names = [f"item_{n}" for n in range(items)]
    for _ in range(data.draw(st.integers(0, 12))):
        n = data.draw(st.integers(0, items - 1))
        item, listing = f"item_{n}", f"lst_{n}"
        match data.draw(st.sampled_from(["name", "clear", "offer", "map", "unmap", "retire", "revive", "merge"])):
            case "name":
                told.name(item, f"Kettle {data.draw(st.integers(0, 99))}")
            case "clear":
                told.clear(item, "brand")
            case "offer":
                told.offer(listing, f"{data.draw(st.integers(1, 99))}")
            case "map":
                told.map(listing, data.draw(st.sampled_from(names)))
            case "unmap":
                told.unmap(listing)
            case "retire":
                told.retire(item)
            case "revive":
                told.change(item)
            case _:
                if items > 1:
                    told.merge(item, data.draw(st.sampled_from([one for one in names if one != item])))
    return told
