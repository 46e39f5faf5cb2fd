"""The text of a tree, for reading only: astor where it is known to print exactly, else ast."""

from __future__ import annotations

import ast
import sys
from types import ModuleType

from dy2st.transpiler.quiet import quiet

# What astor 0.8.1 prints wrongly or not at all.
_BEYOND_ASTOR = tuple(
    getattr(ast, name)
    for name in ("JoinedStr", "Match", "TryStar", "TypeAlias", "TemplateStr")
    if hasattr(ast, name)
)


def to_source(tree: ast.AST) -> str:
    """Print a tree as Python text that parses to the same tree."""
    if sys.version_info >= (3, 14) or any(map(_beyond_astor, ast.walk(tree))):
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    # Lines stay whole: astor would break them in the middle of a call.
    text: str = _astor().to_source(tree, pretty_source="".join)
    return text


def _beyond_astor(node: ast.AST) -> bool:
    return isinstance(node, _BEYOND_ASTOR) or bool(getattr(node, "type_params", None))


def _astor() -> ModuleType:
    """The heavy import of this module, made where it is needed: it warns on Python 3.12."""
    with quiet.held():
        import astor
    module: ModuleType = astor
    return module
