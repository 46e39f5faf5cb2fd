"""What a function does to Python's own objects happens at every call, as in Python."""

from __future__ import annotations

import io
import itertools
import random

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st.errors import UnsupportedSyntax
from dy2st.jit import save, to_static
from dy2st.static import InputSpec
from tests.unseen import Unseen

pytestmark = pytest.mark.filterwarnings("ignore:.*traced anew for every call")
X = dy2st.to_tensor([1.0, 2.0])
CALLS = Unseen()


class State:
    """One of each object that a function may change."""

    made = 0

    def __init__(self):
        self.list, self.dict, self.set, self.bytes = [], {}, set(), bytearray()
        self.array, self.text, self.random = np.zeros(2), io.StringIO(), random.Random(3)
        self.iterator, self.count = itertools.count(), 0


def appends(x, state):
    state.list.append(len(state.list))


def counts_in_a_dict(x, state):
    state.dict["n"] = state.dict.get("n", 0) + 1


def adds_to_a_set(x, state):
    state.set.add(len(state.set))


def extends_bytes(x, state):
    state.bytes += b"a"


def changes_an_array(x, state):
    state.array[0] += 1


def writes(x, state):
    state.text.write("a")


def draws(x, state):
    state.list.append(state.random.random())


def counts(x, state):
    state.count += 1


def sets_a_new_attribute(x, state):
    state.new = getattr(state, "new", 0) + 1


def deletes_an_attribute(x, state):
    if hasattr(state, "count"):
        del state.count
    else:
        state.count = 5


def shown(state):
    held = vars(state) | {"text": state.text.getvalue(), "random": state.random.getstate()}
    return repr(held | {"iterator": repr(state.iterator)})


EFFECTS = [
    appends,
    counts_in_a_dict,
    adds_to_a_set,
    extends_bytes,
    changes_an_array,
    writes,
    draws,
    counts,
    sets_a_new_attribute,
    deletes_an_attribute,
]


@pytest.mark.parametrize("effect", EFFECTS)
def test_every_call_does_what_python_does(effect):
    def run(x):
        effect(x, state)
        return x * 2

    seen = []
    for function in (run, to_static(run)):
        state = State()
        seen.append([(function(X).tolist(), shown(state)) for _ in range(4)])
    assert seen[0] == seen[1]


def test_a_count_of_the_caller_is_not_advanced():
    state = State()
    with pytest.raises(UnsupportedSyntax, match="a count from outside of the converted function"):
        to_static(lambda x: x * next(state.iterator))(X)


def test_what_somebody_else_has_set_back_is_done_again():
    log = []

    def run(x):
        log.append(1)
        return x

    static = to_static(run)
    for _ in range(3):
        log.clear()
        static(X)
        assert log == [1]


def test_a_cache_needs_one_more_trace_only(recwarn):
    class Net(nn.Layer):
        def __init__(self):
            super().__init__()
            self.cache = {}

        def forward(self, x):
            CALLS.note()
            if x.shape[0] not in self.cache:
                self.cache[x.shape[0]] = x.shape[0] * 2
            return x + self.cache[x.shape[0]]

    net, CALLS.count = to_static(Net()), 0
    assert [net(X).tolist() for _ in range(4)] == [[5.0, 6.0]] * 4
    assert CALLS.count == 2 and not recwarn.list


def test_what_stays_the_same_needs_no_new_trace():
    def run(x):
        CALLS.note()
        held["kind"] = "a"
        return x

    held, CALLS.count = {"kind": "a"}, 0
    static = to_static(run)
    for _ in range(3):
        static(X)
    assert CALLS.count == 1


def test_other_shapes_do_it_once_for_each_call_too():
    log = []

    def run(x):
        log.append(x.ndim)
        return x * 2

    static = to_static(run)
    for size in (2, 3, 4, 4, 2):
        static(dy2st.to_tensor([1.0] * size))
    assert log == [1] * 5


def test_the_program_of_a_function_may_be_looked_at_before_the_call():
    log = []

    def run(x):
        log.append(1)
        return x

    static = to_static(run, input_spec=[InputSpec([2], "float32", "x")])
    assert static.main_program is static.main_program
    static(X)
    assert log == [1]
    static(X)
    assert log == [1, 1]


def test_saving_says_what_the_saved_program_does_not_do(tmp_path):
    log = []

    def run(x):
        log.append(1)
        return x

    static = to_static(run, input_spec=[InputSpec([2], "float32", "x")])
    with pytest.warns(UserWarning, match="its Program alone does not, since the list in"):
        save(static, str(tmp_path / "model"))


def test_a_method_that_a_branch_sets_is_set_where_it_is_taken(monkeypatch):
    monkeypatch.setattr(State, "method", lambda self: 1, raising=False)

    def run(x):
        if x.sum() > 0:
            State.method = lambda self: 5
        return x

    static = to_static(run)
    for x, wanted in ((-X, 1), (X, 5), (-X, 5)):
        static(x)
        assert State.method(None) == wanted


def test_one_tensor_given_twice_is_one_to_the_function():
    def attend(q, k):
        return q + k if q is k else q - k

    static = to_static(attend)
    other = dy2st.to_tensor([3.0, 4.0])
    assert static(X, other).tolist() == attend(X, other).tolist()
    for _ in range(2):
        assert static(X, X).tolist() == attend(X, X).tolist()
        assert static(X, other).tolist() == attend(X, other).tolist()
    assert len(static.program_cache) == 2
    assert to_static(lambda x: attend(x, x))(X).tolist() == attend(X, X).tolist()


def _by_part(k):
    k[0] += 1


def _by_name(k):
    part = k[1]
    part *= 2
    part += 1


def _by_method(k):
    k.T[0].fill(k[0, 0] + 2)


def _by_out(k):
    np.add(k, 1, out=k)
    np.multiply(k, 3, k)


def _whole(k):
    k += 1


@pytest.mark.parametrize("change", [_by_part, _by_name, _by_method, _by_out, _whole])
def test_an_array_outside_that_is_changed_through_a_part_is_changed_at_each_call(change):
    class Model:
        def __init__(self):
            self.k = np.zeros((2, 3), np.float32)

        def run(self, x):
            part = self.k[1]
            change(self.k)
            found = dy2st.to_tensor(self.k), x + self.k, dy2st.to_tensor(part), self.k.sum()
            return *found, float(np.max(self.k)), part.tolist()

    eager, other = Model(), Model()
    static = to_static(other.run)
    for _ in range(3):
        assert str(static(dy2st.ones([3]))) == str(eager.run(dy2st.ones([3])))
        assert other.k.tolist() == eager.k.tolist()
