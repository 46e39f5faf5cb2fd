"""Particles and reactions: forces, cells of neighbours, steps that adapt, spins, diffusion."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter, defaultdict, namedtuple

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
ROWS = [[None, None]]

PLACES = (
    [[0.0, 0.0], [1.1, 0.0], [0.0, 1.2]],
    [[0.5, 0.5]],
    [[0.0, 0.0], [2.0, 2.0], [2.1, 3.0], [0.9, 0.4], [3.0, 0.1]],
    [[0.0, 1.0], [1.0, 0.0]],
)


VALUES = ([0.3, 1.0, 2.0, 0.5], [1.0], [0.1, 0.2], [4.0, 0.0, 1.5, 2.5, 3.0])


def lj_pair(r2):
    inv = 1.0 / r2
    s6 = inv**3
    return 4 * (s6 * s6 - s6), 24 * (2 * s6 * s6 - s6) * inv


@on(*PLACES, unknown=ROWS)
def forces_of_lennard_and_jones(pos, cutoff=2.5):
    n = pos.shape[0]
    force = dy2st.zeros_like(pos)
    energy = 0.0
    pairs = 0
    for i in range(n):
        for j in range(i + 1, n):
            d = pos[i] - pos[j]
            r2 = (d * d).sum()
            if r2 > cutoff**2:
                continue
            e, f = lj_pair(r2)
            energy = energy + e
            force[i] += f * d
            force[j] -= f * d
            pairs += 1
    return energy, force, pairs


@on(*PLACES, unknown=ROWS)
def neighbours_by_cells(pos, size=1.0):
    cells = defaultdict(list)
    for i, p in enumerate(pos):
        key = (int(p[0] // size), int(p[1] // size))
        cells[key].append(i)
    pairs = set()
    for (cx, cy), members in cells.items():
        for dx, dy in itertools.product((-1, 0, 1), repeat=2):
            for j in cells.get((cx + dx, cy + dy), ()):
                for i in members:
                    if i < j:
                        pairs.add((i, j))
    return sorted(pairs), len(cells)


def rk4(f, y, t, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, y + h * k1 / 2)
    k3 = f(t + h / 2, y + h * k2 / 2)
    k4 = f(t + h, y + h * k3)
    return y + h * (k1 + 2 * k2 + 2 * k3 + k4) / 6


@on(*VALUES, unknown=EACH)
def steps_that_adapt(y0, tol=0.01, end=1.0):
    def f(t, y):
        return -2.0 * y + t

    t, h = 0.0, 0.25
    y = y0
    accepted = rejected = 0
    while t < end:
        h = min(h, end - t)
        full = rk4(f, y, t, h)
        half = rk4(f, rk4(f, y, t, h / 2), t + h / 2, h / 2)
        err = (full - half).abs().max()
        if err < tol * 0.001:
            t += h
            y = half
            accepted += 1
            h *= 1.5
        else:
            h *= 0.5
            rejected += 1
        if accepted + rejected > 6:
            break
    return y, accepted, rejected


Reaction = namedtuple("Reaction", "rate inputs outputs")


REACTIONS = [
    Reaction(0.5, ("A",), ("B",)),
    Reaction(0.2, ("A", "B"), ("C",)),
    Reaction(0.1, ("C",), ("A", "A")),
]


@on([1.0, 0.0, 0.5], [0.0, 0.0, 0.0], [2.0, 3.0, 1.0], unknown=EACH)
def reactions_by_mass_action(y, dt=0.1, steps=4):
    conc = dict(zip("ABC", y))
    for _ in range(steps):
        change = Counter()
        change = {s: 0.0 for s in conc}
        for r in REACTIONS:
            speed = functools.reduce(operator.mul, (conc[s] for s in r.inputs), r.rate)
            for s in r.inputs:
                change[s] -= speed
            for s in r.outputs:
                change[s] += speed
        conc = {s: dy2st.clip(c + dt * change[s], min=0.0) for s, c in conc.items()}
    return conc, sum(conc.values())


SPINS = (
    np.array([[1, -1, 1], [1, 1, -1], [-1, -1, 1]]),
    np.array([[1]]),
    np.array([[1, 1], [1, 1]]),
)


@on(*SPINS, unknown=ROWS)
def sweep_over_spins(spins, beta=0.5, cut=0.3):
    n, m = spins.shape
    s = spins.clone()
    flips = 0
    for i in range(n):
        for j in range(m):
            near = s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % m] + s[i, j - 1]
            de = 2 * s[i, j] * near
            if de <= 0 or math.exp(-beta * float(de)) > cut:
                s[i, j] = -s[i, j]
                flips += 1
    energy = -(s * (dy2st.roll(s, 1, 0) + dy2st.roll(s, 1, 1))).sum()
    return s, flips, int(energy)


@on(*VALUES, unknown=EACH)
def diffusion_by_thomas(u, d=0.3):
    """Thomas algorithm"""
    n = len(u)
    a = [-d] * n
    b = [1 + 2 * d] * n
    c = [-d] * n
    cp = [0.0] * n
    dp = [0.0] * n
    cp[0] = c[0] / b[0]
    dp[0] = u[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / m
        dp[i] = (u[i] - a[i] * dp[i - 1]) / m
    x = [0.0] * n
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return dy2st.stack(x)


@on([0.2, 0.8, 0.4, 0.6, 0.9], [0.5], [0.01, 0.01], unknown=EACH)
def samples_by_metropolis(draws):
    x = dy2st.zeros([])
    samples = []
    accepted = 0

    def energy(v):
        return (v * v - 1) ** 2

    e = energy(x)
    for i, u in enumerate(draws):
        proposal = x + (u - 0.5) * (1 + i % 2)
        ep = energy(proposal)
        if ep < e or u < dy2st.exp(e - ep):
            x, e = proposal, ep
            accepted += 1
        samples.append(x)
    return samples, accepted / len(draws)


@on(*PLACES, unknown=ROWS)
def pull_of_quadrants(pos, theta=0.5):
    center = pos.mean(axis=0)
    quads = [[] for _ in range(4)]
    for i, p in enumerate(pos):
        q = (1 if p[0] >= center[0] else 0) + (2 if p[1] >= center[1] else 0)
        quads[q].append(i)
    acc = []
    for i, p in enumerate(pos):
        total = dy2st.zeros([2])
        for members in quads:
            others = [j for j in members if j != i]
            if not others:
                continue
            com = sum(pos[j] for j in others) / len(others)
            d = com - p
            total = total + len(others) * d / ((d * d).sum() + 0.1)
        acc.append(total)
    return dy2st.stack(acc), [len(q) for q in quads]
