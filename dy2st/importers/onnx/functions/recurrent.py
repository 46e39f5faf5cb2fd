"""RNN, GRU and LSTM: both directions, any activations, lengths of samples, peepholes.

The products with the inputs of all steps are one product; the steps are a loop where there are many
of them, or where their number is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from dy2st.errors import ArgumentError
from dy2st_runtime.ir import F
from dy2st_runtime.nn.scan import scan

Activation = Callable[[Any], Any]
LONGEST = 16
"""From more steps on they are a loop: machine code of a loop is made once, and runs as fast."""


class _Kind(NamedTuple):
    """A function of activations: what it does, and its own alpha and beta where it has them."""

    compute: Callable[..., Any]
    alpha: float | None = None
    beta: float | None = None


_ACTIVATIONS: dict[str, _Kind] = {
    "affine": _Kind(lambda x, a, b: x * a + b, 1.0, 0.0),
    "elu": _Kind(lambda x, a: F.elu(x, a), 1.0),
    "hardsigmoid": _Kind(lambda x, a, b: F.clip(x * a + b, 0.0, 1.0), 0.2, 0.5),
    "leakyrelu": _Kind(lambda x, a: F.leaky_relu(x, a), 0.01),
    "relu": _Kind(lambda x: F.relu(x)),
    "scaledtanh": _Kind(lambda x, a, b: F.tanh(x * b) * a, 1.0, 1.0),
    "sigmoid": _Kind(lambda x: F.sigmoid(x)),
    "softplus": _Kind(lambda x: F.softplus(x)),
    "softsign": _Kind(lambda x: F.softsign(x)),
    "tanh": _Kind(lambda x: F.tanh(x)),
    "thresholdedrelu": _Kind(lambda x, a: F.where(F.greater_equal(x, a), x, F.zeros_like(x)), 1.0),
}


class _Rules(NamedTuple):
    """What a step does beside its products, in one direction."""

    activations: list[Activation]
    hidden: Any
    input_forget: bool = False
    linear_before_reset: bool = False


Step = Callable[..., tuple[Any, Any]]


def _functions(
    names: Sequence[str] | None,
    default: Sequence[str],
    directions: int,
    alphas: Sequence[float] | None,
    betas: Sequence[float] | None,
    clip: float | None,
) -> list[list[Activation]]:
    """The activations of each direction; alphas and betas go to those that take one, in order."""
    chosen = list(names) if names else list(default) * directions
    if len(chosen) != len(default) * directions:
        raise ArgumentError(f"activations: {len(default) * directions} are wanted, not {chosen}")
    of_alpha, of_beta = iter(alphas or ()), iter(betas or ())
    made: list[Activation] = []
    for name in chosen:
        kind = _ACTIVATIONS.get(name.lower())
        if kind is None:
            raise ArgumentError(f"there is no activation {name!r}")
        own = [
            next(given, value)
            for given, value in ((of_alpha, kind.alpha), (of_beta, kind.beta))
            if value is not None
        ]
        made.append(partial(_activated, kind.compute, own, clip))
    return [made[i : i + len(default)] for i in range(0, len(made), len(default))]


def _activated(compute: Callable[..., Any], own: list[float], clip: float | None, x: Any) -> Any:
    return compute(x if not clip else F.clip(x, -clip, clip), *own)


def _plain_step(rules: _Rules, r: Any, bias: Any, _: Any, x: Any, state: Any) -> tuple[Any, Any]:
    (h,) = state
    total = x + F.matmul(h, r, transpose_y=True)
    h = rules.activations[0](total if bias is None else total + bias)
    return h, (h,)


def _gru_step(rules: _Rules, r: Any, bias: Any, _: Any, x: Any, state: Any) -> tuple[Any, Any]:
    (h,) = state
    f, g = rules.activations
    size = rules.hidden
    gates, candidate = F.slice(r, [0], [0], [2 * size]), F.slice(r, [0], [2 * size], [3 * size])
    xz, xr, xh = F.split(x, 3, axis=-1)
    bz, br, bh = (0.0, 0.0, 0.0) if bias is None else F.split(bias, 3, axis=-1)
    hz, hr = F.split(F.matmul(h, gates, transpose_y=True), 2, axis=-1)
    z, reset = f(xz + hz + bz), f(xr + hr + br)
    if rules.linear_before_reset:
        # As cuDNN and PaddlePaddle have it; the other one is the paper's.
        new = g(xh + reset * (F.matmul(h, candidate, transpose_y=True) + bh))
    else:
        new = g(xh + F.matmul(reset * h, candidate, transpose_y=True) + bh)
    h = (1.0 - z) * new + z * h
    return h, (h,)


def _lstm_step(rules: _Rules, r: Any, bias: Any, p: Any, x: Any, state: Any) -> tuple[Any, Any]:
    h, c = state
    f, g, last = rules.activations
    total = x + F.matmul(h, r, transpose_y=True)
    i, o, forget, new = F.split(total if bias is None else total + bias, 4, axis=-1)
    pi, po, pf = (None, None, None) if p is None else F.split(p, 3, axis=-1)
    if p is not None:  # the output gate looks at the new cell, the others at the one before
        i, forget = i + pi * c, forget + pf * c
    i = f(i)
    forget = 1.0 - i if rules.input_forget else f(forget)
    c = forget * c + i * g(new)
    o = f(o if p is None else o + po * c)
    h = o * last(c)
    return h, (h, c)


def _run(
    step: Step,
    rules: Sequence[_Rules],
    direction: str,
    layout: int,
    x: Any,
    w: Any,
    r: Any,
    b: Any,
    lengths: Any,
    states: Sequence[Any],
    peepholes: Any = None,
) -> tuple[Any, ...]:
    """Y and the last states, of each direction and laid out as asked for."""
    if layout:
        x = F.transpose(x, [1, 0, 2])
        states = [state if state is None else F.transpose(state, [1, 0, 2]) for state in states]
    mask = None
    if lengths is not None:  # (steps, n, 1): whether a step is one of the sample's
        ends = F.unsqueeze(F.cast(lengths, "int64"), [0, 2])
        mask = F.less_than(F.unsqueeze(F.arange(x.shape[0]), [1, 2]), ends)
    found = []
    for n, one in enumerate(rules):
        is_reverse = direction == "reverse" or n == 1
        # What comes of the input is one product for all steps.
        wide, from_state = F.matmul(x, w[n], transpose_y=True), None
        if b is not None:
            from_input, from_state = F.split(b[n], 2)
            wide = wide + from_input
        zeros = [F.zeros([x.shape[1], one.hidden], x.dtype) for _ in states]
        first = tuple(z if s is None else s[n] for s, z in zip(states, zeros, strict=True))
        peep = None if peepholes is None else peepholes[n]
        run = partial(step, one, r[n], from_state, peep)
        # Behind its end a sample keeps its state, and its output is 0.
        y, last = scan(run, wide, first, is_reverse, mask, LONGEST)
        found.append((y if mask is None else F.where(mask, y, F.zeros_like(y)), last))
    y = F.stack([y for y, _ in found], axis=1)
    finals = [F.stack([last[k] for _, last in found], axis=0) for k in range(len(states))]
    if layout:
        y = F.transpose(y, [2, 0, 1, 3])
        finals = [F.transpose(final, [1, 0, 2]) for final in finals]
    return (y, *finals)


def _directions(direction: str) -> int:
    if direction not in ("forward", "reverse", "bidirectional"):
        raise ArgumentError(f"direction is forward, reverse or bidirectional, not {direction!r}")
    return 2 if direction == "bidirectional" else 1


def rnn(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
) -> tuple[Any, ...]:
    """h' = f(W x + b + R h + c) along X of shape (steps, batch, input): Y, and the last h."""
    functions = _functions(
        activations, ["Tanh"], _directions(direction), activation_alpha, activation_beta, clip
    )
    rules = [_Rules(own, R.shape[-1]) for own in functions]
    return _run(_plain_step, rules, direction, layout, X, W, R, B, sequence_lens, [initial_h])


def gru(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    layout: int = 0,
    linear_before_reset: int = 0,
) -> tuple[Any, ...]:
    """A GRU along X of shape (steps, batch, input), gates z, r, h: Y, and the last h."""
    functions = _functions(
        activations,
        ["Sigmoid", "Tanh"],
        _directions(direction),
        activation_alpha,
        activation_beta,
        clip,
    )
    before = bool(linear_before_reset)
    rules = [_Rules(own, R.shape[-1], linear_before_reset=before) for own in functions]
    return _run(_gru_step, rules, direction, layout, X, W, R, B, sequence_lens, [initial_h])


def lstm(
    X: Any,
    W: Any,
    R: Any,
    B: Any = None,
    sequence_lens: Any = None,
    initial_h: Any = None,
    initial_c: Any = None,
    P: Any = None,
    *,
    activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None,
    activations: Sequence[str] | None = None,
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    layout: int = 0,
) -> tuple[Any, ...]:
    """An LSTM along X of shape (steps, batch, input), gates i, o, f, c: Y, the last h and c."""
    functions = _functions(
        activations,
        ["Sigmoid", "Tanh", "Tanh"],
        _directions(direction),
        activation_alpha,
        activation_beta,
        clip,
    )
    rules = [_Rules(own, R.shape[-1], input_forget=bool(input_forget)) for own in functions]
    states = [initial_h, initial_c]
    return _run(_lstm_step, rules, direction, layout, X, W, R, B, sequence_lens, states, P)


__all__ = ["LONGEST", "gru", "lstm", "rnn"]
