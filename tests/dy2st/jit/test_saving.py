"""Saved models: results that no file holds are refused, and files of other names are loaded by them."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from enum import Enum

import numpy as np
import pytest

import dy2st
import dy2st as P
from dy2st import nn, to_static
from dy2st.errors import ArgumentError, ConversionError, MissingFile
from dy2st.static import InputSpec


@pytest.mark.parametrize("value", [range(3), 1j, ...])
def test_a_constant_that_no_file_holds_is_refused_at_the_save(value, tmp_path):
    static = to_static(lambda x: (value, x * 2), input_spec=[InputSpec([None])])
    assert static(P.ones([1]))[0] == value
    with pytest.raises(ConversionError, match="returns what a saved Program cannot give back") as e:
        P.jit.save(static, str(tmp_path / "model"))
    assert repr(value) in str(e.value)


def _keys(x):
    found = {}
    for value in x:
        if value > 0:
            found[value.item()] = value
    return found


class Ranking(Enum):
    FIRST = 1


def _entries(x):
    return {place: x for place in range(7) if x.sum() > place}


NOT_HELD = {
    "of which a tensor decides the entries": _entries,
    "a Ranking": lambda x: {Ranking.FIRST, x.shape[0]},
    "a set of other things": lambda x: {(x, 1)},
    "a defaultdict with a function": lambda x: defaultdict(lambda: 1, a=x),
    "a slice": lambda x: (slice(1, 2), x),
    "a function": lambda x: [x, lambda: 1],
}


@pytest.mark.parametrize("words", NOT_HELD)
def test_a_result_that_no_file_holds_is_named(words, tmp_path):
    static = to_static(NOT_HELD[words], input_spec=[InputSpec([3])])
    with pytest.raises(ConversionError, match="a Program alone cannot give back: a .*\n") as error:
        P.jit.save(static, str(tmp_path / "model"))
    assert words in str(error.value)


def _of_keys(make):
    return lambda x: make(_keys(x))


def _window(x):
    kept = deque(maxlen=2)
    for value in x:
        if value > 0:
            kept.append(value)
    return kept


def _counted(x):
    found = Counter(a=1)
    if x.sum() > 0:
        found["b"] += x.shape[0]
    return found


def _grouped(x):
    groups = defaultdict(list)
    for value in x:
        groups[int(value)].append(value)
    return groups


CONTAINERS = {
    "a set": lambda x: ({"b", "a", 1, x.shape[0], ("c", x.shape[0])}, x),
    "a frozenset": lambda x: [frozenset(["b", "a", (1, 2)]), x],
    "a deque": lambda x: deque([x, 1], 3),
    "a deque of a length": _window,
    "a Counter": lambda x: Counter(a=x.shape[0], b=2),
    "a Counter that may miss a key": _counted,
    "a Counter of keys of the data": _of_keys(Counter),
    "an OrderedDict of keys of the data": _of_keys(OrderedDict),
    "a set of the data": _of_keys(set),
    "a defaultdict": _grouped,
    "a defaultdict without a factory": lambda x: defaultdict(None, a=x),
    "one on some paths": lambda x: deque([x]) if x.sum() > 0 else {1},
    "some in a list": lambda x: [deque([v, 1]) for v in x],
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_of_the_library_is_saved_as_what_it_is(name, tmp_path):
    static = to_static(CONTAINERS[name], input_spec=[InputSpec([None])])
    P.jit.save(static, str(tmp_path / "model"))
    loaded = P.jit.load(str(tmp_path / "model"))
    for values in ([1.0, 3.0, 3.5], [-1.0], [2.0, -1.0, 1.0]):
        x = P.to_tensor(values)
        assert _shown(loaded(x)) == _shown(static(x)) == _shown(CONTAINERS[name](x))


def _shown(value):
    """The text of a value; sets in the order of their elements."""
    if isinstance(value, (list, tuple)):
        return [_shown(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return type(value), sorted(map(repr, value))
    return repr(value)


def _optional(x):
    found = {"a": x, "inner": {}}
    if x.sum() > 0:
        found["b"] = [x * 2, "many"]
    if x.shape[0] and x.max() > 2:
        found["inner"]["top"] = x.max()
    elif x.sum() < 0:
        found["inner"]["low"] = 1
    found["last"] = len(found)
    return found


def _read(x):
    log = {"sum": x.sum()}
    for place in range(3):
        if log["sum"] > place + 1:
            log["stopped"] = place
            break
    else:
        log["stopped"] = None
    return log["stopped"], log["sum"]


def _of_a_size_that_a_branch_knows(x):
    found, kept = {}, [one for one in x if one > -2]
    if len(kept) > 1:
        found["a"] = dy2st.stack(kept) + dy2st.to_tensor([1.0 for _ in kept])
    return found["a"] if "a" in found else x


@pytest.mark.parametrize("function", [_optional, _read, _of_a_size_that_a_branch_knows])
def test_a_dict_may_miss_entries(function, tmp_path):
    static = to_static(function, input_spec=[InputSpec([None])])
    P.jit.save(static, str(tmp_path / "model"))
    loaded = P.jit.load(str(tmp_path / "model"))
    for values in ([1.0, 3.0], [1.0], [-1.0], [-4.0, 3.0], [0.0]):
        x = P.to_tensor(values)
        assert repr(loaded(x)) == repr(static(x)) == repr(function(x))


def _crossings(x):
    places = [i for i in range(1, len(x)) if (x[i] > 0) != (x[i - 1] > 0)]
    if not places:
        return None
    return places, [b - a for a, b in zip(places, places[1:])]


def test_what_is_given_back_on_some_paths_may_be_older_than_the_branch(tmp_path):
    static = to_static(_crossings, input_spec=[InputSpec([None])])
    P.jit.save(static, str(tmp_path / "model"))
    loaded = P.jit.load(str(tmp_path / "model"))
    for values in ([1.0, -1.0, 2.0, 2.0, -1.0], [1.0], [-1.0, 1.0]):
        x = P.to_tensor(values)
        assert loaded(x) == static(x) == _crossings(x)


# -- names of saved files --------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    layer = nn.Linear(2, 3)
    spec = [dy2st.static.InputSpec([None, 2])]
    dy2st.jit.save(layer, str(tmp_path / "net"), input_spec=spec)
    return tmp_path, layer


def assert_computes(loaded, layer):
    assert_computes_with(loaded, layer, dy2st.ones([4, 2]))


def assert_computes_with(loaded, layer, x):
    np.testing.assert_array_equal(loaded(x).numpy(), layer(x).numpy())


def test_files_of_a_folder_are_named_one_by_one(saved):
    folder, layer = saved
    assert_computes(dy2st.jit.load(str(folder), model_filename="net.mlir"), layer)
    (folder / "net.safetensors").rename(folder / "weights.bin")
    (folder / "net.mlir").rename(folder / "program.txt")
    loaded = dy2st.jit.load(
        str(folder), model_filename="program.txt", params_filename="weights.bin"
    )
    assert_computes(loaded, layer)


def test_names_without_a_folder_are_refused(saved):
    folder, _ = saved
    for options in ({"params_filename": "net.safetensors"}, {"model_filename": "net.mlir"}):
        with pytest.raises(ArgumentError, match="names in a folder"):
            dy2st.jit.load(str(folder / "net"), **options)
    with pytest.raises(ArgumentError, match="names in a folder"):
        dy2st.jit.load(str(folder), params_filename="net.safetensors")
    with pytest.raises(MissingFile, match="other.mlir"):
        dy2st.jit.load(str(folder), model_filename="other.mlir")


class Coder(nn.Layer):
    def __init__(self):
        super().__init__()
        self.into, self.back = nn.Linear(4, 2), nn.Linear(2, 4)

    def forward(self, x):
        return self.back(self.into(x))

    def encode(self, x):
        return self.into(x)

    def decode(self, code, times=1):
        return self.back(code) * times


def test_a_method_that_is_converted_on_the_layer_itself_is_saved(tmp_path):
    net, x = Coder(), dy2st.randn([3, 4])
    net.encode = to_static(net.encode)
    net.decode = to_static(net.decode, input_spec=[InputSpec([None, 2], name="code"), 3])
    net.encode(x)
    P.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4], name="x")])
    loaded = P.jit.load(str(tmp_path / "net"))
    assert sorted(loaded.programs) == ["decode", "encode", "forward"]
    code = loaded.encode(x)
    np.testing.assert_array_equal(code.numpy(), net.encode(x).numpy())
    np.testing.assert_array_equal(loaded.decode(code).numpy(), net.decode(code, 3).numpy())
    assert_computes_with(loaded, net, x)


def test_a_method_of_another_layer_is_not_saved_with_this_one(tmp_path):
    net, other, x = Coder(), Coder(), dy2st.randn([3, 4])
    net.partner, net.plain = to_static(other.encode), to_static(lambda x: x)
    P.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4], name="x")])
    loaded = P.jit.load(str(tmp_path / "net"))
    assert list(loaded.programs) == ["forward"]
    assert_computes_with(loaded, net, x)


def test_a_converted_method_without_types_is_named(tmp_path):
    net = Coder()
    net.encode = to_static(net.encode)
    with pytest.raises(ArgumentError, match=r"^Coder\.encode has no Program yet: .*call the func"):
        P.jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4])])
