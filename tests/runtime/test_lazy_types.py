"""Type checkers know the names that are loaded late."""

from __future__ import annotations

import ast
import importlib

import pytest

from tests.runtime.lazy_types import FILES, text


def imports(source):
    return {
        (node.module, alias.name, alias.asname or alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_file_says_what_the_table_says(file):
    assert imports(file.read_text()) == imports(text(*FILES[file])), (
        "renew it: python -m tests.runtime.lazy_types"
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_its_imports_find_what_the_package_shows(file):
    for module, name, _ in imports(file.read_text()):
        assert hasattr(importlib.import_module(module), name)
