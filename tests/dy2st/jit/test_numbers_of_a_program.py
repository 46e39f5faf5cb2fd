"""Numbers of the Program where Python would look at their values."""

from __future__ import annotations

import math

import pytest

import dy2st
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime.errors import UnsupportedSyntax

X = [1.0, 1.0, 2.0]


def test_a_number_of_the_program_repeats_a_text():
    for function in (lambda x: "ab" * int(x.sum()), lambda x: int(x.sum()) * "ab"):
        assert to_static(function)(dy2st.to_tensor(X)) == "abababab"


def test_a_truth_of_the_program_is_true_or_false_itself():
    def run(x):
        truth = bool(x.sum() > 0)
        other = bool(x.max() > 0)
        return truth is True, truth is not False, truth is None, False is truth, truth is other

    static = to_static(run)
    for values in (X, [-1.0, -2.0], [-3.0, 1.0]):
        x = dy2st.to_tensor(values)
        assert static(x) == run(x)


def test_an_iterator_of_a_tensor_is_advanced_in_a_branch():
    def run(x):
        items = iter(x)
        first = next(items)
        if first > 0:
            first = next(items)
        return first, next(items)

    static = to_static(run)
    for x in (dy2st.to_tensor(X), -dy2st.to_tensor(X)):
        assert [*map(float, static(x))] == [*map(float, run(x))]


def test_a_begun_generator_is_not_advanced_in_a_branch():
    def run(x):
        items = (number for number in [1, 2, 3])
        first = next(items)
        if x.sum() > 0:
            first = next(items)
        return first, next(items)

    with pytest.raises(UnsupportedSyntax, match="is advanced in a branch"):
        to_static(run)(dy2st.to_tensor(X))


@pytest.mark.parametrize(
    "divided",
    [
        lambda n: 10 / n,
        lambda n: 10 // n,
        lambda n: 7 % n,
        lambda n: 7.5 % float(n),
        lambda n: 7.5 // float(n),
        lambda n: divmod(9, n),
        lambda n: n / 2 + n // 4 + n % 3,
        lambda n: (n * 2) / n,
    ],
)
def test_a_number_is_divided_by_zero_as_in_python(divided):
    def run(x):
        return divided(int(x.sum()))

    static = to_static(run)
    for values in ([4.0], [-3.0], [0.0]):
        x = dy2st.to_tensor(values)
        try:
            expected = run(x)
        except ZeroDivisionError as error:
            with pytest.raises(ZeroDivisionError) as caught:
                static(x)
            assert str(caught.value) == str(error)
        else:
            assert static(x) == expected


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_tensor_is_divided_by_zero_as_a_tensor():
    static = to_static(lambda x: (1 / x.sum(), x.sum() / 0, x.sum() / int(x.sum())))
    assert [value.tolist() for value in static(dy2st.to_tensor([2.0]))] == [0.5, float("inf"), 1.0]
    assert static(dy2st.to_tensor([0.0]))[0].tolist() == float("inf")


@pytest.mark.parametrize(
    "grown",
    [
        lambda n: n * 10**10 * 10**9,
        lambda n: (n + 10**9) ** 3,
        lambda n: n * (n + 2**31) * (n + 2**31),
        lambda n: (n * 2**62) + (n * 2**62),
        lambda n: (n * 2**62) - (n * -(2**62)),
        lambda n: sum([n * 2**62, n * 2**62]),
    ],
)
def test_an_int_is_exact_or_an_error(grown):
    static = to_static(lambda x: grown(int(x.sum())))
    for value in (0, 1, -1, 5):
        expected = grown(value)
        x = dy2st.to_tensor([float(value)])
        if -(2**63) <= expected < 2**63:
            assert static(x) == expected
        else:
            with pytest.raises(OverflowError, match="an int of a Program has 64 bits"):
                static(x)


def test_an_int_that_a_loop_makes_too_large_is_an_error():
    @to_static
    def factorial(x):
        n, k = 1, 0
        while k < x.sum():
            k = k + 1
            n = n * k
        return n

    assert factorial(dy2st.to_tensor([20.0])) == math.factorial(20)
    with pytest.raises(OverflowError, match="multiply gives a larger one"):
        factorial(dy2st.to_tensor([21.0]))


def test_small_steps_are_not_checked():
    @to_static
    def count(x):
        n = 0
        for value in x:
            if value > 0:
                n += 1
        return n * -1

    x = dy2st.to_tensor([1.0, -1.0, 2.0])
    assert count(x) == -2
    assert "check_int" not in str(count.main_program)


@pytest.mark.parametrize("value", [2.5, -2.5, float("nan"), float("inf"), -float("inf")])
def test_int_of_a_float_raises_what_python_raises(value):
    static = to_static(lambda x: int(x.sum()))
    x = dy2st.to_tensor([value])
    try:
        expected = int(value)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)) as caught:
            static(x)
        assert str(caught.value) == str(error)
    else:
        assert static(x) == expected


def test_a_branch_that_changes_another_entry_keeps_the_number_of_the_program():
    class Model(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.d, self.l = {"n": 0, "h": dy2st.zeros([1])}, [0, dy2st.zeros([1])]

        def forward(self, x):
            self.d["n"] += 1
            self.l[0] += 1
            if x.sum() > 0:
                self.d["h"] = self.d["h"] + x
                self.l[1] = self.l[1] + x
            return self.d["n"], self.l[0]

    static = to_static(Model())
    assert [static(dy2st.to_tensor([1.0])) for _ in range(5)] == [(n, n) for n in range(1, 6)]


PLACES = [(6,), (-1,), (1, 3), ((0, 2),), (9, 9), (100,), (1, 2, 0), ((),)]


@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("size", [3, None])
def test_item_of_a_place_is_that_element(place, size):
    x = dy2st.arange(15.0).reshape([3, 5])
    static = to_static(lambda x: x.item(*place), [InputSpec([size, 5])])
    try:
        wanted = x.item(*place)
    except (IndexError, ValueError):
        with pytest.raises((IndexError, ValueError)):
            static(x)
    else:
        found = static(x)
        assert found == wanted and type(found) is float


def test_item_takes_places_that_tensors_say():
    static = to_static(lambda x, i: (x.item(i), x.item(i - 5, i)))
    x = dy2st.arange(24).reshape([4, 6])
    assert static(x, dy2st.to_tensor([5])) == (5, 5)
    assert static(x, dy2st.to_tensor([7 - 2])) == (5, 5)
    with pytest.raises(IndexError):
        static(x, dy2st.to_tensor([24]))


def test_item_takes_no_slice():
    with pytest.raises(TypeError, match="item"):
        to_static(lambda x: x.item(slice(0, 1)))(dy2st.ones([2]))


def grown_in_place(k, other):
    k += other
    return k


WRONG_OPERANDS = {
    "list + k": lambda k: [1, 2] + k,
    "k + list": lambda k: k + [1, 2],
    "[k] + k": lambda k: [1, k] + k,
    "tuple - k": lambda k: (1, 2) - k,
    "list / k": lambda k: [1, 2] / k,
    "list < k": lambda k: [1, 2] < k,
    "text + k": lambda k: "a" + k,
    "k < text": lambda k: k < "a",
    "k - dict": lambda k: k - {},
    "None + k": lambda k: None + k,
    "k += list": lambda k: grown_in_place(k, [1]),
    "k += text": lambda k: grown_in_place(k, "a"),
    "k[0]": lambda k: k[0],
    "del k[0]": lambda k: k.__delitem__(0),
    "1 in k": lambda k: 1 in k,
    "list(k)": list,
}


@pytest.mark.parametrize("kind", [int, float, bool])
@pytest.mark.parametrize("name", WRONG_OPERANDS)
def test_a_number_is_no_tensor_where_python_has_no_such_operator(name, kind):
    def run(x):
        return WRONG_OPERANDS[name](kind(x.sum()))

    x = dy2st.to_tensor(X)
    with pytest.raises((TypeError, AttributeError)) as expected:
        run(x)
    with pytest.raises(type(expected.value)) as found:
        to_static(run)(x)
    assert str(found.value).split("\n")[0] == str(expected.value)


def asked(value):
    names = ("__len__", "__iter__", "__getitem__", "__index__", "__add__", "shape")
    try:
        first = value[0]
    except TypeError:
        first = "no sequence"
    return [hasattr(value, name) for name in names], first, dy2st.is_tensor(value)


def test_a_number_is_asked_whether_it_is_a_sequence_or_tensor():
    def run(x):
        total = x.sum()
        return [asked(one) for one in (int(total), float(total), bool(total), x.shape[0])]

    x = dy2st.to_tensor(X)
    assert to_static(run)(x) == run(x)


def test_a_number_equals_no_list_text_or_none():
    def run(x):
        k = int(x.sum())
        lists = [1, 2] == k, [1, k] == k, k != [1], (1, 2) == k, k == {}
        return *lists, "a" == k, k == None, k in ([4], k)  # noqa: E711

    x = dy2st.to_tensor(X)
    assert to_static(run)(x) == run(x)
