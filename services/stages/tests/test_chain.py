"""The three real processes: a capture's job goes through all stages, and ends visibly whatever the page is."""

from .conftest import Starter
from .world import PAGE_WITHOUT_PRODUCT, Place, capture, new_tenant, wait_for

STAGES = ("extract", "normalize", "identity")


async def test_a_page_goes_through_all_stages(own_place: Place, run_stage: Starter) -> None:
    tenant = new_tenant(own_place)
    job = await capture(own_place, tenant)
    empty = await capture(own_place, tenant, PAGE_WITHOUT_PRODUCT)
    broken = await capture(own_place, tenant, b"\x00\x01\x02\x03 no page at all \xff\xfe")
    running = [run_stage(stage) for stage in STAGES]
    for each in (job, empty, broken):
        own_place.send_job(each)
    for each in (job, empty, broken):
        wait_for(lambda one=each: own_place.jobs_of(one).get("identity", ("",))[0] == "done", 60)

    assert own_place.jobs_of(job)["identity"] == ("done", "created")
    assert own_place.jobs_of(empty) == {
        "extract": ("done", "nothing"),
        "normalize": ("done", "nothing"),
        "identity": ("done", "nothing"),
    }
    assert own_place.jobs_of(broken)["extract"] == ("done", "broken")
    assert own_place.jobs_of(broken)["identity"] == ("done", "broken")
    assert [stage.stop() for stage in running] == [0, 0, 0]
