"""Caches go by identity, hold nothing of the user alive, and notice what has changed."""

from __future__ import annotations

import gc
import importlib
import sys
import threading
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

import dy2st
from tests.unseen import Unseen

pytestmark = pytest.mark.usefixtures("small_heap")
X = np.ones(3, "float32")
TEXT = """\
N = {n}

def helper(x):
    if x.sum() > 0:
        return x + N
    return x - N
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module of a file, and how to write and load it anew."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "reloaded_module.py"

    def load(n):
        # Another length, so that the file is read again within the same second.
        file.write_text(TEXT.format(n=n) + "#" * n)
        importlib.invalidate_caches()
        if "reloaded_module" in sys.modules:
            return importlib.reload(sys.modules["reloaded_module"])
        return importlib.import_module("reloaded_module")

    yield load
    sys.modules.pop("reloaded_module", None)


def is_gone(reference: weakref.ref) -> bool:
    gc.collect()
    return reference() is None


def test_a_function_is_forgotten_with_its_last_reference():
    def make():
        def f(x):
            return x + 1 if x.sum() > 0 else x

        return f

    f = make()
    static = dy2st.to_static(f)
    static(X)
    gone = [weakref.ref(f), weakref.ref(static)]
    del f, static
    assert all(map(is_gone, gone))


def test_a_function_that_its_globals_hold_is_forgotten_with_them(tmp_path):
    file = tmp_path / "once.py"
    file.write_text(TEXT.format(n=1))

    class Marker:
        pass

    namespace = {"marker": Marker()}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    dy2st.to_static(namespace["helper"])(X)
    gone = weakref.ref(namespace["marker"])
    del namespace
    assert is_gone(gone)


def test_a_function_held_by_its_own_defaults_is_forgotten():
    class Owner:
        pass

    def f(x, owner=None):
        return x

    owner = Owner()
    owner.function = f
    f.__defaults__ = (owner,)
    f.owner = owner
    dy2st.to_static(f)(X)
    gone = weakref.ref(owner)
    del f, owner
    assert is_gone(gone)


@pytest.mark.parametrize("how", ["in place", "decorated", "method"])
def test_a_layer_is_forgotten(how):
    class Net(dy2st.nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = dy2st.nn.Linear(3, 2)
            self.scale = 2

        def forward(self, x):
            return self.linear(x) * self.scale

    if how == "decorated":
        Net.forward = dy2st.to_static(Net.forward)
    net = Net()
    function = net
    if how == "in place":
        function = dy2st.to_static(net)
    elif how == "method":
        function = dy2st.to_static(net.forward)
    function(X[None])
    gone = [weakref.ref(net), weakref.ref(net.linear.weight)]
    del net, function
    assert all(map(is_gone, gone))


def test_an_argument_is_not_held():
    @dy2st.to_static
    def f(x, n):
        return x * n

    x = dy2st.to_tensor(X)
    f(x, 2)
    gone = weakref.ref(x)
    del x
    assert is_gone(gone)


def test_instances_that_are_equal_are_told_apart():
    @dataclass
    class Scale:
        n: object

        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

        @dy2st.to_static
        def by(self, x):
            return x * self.n[0]

    first, second = Scale([2]), Scale([3])
    assert first.by(X).numpy().tolist() == [2, 2, 2]
    assert second.by(X).numpy().tolist() == [3, 3, 3]


def test_instances_without_hash_have_methods():
    @dataclass
    class Scale:
        n: int

        @dy2st.to_static
        def by(self, x):
            return x * self.n

    assert Scale(2).by(X).numpy().tolist() == [2, 2, 2]


def test_instances_without_weak_references_have_methods():
    class Scale:
        __slots__ = ("n",)

        def __init__(self, n):
            self.n = n

        @dy2st.to_static
        def by(self, x):
            return x * self.n

    scale = Scale(2)
    assert scale.by(X).numpy().tolist() == [2, 2, 2]
    scale.n = 3
    assert scale.by(X).numpy().tolist() == [3, 3, 3]
    assert Scale(4).by(X).numpy().tolist() == [4, 4, 4]


def test_a_method_of_an_object_that_nobody_else_holds():
    class Scale:
        def __init__(self, n):
            self.n = n

        def by(self, x):
            return x * self.n

    static = dy2st.to_static(Scale(3).by)
    gc.collect()
    assert static(X).numpy().tolist() == [3, 3, 3]


def test_functions_of_equal_code_are_told_apart():
    def make(n):
        def f(x):
            return x + n

        return f

    first, second = dy2st.to_static(make(1)), dy2st.to_static(make(2))
    assert first(X).numpy().tolist() == [2, 2, 2]
    assert second(X).numpy().tolist() == [3, 3, 3]


def test_a_module_that_was_reloaded_is_noticed(module):
    reloaded = module(1)

    @dy2st.to_static
    def f(x):
        return reloaded.helper(x)

    assert f(X).numpy().tolist() == [2, 2, 2]
    module(5)
    assert f(X).numpy().tolist() == [6, 6, 6]


def test_a_number_of_a_module_that_changes_is_noticed(module):
    reloaded = module(1)

    @dy2st.to_static
    def f(x):
        return x + reloaded.N

    assert f(X).numpy().tolist() == [2, 2, 2]
    reloaded.N = 4
    assert f(X).numpy().tolist() == [5, 5, 5]


def test_a_function_that_is_defined_anew_is_noticed():
    def add_one(x):
        return x + 1

    def add_two(x):
        return x + 2

    helper = add_one

    @dy2st.to_static
    def f(x):
        return helper(x)

    assert f(X).numpy().tolist() == [2, 2, 2]
    helper = add_two
    assert f(X).numpy().tolist() == [3, 3, 3]


def test_code_that_a_tool_puts_in_place_is_noticed():
    def helper(x):
        return x + 1

    def other(x):
        return x + 2

    @dy2st.to_static
    def f(x):
        return helper(x)

    assert f(X).numpy().tolist() == [2, 2, 2]
    helper.__code__ = other.__code__
    assert f(X).numpy().tolist() == [3, 3, 3]


def test_a_layer_that_is_replaced_is_noticed():
    def make():
        layer = dy2st.nn.Linear(3, 3)
        layer.weight.set_value(np.eye(3, dtype="float32"))
        layer.bias.set_value(np.zeros(3, "float32"))
        return layer

    net = make()

    @dy2st.to_static
    def f(x):
        return net(x)

    assert f(X).numpy().tolist() == [1, 1, 1]
    net = make()
    net.bias.set_value(np.ones(3, "float32"))
    assert f(X).numpy().tolist() == [2, 2, 2]


def test_an_object_among_the_arguments_is_not_held():
    class Options:
        def __init__(self):
            self.n = 2
            self.inner = [self]

    @dy2st.to_static
    def f(x, options):
        return x * options.n + options.inner[0].n

    options = Options()
    assert f(X, options).numpy().tolist() == [4, 4, 4]
    gone = weakref.ref(options)
    del options
    assert is_gone(gone)


def test_a_method_of_an_object_that_holds_itself_lets_it_go():
    class Model:
        def __init__(self):
            self.child = type("Child", (), {})()
            self.child.parent = self
            self.n = 2

        @dy2st.to_static
        def by(self, x):
            return x * self.child.parent.n

    model = Model()
    assert model.by(X).numpy().tolist() == [2, 2, 2]
    gone = weakref.ref(model)
    del model
    assert is_gone(gone)


class Options:
    """An object with an attribute of each kind, some of them of the class."""

    scale = 1

    def __init__(self):
        self.n = 1
        self._private = 1
        self.items = [1, [1]]
        self.table = {"a": 1}
        self.array = np.ones(1, "float32")
        self.numbers = {1}


class Net(dy2st.nn.Layer):
    """A Layer that looks at its mode and at Python values."""

    def __init__(self):
        super().__init__()
        self._private = 1
        self.options = Options()
        self.table = {"a": 1}

    def forward(self, x):
        x = x * 2 if self.training else x
        return x + self._private + self.table["a"] + self.options.n


CHANGES = {
    "attribute": lambda o: setattr(o, "n", 5),
    "private attribute": lambda o: setattr(o, "_private", 5),
    "item": lambda o: o.items.__setitem__(0, 5),
    "appended item": lambda o: o.items[1].append(5),
    "inner item": lambda o: o.items[1].__setitem__(0, 5),
    "entry": lambda o: o.table.update(a=5),
    "kind of a number": lambda o: setattr(o, "n", 1.5),
    "array": lambda o: o.array.__setitem__(0, 5),
    "set": lambda o: o.numbers.add(5),
    "class": lambda o: setattr(type(o), "scale", type(o).scale + 4),
}


def read_all(x, options):
    x = x * options.n + options._private + options.items[0] + sum(options.items[1])
    x = x + options.table["a"] + options.array[0] + len(options.numbers)
    return x * options.scale


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("place", ["argument", "closure", "default", "list"])
def test_an_object_that_changes_in_place_is_noticed(place, change):
    options = Options()

    def with_default(x, options=options):
        return read_all(x, options)

    functions = {
        "argument": read_all,
        "closure": lambda x: read_all(x, options),
        "default": lambda x: with_default(x),
        "list": lambda x: read_all(x, held[0]),
    }
    held = [options]
    arguments = (X, options) if place == "argument" else (X,)
    static = dy2st.to_static(functions[place])
    before = static(*arguments).numpy().tolist()
    assert before == read_all(X, options).tolist()
    change(options)
    assert static(*arguments).numpy().tolist() == read_all(X, options).tolist() != before


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.eval(),
        lambda net: setattr(net, "_private", 7),
        lambda net: net.table.update(a=7),
        lambda net: setattr(net.options, "n", 7),
    ],
    ids=["mode", "private attribute", "dict", "attribute of an attribute"],
)
@pytest.mark.parametrize("place", ["itself", "closure", "argument"])
def test_a_layer_that_changes_in_place_is_noticed(place, change):
    net = Net()
    static = {
        "itself": lambda: dy2st.to_static(net.forward),
        "closure": lambda: dy2st.to_static(lambda x: net(x)),
        "argument": lambda: dy2st.to_static(lambda x, net: net(x)),
    }[place]()
    arguments = (X, net) if place == "argument" else (X,)
    before = static(*arguments).numpy().tolist()
    assert before == net.forward(X).tolist()
    change(net)
    assert static(*arguments).numpy().tolist() == net.forward(X).tolist() != before


def test_the_length_of_a_large_container_is_noticed():
    words = dict.fromkeys(range(20_000), 1)

    @dy2st.to_static
    def f(x):
        return x + len(words)

    before = f(X).numpy()[0]
    words["new"] = 1
    assert f(X).numpy()[0] == before + 1


def test_what_a_function_does_not_read_makes_no_new_program():
    class Trainer:
        def __init__(self):
            self.history = []
            self.n = 2

    trainer = Trainer()

    @dy2st.to_static
    def f(x):
        return x * trainer.n

    f(X)
    program = f.main_program
    trainer.history.append(1)
    f(X)
    assert f.main_program is program


def test_a_program_is_kept_while_nothing_changes():
    calls = Unseen()

    def helper(x):
        calls.note()
        return x + 1

    @dy2st.to_static
    def f(x):
        return helper(x)

    for _ in range(3):
        f(X)
    assert calls.count == 1
    assert len(f.program_cache) == 1


FUNCTIONS = 12
THREADS = 8


def _function(n):
    def f(x, k):
        y = x
        for i in range(k):
            if y.sum() > 0:
                y = y + n
            else:
                y = y - i
        return y

    return f


@pytest.mark.parametrize("shared", [True, False], ids=["one function", "many functions"])
def test_threads_that_call_for_the_first_time_get_the_right_results(shared):
    functions = [_function(n) for n in range(FUNCTIONS)]
    static = [dy2st.to_static(functions[0 if shared else n]) for n in range(FUNCTIONS)]
    if shared:
        static = static[:1] * FUNCTIONS
    interval = sys.getswitchinterval()
    barrier = threading.Barrier(THREADS)
    failures: list[object] = []

    def work(seed):
        barrier.wait()
        for turn in range(2 * FUNCTIONS):
            number = (turn * 5 + seed) % FUNCTIONS
            k, size = 1 + turn % 3, 1 + (turn + seed) % 4
            x = np.full(size, 1.0 if (turn + seed) % 2 else -1.0, "float32")
            expected = functions[0 if shared else number](x, k)
            try:
                result = static[number](x, k).numpy()
                if result.tolist() != expected.tolist():
                    failures.append((number, k, result, expected))
            except BaseException as error:
                failures.append(error)

    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failures == []
