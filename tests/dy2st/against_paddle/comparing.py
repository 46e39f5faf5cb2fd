"""What an expression gives with PaddlePaddle or dy2st, in a form that can be compared."""

from __future__ import annotations

import ast
import linecache
import warnings
from typing import Any

import numpy as np

import dy2st


def environment(package: Any) -> dict[str, Any]:
    """The names that expressions use."""

    def random(*shape: int, dtype: str = "float32", low: Any = -2, high: Any = 2, seed: int = 0):
        numbers = np.random.default_rng(seed + sum(shape)).uniform(low, high, shape)
        return package.to_tensor((np.floor(numbers) if "int" in dtype else numbers).astype(dtype))

    def tensor(data: Any, dtype: Any = None):
        return package.to_tensor(np.array(data, dtype))

    return {"P": package, "F": package.nn.functional, "X": random, "T": tensor}


def outcome(package: Any, expression: str) -> Any:
    """What it gives as arrays with their dtypes, or the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _plain(eval(expression, environment(package)))
    except Exception as error:  # whichever: it is what is compared
        return error


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "numpy"):
        return (str(value.dtype).replace("paddle.", ""), np.asarray(value.numpy()))
    return value


class _Tensors(ast.NodeTransformer):
    """Puts names in the place of the tensors that an expression makes."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names, self.values = names, []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in ("X", "T"):
            self.values.append(eval(ast.unparse(node), self.names))
            return ast.Name(f"v{len(self.values) - 1}", ast.Load())
        return self.generic_visit(node)


def traced(expression: str) -> Any:
    """As `outcome` with dy2st, by a Program whose arguments are the tensors."""
    tensors = _Tensors(environment(dy2st))
    body = ast.unparse(tensors.visit(ast.parse(expression, mode="eval")))
    arguments = ", ".join(f"v{i}" for i in range(len(tensors.values)))
    source, file = f"def f({arguments}):\n    return {body}\n", f"<{expression}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names = dict(tensors.names)
    exec(compile(source, file, "exec"), names)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _plain(dy2st.to_static(names["f"])(*tensors.values))
    except Exception as error:
        return error


def gradients(package: Any, expression: str) -> Any:
    """Gradients of a weighted sum of all results by all random floats of an expression."""
    names, leaves = environment(package), []
    random = names["X"]

    def leaf(*shape: int, **options: Any):
        made = random(*shape, **options)
        if "float" in str(made.dtype):
            made.stop_gradient = False
            leaves.append(made)
        return made

    names["X"] = leaf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = eval(expression, names)
    results = results if isinstance(results, (list, tuple)) else [results]
    total: Any = None
    for result in results:
        if "float" in str(getattr(result, "dtype", "")) and not result.stop_gradient:
            weights = np.random.default_rng(3).uniform(0.5, 1.5, [int(n) for n in result.shape])
            weights = package.to_tensor(weights.astype(_plain(result)[0]))
            part = (result * weights).sum().astype("float64")
            total = part if total is None else total + part
    if total is not None:
        total.backward()
    return [np.zeros(()) if t.grad is None else np.asarray(t.grad.numpy()) for t in leaves]


def difference(theirs: Any, ours: Any) -> str | None:
    """How two outcomes differ, None if they do not; an error beside an error is no difference."""
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        both = isinstance(theirs, Exception) and isinstance(ours, Exception)
        return None if both else f"theirs: {_shown(theirs)}; ours: {_shown(ours)}"
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return f"theirs: {len(theirs)} results; ours: {_shown(ours)}"
        found = [difference(a, b) for a, b in zip(theirs, ours, strict=True)]
        return next((entry for entry in found if entry), None)
    if not isinstance(theirs, tuple):
        return None if theirs == ours else f"theirs: {theirs!r}; ours: {ours!r}"
    (their_dtype, a), (our_dtype, b) = theirs, ours
    if their_dtype != our_dtype or a.shape != b.shape:
        return f"theirs: {their_dtype}{list(a.shape)}; ours: {our_dtype}{list(b.shape)}"
    if not np.allclose(a, b, rtol=2e-4, atol=2e-5, equal_nan=True):
        return f"theirs: {a.ravel()[:6]}; ours: {b.ravel()[:6]}"
    return None


def _shown(value: Any) -> str:
    if isinstance(value, Exception):
        lines = str(value).strip().splitlines() or [""]
        return f"{type(value).__name__}: {lines[-1]:.100}"
    return f"{value!r:.120}"
