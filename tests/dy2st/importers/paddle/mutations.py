"""Changes the bytes of models at random, and looks at what their reader does with them.

    python -m tests.dy2st.importers.paddle.mutations COUNT [SEED]

Each change gives a model or one error of ours, within seconds and within the memory that twice the
file needs, besides a constant for the records of operators.
"""

from __future__ import annotations

import json
import signal
import sys
import tempfile
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.importers.paddle.reading import read
from dy2st_runtime.errors import Dy2stError

DATA = Path(__file__).parents[3] / "data" / "paddle_files"
_SECONDS = 20
_ROOM = 24 << 20
_ODD = (0, 1, -1, 2, 7, -7, 2**31, -(2**31), 2**62, 10**6, 1.5, float("inf"), None, "", "x", [], {})


def of_bytes(data: bytes, random: np.random.Generator) -> bytes:
    """Bytes changed, cut, doubled or moved."""
    made = bytearray(data)
    kind = random.integers(5)
    place = int(random.integers(max(len(made), 1)))
    if kind == 0:
        return bytes(made[:place])
    if kind == 1:
        for _ in range(int(random.integers(1, 6))):
            made[int(random.integers(len(made)))] = int(random.integers(256))
    elif kind == 2:
        made[place:place] = bytes(random.integers(0, 256, int(random.integers(1, 9)), np.uint8))
    elif kind == 3:
        del made[place : place + int(random.integers(1, 40))]
    else:
        length = int(random.integers(1, 60))
        other = int(random.integers(len(made)))
        made[place : place + length] = made[other : other + length]
    return bytes(made)


def of_json(data: bytes, random: np.random.Generator) -> bytes:
    """Values of a JSON replaced, dropped, doubled or taken from elsewhere."""
    tree = json.loads(data)
    for _ in range(int(random.integers(1, 4))):
        places = list(_places(tree))
        holder, key = places[int(random.integers(len(places)))]
        kind = random.integers(4)
        if kind == 0 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif kind == 1:
            del holder[key]
        elif kind == 2:
            other, place = places[int(random.integers(len(places)))]
            try:
                holder[key] = json.loads(json.dumps(other[place]))
            except (LookupError, TypeError):
                continue
        else:
            holder[key] = _ODD[int(random.integers(len(_ODD)))]
    return json.dumps(tree).encode()


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in entries:
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)


class Late(BaseException):
    """A reader took too long."""


def _late(*_: Any) -> None:
    raise Late


def run(count: int, seed: int, folder: Path, measured: bool = False) -> Counter[str]:
    """Read so many changed models; how they ended. Raises what a reader must not raise."""
    random = np.random.default_rng(seed)
    models = sorted([*DATA.glob("*.json"), *DATA.glob("*.pdmodel")])
    ends: Counter[str] = Counter()
    signal.signal(signal.SIGALRM, _late)
    for number in range(count):
        model = models[int(random.integers(len(models)))]
        text, params = model.read_bytes(), model.with_suffix(".pdiparams").read_bytes()
        if random.random() < 0.2:
            params = of_bytes(params, random)
        elif model.suffix == ".json" and random.random() < 0.7:
            text = of_json(text, random)
        else:
            text = of_bytes(text, random)
        file = folder / model.name
        file.write_bytes(text)
        file.with_suffix(".pdiparams").write_bytes(params)
        signal.alarm(_SECONDS)
        if measured:
            tracemalloc.start()
        try:
            read(file, file.with_suffix(".pdiparams"))
            ends["read"] += 1
        except Dy2stError as error:
            ends[type(error).__name__] += 1
        except BaseException as error:
            kept = folder / f"bad-{seed}-{number}{model.suffix}"
            kept.write_bytes(text)
            kept.with_suffix(".pdiparams").write_bytes(params)
            raise AssertionError(f"change {number} of seed {seed}, {kept}: {error!r}") from error
        finally:
            signal.alarm(0)
        if measured:
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            need = 2 * (len(text) + len(params)) + _ROOM
            assert most < need, f"change {number} of seed {seed} took {most >> 20} MB"
    return ends


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made:
        print(run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0, Path(made)))
