"""What decays unless it is tested: what an import loads, public names, sizes of files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import dy2st
import dy2st_runtime
from dy2st_runtime import nn, ops, optimizer
from dy2st_runtime.ir import DEFINITIONS

ROOT = Path(__file__).parent.parent
SOURCES = sorted([*ROOT.glob("dy2st/**/*.py"), *ROOT.glob("runtime/dy2st_runtime/**/*.py")])


def loaded_by(module):
    code = f"import {module}, sys; print(*{{n.split('.')[0] for n in sys.modules}})"
    command = [sys.executable, "-c", code]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    standard = {*sys.stdlib_module_names, "__main__", "_distutils_hack"}
    return {n for n in names if n not in standard and not n.startswith(("_", "sitecustomize"))}


def test_the_runtime_loads_numpy_and_safetensors_alone():
    assert loaded_by("dy2st_runtime") <= {"numpy", "safetensors", "dy2st_runtime"}


def test_the_compiler_loads_no_more_until_it_converts():
    assert loaded_by("dy2st") <= {"numpy", "safetensors", "dy2st_runtime", "dy2st"}


def test_what_converts_is_loaded_late():
    code = "import dy2st, sys; print(*[n for n in sys.modules if n.startswith('dy2st')])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    late = (
        "dy2st.transpiler",
        "dy2st.convert",
        "dy2st.passes",
        "dy2st.jit.concrete_program",
        "dy2st.static.dispatcher",
        "dy2st_runtime.engine.numpy",
        "dy2st_runtime.ir.text.parser",
        "dy2st_runtime.io",
        "dy2st_runtime.checkpoint",
    )
    assert not [name for name in shown.stdout.split() if name.startswith(late)]


@pytest.mark.parametrize(
    "module", [dy2st, dy2st_runtime, nn, nn.functional, ops, optimizer, dy2st.jit]
)
def test_all_names_exist_once(module):
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert hasattr(module, name), f"{module.__name__}.{name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_files_stay_small_and_say_what_they_are_for(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 800, "split it by reason to exist"
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "the first line says why the file exists"
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inner = [n for n in ast.walk(node) if isinstance(n, (ast.Import, ast.ImportFrom))]
            assert not inner or path.name == "source_printer.py", "imports stand at the top"


# These go down only: a helper that is used once is a line of its caller unless its name says more
# than the code, and a small file with one user joins its neighbour.
MOST_USED_ONCE, MOST_SMALL_FILES, SMALL = 0.12, 79, 60


def test_helpers_used_once_and_small_files_become_fewer():
    functions, used_once, small = 0, 0, 0
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        small += path.name != "__init__.py" and text.count("\n") < SMALL
        nodes = [*ast.walk(ast.parse(text))]
        uses = Counter(getattr(node, "id", getattr(node, "attr", "")) for node in nodes)
        found = [
            node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        ]
        functions += len(found)
        private = [f for f in found if f.name.startswith("_") and not f.name.startswith("__")]
        used_once += sum(uses[f.name] == 1 and not f.decorator_list for f in private)
    assert used_once <= MOST_USED_ONCE * functions, f"{used_once} of {functions}"
    assert small <= MOST_SMALL_FILES, small


# Lines of what makes Programs of Python: it may become less.
HEART = ("dy2st/transpiler", "dy2st/convert", "dy2st/jit")
MOST_LINES = 31_840


def test_what_converts_becomes_no_longer():
    files = [path for folder in HEART for path in (ROOT / folder).rglob("*.py")]
    lines = sum(path.read_text(encoding="utf-8").count("\n") for path in files)
    assert lines <= MOST_LINES, lines


# One `if` that a tensor decides, in a process that has converted another one: code of how many files
# runs, and how many frames deep operators are recorded. Both go down only.
ONE_IF = """
import sys
import dy2st

def f(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y

def g(x):
    if x.sum() < 0:
        y = x * 3
    else:
        y = x - 4
    return y

def depth(frame):
    return 0 if frame is None else 1 + depth(frame.f_back)

def hear(frame, event, _):
    path = frame.f_code.co_filename
    if event == "call" and ("/dy2st/" in path or "/dy2st_runtime/" in path):
        files.add(path)
        if path.endswith("tracer.py") and frame.f_code.co_name == "append":
            frames.append(depth(frame))

x, files, frames = dy2st.ones([2]), set(), []
dy2st.to_static(f)(x)
static = dy2st.to_static(g)
sys.setprofile(hear)
static(x)
sys.setprofile(None)
print(len(files), max(frames) - 1)
"""
MOST_FILES_RUN, MOST_FRAMES = 78, 25


def test_one_branch_takes_few_files_and_frames(tmp_path):
    file = tmp_path / "one_if.py"
    file.write_text(ONE_IF)
    command = [sys.executable, str(file)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    files, frames = map(int, shown)
    assert files <= MOST_FILES_RUN and frames <= MOST_FRAMES, shown


# What knows how a trace stands. What a path changes is a table of its PathState, which forks and
# joins them all; these fields go down only.
STANDS = {
    "dy2st/convert/trace.py": "Trace",
    "dy2st/convert/aliases.py": "AliasTracker",
    "runtime/dy2st_runtime/ir/tracing/tracer.py": "Tracer",
    "runtime/dy2st_runtime/ir/tracing/gradient_flow.py": "GradientFlags",
}
MOST_FIELDS = 58


def fields_of(path, name):
    """The attributes that a class gives its objects."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kind = next(n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name == name)
    stores = (n for n in ast.walk(kind) if isinstance(n, ast.Attribute))
    stores = (n for n in stores if isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name))
    return {n.attr for n in stores if n.value.id == "self"}


def test_what_knows_how_a_trace_stands_gets_no_more_fields():
    found = {name: fields_of(path, name) for path, name in STANDS.items()}
    assert sum(map(len, found.values())) <= MOST_FIELDS, found


COUNT_TABLES = """
import importlib, pkgutil, sys
found = []
for package in ("dy2st.transpiler", "dy2st.convert", "dy2st.jit"):
    path = importlib.import_module(package).__path__
    for module in pkgutil.walk_packages(path, f"{package}."):
        found.append(importlib.import_module(module.name))
seen = {id(None)}
for module in found:
    for name, value in vars(module).items():
        if name.startswith("__") or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, (tuple, list, set, frozenset, dict)):
            parts = [p for one in value for p in (one if isinstance(one, tuple) else (one,))]
            types = [p for p in parts if isinstance(p, type) and not issubclass(p, BaseException)]
            if any(one.__module__ not in ("gast.gast", "ast") for one in types):
                print(f"{module.__name__}.{name}")
"""


def test_there_is_one_table_of_types():
    command = [sys.executable, "-c", COUNT_TABLES]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found == ["dy2st.convert.types.row._ROWS"], "a field of the row says it"


# Words of our own for what the field has a term for: iteration, known, merged, borrowed, returned.
BANNED = frozenset("turn turns turned told tell tells twin twins lent lend loan loans".split())


def names_in(tree):
    """All names that a file gives or uses."""
    for node in ast.walk(tree):
        for field in ("name", "arg", "id", "attr"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield value


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_names_are_words_of_the_field(path):
    text = path.read_text(encoding="utf-8")
    names = {path.stem, *names_in(ast.parse(text))} - OF_PYTHON
    words = {name: {*re.sub("([a-z])([A-Z])", r"\1_\2", name).lower().split("_")} for name in names}
    assert not {name for name, parts in words.items() if parts & BANNED}
    assert "handed on" not in text and "hands on" not in text


OF_PYTHON = frozenset({"tell"})  # of files


def test_what_the_engines_make_once_is_made_by_one_thread():
    text = [path.read_text(encoding="utf-8") for path in SOURCES if "engine" in path.parts]
    assert not any("@cache\n" in one or "@lru_cache" in one for one in text), "lazy.py has `once`"


def test_no_attribute_is_cached_under_a_lock_that_a_fork_may_copy():
    text = [path.read_text(encoding="utf-8") for path in SOURCES]
    assert not any("from functools import cached_property" in one for one in text), "see lazy.py"


USE = """
import atexit, builtins, gc, os, signal, sys, threading, warnings
import numpy, safetensors.numpy

def others(finders):  # one of ours finds second names of our own modules, and nothing else
    return [one for one in finders if type(one).__module__ != "dy2st.paddle.aliases"]

def state():
    return {
        "gc.callbacks": list(gc.callbacks),
        "gc": (gc.isenabled(), gc.get_threshold()),
        "trace": (sys.gettrace(), sys.getprofile(), threading.gettrace(), threading.getprofile()),
        "hooks": (sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook),
        "imports": (others(sys.meta_path), list(sys.path_hooks), list(sys.path)),
        "builtins": dict(vars(builtins)),
        "warnings": (list(warnings.filters), warnings.showwarning),
        "environment": dict(os.environ),
        "atexit": atexit._ncallbacks(),
        "signals": [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)],
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), threading.active_count()),
        "numpy": (numpy.geterr(), numpy.get_printoptions()),
    }

before = state()
import dy2st

class Net(dy2st.nn.Layer):
    def forward(self, x):
        assert x is not 1, "a warning of the compiler"
        for _ in range(3):
            if x.sum() > 0:
                x = x * 2
        return x

net = dy2st.to_static(Net())
net(dy2st.ones([2]))
path = os.path.join(sys.argv[1], "net")
dy2st.jit.save(net, path)
dy2st.jit.load(path)(numpy.ones(2, "float32"))
after = state()
print(*[name for name in before if before[name] != after[name]])
import linecache
print(*[name for name in linecache.cache if name.startswith("<")])
"""


def test_using_it_leaves_python_as_it_was(tmp_path):
    file = tmp_path / "use.py"
    file.write_text(USE)
    command = [sys.executable, "-W", "ignore::SyntaxWarning", str(file), str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []


def test_environment_variables_begin_with_the_projects_name():
    names = set()
    texts = [path.read_text(encoding="utf-8") for path in SOURCES]
    for text in texts:
        for node in ast.walk(ast.parse(text)) if "os.environ.get(" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "os.environ.get":
                names.add(getattr(node.args[0], "value", None))
    own = {
        *("DY2ST_CACHE", "DY2ST_COMPARE", "DY2ST_DEBUG", "DY2ST_ENGINE", "DY2ST_MOST_A_LINE"),
        *("DY2ST_NATIVE_BACKGROUND", "DY2ST_NATIVE_CPU", "DY2ST_XLA_PRECISION"),
        *("DY2ST_XLA_BACKGROUND", "DY2ST_XLA_RANDOM", "DY2ST_XLA_REUSE"),
    }
    of_paddle = {name for name in names if name and name.startswith("PADDLE_")}
    assert names - own - of_paddle == {"OMP_NUM_THREADS", "XDG_CACHE_HOME", None}


REFUSALS = {
    *("BranchMismatch", "ConversionError", "EscapedVariable", "LoopMismatch", "TensorAsPython"),
    "UnsupportedSyntax",
}


def test_every_refusal_names_a_place_a_cause_and_a_way_out():
    for path in ROOT.glob("dy2st/convert/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in REFUSALS:
                given = {keyword.arg for keyword in node.keywords}
                assert given - {"at"} == {"why", "hint"}, f"{path.name}:{node.lineno}"


# Where several operators are named, though a fact of each of them stands in its record.
LISTS_OF_NAMES = {
    "passes/mixed_precision.py": "what is worth a short float is a decision of the pass",
    "passes/peephole.py": "what a host may compute at the end is a decision of the pass",
    "engine/numpy/codegen.py": "shorter calls of NumPy are a matter of this engine",
    "native/rows/arithmetic.py": "machine code is a matter of this engine",
    "native/rows/functions.py": "as for arithmetic",
    "native/rows/logic.py": "as for arithmetic",
    "native/rows/reductions.py": "as for arithmetic",
    "native/convolution/library.py": "the words of oneDNN for what it computes",
    "native/convolution/recipe.py": "what oneDNN computes is a matter of that folder",
    "native/convolution/post_ops.py": "as for recipe.py",
    "native/convolution/weights.py": "what filters take in is a matter of that folder",
    "native/operators/scans.py": "as for arithmetic",
    "native/program/shape_specialisation.py": "which numbers code reads is a matter of this engine",
    "native/program/composites.py": "what loops compute part by part is a matter of this engine",
    "xla/lists.py": "which lists XLA can hold is a matter of this engine",
    "xla/host_operators.py": "what XLA does not compute is a matter of this engine",
    "xla/lowerings/checks.py": "what stops compiled code is a matter of this engine",
    "xla/lowerings/elementwise.py": "what an operator is in jax is a matter of this engine",
    "xla/lowerings/matrices.py": "as for elementwise",
    "xla/lowerings/reductions.py": "as for elementwise",
    "xla/lowerings/shapes.py": "as for elementwise",
    "engine/onnx/executable.py": "which results are one object is a matter of this engine",
    "onnx/writers/checks.py": "what no model has is a matter of ONNX",
    "onnx/writers/elementwise.py": "what an operator is in ONNX is a matter of that folder",
    "onnx/writers/lists.py": "as for elementwise",
    "onnx/writers/shapes.py": "as for elementwise",
    "ir/ufuncs.py": "what NumPy calls our functions",
    "ir/tracing/python_numbers.py": "what Python computes where the Program has 64 bits",
    "ir/tracing/traced_numbers.py": "Python's operators on sizes, which have names of their own",
}
ASKING = [
    path
    for path in SOURCES
    if {"passes", "static", "ir", "engine"} & {parent.name for parent in path.parents}
]


def names_of_operators(node):
    """The operators that a list, a dict or a text names."""
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        entries = node.elts
    elif isinstance(node, ast.Dict):
        entries = node.keys
    elif isinstance(node, ast.MatchOr):
        entries = [pattern.value for pattern in node.patterns if hasattr(pattern, "value")]
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _listed(node.value)
    else:
        return set()
    return {e.value for e in entries if isinstance(e, ast.Constant)} & set(DEFINITIONS)


def _listed(text):
    words = text.split()
    found = set(words) & set(DEFINITIONS)
    return found if 2 * len(found) > len(words) else set()  # else it is a sentence


@pytest.mark.parametrize("path", ASKING, ids=lambda path: path.name)
def test_operators_are_asked_and_not_listed(path):
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    lists = [names for names in map(names_of_operators, nodes) if len(names) > 3]
    if any(path.as_posix().endswith(known) for known in LISTS_OF_NAMES):
        assert lists, "it lists no names any more: take it out of LISTS_OF_NAMES"
    else:
        assert not lists, "ask the record of an operator, or give it one more fact"


# Words of Python's own errors stay Python's, and what only breaks inside is no refusal.
OF_OURS = ("nn", "optimizer", "io", "jit", "static", "vision", "passes")
RAISED_BY_PROGRAMS = ("rare_lr.py",)
BUILT_IN = re.compile(r"raise (TypeError|ValueError|IndexError)\(")
REFUSING = [
    path
    for path in SOURCES
    if {*path.relative_to(ROOT).parts} & {*OF_OURS} and path.name not in RAISED_BY_PROGRAMS
]


@pytest.mark.parametrize("path", REFUSING, ids=str)
def test_what_is_refused_is_refused_by_errors_of_ours(path):
    assert not BUILT_IN.findall(path.read_text(encoding="utf-8"))


# Each calls a function of Python when an object goes, which may be in the midst of `ast.parse`: see
# ByIdentity. What stands here goes with what no trace makes.
CALLS_WHEN_GONE = re.compile(r"\b(Weak(Set|Method|(Key|Value)Dictionary)\(|ref\(.*lambda)")
SELDOM_GONE = {"functions.py", "packing.py"}


@pytest.mark.parametrize("path", [p for p in SOURCES if p.name not in SELDOM_GONE], ids=str)
def test_nothing_of_python_runs_when_an_object_goes(path):
    assert not CALLS_WHEN_GONE.findall(path.read_text(encoding="utf-8"))
