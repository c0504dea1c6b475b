"""The garbage collector rests while a large document is read, for a document has no cycles.

It would look for some each time 700 arrays have been made, at every object of the process: three quarters of the time
that 64 KiB of brackets cost.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

LARGE_BYTES: Final = 16_384
"""What is smaller makes too few objects to matter."""


@contextmanager
def uncollected() -> Generator[None]:
    """Does not collect inside; threads that overlap here may end it early for one another, never leave it off."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
