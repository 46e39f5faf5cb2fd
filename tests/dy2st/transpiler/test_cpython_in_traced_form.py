"""CPython's tests of the language pass with their own functions in traced form."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

_FRAMES = "it looks at frames, and those of the protocol stand between"
_TRACES = "it counts line events or entries of a traceback"

# Test: why the traced form differs.
LOST: dict[str, str] = {
    "test_generators.GeneratorStackTraceTest.test_send_with_yield_from": _FRAMES,
    "test_generators.GeneratorStackTraceTest.test_throw_with_yield_from": _FRAMES,
    "test_patma.TestTracing.test_default_capture": _TRACES,
    "test_patma.TestTracing.test_default_wildcard": _TRACES,
    "test_patma.TestTracing.test_no_default": _TRACES,
    "test_patma.TestTracing.test_only_default_capture": _TRACES,
    "test_patma.TestTracing.test_only_default_wildcard": _TRACES,
    "test_patma.TestTracing.test_unreachable_code": _TRACES,
    "test_raise.TestTraceback.test_accepts_traceback": _TRACES,
    "test_raise.TestTracebackType.test_attrs": _TRACES,
    "test_super.TestSuper.test_obscure_super_errors": "it deletes what `super()` needs",
    "test_listcomps.ListComprehensionTest.test_exception_locations": _TRACES,
    "test_dictcomps.DictComprehensionTest.test_exception_locations": _TRACES,
    "test_with.NestedWith.testExceptionLocation": _TRACES,
    "test_iter.TestCase.test_ref_counting_behavior": "the plain protocol holds the exception",
}

MODULES = (
    *("test_augassign", "test_binop", "test_bool", "test_class", "test_compare", "test_contains"),
    *("test_decorators", "test_dictcomps", "test_enumerate", "test_fstring", "test_funcattrs"),
    *("test_generators", "test_genericclass", "test_global", "test_grammar", "test_iter"),
    *("test_keywordonlyarg", "test_listcomps", "test_named_expressions", "test_opcodes"),
    *("test_patma", "test_positional_only_arg", "test_property", "test_raise", "test_scope"),
    *("test_super", "test_typechecks", "test_with", "test_yield_from"),
)


@pytest.mark.cpython
@pytest.mark.parametrize("module", MODULES)
def test_the_language_in_traced_form_is_pythons(module: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(f"test.{module}") is None:
        pytest.skip(f"this Python does not ship test.{module}")
    path = tmp_path / "records"
    worker = "tests.dy2st.transpiler.traced_worker"
    subprocess.run([sys.executable, "-m", worker, module, str(path)], cwd=ROOT, check=True)
    *records, last = [json.loads(line) for line in path.read_text().splitlines()]
    assert not last["refused"]
    if not last["traced"]:
        pytest.skip("it has no functions in this version")
    failed = {r["test"].partition(".")[2]: r["text"] for r in records if r["kind"] == "failed"}
    assert {name: text for name, text in failed.items() if name not in LOST} == {}
