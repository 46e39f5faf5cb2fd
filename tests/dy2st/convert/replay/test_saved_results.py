"""A result that is one of several values, or a list of a length, is saved with the Program."""

import pytest

import dy2st
from dy2st import errors
from dy2st.static import InputSpec

TURNS = dy2st.to_tensor([3])
INPUTS = [dy2st.ones([2, 4]), -dy2st.ones([2, 4]), dy2st.ones([3, 4]) * 2]


def ranks(x):
    return x[0] if x.sum() > 0 else x * 2


def nothing(x):
    return {"found": x if x.sum() > 0 else None, "mean": x.mean()}


def containers(x):
    return (3, x) if x.sum() > 0 else [x.max(), "none"]


def numbers(x):
    return x.shape[0] if x.sum() > 0 else "empty"


def grown(x):
    found = []
    for row in x:
        if row.sum() > 2:
            found.append(row)
    return found


def numbers_in_a_list(x):
    return [turn * 2 for turn in range(int(TURNS[0]))]


def pairs(x):
    found = []
    for turn in range(int(TURNS[0])):
        found.append((x * turn, turn, "text"))
    return {"pairs": found, "last": found[-1]}


def lists_in_a_list(x):
    rows = []
    for turn in range(int(TURNS[0])):
        row = []
        for _ in range(turn):
            row.append(x + turn)
        rows.append(row)
    return rows


def cases_in_a_list(x):
    found = []
    for value in x.sum(1):
        found.append(value if value > 0 else None)
    return found


def an_empty_list(x):
    found = []
    for _ in range(int(TURNS[0]) - 3):
        found.append(x)
    return found


FUNCTIONS = [
    ranks, nothing, containers, numbers, grown, numbers_in_a_list, pairs, lists_in_a_list,
    cases_in_a_list, an_empty_list,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_saved_result_of_several_kinds_is_as_in_python(function, tmp_path):
    static = dy2st.to_static(function, input_spec=[InputSpec([None, 4], "float32", "x")])
    dy2st.jit.save(static, str(tmp_path / "model"))
    loaded = dy2st.jit.load(str(tmp_path / "model"))
    for x in INPUTS:
        assert str(loaded(x)) == str(static(x)) == str(function(x))


class Box:
    def __init__(self, value):
        self.value = value


def test_one_of_several_objects_of_the_user_is_not_saved(tmp_path):
    def boxed(x):
        return Box(x) if x.sum() > 0 else None

    static = dy2st.to_static(boxed, input_spec=[InputSpec([4], "float32", "x")])
    with pytest.raises(
        errors.ConversionError, match="returns what a Program alone cannot give back"
    ):
        dy2st.jit.save(static, str(tmp_path / "model"))


def twice(x):
    found = []
    for turn in range(int(TURNS[0])):
        found.append(x * turn)
    return found, found


def test_a_list_that_is_given_back_twice_is_one():
    first, second = dy2st.to_static(twice)(INPUTS[0])
    assert first is second


def test_a_file_says_that_two_lists_are_one(tmp_path):
    static = dy2st.to_static(twice, input_spec=[InputSpec([2, 4], "float32", "x")])
    dy2st.jit.save(static, str(tmp_path / "model"))
    first, second = dy2st.jit.load(str(tmp_path / "model"))(INPUTS[0])
    assert first is second
