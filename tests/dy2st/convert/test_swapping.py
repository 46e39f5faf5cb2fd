"""A function's code is swapped for as long as a trace needs it."""

from __future__ import annotations

import threading

from dy2st.convert.call import converted_code
from dy2st.convert.swapping import Swaps
from dy2st.transpiler import is_converted
from tests.dy2st.jit.interrupts import Interrupt


def sign(x, scale=2):
    """The sign."""
    if x > 0:
        return scale
    return -scale


def test_a_swapped_function_is_the_same_object_and_does_the_same():
    own = sign.__code__
    swaps = Swaps(converted_code)
    assert swaps.swap(sign)
    try:
        assert is_converted(sign.__code__)
        assert (sign(3), sign(-3, scale=1), sign.__doc__) == (2, -1, "The sign.")
        assert sign.__defaults__ == (2,)
    finally:
        swaps.restore()
    assert sign.__code__ is own


def test_the_code_stays_swapped_until_the_last_trace_has_ended():
    own = sign.__code__
    first, second = Swaps(converted_code), Swaps(converted_code)
    first.swap(sign)
    second.swap(sign)
    first.restore()
    assert is_converted(sign.__code__)
    second.restore()
    assert sign.__code__ is own


def test_code_that_the_user_has_set_meanwhile_is_kept():
    def changing(x):
        return x if x else 1

    swaps = Swaps(converted_code)
    swaps.swap(changing)
    changing.__code__ = (lambda x: 5).__code__
    swaps.restore()
    assert changing(3) == 5


def test_closures_and_zero_argument_super_run_swapped():
    class Base:
        def value(self):
            return 1

    offset = 10

    class Inner(Base):
        def value(self):
            return super().value() + (offset if self else 0)

    swaps = Swaps(converted_code)
    assert swaps.swap(Inner.value)
    assert Inner().value() == 11
    swaps.restore()
    assert Inner().value() == 11


def test_ctrl_c_at_any_moment_of_a_swap_is_undone():
    def swap_and_restore(swaps):
        assert swaps.swap(sign)
        swaps.restore()

    own, moment, left = sign.__code__, 0, 0
    while left == 0:
        moment += 1
        swaps, interrupt = Swaps(converted_code), Interrupt(moment)
        try:
            interrupt.run(swap_and_restore, swaps)
        except KeyboardInterrupt:
            swaps.restore()
        assert sign.__code__ is own
        left = max(interrupt.left, 0)
    assert moment > 10


def test_what_has_no_source_is_not_swapped():
    bare = eval("lambda x: x and 1")
    swaps = Swaps(converted_code)
    assert not swaps.swap(bare)
    swaps.restore()
    assert not is_converted(bare.__code__)


def test_threads_that_swap_and_restore_at_once_leave_the_users_code():
    own = sign.__code__
    wrong = []

    def work():
        for n in range(200):
            swaps = Swaps(converted_code)
            swaps.swap(sign)
            if sign(n + 1) != 2:
                wrong.append(n)
            swaps.restore()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and sign.__code__ is own
