"""SIGTERM reaches threads and coroutines alike, and a second one needs nobody's consent."""

import asyncio
import signal
import subprocess
import sys

import pytest
from assay_runtime.stop import Stop

WAITING = """
import asyncio, sys
from assay_runtime.stop import Stop
async def main():
    stop = Stop()
    print("ready", flush=True)
    await stop.waited()
    print("stopping", flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
THREADED = """
from assay_runtime.stop import Stop
stop = Stop()
print("ready", flush=True)
print("stopping" if stop.wait(60) else "not asked", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_thread_that_waits_hears_the_signal(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", THREADED], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        assert process.communicate(timeout=20)[0] == "stopping\n"
        assert process.returncode == 0


def test_a_second_signal_ends_a_process_that_takes_too_long() -> None:
    with subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "stopping\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == -signal.SIGTERM


async def test_coroutines_wait_for_a_stop_from_another_thread() -> None:
    stop = Stop(install=False)
    waiters = [asyncio.create_task(stop.waited()) for _ in range(3)]
    await asyncio.to_thread(stop.set)
    await asyncio.wait_for(asyncio.gather(*waiters), 5)
    await asyncio.wait_for(stop.waited(), 5)
    assert stop.is_set()


async def test_a_pause_may_end_early() -> None:
    stop = Stop(install=False)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(stop.waited(), 0.01)
    assert not stop.wait(0.01)
