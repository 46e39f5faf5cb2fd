"""Layers that count, remember and switch in plain Python: what they hold changes at each call."""

from __future__ import annotations

import linecache
import random
import textwrap
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np

import dy2st
from dy2st import nn

Pair = namedtuple("Pair", "h n")  # noqa: PYI024  as users write it


class Slots:
    """An object without a `__dict__`."""

    __slots__ = ("n",)


class Visits:
    def __init__(self):
        self.n, self.seen = 0, []


# What a Layer begins with, and what a call does.
LAYERS = {
    "the last of a full deque": (
        "self.d = deque([dy2st.ones([3]), dy2st.zeros([3])], maxlen=2); "
        "self.n = deque([1.0, 2.0, 3.0], maxlen=3)",
        "self.d.append(x * 1); self.n += [float(x.sum())]; return x * self.n[0] + self.d[0]",
    ),
    "an attribute that is set in `__dict__`": (
        "self.scale = 2.0",
        "y = x * self.scale; self.__dict__['scale'] = float(x.sum()); return y",
    ),
    "an int": ("self.n = 0", "self.n += 1; return x * self.n"),
    "a place in a queue that a loop fills without gradients": (
        "self.register_buffer('queue', dy2st.zeros([2])); self.n = 0",
        """
        i = x.sum() * 0
        with dy2st.no_grad():
            while i < 3:
                self.queue[self.n] = x[0] * 2
                self.n = (self.n + 1) % 2
                i = i + 1
        return x + self.queue.sum()
        """,
    ),
    "a float": ("self.scale = 1.0", "self.scale = self.scale * 0.9; return x * self.scale"),
    "a text of a number": (
        "self.k, self.d = 0, {'0': 1.0, '1': 2.0}",
        "self.k = 1 - self.k; return x * self.d[str(self.k)]",
    ),
    "an infinite float": (
        "self.best = float('inf')",
        "self.best = min(self.best, float(x.sum())); return x - self.best",
    ),
    "the state of a cell, half of which is only written": (
        "self.state = (dy2st.zeros([3]), dy2st.zeros([3]))",
        """
        h, c = self.state
        c = c * 0.5 + x
        h = c * 2
        self.state = (h, c)
        return h + c
        """,
    ),
    "a switch": ("self.on = True", "self.on = not self.on; return x * 2 if self.on else x"),
    "a first call": (
        "self.first = True",
        """
        if self.first:
            self.first = False
            return x * 2
        return x
        """,
    ),
    "every third call": (
        "self.t = 0",
        """
        self.t += 1
        if self.t % 3 == 0:
            return x * 2
        return x
        """,
    ),
    "what a tensor decides": (
        "self.d, self.n, self.seen = {'n': 0}, 0, False",
        """
        if x.sum() > 6:
            self.d["n"] += 1
            self.n, self.seen = self.n + 2, True
        return x * self.d["n"] + self.n if self.seen else x
        """,
    ),
    "a mean": (
        "self.n, self.mean = 0, 0.0",
        """
        self.n += 1
        self.mean = 0.9 * self.mean + 0.1 * x.mean().item()
        return x - self.mean / (1 - 0.9 ** self.n)
        """,
    ),
    "a generator of numbers": (
        "self.seed = 12345",
        "self.seed = (self.seed * 1103515245 + 12345) % 2**31; return x + self.seed / 2**31",
    ),
    "two that change places": (
        "self.a, self.b = 1, 2",
        "self.a, self.b = self.b, self.a + self.b; return x * self.a",
    ),
    "an entry": ("self.d = {'n': 0}", "self.d['n'] += 1; return x + self.d['n']"),
    "all entries": (
        "self.d = {'a': 1, 'b': 2.0}",
        """
        for key in self.d:
            self.d[key] += 1
        return x * sum(self.d.values())
        """,
    ),
    "an item": ("self.l = [0, 5]", "self.l[-2] += 1; return x + self.l[0] * self.l[1]"),
    "an item by two names": (
        "self.a = [0]; self.b = self.a",
        "self.a[0] += 1; return x * self.b[0]",
    ),
    "a list anew": (
        "self.l = [1, 2.0]",
        "self.l = [a + 1 for a in self.l]; return x * sum(self.l)",
    ),
    "a dict anew": (
        "self.d = {'n': 0, 'h': dy2st.zeros([3])}",
        "d = self.d; self.d = {'n': d['n'] + 1, 'h': d['h'] + x}; return self.d['h'] * d['n']",
    ),
    "a deque": (
        "self.q = deque([0.0, 0.0], maxlen=2)",
        "self.q.append(float(x.sum())); return x * sum(self.q)",
    ),
    "a Counter": ("self.c = Counter(a=1)", "self.c['a'] += 1; return x * self.c['a']"),
    "a defaultdict": (
        "self.c = defaultdict(int, a=0)",
        "self.c['a'] += 2; return x * self.c['a']",
    ),
    "an OrderedDict": (
        "self.c = OrderedDict(a=1, b=2)",
        "self.c['a'] += self.c['b']; return x * self.c['a']",
    ),
    "nested containers": (
        "self.d = {'e': {'k': 0, 'h': dy2st.zeros([3])}, 'f': [1, (2, 3.0)]}",
        """
        e, (a, b) = self.d["e"], self.d["f"][1]
        e["k"] += 1
        e["h"] = e["h"] + x
        self.d["f"][1] = (a + 1, b * 0.5)
        return e["h"] * e["k"] + a + b
        """,
    ),
    "dicts in a list": (
        "self.l = [{'n': 0}, {'n': 5}]",
        """
        for d in self.l:
            d["n"] += 1
        return x * sum(d["n"] for d in self.l)
        """,
    ),
    "a tensor in a dict": (
        "self.d = {'h': dy2st.zeros([3])}",
        "self.d['h'] = self.d['h'] * 0.5 + x; return self.d['h'] * 1",
    ),
    "a tensor that changes in place": (
        "self.d = {'h': dy2st.zeros([3])}",
        "self.d['h'].add_(x); return self.d['h'] * 1",
    ),
    "tensors that change places": (
        "self.l = [dy2st.zeros([3]), dy2st.ones([3])]",
        "self.l[0], self.l[1] = self.l[1], self.l[0] + x; return self.l[0] * 1",
    ),
    "a tuple of tensors": (
        "self.s = (dy2st.zeros([3]), 0)",
        "h, n = self.s; self.s = (h + x, n + 1); return self.s[0] * self.s[1]",
    ),
    "a named tuple": (
        "self.s = Pair(dy2st.zeros([3]), 0)",
        "self.s = Pair(self.s.h + x, self.s.n + 1); return self.s.h * self.s.n",
    ),
    "an object": (
        "self.o = SimpleNamespace(n=0, r=0.5, h=dy2st.zeros([3]))",
        "o = self.o; o.n += 1; o.r *= 0.5; o.h = o.h + x; return o.h * o.n + o.r",
    ),
    "objects with slots": (
        "self.o = [Slots(), Slots()]; self.o[0].n, self.o[1].n = 1, 2",
        """
        for o in self.o:
            o.n += 1
        return x * self.o[0].n + self.o[1].n
        """,
    ),
    "its own attributes by name": (
        "self.n = self.m = 0",
        "vars(self)['n'] += 1; setattr(self, 'm', self.m + 2); return x * self.n + self.m",
    ),
    "a count of turns": (
        "self.n = 0",
        """
        for i in range(x.shape[0]):
            self.n += i
        while x.sum() < self.n % 5:
            x = x + 1
            self.n += 1
        return x * self.n
        """,
    ),
    "a count that makes turns": (
        "self.n = 0",
        """
        self.n += 1
        for i in range(self.n):
            x = x + i
        return x
        """,
    ),
    "a count of a shape": ("self.n = 0", "self.n += 1; return dy2st.zeros([self.n, 3]) + x"),
    "what an error begins anew": (
        "self.n = 0",
        """
        try:
            self.n += 1
            if self.n > 2:
                raise ValueError("too many")
        except ValueError:
            self.n = 0
        return x * self.n
        """,
    ),
    "a number that is given back": ("self.n = 0", "self.n += 1; return x, self.n, self.n > 2"),
}

# What has another form from call to call: a loaded model keeps it beside its buffers.
FORMS: dict[str, tuple[str, ...]] = {
    "None that becomes a tensor": (
        "self.h = None",
        "self.h = x if self.h is None else self.h + x; return self.h * 1",
    ),
    "an int that becomes a float": ("self.v = 0", "self.v = self.v + 0.5; return x * self.v"),
    "a float that becomes a tensor": ("self.v = 0.0", "self.v += x.sum(); return x * self.v"),
    "a text": (
        "self.mode = 'a'",
        "self.mode = 'b' if self.mode == 'a' else 'a'; return x if self.mode == 'a' else -x",
    ),
    "a text that grows": ("self.t = ''", "self.t += 'a'; return x * len(self.t)"),
    "a buffer that was None": (
        "self.register_buffer('h', None)",
        "y = x if self.h is None else x + self.h; self.h = x * 1; return y",
    ),
    "a buffer that grows": (
        "self.register_buffer('h', dy2st.zeros([1]))",
        "self.h = dy2st.concat([self.h, x]); return x + self.h.sum()",
    ),
    "a buffer of another shape that nobody reads": (
        "self.register_buffer('h', dy2st.zeros([1]))",
        "self.h = x + 1; return x * 2",
    ),
    "a cache of a decoder": (
        "self.k = self.v = None",
        """
        self.k = x if self.k is None else dy2st.concat([self.k, x])
        self.v = x * 2 if self.v is None else dy2st.concat([self.v, x * 2])
        return (self.k * self.v).sum() + x
        """,
    ),
    "objects by their keys, in the order of these": (
        "self.d = {}",
        """
        for key in x.tolist():
            one = self.d.setdefault(key, Visits())
            one.n += 1
            one.seen.append(x.sum())
        return x, [(key, one.n, one.seen[0]) for key, one in sorted(self.d.items())]
        """,
    ),
    "lists by their keys": (
        "self.d = {}",
        """
        for key in x.tolist():
            self.d.setdefault(key, []).append(x.sum())
        return x, [(key, len(one)) for key, one in self.d.items()]
        """,
    ),
    "a list that grows": ("self.l = []", "self.l.append(x.sum()); return x * len(self.l)"),
    "a list that grows by two names": (
        "self.a = []; self.b = self.a",
        "self.a.append(x.sum()); return x * len(self.b)",
    ),
    "a new list that grows": ("self.l = []", "self.l = self.l + [x]; return x * len(self.l)"),
    "a tuple that grows": ("self.t = ()", "self.t = (*self.t, x.sum()); return x * self.t[0]"),
    "a list that is given back": ("self.l = []", "self.l.append(x.sum()); return self.l"),
    "a new entry": (
        "self.d = {}",
        "self.d['n'] = self.d.get('n', 0) + 1; return x * self.d['n']",
    ),
    "entries that the data choose": (
        "self.d = {}",
        """
        key = int(x[0])
        if key not in self.d:
            self.d[key] = x.sum()
        return x * self.d[key] + len(self.d)
        """,
    ),
    "a set": ("self.s = {0}", "self.s.add(len(self.s)); return x * len(self.s)"),
    "a tensor that grows": (
        "self.d = {'h': dy2st.zeros([1])}",
        "self.d['h'] = dy2st.concat([self.d['h'], x]); return x + self.d['h'].sum()",
    ),
    "a window": (
        "self.q = deque(maxlen=3)",
        "self.q.append(x); return sum(self.q) / len(self.q)",
    ),
    "a Counter of numbers": (
        "self.c = Counter()",
        "self.c[int(x[0]) % 3] += 1; return x * self.c[0] + self.c[1]",
    ),
    "a cache of the last two": (
        "self.c = OrderedDict()",
        """
        key = int(x[0])
        self.c[key] = x.sum()
        self.c.move_to_end(key)
        if len(self.c) > 2:
            self.c.popitem(last=False)
        return x * len(self.c) + sum(self.c.values())
        """,
    ),
    "objects in a list": (
        "self.l = []",
        """
        for one in self.l:
            one.n += 1
        self.l.append(SimpleNamespace(n=0, h=x.sum()))
        self.l = [one for one in self.l if one.n < 3]
        return x * sum(one.n for one in self.l) + self.l[0].h
        """,
    ),
    "an object that is made anew": (
        "self.o = SimpleNamespace(h=None, log=[])",
        """
        o = self.o
        self.o = SimpleNamespace(h=x if o.h is None else o.h + x, log=o.log + [len(o.log)])
        return self.o.h * sum(self.o.log)
        """,
    ),
    "a heap of three": (
        "self.h, self.n = [], 0",
        """
        self.n += 1
        self.h = sorted([*self.h, (float(x.sum()), self.n, x)])[-3:]
        return self.h[0][2] * self.h[0][1]
        """,
    ),
    "a replay buffer": (
        "self.buffer, self.at = [], 0",
        """
        if len(self.buffer) < 3:
            self.buffer.append(None)
        self.buffer[self.at] = (x, self.at)
        self.at = (self.at + 1) % 3
        return sum(one for one, _ in self.buffer) + self.buffer[0][1]
        """,
    ),
    "episodes": (
        "self.all, self.now = [], []",
        """
        self.now.append(x.sum())
        if x.sum() > 6:
            self.all.append(self.now)
            self.now = []
        return x * len(self.all) + len(self.now)
        """,
    ),
    "events": (
        "self.log = []",
        """
        self.log.append(("up" if x.sum() > 6 else "down", float(x.max())))
        return x + sum(value for name, value in self.log if name == "up")
        """,
    ),
    "None for two at first": (
        "self.n, self.mean, self.m2 = 0, None, None",
        """
        self.n += 1
        if self.mean is None:
            self.mean, self.m2 = x, dy2st.zeros_like(x)
        else:
            d = x - self.mean
            self.mean = self.mean + d / self.n
            self.m2 = self.m2 + d * (x - self.mean)
        return self.m2 / self.n
        """,
    ),
    "an attribute that comes and goes": (
        "pass",
        """
        if hasattr(self, "h"):
            x = x + self.h
            del self.h
        else:
            self.h = x * 1
        return x
        """,
    ),
    "a list that is kept with its object, and changes in place": (
        "self.o, self.n = SimpleNamespace(l=[]), 0",
        """
        self.n += 1
        if self.n == 1:
            self.o = SimpleNamespace(l=[x.sum()])
        self.o.l.append(x.max())
        return x * len(self.o.l)
        """,
    ),
    "what begins anew in a branch": (
        "self.score, self.done = [], False",
        """
        if self.done:
            self.score = []
        self.score.append(x.sum())
        self.done = x.sum() > 6
        return sum(self.score) + x
        """,
    ),
    "lists that change places": (
        "self.a, self.b = [], []",
        "self.a.append(x.sum()); self.a, self.b = self.b, self.a; return x * len(self.a)",
    ),
    "one tensor at three places": (
        "self.l = [dy2st.zeros([3])] * 3",
        "self.l = self.l[1:] + [x]; return self.l[0] + self.l[2]",
    ),
    "a memory of a sublayer": (
        "self.inner = nn.ReLU(); self.inner.log = []",
        "self.inner.log.append(x.sum()); return self.inner(x) * len(self.inner.log)",
    ),
}

# What a file has no form for, and what the words say.
REFUSED = {
    "an attribute that is made in `__dict__`": (
        "self.h = None; type(self).h = None; del self.h",
        "y = x if self.h is None else self.h; self.__dict__['h'] = x * 2; return y + x",
        "reads what a dict holds, and changes it for the next call",
    ),
    "one tensor by two names": (
        "self.a, self.b = {'h': dy2st.zeros([3])}, {}; self.b['h'] = self.a['h']",
        "self.a['h'] = self.a['h'] + x; return self.a['h'] + self.b['h']",
        "a value of its own for each name\n.*clone",
    ),
    "objects that are told apart": (
        "self.l = []",
        """
        new = Visits()
        new.n = x[0]
        worst = new
        for one in self.l:
            if one.n < worst.n:
                worst = one
        self.l.append(new)
        if worst is not new:
            self.l.remove(worst)
        return x, len(self.l)
        """,
        "asks which of its objects is another one.*\n.*by a place or key",
    ),
    "a list that is made one with another": (
        "self.a, self.b = [0], SimpleNamespace(l=[])",
        """
        self.a.append(1)
        if x[0] <= 2:
            self.a = self.b.l
        return x, sum(self.a), len(self.b.l)
        """,
        "a value of its own for each name\n.*clone",
    ),
    "one new list in two lists": (
        "self.a, self.b = [], []",
        """
        new = [x.sum()]
        self.a.append(new)
        self.b.append(new)
        self.b[0].append(x.max())
        return x * len(self.a[0])
        """,
        "reads the attribute `a` of a Model, and changes it for the next call",
    ),
    "one new list by two names": (
        "self.a, self.b = [1], [1]",
        "self.a.append(2); y = x * len(self.b); self.a = self.b = [3]; return y",
        "a value of its own for each name\n.*clone",
    ),
    "a list that another list keeps": (
        "self.all, self.last = [], []",
        """
        self.last.append(x.sum())
        self.last = [x.max()]
        self.all.append(self.last)
        return x * sum(len(one) for one in self.all)
        """,
        "a value of its own for each name\n.*clone",
    ),
    "one tensor at two places that changes in place": (
        "self.l = [dy2st.zeros([3])] * 2",
        "self.l[0].add_(x); y = self.l[1] * 1; self.l = [x * 1, y]; return y",
        "a tensor is used that may have been changed in place",
    ),
    "an array": (
        "self.k = np.zeros(3, np.float32)",
        "self.k += 1; return x * float(self.k[0])",
        "what a ndarray holds, and changes it for the next call",
    ),
}


_BEGIN = (
    "self.n, self.m, self.on, self.d, self.l, self.t = "
    "1, 2, True, {'a': 3, 'h': dy2st.ones([3])}, [0, 4], (5, 6.0)"
)
_INTS = ("self.n", "self.m", "self.d['a']", "self.l[0]", "self.l[1]", "self.t[0]")


def drawn(seed: int) -> tuple[str, str]:
    """A Layer that does something at random with all that it holds."""
    rng = random.Random(seed)
    lines: list[str] = []

    def number() -> str:
        one, other = rng.choice(_INTS), rng.choice((*_INTS, "1", "3"))
        return f"({one} {rng.choice('+-*')} {other}) % {rng.choice((5, 7, 11))}"

    def simple(is_inner: bool = False) -> str:
        one, other = rng.sample(_INTS[:-1], 2)
        forms = (
            f"{one} = {number()}",
            f"{one} += 1",
            f"{one}, {other} = {other}, {one}",
            f"self.t = ({number()}, self.t[1] * 0.5)",
            "self.on = not self.on",
            f"self.on = {one} > {other}",
            "self.d['h'] = (self.d['h'] + x) % 3",
            f"x = x + {number()}",
            f"x = x + {number()} if self.on else x * 2 % 5",
        )
        anew = f"self.l = [{number()}, self.l[0]]"  # in a branch it might be one of two lists
        return rng.choice(forms if is_inner else (*forms, anew))

    for _ in range(rng.randint(2, 6)):
        if rng.random() < 0.3:
            test = rng.choice(("self.on", f"{rng.choice(_INTS)} > 2", "x.sum() > 6", "x[0] > 1"))
            lines += [f"if {test}:", f"    {simple(True)}", f"    {simple(True)}"]
        else:
            lines.append(simple())
    whole = "(self.n, self.m, self.on, dict(self.d), list(self.l), self.t)"
    return _BEGIN, "\n".join([*lines, f"return x, {rng.choice((*_INTS, whole))}"])


def define(name: str, begin: str, body: str) -> Any:
    """The class of a Layer that begins so, and does that at each call."""
    if "\n" not in body:
        body = "\n".join(body.split("; "))
    body = textwrap.dedent(body).strip()
    text = (
        "class Model(nn.Layer):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"        {begin}\n"
        "    def forward(self, x):\n"
        f"{textwrap.indent(body, '        ')}\n"
    )
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    found = dict(_SCOPE)
    exec(compile(text, file, "exec"), found)
    return found["Model"]


_SCOPE: dict[str, Any] = {
    "dy2st": dy2st,
    "nn": nn,
    "np": np,
    "random": random,
    "Counter": Counter,
    "OrderedDict": OrderedDict,
    "Pair": Pair,
    "SimpleNamespace": SimpleNamespace,
    "Slots": Slots,
    "Visits": Visits,
    "defaultdict": defaultdict,
    "deque": deque,
}
