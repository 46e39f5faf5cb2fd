"""What Python does once, while a function is traced, is said."""

from __future__ import annotations

import io
import random

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


@pytest.mark.parametrize("draw", [random.random, np.random.rand, lambda: random.choice([1, 2])])
def test_a_random_number_of_python_is_drawn_once_and_a_warning_says_so(draw):
    def noisy(x):
        return x + draw()

    with pytest.warns(UserWarning, match="a random number of Python is drawn.*not at every call"):
        to_static(noisy)(X)


def test_random_numbers_that_the_function_makes_itself_are_no_concern():
    def seeded(x):
        return x + random.Random(3).random()

    assert to_static(seeded)(X).tolist() == seeded(X).tolist()


def test_a_stream_in_memory_that_the_function_makes_may_be_written(recwarn):
    def framed(x):
        out = io.StringIO()
        out.write("text")
        return x, out.getvalue()

    assert to_static(framed)(X)[1] == "text"
    assert not recwarn.list


def test_the_file_that_print_writes_to_in_a_branch_is_refused(tmp_path):
    with open(tmp_path / "out", "w") as file:

        def noted(x):
            if x.sum() > 0:
                print("up", file=file)
            return x

        with pytest.raises(ConversionError, match=r"write\(\) of a stream is called in a branch"):
            to_static(noted)(X)
