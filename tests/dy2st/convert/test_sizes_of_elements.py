"""What is known of the sizes of tensors in a list whose length the data decides."""

from __future__ import annotations

import dy2st
from dy2st import to_static
from dy2st.static import Dim, InputSpec

TURNS = dy2st.to_tensor([3])


def program_of(function):
    return to_static(function, input_spec=[InputSpec([Dim("n"), 4])]).main_program


def test_elements_have_the_sizes_of_the_arguments_that_they_are_made_of():
    def function(x):
        found = []
        for turn in range(int(TURNS[0])):
            found.append(x * turn)
        return dy2st.stack(found).sum(0) + x

    (output,) = program_of(function).outputs
    assert str(output.type.shape[0]) == "n"


def test_elements_of_other_sizes_in_each_iteration_have_none_that_is_known():
    def function(x):
        found = []
        for turn in range(int(TURNS[0])):
            found.append(x[:turn])
        return found[1]

    (output,) = program_of(function).outputs
    assert str(output.type.shape[0]) != "n"


def test_elements_that_grow_have_no_size_of_the_first_iteration():
    def function(x):
        found, grown = [], x
        for _ in range(int(TURNS[0])):
            found.append(grown)
            grown = dy2st.concat([grown, x])
        return found[1]

    (output,) = program_of(function).outputs
    assert str(output.type.shape[0]) != "n"
    x = dy2st.ones([2, 4])
    assert to_static(function)(x).shape == [4, 4]
