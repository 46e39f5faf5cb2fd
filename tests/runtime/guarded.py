"""Arrays that lie beside memory which nobody may touch, and whose surroundings have a pattern.

What reads or writes a byte behind (or before) such an array ends the process.
"""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

PAGE = mmap.PAGESIZE
PATTERN = 0xA5
_NOTHING = 0


def guarded(array, at_end=True):
    """A copy of an array that ends where a page begins that may not be touched, or begins behind one.

    The rest of its own pages is filled with a pattern that no sound result shows.
    """
    array = np.array(array)
    room = -(-max(array.nbytes, 1) // PAGE) * PAGE
    memory = mmap.mmap(-1, room + 2 * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    offset = PAGE + (room - array.nbytes if at_end else 0)
    pages = np.frombuffer(memory, np.uint8)
    pages[:] = PATTERN
    own = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    own[...] = array
    for page in (start, start + PAGE + room):
        assert not ctypes.CDLL(None).mprotect(ctypes.c_void_p(page), PAGE, _NOTHING)
    return own
