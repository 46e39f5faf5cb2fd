"""What is answered at once is what the long way gives: code that changes it while it is traced."""

from __future__ import annotations

import linecache

import pytest

import dy2st
from dy2st.jit import to_static

X = dy2st.to_tensor([1.0, 2.0])


def test_variable_of_a_plain_loop_that_does_not_run():
    def f(x):
        n = 0
        for i in range(n):
            n += i
        return x * i

    with pytest.raises(UnboundLocalError):
        to_static(f)(X)


def test_range_that_is_the_users_own():
    text = (
        "def f(x):\n    n = 0\n    while n < 5:\n        for j in range(3):\n            n += j\n"
    )
    text += "    return x * n\n"
    linecache.cache["<own range>.py"] = (len(text), None, text.splitlines(True), "<own range>.py")
    namespace = {"range": lambda n: [5] * n}
    exec(compile(text, "<own range>.py", "exec"), namespace)
    static = to_static(namespace["f"])
    for x in (X, -X, X, -X):
        assert static(x).tolist() == namespace["f"](x).tolist()
