"""Jobs that nobody sent, or whose message is past, are sent again; jobs that wait their turn are not."""

from collections.abc import Iterator
from uuid import UUID

import pytest
from assay_cli.stack.databases import Database
from assay_contracts.decoder import decode
from assay_contracts.topics import topic
from assay_relay.letters import Copier
from assay_relay.log_state import PLACES
from assay_relay.store import SentJob
from assay_runtime.failpoints import EXIT_STATUS
from assay_runtime.kafka import Publisher, ensure_topics

from .jobs_world import JOBS, Jobs, Sweep, commit_offset, patiently
from .world import Processes, TopicLog, remove_topic, wait_until


@pytest.fixture
def jobs(resolver_db: Database) -> Iterator[Jobs]:
    """Job rows of this test's own."""
    made = Jobs(resolver_db.admin_dsn)
    yield made
    made.connection.close()


@pytest.fixture
def publisher(topic_log: TopicLog) -> Iterator[Publisher]:
    """A producer to the test's topics."""
    with Publisher(topic_log.settings) as made:
        yield made


@pytest.fixture
def sweep(resolver_db: Database, topic_log: TopicLog, publisher: Publisher) -> Iterator[Sweep]:
    """A sweeper to be turned by hand."""
    made = Sweep(resolver_db.dsn("assay_relay_jobs"), topic_log, publisher)
    yield made
    made.close()


def attempts(log: TopicLog) -> list[tuple[str, int]]:
    """Job id and attempt of every message there is."""
    envelopes = [decode("resolution.job.v1", record.value) for record in log.read(JOBS)]
    return sorted((envelope.payload.job_id, envelope.attempt) for envelope in envelopes)


def test_a_job_whose_send_was_lost_is_sent_once(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    job = jobs.add()
    assert sweep.turn() == 1
    assert sweep.turn() == 0
    assert attempts(topic_log) == [(job, 1)]
    place = jobs.place(job)
    assert place is not None
    assert place[0] == sweep.topic_id()


def test_a_fresh_job_is_left_to_its_sender(jobs: Jobs, sweep: Sweep) -> None:
    jobs.add(due_ago=0.0)
    jobs.add(due_ago=-60.0)
    assert sweep.turn() == 0


def test_a_retry_is_sent_with_its_attempt_and_the_same_envelope(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    job = jobs.add()
    sweep.turn()
    jobs.retry(job)
    assert sweep.turn() == 1
    assert attempts(topic_log) == [(job, 1), (job, 2)]
    envelopes = [decode("resolution.job.v1", record.value) for record in topic_log.read(JOBS)]
    assert len({(envelope.id, envelope.ts) for envelope in envelopes}) == 1


def test_consumers_that_lag_get_nothing_twice(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    waiting = [jobs.add() for _ in range(20)]
    sweep.turn()
    for job in waiting[:5]:
        jobs.finish(job)
    place = jobs.place(waiting[5])
    assert place is not None
    commit_offset(topic_log, "extract", place[1], place[2])
    assert sweep.turn() == 0
    assert len(attempts(topic_log)) == len(waiting)


def test_a_job_that_its_group_has_passed_is_sent_again(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    passed, other_stage = jobs.add("extract"), jobs.add("normalize")
    sweep.turn()
    for job in (passed, other_stage):
        place = jobs.place(job)
        assert place is not None
        commit_offset(topic_log, "extract", place[1], 2)
    before = jobs.place(passed)
    assert sweep.turn() == 1
    after = jobs.place(passed)
    assert before is not None
    assert after is not None
    assert after[2] > before[2]
    assert [job for job, _ in attempts(topic_log)].count(other_stage) == 1


def test_a_job_whose_part_of_the_log_is_lost_is_sent_again(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    job = jobs.add()
    jobs.put(job, sweep.topic_id(), 0, 999)
    assert sweep.turn() == 1
    assert attempts(topic_log) == [(job, 1)]


def test_a_send_that_is_newer_than_the_look_at_the_log_is_not_lost(
    jobs: Jobs, topic_log: TopicLog, sweep: Sweep
) -> None:
    before = patiently(lambda: sweep.reader.read(sweep.topic_id()))
    reach = sweep.store.find_reach(sweep.topic_id(), PLACES)
    jobs.add()
    sweep.turn()
    assert sweep.store.claim_past(sweep.topic_id(), before.past(reach)) == []


def test_jobs_of_a_topic_that_was_made_again_are_sent_again(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    waiting = {jobs.add() for _ in range(5)}
    sweep.turn()
    old = sweep.topic_id()
    remove_topic(topic_log.settings, JOBS)
    wait_until(lambda: bool(ensure_topics(topic_log.settings, [topic(JOBS)], 1)), "the old topic is gone")
    assert sweep.topic_id() != old
    assert sweep.turn() == len(waiting)
    assert {job for job, _ in attempts(topic_log)} == waiting
    assert sweep.turn() == 0


def test_a_job_that_went_on_meanwhile_keeps_its_place(jobs: Jobs, sweep: Sweep) -> None:
    job = jobs.add()
    claimed = sweep.store.claim_unsent()
    jobs.retry(job)
    sweep.store.record_sends(UUID(int=1), [_sent_at_zero(claimed[0].tenant_id, claimed[0].job_id)])
    assert jobs.place(job) is None


def _sent_at_zero(tenant_id: str, job_id: str) -> SentJob:
    return SentJob(tenant_id, job_id, attempt=1, partition=0, offset=0)


def test_sweepers_share_the_work(
    jobs: Jobs, resolver_db: Database, topic_log: TopicLog, publisher: Publisher, sweep: Sweep
) -> None:
    for _ in range(10):
        jobs.add()
    assert len(sweep.store.claim_unsent()) == 10
    other = Sweep(resolver_db.dsn("assay_relay_jobs"), topic_log, publisher)
    assert other.turn() == 0
    other.close()


def test_what_a_dead_sweeper_claimed_is_claimed_again(
    jobs: Jobs, resolver_db: Database, topic_log: TopicLog, publisher: Publisher
) -> None:
    job = jobs.add()
    dead = Sweep(resolver_db.dsn("assay_relay_jobs"), topic_log, publisher, claim_seconds=0.0)
    assert len(dead.store.claim_unsent()) == 1
    assert dead.turn() == 1
    assert attempts(topic_log) == [(job, 1)]
    dead.close()


def test_a_payload_that_nobody_would_take_stops_no_other_job(jobs: Jobs, topic_log: TopicLog, sweep: Sweep) -> None:
    bad, good = jobs.add(), jobs.add()
    jobs.connection.execute("UPDATE job SET payload = '{}' WHERE job_id = %s", [bad])
    sweep.turn()
    assert attempts(topic_log) == [(good, 1)]
    assert jobs.place(bad) is None


def test_a_dead_letter_is_copied_once_byte_for_byte(
    jobs: Jobs, topic_log: TopicLog, sweep: Sweep, publisher: Publisher
) -> None:
    jobs.add_letter(b"ten_a", b"\xff\x00 not json", '[["schema", "eA=="], ["empty", null]]')
    jobs.add_letter(None, None, "[]", offset=1)
    copier = Copier(publisher)
    assert copier.copy(sweep.store) == 2
    assert copier.copy(sweep.store) == 0
    assert jobs.unpublished_letters() == 0
    copies = {record.value: record for record in topic_log.read(f"{JOBS}.dlq")}
    assert copies.keys() == {b"\xff\x00 not json", None}
    copy = copies[b"\xff\x00 not json"]
    assert copy.key == b"ten_a"
    assert copy.headers[:2] == [("schema", b"x"), ("empty", None)]
    assert ("dlq-offset", b"0") in copy.headers
    assert ("dlq-reason", b"not_json") in copy.headers
    assert copies[None].key is None


def test_a_sweeper_that_dies_after_sending_leaves_a_repeat_and_no_loss(
    jobs: Jobs, topic_log: TopicLog, processes: Processes, resolver_db: Database
) -> None:
    job = jobs.add()
    dsn = resolver_db.dsn("assay_relay_jobs")
    first = processes.start("jobs", dsn=dsn, sweep_claim_seconds="0.1", failpoints="jobs.after_publish=exit")
    assert first.wait(60) == EXIT_STATUS
    processes.start("jobs", dsn=dsn)
    wait_until(lambda: jobs.place(job) is not None, "the place is recorded")
    assert attempts(topic_log) == [(job, 1), (job, 1)]
