"""What belongs to the whole process: environment, seeds, files, limits, modes, reloaded modules."""

from __future__ import annotations

import contextlib
import contextvars
import decimal
import gc
import importlib
import locale
import logging
import os
import pathlib
import random
import sys
import tempfile
import threading
import warnings

import numpy as np

import dy2st
from dy2st.jit import to_static
from tests.dy2st.jit.outside.scenario import change, opaque

MODE = contextvars.ContextVar("MODE", default=2.0)
LOCAL = threading.local()


@change
def the_environment():
    os.environ.pop("OUTSIDE_STATE", None)

    def f(x):
        return x * len(os.environ.get("OUTSIDE_STATE", "a"))

    yield f, lambda: os.environ.update(OUTSIDE_STATE="abc")
    os.environ.pop("OUTSIDE_STATE", None)


@change
def the_environment_by_getenv():
    os.environ["OUTSIDE_STATE"] = "2"

    def f(x):
        return x * int(os.getenv("OUTSIDE_STATE"))

    yield f, lambda: os.environ.update(OUTSIDE_STATE="9")
    os.environ.pop("OUTSIDE_STATE", None)


@change
def the_working_directory():
    kept = os.getcwd()
    yield lambda x: x * len(os.getcwd()), lambda: os.chdir("/")
    os.chdir(kept)


@change
def the_limit_of_recursions():
    kept = sys.getrecursionlimit()
    yield lambda x: x * sys.getrecursionlimit(), lambda: sys.setrecursionlimit(kept + 7)
    sys.setrecursionlimit(kept)


@change
def sys_path():
    kept = list(sys.path)
    yield lambda x: x * len(sys.path), lambda: sys.path.append("/nowhere")
    sys.path[:] = kept


@change
def sys_argv():
    kept = list(sys.argv)
    yield lambda x: x * len(sys.argv), lambda: sys.argv.append("more")
    sys.argv[:] = kept


@change
def the_default_dtype():
    def f(x):
        return dy2st.ones([2]) + x.astype("float64").sum().astype(dy2st.get_default_dtype())

    yield f, lambda: dy2st.set_default_dtype("float64")
    dy2st.set_default_dtype("float32")


@change
def the_default_dtype_of_what_is_made():
    yield lambda x: dy2st.zeros([2]), lambda: dy2st.set_default_dtype("float64")
    dy2st.set_default_dtype("float32")


@change
def whether_gradients_are_on():
    def f(x):
        return x * 2 if dy2st.is_grad_enabled() else x * 3

    with contextlib.ExitStack() as stack:
        yield f, lambda: stack.enter_context(dy2st.no_grad())


@change
def conversion_switched_off():
    level = [2.0]

    def turn():
        level[0] = 9.0
        dy2st.jit.enable_to_static(False)

    yield lambda x: x * level[0], turn
    dy2st.jit.enable_to_static(True)


@change
def conversion_switched_off_and_on():
    level = [2.0]

    def turn():
        dy2st.jit.enable_to_static(False)
        level[0] = 9.0
        dy2st.jit.enable_to_static(True)

    return lambda x: x * level[0], turn


@change
def another_converted_function_replaced():
    held = {"step": to_static(lambda x: x * 2)}
    return lambda x: held["step"](x), lambda: held.update(step=to_static(lambda x: x * 9))


@change
def what_another_converted_function_reads():
    level = [2.0]
    step = to_static(lambda x: x * level[0])
    return lambda x: step(x), lambda: level.__setitem__(0, 9.0)


@change
def the_seed_of_random():
    return lambda x: x * (random.getstate()[1][1] % 7), lambda: random.seed(5)


@change
def a_generator_of_random_numbers_seeded():
    held = random.Random(1)
    return lambda x: x * (held.getstate()[1][1] % 7), lambda: held.seed(5)


@opaque
def the_state_of_random_put_back():
    held = random.Random(1)
    state = [held.getstate()]

    def f(x):
        held.setstate(state[0])
        return x * held.random()

    return f, lambda: state.__setitem__(0, random.Random(5).getstate())


@change
def numpy_seeded_inside():
    seed = [3]

    def f(x):
        return x * float(np.random.default_rng(seed[0]).random())

    return f, lambda: seed.__setitem__(0, 5)


@opaque
def the_error_state_of_numpy():
    kept = np.geterr()

    def f(x):
        return x * 2 if np.geterr()["divide"] == "ignore" else x * 3

    np.seterr(divide="warn")
    yield f, lambda: np.seterr(divide="ignore")
    np.seterr(**kept)


@opaque
def how_numpy_prints():
    held = np.array([1.23456789])
    yield lambda x: x * len(str(held)), lambda: np.set_printoptions(precision=3)
    np.set_printoptions(precision=8)


@change
def a_context_variable():
    token = MODE.set(2.0)
    yield lambda x: x * MODE.get(), lambda: MODE.set(9.0)
    MODE.reset(token)


@change
def a_value_of_this_thread():
    LOCAL.scale = 2.0
    return lambda x: x * LOCAL.scale, lambda: setattr(LOCAL, "scale", 9.0)


@opaque
def the_context_of_decimals():
    kept = decimal.getcontext().prec

    def turn():
        decimal.getcontext().prec = 2

    decimal.getcontext().prec = 28
    yield lambda x: x * float(decimal.Decimal(1) / 3), turn
    decimal.getcontext().prec = kept


@change
def the_level_of_a_logger():
    logger = logging.getLogger("outside_state")
    logger.setLevel("INFO")

    def f(x):
        return x * 2 if logger.isEnabledFor(logging.DEBUG) else x * 3

    return f, lambda: logger.setLevel("DEBUG")


@change
def the_filters_of_warnings():
    kept = list(warnings.filters)

    def f(x):
        return x * len(warnings.filters)

    yield f, lambda: warnings.filters.append(("ignore", None, ImportWarning, None, 0))
    warnings.filters[:] = kept


@opaque
def whether_garbage_is_collected():
    yield lambda x: x * 2 if gc.isenabled() else x * 3, gc.disable
    gc.enable()


@opaque
def a_file_that_is_read():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "level")
        path.write_text("2.0")

        yield lambda x: x * float(path.read_text()), lambda: path.write_text("9.0")


@opaque
def a_file_that_is_opened():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "level")
        pathlib.Path(path).write_text("2.0")

        def f(x):
            with open(path) as file:
                return x * float(file.read())

        yield f, lambda: pathlib.Path(path).write_text("9.0")


@opaque
def whether_a_file_is_there():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "level")

        yield lambda x: x * 2 if path.exists() else x * 3, lambda: path.write_text("9.0")


@opaque
def the_names_in_a_folder():
    with tempfile.TemporaryDirectory() as folder:

        def f(x):
            return x * (len(os.listdir(folder)) + 1)

        yield f, lambda: pathlib.Path(folder, "level").touch()


@change
def a_module_reloaded():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "outside_reloaded.py")
        path.write_text("LEVEL = 2.0\n\ndef scale(x):\n    return x * LEVEL\n")
        sys.path.insert(0, folder)
        sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
        importlib.invalidate_caches()
        module = importlib.import_module("outside_reloaded")

        def turn():
            path.write_text("LEVEL = 9.0\n\ndef scale(x):\n    return x * LEVEL + 1\n")
            importlib.reload(module)

        yield lambda x: module.scale(x), turn
        sys.path.remove(folder)
        sys.dont_write_bytecode = kept
        del sys.modules["outside_reloaded"]


@change
def a_module_reloaded_that_gave_a_function():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "outside_again.py")
        path.write_text("LEVEL = 2.0\n\ndef scale(x):\n    return x * LEVEL\n")
        sys.path.insert(0, folder)
        sys.dont_write_bytecode, kept = True, sys.dont_write_bytecode
        importlib.invalidate_caches()
        module = importlib.import_module("outside_again")
        scale = module.scale

        def turn():
            path.write_text("LEVEL = 9.0\n\ndef scale(x):\n    return x * LEVEL + 100\n")
            importlib.reload(module)

        yield lambda x: scale(x), turn
        sys.path.remove(folder)
        sys.dont_write_bytecode = kept
        del sys.modules["outside_again"]


@opaque
def how_many_threads_there_are():
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)

    yield lambda x: x * threading.active_count(), thread.start
    ends.set()
    thread.join()


@change
def an_event_that_is_set():
    held = threading.Event()
    return lambda x: x * 2 if held.is_set() else x * 3, held.set


@opaque
def a_lock_that_is_held():
    held = threading.Lock()
    return lambda x: x * 2 if held.locked() else x * 3, held.acquire


@change
def the_thousands_of_a_locale_kept_by_the_library():
    kept = locale._override_localeconv

    def f(x):
        return x * len(locale.localeconv()["decimal_point"])

    yield f, lambda: setattr(locale, "_override_localeconv", {"decimal_point": "::"})
    locale._override_localeconv = kept
