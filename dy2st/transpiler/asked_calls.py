"""A function as it is, but that it asks, before each call, what to call in its place.

Nothing else of it changes: names, lines, cells, what `locals()` and `super()` see. The functions
that are made in it have the user's own code objects.
"""

from __future__ import annotations
import __future__

import ast
from copy import deepcopy
from types import CodeType, FunctionType
from typing import Any, Protocol

from dy2st.transpiler.source import find_source, quiet
from dy2st_runtime.errors import Location, SourceUnavailable
from dy2st_runtime.thread_state import ByIdentity


class Asked(Protocol):
    """What is asked: `asked[called]` is called in the place of `called`."""

    def __getitem__(self, called: Any) -> Any:
        """What to call."""


def asking(function: FunctionType, asked: Asked) -> FunctionType:
    """The function, which asks. SourceUnavailable if no text gives its code."""
    code = _codes.get(function.__code__)
    if code is None:
        code = _codes.setdefault(function.__code__, _asking_code(function))
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = FunctionType(_given(code, asked), function.__globals__, code.co_name, None, closure)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__doc__ = function.__doc__
    made.__dict__.update(function.__dict__)
    return made


_codes: ByIdentity[CodeType, CodeType] = ByIdentity()

# It stands in the text for what is asked, and is put into the code afterwards.
_MARK = "\0asked"
# Underscores before the name of a class do not count in its private names.
_UNUSUAL = "_" * 9
_OUTER, _NAME = f"{_UNUSUAL}outer", f"{_UNUSUAL}function"
_COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


class _Calls(ast.NodeTransformer):
    """Rewrites the calls of one function: `f(x)` becomes `asked[f](x)`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Ask, unless it is `super()`, which needs its name in the code."""
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "super"):
            asked = ast.Subscript(ast.Constant(_MARK), node.func, ast.Load())
            node.func = ast.copy_location(asked, node.func)
            ast.copy_location(asked.value, node.func)
        return node

    def _left(self, node: ast.AST) -> ast.AST:
        """A function or class inside has code of its own, which stays the user's."""
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _left


def _asking_code(function: FunctionType) -> CodeType:
    source, original = find_source(function), function.__code__
    node: Any = deepcopy(source.node)
    if isinstance(node, ast.Lambda):
        body: list[Any] = [ast.copy_location(ast.Return(node.body), node.body)]
        node = ast.copy_location(ast.FunctionDef(_NAME, node.args, body, []), node)
    calls = _Calls()
    node.name, node.body = _NAME, [calls.visit(one) for one in node.body]
    inner: Any
    inner, qualname = node, f"{_OUTER}.<locals>.{_NAME}"
    if source.owner:  # whose private names it has
        owner = f"{_UNUSUAL}{source.owner}"
        inner, qualname = (
            ast.ClassDef(owner, [], [], [node], []),
            f"{_OUTER}.<locals>.{owner}.{_NAME}",
        )
    cells = [ast.arg(name) for name in original.co_freevars]
    arguments = ast.arguments([], cells, None, [], [], None, [])
    outer: Any = ast.FunctionDef(_OUTER, arguments, [inner], [])
    for one in (node, inner, outer):
        one.type_params = []  # since Python 3.12
    tree = ast.fix_missing_locations(ast.Module([outer], []))
    with quiet.held():
        flags = original.co_flags & _FUTURE
        module = compile(tree, original.co_filename, "exec", flags=flags, dont_inherit=True)
    todo = [module]  # until the code of the function is found
    while todo[-1].co_name != _NAME:
        todo += [one for one in todo.pop().co_consts if isinstance(one, CodeType)]
    made = _with_inner(todo[-1], original, qualname)
    if made is None or not set(made.co_freevars) <= set(original.co_freevars):
        raise SourceUnavailable(
            f"the text of {function.__qualname__} does not give all of its code",
            at=Location(original.co_filename, original.co_firstlineno),
            why="something has changed it when it was imported",
            hint="call what is to be converted in a function of its own",
        )
    return made


def _with_inner(code: CodeType, original: CodeType, qualname: str) -> CodeType | None:
    """The code with the user's own for the functions inside; None if these are others.

    qualname: what stands for the name of the function in those of functions inside.
    """
    inner = iter([one for one in original.co_consts if isinstance(one, CodeType)])
    consts: list[Any] = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            its = next(inner, None)
            if its is None or _signs(its) != _signs(one):
                return None
            one = _with_inner(one, its, qualname) if one.co_name in _COMPREHENSIONS else its
            if one is None:
                return None
        elif isinstance(one, str) and one.startswith(qualname):  # up to Python 3.10
            names = [known for known in original.co_consts if isinstance(known, str)]
            one = next(known for known in names if known.endswith(one.removeprefix(qualname)))
        consts.append(one)
    changes: dict[str, Any] = {"co_consts": tuple(consts), "co_name": original.co_name}
    if hasattr(original, "co_qualname"):
        changes["co_qualname"] = original.co_qualname
    return None if next(inner, None) else code.replace(**changes)


def _signs(code: CodeType) -> tuple[Any, ...]:
    return code.co_name, code.co_firstlineno, code.co_freevars


def _given(code: CodeType, asked: Asked) -> CodeType:
    """The code with what is asked in it, also in the comprehensions inside."""
    consts = [
        _given(one, asked)
        if isinstance(one, CodeType) and one.co_name in _COMPREHENSIONS
        else asked
        if type(one) is str and one == _MARK
        else one
        for one in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))
