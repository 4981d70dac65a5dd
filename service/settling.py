"""What a process that serves tells its memory: what to keep at hand, and what to leave alone."""

import ctypes
import gc
import sys
from typing import Final

# So many objects are made before they are looked through: what about ten searches make. By default
# 700.
_YOUNG_OBJECTS: Final = 10_000
# While a process starts nearly all that it makes stays.
_YOUNG_OBJECTS_AT_START: Final = 50_000
# mallopt(3): blocks up to the first are not mapped from the kernel each time, and so much may lie
# free at the end of a heap before it is given back.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_MAPPED_BYTES: Final = 2**24
_FREE_BYTES: Final = 2**25
# So long a thread keeps the interpreter from others that wait for it; by default 5 ms.
_SWITCH_SECONDS: Final = 0.001


def start() -> None:
    """Begin, before the rooms are imported.

    A start makes 200,000 objects that stay. Looking for garbage among them after each 700 took 0.14
    of 1.5 s that importing takes; with 100,000 memories it was ready after 2.44 s, without 2.29.
    """
    gc.set_threshold(_YOUNG_OBJECTS_AT_START, *gc.get_threshold()[1:])


def settle() -> None:
    """Settle down once all that lives as long as the process stands.

    210,000 objects do: to look through them for cycles took 150 ms amid a search, and young ones
    were looked through once a search, for a fortieth of its CPU. At 100,000 memories a search makes
    a dozen arrays of 100 kB to 1 MB; glibc gave each back to the kernel, and 190 page faults a
    search fetched them again, for a tenth of its CPU. A search lets go of the interpreter a dozen
    times, and beside a thread that reads texts it waited for as long as that may keep it each time.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])
    # Other libraries of C have no such choice.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _FREE_BYTES)
