"""Functions are converted wherever their text is, or refused with the one defined error.

Each program runs in a process of its own; `main` below is what every one of them does.
"""

from __future__ import annotations

import os
import py_compile
import select
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

REFUSED = "the source of f is not available"

# A branch on a tensor: without the text of `f` there is no Program of it.
DEFINITION = """\
import numpy, dy2st

def f(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y

"""
USE = """\
function = dy2st.to_static(f)
print([float(function(numpy.full(2, v, 'float32')).sum()) for v in (1, -1)])
"""
RIGHT = "[4.0, -4.0]"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(sys.path),
    "PYTHONDONTWRITEBYTECODE": "1",
}


def run(
    arguments: list[str], folder: Path, given: str | None = None, stdin: object = None
) -> subprocess.CompletedProcess[str]:
    """A new interpreter with these arguments."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        input=given,
        stdin=stdin,  # type: ignore[arg-type]
        capture_output=True,
        text=True,
        timeout=120,
        env=ENVIRONMENT,
    )


def converted(result: subprocess.CompletedProcess[str]) -> None:
    assert result.stdout.strip() == RIGHT, result.stderr


def refused(result: subprocess.CompletedProcess[str], why: str) -> None:
    assert result.stdout == ""
    assert "SourceUnavailable" in result.stderr
    assert REFUSED in result.stderr
    assert why in result.stderr


def test_a_file_that_is_run(tmp_path):
    (tmp_path / "program.py").write_text(DEFINITION + USE)
    converted(run(["program.py"], tmp_path))


def test_a_module_of_a_zip_file(tmp_path):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("inside.py", DEFINITION)
    (tmp_path / "program.py").write_text(
        "import sys\nsys.path.insert(0, 'packed.zip')\nfrom inside import *\n" + USE
    )
    converted(run(["program.py"], tmp_path))


def test_a_zip_file_that_is_run(tmp_path):
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        archive.writestr("__main__.py", DEFINITION + USE)
    converted(run(["packed.zip"], tmp_path))


@pytest.mark.parametrize("option", ["-c", "-Bc"])
def test_a_text_of_the_command_line(tmp_path, option):
    converted(run([option, DEFINITION + USE, "an argument"], tmp_path))


def test_text_made_inside_a_text_of_the_command_line_is_not_mistaken_for_it(tmp_path):
    other = DEFINITION.replace("x + 1", "x + 2")
    refused(run(["-c", f"exec({other!r})\n{DEFINITION!r}\n{USE}"], tmp_path), "no text")


def test_a_file_as_standard_input(tmp_path):
    (tmp_path / "program.py").write_text(DEFINITION + USE)
    with open(tmp_path / "program.py") as file:
        converted(run(["-"], tmp_path, stdin=file))


def test_a_file_as_standard_input_of_a_prompt(tmp_path):
    (tmp_path / "program.py").write_text("import sys\n" + DEFINITION + USE)
    with open(tmp_path / "program.py") as file:
        assert RIGHT in run(["-i", "-q"], tmp_path, stdin=file).stdout


def test_a_pipe_as_standard_input_of_a_prompt_is_exact_or_refused(tmp_path):
    result = run(["-i", "-q"], tmp_path, DEFINITION + USE)
    if sys.version_info >= (3, 13):  # which keeps what it reads
        assert RIGHT in result.stdout
    else:
        assert REFUSED in result.stderr and RIGHT not in result.stdout


def test_a_console_inside_a_program_is_refused(tmp_path):
    (tmp_path / "typed.txt").write_text(DEFINITION + USE)
    (tmp_path / "program.py").write_text(
        "import code\nconsole = code.InteractiveConsole()\n"
        "for line in open('typed.txt').read().split('\\n'):\n    console.push(line)\n"
    )
    refused(run(["program.py"], tmp_path), "no text")


def test_functions_that_the_standard_library_makes_from_text_are_called_as_they_are(tmp_path):
    (tmp_path / "program.py").write_text(
        "import collections, dataclasses, numpy, dy2st\n"
        "Pair = collections.namedtuple('Pair', 'a b')\n"
        "@dataclasses.dataclass(order=True)\nclass Both:\n    a: object\n    b: int = 2\n"
        "def f(x):\n"
        "    pair = Pair._make([x, x + 1])._replace(a=x + 3)\n"
        "    both = dataclasses.replace(Both(pair.a), b=4)\n"
        "    return both.a + both.b if Both(1) < Both(2) else x\n"
        "print(float(dy2st.to_static(f)(numpy.ones(1, 'float32'))))\n"
    )
    assert run(["program.py"], tmp_path).stdout.strip() == "8.0"


def test_a_pipe_as_standard_input_is_refused(tmp_path):
    refused(run([], tmp_path, DEFINITION + USE), "no text")


def test_executed_text_is_refused(tmp_path):
    (tmp_path / "program.py").write_text(f"exec({DEFINITION!r})\n{USE}")
    refused(run(["program.py"], tmp_path), "no text")


def test_executed_text_that_linecache_knows(tmp_path):
    (tmp_path / "program.py").write_text(
        f"import linecache\ntext = {DEFINITION!r}\n"
        "linecache.cache['<cell 1>'] = (len(text), None, text.splitlines(True), '<cell 1>')\n"
        f"exec(compile(text, '<cell 1>', 'exec'))\n{USE}"
    )
    converted(run(["program.py"], tmp_path))


def test_bytecode_without_its_text_is_refused(tmp_path):
    (tmp_path / "compiled.py").write_text(DEFINITION)
    py_compile.compile(str(tmp_path / "compiled.py"), str(tmp_path / "compiled.pyc"))
    (tmp_path / "compiled.py").unlink()
    (tmp_path / "program.py").write_text("from compiled import *\n" + USE)
    refused(run(["program.py"], tmp_path), "no text")


@pytest.mark.parametrize(
    "edit",
    [
        ("x + 1", "x + 2"),  # a constant
        ("x.sum()", "x.max()"),  # a name
        ("import numpy", "\nimport numpy"),  # a line more
        ("def f(x):", "def f(x, y=1):"),
    ],
)
def test_a_file_edited_since_it_was_imported_is_refused(tmp_path, edit):
    (tmp_path / "edited.py").write_text(DEFINITION)
    changed = DEFINITION.replace(*edit)
    (tmp_path / "program.py").write_text(
        f"from edited import *\nopen('edited.py', 'w').write({changed!r})\n{USE}"
    )
    refused(run(["program.py"], tmp_path), "its text has changed")


def test_a_module_imported_again_after_an_edit(tmp_path):
    (tmp_path / "edited.py").write_text(DEFINITION.replace("x + 1", "x + 20"))
    (tmp_path / "program.py").write_text(
        f"import importlib, edited, dy2st, numpy\nf = edited.f\n{USE.replace('print', 'str')}"
        f"open('edited.py', 'w').write({DEFINITION!r})\n"
        f"f = importlib.reload(edited).f\n{USE}"
    )
    converted(run(["program.py"], tmp_path))


def test_a_doctest(tmp_path):
    lines = (DEFINITION + USE).splitlines()
    typed = "\n".join(
        ("... " if line.startswith("    ") else ">>> ") + line if line else "..." for line in lines
    ).replace("...\n>>> def", ">>> def")
    (tmp_path / "tested.py").write_text(f'"""\n{typed}\n{RIGHT}\n"""\n')
    result = run(["-m", "doctest", "-v", "tested.py"], tmp_path)
    assert "Test passed" in result.stdout, result.stdout


def test_lambdas_of_a_line_without_columns(tmp_path):
    (tmp_path / "program.py").write_text(
        "from dy2st.transpiler.lower import code_of as text\n"
        "fs = [lambda x: x and 1, lambda x: x or 2, lambda x: x and 1, lambda x: not x]\n"
        "print([text(f).split('return ')[-1].strip() for f in fs])\n"
    )
    result = run(["-X", "no_debug_ranges", "program.py"], tmp_path)
    assert result.stdout.count("convert_") == 3 and "x and" not in result.stdout, result.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="types into a terminal of Linux")
def test_what_is_typed_at_the_prompt(tmp_path):
    assert RIGHT in _typed(tmp_path, DEFINITION + USE)


@pytest.mark.skipif(sys.platform != "linux", reason="types into a terminal of Linux")
def test_a_method_typed_at_the_prompt(tmp_path):
    indented = "".join(f"    {line}\n" if line else "" for line in DEFINITION.splitlines()[2:])
    text = f"import numpy, dy2st\nclass A:\n{indented.replace('(x)', '(self, x)')}\nf = A().f\n"
    assert RIGHT in _typed(tmp_path, text + USE)


def _typed(folder: Path, text: str) -> str:
    """What a terminal shows after these lines."""
    import pty

    main, side = pty.openpty()
    environment = {
        **ENVIRONMENT,
        "HOME": str(folder),
        "TERM": "dumb",
        "PYTHON_HISTORY": str(folder / "history"),
    }
    process = subprocess.Popen(
        [sys.executable, "-q"], cwd=folder, stdin=side, stdout=side, stderr=side, env=environment
    )
    os.close(side)
    shown = ""
    try:
        for line in [*text.splitlines(), "quit()"]:
            shown += _read_until_quiet(main)
            os.write(main, line.replace("    ", "\t").encode() + b"\n")
        shown += _read_until_quiet(main)
    finally:
        process.kill()
        process.wait()
        os.close(main)
    return shown


def _read_until_quiet(terminal: int, seconds: float = 60) -> str:
    """What the interpreter shows, up to the prompt that it ends with."""
    shown, until = "", time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.05)[0]:
            if shown.endswith((">>> ", "... ")):
                break
            continue
        try:
            shown += os.read(terminal, 1 << 16).decode(errors="replace")
        except OSError:  # the interpreter has gone
            break
    return shown


@pytest.mark.skipif(sys.platform != "linux", reason="types into a terminal of Linux")
def test_lines_of_a_decorated_function_typed_at_the_prompt_are_pythons(tmp_path):
    definition = DEFINITION.replace("def f(x):", "@dy2st.to_static\ndef f(x):")
    shown = _typed(tmp_path, definition + "f(numpy.ones(2))\nprint(f.report())\n")
    assert "line 3: if: staged" in shown
