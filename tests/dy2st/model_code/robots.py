"""Robots and epidemics: controllers, arms, grids of rays, filters, contacts."""

from __future__ import annotations

import enum
import itertools
from dataclasses import dataclass

import numpy as np

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
ROWS = [[None, None]]

VALUES = ([0.3, 1.0, 2.0, 0.5], [1.0], [0.1, -0.2], [4.0, 0.0, 1.5, 2.5, 3.0])


PLACES = (
    [[1.0, 0.5], [1.5, 0.2], [0.3, 1.2]],
    [[0.5, 0.5]],
    [[5.0, 5.0], [0.0, 0.0]],
    [[-1.0, 1.0], [0.2, -0.4]],
)


@dataclass
class PID:
    kp: float
    ki: float = 0.0
    kd: float = 0.0
    limit: float = 2.0
    integral: float = 0.0
    last: object = None

    def update(self, error, dt=0.1):
        self.integral += error * dt
        rate = 0.0 if self.last is None else (error - self.last) / dt
        self.last = error
        out = self.kp * error + self.ki * self.integral + self.kd * rate
        if abs(out) > self.limit:
            self.integral -= error * dt
            out = self.limit if out > 0 else -self.limit
        return out


@on(*VALUES, unknown=EACH)
def controller_with_a_limit(targets):
    pid = PID(2.0, 0.5, kd=0.01)
    x = 0.0
    errors = []
    for goal in targets:
        for _ in range(2):
            u = pid.update(goal - x)
            x = x + 0.1 * u
        errors.append(goal - x)
    return errors, pid.integral, x


@on(*PLACES, unknown=ROWS)
def angles_of_two_links(targets, l1=1.0, l2=1.0):
    angles = []
    unreachable = 0
    for x, y in targets:
        r2 = x * x + y * y
        c = (r2 - l1**2 - l2**2) / (2 * l1 * l2)
        if c > 1 or c < -1:
            unreachable += 1
            angles.append(None)
            continue
        s = dy2st.sqrt(1 - c * c)
        q2 = dy2st.atan2(s, c)
        q1 = dy2st.atan2(y, x) - dy2st.atan2(l2 * s, l1 + l2 * c)
        angles.append((q1, q2))
    return [a for a in angles if a is not None], unreachable


def bresenham(x0, y0, x1, y1):
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx = 1 if x0 < x1 else -1
    sy = 1 if y0 < y1 else -1
    err = dx + dy
    while True:
        yield (x0, y0)
        if x0 == x1 and y0 == y1:
            return
        e2 = 2 * err
        if e2 >= dy:
            err += dy
            x0 += sx
        if e2 <= dx:
            err += dx
            y0 += sy


@on(
    np.array([[3, 1], [2, 3]]), np.array([[0, 0]]), np.array([[1, 3], [3, 3], [0, 2]]), unknown=ROWS
)
def occupancy_by_rays(hits):
    log = dy2st.zeros([4, 4])
    for hx, hy in hits:
        cells = list(bresenham(0, 0, int(hx), int(hy)))
        for x, y in cells[:-1]:
            log[x, y] -= 0.4
        x, y = cells[-1]
        log[x, y] += 0.9
    return log.clip(-2, 2), (log > 0).sum()


@on(*VALUES, unknown=EACH)
def ranges_to_the_walls(angles, step=0.25):
    walls = dy2st.to_tensor([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1]])
    ranges = []
    for a in angles:
        dx, dy = dy2st.cos(a), dy2st.sin(a)
        x = y = 0.5
        dist = 0.0
        while dist < 6:
            i, j = int(x), int(y)
            if x < 0 or y < 0 or i >= 4 or j >= 4 or walls[i, j] == 1:
                break
            x = x + dx * step
            y = y + dy * step
            dist += step
        ranges.append(dist)
    return ranges, min(ranges)


@on(*VALUES, unknown=EACH)
def particles_drawn_again(z):
    parts = dy2st.linspace(0.0, 4.0, 5)
    est = []
    for obs in z:
        w = dy2st.exp(-((parts - obs) ** 2))
        w = w / w.sum()
        neff = 1 / (w * w).sum()
        est.append((parts * w).sum())
        if neff < 3:
            cdf = w.cumsum(0)
            picks = []
            j = 0
            for i in range(5):
                u = (i + 0.5) / 5
                while j < 4 and cdf[j] < u:
                    j += 1
                picks.append(j)
            parts = parts[dy2st.to_tensor(picks)]
        parts = parts + 0.1
    return est, parts


class Mode(enum.Enum):
    IDLE = 0
    SEEK = 1
    GRASP = 2


@on(*VALUES, [2.0, 0.5, 2.0], unknown=EACH)
def states_of_a_gripper(distance):
    mode = Mode.IDLE
    history = []
    held = 0
    for d in distance:
        if mode is Mode.IDLE and d < 3:
            mode = Mode.SEEK
        elif mode is Mode.SEEK:
            if d < 0.6:
                mode = Mode.GRASP
                held += 1
            elif d >= 3:
                mode = Mode.IDLE
        elif mode is Mode.GRASP and d > 1:
            mode = Mode.IDLE
        history.append(mode.name)
    return history, mode.value, held


@on(
    np.array([[0, 1], [1, 2], [2, 3]]),
    np.array([[0, 0]]),
    np.array([[0, 3], [3, 1], [2, 1], [1, 4]]),
    unknown=ROWS,
)
def contacts_in_order(pairs):
    infected = {0}
    when = {0: 0}
    for t, (a, b) in enumerate(pairs, 1):
        a, b = int(a), int(b)
        if a in infected and b not in infected:
            infected.add(b)
            when[b] = t
        elif b in infected and a not in infected:
            infected.add(a)
            when[a] = t
    return len(infected), sorted(when.items())


@on(*VALUES, unknown=EACH)
def epidemic_with_a_lockdown(x, threshold=0.5):
    state = dict(S=10.0, E=1.0, I=0.0, R=0.0)
    lockdown = False
    switches = []
    for day, contact in enumerate(x):
        rate = contact * (0.3 if lockdown else 1.0)
        new = rate * state["S"] * state["I"] / 11
        state["S"] -= new
        state["E"] += new - 0.5 * state["E"]
        state["I"] += 0.5 * state["E"] - 0.2 * state["I"]
        state["R"] += 0.2 * state["I"]
        if (state["I"] > threshold) != lockdown:
            lockdown = not lockdown
            switches.append(day)
    return state, switches


class LimitViolation(Exception):
    def __init__(self, joint, value):
        super().__init__(f"joint {joint} at {value:.2f}")
        self.joint = joint


@on([0.3, -0.5, 1.2], [1.5], [0.0, 2.5, -2.5, 5.0], unknown=EACH)
def plan_within_the_limits_of_joints(angles, lowest=-2.0, highest=2.0):
    def check(joint, value):
        if not lowest <= value <= highest:
            raise LimitViolation(joint, value.item())
        return value

    plan, faults = [], []
    for joint, angle in enumerate(angles):
        for step in (2.0, 1.0, 0.5):
            try:
                plan.append(check(joint, angle * step))
                break
            except LimitViolation as violation:
                faults.append((violation.joint, str(violation)))
        else:
            plan.append(angle * 0)
    return plan, faults


@on([0.3, -0.5, 1.2], [1.5], [0.0, 2.5, -2.5, 0.1], unknown=EACH)
def arm_of_links_that_alternate(angles, lengths=(1.0, 0.8)):
    x, y, heading = dy2st.zeros([]), dy2st.zeros([]), dy2st.zeros([])
    reached = []
    for angle, length in zip(angles, itertools.cycle(lengths)):
        heading = heading + angle
        x, y = x + length * heading.cos(), y + length * heading.sin()
        if x > 1:
            reached.append(length)
    return x, y, reached
