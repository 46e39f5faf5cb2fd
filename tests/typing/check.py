"""Holds what mypy and pyright say against what they should: `python -m tests.typing.check`.

Both see the package as one that is installed. It takes half a minute and needs the extra `dev`, so
it runs beside the style checks and not with the tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LEAST = 0.9
"""The share of mistakes that each checker must find."""

# `to_static(layer)` gives the layer, whose method is a converted function then: no type says that.
_OF_CONVERTED_LAYERS = ('"main_program"', '"optimized_program"')


def mypy(folder: Path, name: str) -> list[tuple[int, str]]:
    """Lines of a file, and what mypy says of them: errors and types."""
    options = ["--check-untyped-defs", "--allow-redefinition", "--hide-error-context"]
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(folder / "cache"), name]
    return said(command, folder, rf"{name}:(\d+): (error:|note: Revealed type is) (.*)")


def pyright(folder: Path, name: str) -> list[tuple[int, str]]:
    """Lines of a file, and what pyright says of them."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, name]
    return said(command, folder, rf"{name}:(\d+):\d+ - (error:|information: Type of) (.*)")


def said(command: list[str], folder: Path, form: str) -> list[tuple[int, str]]:
    """What a checker says, in the environment of somebody who has installed the package."""
    paths = [str(ROOT), str(ROOT / "runtime")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    shown = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
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
        for file in ("right.py", "wrong.py", "revealed.py"):
            (folder / file).write_text((HERE / file).read_text(encoding="utf-8"), encoding="utf-8")
        (folder / "readme.py").write_text(code_of_readme(), encoding="utf-8")
        for checker in (mypy, pyright):
            title = checker.__name__
            for file in ("right.py", "readme.py"):
                errors = checker(folder, file)
                errors = [e for e in errors if not any(w in e[1] for w in _OF_CONVERTED_LAYERS)]
                failures += [f"{title}: {file}:{line}: {text}" for line, text in errors]
            found = {line for line, _ in checker(folder, "wrong.py")}
            missed = sorted(mistakes - found)
            print(f"{title}: {len(mistakes) - len(missed)} of {len(mistakes)} mistakes are found")
            print(*(f"  not {wrong[line - 1]}" for line in missed), sep="\n")
            if len(missed) > (1 - LEAST) * len(mistakes) or found - mistakes:
                failures.append(f"{title}: too few mistakes are found, or others")
            types = checker(folder, "revealed.py")
            vague = [one for one in types if is_vague(one[1].split('" is "')[-1])]
            print(f"{title}: {len(types) - len(vague)} of {len(types)} types are known")
            failures += [f"{title}: revealed.py:{line}: {text}" for line, text in vague]
    print(*failures, sep="\n")
    return len(failures)


if __name__ == "__main__":
    sys.exit(bool(main()))
