"""Recording is switched for a `with` or a call, and switched back, however they are nested."""

from __future__ import annotations

import pytest

from dy2st_runtime.ir.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled


def test_one_object_may_stand_in_withs_inside_of_each_other():
    off, on = no_grad(), enable_grad()
    seen = []
    with off:
        with on, off, off:
            seen.append(is_grad_enabled())
        seen.append(is_grad_enabled())
        with on:
            seen.append(is_grad_enabled())
    assert [*seen, is_grad_enabled()] == [False, False, True, True]


def test_an_exception_switches_back():
    guard = set_grad_enabled(False)
    for _ in range(2):
        with pytest.raises(KeyError), guard:
            assert not is_grad_enabled()
            raise KeyError
        assert is_grad_enabled()


def test_a_function_that_calls_itself_is_switched_at_each_call():
    @no_grad()
    def down(n):
        return [is_grad_enabled(), *(down(n - 1) if n else ())]

    assert down(3) == [False] * 4
    assert is_grad_enabled()


def test_without_brackets_no_grad_says_what_to_write():
    with pytest.raises(TypeError, match="with brackets"):
        no_grad(lambda: None)
