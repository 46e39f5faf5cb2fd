"""What Python asks objects for may be an answer of the Program; it is asked as often as in Python."""

from __future__ import annotations

import pytest

import dy2st
from dy2st.jit import to_static

UP, DOWN = [1.0, 2.0], [-1.0, -2.0]


class Answers:
    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def __bool__(self):
        self.asked += 1
        return self.answer

    def __len__(self):
        return 0


class Sized:
    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


def run(function, value=UP):
    return to_static(function)(dy2st.to_tensor(value))


def test_a_python_answer_is_asked_for_once():
    counts = []

    def ask(x):
        one, two, three = Answers(True), Answers(False), Answers(True)
        if one:
            x = x + 1
        y = two or x
        while three:
            three.answer = False
        counts.append((one.asked, two.asked, three.asked, (not one), one.asked))
        return y

    assert run(ask).numpy().tolist() == [2.0, 3.0]
    assert counts == [(1, 1, 2, False, 2)]


def test_without_bool_the_length_decides():
    def ask(x):
        return (x if Sized(2) else -x) + (1 if Sized(0) else 10)

    assert run(ask).numpy().tolist() == [11.0, 12.0]


@pytest.mark.parametrize("answer", [1, None, "yes"])
def test_an_answer_that_is_no_bool_is_pythons_error(answer):
    def ask(x):
        return x if Answers(answer) else -x

    with pytest.raises(TypeError) as eager:
        ask(dy2st.to_tensor(UP))
    with pytest.raises(TypeError) as static:
        run(ask)
    assert str(static.value) == str(eager.value)


def test_an_answer_that_is_a_tensor_is_pythons_error():
    def ask(x):
        return x if Answers(x.sum() > 0) else -x

    with pytest.raises(TypeError) as eager:
        ask(dy2st.to_tensor(UP))
    with pytest.raises(TypeError) as static:
        run(ask)
    assert str(static.value) == str(eager.value)


def test_a_negative_length_is_pythons_error():
    with pytest.raises(ValueError, match="should return >= 0"):
        run(lambda x: x * len(Sized(-1)))
