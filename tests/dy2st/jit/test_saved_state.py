"""What calls leave in Layers and other objects is state of a saved model, or no model is saved."""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest

import dy2st
from dy2st import nn, to_static
from dy2st.errors import ArgumentError, ConversionError
from dy2st.jit import load, save
from dy2st.static import InputSpec
from tests.dy2st.catalogue.comparing import comparable
from tests.dy2st.jit.saved_forms import drawn_forms
from tests.dy2st.jit.saved_state import FORMS, LAYERS, REFUSED, define, drawn

CALLS = 6
SPECS = [InputSpec([3], "float32", "x")]
DRAWN = 200 if os.environ.get("DY2ST_TESTS") == "full" else 12


def batches(start=0):
    found = np.random.default_rng(0).integers(0, 5, (CALLS, 3)).astype("float32")
    return [dy2st.to_tensor(row) for row in found[start:]]


def check(layer, path, before=0, engine=None):
    """A Layer that is saved after some calls goes on as an eager one does, and so does itself."""
    eager, static = layer(), to_static(layer())
    wanted = [comparable(eager(x)) for x in batches()]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*is traced the 5th time")
        found = [comparable(static(x)) for x in batches()[:before]]
        save(static, path, SPECS)
        loaded = load(path, engine=engine)
        assert found + [comparable(loaded(x)) for x in batches(before)] == wanted
        assert found + [comparable(static(x)) for x in batches(before)] == wanted


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("name", LAYERS)
def test_a_loaded_model_goes_on_as_the_layer_does(name, before, tmp_path):
    check(define(name, *LAYERS[name]), str(tmp_path / "model"), before)


@pytest.mark.parametrize("before", [0, 3])
@pytest.mark.parametrize("name", FORMS)
def test_what_changes_its_form_goes_on_in_a_loaded_model(name, before, tmp_path):
    check(define(name, *FORMS[name]), str(tmp_path / "model"), before)


SOME = ["a mean", "nested containers", "every third call", *FORMS]


@pytest.mark.parametrize("name", SOME)
def test_it_goes_on_as_machine_code(name, tmp_path):
    pytest.importorskip("llvmlite")
    check(define(name, *{**LAYERS, **FORMS}[name]), str(tmp_path / "model"), engine="native")


@pytest.mark.parametrize("name", FORMS)
def test_a_loaded_model_is_saved_with_the_forms_of_now(name, tmp_path):
    layer, path = define(name, *FORMS[name]), str(tmp_path / "model")
    eager = layer()
    wanted = [comparable(eager(x)) for x in batches()]
    save(to_static(layer()), path, SPECS)
    found = []
    for x in batches():
        loaded = load(path)
        found.append(comparable(loaded(x)))
        save(loaded, path)
    assert found == wanted


@pytest.mark.parametrize("seed", range(DRAWN))
def test_forms_drawn_at_random_go_on_or_are_refused(seed, tmp_path):
    layer = define(f"drawn forms {seed}", *drawn_forms(seed))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*its Program alone does not")  # what nobody reads
        try:
            check(layer, str(tmp_path / "model"), before=seed % 3)
        except ConversionError:
            assert not list(tmp_path.iterdir())


def test_a_model_asks_for_nothing_that_it_keeps(tmp_path):
    save(
        to_static(define("kept", *FORMS["a cache of a decoder"])()), str(tmp_path / "model"), SPECS
    )
    assert repr(load(str(tmp_path / "model"))) == "LoadedModel(forward(x: float32[3]))"


def test_arguments_may_be_called_as_buffers_and_other_state_are(tmp_path):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("mask", dy2st.full([3], 2.0))
            self.register_buffer("grown", dy2st.zeros([1]))
            self.h, self.x = None, []

        def forward(self, x, mask, h, grown):
            self.x.append(x)
            self.h = h if self.h is None else self.h + h
            self.grown = dy2st.concat([self.grown, grown])
            return x * len(self.x) * self.mask + mask + self.h + self.grown.sum()

    specs = [InputSpec([3], "float32", name) for name in ("x", "mask", "h", "grown")]
    save(Model(), str(tmp_path / "model"), specs)
    loaded, eager = load(str(tmp_path / "model")), Model()
    for x in batches():
        assert comparable(loaded(x, x + 1, x + 2, x + 3)) == comparable(
            eager(x, x + 1, x + 2, x + 3)
        )
    save(Narrow(), str(tmp_path / "narrow"), specs[:2])
    assert load(str(tmp_path / "narrow"))(x, x).tolist() == (x * 2 + x).tolist()


class Narrow(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", dy2st.full([3], 2.0))

    def forward(self, x, mask):
        return x * self.mask + mask


def test_methods_share_a_list_that_grows(tmp_path):
    class Log(nn.Layer):
        def __init__(self):
            super().__init__()
            self.rows = []

        @to_static(input_spec=SPECS)
        def forward(self, x):
            self.rows.append(x)
            return x * len(self.rows)

        @to_static(input_spec=[])
        def mean(self):
            return sum(self.rows) / max(1, len(self.rows))

        @to_static(input_spec=[])
        def clear(self):
            self.rows.clear()
            return len(self.rows)

    eager, path = Log(), str(tmp_path / "log")
    save(Log(), path)
    loaded = load(path)
    for x in batches():
        assert comparable(loaded(x)) == comparable(eager.forward.dygraph_function(x))
        assert comparable(loaded.mean()) == comparable(eager.mean.dygraph_function())
    assert loaded.clear() == eager.clear.dygraph_function() == 0
    assert loaded(batches()[0]).tolist() == batches()[0].tolist()


@pytest.mark.parametrize("seed", range(DRAWN))
def test_layers_drawn_at_random_go_on(seed, tmp_path):
    layer = define(f"drawn {seed}", *drawn(seed))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*its Program alone does not")  # what nobody reads
        check(layer, str(tmp_path / "model"), before=seed % 3)


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_file_has_no_form_for_is_not_saved(name, tmp_path):
    begin, body, words = REFUSED[name]
    static = to_static(define(name, begin, body)())
    with pytest.raises(ConversionError, match=words):
        save(static, str(tmp_path / "model"), SPECS)
    assert not list(tmp_path.iterdir())


def test_the_state_has_the_names_of_attributes_and_keys(tmp_path):
    class Inner(nn.Layer):
        def __init__(self):
            super().__init__()
            self.count = 7

        def forward(self, x):
            self.count += 1
            return x * self.count

    class Outer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.inner, self.cache = Inner(), {"n": 1, "two words": 2}
            self.register_buffer("cache_n", dy2st.zeros([3]))

        def forward(self, x):
            for key in self.cache:
                self.cache[key] += 1
            return self.inner(x) + self.cache["n"] + self.cache_n

    save(to_static(Outer()), str(tmp_path / "model"), SPECS)
    loaded = load(str(tmp_path / "model"))
    loaded(dy2st.ones([3]))
    found = {name: tensor.numpy().tolist() for name, tensor in loaded.state_dict().items()}
    assert found == {"cache_n": [0.0] * 3, "cache": 3, "cache.n": 2, "inner.count": 8}


def test_a_loaded_model_is_saved_where_it_stands(tmp_path):
    static = to_static(define("twice", *LAYERS["a mean"])())
    save(static, str(tmp_path / "first"), SPECS)
    first = load(str(tmp_path / "first"))
    found = [comparable(first(x)) for x in batches()[:3]]
    first.save(str(tmp_path / "second"))
    second = load(str(tmp_path / "second"))
    found += [comparable(second(x)) for x in batches(3)]
    assert found == [comparable(static(x)) for x in batches()]


def test_methods_of_a_layer_share_their_state(tmp_path):
    class Counter(nn.Layer):
        def __init__(self):
            super().__init__()
            self.n = 0

        @to_static(input_spec=SPECS)
        def forward(self, x):
            return x * self.n

        @to_static(input_spec=SPECS)
        def tick(self, x):
            self.n += 1
            return x

        @to_static(input_spec=SPECS)
        def reset(self, x):
            self.n = 0
            return x

        @to_static(input_spec=SPECS)
        def other(self, x):
            return x + 1

    names = ["forward", "tick", "tick", "forward", "other", "reset", "forward", "tick", "forward"]
    layer, x = Counter(), dy2st.ones([3])
    wanted = [getattr(layer, name)(x).tolist() for name in names]
    assert [one[0] for one in wanted] == [0, 1, 1, 2, 2, 1, 0, 1, 1]
    save(Counter(), str(tmp_path / "model"))
    loaded = load(str(tmp_path / "model"))
    assert [getattr(loaded, name)(x).tolist() for name in names] == wanted
    assert list(loaded.state_dict()) == ["n"]


def test_what_one_method_writes_and_another_reads_is_state_of_both(tmp_path):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.is_on = False

        @to_static(input_spec=SPECS)
        def forward(self, x):
            return x * 2 if self.is_on else x

        @to_static(input_spec=SPECS)
        def start(self, x):
            self.is_on = True
            return x

    save(Model(), str(tmp_path / "model"))
    loaded, x = load(str(tmp_path / "model")), dy2st.ones([3])
    assert [loaded(x)[0].item(), loaded.start(x)[0].item(), loaded(x)[0].item()] == [1, 1, 2]


def test_variables_of_functions_and_modules_are_kept(tmp_path):
    def counting():
        count, total = 0, 0.0

        def run(x):
            nonlocal count, total
            count, total = count + 1, total + float(x.sum())
            return x * count + total

        return run

    eager, static = counting(), to_static(counting())
    save(static, str(tmp_path / "model"), SPECS)
    loaded = load(str(tmp_path / "model"))
    for x in batches():
        assert comparable(loaded(x)) == comparable(eager(x))
    assert list(loaded.state_dict()) == ["count", "total"]


def test_what_a_hook_counts_is_kept(tmp_path):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.n = 0
            self.register_forward_post_hook(self.count)

        def count(self, layer, inputs, output):
            self.n += 1
            return output * self.n

        def forward(self, x):
            return x + 1

    check(Model, str(tmp_path / "model"))


def test_a_model_that_only_writes_is_saved_with_a_warning(tmp_path):
    static = to_static(define("last", "self.last = 0.0", "self.last = float(x.sum()); return x")())
    with pytest.warns(UserWarning, match="its Program alone does not, since the attribute `last`"):
        save(static, str(tmp_path / "model"), SPECS)
    assert load(str(tmp_path / "model")).state_dict() == {}


def test_what_was_called_with_an_object_is_saved_with_an_input_spec(tmp_path):
    class Model(nn.Layer):
        def __init__(self):
            super().__init__()
            self.n = 0

        def forward(self, x, mode=None):
            self.n += 1
            return x * self.n

    static, mode = to_static(Model()), object()
    static(batches()[0], mode)
    with pytest.raises(dy2st.errors.ArgumentError, match="give save an input_spec"):
        save(static, str(tmp_path / "model"))
    save(static, str(tmp_path / "model"), SPECS)


class Counting(nn.Layer):
    """Counts its calls, and keeps a sum."""

    def __init__(self):
        super().__init__()
        self.count = 0
        self.register_buffer("total", dy2st.zeros([3]))

    def forward(self, x):
        self.count += 1
        self.total += x
        return self.total / self.count


def test_a_loaded_model_is_saved_as_it_is_now(tmp_path):
    eager, first, second = Counting(), str(tmp_path / "first"), str(tmp_path / "second")
    wanted = [comparable(eager(x)) for x in batches()]
    save(Counting(), first, SPECS)
    model = load(first)
    found = [comparable(model(x)) for x in batches()[:3]]
    save(model, second)
    save(model, first, pipeline="inference")  # over what it was loaded from
    for path in (first, second):
        again = load(path)
        assert found + [comparable(again(x)) for x in batches(3)] == wanted
    with pytest.raises(ArgumentError, match="no input_spec"):
        save(model, second, SPECS)


@pytest.mark.parametrize("written", ["table", "row"])
def test_a_view_of_a_buffer_that_a_file_would_tear_apart_is_refused(written, tmp_path):
    class Table(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", dy2st.zeros([2, 3]))
            self.row = self.table[0]

        def forward(self, x):
            getattr(self, written).add_(x)
            return self.table.sum(0) + self.row

    with pytest.raises(ConversionError, match="shares its memory with") as found:
        save(Table(), str(tmp_path / "model"), SPECS)
    assert "make the view inside of the function" in str(found.value)


def test_a_view_that_one_method_changes_and_another_one_reads_is_refused(tmp_path):
    class Table(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", dy2st.zeros([2, 3]))
            self.row = self.table[0]

        @to_static(input_spec=SPECS)
        def forward(self, x):
            return self.table.sum(0) + x

        @to_static(input_spec=SPECS)
        def change(self, x):
            self.row.add_(x)
            return x * 2

    with pytest.raises(ConversionError, match="shares its memory with"):
        save(Table(), str(tmp_path / "model"))


def test_a_list_whose_tensors_change_places_is_refused(tmp_path):
    class Turning(nn.Layer):
        def __init__(self):
            super().__init__()
            self.held = [dy2st.zeros([3]), dy2st.ones([3])]

        def forward(self, x):
            self.held.reverse()
            self.held[0].add_(x)
            return self.held[0] - self.held[1]

    with pytest.raises(ConversionError, match="something else holds one of its tensors"):
        save(Turning(), str(tmp_path / "model"), SPECS)


@pytest.mark.parametrize("is_other", [False, True], ids=["by-the-same-call", "by-another-method"])
def test_buffers_that_become_one_tensor_which_is_changed_in_place_are_refused(tmp_path, is_other):
    class Twice(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("h", dy2st.zeros([3]))
            self.register_buffer("k", dy2st.ones([3]))

        @to_static(input_spec=SPECS)
        def forward(self, x):
            if not is_other:
                self.h[0] = x.sum()
            total = self.k.sum()
            self.h = x * 2
            self.k = self.h
            return total

        @to_static(input_spec=SPECS)
        def change(self, x):
            if is_other:
                self.h.add_(x)
            return self.h * 1

    with pytest.raises(ConversionError, match="something else holds one of its tensors"):
        save(Twice(), str(tmp_path / "model"))
