"""What `finally` and the exits of managers do with exceptions that a tensor decides on."""

import pytest

import dy2st
from dy2st.static import InputSpec


def test_what_a_finally_lets_pass_is_raised_at_the_line_of_the_user():
    def f(x):
        try:
            if x.sum() > 5:
                raise ValueError("big")
        finally:
            x = x + 1
        return x

    static = dy2st.jit.to_static(f, input_spec=[InputSpec([3])])
    with pytest.raises(ValueError, match="big") as caught:
        static(dy2st.ones([3]) * 9)
    place = f"{__file__}:{f.__code__.co_firstlineno + 3}"
    assert place in "".join(getattr(caught.value, "__notes__", [place]))
