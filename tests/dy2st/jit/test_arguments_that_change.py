"""Calls that change what they are given: lists, dicts, objects and tensors, as Python does."""

import importlib.util
import tempfile
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import dy2st
from dy2st.errors import SpecError
from dy2st.jit import load, save, to_static
from dy2st.static import InputSpec

HAS_NATIVE = importlib.util.find_spec("llvmlite") is not None
PROGRAMS = {}


def on(make):
    """A program, and what makes its arguments."""

    def note(function):
        PROGRAMS[function.__name__] = function, make
        return function

    return note


def vector():
    return dy2st.to_tensor([1.0, 2.0, 3.0])


def of_one(make):
    """Arguments among which one object is met again."""
    return lambda: make(vector())


@on(lambda: (vector(),))
def elements_of_a_tensor(x):
    x[0] = x[1] + 4
    return x * 2


@on(lambda: (vector(), vector()))
def a_tensor_in_place(x, y):
    x.add_(y)
    x.multiply_(y + 1)
    return x


@on(lambda: (vector(),))
def a_view_of_a_tensor(x):
    x[1:].add_(dy2st.to_tensor(1.0))
    return x.sum()


@on(lambda: (vector(),))
def another_shape(x):
    x.unsqueeze_(0)
    return list(x.shape)


@on(lambda: (vector(), vector()))
def values_of_another(x, y):
    x.set_value(y * 2)
    y += 1
    return x + y


@on(lambda: (vector(), 2))
def on_one_path(x, k):
    if x.sum() > 6:
        x[k] = 0.0
    else:
        x.add_(dy2st.to_tensor(1.0))
    return x * 1


@on(lambda: (vector(),))
def in_a_loop(x):
    i = 0
    while x.sum() < 30:
        x.multiply_(dy2st.to_tensor(2.0))
        i += 1
    return i


@on(lambda: ([], vector()))
def appended(found, x):
    found.append(x * 2)
    return len(found)


@on(lambda: ([vector()], vector()))
def appended_and_given_back(found, x):
    found.append(x)
    return found


@on(lambda: ({"x": vector(), "n": 1}, vector()))
def entries_of_a_dict(state, x):
    state["loss"] = (x * state["x"]).sum()
    state["n"] += 1
    return x


@on(lambda: ({"x": vector(), "y": vector()}, vector()))
def taken_out_of_a_dict(batch, x):
    return batch.pop("x", x) + x


@on(lambda: ({"found": [1, 2], "more": {}}, vector()))
def in_containers(state, x):
    state["found"].append(x.sum())
    state["more"][len(state["found"])] = x
    return len(state["found"])


@on(lambda: ([], vector()))
def appended_on_one_path(found, x):
    if x.sum() > 3:
        found.append(x)
    return x * 2


@on(lambda: ([], vector()))
def appended_in_a_loop(found, x):
    while x.sum() < 20:
        x = x * 2
        found.append(x)
    return x


@on(lambda: ([vector(), vector()], vector()))
def changed_and_perhaps_taken_out(items, x):
    items[0][1:].multiply_(dy2st.to_tensor(2.0))
    if x.sum() > 10:
        x = items.pop()
    return x * 2


@on(lambda: (lambda x: (x, dy2st.zeros([3]), [x]))(vector() * 2))
def two_that_get_one_value(x, y, items):
    if x.sum() > 4:
        items.append(x * 0)
        x.set_value((x * 2 % 5).detach())
        y.set_value(x)
    return items


@on(lambda: ([3, 1, 2], vector()))
def sorted_in_place(numbers, x):
    numbers.sort()
    numbers.insert(0, numbers.pop() + 1)
    return x * numbers[0]


@on(lambda: ({1, 2}, vector()))
def a_set(known, x):
    known.add(len(known) + 1)
    known.discard(1)
    return x * len(known)


@on(lambda: (OrderedDict(a=vector()), vector()))
def an_ordered_dict(state, x):
    state["b"] = x
    state.move_to_end("a")
    return x


@on(lambda: (defaultdict(list), vector()))
def a_defaultdict(groups, x):
    groups["x"].append(x)
    return x


@on(lambda: (deque([vector()], maxlen=2), vector()))
def a_deque(last, x):
    last.append(last[0] + x)
    return last[0]


class Meter:
    def __init__(self):
        self.count, self.seen, self.total = 0, [], vector()


@on(lambda: (Meter(), vector()))
def an_object(meter, x):
    meter.count += 1
    meter.seen.append(x.sum())
    meter.total = meter.total + x
    return x * meter.count


@dataclass
class State:
    step: int = 0
    hidden: object = None
    trace: list = field(default_factory=list)


@on(lambda: (State(), vector()))
def a_dataclass(state, x):
    state.step += 1
    state.hidden = x if state.hidden is None else state.hidden + x
    state.trace.append(state.hidden.sum())
    return state.hidden


Pair = namedtuple("Pair", "items tensor")


@on(lambda: (Pair([], vector()), vector()))
def what_a_namedtuple_holds(pair, x):
    pair.items.append(x)
    pair.tensor[0] = 9.0
    return x


@on(lambda: (lambda one: (one, one, vector()))([1.0]))
def one_list_twice(left, right, x):
    left.append(2.0)
    return (x * len(right) if left is right else x), left


@on(of_one(lambda x: (x, x)))
def one_tensor_twice(left, right):
    left[0] = 7.0
    return right * 2


@on(of_one(lambda x: ([x], x)))
def one_tensor_in_a_list_too(held, x):
    x[0] = 7.0
    held.append(held[0] * 2)
    return held[0]


@on(of_one(lambda x: (x[0], x[1])))
def two_elements_of_one_tensor(left, right):
    left.add_(right)
    return left * 2


@on(lambda: ([1], vector()))
def changed_before_it_raises(items, x):
    items.append(2)
    if x.sum() > 0:
        raise ValueError("positive")
    return x


SHARED = [1.0]


@on(lambda: (SHARED, vector()))
def a_list_that_is_global_too(items, x):
    SHARED.append(2.0)
    return x * len(items)


@on(lambda: (SHARED, vector()))
def asked_whether_it_is_global(items, x):
    return x * 2 if items is SHARED else x


@on(of_one(lambda x: ([x], {"x": x}, x)))
def a_list_that_is_in_a_dict_too(items, table, x):
    table["items"] = items
    table["items"].append(x * 2)
    return items[-1]


KEPT = vector()


@on(lambda: (KEPT,))
def a_tensor_that_is_global_too(x):
    x[0] = x[0] + 1.0
    return KEPT * 1


@on(lambda: (KEPT,))
def a_global_tensor_that_is_given(x):
    KEPT.add_(dy2st.to_tensor(1.0))
    return x * 1


@on(lambda: (vector(), [[0.0]]))
def only_given_back(x, items):
    return items


def parts(value, found):
    """The objects in a value, in order."""
    if isinstance(value, (dy2st.Tensor, list, dict, deque, set, Meter, State)):
        found.append(value)
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (list, tuple, deque)):
        inner = value
    else:
        inner = vars(value).values() if isinstance(value, (Meter, State)) else ()
    for one in inner:
        parts(one, found)
    return found


def calls(function, make, is_new):
    """What calls give, what becomes of their arguments, and which objects are the same."""
    SHARED[:] = [1.0]
    KEPT.set_value(vector())
    arguments, found = make(), []
    for _ in range(4):
        arguments = make() if is_new else arguments
        before = parts(arguments, [])
        try:
            result = function(*arguments)
        except ValueError as error:
            result = str(error)
        after = parts(arguments, [])
        same = [[n for n, old in enumerate(before) if old is one][:1] for one in after]
        known = [
            [n for n, one in enumerate(after) if one is part][:1] for part in parts(result, [])
        ]
        found.append((plain(result), plain(arguments), same, known))
    return found


def plain(value):
    """A value as what == compares."""
    if isinstance(value, (Meter, State)):
        return type(value).__name__, plain(vars(value))
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, dict):
        return type(value).__name__, [(key, plain(one)) for key, one in value.items()]
    if isinstance(value, (list, tuple, deque)):
        return type(value).__name__, [plain(one) for one in value]
    if isinstance(value, (dy2st.Tensor, np.ndarray)):
        return value.tolist(), str(value.dtype)
    return value


@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_arguments_are_changed_as_python_changes_them(name, is_new):
    function, make = PROGRAMS[name]
    engines = ["numpy", "native"] if HAS_NATIVE else ["numpy"]
    wanted = calls(function, make, is_new)
    for engine in engines:
        assert calls(to_static(function, engine=engine), make, is_new) == wanted


def test_one_program_serves_all_tensors_that_it_changes():
    static = to_static(a_tensor_in_place)
    for size in (2, 3, 4, 5):
        x = dy2st.ones([size])
        assert static(x, dy2st.ones([size])) is x and x.tolist() == [4.0] * size
    assert len(static.program_cache) == 2  # of known sizes and of unknown ones


def test_an_array_of_numpy_is_changed_too():
    array = np.array([1.0, 2.0], "float32")
    static = to_static(a_tensor_in_place)
    for wanted in ([4.0, 6.0], [10.0, 14.0]):
        static(array, dy2st.ones([2]))
        assert array.tolist() == wanted


def squares(x, w):
    x[0] = w[0] * 2
    x.add_(w)
    return (x * x).sum()


def gradients(function):
    """What calls with gradients give, of a tensor that was computed, a leaf, and one without."""
    leaves = [
        dy2st.to_tensor(one, stop_gradient=False) for one in ([1.0, 2.0, 3.0], [3.0, 4.0, 5.0])
    ]
    found = []
    for _ in range(3):
        x = leaves[1] * 2.0
        (function(x, leaves[0]) + x.sum()).backward()
        found.append((x.tolist(), x.stop_gradient, [one.grad.tolist() for one in leaves]))
        for one in leaves:
            one.clear_grad()
    with pytest.raises(RuntimeError, match="a leaf that needs gradients") as raised:
        function(*leaves[::-1])
    found.append(str(raised.value))
    with dy2st.no_grad():
        found.append((function(*leaves[::-1]).item(), leaves[1].tolist(), leaves[1].stop_gradient))
    x = vector()
    function(x, leaves[0])
    return [*found, (x.tolist(), x.stop_gradient, x.is_leaf)]


@pytest.mark.parametrize("engine", ["numpy", "native"] if HAS_NATIVE else ["numpy"])
def test_gradients_flow_through_what_is_changed(engine):
    wanted = gradients(squares)
    assert gradients(to_static(squares, engine=engine)) == wanted
    static = to_static(squares, [InputSpec([3]), InputSpec([3])])
    assert gradients(saved(static)) == wanted


def saved(static):
    """A converted function, saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        save(static, f"{folder}/saved")
        return load(f"{folder}/saved", mmap=False)


def masked(logits, k):
    logits[:, k] = -float("inf")
    return logits.max(), logits


def test_a_loaded_model_changes_the_tensors_that_it_is_given():
    static = to_static(masked, [InputSpec(["n", 4], name="logits"), 2])
    program, loaded = static.main_program, saved(static)
    assert program.changes == {"logits": 1} and program.outputs[1].shape == program.inputs[0].shape
    for run in (lambda x: static(x, 2), loaded, saved(loaded)):
        x = dy2st.arange(8, dtype="float32").reshape([2, 4]).clone()
        largest, given = run(x)
        assert largest.item() == 7.0 and given is x
        assert x.tolist()[1] == [4.0, 5.0, -np.inf, 7.0]
    numbers = np.zeros([1, 4], "float32")
    assert loaded(numbers)[1].tolist() == [[0.0, 0.0, -np.inf, 0.0]] and not numbers.any()


def test_a_loaded_model_refuses_a_tensor_that_it_knows_by_two_names():
    loaded = saved(to_static(squares, [InputSpec([3]), InputSpec([3])]))
    x = dy2st.ones([2, 3])
    for pair in ((x[0], x[0]), (x[0], x.flatten()[:3]), (vector(),) * 2):
        with pytest.raises(SpecError, match=r"give a clone\(\) of one"):
            loaded(*pair)


def test_a_list_that_another_argument_holds_is_as_it_is_at_each_call():
    class Box:
        def __init__(self, held):
            self.held = held

    def reverse(x, items, box):
        box.held.reverse()
        return x

    def exchange(x, items, box):
        box.held[0], items[1] = items[1], box.held[0]
        return x

    for f in (reverse, exchange):
        one, other = dy2st.ones([2]), dy2st.zeros([2])
        items = [one, other]
        box, static = Box(items), to_static(f)
        for number in range(4):
            static(dy2st.ones([3]), items, box)
            first, second = (one, other) if number % 2 else (other, one)
            assert items[0] is first and items[1] is second and box.held is items
