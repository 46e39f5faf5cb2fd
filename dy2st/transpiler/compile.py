"""From trees to code under the user's file name: traced forms, and functions that ask.

What asks is a function as it is, but that it asks, before each call, what to call in its place.
Nothing else of it changes: names, lines, cells, what `locals()` and `super()` see. The functions
that are made in it have the user's own code objects.
"""

from __future__ import annotations

import ast
from copy import deepcopy
from dataclasses import dataclass
from functools import WRAPPER_ASSIGNMENTS
from types import CodeType, FunctionType
from typing import Any, Protocol, TypeAlias

from dy2st.transpiler.lowering import BUILTINS, Lowering, arguments, define, load
from dy2st.transpiler.nodes import at
from dy2st.transpiler.source import COMPREHENSIONS, FUTURE, find_source, quiet
from dy2st_runtime.errors import Location, SourceUnavailable
from dy2st_runtime.thread_state import ByIdentity

Statement: TypeAlias = "tuple[str, int, int]"  # its kind, such as "if", line and column

_HAS_QUALNAME = hasattr(CodeType, "co_qualname")
# The last constant of code that is a part of a traced form.
_PART = object()


@dataclass(frozen=True, eq=False, repr=False)
class TracedForm:
    """A function whose every touch of an object goes through a protocol: what makes it.

    untouched: why it has no such form, by the name of the reason; `why` in words. Empty if it has.
    code: a function that makes it of the two below; None if it has no such form.
    cells: the closure of the user's function that it takes, by variable.
    protocol: what it takes of the protocol, by name there.
    statements: the branches and loops that the user has written.
    """

    untouched: str = ""
    why: str = ""
    code: CodeType | None = None
    cells: tuple[str, ...] = ()
    protocol: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()

    def bind(self, protocol: object, function: FunctionType) -> FunctionType:
        """The function that does what `function`, which has this code, does by the protocol."""
        if self.code is None:
            return function
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        cells = [closure[name] for name in self.cells]
        taken = [
            BUILTINS[name] if name in BUILTINS else getattr(protocol, name)
            for name in self.protocol
        ]
        factory = FunctionType(self.code, function.__globals__)
        made: FunctionType = factory(function, *cells, *taken)
        # It is as the original but for its code, as tools and the user's code look at it.
        _make_like(made, function)
        made.__dict__.pop("__wrapped__", None)
        return made


def _make_like(made: FunctionType, function: FunctionType) -> None:
    for name in (*WRAPPER_ASSIGNMENTS, "__defaults__", "__kwdefaults__", "__type_params__"):
        if hasattr(function, name):
            setattr(made, name, getattr(function, name))
    made.__dict__.update(function.__dict__)


def compiled(low: Lowering, form: Any, statements: tuple[Statement, ...]) -> TracedForm:
    """Compile `def factory(F, c_x, add, ...): def f(...): ...; return f`."""
    function = low.context.function
    original = function.__code__
    cells = {name: cell for name, cell in low.cells.items() if name in low.free}
    helpers = {name: known for name, known in low.context.helpers.items() if name != "F"}
    names = [low.function, *cells.values(), *helpers.values()]
    factory = define("factory", arguments(names), [form, ast.Return(load(form.name))])
    tree = ast.Module([at(form, factory)], [])
    # What the compiler warns of it has warned of when the user's file was compiled.
    with quiet.held():
        module = compile(
            tree, original.co_filename, "exec", flags=original.co_flags & FUTURE, dont_inherit=True
        )
    code = next(one for one in module.co_consts if isinstance(one, CodeType))
    # It has the name of the user's function.
    renamed = _renamed(code, original.co_name, function.__qualname__, low.generators)
    return TracedForm("", "", renamed, tuple(cells), tuple(helpers), statements)


def is_part(code: CodeType) -> bool:
    """Whether code is the body of a statement of a traced form."""
    return code.co_consts[-1:] == (_PART,)


def _renamed(
    code: CodeType, name: str, qualname: str, generators: set[str], mark: tuple[object, ...] = ()
) -> CodeType:
    """All code inside a factory is the user's function, as tracebacks and profilers see it.

    mark: what the code in it has as last constants; that of a statement's body is marked.
    """
    consts: list[object] = []
    for one in code.co_consts:
        if isinstance(one, CodeType):
            label = name
            full_name = qualname
            sign = mark
            if one.co_name in generators:
                label, full_name, sign = "<genexpr>", f"{full_name}.<locals>.<genexpr>", ()
            renamed = _renamed(one, label, full_name, generators, (_PART,))
            changes: dict[str, Any] = {"co_name": label, "co_consts": (*renamed.co_consts, *sign)}
            if _HAS_QUALNAME:
                changes["co_qualname"] = full_name
            one = renamed.replace(**changes)
        elif isinstance(one, str) and not _HAS_QUALNAME and one.rpartition(".")[2] in generators:
            one = f"{qualname}.<locals>.<genexpr>"  # up to Python 3.10 it stands beside the code
        consts.append(one)
    return code.replace(co_consts=tuple(consts))


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
    _make_like(made, function)
    return made


_codes: ByIdentity[CodeType, CodeType] = ByIdentity()

# It stands in the text for what is asked, and is put into the code afterwards.
_MARK = "\0asked"
# Underscores before the name of a class do not count in its private names.
_UNUSUAL = "_" * 9
_OUTER, _NAME = f"{_UNUSUAL}outer", f"{_UNUSUAL}function"


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
        flags = original.co_flags & FUTURE
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
            one = _with_inner(one, its, qualname) if one.co_name in COMPREHENSIONS else its
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
        if isinstance(one, CodeType) and one.co_name in COMPREHENSIONS
        else asked
        if type(one) is str and one == _MARK
        else one
        for one in code.co_consts
    ]
    return code.replace(co_consts=tuple(consts))
