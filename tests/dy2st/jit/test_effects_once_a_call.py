"""What a function does beyond itself is done once a call, also where its trace begins anew."""

from __future__ import annotations

import logging
import random
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import dy2st
from dy2st.jit import to_static

UP, DOWN = dy2st.to_tensor([1.0, 2.0]), dy2st.to_tensor([-1.0, -2.0])
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*traced anew for every call"),
    pytest.mark.filterwarnings("ignore:unclosed file"),
]


def helper(x):
    if x.sum() > 0:
        raise ValueError("no")
    return x


def _opened(path: Path) -> None:
    with open(path, "a") as file:
        file.write("one\n")


def _not_closed(path: Path) -> None:
    open(path, "a").write("one\n")


def _printed(path: Path) -> None:
    with open(path, "a") as file:
        print("one", 2, file=file)


def _written(path: Path) -> None:
    with open(path, "w") as file:
        file.write("one\n")
        file.writelines(["two\n"])


def _read_and_written(path: Path) -> None:
    path.touch()
    with open(path) as file:
        text = file.read()
    path.write_text(f"{text}1")


def _renamed(path: Path) -> None:
    path.write_text("one")
    path.rename(path.with_suffix(".new"))


def _made(path: Path) -> None:
    path.mkdir()
    shutil.rmtree(path)
    path.mkdir()


def _drawn(path: Path) -> None:
    with open(path, "a") as file:
        file.write(f"{random.random()} {np.random.rand()}")


def _started(path: Path) -> None:
    code = f"open({str(path)!r}, 'a').write('one ')"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)


@pytest.mark.parametrize(
    "act",
    [_opened, _not_closed, _printed, _written, _read_and_written, _renamed, _drawn, _started],
)
def test_a_file_holds_what_python_writes(act, tmp_path):
    def run(x):
        act(tmp_path / "log")
        try:
            return helper(x)
        except ValueError:
            return x * 0

    shown = []
    for function in (run, to_static(run)):
        random.seed(1)
        np.random.seed(1)
        results = [function(x).tolist() for x in (UP, DOWN, UP)]
        files = sorted(tmp_path.iterdir())
        shown.append((results, [(file.name, file.read_text()) for file in files], random.random()))
        for file in files:
            file.unlink()
    assert shown[0] == shown[1]


def test_folders_are_made_once(tmp_path):
    def run(x):
        _made(tmp_path / "folder")
        try:
            return helper(x)
        except ValueError:
            return x * 0

    assert to_static(run)(UP).tolist() == [0.0, 0.0]
    with pytest.raises(FileExistsError):
        to_static(run)(UP)


def test_a_message_is_logged_once_and_a_warning_given_once(caplog):
    def run(x):
        logging.getLogger("once").warning("logged")
        warnings.warn("given")
        try:
            return helper(x)
        except ValueError:
            return x * 0

    function = to_static(run)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in (UP, DOWN, UP):
            function(x)
    assert [record.message for record in caplog.records] == ["logged"] * 3
    assert [str(one.message) for one in caught].count("given") == 3


def test_each_call_writes_a_file_of_its_own(tmp_path):
    counter = [0]

    def run(x):
        counter[0] += 1
        with open(tmp_path / f"log{random.SystemRandom().random()}", "w") as file:
            file.write("one")
        try:
            return helper(x)
        except ValueError:
            return x * 0

    static = to_static(run)
    for x in (UP, DOWN, UP):
        static(x)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["one"] * 3
    assert counter == [3]


def test_a_function_that_is_given_to_c_code_is_called_in_every_call():
    met: list[str] = []

    def replaced(text):
        return re.sub("a", lambda found: met.append(found[0]) or "b", text)

    static = to_static(lambda x: x * len(replaced("aab")))
    for _ in range(3):
        assert static(UP).tolist() == [3.0, 6.0]
    assert met == ["a"] * 6
