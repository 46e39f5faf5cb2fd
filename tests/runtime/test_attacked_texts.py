"""Saved models whose text is changed so that code would read or write memory that is not its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dy2st
from dy2st.static import InputSpec
from dy2st_runtime import io
from dy2st_runtime.errors import Dy2stError, FormatError, ShapeError

ENGINES = ("numpy", "native")


def attacked(folder, function, specs, *changes):
    """The path of the model of a function, with other words in its text."""
    static = dy2st.to_static(function, input_spec=[InputSpec(*spec) for spec in specs])
    dy2st.jit.save(static, folder / "net")
    text = (folder / "net.mlir").read_text()
    for old, new in changes:
        assert old in text, text
        text = text.replace(old, new)
    (folder / "net.mlir").write_text(text)
    return folder / "net"


def cut(x):
    return x[1:3] * 2


PLACES = (
    ('starts = [#dy2st.dim<"min(1, s)">', "starts = [{}"),
    ('stops = [#dy2st.dim<"min(3, s)">', "stops = [{}"),
    ('<?x4xf32, ["min(3, s) - min(1, s)"]>', "<{}x4xf32>"),
)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("start", "stop"), [(0, 3), (100, 1100), (0, 10**9), (10**9, 10**9)])
def test_a_slice_requires_the_places_that_a_text_claims(tmp_path, engine, start, stop):
    numbers = (start, stop, stop - start)
    changes = [(old, new.format(n)) for (old, new), n in zip(PLACES, numbers, strict=True)]
    model = io.load(attacked(tmp_path, cut, [(["s", 4],)], *changes), engine=engine)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    with pytest.raises(ShapeError, match="s >= "):
        model(x[:2])
    if stop == 3:
        np.testing.assert_array_equal(model(x).numpy(), x * 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slice_is_written_to_no_other_places(tmp_path, engine):
    def write(x, v):
        x = x.clone()
        x[1:3] = v
        return x

    changes = (
        ('starts = [#dy2st.dim<"min(1, s)">', "starts = [7"),
        ('stops = [#dy2st.dim<"min(3, s)">', "stops = [9"),
        ('#dy2st.dim<"min(3, s) - min(1, s)">', "2"),
        ('<?xf32, ["min(3, s) - min(1, s)"]>', "<2xf32>"),
    )
    model = io.load(attacked(tmp_path, write, [(["s"],), ([1],)], *changes), engine=engine)
    assert model(np.zeros(9, np.float32), np.ones(1, np.float32)).tolist() == [0] * 7 + [1, 1]
    with pytest.raises(ShapeError, match="s >= "):
        model(np.zeros(8, np.float32), np.ones(1, np.float32))


def test_a_size_that_only_data_tells_has_the_range_of_its_rule(tmp_path):
    def places(x):
        found = dy2st.nonzero(x)
        return found[0:4] * 2

    changes = (
        ("nonzero_0 = [0, 6]", "nonzero_0 = [1000]"),
        ('stops = [#dy2st.dim<"min(4, nonzero_0)">', "stops = [1000"),
        ('<?x1xi64, ["min(4, nonzero_0)"]>', "<1000x1xi64>"),
    )
    with pytest.raises(FormatError, match="the rule gives"):
        io.load(attacked(tmp_path, places, [([6],)], *changes))


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_list_holds_has_the_sizes_that_are_read(tmp_path, engine):
    """A name of a size in the type of a list binds nothing, so another value may bind it."""

    def gathered(x, y, n):
        parts = [x]
        for _ in range(n):
            parts.append(y)
        return parts[n] + 0.0, parts[0] + 0.0

    static = dy2st.to_static(
        gathered, input_spec=[InputSpec(["a"]), InputSpec(["b"]), InputSpec([], "int64")]
    )
    dy2st.jit.save(static, tmp_path / "net")
    path = tmp_path / "net.mlir"
    text = path.read_text()
    names = sorted(set(re.findall(r'"((?:element|size)_\d+)"', text)))
    for name in names:
        for other in ("a", "b"):
            path.write_text(text.replace(f'"{name}"', f'"{other}"'))
            x, y = np.arange(3, dtype=np.float32), np.arange(5000, dtype=np.float32)
            try:
                model = io.load(tmp_path / "net", engine=engine)
                for pair in ((x, y), (y, x)):
                    results = model(*pair, np.array(1))
                    for have, want in zip(results, pair[::-1], strict=True):
                        np.testing.assert_array_equal(have.numpy(), want)
            except Dy2stError:
                pass
