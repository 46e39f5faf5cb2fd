"""Outputs that are one number again and again are made once, and take no memory."""

from __future__ import annotations

import numpy as np
import pytest

from dy2st_runtime.dims import symbol
from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.ir.dispatch import F
from tests.recorded import program_of


def compiled(function, shape=(3, 4)):
    return Executable(program_of(function, ("float32", shape)))


def zeros(*shape):
    return F.broadcast_to(F.full([1] * len(shape), 0.0, "float32"), list(shape))


def ran(executable, *shape):
    x = np.random.default_rng(0).standard_normal(shape or (3, 4)).astype(np.float32)
    have, want = executable.run([x], []), executable.reference.run([x], [])
    for one, other in zip(have, want, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    return have


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1, zeros(50, 60)),
        lambda x: (zeros(50, 60), x + 1),
        lambda x: (zeros(50, 60), x + 1, zeros(50, 60), x * 2, x),
        lambda x: (F.detach(zeros(50, 60)), x),
        lambda x: zeros(50, 60),
        lambda x: (F.broadcast_to(F.full([], 2.5, "float32"), [50, 60]), x + 1),
    ],
    ids=range(6),
)
def test_they_stand_where_the_program_has_them(function):
    executable = compiled(function)
    repeated = [one for one in ran(executable) if one.shape == (50, 60)]
    assert repeated and all(one.strides == (0, 0) and not one.flags.writeable for one in repeated)
    assert "broadcast_to" not in executable.explain()


def test_what_else_is_made_of_them_is_made():
    executable = compiled(lambda x: (spread := zeros(3, 4), x + spread, spread * 2))
    ran(executable)


def test_of_unknown_sizes_they_are_written():
    def function(x):
        return F.broadcast_to(F.full([1, 1], 0.0, "float32"), [x.shape[0], 4]), x + 1

    ran(compiled(function, (symbol("n"), 4)), 5, 4)


def test_arrays_that_do_not_fit_are_refused_as_ever():
    executable = compiled(lambda x: (zeros(50, 60), x + 1))
    with pytest.raises(Exception, match="the Program takes 3"):
        executable.run([np.zeros((2, 4), np.float32)], [])


def test_they_can_be_measured():
    executable = compiled(lambda x: (zeros(50, 60), x + 1))
    executable.profile()
    ran(executable)
    assert "add" in executable.explain(profile=True)
