"""A global that is assigned by its name and by `globals()` is one variable."""

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec

count = 0


def test_what_is_set_last_is_what_the_variable_holds():
    def f(x):
        global count
        count = 1
        if x.sum() > 3:
            globals()["count"] = 3
        return x + count

    converted = to_static(f, input_spec=[InputSpec([2], "float32", "x")])
    for row, wanted in (([1.0, 1.0], 1), ([2.0, 3.0], 3), ([0.0, 0.0], 1)):
        assert converted(dy2st.to_tensor(row)).tolist() == [one + wanted for one in row]
        assert count == wanted
