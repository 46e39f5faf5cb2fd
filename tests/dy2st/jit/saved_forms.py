"""Layers that do something at random with lists, dicts, objects and others that they keep.

What these hold has another form from call to call: None or a tensor, more items or fewer, one of
several types. A file keeps that, or refuses to.
"""

from __future__ import annotations

import random

BEGIN = (
    "self.l, self.m, self.d, self.q, self.h, self.g, self.o, self.t, self.n, self.f, self.s, "
    "self.mode, self.b, self.p, self.r = [], [1], {}, deque(maxlen=3), None, dy2st.zeros([0]), "
    "SimpleNamespace(v=0, l=[]), (), 0, 0.0, set(), 'a', None, [], [0]"
)

NUMBERS = (
    "self.n",
    "len(self.l)",
    "len(self.m)",
    "len(self.d)",
    "len(self.q)",
    "self.o.v",
    "len(self.t)",
    "len(self.s)",
    "int(x[0])",
    "2",
    "len(self.o.l)",
    "sum(self.m)",
    "(0 if self.b is None else self.b.v)",
)
TENSORS = (
    "x",
    "x.sum()",
    "(x * 1 if self.h is None else self.h)",
    "self.g.sum()",
    "(self.l[-1] if self.l else x.sum())",
    "sum(self.q, x.sum() * 0)",
    "(x.max() + {number})",
)
CONDITIONS = (
    "x.sum() > 6",
    "x[0] > 2",
    "self.n > 2",
    "self.l",
    "len(self.m) > 2",
    "self.h is None",
    "self.mode == 'a'",
    "x.max() > 3",
    "self.b",
    "1 in self.d",
    "2 in self.s",
)
STATEMENTS = (
    "self.l.append({tensor}.sum())",
    "self.l = [*self.l, x.max()][-3:]",
    "self.l.clear()",
    "self.l = []",
    "if self.l: self.l.pop()",
    "if self.l: self.l.pop(0)",
    "self.l.insert(0, x.min())",
    "self.l.reverse()",
    "self.l += [x.mean()]",
    "self.l = self.l[1:]",
    "self.l = self.o.l",
    "self.m.append({number} % 5)",
    "self.m = sorted(self.m)",
    "self.m[0] = {number} % 7",
    "self.m[-1] += 1",
    "self.m = self.m[1:] + [1]",
    "del self.m[:-2]",
    "self.m = [a + 1 for a in self.m if a < 9] + [{number} % 3]",
    "self.m, self.o.l = self.o.l + [1], self.m",
    "self.d[{number} % 3] = {tensor}.sum()",
    "self.d['n'] = self.d.get('n', x[0]) + 1",
    "self.d.setdefault({number} % 4, x.min())",
    "self.d.pop({number} % 3, None)",
    "self.d = {{k: v + 1 for k, v in self.d.items()}}",
    "self.d.clear()",
    "self.d.update({{1: x.sum()}})",
    "self.q.append({tensor}.sum())",
    "self.q.appendleft(x.sum())",
    "if self.q: self.q.popleft()",
    "self.q.rotate(1)",
    "self.h = {tensor}",
    "self.h = None",
    "self.h = x * 2 if self.h is None else self.h + x.sum()",
    "self.h = dy2st.concat([x, x]) if self.h is None else x.sum()",
    "self.g = dy2st.concat([self.g, x])",
    "self.g = self.g[-4:]",
    "self.g = x + 1",
    "self.o.v = {number} % 11",
    "self.o = SimpleNamespace(v=self.o.v + 1, l=self.o.l)",
    "self.o = SimpleNamespace(v=1, l=[])",
    "self.o.l.append(self.o.v)",
    "self.o.l = [self.n]",
    "self.t = (*self.t, {number})[-3:]",
    "self.t = ({number}, 1)",
    "self.n += 1",
    "self.n = {number} % 13",
    "self.n = self.n + 0.5 if self.n < 9 else 0",
    "self.f = self.f * 0.5 + float(x.sum())",
    "self.f = float(x.max())",
    "self.f = 0.0",
    "self.s.add({number} % 6)",
    "self.s.discard({number} % 6)",
    "self.s = self.s | {{1, 2}}",
    "self.mode = 'a' if self.mode == 'b' else 'b'",
    "self.mode = 'c' if x.sum() > 7 else self.mode",
    "self.b = SimpleNamespace(v={number} % 5)",
    "self.b = None",
    "self.b = self.b or SimpleNamespace(v=3)",
    "if self.b is not None: self.b.v += 2",
    "self.b = self.o",
    "self.p.append([{number}])",
    "self.p = [*self.p, [1]][-3:]",
    "self.p.append(self.r)",
    "self.r = self.p[-1] if self.p else [2]",
    "self.r = [{number}]",
    "self.r.append(1)",
    "for a in self.p: a.append(1)",
    "if self.p: self.p[0].append({number})",
    "self.r = self.o.l",
    "self.o.l = self.r",
    "for v in self.l: x = x + v",
    "for k in list(self.d): self.d[k] = self.d[k] + 1",
    "for i, v in enumerate(self.m): self.m[i] = v + i",
    "x = x + {number}",
    "x = x if self.mode == 'a' else x + 1",
    "self.boxes = [*getattr(self, 'boxes', []), SimpleNamespace(v=self.n)]",
    "for b in getattr(self, 'boxes', []): b.v += 1",
    "self.boxes = [b for b in getattr(self, 'boxes', []) if b.v < 3]",
    "self.z = (self.z[0] + 1, x) if hasattr(self, 'z') else (0, x)",
    "x = x + (self.z[1].sum() if hasattr(self, 'z') else 0)",
)
RESULTS = (
    "len(self.l)",
    "list(self.m)",
    "len(self.d)",
    "len(self.q)",
    "[len(a) for a in self.p]",
    "sum(self.r)",
    "self.h is None",
    "self.g.sum()",
    "self.o.v",
    "list(self.o.l)",
    "self.t",
    "self.n",
    "self.f",
    "len(self.s)",
    "self.mode",
    "None if self.b is None else self.b.v",
    "sum(self.l, x.sum() * 0)",
    "self.d.get(1)",
    "sum(self.q, x.sum() * 0)",
    "[v for v in self.d.values()]",
    "list(self.l)",
    "sorted(self.s)",
)


def drawn_forms(seed: int) -> tuple[str, str]:
    """How a Layer begins, and what a call of it does."""
    rng = random.Random(seed)

    def statement() -> str:
        tensor = rng.choice(TENSORS).format(number=rng.choice(NUMBERS))
        return rng.choice(STATEMENTS).format(number=rng.choice(NUMBERS), tensor=tensor)

    lines: list[str] = []
    for _ in range(rng.randint(2, 5)):
        if rng.random() < 0.35:
            lines += [f"if {rng.choice(CONDITIONS)}:", f"    {statement()}", f"    {statement()}"]
            lines += ["else:", f"    {statement()}"] if rng.random() < 0.5 else []
        else:
            lines.append(statement())
    found = ", ".join(rng.sample(RESULTS, rng.randint(1, 3)))
    return BEGIN, "\n".join([*lines, f"return x, {found}"])
