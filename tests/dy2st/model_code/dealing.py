"""Dealing and turns: bricks, parity of risks, lotteries, queues, polygons, ratings."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import astuple, dataclass, replace

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
SQUARE = [[None, None]]
PAIRS = [[None, 2]]
PRICES = ([100.0, 102.0, 99.0, 105.0, 101.0], [50.0], [10.0, 9.0, 8.0])
COVARIANCES = (
    [[0.04, 0.01], [0.01, 0.09]],
    [[0.02]],
    [[0.1, 0.0, 0.02], [0.0, 0.2, 0.01], [0.02, 0.01, 0.05]],
)
POINTS = (
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, 1.0]],
    [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
    [[3.0, 1.0], [0.0, 0.0], [4.0, 4.0], [1.0, 5.0]],
)
TICKETS = ([5, 2, 8, 1, 9, 3], [4], [7, 7, 2])
BURSTS = ([0.5, 2.0, 0.8, 1.0], [0.4], [0.7, 0.7, 0.2])


@on(*BURSTS, unknown=EACH)
def glicko_updates(results):
    @dataclass
    class Player:
        r: float = 1500.0
        rd: float = 200.0

    players = {"a": Player(), "b": Player(1600.0, 100.0)}
    q = math.log(10) / 400
    for s in results:
        a, b = players["a"], players["b"]
        g = 1 / math.sqrt(1 + 3 * q * q * b.rd**2 / math.pi**2)
        e = 1 / (1 + 10 ** (-g * (a.r - b.r) / 400))
        d2 = 1 / (q * q * g * g * e * (1 - e))
        won = 1.0 if s > 0.2 else 0.0 if s < -0.2 else 0.5
        players["a"] = replace(
            a,
            r=a.r + q / (1 / a.rd**2 + 1 / d2) * g * (won - e),
            rd=max(30.0, math.sqrt(1 / (1 / a.rd**2 + 1 / d2))),
        )
    return astuple(players["a"])


@on(*PRICES, unknown=EACH)
def renko_bricks(prices, size=2.0):
    bricks, base = [], prices[0]
    for p in prices[1:]:
        while p - base >= size:
            base = base + size
            bricks.append(1)
        while base - p >= size:
            base = base - size
            bricks.append(-1)
    return bricks, base


@on(*PRICES, unknown=EACH)
def american_put_crr(spots, strike=100.0, r=0.03, sigma=0.2, years=1.0, n=4):
    dt = years / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    out = []
    for s0 in spots:
        values = [dy2st.clip(strike - s0 * u ** (2 * j - n), min=0.0) for j in range(n + 1)]
        for step in range(n - 1, -1, -1):
            for j in range(step + 1):
                hold = math.exp(-r * dt) * (p * values[j + 1] + (1 - p) * values[j])
                ex = strike - s0 * u ** (2 * j - step)
                values[j] = ex if ex > hold else hold
        out.append(values[0])
    return dy2st.stack(out)


@on(*PRICES, unknown=EACH)
def twap_slices_with_carry(volumes, total=10):
    done, plan = 0, []
    n = len(volumes)
    for i, v in enumerate(volumes):
        want = (total - done) // (n - i)
        cap = int(v) // 30
        q = min(want, cap)
        plan.append(q)
        done += q
    return plan, total - done


@on(*PRICES, [200.0] * 6 + [1.0] * 4, [0.0, 9.0], unknown=EACH)
def gillespie_next_reaction(rates):
    a, b, t = 10, 0, 0.0
    seed = 3
    trace = []
    for k in rates:
        k = float(k) / 100
        props = [k * a, 0.1 * b]
        tot = sum(props)
        if tot == 0:
            break
        seed = (seed * 16807) % 2147483647
        u1 = seed / 2147483647
        seed = (seed * 16807) % 2147483647
        u2 = seed / 2147483647
        t += -math.log(u1) / tot
        if u2 * tot < props[0]:
            a, b = a - 1, b + 1
        else:
            a, b = a + 1, b - 1
        trace.append((a, b))
    return trace, t


@on(*COVARIANCES, unknown=SQUARE)
def risk_parity(cov, iters=6):
    n = cov.shape[0]
    w = dy2st.ones([n]) / n
    for _ in range(iters):
        risk = dy2st.sqrt(w @ cov @ w)
        contrib = w * (cov @ w) / risk
        target = risk / n
        if (contrib - target).abs().max() < 1e-3:
            break
        w = w * dy2st.sqrt(target / contrib)
        w = w / w.sum()
    return w, contrib


@on(*COVARIANCES, unknown=SQUARE)
def hierarchical_risk_parity(cov):
    n = cov.shape[0]
    order = sorted(range(n), key=lambda i: float(cov[i, i]))
    w = [1.0] * n
    clusters = [order]
    while clusters:
        clusters = [
            c[a:b]
            for c in clusters
            for a, b in ((0, len(c) // 2), (len(c) // 2, len(c)))
            if len(c) > 1
        ]
        for i in range(0, len(clusters), 2):
            left, right = clusters[i], clusters[i + 1]
            vl = sum(cov[k, k] for k in left) / len(left)
            vr = sum(cov[k, k] for k in right) / len(right)
            alpha = 1 - vl / (vl + vr)
            for k in left:
                w[k] = w[k] * alpha
            for k in right:
                w[k] = w[k] * (1 - alpha)
    return w


@on(*POINTS, unknown=PAIRS)
def ray_casting_winding(poly, q=(1.0, 0.5)):
    inside = False
    wind = 0
    n = len(poly)
    j = n - 1
    for i in range(n):
        xi, yi = poly[i]
        xj, yj = poly[j]
        if (yi > q[1]) != (yj > q[1]) and q[0] < (xj - xi) * (q[1] - yi) / (yj - yi) + xi:
            inside = not inside
            wind += 1 if yi > yj else -1
        j = i
    return inside, wind


@on(*POINTS, unknown=PAIRS)
def clipped_by_sutherland_and_hodgman(poly, xmax=1.5):
    def clip(pts, inside, cut):
        out = []
        for i in range(len(pts)):
            a, b = pts[i - 1], pts[i]
            if inside(b):
                if not inside(a):
                    out.append(cut(a, b))
                out.append(b)
            elif inside(a):
                out.append(cut(a, b))
        return out

    pts = [(p[0], p[1]) for p in poly]

    def cut_x(a, b):
        t = (xmax - a[0]) / (b[0] - a[0])
        return (xmax + 0 * a[0], a[1] + t * (b[1] - a[1]))

    pts = clip(pts, lambda p: p[0] <= xmax, cut_x)
    area = 0.0
    for i in range(len(pts)):
        area += pts[i - 1][0] * pts[i][1] - pts[i][0] * pts[i - 1][1]
    return len(pts), abs(area) / 2


@on(*TICKETS, unknown=EACH)
def lottery_scheduler(tickets, rounds=5):
    counts = [0] * len(tickets)
    total = int(tickets.sum())
    state = 7
    for _ in range(rounds):
        state = (state * 1103515245 + 12345) % 2147483648
        draw = state % total
        acc = 0
        for i, t in enumerate(tickets):
            acc += t
            if draw < acc:
                counts[i] += 1
                break
    return counts


def parse_cron(field, lo, hi):
    out = set()
    for part in field.split(","):
        step = 1
        if "/" in part:
            part, s = part.split("/")
            step = int(s)
        if part == "*":
            a, b = lo, hi
        elif "-" in part:
            a, b = map(int, part.split("-"))
        else:
            a = b = int(part)
        out.update(range(a, b + 1, step))
    return out


@on(*TICKETS, unknown=EACH)
def cron_next_minutes(minutes):
    allowed = parse_cron("*/15,5-7,42", 0, 59)
    res = []
    for m in minutes:
        n = int(m) + 1
        while n % 60 not in allowed:
            n += 1
        res.append(n)
    return res


@on(*BURSTS, unknown=EACH)
def multilevel_feedback_queue(bursts):
    queues = [deque(), deque(), deque()]
    quanta = [0.5, 1.0, 10.0]
    for i, b in enumerate(bursts):
        queues[0].append((i, float(b)))
    clock, finished = 0.0, {}
    while any(queues):
        level = next(k for k, q in enumerate(queues) if q)
        i, left = queues[level].popleft()
        run = min(left, quanta[level])
        clock += run
        if left - run > 1e-9:
            queues[min(level + 1, 2)].append((i, left - run))
        else:
            finished[i] = clock
    return finished, clock


@on(*TICKETS, unknown=EACH)
def palindrome_partition(s):
    n = len(s)
    pal = [[False] * n for _ in range(n)]
    cuts = [0] * n
    for j in range(n):
        best = j
        for i in range(j + 1):
            if s[i] == s[j] and (j - i < 2 or pal[i + 1][j - 1]):
                pal[i][j] = True
                best = 0 if i == 0 else min(best, cuts[i - 1] + 1)
        cuts[j] = best
    return cuts[-1], sum(map(sum, pal))
