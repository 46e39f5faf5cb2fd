"""What functions and methods are said to give is what they give, in the examples of their docstrings."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import re

import numpy as np
import pytest

import dy2st
from dy2st import nn
from dy2st_runtime.ir import Tensor
from dy2st_runtime.ir.tensor import Tensor as AnyTensor
from dy2st_runtime.tensor import EagerTensor
from tests.test_docstrings import public_modules
from tests.typing.write_stubs import FOLDERS

KINDS = {"Tensor": Tensor, "np.ndarray[Any, Any]": np.ndarray, "Parameter": Tensor}
KINDS |= {kind.__name__: kind for kind in (bool, int, str)}


def fits(value, text):
    """Whether a value is of the type that a text says."""
    text = text.replace("builtins.", "")
    if " | " in text and "[" not in text:
        return any(fits(value, part) for part in text.split(" | "))
    if text in KINDS:
        return isinstance(value, KINDS[text])
    if text == "None":
        return value is None
    parts = re.fullmatch(r"(list|tuple)\[(.*)\]", text)
    if parts:
        inner = [part.strip() for part in re.split(r", (?![^\[]*\])", parts[2])]
        if inner[-1] == "..." or parts[1] == "list":
            inner = inner[:1] * len(value)
        same = isinstance(value, (list, tuple)) and len(inner) == len(value)
        return same and all(fits(one, part) for one, part in zip(value, inner))
    return True


def said(path, kind=None):
    """The results of the functions in a file, or of the methods of a class: all that are possible."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    if kind is not None:
        (body,) = [node.body for node in body if getattr(node, "name", "") == kind]
    found = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and "property" not in map(
            ast.unparse, node.decorator_list
        ):
            found.setdefault(node.name, []).append(ast.unparse(node.returns))
    return found


def differing(owner, name, types):
    """Results of a function in its own examples that are of none of the types."""
    function, wrong, count = getattr(owner, name), [], 0

    def watched(*args, **named):
        nonlocal count
        made = function(*args, **named)
        count += 1
        if not any(fits(made, text) for text in types):
            wrong.append(f"{name}: {made!r:.60} is no {types}")
        return made

    names = {"dy2st": dy2st, "np": np, "nn": nn, "F": nn.functional}
    setattr(owner, name, watched)
    try:
        for example in doctest.DocTestParser().get_examples(function.__doc__ or ""):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(compile(example.source, name, "exec"), names)
    finally:
        setattr(owner, name, function)
    return wrong, count


@pytest.fixture(autouse=True, scope="module")
def no_module_takes_what_is_watched():
    """What is loaded late is there before a test puts something else in its place."""
    for module in public_modules().values():
        assert all(hasattr(module, name) for name in dir(module))


def test_functions_give_what_is_said():
    counted, wrong = 0, []
    for module, path in ((dy2st, "__init__.pyi"), (nn.functional, "nn/functional.pyi")):
        for name, types in said(FOLDERS["dy2st"] / path).items():
            if inspect.isfunction(getattr(module, name)):
                others, count = differing(module, name, types)
                wrong, counted = wrong + others, counted + (count > 0)
    assert not wrong
    assert counted > 300


def test_methods_give_what_is_said():
    counted, wrong = 0, []
    methods = said(FOLDERS["dy2st_runtime"] / "ir" / "tensor.pyi", "Tensor")
    for name, types in methods.items():
        getattr(EagerTensor, name)  # loads its family
        owner = AnyTensor if name in vars(AnyTensor) else EagerTensor
        if inspect.isfunction(vars(owner).get(name)):
            others, count = differing(owner, name, types)
            wrong, counted = wrong + others, counted + (count > 0)
    assert not wrong
    assert counted > 20
