"""`transpile`: the conversion of one function, made once for each code object."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import CodeType, FunctionType

import gast

from dy2st.transpiler.analysis.obstacles import Left
from dy2st.transpiler.build import bind_helpers, compile_code, make_function, to_ast
from dy2st.transpiler.context import Context, StatementInfo
from dy2st.transpiler.nodes import Node, is_untouched, statements
from dy2st.transpiler.pipeline import PIPELINE, rewrite
from dy2st.transpiler.printing import to_source
from dy2st.transpiler.rewrites.python_path import with_python_path
from dy2st.transpiler.rewrites.relays import Relays
from dy2st.transpiler.rewrites.turns import NO_LINES, Lines, is_turning
from dy2st.transpiler.source import Source, find_source, mangle
from dy2st_runtime.by_identity import ByIdentity


class Converted:
    """One converted function: its code, its text, and what was left as Python.

    untouched: whether it is wholly as it was, since it looks at its own variables.
    takes_turns: whether it is a generator function that runs its consumer now.
    """

    def __init__(
        self, function: FunctionType, by_turns: Lines = NO_LINES, relays: Relays | None = None
    ):
        """Find the source of a function, rewrite and compile it."""
        source = find_source(function)
        self._tree = gast.ast_to_gast(source.node)
        self.takes_turns = is_turning(self._tree, by_turns)
        context = rewrite(
            self._tree, function, owner=source.owner, by_turns=by_turns, relays=relays
        )
        self.untouched = is_untouched(self._tree)
        self.left: list[tuple[int, Left]] = _left_in(self._tree)
        is_for_one_trace = bool(by_turns) or relays is not None
        self._unbound = _compiled(self._tree, source, context, is_for_one_trace)
        self._code: CodeType | None = None
        self.statements: Mapping[str, StatementInfo] = context.statements
        self.written_first: frozenset[str] = _written_first(self._tree)
        self._text: str | None = None

    @property
    def code(self) -> str:
        """The rewritten function as text."""
        if self._text is None:
            self._text = to_source(_printable(self._tree))
        return self._text

    def function(self, original: FunctionType, helpers: Mapping[str, object]) -> FunctionType:
        """The converted form of a function with this code, its own closure and defaults."""
        return make_function(self.code_object(helpers), original)

    def code_object(self, helpers: Mapping[str, object]) -> CodeType:
        """The code of the converted function, which calls these functions of `convert`."""
        if self._code is None:
            code = bind_helpers(self._unbound, helpers)
            self._code = _registered(code, self.statements, code.co_name)
        return self._code


def _compiled(tree: Node, source: Source, context: Context, is_for_one_trace: bool) -> CodeType:
    """The code with Python's own statements beside the staged ones, where Python takes that.

    What runs only once, in a trace, is compiled in less time than the statements would save.
    """
    if is_for_one_trace:
        return compile_code(tree, source, context)
    try:
        return compile_code(with_python_path(tree, context), source, context)
    except (RecursionError, SyntaxError):
        # Python bounds how deeply statements may nest, and the tree that is printed nests less.
        return compile_code(tree, source, context)


def transpile(
    function: FunctionType, by_turns: Lines = NO_LINES, relays: Relays | None = None
) -> Converted:
    """Rewrite a function; the same code object is rewritten once in each form.

    `by_turns`: the generators that begin at these lines run their consumers, if they can.
    `relays`: where functions relay exceptions to their callers.
    Raises SourceUnavailable if the function has no readable source.
    """
    code = function.__code__
    forms = _conversions.get(code)
    if forms is None:
        forms = _conversions[code] = {}
    known = forms.get((by_turns, relays))
    if known is None:
        known = forms[by_turns, relays] = Converted(function, by_turns, relays)
    return known


def code_after(function: FunctionType, step: int) -> str:
    """The text of a function after the first `step` rewrites, 1 up to the number of rewrites."""
    tree = gast.ast_to_gast(find_source(function).node)
    rewrite(tree, function, min(step, len(PIPELINE)))
    return to_source(_printable(tree))


def is_converted(code: CodeType) -> bool:
    """Whether a code object came out of a conversion."""
    return _made.get(code) is not None


def statement_info(code: CodeType) -> StatementInfo | None:
    """What is known of the `if` or loop to which a generated function belongs."""
    known = _made.get(code)
    return None if known is None else known[0]


# By identity, since two functions of two files may have equal code.
_conversions: ByIdentity[CodeType, dict[tuple[Lines, Relays | None], Converted]] = ByIdentity()
_made: ByIdentity[CodeType, tuple[StatementInfo | None]] = ByIdentity()


def _registered(code: CodeType, statements: Mapping[str, StatementInfo], name: str) -> CodeType:
    """The code, known from now on; parts of statements have the `name` of the user's function."""
    info = statements.get(code.co_name)
    name = code.co_name if info is None else name
    consts = tuple(
        _registered(inner, statements, name) if isinstance(inner, CodeType) else inner
        for inner in code.co_consts
    )
    code = code.replace(co_consts=consts, co_name=name)
    _made[code] = (info,)
    return code


def _printable(tree: Node) -> ast.AST:
    """The tree for reading: a `pass` beside other statements is there for debuggers only."""
    node = to_ast(tree)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        node.decorator_list = []
    for inner in ast.walk(node):
        for _, block in ast.iter_fields(inner):
            if isinstance(block, list) and len(block) > 1:
                block[:] = [entry for entry in block if not isinstance(entry, ast.Pass)] or block[
                    :1
                ]
    return node


def _written_first(tree: Node) -> frozenset[str]:
    """The globals that a function assigns before it reads them, and nothing inside it uses."""
    names = getattr(tree, "written_first", ())
    return frozenset(mangle(name, tree.owner) for name in names)


def _left_in(tree: Node) -> list[tuple[int, Left]]:
    found = []
    for node in statements(tree):
        facts = getattr(node, "facts", None)
        if facts is not None and facts.left is not None:
            found.append((node.lineno, facts.left))
    return sorted(set(found))
