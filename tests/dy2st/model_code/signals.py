"""Signals and steps of solvers: filters, gates, pitch, stencils, integrators, lines of equations."""

from __future__ import annotations

import math
from collections import deque

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]
SQUARE = [[None, None]]
WAVES = (
    [0.3, 1.0, 0.2, -0.5, 0.4, 0.9, -0.1, -0.8],
    [1.0],
    [0.1, -0.2, 0.7, 0.1, 0.0],
)
HUM = [0.0, 1.0, 0.9, 0.1, -0.8, -0.9] * 3
SINE = [round(math.sin(k * 0.7), 2) for k in range(20)]
LEVELS = ([0.5, 2.0, 0.8, 1.0, 0.9, 3.0], [0.4], [0.7, 1.7, 0.2])
MATRICES = (
    [[4.0, 1.0], [1.0, 3.0]],
    [[2.0]],
    [[5.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 3.0]],
)


@on(*WAVES, unknown=EACH)
def adaptive_lms(x, taps=2, mu=0.1):
    w = [0.0] * taps
    buf = deque([0.0] * taps, maxlen=taps)
    errors = []
    for s in x:
        y = sum(a * b for a, b in zip(w, buf))
        e = s - y
        w = [a + mu * e * b for a, b in zip(w, buf)]
        buf.appendleft(s)
        errors.append(e)
    return dy2st.stack(errors), w


@on(*WAVES, unknown=EACH)
def karplus_strong(noise, length=6):
    delay = list(noise)
    out = []
    for i in range(length):
        s = delay.pop(0)
        nxt = delay[0] if delay else s
        new = 0.498 * (s + nxt)
        delay.append(new)
        out.append(s)
    return dy2st.stack(out), len(delay)


@on(*WAVES, [1.0, 0.1, 0.1, 0.1, 0.1], unknown=EACH)
def noise_gate_with_hysteresis(x, open_at=0.5, close_at=0.2, hold=2):
    is_open, held, out = False, 0, []
    for s in x:
        level = abs(s)
        if is_open:
            if level < close_at:
                held += 1
                if held > hold:
                    is_open, held = False, 0
            else:
                held = 0
        elif level > open_at:
            is_open = True
        out.append(s if is_open else s * 0.0)
    return dy2st.stack(out), is_open


@on(*WAVES, [0.0, 0.0, 0.0], unknown=EACH)
def lpc_by_levinson(x, order=3):
    r = []
    for k in range(order + 1):
        acc = 0.0
        for i in range(k, len(x)):
            acc = acc + x[i] * x[i - k]
        r.append(float(acc))
    a = [1.0] + [0.0] * order
    err = r[0] + 1e-6
    for i in range(1, order + 1):
        acc = r[i] + sum(a[j] * r[i - j] for j in range(1, i))
        k = -acc / err
        new = a[:]
        for j in range(1, i):
            new[j] = a[j] + k * a[i - j]
        new[i] = k
        a = new
        err *= 1 - k * k
        if err < 1e-4:
            break
    return a, err


@on(*WAVES, unknown=EACH)
def wsola(x, hop=2, win=3, search=1):
    n = len(x)
    out = []
    pos = 0
    prev = None
    while pos + win <= n:
        best, best_c = pos, None
        if prev is not None:
            for s in range(max(0, pos - search), min(n - win, pos + search) + 1):
                c = (x[s : s + win] * prev).sum()
                if best_c is None or c > best_c:
                    best, best_c = s, c
        seg = x[best : best + win]
        out.append(seg[:hop])
        prev = seg
        pos += hop + 1
    return dy2st.concat(out) if out else dy2st.zeros([0])


@on(*WAVES, HUM, SINE, unknown=EACH)
def yin_with_parabola(x, threshold=0.3):
    n = len(x)
    half = max(n // 2, 1)
    d = [sum((x[i] - x[i + tau]) ** 2 for i in range(half) if i + tau < n) for tau in range(half)]
    cmnd = [1.0]
    run = 0.0
    for tau in range(1, half):
        run = run + d[tau]
        cmnd.append(float(d[tau]) * tau / max(float(run), 1e-6))
    tau = 1
    while tau < half:
        if cmnd[tau] < threshold:
            while tau + 1 < half and cmnd[tau + 1] < cmnd[tau]:
                tau += 1
            break
        tau += 1
    if tau >= half:
        return 0.0, False
    if 0 < tau < half - 1:
        a, b, c = cmnd[tau - 1], cmnd[tau], cmnd[tau + 1]
        den = a - 2 * b + c
        shift = 0.5 * (a - c) / den if abs(den) > 1e-9 else 0.0
        return tau + shift, True
    return float(tau), True


@on(*LEVELS, unknown=EACH)
def clamped_index_stencil(x):
    n = x.shape[0]
    out = []
    i = 0
    while i < n:
        left, right = x[max(i - 1, 0)], x[min(i + 1, n - 1)]
        step = 1
        if x[i] > left and x[i] > right:
            step = 2
        out.append((left + x[i] + right) / 3)
        i += step
    return dy2st.stack(out)


@on(*LEVELS, unknown=EACH)
def first_crossing_interpolated(x, level=0.95):
    i = next((i for i, (a, b) in enumerate(zip(x, x[1:])) if (a - level) * (b - level) < 0), None)
    if i is None:
        return -1.0
    return i + (level - x[i]) / (x[i + 1] - x[i])


@on(*LEVELS, [0.7, 0.3, 2.0], unknown=EACH)
def undo_stack_of_edits(x):
    state, undo, redo = 0.0, [], []
    for i, v in enumerate(x):
        if v < 0.6 and undo:
            redo.append(state)
            state = undo.pop()
        elif v > 1.5 and redo:
            undo.append(state)
            state = redo.pop()
        else:
            undo.append(state)
            redo.clear()
            state = state + v
    return state, len(undo), len(redo)


@on(*LEVELS, unknown=EACH)
def thomas_and_crank_nicolson(u, r=0.4):
    n = len(u)
    for step in range(2):
        rhs = [
            u[i]
            + r / 2 * ((u[i - 1] if i > 0 else 0.0) - 2 * u[i] + (u[i + 1] if i < n - 1 else 0.0))
            for i in range(n)
        ]
        cp, dp = [0.0] * n, [0.0] * n
        for i in range(n):
            m = 1 + r - (-r / 2) * (cp[i - 1] if i else 0.0)
            cp[i] = (-r / 2) / m
            dp[i] = (rhs[i] + r / 2 * (dp[i - 1] if i else 0.0)) / m
        x = [0.0] * n
        for i in reversed(range(n)):
            x[i] = dp[i] - (cp[i] * x[i + 1] if i < n - 1 else 0.0)
        u = dy2st.stack(x)
    return u


@on(*LEVELS, unknown=EACH)
def rk23_with_step_control(y0, tol=1e-2):
    t, y, h, accepted, rejected = 0.0, y0, 0.5, 0, 0

    def f(t, y):
        return -y * y + math.sin(t)

    while t < 1.0 and accepted + rejected < 12:
        h = min(h, 1.0 - t)
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + 3 * h / 4, y + 3 * h / 4 * k2)
        y3 = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = f(t + h, y3)
        err = float((h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)).abs().max())
        if err <= tol:
            t, y = t + h, y3
            accepted += 1
        else:
            rejected += 1
        h *= min(2.0, max(0.3, 0.9 * (tol / (err + 1e-12)) ** (1 / 3)))
    return y, accepted, rejected


@on(*LEVELS, unknown=EACH)
def predator_prey_until_extinct(init):
    x, y = float(init[0]) * 10, float(init[-1]) * 5
    for step in range(8):
        x, y = x + 0.1 * (1.1 * x - 0.4 * x * y), y + 0.1 * (0.1 * x * y - 0.4 * y)
        if x < 1 or y < 1:
            return "extinct", step, x, y
    return "alive", step, x, y


@on(*MATRICES, unknown=SQUARE)
def preconditioned_cg(A):
    n = A.shape[0]
    b = dy2st.arange(1, n + 1).astype("float32")
    x = dy2st.zeros([n])
    r = b - A @ x
    d = dy2st.stack([A[i, i] for i in range(n)])
    z = r / d
    p = z
    rz = (r * z).sum()
    for k in range(2 * n):
        Ap = A @ p
        alpha = rz / (p * Ap).sum()
        x = x + alpha * p
        r = r - alpha * Ap
        if dy2st.norm(r) < 1e-4:
            break
        z = r / d
        new = (r * z).sum()
        p = z + (new / rz) * p
        rz = new
    return x, k


@on(*LEVELS, unknown=EACH)
def viterbi_in_numpy_style(obs):
    pi = dy2st.to_tensor([0.6, 0.4])
    A = dy2st.to_tensor([[0.7, 0.3], [0.4, 0.6]])
    mu = dy2st.to_tensor([0.0, 2.0])
    B = dy2st.exp(-0.5 * (obs.unsqueeze(1) - mu) ** 2)
    delta = [pi * B[0]]
    psi = []
    for t in range(1, obs.shape[0]):
        m = delta[-1].unsqueeze(1) * A
        psi.append(m.argmax(0))
        delta.append(m.max(0) * B[t])
    state = delta[-1].argmax()
    path = [state]
    for back in reversed(psi):
        state = back[state]
        path.insert(0, state)
    return dy2st.stack(path), delta[-1].max()


@on([0.1, 2.0, 0.2, 3.5, 3.4, 0.3], [1.0], [3.0, 1.0, 2.0], unknown=EACH)
def window_most_like_a_template(intensities, template=(1.0, 0.5, 0.2)):
    best, wanted = (-1.0, None), dy2st.to_tensor(template)
    for start in range(len(intensities)):
        window = intensities[start : start + len(template)]
        if len(window) < len(template):
            break
        norms = ((window**2).sum() * (wanted**2).sum()).sqrt()
        best = max(best, (((window * wanted).sum() / norms).item(), start))
    return best
