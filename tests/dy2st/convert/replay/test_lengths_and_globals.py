"""Lengths that differ from call to call, and globals that a branch sets by `globals()`."""

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec

count = 0
log = []


def test_a_length_that_differs_needs_another_program():
    def f(x):
        log.append(x.max())
        log.append(len(log))
        return x

    converted = to_static(f, input_spec=[InputSpec([2], "float32", "x")])
    for _ in range(3):
        converted(dy2st.to_tensor([1.0, 2.0]))
    assert [float(one) for one in log] == [2.0, 1.0, 2.0, 3.0, 2.0, 5.0]


def test_a_global_that_a_branch_sets_in_the_dict_is_set():
    def f(x):
        if x.sum() > 3:
            globals()["count"] = 3
        return x

    converted = to_static(f, input_spec=[InputSpec([2], "float32", "x")])
    found = []
    for row in ([1.0, 1.0], [2.0, 3.0], [0.0, 0.0]):
        converted(dy2st.to_tensor(row))
        found.append(count)
    assert found == [0, 3, 3]
