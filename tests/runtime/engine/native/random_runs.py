"""Random Programs run by the native engine and by NumPy's.

python -m tests.runtime.engine.native.random_runs 3000              # and a summary
python -m tests.runtime.engine.native.random_runs 1 --from 77       # shows Program 77
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter

import numpy as np

from dy2st_runtime.engine.native.executable import Executable
from dy2st_runtime.errors import Dy2stError
from tests.random_programs import Made, random_program
from tests.runtime.engine.exactly import flat, otherwise_rounded
from tests.runtime.engine.test_random_programs import assert_same, assert_types


def run(executable, made: Made):
    """What a run gives, or the class of what it raises; both times it is run."""
    state = list(made.state.values())
    try:
        executable.run(made.inputs, state)
        return flat(executable.run(made.inputs, state)), None
    except Exception as error:
        return None, type(error)


def check(made: Made, compiled=Executable) -> str:
    """Compare one Program; AssertionError if the engines differ."""
    given = [*made.inputs, *made.state.values()]
    copies = [array.copy() for array in given]
    executable = compiled(made.program)
    expected, raised = run(executable.reference, made)
    results, error = run(executable, made)
    assert raised is error, (raised, error)
    for array, copy in zip(given, copies, strict=True):
        assert array.tobytes() == copy.tobytes(), "an input was changed"
    if expected is None:
        return raised.__name__
    verdict = compared(results, expected, made)
    assert_types(made.program, results)
    buffers = [id(array) for array in made.state.values()]
    for result in results:
        shared = [array for array in given if np.shares_memory(result, array)]
        assert id(result) in buffers or not shared, "a result shares memory"
    return verdict


def compared(results, expected, made: Made) -> str:
    """Equal, or nearly: exp of exp of sums that are made in another order tells them apart.

    Unstable is a Program that chooses by the sign of a sum that is 0 but for rounding: with other
    last bits NumPy's engine, too, makes something else.
    """
    try:
        assert_same(results, expected)
    except AssertionError:
        try:
            assert_near(results, expected)
        except AssertionError:
            if not is_unstable(made, expected):
                raise
            return "unstable"
        return "nearly"
    return "equal"


def assert_near(results, expected) -> None:
    """The same types and integers, and floats to three digits."""
    for have, want in zip(results, expected, strict=True):
        assert (have.dtype, have.shape) == (want.dtype, want.shape)
        if have.dtype.kind == "f":
            np.testing.assert_allclose(have, want, rtol=1e-3, atol=1e-3)
        else:
            np.testing.assert_array_equal(have, want)


def is_unstable(made: Made, expected) -> bool:
    """Whether other last bits, of the inputs or after any operator, make other results."""
    rng = np.random.default_rng(0)
    arrays = [*made.inputs, *made.state.values()]
    for _ in range(16):
        try:
            found = flat(otherwise_rounded(made.program, [moved(one, rng) for one in arrays], rng))
            assert_near(found, expected)
        except (AssertionError, Dy2stError):
            return True
    return False


def moved(array, rng):
    """An array with other last bits."""
    if array.dtype.kind != "f":
        return array
    return (array * (1 + rng.uniform(-1e-6, 1e-6, array.shape))).astype(array.dtype)


def main() -> None:
    """Run it, and say how many gave what."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--from", type=int, default=0, dest="first")
    options = parser.parse_args()
    found: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.count):
        made = random_program(seed, 10 + seed % 3 * 15)
        if options.count == 1:
            print(made.program)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[check(made)] += 1
            except AssertionError as error:
                found["different"] += 1
                print(f"seed {seed}: {str(error)[:300]}")
    print(dict(found))
    raise SystemExit(bool(found["different"]))


if __name__ == "__main__":
    main()
