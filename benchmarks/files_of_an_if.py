"""How much code one `if` of a user runs: our files, functions and calls in a first conversion.

python benchmarks/files_of_an_if.py
python benchmarks/files_of_an_if.py --list    # the files, with their functions and lines
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import numpy as np

import dy2st
import dy2st_runtime

FOLDERS = tuple(os.path.dirname(str(one.__file__)) for one in (dy2st, dy2st_runtime))


def one_branch(x: Any) -> Any:
    """The smallest function that needs a `cond`."""
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


def calls_of(function: Any, *arguments: Any) -> Counter[CodeType]:
    """How often each code object of ours is entered in a call."""
    found: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(FOLDERS):
            found[frame.f_code] += 1

    sys.setprofile(note)
    try:
        function(*arguments)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Convert one function in a process that has converted another, and count."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="the files, too")
    is_listed = parser.parse_args().list
    x = np.array([1.0, 2.0], dtype="float32")
    dy2st.to_static(lambda v: v + 1)(x)  # what is imported with the first conversion
    found = calls_of(dy2st.to_static(one_branch), x)
    files = Counter(code.co_filename for code in found)
    print(f"{len(files)} files, {len(found)} functions, {sum(found.values())} calls")
    if is_listed:
        root = os.path.commonpath(FOLDERS)
        for file, count in sorted(files.items()):
            print(f"{count:4} functions  {os.path.relpath(file, root)}")


if __name__ == "__main__":
    main()
