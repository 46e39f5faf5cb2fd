"""From lowered statements to the code of a factory, under the user's file name."""

from __future__ import annotations
import __future__

import ast
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from dy2st.transpiler.lowering import BUILTINS, Lowering
from dy2st.transpiler.nodes import Node
from dy2st.transpiler.source import quiet
from dy2st.transpiler.trees import Place, arguments, define, give, load

Statement: TypeAlias = "tuple[str, int, int]"  # its kind, such as "if", line and column

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_HAS_QUALNAME = hasattr(CodeType, "co_qualname")
# The last constant of code that is a part of a traced form.
_PART = object()


@dataclass(frozen=True, eq=False, repr=False)
class Factory:
    """The code that makes a traced form, and what it is called with.

    cells: the closure of the user's function that it takes, by variable.
    protocol: what it takes of the protocol, by name there.
    statements: the branches and loops that the user has written.
    """

    code: CodeType
    cells: tuple[str, ...]
    protocol: tuple[str, ...]
    statements: tuple[Statement, ...]

    def made(self, protocol: object, function: FunctionType) -> FunctionType:
        """The traced form of a function with this code."""
        closure = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        cells = [closure[name] for name in self.cells]
        taken = [
            BUILTINS[name] if name in BUILTINS else getattr(protocol, name)
            for name in self.protocol
        ]
        factory = FunctionType(self.code, function.__globals__)
        made: FunctionType = factory(function, *cells, *taken)
        # It is as the original but for its code, as tools and the user's code look at it.
        made.__name__, made.__qualname__ = function.__name__, function.__qualname__
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        made.__annotations__ = function.__annotations__
        made.__doc__, made.__module__ = function.__doc__, function.__module__
        if hasattr(function, "__type_params__"):
            setattr(made, "__type_params__", function.__type_params__)  # noqa: B010
        made.__dict__.update(function.__dict__)
        made.__dict__.pop("__wrapped__", None)
        return made


def factory_tree(low: Lowering, tree: Node, body: list[ast.stmt], place: Place) -> ast.Module:
    """`def factory(F, c_x, add, ...): def f(...): ...; return f`."""
    cells, helpers = low.parameters()
    others = [known for name, known in helpers.items() if name != "F"]
    names = [low.function, *cells.values(), *others]
    made = define(place, tree.name, _parameters(tree.args, place), body)
    inner = [made, give(place, load(place, tree.name))]
    factory = define(place, "factory", arguments(place, names), inner)
    return ast.Module(body=[factory], type_ignores=[])


def compiled(low: Lowering, tree: ast.Module, statements: tuple[Statement, ...]) -> Factory:
    """Compile the factory; what is generated has the name of the user's function."""
    function = low.context.function
    original = function.__code__
    # What the compiler warns of it has warned of when the user's file was compiled.
    with quiet.held():
        module = compile(
            tree, original.co_filename, "exec", flags=original.co_flags & _FUTURE, dont_inherit=True
        )
    code = next(one for one in module.co_consts if isinstance(one, CodeType))
    cells, helpers = low.parameters()
    taken = tuple(one for one in helpers if one != "F")
    renamed = _renamed(code, original.co_name, function.__qualname__, low.generators)
    return Factory(renamed, tuple(cells), taken, statements)


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


def _parameters(a: Node, place: Place) -> ast.arguments:
    def names(nodes: list[Node]) -> list[ast.arg]:
        return [ast.arg(arg=node.id, **place) for node in nodes]

    return ast.arguments(
        posonlyargs=names(a.posonlyargs),
        args=names(a.args),
        vararg=None if a.vararg is None else ast.arg(arg=a.vararg.id, **place),
        kwonlyargs=names(a.kwonlyargs),
        kw_defaults=[None] * len(a.kwonlyargs),
        kwarg=None if a.kwarg is None else ast.arg(arg=a.kwarg.id, **place),
        defaults=[],
    )
