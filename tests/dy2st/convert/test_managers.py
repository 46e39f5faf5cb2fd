"""`with` where a tensor decides whether its body raises, as Python has it."""

import contextlib
import traceback
import unittest

import dy2st


def test_what_a_body_raises_passes_a_generator_without_frames_of_it():
    @contextlib.contextmanager
    def manager():
        yield

    def f(x):
        try:
            with manager():
                _ = 1 / 0
        except ZeroDivisionError as error:
            names = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
        return x, names

    assert dy2st.jit.to_static(f)(dy2st.to_tensor([1.0]))[1] == ["f"]


def test_a_manager_of_a_library_that_swallows_runs_its_body_once():
    case, notes = unittest.TestCase(), []

    def f(x):
        y = x
        with case.assertRaises(KeyError) as caught:
            notes.append(1)
            y = x + 1
            raise KeyError(5)
        return y, caught.exception.args

    x = dy2st.ones([2])
    found, args = dy2st.jit.to_static(f)(x)
    assert (found.tolist(), args, notes) == ([2.0, 2.0], (5,), [1])
