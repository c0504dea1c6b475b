"""The fast path knows exact jobs of exact epochs, and is never asked to be right."""

from assay_contracts.ids import JobId
from assay_stages.slots import Slots

JOB = JobId("cap_1:extract:1")


def test_a_done_job_is_remembered_in_its_partition_and_epoch() -> None:
    slots = Slots({})
    assert not slots.has_done(0, 1, JOB)
    slots.remember_done(0, 1, JOB)
    assert slots.has_done(0, 1, JOB)
    assert not slots.has_done(1, 1, JOB)
    assert not slots.has_done(0, 2, JOB), "after a restore Postgres is asked"


def test_two_jobs_in_one_slot_drive_each_other_out() -> None:
    table = dict[bytes, bytes]()
    slots = Slots(table)
    slots.remember_done(0, 1, JOB)
    (key,) = table
    table[key] = b"1 cap_2:extract:1"
    assert not slots.has_done(0, 1, JOB)


def test_without_a_table_everything_is_asked() -> None:
    slots = Slots(None)
    slots.remember_done(0, 1, JOB)
    assert not slots.has_done(0, 1, JOB)
