"""What the driver says of rules that are wrong or do not come to an end."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dy2st.passes import PassContext, explain, rule
from dy2st.passes.patterns.pattern import op, value
from dy2st_runtime.errors import PassError
from dy2st_runtime.ir import F
from dy2st_runtime.ops.control_flow import cond

X = value()


def one(t, function):
    return t.program_of(function, t.floats(3))


def two_signs(m):
    return m[X]


def tanh_by_sigmoid(m):
    return F.subtract(F.sigmoid(m[X] * 2.0) * 2.0, np.float32(1))


# -- termination ----------------------------------------------------------------------------------


def growing(m):
    return F.tanh(F.relu(m[X]))


def turning(m):
    return F.exp(F.tanh(m[X]))


@pytest.mark.parametrize("replace", [growing, turning, lambda m: F.tanh(m[X])])
def test_a_rule_without_end_is_reported_with_its_name(t, as_pass, replace):
    endless = rule(op.tanh(X))(replace)
    with pytest.raises(
        PassError, match=f"the rules {replace.__name__} have fired .* and do not come to an end"
    ):
        as_pass(endless)(one(t, lambda x: F.tanh(x)))


def test_rules_that_undo_each_other_are_reported_with_their_names(t, as_pass):
    @rule(op.tanh(X))
    def there(m):
        return F.sigmoid(m[X])

    @rule(op.sigmoid(X))
    def back(m):
        return F.tanh(m[X])

    with pytest.raises(
        PassError,
        match="the rules (there, back|back, there) have fired .*; the last place: `.*` of ",
    ):
        as_pass(there, back)(one(t, F.tanh))


def test_sweeps_that_find_no_end_are_limited_by_an_option(t, as_pass):
    applied = as_pass(rule(op.neg(op.neg(X)))(two_signs))
    program = one(t, lambda x: F.neg(F.neg(x)))
    with (
        PassContext(config={"rewrite.most_sweeps": 1}),
        pytest.raises(PassError, match="two_signs still"),
    ):
        applied(program)
    with PassContext(config={"rewrite.most_sweeps": 2}):
        assert t.names(applied(program)) == []


def test_many_places_are_no_loop_without_end(t, as_pass):
    def build(x):
        for _ in range(3_000):
            x = F.tanh(x)
        return x

    after = as_pass(rule(op.tanh(X))(tanh_by_sigmoid))(one(t, build))
    assert t.names(after).count("sigmoid") == 3_000


# -- rules that are wrong -------------------------------------------------------------------------


def wrong_dtype(m):
    return F.cast(m[X], "float64")


def wrong_rank(m):
    return F.sum(m[X])


def wrong_size(m):
    return F.concat([m[X], m[X]], axis=0)


def does_not_fit(m):
    return m[X] + np.zeros((2, 7), "f4")


def raises(m):
    return [][3]


def no_value(m):
    return "text"


def too_many(m):
    return [m[X], m[X]]


def too_few(m):
    return []


def reads_itself(m):
    return F.abs(m[TANH])


TANH = op.tanh(X)


@pytest.mark.parametrize(
    "replace, message",
    [
        (wrong_dtype, r"it gives float64\[3\] where the Program has float32\[3\]"),
        (wrong_rank, r"it gives float32\[\] where the Program has float32\[3\]"),
        (wrong_size, r"it gives float32\[6\] where the Program has float32\[3\]"),
        (does_not_fit, "add: .*differ|add: .*broadcast|add: .*fit"),
        (raises, "IndexError: list index out of range"),
        (no_value, "'text' is not a tensor and cannot be made one"),
        (too_many, "it gives 2 values for 1 pattern"),
        (too_few, "it gives 0 values for 1 pattern"),
        (reads_itself, "it reads a value that it replaces"),
    ],
)
@pytest.mark.parametrize("nested", [False, True], ids=["outside", "in a branch"])
def test_a_wrong_rule_is_shown_with_its_line_and_the_marked_place(
    t, as_pass, replace, message, nested
):
    def build(x):
        y = F.exp(x)
        if nested:
            y = cond(F.sum(y) > 0, lambda: [F.neg(F.tanh(F.abs(y)))], lambda: [y])[0]
        else:
            y = F.neg(F.tanh(F.abs(y)))
        return F.relu(y)

    wrong = rule(TANH)(replace)
    with pytest.raises(PassError, match=f"the rule {replace.__name__} \\(") as caught:
        as_pass(wrong)(one(t, build))
    text = str(caught.value)
    assert f"{__file__}:{replace.__code__.co_firstlineno}" in text
    marked = [line for line in text.splitlines() if line.startswith(">> ")]
    assert len(marked) == 1 and '"dy2st.tanh"' in marked[0]
    behind = text[text.index(marked[0]) :]
    assert f"^ rule {replace.__name__}: " in behind
    assert '"dy2st.neg"' in behind and '"dy2st.relu"' in behind
    assert re.search(message, text)


def test_a_guard_that_fails_is_reported_with_its_rule(t, as_pass):
    odd = value(lambda v: v.no_such_thing)
    wrong = rule(op.tanh(odd))(growing)
    with pytest.raises(PassError, match="the rule growing .* its pattern raises AttributeError"):
        as_pass(wrong)(one(t, F.tanh))


def test_a_rule_that_exchanges_its_two_roots_is_wrong(t, as_pass):
    first, second = op.exp(X), op.neg(X)

    @rule(first, second)
    def exchanged(m):
        return [m[second], m[first]]

    applied = as_pass(exchanged)
    program = one(t, lambda x: [F.exp(x), F.neg(x)])
    assert str(applied(program)) == str(program)
    assert "computed only behind" in explain(applied, program)[0].reason


def test_a_rule_that_gives_back_what_it_found_has_not_fired(t, as_pass):
    @rule(TANH)
    def same(m):
        return m[TANH]

    applied = as_pass(same)
    program = one(t, F.tanh)
    assert str(applied(program)) == str(program)
    assert [e.reason for e in explain(applied, program)] == ["it gives what is there already"]
