"""Which deliveries of a job may run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from assay_contracts.envelope import Envelope
from assay_contracts.ids import CatalogId, SourceId, TenantId, uuid7
from assay_contracts.messages import ResolutionJob
from assay_resolver.jobs import CaptureRow, JobRow
from assay_stages.admission import Admission, Refuse, Run, RunAlone, Skip, Supersede, admit

from .world import CATALOG, EPOCH, SOURCE, new_job

STARTED = datetime(2026, 7, 1, tzinfo=UTC)
CAPTURE = CaptureRow(CatalogId(CATALOG), SourceId(SOURCE), "https://shop.example/1", None, 200, 1, None, None)
JOB = JobRow("open", 1, EPOCH, 1, "open", True, False, 0, None, False, True)
DIED = replace(JOB, started_at=STARTED, start_has_no_end=True)
DIED_ALONE = replace(DIED, started_alone=True)


def _envelope() -> Envelope[ResolutionJob]:
    return Envelope(id=uuid7(), ts=1, attempt=1, payload=new_job(TenantId("ten_a"), b"page"))


@pytest.mark.parametrize(
    ("capture", "job", "expected"),
    [
        (CAPTURE, JOB, Run(0)),
        (CAPTURE, replace(JOB, state="done"), Skip.ENDED),
        (CAPTURE, replace(JOB, state="dead"), Skip.ENDED),
        (CAPTURE, replace(JOB, state="superseded"), Skip.ENDED),
        (CAPTURE, replace(JOB, attempt=2), Skip.OTHER_ATTEMPT),
        (CAPTURE, replace(JOB, history_epoch="history-2"), Skip.OTHER_EPOCH),
        (CAPTURE, replace(JOB, due=False), Skip.EARLY),
        (replace(CAPTURE, attempt_group=2), JOB, Supersede()),
    ],
)
def test_the_rows_decide(capture: CaptureRow, job: JobRow, expected: Admission) -> None:
    assert admit(_envelope(), capture, job, alone=False, begun_here=None) == expected


@pytest.mark.parametrize(
    ("capture", "job", "reason"),
    [
        (None, JOB, "no_job"),
        (CAPTURE, None, "no_job"),
        (CAPTURE, replace(JOB, epoch_state="closed"), "closed_epoch"),
        (CAPTURE, replace(JOB, promised=False), "not_as_promised"),
        (replace(CAPTURE, catalog_id=CatalogId("cat_other")), JOB, "capture_mismatch"),
        (replace(CAPTURE, source_id=SourceId("src_other")), JOB, "capture_mismatch"),
    ],
)
def test_what_no_attempt_can_mend_is_refused(capture: CaptureRow | None, job: JobRow | None, reason: str) -> None:
    admission = admit(_envelope(), capture, job, alone=False, begun_here=None)
    assert isinstance(admission, Refuse)
    assert admission.reason == reason


def test_a_start_without_an_end_runs_alone_from_then_on() -> None:
    assert admit(_envelope(), CAPTURE, DIED, alone=False, begun_here=None) == RunAlone()
    assert admit(_envelope(), CAPTURE, DIED, alone=True, begun_here=None) == Run(0)
    ended = replace(DIED_ALONE, start_has_no_end=False)
    assert admit(_envelope(), CAPTURE, ended, alone=False, begun_here=None) == RunAlone()


def test_only_lone_deaths_count() -> None:
    assert admit(_envelope(), CAPTURE, replace(DIED, deaths=4), alone=True, begun_here=None) == Run(4)
    assert admit(_envelope(), CAPTURE, replace(DIED_ALONE, deaths=3), alone=True, begun_here=None) == Run(4)
    fifth = admit(_envelope(), CAPTURE, replace(DIED_ALONE, deaths=4), alone=False, begun_here=None)
    assert isinstance(fifth, Refuse)
    assert (fifth.reason, fifth.deaths) == ("kills_its_process", 5)


def test_a_start_of_this_living_process_is_no_death() -> None:
    assert admit(_envelope(), CAPTURE, DIED, alone=False, begun_here=STARTED) == Run(0)
    later = STARTED + timedelta(seconds=1)
    assert admit(_envelope(), CAPTURE, DIED, alone=False, begun_here=later) == RunAlone()
