"""Functions that are handed around: closures, decorators, callbacks, bases, options, recursion."""

from __future__ import annotations

import abc
import functools
import operator

import numpy as np

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

VALUES = (
    [1.0, -2.0, 3.0],
    [-1.0, -2.0, -3.0],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.0],
    [-1.0, 5.0],
)
EACH = [[None]]
ROWS = (ramp(2, 2), ramp(2, 2, start=1.0), ramp(2, 2, start=-5.0), ramp(3, 2))
WIDE = [[None, 2]]


def logged(function):
    @functools.wraps(function)
    def wrapper(x, *args, **kwargs):
        y = function(x, *args, **kwargs)
        return y if y.sum() > -100 else x

    return wrapper


def with_limit(limit):
    def decorate(function):
        def wrapper(x):
            y = function(x)
            return y * (limit / y.max()) if y.max() > limit else y

        return wrapper

    return decorate


@logged
def shifted(x, by=1.0, *, scale=1.0):
    return x * scale + by


@with_limit(4.0)
def doubled(x):
    return x * 2


@on(*VALUES, unknown=EACH)
def decorated_functions(x):
    return shifted(x, 2.0, scale=3.0), doubled(x)


@on(*VALUES, unknown=EACH)
def callback_with_a_condition(x):
    def apply_each(values, function, *, until=2):
        out = []
        for i, v in enumerate(values):
            if i >= until:
                break
            out.append(function(v))
        return out

    return apply_each([x, x * 2, x * 3], lambda v: v.max() if v.sum() > 0 else v.min())


@on(*VALUES, unknown=EACH)
def closures_made_in_a_loop(x):
    functions = []
    for k in range(3):
        functions.append(lambda v, k=k: v * k if v.sum() > k else v - k)
    return [f(x) for f in functions]


@on(*VALUES, unknown=EACH)
def closures_that_share_a_variable(x):
    total = x.sum()

    def add(v):
        nonlocal total
        if v > 0:
            total = total + v

    for v in (x[0], x[-1]):
        add(v)
    return total


@on(*VALUES, unknown=EACH)
def options_by_stars(x):
    def build(*sizes, act="relu", **rest):
        y = x * len(sizes)
        if y.sum() > 0 and act == "relu":
            y = F.relu(y)
        return y, sorted(rest)

    return build(1, 2, act="relu", depth=3), build(*[4], **{"act": "none"})


@on(*VALUES, unknown=EACH)
def composed_by_reduce(x):
    steps = [lambda v: v + 1, lambda v: v * 2 if v.sum() > 0 else v, dy2st.tanh]
    return functools.reduce(lambda value, step: step(value), steps, x)


@on(*VALUES, unknown=EACH)
def partial_with_a_condition(x):
    def blend(weight, a, b):
        return a * weight + b if weight > 0.3 else a - b

    half = functools.partial(blend, 0.5, b=1.0)
    return half(x), functools.partial(blend, x.max())(x, 2.0)


@on(*VALUES, unknown=EACH)
def operators_as_functions(x):
    pick = operator.itemgetter(0)
    compare = {"gt": operator.gt, "lt": operator.lt}["gt"]
    return pick(x) if compare(x.sum(), 0) else operator.neg(pick(x))


@on(*VALUES, unknown=EACH)
def recursion_by_halves(x):
    def total(lo, hi):
        if hi - lo == 1:
            return x[lo] if x[lo] > 0 else x[lo] * 0.5
        middle = (lo + hi) // 2
        return total(lo, middle) + total(middle, hi)

    return total(0, min(x.shape[0], 3)) if x.shape[0] == 3 else x.sum()


@on(*VALUES, unknown=EACH)
def recursion_on_a_tensor(x):
    def shrink(v, depth):
        if depth == 0:
            return v, depth
        if v.abs().max() < 1.1:
            return v, depth
        return shrink(v / 2, depth - 1)

    return shrink(x, 2)


@on(*VALUES, unknown=EACH)
def mutual_recursion(x):
    def even(v, n):
        return v if n == 0 or v.sum() < -4 else odd(v + 1, n - 1)

    def odd(v, n):
        return -v if n == 0 else even(v * 2, n - 1)

    return even(x, 3)


class Base(nn.Layer, abc.ABC):
    scale = 2.0

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2, bias_attr=False)
        self.fc.weight.set_value(np.float32([[0.5, -0.2], [0.1, 0.7]]))

    @abc.abstractmethod
    def transform(self, x):
        """What a subclass does."""

    def forward(self, x):
        y = self.transform(self.fc(x))
        return y if y.max() < 3 else y / self.scale


@on(*ROWS, unknown=WIDE)
class TemplateMethod(Base):
    def transform(self, x):
        return F.relu(x) if x.sum() > 0 else x


@on(*ROWS, unknown=WIDE)
class CallsTheBase(Base):
    scale = 4.0

    def transform(self, x):
        return x + 1

    def forward(self, x):
        y = super().forward(x)
        if y.sum() < 1:
            return y - super().forward(-x)
        return y


class Residual:
    def forward(self, x):
        return x + super().forward(x)


@on(*ROWS, unknown=WIDE)
class MixinBeforeABase(Residual, TemplateMethod):
    def transform(self, x):
        return super().transform(x) * 0.5


@on(*ROWS, unknown=WIDE)
class HooksAroundALayer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.act = nn.ReLU()
        self.act.register_forward_post_hook(lambda layer, inputs, y: y * 2 if y.sum() > 1 else y)
        self.act.register_forward_pre_hook(lambda layer, inputs: (inputs[0] + 0.5,))

    def forward(self, x):
        return self.act(x)


@on(*ROWS, unknown=WIDE)
class SequentialWithItsOwnLayer(nn.Layer):
    class Gate(nn.Layer):
        def forward(self, x):
            return x if x.mean() > 0 else x * 0.1

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Tanh(), self.Gate(), nn.Sigmoid())

    def forward(self, x):
        y = self.net(x)
        for layer in self.net.children():
            if isinstance(layer, self.Gate):
                y = y + layer(x)
        return y


@on(*ROWS, unknown=WIDE)
class HelperMethods(nn.Layer):
    @staticmethod
    def clipped(x, limit):
        return x.clip(-limit, limit) if x.abs().max() > limit else x

    @classmethod
    def named(cls, x):
        return cls.clipped(x, 1.5), cls.__name__

    @property
    def limit(self):
        return 2.0 if self.training else 1.0

    def forward(self, x):
        y, name = self.named(x)
        return self.clipped(y * 3, self.limit), name


@on(*ROWS, unknown=WIDE)
class FeaturesByName(nn.Layer):
    def __init__(self):
        super().__init__()
        for i in range(3):
            setattr(self, f"stage{i}", nn.Tanh() if i % 2 else nn.ReLU())

    def forward(self, x, wanted=("stage0", "stage2")):
        features = {}
        for i in range(3):
            x = getattr(self, f"stage{i}")(x + 0.1)
            if f"stage{i}" in wanted and x.sum() > 0:
                features[f"stage{i}"] = x.sum()
        return len(features), x


@on(*VALUES, makes=True)
def cached_by_lru():
    @functools.lru_cache
    def weights(n):
        return tuple(1 / (i + 1) for i in range(n))

    def step(x):
        total = x.sum() * 0
        for w, v in zip(weights(x.shape[0]), x):
            total = total + w * v if v > 0 else total
        return total

    return step, None


@on(*VALUES, makes=True)
def functions_in_a_registry():
    handlers = {}

    def handler(name):
        return lambda function: handlers.setdefault(name, function)

    @handler("up")
    def up(x):
        return x * 2

    @handler("down")
    def down(x):
        return x - 1

    def step(x):
        return handlers["up"](x) if x.sum() > 0 else handlers["down"](x)

    return step, None


@on(*VALUES, unknown=EACH)
def walrus_in_a_chain(x):
    if (s := x.sum()) > 4 or (m := x.max()) > 1.5 and m < 10:
        return s * 2
    return s + m


@on(*VALUES, unknown=EACH)
def lazily_evaluated_default(x):
    def fallback():
        return x.min()

    chosen = None
    if x.sum() > 0:
        chosen = x.max
    return (chosen or fallback)()
