"""What is made when it is first asked for."""

from __future__ import annotations

import ast
import importlib
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from dy2st_runtime import ops
from dy2st_runtime.ir import DEFINITIONS
from dy2st_runtime.ir.dispatch import FUNCTIONS, METHODS
from dy2st_runtime.lazy import cached_property, held_by_forks, load_module, once
from dy2st_runtime.ops.lazy import FAMILIES, load_all
from tests.runtime.lazy_types import FILES, text


class Counted:
    """How often its attribute was made."""

    made = 0

    @cached_property
    def value(self):
        """The number."""
        self.made += 1
        return self.made


def test_an_attribute_is_made_once_for_each_object():
    one, other = Counted(), Counted()
    assert (one.value, one.value, other.value) == (1, 1, 1)
    assert isinstance(Counted.value, cached_property)
    assert Counted.value.__doc__ == "The number."


FORKS = """
import os, signal, threading
from dy2st_runtime.lazy import cached_property

begun, goes_on = threading.Event(), threading.Event()

class Slow:
    @cached_property
    def value(self):
        if threading.current_thread() is not threading.main_thread():
            begun.set()
            goes_on.wait()
        return 1

thread = threading.Thread(target=lambda: Slow().value)
thread.start()
begun.wait()
child = os.fork()
if not child:
    signal.alarm(60)
    os._exit(Slow().value != 1)
print(os.waitpid(child, 0)[1])
goes_on.set()
thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_child_of_a_fork_makes_one_that_another_thread_was_making():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert shown.stdout.strip() == "0", shown.stderr


# -- families of operators -------------------------------------------------------------------------


WAYS = {
    "a function of the package": "dy2st.logaddexp(1.0, 1.0)",
    "a function called by name": "from dy2st_runtime.ir import F; F.logaddexp(1.0, 1.0)",
    "a method": "x = dy2st.ones([2]); x.logaddexp(x)",
    "a record": "from dy2st_runtime.ir.definition import lookup; lookup('logaddexp')",
    "a method of the class": "dy2st.Tensor.logaddexp(dy2st.ones([2]), 1.0)",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_family_is_loaded_when_one_of_its_names_is_asked_for(way):
    script = f"""
import sys, dy2st
assert "dy2st_runtime.ops.numeric" not in sys.modules
{WAYS[way]}
assert "dy2st_runtime.ops.numeric" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_saved_program_loads_the_families_of_its_operators(tmp_path):
    save = f"""
import dy2st
from dy2st.static import InputSpec
f = dy2st.to_static(lambda x: dy2st.logaddexp(x, x), input_spec=[InputSpec([2])])
dy2st.jit.save(f, r"{tmp_path / "f"}")
"""
    load = f"""
import sys, numpy, dy2st_runtime
model = dy2st_runtime.load(r"{tmp_path / "f"}")
print(model(numpy.zeros(2, "float32")).numpy())
"""
    subprocess.run([sys.executable, "-c", save], check=True, timeout=60)
    shown = subprocess.run(
        [sys.executable, "-c", load], check=True, timeout=60, capture_output=True, text=True
    )
    assert shown.stdout == "[0.6931472 0.6931472]\n"


def test_the_table_names_what_the_families_have():
    load_all()
    for family in FAMILIES:
        assert set(family.functions.split()) <= set(FUNCTIONS)
        assert set(family.operators.split()) <= set(DEFINITIONS)
        assert set(family.methods.split()) <= set(METHODS)


def test_a_misspelt_late_name_is_told_how_it_is_written():
    import dy2st

    with pytest.raises(AttributeError, match="did you mean 'logaddexp'"):
        dy2st.logadexp  # noqa: B018


# -- type checkers know late names -----------------------------------------------------------------


def imports(source):
    return {
        (node.module, alias.name, alias.asname or alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_file_says_what_the_table_says(file):
    assert imports(file.read_text()) == imports(text(*FILES[file])), (
        "renew it: python -m tests.runtime.lazy_types"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_imports_find_what_the_package_shows(file):
    for module, name, _ in imports(file.read_text()):
        assert hasattr(importlib.import_module(module), name)


# -- bfloat16 by its name --------------------------------------------------------------------------


CALLS = (
    "P.cast(P.ones([2]), 'bfloat16')",
    "P.ones([2]).astype('bfloat16')",
    "P.zeros([2], 'bfloat16')",
    "P.to_tensor([1.0], 'bfloat16')",
    "P.ones([2]).sum(dtype='bfloat16')",
    "P.create_parameter([2], 'bfloat16')",
    "P.static.InputSpec([2], 'bfloat16')",
    "P.nn.Linear(2, 2).to(dtype='bfloat16').weight",
)


@pytest.mark.parametrize("call", CALLS)
def test_the_name_is_enough(call):
    pytest.importorskip("ml_dtypes")
    code = f"import dy2st as P, sys; print('ml_dtypes' in sys.modules, {call}.dtype)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.split() == ["False", "bfloat16"], run.stderr


def test_no_module_of_operators_hides_a_function():
    load_all()
    assert not [name for name in ops.LATE if not callable(getattr(ops, name))]


def test_threads_that_come_at_once_get_one_object():
    made = []

    @once
    def slow(key):
        time.sleep(0.05)
        made.append(key)
        return object()

    found = []
    threads = [threading.Thread(target=lambda: found.append(slow("a"))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, len(set(map(id, found)))) == (["a"], 1)


def test_each_argument_has_its_own_and_a_failure_is_tried_again():
    calls = []

    @once
    def half(n):
        calls.append(n)
        if len(calls) == 1:
            raise OSError("not yet")
        return [n]

    with pytest.raises(OSError, match="not yet"):
        half(1)
    assert half(1) is half(1) and half(2) == [2] and calls == [1, 1, 2]


def test_what_is_made_may_ask_for_what_is_made_once():
    inner = once(lambda: [])
    assert once(lambda: [inner()])()[0] is inner()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
@pytest.mark.filterwarnings("ignore:This process .* use of fork:DeprecationWarning")
def test_a_child_finds_no_lock_taken():
    lock, begun = threading.RLock(), threading.Event()
    held_by_forks(lock)

    @once
    def slow(n):
        begun.set()
        with lock:
            time.sleep(0.2)
        return n

    thread = threading.Thread(target=slow, args=(1,))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(20)
        with lock:
            os._exit(slow(1) + slow(2) - 3)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks")
@pytest.mark.filterwarnings("ignore:This process .* use of fork:DeprecationWarning")
def test_a_child_imports_what_another_thread_was_importing(tmp_path, monkeypatch):
    file = tmp_path / "slow_to_import.py"
    file.write_text("import time\ntime.sleep(0.3)\nvalue = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thread = threading.Thread(target=load_module, args=("slow_to_import",))
    thread.start()
    while "slow_to_import" not in sys.modules:
        time.sleep(0.001)
    child = os.fork()
    if not child:
        signal.alarm(20)
        os._exit(load_module("slow_to_import").value - 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_module_that_loads_another_does_not_wait_for_who_makes_something(tmp_path, monkeypatch):
    """One thread makes what needs a module, while the other imports that: neither has both."""
    text = "import time\ntime.sleep(0.2)\nfrom dy2st_runtime.lazy import Lazy\n"
    text += "value = Lazy('fractions').Fraction(1, 2)\n"
    (tmp_path / "asks_late.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    make = once(lambda: importlib.import_module("asks_late").value)
    threads = [
        threading.Thread(target=importlib.import_module, args=("asks_late",), daemon=True),
        threading.Thread(target=make, daemon=True),
    ]
    threads[0].start()
    while "asks_late" not in sys.modules:
        time.sleep(0.001)
    threads[1].start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
