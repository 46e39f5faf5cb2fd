"""An object from outside is known as such, whichever way converted code comes to it."""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import operator
import types
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from dy2st import Tensor, nn, to_tensor
from dy2st.errors import ConversionError
from dy2st.jit import to_static
from dy2st_runtime.tensor import EagerTensor

Step = Callable[[Tensor], Tensor]


class Counter:
    """Remembers a number and a tensor."""

    def __init__(self) -> None:
        self.count = 0
        self.last: Tensor | None = None

    def update(self, x: Tensor) -> Tensor:
        self.count += 1
        self.last = x * self.count
        return self.last

    __call__ = update


class Frozen(types.SimpleNamespace):
    """Gives its counter by each hook of Python."""

    def __getitem__(self, _: int) -> Counter:
        return self.counter  # type: ignore[no-any-return]

    def __getattr__(self, _: str) -> Counter:
        return self.__dict__["counter"]  # type: ignore[no-any-return]


def _of_variable(c: Counter) -> Step:
    variable = contextvars.ContextVar[Counter]("variable")
    variable.set(c)
    return lambda x: variable.get().update(x)


def _called(made: Any) -> Step:
    return lambda x: made(x)  # type: ignore[no-any-return]  # a function of its own around it


WAYS: dict[str, Callable[[Counter], Step]] = {
    "a method": lambda c: _called(c.update),
    "a converted method": lambda c: _called(to_static(c.update)),
    "a converted object": lambda c: _called(to_static(c)),
    "a partial": lambda c: _called(functools.partial(c.update)),
    "a converted partial": lambda c: _called(to_static(functools.partial(c.update))),
    "a partial of a converted method": lambda c: _called(functools.partial(to_static(c.update))),
    "a default": lambda c: lambda x, f=to_static(c.update): f(x),
    "a list of converted methods": lambda c: lambda x, fs=[to_static(c.update)]: fs[0](x),
    "an attribute": lambda c: lambda x, o=types.SimpleNamespace(f=to_static(c.update)): o.f(x),
    "map": lambda c: lambda x, f=to_static(c.update): list(map(f, [x]))[0],
    "attrgetter": lambda c: lambda x, get=operator.attrgetter("update"): get(c)(x),
    "WeakMethod": lambda c: lambda x, ref=weakref.WeakMethod(c.update): ref()(x),
    "a weak reference": lambda c: lambda x, ref=weakref.ref(c): ref().update(x),
    "a variable of the context": _of_variable,
    "a proxy of a dict": lambda c: lambda x, d=types.MappingProxyType({"c": c}): d["c"].update(x),
    "ChainMap": lambda c: lambda x, d=collections.ChainMap({"c": c}): d["c"].update(x),
    "a hook of items": lambda c: lambda x, o=Frozen(counter=c): o[0].update(x),
    "a hook of attributes": lambda c: lambda x, o=Frozen(counter=c): o.other.update(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_written_into_an_object_is_written_at_each_call(way: str) -> None:
    counter = Counter()
    static = to_static(WAYS[way](counter))
    for n in (1, 2, 3):
        assert static(to_tensor([1.0, 2.0])).numpy().tolist() == [n, 2 * n]
        assert counter.count == n
        assert isinstance(counter.last, EagerTensor)
        assert counter.last.numpy().tolist() == [n, 2 * n]


def test_a_cached_method_that_writes_a_tensor_is_refused() -> None:
    counter = Counter()
    static = to_static(_called(functools.lru_cache(None)(counter.update)))
    with pytest.raises(ConversionError, match="does more than to give a value"):
        static(to_tensor([1.0, 2.0]))
    assert (counter.count, counter.last) == (0, None)


def test_the_forward_of_a_layer_that_is_gone_may_lie_there() -> None:
    functions = [to_static(lambda x: x.abs()), to_static(nn.Linear(1, 1)).forward]
    gc.collect()
    with pytest.raises(ReferenceError, match="is gone"):
        functions[1](to_tensor([-1.0]))
    static = to_static(lambda x: list(reversed(functions)).pop()(x) * len(functions))
    assert static(to_tensor([-1.0])).tolist() == [2.0]
