"""Numbers of a trace are no keys of the user's, and may be keys of ours, in any thread."""

from __future__ import annotations

from collections import Counter

import pytest

from dy2st_runtime.errors import TensorAsPython
from dy2st_runtime.ir import Block, TensorType
from dy2st_runtime.ir.tracing.traced_numbers import numbers_are_no_keys


@pytest.fixture
def number():
    made = Block().add_parameter(TensorType("int64", ()), "n")
    made.number = int
    return made


@pytest.mark.parametrize("make", [lambda n: {n: 1}, lambda n: Counter([n])])
def test_the_users_code_makes_no_key_of_a_number_by_itself_or_by_pythons_library(make, number):
    make(number)
    with numbers_are_no_keys(), pytest.raises(TensorAsPython, match="a traced number is a key"):
        make(number)


def test_our_code_may_count_numbers_while_another_thread_traces(number):
    ours = {"Counter": Counter}
    exec(compile("def count(values): return Counter(values)", "<dy2st ours>", "exec"), ours)
    with numbers_are_no_keys():
        assert list(ours["count"]([number]).values()) == [1]
