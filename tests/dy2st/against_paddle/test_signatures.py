"""Names, order and defaults of arguments beside PaddlePaddle's; only where it is installed."""

import inspect

import pytest

import dy2st
from dy2st.paddle.porting.differences import ARGUMENTS

paddle = pytest.importorskip("paddle")
if paddle is dy2st:
    pytest.skip("`paddle` means dy2st here", allow_module_level=True)

# Every public function takes these by name, by one rule.
BY_ONE_RULE = {"out", "device", "requires_grad", "pin_memory", "dump_backward_graph_path"}
SPACES = {
    "paddle": (paddle, dy2st),
    "nn": (paddle.nn, dy2st.nn),
    "F": (paddle.nn.functional, dy2st.nn.functional),
    "optimizer": (paddle.optimizer, dy2st.optimizer),
    "lr": (paddle.optimizer.lr, dy2st.optimizer.lr),
    "initializer": (paddle.nn.initializer, dy2st.nn.initializer),
    "jit": (paddle.jit, dy2st.jit),
    "static": (paddle.static, dy2st.static),
    "Tensor": (paddle.Tensor, dy2st.Tensor),
    "vision.models": (paddle.vision.models, dy2st.vision.models),
    "vision.ops": (paddle.vision.ops, dy2st.vision.ops),
}
Kind = inspect.Parameter


def parameters(function):
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return found[1:] if found and found[0].name in ("self", "cls") else found


def is_same(theirs, ours):
    if theirs is ours:
        return True
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)):
        return list(theirs) == list(ours)
    if isinstance(theirs, (int, float)) and type(ours) in (int, float):
        return abs(theirs - ours) < 1e-6
    return str(theirs) == str(ours)


def missing(theirs, ours):
    """The arguments of theirs that ours does not have at the same place with the same default."""
    if any(p.kind is Kind.VAR_POSITIONAL for p in theirs) or not theirs:
        return []
    takes_any = any(p.kind is Kind.VAR_KEYWORD for p in ours)
    plain = [p for p in ours if p.kind not in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)]
    found = []
    wanted = [p for p in theirs if p.name not in BY_ONE_RULE and p.kind is not Kind.VAR_KEYWORD]
    for place, parameter in enumerate(wanted):
        own = plain[place] if place < len(plain) else None
        fits = own and own.name == parameter.name and is_same(parameter.default, own.default)
        if not fits and not takes_any:
            found.append(parameter.name)
    return found


@pytest.mark.parametrize("space", SPACES)
def test_arguments_have_the_names_the_order_and_the_defaults_of_paddlepaddle(space):
    theirs, ours = SPACES[space]
    found = {}
    for name in sorted(dir(theirs)):
        function, own = getattr(theirs, name), getattr(ours, name, None)
        if name[0] == "_" or inspect.ismodule(function) or not callable(own):
            continue
        pair = [parameters(f) for f in (function, own)]
        if None in pair or f"{space}.{name}" in ARGUMENTS or not callable(function):
            continue
        differs = missing(*pair)
        if differs and space == "Tensor":  # which may or may not show the tensor itself
            differs = missing(pair[0], pair[1][1:]) and missing(pair[0][1:], pair[1][1:])
        if differs:
            found[name] = differs
    assert not found, str(found)
