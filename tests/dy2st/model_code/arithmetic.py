"""Arithmetic of the user's own: duals, intervals, quaternions, factors of matrices, codes, iterators."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
SQUARE = [[None, None]]
TWO = [[None, 2]]
VALUES = ([0.3, 1.0, 2.0, 0.5], [1.0], [0.1, -0.2, 0.7])
TOKENS = ([0, 1, 2, 1, 0, 1], [3], [2, 2, 1])
MATRICES = (
    [[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]],
    [[2.0]],
    [[3.0, 1.0], [1.0, 2.0]],
)
PAIRS = (
    [[0.5, -1.0], [0.1, 0.3], [0.9, -0.2]],
    [[1.0, 2.0]],
    [[0.2, 0.4], [-0.6, 0.1]],
)


class Dual:
    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    def __add__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = o if isinstance(o, Dual) else Dual(o)
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v)

    __rmul__ = __mul__

    def __gt__(self, o):
        return self.v > (o.v if isinstance(o, Dual) else o)

    def __neg__(self):
        return Dual(-self.v, -self.d)


@on(*VALUES, unknown=EACH)
def forward_mode_with_branches(xs):
    def f(x):
        y = x * x + 3.0 * x
        if y > 1.0:
            y = y * x
        return -y if x > 0.2 else y

    out = [f(Dual(x, 1.0)) for x in xs]
    return [o.v for o in out], [o.d for o in out]


@dataclass(frozen=True)
class Interval:
    lo: Any
    hi: Any

    def __add__(self, o):
        return Interval(self.lo + o.lo, self.hi + o.hi)

    def __mul__(self, o):
        p = (self.lo * o.lo, self.lo * o.hi, self.hi * o.lo, self.hi * o.hi)
        return Interval(min(p), max(p))

    def __contains__(self, v):
        return self.lo <= v <= self.hi

    @property
    def width(self):
        return self.hi - self.lo


@on(*VALUES, unknown=EACH)
def interval_arithmetic(xs):
    acc = Interval(0.0, 0.0)
    hits = 0
    for x in xs:
        box = Interval(x - 0.1, x + 0.1)
        acc = acc + box * box
        if 0.0 in box:
            hits += 1
        if acc.width > 1:
            break
    return acc.lo, acc.hi, hits


class Quaternion(NamedTuple):
    w: Any
    x: Any
    y: Any
    z: Any

    def mul(self, o):
        return Quaternion(
            self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
            self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
            self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
            self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
        )

    def norm(self):
        return sum(c * c for c in self) ** 0.5


@on(*VALUES, unknown=EACH)
def gyro_integration(rates, dt=0.1):
    q = Quaternion(1.0, 0.0, 0.0, 0.0)
    renorm = 0
    for r in rates:
        half = 0.5 * dt * r
        q = q.mul(Quaternion(1.0, half, half * 0.5, 0.0))
        n = q.norm()
        if abs(n - 1) > 1e-3:
            q = Quaternion(*[c / n for c in q])
            renorm += 1
    return list(q), renorm


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


@on(*TOKENS, unknown=EACH)
def user_iterators(xs):
    out = []
    for x in xs.tolist():
        total = 0
        for k in Countdown(x):
            total += k * k
            if total > 4:
                break
        else:
            total = -total
        out.append(total)
    return out


@on(*MATRICES, [[0.0, 1.0], [0.0, 2.0]], unknown=SQUARE)
def householder_qr(a):
    m, n = a.shape
    q, r = dy2st.eye(m), a
    for j in range(min(m - 1, n)):
        x = r[j:, j]
        alpha = -(x * x).sum().sqrt() if x[0] >= 0 else (x * x).sum().sqrt()
        u = x.clone()
        u[0] = u[0] - alpha
        nu = (u * u).sum()
        if nu < 1e-12:
            continue
        H = dy2st.eye(m)
        H[j:, j:] = H[j:, j:] - 2 * dy2st.outer(u, u) / nu
        r = H @ r
        q = q @ H.T
    return q, r


@on(*MATRICES, [[1.0, 2.0], [2.0, 1.0]], unknown=SQUARE)
def cholesky_or_error(a):
    n = a.shape[0]
    L = dy2st.zeros([n, n])
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - (L[i, :j] * L[j, :j]).sum()
            if i == j:
                if s <= 0:
                    raise ValueError(f"not positive definite at {i}")
                L[i, i] = s.sqrt()
            else:
                L[i, j] = s / L[j, j]
    return L, L.diagonal().log().sum()


@on(*PAIRS, unknown=TWO)
def gptq_columns(w, bits=3, damp=0.1):
    n = w.shape[1]
    h = w.T @ w
    h = h + damp * h.diagonal().mean() * dy2st.eye(n)
    hinv = dy2st.linalg.inv(h)
    w = w.clone()
    scale = w.abs().max() / (2 ** (bits - 1) - 1)
    q = dy2st.zeros_like(w)
    loss = 0.0
    for i in range(n):
        col = w[:, i]
        d = hinv[i, i]
        q[:, i] = (col / scale).round().clip(-4, 3) * scale
        err = (col - q[:, i]) / d
        loss = loss + (err**2).sum()
        for j in range(i + 1, n):
            w[:, j] = w[:, j] - err * hinv[i, j]
    return q, loss


@on(*MATRICES, unknown=SQUARE)
def csr_product(dense):
    data, indices, indptr = [], [], [0]
    for row in dense:
        for j, v in enumerate(row):
            if v != 0:
                data.append(v)
                indices.append(j)
        indptr.append(len(data))
    x = dy2st.arange(dense.shape[1], dtype="float32") + 1
    y = []
    for i in range(len(indptr) - 1):
        acc = 0.0
        for k in range(indptr[i], indptr[i + 1]):
            acc = acc + data[k] * x[indices[k]]
        y.append(acc)
    return y, indptr, len(data)


@on(*PAIRS, unknown=TWO)
def point_in_polygon_crossings(pts):
    poly = [(0.5, -0.5), (2.5, 0.5), (1.5, 2.5), (-0.5, 1.5)]
    inside = []
    for px, py in pts:
        c = False
        j = len(poly) - 1
        for i in range(len(poly)):
            xi, yi = poly[i]
            xj, yj = poly[j]
            if (yi > py) != (yj > py) and px < (xj - xi) * (py - yi) / (yj - yi) + xi:
                c = not c
            j = i
        inside.append(c)
    return inside, sum(inside)


@on(*PAIRS, unknown=TWO)
def icp_one_dimension(p, iters=4):
    target = dy2st.to_tensor([[0.0, 0.0], [1.0, 0.5], [0.5, -0.5]])
    shift = dy2st.zeros([2])
    prev = None
    for it in range(iters):
        moved = p + shift
        d = ((moved[:, None] - target[None]) ** 2).sum(-1)
        nearest = d.argmin(1)
        err = d.min(1).mean()
        if prev is not None and (prev - err).abs() < 1e-6:
            break
        prev = err
        shift = shift + (target[nearest] - moved).mean(0)
    return shift, it, nearest


class State(Enum):
    IDLE = 0
    RUN = 1
    ERROR = 2


@on(*VALUES, [0.5, -0.8, 1.5], unknown=EACH)
def state_machine_with_hooks(signal):
    state, log = State.IDLE, []
    hooks = {State.RUN: lambda: log.append("start"), State.ERROR: lambda: log.append("fail")}
    energy = 0.0
    for v in signal:
        prev = state
        if state is State.IDLE and v > 0:
            state = State.RUN
        elif state is State.RUN:
            energy = energy + v
            if v < -0.5:
                state = State.ERROR
        elif state is State.ERROR and v > 1:
            state = State.IDLE
        if state is not prev and state in hooks:
            hooks[state]()
    return state.name, log, energy
