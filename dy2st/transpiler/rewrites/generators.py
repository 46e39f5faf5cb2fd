"""A generator looks, each time it goes on, whether it may: `convert_resumed(resumes, (yield x))`.

    def f(x):                        def f(x):
        yield x                          resumes_0 = convert_started()
                                         convert_resumed(resumes_0, (yield x))

How far a generator has come is a state that a Program does not have: a branch must not change it.
"""

from __future__ import annotations

import gast

from dy2st.transpiler.context import Context
from dy2st.transpiler.nodes import (
    SCOPES,
    Node,
    assign,
    at,
    functions_in,
    is_generator,
    load,
    split_docstring,
)


def transform(tree: Node, context: Context) -> None:
    """Rewrite every `yield` of every generator function."""
    for function in functions_in(tree):
        if is_generator(function):
            resumes = context.flag("resumes")
            yields = _Yields(resumes, context)
            docstring, rest = split_docstring(function.body)
            start = at(rest[0], assign(resumes, context.call("convert_started")))
            function.body = [*docstring, start, *map(yields.visit, rest)]


class _Yields(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, resumes: str, context: Context):
        self._resumes, self._context = resumes, context

    def visit(self, node: Node) -> Node:
        """Functions and classes inside have their own."""
        return node if isinstance(node, SCOPES) else super().visit(node)

    def visit_Yield(self, node: Node) -> Node:
        """Look after the `yield`."""
        self.generic_visit(node)
        return at(node, self._context.call("convert_resumed", load(self._resumes), node))
