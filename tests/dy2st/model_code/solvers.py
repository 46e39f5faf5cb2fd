"""Numerics: optimisers by hand, line searches, solvers of equations, lattices, prices of options."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import deque
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Any, NamedTuple

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

MINIMUM = [1.0, 1.0]
STARTS = ([1.5, -0.5], [0.3, 0.2], [-2.0, 1.0])
FLOWS = ([-10.0, 4.0, 5.0, 6.0], [-5.0, 1.0, 1.0], [-1.0, 0.5, 0.25, 0.5, 0.2], [1.0, 2.0, 3.0])
EACH = [[None]]
PRICES = ([1.0, 2.0, 1.5, 3.0, 2.0], [3.0, 2.0, 1.0], [1.0, 1.0, 1.0, 4.0], [2.0])
MATRICES = (
    [[4.0, 1.0], [1.0, 3.0]],
    [[2.0, 0.0], [0.0, 2.0]],
    [[1.0, 2.0], [2.0, 1.0]],
)


def bowl(x):
    return (1 - x[0]) ** 2 + 5 * (x[1] - x[0] ** 2) ** 2


def slope(x):
    inner = x[1] - x[0] ** 2
    return dy2st.stack([-2 * (1 - x[0]) - 20 * x[0] * inner, 10 * inner])


@on(*STARTS, MINIMUM)
def descent_with_backtracking(x):
    evaluations = 0
    for step in range(4):
        g = slope(x)
        if (norm := (g * g).sum()) < 1e-3:
            break
        t, here = 1.0, bowl(x)
        while bowl(x - t * g) > here - 0.25 * t * norm:
            t *= 0.5
            evaluations += 1
        x = x - t * g
    return x, step, evaluations


@on(*STARTS)
def limited_memory(x, memory=2):
    pairs = deque(maxlen=memory)
    g = slope(x)
    for _ in range(3):
        q, alphas = g, []
        for s, y, rho in reversed(pairs):
            alpha = rho * (s * q).sum()
            alphas.append(alpha)
            q = q - alpha * y
        for (s, y, rho), alpha in zip(pairs, reversed(alphas)):
            q = q + s * (alpha - rho * (y * q).sum())
        fresh = x - 0.05 * q
        change = slope(fresh) - g
        curve = ((fresh - x) * change).sum()
        if curve > 1e-6:
            pairs.append((fresh - x, change, 1 / curve))
        x, g = fresh, g + change
    return x, len(pairs)


@on(*STARTS)
def simplex_search(x):
    points = [x, x + dy2st.to_tensor([0.5, 0.0]), x + dy2st.to_tensor([0.0, 0.5])]
    log = []
    for _ in range(3):
        points.sort(key=bowl)
        best, middle, worst = points
        centre = (best + middle) / 2
        mirrored = 2 * centre - worst
        if bowl(mirrored) < bowl(best):
            wide = centre + 2 * (mirrored - centre)
            points[-1] = wide if bowl(wide) < bowl(mirrored) else mirrored
            log.append("wide")
        elif bowl(mirrored) < bowl(middle):
            points[-1] = mirrored
            log.append("mirrored")
        else:
            points[1:] = [(best + p) / 2 for p in points[1:]]
            log.append("small")
    return min(points, key=bowl), len(log)


@on(*MATRICES)
def conjugate_gradients(a):
    b = dy2st.to_tensor([1.0, 2.0])
    x = dy2st.zeros([2])
    r = p = b - a @ x
    rr = (r * r).sum()
    for k in range(2):
        ap = a @ p
        bend = (p * ap).sum()
        if bend <= 0:
            return x, "indefinite", k
        alpha = rr / bend
        x, r = x + alpha * p, r - alpha * ap
        fresh = (r * r).sum()
        if fresh.sqrt() < 0.01 and k == 0:
            return x, "done", k
        p, rr = r + fresh / rr * p, fresh
    return x, "slow", k


@on(*MATRICES)
def cholesky_or_shifted(a):
    shift, tries = 0.0, 0
    while True:
        try:
            low = [[dy2st.zeros([])] * 2 for _ in range(2)]
            for i in range(2):
                for j in range(i + 1):
                    rest = a[i, j] + (shift if i == j else 0.0)
                    rest = rest - sum(low[i][k] * low[j][k] for k in range(j))
                    if i == j:
                        if rest <= 0:
                            raise ArithmeticError("not positive")
                        low[i][i] = rest.sqrt()
                    else:
                        low[i][j] = rest / low[j][j]
        except ArithmeticError:
            shift = max(2 * shift, 1.5)
            tries += 1
        else:
            return low[1][0], low[1][1], shift


@on(*MATRICES)
def power_iteration(a):
    v = dy2st.to_tensor([1.0, 0.3])
    last = None
    for k in range(8):
        w = a @ v
        value = (v * w).sum() / (v * v).sum()
        v = w / w.abs().max()
        if last is not None and (value - last).abs() < 1e-2:
            break
        last = value
    return value, k


@on(*MATRICES)
def rotations_of_jacobi(a):
    turns = 0
    while (off := a[0, 1].abs()) > 1e-4 and turns < 3:
        theta = (a[1, 1] - a[0, 0]) / (2 * a[0, 1])
        sign = 1.0 if theta >= 0 else -1.0
        t = sign / (theta.abs() + (theta**2 + 1).sqrt())
        c = 1 / (t**2 + 1).sqrt()
        s = t * c
        turn = dy2st.stack([dy2st.stack([c, s]), dy2st.stack([-s, c])])
        a = turn.T @ a @ turn
        turns += 1
    return sorted([a[0, 0], a[1, 1]]), off, turns


@on(*FLOWS, unknown=EACH)
def rate_of_return(flows):
    if (flows >= 0).all():
        return None, 0
    rate = dy2st.full([], 0.1)
    times = dy2st.arange(len(flows), dtype="float32")
    for k in range(10):
        factors = (1 + rate) ** times
        value = (flows / factors).sum()
        bend = -(times * flows / factors).sum() / (1 + rate)
        change = value / bend
        rate = (rate - change).clip(-0.9, 1.0)
        if abs(change) < 1e-5:
            break
    return rate, k


@on(*FLOWS, unknown=EACH)
def bisected(flows):
    def value(rate):
        return sum(f / (1 + rate) ** t for t, f in enumerate(flows))

    low, high = -0.5, 1.0
    if value(low) * value(high) > 0:
        return float("nan"), (low, high)
    while high - low > 0.1:
        middle = (low + high) / 2
        low, high = (low, middle) if value(low) * value(middle) <= 0 else (middle, high)
    return (low + high) / 2, (low, high)


@on(*PRICES, unknown=EACH)
def drawdown(prices):
    peak, worst, place = prices[0], 0.0, None
    for t, p in enumerate(prices):
        peak = dy2st.maximum(peak, p)
        fall = (peak - p) / peak
        if fall > worst:
            worst, place = fall, t
    return worst, place


@on(*PRICES, [3.0, 2.0, 2.5, 4.0], unknown=EACH)
def portfolio_with_costs(prices, cost=0.01):
    cash, shares, trades = dy2st.full([], 10.0), dy2st.zeros([]), []
    average = prices[0]
    for t, p in enumerate(prices):
        average = 0.5 * average + 0.5 * p
        match (bool(p < average), bool(shares > 0)):
            case (True, False):
                shares, cash = cash * (1 - cost) / p, cash * 0
                trades.append(("buy", t))
            case (False, True):
                cash, shares = shares * p * (1 - cost), shares * 0
                trades.append(("sell", t))
    return cash + shares * prices[-1], len(trades)


@on(*(p[:3] for p in PRICES[:3]))
def option_by_a_tree(prices, steps=3):
    up = 1 + prices.std() / prices.mean() + 0.1
    chance = (1.0 - 1 / up) / (up - 1 / up)
    start, strike = prices[-1], 1.5
    values = [dy2st.clip(strike - start * up ** (2 * k - steps), min=0) for k in range(steps + 1)]
    early = 0
    for n in range(steps - 1, -1, -1):
        for k in range(n + 1):
            held = 0.99 * (chance * values[k + 1] + (1 - chance) * values[k])
            now = strike - start * up ** (2 * k - n)
            values[k] = max(held, now)
            early += int(now > held)
        values.pop()
    return values[0], early


@on(*PRICES[:3], unknown=EACH)
def order_book(prices):
    bids, asks, fills = [], [], []
    for k, p in enumerate(prices.tolist()):
        if k % 2 == 0:
            while asks and asks[0] <= p:
                fills.append(asks.pop(0))
            bids = sorted([*bids, p], reverse=True)
        else:
            if bids and bids[0] >= p:
                fills.append(bids.pop(0))
                continue
            asks = sorted([*asks, p])
    return fills, len(bids), len(asks)


@on(*PRICES, unknown=EACH)
def exact_shares(prices):
    total = Fraction(0)
    for k in range(1, len(prices) + 1):
        total += Fraction(1, k)
    return prices * float(total), total.denominator


class Body(NamedTuple):
    """A mass in motion."""

    place: Any
    speed: Any

    @property
    def energy(self):
        return 0.5 * self.speed**2 + 0.5 * self.place**2


@on(*STARTS)
def velocity_verlet(start, dt=0.1):
    body = Body(*start)
    energies = [body.energy]
    for _ in range(5):
        half = body.speed - 0.5 * dt * body.place
        place = body.place + dt * half
        body = body._replace(place=place, speed=half - 0.5 * dt * place)
        energies.append(body.energy)
        if (body.energy - energies[0]).abs() > 1e-3:
            break
    return body, len(energies), max(energies) - min(energies)


@on(*STARTS)
def adaptive_runge_kutta(start, tolerance=1e-3):
    def rhs(t, y):
        return dy2st.stack([y[1], -y[0] + 0.1 * t])

    t, h, y, log = 0.0, 0.5, start, {"accepted": 0, "rejected": 0}
    while t < 1.0 and sum(log.values()) < 12:
        h = min(h, 1.0 - t)
        k1 = rhs(t, y)
        k2 = rhs(t + h / 2, y + h / 2 * k1)
        k3 = rhs(t + h, y - h * k1 + 2 * h * k2)
        error = (h / 6 * (k1 - 2 * k2 + k3)).abs().max()
        if error <= tolerance:
            t += h
            y = y + h / 6 * (k1 + 4 * k2 + k3)
            log["accepted"] += 1
            h *= 1.5
        else:
            log["rejected"] += 1
            h *= 0.5
    return y, t, log


@on(*MATRICES)
def self_consistent_field(core, mixing=0.5):
    density = dy2st.eye(2)
    energy, history = None, []
    for cycle in range(6):
        field_ = core + 0.1 * density
        fresh = field_ / field_.abs().max()
        density = mixing * fresh + (1 - mixing) * density
        now = (density * (core + field_)).sum()
        history.append(now)
        if energy is not None and abs(now - energy) < 0.05:
            break
        energy = now
    else:
        cycle = -1
    return history[-1], cycle, len(history)


@on(ramp(9, step=0.4), ramp(9, step=-0.3), ramp(9, period=4))
def ising_sweep(noise):
    spins = dy2st.sign(noise.reshape([3, 3]) + 0.05)
    flips = 0
    for i, j in itertools.product(range(3), repeat=2):
        around = sum(
            spins[(i + di) % 3, (j + dj) % 3] for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0))
        )
        change = 2 * spins[i, j] * around
        if change <= 0 or (-change / 2).exp() > noise[3 * i + j].abs():
            spins[i, j] = -spins[i, j]
            flips += 1
    return spins, flips


@on(*PRICES[:3], unknown=EACH)
def heat_until_it_is_even(rod):
    steps = 0
    with dy2st.no_grad():
        while rod.max() - rod.min() > 0.5:
            padded = dy2st.concat([rod[:1], rod, rod[-1:]])
            rod = rod + 0.3 * (padded[2:] - 2 * rod + padded[:-2])
            steps += 1
            if steps == 3:
                break
    return rod, steps


@on(*STARTS)
def roots_of_a_quadratic(start):
    b, c = start
    disc = b * b - 4 * c
    if disc < 0:
        return ("complex", -b / 2, (-disc).sqrt() / 2)
    if disc == 0:
        return ("double", -b / 2, dy2st.zeros([]))
    q = -(b + (disc.sqrt() if b > 0 else -disc.sqrt())) / 2
    return ("real", q, c / q if q != 0 else dy2st.zeros([]))


@on(*STARTS)
def newton_with_a_fallback(start):
    def f(v):
        return v**3 - 2 * v - 5

    low, high = dy2st.full([], 1.0), dy2st.full([], 4.0)
    v, bisections = start[0], 0
    for _ in range(3):  # not until rounding alone tells low from guess
        step = f(v) / (3 * v**2 - 2)
        guess = v - step
        if not low < guess < high:
            guess = (low + high) / 2
            bisections += 1
        low, high = (low, guess) if f(guess) > 0 else (guess, high)
        v = guess
    return v, bisections


class Optimizer:
    """Moments by name, in dicts of its own, made when they are first needed."""

    def __init__(self, rate=0.1, **betas):
        self.rate = rate
        self.betas = {"m": 0.9, "v": 0.99} | betas
        self.state = {}
        self.t = 0

    def step(self, params, grads):
        self.t += 1
        for name, g in grads.items():
            own = self.state.setdefault(name, {"m": 0.0, "v": 0.0})
            own["m"] = self.betas["m"] * own["m"] + (1 - self.betas["m"]) * g
            own["v"] = self.betas["v"] * own["v"] + (1 - self.betas["v"]) * g * g
            m, v = (own[k] / (1 - self.betas[k] ** self.t) for k in ("m", "v"))
            params[name] = params[name] - self.rate * m / (v.sqrt() + 1e-8)
        return params


@on(*STARTS)
def moments_by_name(start):
    params = {"a": start, "b": start.sum()}
    optimizer = Optimizer(v=0.9)
    for k in range(3):
        grads = {"a": 2 * params["a"]}
        if params["b"] > 0:
            grads["b"] = params["b"] * 0 + 1.0
        params = optimizer.step(params, grads)
    return params, optimizer.t, k


@on(*STARTS)
def annealing(start):
    best, best_value = start, bowl(start)
    here, value, heat = best, best_value, 1.0
    accepted = 0
    while heat > 0.2:
        other = here + heat * 0.3 * dy2st.randn([2])
        new = bowl(other)
        if new < value or dy2st.rand([]) < ((value - new) / heat).exp():
            here, value = other, new
            accepted += 1
            if value < best_value:
                best, best_value = here, value
        heat *= 0.6
    return best, best_value, accepted


@on(*MATRICES)
def projected_onto_a_simplex(a):
    rows = []
    for row in a:
        ordered = row.sort(descending=True)
        total, theta = 0.0, 0.0
        for k, u in enumerate(ordered, start=1):
            total = total + u
            t = (total - 1) / k
            if u - t > 0:
                theta = t
        rows.append((row - theta).clip(min=0))
    return dy2st.stack(rows)


class Plateau(nn.Layer):
    """Lowers its rate when the loss has not improved for a while; remembers over calls."""

    def __init__(self, patience=1, factor=0.5):
        super().__init__()
        self.best = math.inf
        self.bad = 0
        self.rate = 1.0
        self.patience, self.factor = patience, factor
        self.history = []

    def forward(self, losses):
        loss = float(losses.mean())
        if loss < self.best - 1e-3:
            self.best, self.bad = loss, 0
        else:
            self.bad += 1
        if self.bad > self.patience:
            self.rate *= self.factor
            self.bad = 0
            self.history.append(self.rate)
        return losses * self.rate, self.rate


on(*(PRICES[0], PRICES[0], PRICES[0], PRICES[0]))(Plateau)


class Ema(nn.Layer):
    """An average of weights as a plain dict, which starts at the first call."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.shadow = None
        self.steps = 0

    def forward(self, x):
        weights = dict(self.net.named_parameters())
        if self.shadow is None:
            self.shadow = {name: w.detach() * 1.0 for name, w in weights.items()}
        decay = min(0.9, (1 + self.steps) / (10 + self.steps))
        for name, w in weights.items():
            self.shadow[name] = decay * self.shadow[name] + (1 - decay) * w.detach() * x.mean()
        self.steps += 1
        return x @ self.shadow["weight"] + self.shadow["bias"]


on(*STARTS, STARTS[0])(Ema)


@contextmanager
def trust(radius):
    state = {"radius": radius, "shrunk": 0}
    try:
        yield state
    except OverflowError:
        state["shrunk"] = -1
    finally:
        state["done"] = True


@on(*STARTS)
def trust_region(x):
    with trust(1.0) as region:
        for _ in range(4):
            g = slope(x)
            step = -g * dy2st.minimum(dy2st.ones([]), region["radius"] / g.norm())
            gain = bowl(x) - bowl(x + step)
            if gain > 0:
                x = x + step
                region["radius"] = region["radius"] * 1.5
            else:
                region["radius"] = region["radius"] * 0.25
                region["shrunk"] += 1
            if region["shrunk"] > 1:
                raise OverflowError("too small")
    return x, region


@on(*FLOWS, unknown=EACH)
def polynomial_by_horner(coefficients):
    value = functools.reduce(lambda a, c: a * 0.5 + c, coefficients, 0.0)
    slope_ = 0.0
    for k, c in enumerate(coefficients[:-1]):
        slope_ = slope_ * 0.5 + c * (len(coefficients) - 1 - k)
    signs = [c > 0 for c in coefficients if c != 0]
    changes = sum(map(operator.ne, signs, signs[1:]))
    return value, slope_, changes


@on(*PRICES[:3], unknown=EACH)
def spline_by_intervals(points):
    out = []
    for q in (0.25, 1.5, 1.75):
        i = min(int(q), len(points) - 2)
        share = q - i
        left = points[i - 1] if i > 0 else 2 * points[i] - points[i + 1]
        tangent = (points[i + 1] - left) / 2
        out.append(points[i] + share * tangent if tangent > 0 else points[i])
    return dy2st.stack(out)


@on(*STARTS)
def fixed_point_with_acceleration(x):
    def g(v):
        return (v + 2 / (v.abs() + 1)) / 2

    steps, v = 0, x
    while True:
        a, b = g(v), g(g(v))
        bend = b - 2 * a + v
        fresh = dy2st.where(bend.abs() > 1e-6, v - (a - v) ** 2 / bend, b)
        steps += 1
        moved = (fresh - v).abs().max()
        v = fresh
        if moved < 1e-4 or steps >= 8:
            return v, steps


@on(*PRICES, unknown=EACH)
def simpson_that_divides(points):
    evaluated = []

    def f(t):
        evaluated.append(t)
        return (points * t).cos().sum()

    def area(low, high, depth):
        middle = (low + high) / 2
        whole = (high - low) / 6 * (f(low) + 4 * f(middle) + f(high))
        if depth == 0:
            return whole
        with suppress(ZeroDivisionError):
            halves = area(low, middle, depth - 1) + area(middle, high, depth - 1)
            whole = halves + (halves - whole) / (15 * (depth - 1))
        return whole

    return area(0.0, 1.0, 2), len(evaluated)
