"""Whatever public function or method is called wrongly: the traceback shows no frame of ours."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

import dy2st
from dy2st import nn
from dy2st_runtime.ir.location import is_own_file
from tests.effort import IS_FULL

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 keeps what caught it")

MODULES = [
    *(dy2st, nn, nn.functional, dy2st.linalg, dy2st.fft, dy2st.signal, dy2st.io, dy2st.amp),
    *(dy2st.autograd, dy2st.distribution, dy2st.metric, dy2st.nn.initializer),
    *(dy2st.optimizer, dy2st.optimizer.lr, dy2st.vision.transforms),
]
# What changes the process, or is for those who write Programs by hand.
NOT_CALLED = {"seed", "set_default_dtype", "set_device", "enable_static", "disable_static"} | {
    *("set_printoptions", "set_flags", "cond", "while_loop", "Program", "set_rng_state"),
    *("set_promotion", "Layer", "Module", "Parameter", "Optimizer", "LRScheduler"),
    *("set_grad_enabled", "enable_compat", "ClipGradByGlobalNorm", "ClipGradByNorm"),
    *("ClipGradByValue",),
}
INTERNAL = {"keep", "replace", "hold", "put", "forward"}
"""Methods that only we call, and the one that is called by others."""


def own_frames(function: Callable[..., Any], *args: Any) -> list[str]:
    """The frames of ours in the traceback of a wrong call."""
    try:
        function(*args)
    except Exception as error:
        entries = traceback.extract_tb(error.__traceback__)
        return [f"{one.filename}:{one.lineno}" for one in entries if is_own_file(one.filename)]
    return []


def functions_of(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in dir(module):
        value = getattr(module, name)
        if callable(value) and name not in NOT_CALLED:
            yield name, value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_of_a_function_show_the_users_frames_alone(module, capsys):
    given = [(), (object(),)] if IS_FULL else [(object(),)]
    shown = {
        name: frames
        for name, function in functions_of(module)
        for args in given
        if (frames := own_frames(function, *args))
    }
    assert not shown


@pytest.mark.parametrize(
    "make", [lambda: dy2st.ones([2]), lambda: dy2st.ones([]), lambda: nn.Linear(4, 3)]
)
@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments_of_a_method_show_the_users_frames_alone(make, capsys):
    names = [name for name in dir(type(make())) if name[0] != "_" and name not in INTERNAL]
    shown = {
        name: frames
        for name in names
        for args in [(), (object(),)]
        if (frames := own_frames(lambda name, args: getattr(make(), name)(*args), name, args))
    }
    assert not shown


@pytest.mark.parametrize("ask", [bool, int, float, complex, len, iter, [1].__getitem__])
@pytest.mark.parametrize("shape", [[], [2]])
def test_what_python_asks_of_a_tensor_shows_the_users_frames_alone(ask, shape):
    assert not own_frames(ask, dy2st.ones(shape))
