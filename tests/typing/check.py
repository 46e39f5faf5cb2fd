"""Holds what mypy and pyright say against what they should: `python -m tests.typing.check`.

Both see the package as one that is installed. It takes half a minute and needs the extra `dev`, so
it runs beside the style checks and not with the tests.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LEAST = 0.9
"""The share of mistakes that each checker must find."""

# `to_static(layer)` gives the layer, whose method is a converted function then: no type says that.
_OF_CONVERTED_LAYERS = ('"main_program"', '"optimized_program"')


def environment(folder: Path) -> Path:
    """The Python of a new environment, in which the packages stand as they are installed."""
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    python = next((folder / "environment").glob("*/python"))
    command = [str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    site = Path(shown.stdout.strip())
    for package in (
        "dy2st",
        "runtime/dy2st-stubs",
        "runtime/dy2st_runtime",
        "runtime/dy2st_runtime-stubs",
    ):
        leave_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, site / Path(package).name, ignore=leave_out)
    ours = sysconfig.get_path("purelib")
    (site / "others.pth").write_text(f"{ours}\n", encoding="utf-8")  # NumPy
    return python


def mypy(python: Path, name: str) -> list[tuple[int, str]]:
    """Lines of a file, and what mypy says of them: errors and types."""
    options = ["--check-untyped-defs", "--allow-redefinition", "--hide-error-context"]
    command = ["mypy", *options, "--python-executable", str(python), name]
    return said(command, python, rf"{name}:(\d+): (error:|note: Revealed type is) (.*)")


def pyright(python: Path, name: str) -> list[tuple[int, str]]:
    """Lines of a file, and what pyright says of them."""
    command = ["pyright", "--pythonpath", str(python), name]
    return said(command, python, rf"{name}:(\d+):\d+ - (error:|information: Type of) (.*)")


def said(command: list[str], python: Path, form: str) -> list[tuple[int, str]]:
    """What a checker says in the folder of the files."""
    shown = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=python.parents[2],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert shown.returncode in (0, 1), shown.stdout + shown.stderr
    return [(int(line), text) for line, _, text in re.findall(form, shown.stdout)]


def code_of_readme() -> str:
    """The blocks of Python in the README, one after the other."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))


def is_vague(type: str) -> bool:
    """Whether a type says nothing, or a part of it but for what NumPy's classes are made of."""
    return bool(re.search(r"\b(Any|Unknown)\b", re.sub(r"dtype\[Any\]", "", type)))


def main() -> int:
    """Check all files by both; the number of what is not as it should be."""
    wrong = (HERE / "wrong.py").read_text(encoding="utf-8").splitlines()
    mistakes = {*range(wrong.index("# BEGIN") + 2, len(wrong) + 1)}
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = environment(folder)
        for file in ("right.py", "wrong.py", "revealed.py"):
            (folder / file).write_text((HERE / file).read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "readme.py").write_text(code_of_readme(), encoding="utf-8")
        for checker in (mypy, pyright):
            title = checker.__name__
            for file in ("right.py", "readme.py"):
                errors = checker(python, file)
                errors = [e for e in errors if not any(w in e[1] for w in _OF_CONVERTED_LAYERS)]
                failures += [f"{title}: {file}:{line}: {text}" for line, text in errors]
            found = {line for line, _ in checker(python, "wrong.py")}
            missed = sorted(mistakes - found)
            print(f"{title}: {len(mistakes) - len(missed)} of {len(mistakes)} mistakes are found")
            print(*(f"  not {wrong[line - 1]}" for line in missed), sep="\n")
            if len(missed) > (1 - LEAST) * len(mistakes) or found - mistakes:
                failures.append(f"{title}: too few mistakes are found, or others")
            types = checker(python, "revealed.py")
            vague = [one for one in types if is_vague(one[1].split('" is "')[-1])]
            print(f"{title}: {len(types) - len(vague)} of {len(types)} types are known")
            failures += [f"{title}: revealed.py:{line}: {text}" for line, text in vague]
    print(*failures, sep="\n")
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main()))
