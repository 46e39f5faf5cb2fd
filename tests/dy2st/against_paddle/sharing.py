"""Which results share memory with what they were made of, and where gradients flow behind a change.

python -m tests.dy2st.against_paddle.sharing tests/data/paddle/views.json

writes down what the installed PaddlePaddle answers; the tests hold dy2st against that file.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from tests.dy2st.against_paddle.comparing import environment
from tests.dy2st.against_paddle.expressions import GROUPS

_X = "X(2, 3, 4)"
_INDICES = (
    "0 | -1 | 0:1 | :, 1: | ..., 1 | None | ::2 | ::-1 | :, ::-1 | 0, 1, 2 | : | ... | 0:0 | (0, 1) | "
    "[0, 1] | 0, [0, 1] | :, None, 0 | T([0, 1]) | T(1) | T([True, False]) | 1:, 0"
)
_METHODS = (
    "reshape([-1]) | reshape([2, 12]) | transpose([1, 0, 2]).reshape([-1]) | view([6, 4]) | ravel() | "
    "transpose([1, 0, 2]).reshape([3, 2, 2, 2]) | flatten() | flatten(1) | unflatten(2, [2, 2]) | "
    "squeeze() | unsqueeze(0) | unsqueeze([0, 1]) | transpose([2, 0, 1]) | T | mT | swapaxes(0, 1) | "
    "permute(1, 0, 2) | moveaxis(0, 1) | chunk(3, axis=1) | split(3, axis=1) | split([1, 2], axis=1) | "
    "tensor_split(2, axis=1) | unbind(0) | unbind(1) | unstack(0) | expand([2, 3, 4]) | "
    "expand([5, 2, 3, 4]) | broadcast_to([5, 2, 3, 4]) | tile([1, 1, 1]) | detach() | data | clone() | "
    "diagonal() | diagonal(axis1=1, axis2=2) | as_strided([2, 2], [1, 4]) | slice([0], [0], [1]) | "
    "strided_slice([0], [1], [-3], [-1]) | narrow(0, 0, 1) | unfold(1, 2, 1) | flip(0) | roll(1) | "
    "rot90() | astype('float32') | contiguous() | cpu() | abs() | cumsum(0) | tril() | "
    "repeat_interleave(1) | index_select(T([0, 1])) | gather(T([0, 1])) | diag_embed() | sort(0)"
)
_CALLS = (
    "P.assign(x) | P.to_tensor(x) | P.crop(x, [1, 2, 2]) | P.diag(x[0, 0]) | P.concat([x]) | "
    "P.hsplit(x, 3) | P.vsplit(x, 2) | P.dsplit(x, 2) | P.einsum('ijk->jik', x) | P.stack([x]) | "
    "P.atleast_3d(x) | P.meshgrid(x[0, 0], x[0, 1]) | F.pixel_shuffle(X(1, 4, 2, 2), 2) | "
    "F.channel_shuffle(X(1, 4, 2, 2), 2) | F.relu(x) | P.t(X(2, 3)) | X(3, 3).diagonal() | "
    "P.nn.Flatten()(x) | P.nn.Unflatten(2, [2, 2])(x) | P.nn.Identity()(x) | P.where(x > 0, x, x)"
)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(" | ")]


EXPRESSIONS = [
    *[f"{_X}[{index}]" for index in _parts(_INDICES)],
    *[f"{_X}.{method}" for method in _parts(_METHODS)],
    *[
        call.replace("x[", f"{_X}[")
        .replace("(x", f"({_X}")
        .replace("[x]", f"[{_X}]")
        .replace(", x", f", {_X}")
        for call in _parts(_CALLS)
    ],
    *[entry for group in GROUPS.values() for entry in group],
]

# Functions of a leaf w: x = 2 w, changed through views. The sum of what they return is derived.
PROGRAMS = {
    "a view is multiplied": "v = x[0]\nv.multiply_(P.to_tensor(3.0))\nreturn x",
    "of the view that is multiplied": "v = x[0]\nv.multiply_(P.to_tensor(3.0))\nreturn v",
    "the base is multiplied, of a view": "v = x[0]\nx[:] = x * 3\nreturn v",
    "a view gets its own double": "v = x[0]\nv[:] = v * 3\nreturn x * x",
    "a view is filled": "v = x[0]\nv.fill_(4.0)\nreturn x * x",
    "a view of a view": "x[0][1] = 7.0\nreturn x * x",
    "columns of others": "x[:, 1:] += x[:, :2]\nreturn x * x",
    "two views": "a, b = x[0], x.flatten()\na.add_(P.ones([3]))\nb[1] = b[2] * 5\nreturn a * b[0]",
    "of the leaf": "w[0].add_(P.ones([3]))\nreturn w * w",
    "of the leaf without gradients": "with P.no_grad():\n    w[0].fill_(5.0)\nreturn w * w",
    "detached": "x.detach()[0] = 3.0\nreturn x * x",
    "a row from elsewhere": "v = x[0]\nv[:] = w[1] * 4\nreturn x + v",
    "into zeros": "z = P.zeros([2, 3])\nz[0] = w[1]\nv = z[0]\nv.add_(w[0])\nreturn z * z",
    "transposed": "t = x.t()\nt[0] = t[1] * 2\nreturn x * t.t()",
    "set": "v = x[0]\nv.set_value(P.zeros([3]))\nreturn x * x",
}


def sharing(package: Any, expression: str) -> Any:
    """For every result whether it shares memory with an argument; None if there is no answer.

    Both ways are asked: the result is changed, and the argument.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                {_shares(package, expression, place, number, changed) for number in (0, 1)}
                for place in range(len(_evaluated(package, expression)[0]))
                for changed in ("result", "argument")
            ]
    except Exception:  # whichever: then there is nothing to compare
        return None
    return [True in answers for answers in found] or None


def _evaluated(package: Any, expression: str) -> tuple[list[Any], list[Any]]:
    """The tensors that an expression gives, and those that it made itself."""
    names, made = environment(package), []

    def noted(make: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            made.append(make(*args, **kwargs))
            return made[-1]

        return call

    names.update({name: noted(names[name]) for name in ("X", "T")})
    package.seed(0)
    found = eval(expression, names)
    results = list(found) if isinstance(found, (list, tuple)) else [found]
    return [one for one in results if hasattr(one, "fill_")], made


def _shares(package: Any, expression: str, place: int, number: int, changed: str) -> bool:
    results, made = _evaluated(package, expression)
    result = results[place]
    changing, looking = ([result], made) if changed == "result" else (made, [result])
    before = [one.numpy().copy() for one in looking]
    for one in changing:
        one.fill_(number)
    pairs = zip(before, looking, strict=True)
    return any(
        not np.array_equal(old, one.numpy(), equal_nan=old.dtype.kind in "fc") for old, one in pairs
    )


def define(text: str) -> str:
    """The text of a function of the leaf."""
    lines = ["def f(w):", "    x = w * 2", *("    " + line for line in text.splitlines())]
    return "\n".join(lines) + "\n"


def leaf(package: Any) -> Any:
    """The leaf that programs are called with."""
    return package.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], stop_gradient=False)


def gradients(package: Any, function: Any) -> list[Any]:
    """What a program gives, the gradient of its sum, and what the leaf is behind it."""
    w = leaf(package)
    result = function(w)
    result.sum().backward()
    return [one.tolist() for one in (result, w.grad, w)]


def idioms(package: Any) -> dict[str, Any]:
    """What the idioms give with a package, for the first of their inputs."""
    found: dict[str, Any] = {}
    for name in ("view_idioms", "buffer_idioms"):
        file = Path(__file__).parents[1] / "jit" / f"{name}.py"
        scope: dict[str, Any] = {"dy2st": package, "__name__": name}
        exec(
            compile(file.read_text("utf-8").replace("import dy2st\n", ""), str(file), "exec"), scope
        )
        for key, function in scope["IDIOMS"].items():
            found[key] = numbers(function(package.to_tensor(X), package.to_tensor(2)))
        for key, kind in scope.get("LAYERS", {}).items():
            layer = kind()
            found[key] = calls_of_layer(package, layer, layer)
    return found


X = np.arange(16, dtype="float32").reshape(4, 4) - 2


def calls_of_layer(package: Any, layer: Any, function: Any) -> list[Any]:
    """What calls of a Layer give, one after the other, and what its buffers hold then."""
    found = []
    for values, n in ((X, 2), (X * 0 + 0.5, 3), (-X, 0)):
        result = numbers(function(package.to_tensor(values), package.to_tensor(n)))
        found.append([result, [numbers(buffer) for buffer in layer.buffers()]])
    return found


def numbers(result: Any) -> Any:
    """Tensors, in lists or tuples, as nested lists of numbers."""
    if isinstance(result, (list, tuple)):
        return [numbers(one) for one in result]
    return result.numpy().tolist()


def main() -> None:
    """Write down what PaddlePaddle answers."""
    package = importlib.import_module("paddle")
    answers: dict[str, Any] = {"version": package.__version__, "sharing": {}, "programs": {}}
    for expression in EXPRESSIONS:
        answers["sharing"][expression] = sharing(package, expression)
    for name, text in PROGRAMS.items():
        scope: dict[str, Any] = {"P": package}
        exec(define(text), scope)
        try:
            answers["programs"][name] = gradients(package, scope["f"])
        except RuntimeError as error:
            answers["programs"][name] = str(error).strip().splitlines()[-1][:80]
    answers["idioms"] = idioms(package)
    Path(sys.argv[1]).write_text(json.dumps(answers, indent=0) + "\n", "utf-8")


if __name__ == "__main__":
    main()
