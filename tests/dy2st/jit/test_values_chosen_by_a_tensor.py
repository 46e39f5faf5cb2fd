"""Programs whose results are of no one form: live, saved, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import dy2st
from dy2st.errors import ConversionError
from dy2st.jit import load, save, to_static
from dy2st.static import InputSpec
from dy2st_runtime.ir.text.parser import parse_one

SPEC = [InputSpec([3], "float32")]

POSITIVE, NEGATIVE = [1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]


class OwnError(Exception):
    pass


def several(x):
    label, found = "none", None
    parts = [x]
    if x.sum() > 0:
        label, found = f"{x.sum():.1f}", x * 2
        parts.append(x)
    return label, found, {"parts": parts}


def raises_own(x):
    if x.sum() > 0:
        raise OwnError(f"sum {x.sum():.1f}")
    return x


def optional_scale(x):
    scale = None
    if x.sum() > 0:
        scale = x * x
    return x.sum() if scale is None else (scale * x).sum()


@pytest.mark.parametrize("values", [POSITIVE, NEGATIVE])
def test_a_saved_program_chooses_as_python_does(tmp_path, values):
    save(to_static(several), str(tmp_path / "m"), SPEC)
    x = dy2st.to_tensor(values)
    assert repr(load(str(tmp_path / "m"))(x)) == repr(several(x))


def test_a_program_with_choices_and_texts_reads_back_as_it_prints():
    static = to_static(several)
    static(dy2st.to_tensor(POSITIVE))
    text = str(static.main_program)
    assert "#dy2st.choice<" in text and "#dy2st.text<" in text
    assert str(parse_one(text)) == text


def test_a_saved_program_names_an_exception_whose_class_it_has_not(tmp_path):
    save(to_static(raises_own), str(tmp_path / "m"), SPEC)
    with pytest.raises(RuntimeError, match=r"^OwnError: sum 6\.0"):
        load(str(tmp_path / "m"))(dy2st.to_tensor(POSITIVE))


def test_a_live_program_raises_the_users_class():
    with pytest.raises(OwnError, match=r"^sum 6\.0"):
        to_static(raises_own)(dy2st.to_tensor(POSITIVE))


@pytest.mark.parametrize(("values", "expected"), [(POSITIVE, [3, 12, 27]), (NEGATIVE, [1, 1, 1])])
def test_gradients_flow_through_the_case_that_is_taken(values, expected):
    x = dy2st.to_tensor(values, stop_gradient=False)
    to_static(optional_scale)(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), expected)


def unbound_text(x):
    if x.sum() > 0:
        label = "positive"
    return label


def test_a_str_that_one_branch_binds_is_unbound_on_the_other_path():
    static = to_static(unbound_text)
    assert static(dy2st.to_tensor(POSITIVE)) == "positive"
    with pytest.raises(UnboundLocalError, match="label"):
        static(dy2st.to_tensor(NEGATIVE))


def swapped(x):
    a, b = [x], [x + 1]
    if x.sum() > 0:
        a, b = b, a
    return a, [*b, x]


@pytest.mark.parametrize("values", [POSITIVE, NEGATIVE])
def test_a_list_chosen_by_a_branch_can_be_read(values):
    x = dy2st.to_tensor(values)
    assert repr(to_static(swapped)(x)) == repr(swapped(x))


def chosen_length(x):
    a, b = [x], [x, x + 1]
    c = a if x.sum() > 0 else b
    return len(c), len(a), c, a


@pytest.mark.parametrize("values", [POSITIVE, NEGATIVE])
def test_lists_of_two_lengths_stay_readable_beside_the_chosen_one(values):
    x = dy2st.to_tensor(values)
    assert repr(to_static(chosen_length)(x)) == repr(chosen_length(x))


def test_a_value_is_one_of_64_functions_at_most():
    def chosen(x, count):
        return [lambda v, k=k: v * k for k in range(count)][int(x[0])](x)

    x = dy2st.to_tensor([63.0])
    assert to_static(chosen)(x, 64).item() == 63 * 63
    with pytest.raises(ConversionError, match="one of more than 64 kinds of values"):
        to_static(chosen)(x, 65)


def test_a_value_is_one_of_many_objects():
    class Held:
        def __init__(self, number):
            self.number = number

    def changed(x):
        found = [Held(place) for place in range(70)]
        one = found[int(x[0])]
        one.number = -7
        found[3].number += 1
        return [held.number for held in found].index(-7), one.number, one is found[63]

    assert to_static(changed)(dy2st.to_tensor([63.0])) == (63, -7, True)
