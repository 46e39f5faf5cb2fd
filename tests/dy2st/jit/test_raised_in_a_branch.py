"""What statements and builtins raise in a branch is raised where that is taken."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static


def asserts():
    assert False, "no way"  # noqa: B011, PT015


def sets_item():
    items = [1]
    items[4] = 3


def pops():
    items: list[int] = []
    items.pop()


@pytest.mark.parametrize(
    "raising",
    [
        asserts,
        sets_item,
        pops,
        lambda: int("zz"),
        lambda: max([]),
        lambda: "{} {}".format(1),  # noqa: F524, UP032
        lambda: list(zip([1], [2, 3], strict=True)),
    ],
)
def test_it_is_raised_only_where_the_branch_is_taken(raising):
    def run(x):
        if x.sum() > 0:
            raising()
        return x

    static = to_static(run)
    assert static(dy2st.to_tensor([-1.0])).tolist() == [-1.0]
    with pytest.raises(Exception) as expected:  # noqa: PT011
        raising()
    with pytest.raises(type(expected.value)) as caught:
        static(dy2st.to_tensor([1.0]))
    first_line = str(expected.value).splitlines()[0]  # pytest adds to those of `assert`
    assert str(caught.value).splitlines()[0] == first_line


def test_texts_that_tensors_decide_on_are_joined():
    def run(x):
        words = ["big" if value > 1 else "small" for value in x]
        return " ".join(words), ", ".join(["a", words[0]])

    static = to_static(run)
    for values in ([1.0, 2.0], [3.0, 0.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == run(x)
