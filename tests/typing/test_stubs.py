"""What type checkers see is what the code says: the files of stubs are up to date, and complete."""

from __future__ import annotations

import ast
import sys

import pytest

import dy2st
from dy2st import nn
from dy2st_runtime.tensor import EagerTensor
from tests.typing.tensor_parts import HIDDEN
from tests.typing.write_stubs import FOLDERS, files, there


@pytest.fixture(scope="module")
def written():
    return files()


def names_in(path, text):
    """What a file gives: names at the top, and in its classes."""
    top, inner = set(), {}
    for node in ast.parse(text, str(path)).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            top.add(node.name)
        elif isinstance(node, ast.AnnAssign):
            top.add(node.target.id)
        elif isinstance(node, ast.Assign):
            top.add(node.targets[0].id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            top |= {entry.asname for entry in node.names if entry.asname == entry.name}
        if isinstance(node, ast.ClassDef):
            members = {getattr(m, "name", None) or m.target.id for m in node.body if named(m)}
            inner[node.name] = members
    return top, inner


def named(member):
    return isinstance(member, (ast.FunctionDef, ast.AnnAssign))


@pytest.mark.skipif(sys.version_info < (3, 11), reason="3.10 writes some types in other words")
def test_the_files_are_up_to_date(written):
    wrong = [str(p) for p in there() ^ {*written}]
    wrong += [str(p) for p in there() & {*written} if p.read_text() != written[p]]
    assert not wrong, "python -m tests.typing.write_stubs"


@pytest.mark.parametrize("module", [dy2st, nn, nn.functional, dy2st.paddle, dy2st.linalg])
def test_a_file_has_all_names_of_its_module(written, module):
    inner = "/".join(module.__name__.split(".")[1:])
    folder = FOLDERS["dy2st"] / inner
    path = folder / "__init__.pyi"
    path = path if path in written else folder.with_suffix(".pyi")
    shown = {name for name in names_in(path, written[path])[0] if not name.startswith("_")}
    modules = {name for name in dir(module) if type(getattr(module, name)) is type(ast)}
    assert shown - modules <= {*dir(module)} | {"Any"}
    assert {*dir(module)} - modules <= shown


def test_tensors_have_all_their_methods(written):
    path = FOLDERS["dy2st_runtime"] / "ir" / "tensor.pyi"
    methods = names_in(path, written[path])[1]["Tensor"]
    public = {name for name in dir(EagerTensor) if not name.startswith("_")} - HIDDEN
    assert public <= methods
    assert len(public) > 500


def test_most_arguments_and_all_results_of_functions_say_what_they_are(written):
    path = FOLDERS["dy2st"] / "__init__.pyi"
    arguments, vague, results = 0, 0, []
    for node in ast.walk(ast.parse(written[path])):
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.args, *node.args.kwonlyargs]
            arguments += len(given)
            vague += sum(ast.unparse(one.annotation) == "Any" for one in given)
            if ast.unparse(node.returns) == "Any":
                results.append(node.name)
    assert vague < 0.03 * arguments, f"{vague} of {arguments}"
    assert sorted(results) == ["tolist"]
