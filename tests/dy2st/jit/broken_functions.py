"""Functions that are refused as a whole: with `full_graph=False` each does what Python does.

A scenario makes the function, the arguments of its calls, and the state that they may change.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import functools
import itertools
import json
import logging
import os
import queue
import random
import re
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import dy2st

Scenario = Callable[[], tuple[Any, list[tuple[Any, ...]], Any]]
SCENARIOS: dict[str, Scenario] = {}


def scenario(make: Scenario) -> Scenario:
    """Enter it by its name."""
    SCENARIOS[make.__name__] = make
    return make


def t(*values: Any) -> dy2st.Tensor:
    """A tensor of floats."""
    return dy2st.to_tensor(np.array(values, "float32"))


@scenario
def list_append_then_numpy():
    log = []

    def f(x):
        log.append(1)
        print("a")
        y = x * 2
        log.append(float(y.sum()))
        z = np.sin(y.numpy())
        log.append(z.sum())
        return y + dy2st.to_tensor(z)

    return (f, [(t(1, 2),), (t(3, 4),)], log)


@scenario
def attr_writes():

    class S:
        pass

    s = S()
    s.n = 0

    def f(x):
        s.n += 1
        s.last = x * 2
        x.numpy()
        s.n += 1
        return s.last + s.n

    return (f, [(t(1, 2),)] * 3, s)


@scenario
def random_numbers():

    def f(x):
        a = dy2st.rand([2])
        b = x + a
        c = b.numpy()
        d = dy2st.rand([2])
        return (b, d, c)

    return (f, [(t(1, 2),)] * 3, None)


@scenario
def python_random():
    random.seed(3)
    np.random.seed(3)

    def f(x):
        a = random.random()
        b = np.random.rand()
        return (x * a + b, x.numpy())

    return (f, [(t(1, 2),)] * 3, None)


@scenario
def generator_outside():

    def g():
        i = 0
        while True:
            print("g", i)
            yield i
            i += 1

    it = g()

    def f(x):
        a = next(it)
        y = x * a
        y.numpy()
        b = next(it)
        return y + b

    return (f, [(t(1, 2),)] * 3, None)


@scenario
def list_iterator_outside():
    it = iter([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    c = itertools.count()

    def f(x):
        a = next(it)
        y = x * a
        k = next(c)
        y.numpy()
        b = next(it)
        return y + b + k

    return (f, [(t(1, 2),)] * 3, None)


@scenario
def generator_argument():

    def f(xs):
        s = 0
        for x in xs:
            s = s + x
            s.numpy()
        return s

    return (f, [((t(i) for i in range(3)),), (iter([t(1), t(2)]),)], None)


@scenario
def lock():
    one = threading.Lock()
    r = threading.RLock()

    def f(x):
        one.acquire()
        try:
            x.numpy()
        finally:
            one.release()
        with r:
            x.numpy()
        return (x * 2, one.locked())

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def lock_held():
    one = threading.Lock()

    def f(x):
        y = x + 1
        if one.acquire(timeout=1):
            y = y * 2
        else:
            y = y * 100
        x.numpy()
        one.release()
        return y

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def q():
    qq = queue.Queue()
    d = collections.deque()

    def f(x):
        qq.put(1)
        d.append(x)
        x.numpy()
        return (qq.qsize(), len(d), x)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def callback_natively():
    log = []

    def f(x):
        s = re.sub("a", lambda m: log.append(m.group()) or "b", "aab")
        k = sorted([3, 1, 2], key=lambda v: log.append(v) or v)
        json.dumps({"a": object()}, default=lambda o: log.append("j") or 1)
        x.numpy()
        return (x * len(s), k)

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def finalizer():
    log = []

    class D:
        def __init__(s):
            log.append("made")

        def __del__(s):
            log.append("gone")

    def f(x):
        d = D()
        del d
        log.append("x")
        x.numpy()
        D()
        return x * 2

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def numpy_arrays():
    a = np.zeros(2)
    b = np.arange(3)

    def f(x):
        a[0] += 1
        a.sort()
        b.fill(3)
        np.add(a, 1, out=a)
        x.numpy()
        a[1] += 1
        return (x * 2, a.copy())

    return (f, [(t(1, 2),)] * 3, (a, b))


@scenario
def errstate():

    def f(x):
        old = np.seterr(all="ignore")
        x.numpy()
        np.seterr(**old)
        return (sorted(np.geterr().items()), x)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def environ():

    def f(x):
        os.environ["FOO_T"] = os.environ.get("FOO_T", "") + "a"
        x.numpy()
        return (os.environ["FOO_T"], x * 2)

    os.environ.pop("FOO_T", None)
    return (f, [(t(1, 2),)] * 2, None)


@scenario
def ctxvar():
    v = contextvars.ContextVar("v", default=0)

    def f(x):
        v.set(v.get() + 1)
        x.numpy()
        return (v.get(), x * 2)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def cached():
    log = []

    @functools.lru_cache
    def c(n):
        log.append(n)
        print("c", n)
        return n * 2

    def f(x):
        print("before")
        y = x * c(3)
        print("after")
        x.numpy()
        return (y, c(4))

    return (f, [(t(1, 2),)] * 3, log)


@scenario
def cached_convertible():
    log = []

    @functools.lru_cache
    def c(n):
        log.append(n)
        print("c", n)
        return n * 2

    def f(x):
        print("before")
        y = x * c(3)
        print("after")
        return (y, c(4))

    return (f, [(t(1, 2),)] * 3, log)


@scenario
def user_error():
    log = []

    def f(x):
        log.append(1)
        x.numpy()
        log.append(2)
        if x.sum() > 3:
            raise ValueError(f"too large {float(x.sum())}")
        return x

    return (f, [(t(1, 2),), (t(5, 2),), (t(1, 1),)], log)


@scenario
def error_in_callee():
    log = []

    def g(x):
        log.append("g")
        if x.sum() > 3:
            raise ValueError("too large")
        return x * 2

    def f(x):
        try:
            y = g(x)
        except ValueError as e:
            log.append(str(e))
            y = x
        finally:
            log.append("fin")
        x.numpy()
        return g(y - 1)

    return (f, [(t(1, 2),), (t(5, 2),), (t(1, 1),)], log)


@scenario
def warn_lines():

    def g(x):
        warnings.warn("hello", stacklevel=2)
        return x * 2

    def f(x):
        with warnings.catch_warnings(record=True) as w:
            warnings.simplefilter("always")
            y = g(x)
            warnings.warn("me")
        return ([(str(i.message), os.path.basename(i.filename), i.lineno) for i in w], y)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def frames():

    def g(x):
        return (sys._getframe(1).f_lineno, sys._getframe(1).f_code.co_name, x * 2)

    def f(x):
        x.numpy()
        return (g(x), sorted(locals()), sys._getframe().f_code.co_name)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def recursion():

    def fact(n, x):
        x.numpy()
        return x if n == 0 else fact(n - 1, x) * 1.001

    return (fact, [(300, t(1.0, 2.0))], None)


@scenario
def recursion_deep():

    def r(x):
        x.numpy()
        return x if float(x[0]) > 700 else r(x + 1)

    return (r, [(t(1.0, 2.0),)], None)


@scenario
def recursion_helper():

    def r(x):
        return x if float(x[0]) > 300 else r(x + 1)

    def f(x):
        x.numpy()
        return r(x)

    return (f, [(t(1.0, 2.0),)], None)


@scenario
def generator_function():
    log = []

    def f(x):
        for i in range(3):
            log.append(i)
            y = x * i
            yield y.numpy()

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def files():
    p = tempfile.mktemp()

    def f(x):
        with open(p, "a") as h:
            h.write(str(float(x.sum())) + "\n")
        return (x * 2, open(p).read())

    return (f, [(t(1, 2),)] * 3, None)


@scenario
def logging_():
    lg = logging.getLogger("zz")
    lg.setLevel("INFO")
    rec = []

    class H(logging.Handler):
        def emit(s, r):
            rec.append((r.getMessage(), r.lineno, r.funcName))

    lg.handlers = [H()]

    def f(x):
        lg.info("v %s", float(x.sum()))
        x.numpy()
        lg.warning("w")
        return x

    return (f, [(t(1, 2),)] * 2, rec)


@scenario
def partial_and_lambda():

    def h(k, x):
        return x * k if x.sum() > 0 else x - k

    p = functools.partial(h, 3)

    def f(x):
        def g(z):
            return h(2, z) + p(z)

        x.numpy()
        return (g(x), p(x), (lambda q: q + 1)(x), list(map(p, [x])))

    return (f, [(t(1, 2),), (t(-1, -2),)], None)


@scenario
def decorators():
    log = []

    def deco(fn):

        @functools.wraps(fn)
        def w(*a, **k):
            log.append(fn.__name__)
            return fn(*a, **k)

        return w

    @deco
    def h(x):
        return x * 2

    @deco
    def f(x):
        x.numpy()
        return h(x)

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def registry():
    reg = []

    class Base:
        def __init_subclass__(c, **k):
            reg.append(c.__name__)

    def f(x):

        class A(Base):
            pass

        x.numpy()
        return x

    return (f, [(t(1, 2),)] * 2, reg)


@scenario
def imports():

    def f(x):

        x.numpy()
        from math import sqrt

        return x * sqrt(4)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def global_write():
    global GG
    GG = 0

    def f(x):
        global GG
        GG += 1
        x.numpy()
        GG += 1
        return x * GG

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def set_ops():

    def f(xs, d):
        xs.append(xs[0] * 2)
        d["n"] = xs[0].numpy().sum()
        d["loss"] = xs[-1]
        return len(xs)

    return (f, [([t(1, 2)], {}), ([t(1, 2)], {"a": 1})], None)


@scenario
def uuid_time():

    def f(x):
        a = time.time()
        x.numpy()
        return (x * 2, time.time() - a < 5)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def tqdm_like():

    class Bar:
        def __init__(s, it):
            s.it = it
            s.n = 0

        def __iter__(s):
            for i in s.it:
                s.n += 1
                print("bar", s.n)
                yield i

    def f(xs):
        tot = 0
        b = Bar(xs)
        for x in b:
            tot = tot + x
            tot.numpy()
        return (tot, b.n)

    return (f, [([t(1, 2), t(3, 4)],)] * 2, None)


@scenario
def settrace_like():

    def f(x):
        r = sys.getrecursionlimit()
        sys.setrecursionlimit(r + 1)
        x.numpy()
        sys.setrecursionlimit(r)
        return (x, sys.getrecursionlimit() - r)

    return (f, [(t(1, 2),)] * 2, None)


@scenario
def tokens_text():

    def f(x):
        return (" ".join("abc"[int(i)] for i in x), {int(i): float(i) for i in x})

    return (f, [(dy2st.to_tensor([1, 2]),)] * 2, None)


@scenario
def exceptions_swallowed():
    log = []

    def f(x):
        try:
            log.append(1)
            x.numpy()
            log.append(2)
        except Exception as e:
            log.append(type(e).__name__)
        return x

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def suppress():
    log = []

    def f(x):
        with contextlib.suppress(TypeError, RuntimeError):
            log.append(1)
            x.numpy()
            log.append(2)
            raise TypeError
        return x

    return (f, [(t(1, 2),)] * 2, log)


@scenario
def debugger():
    stops = []

    def f(x):
        hook, sys.breakpointhook = sys.breakpointhook, lambda: stops.append(1)
        y = x + 1
        breakpoint()
        sys.breakpointhook = hook
        return y.numpy()

    return (f, [(t(1, 2),)] * 2, stops)
