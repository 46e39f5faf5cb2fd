"""oneDNN is found where it is installed, in the version whose interface is known."""

from __future__ import annotations

from importlib import metadata
from types import SimpleNamespace

import pytest

from dy2st_runtime.engine.native.convolution import library
from dy2st_runtime.engine.native.convolution.library import RESULT, Geometry, Post, Refused

from .networks import needs_library


@pytest.fixture
def find():
    """What looks, without what it has found."""
    return library.find.__wrapped__


def test_it_is_missing_where_it_is_not_installed(find, monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(library.metadata, "distribution", missing)
    assert find() is None


@pytest.mark.parametrize("version", ["2022.2.1", "2026.1.0"])
def test_another_version_is_not_taken(find, monkeypatch, version):
    package = SimpleNamespace(version=version, files=[])
    monkeypatch.setattr(library.metadata, "distribution", lambda name: package)
    assert find() is None


def test_a_library_that_cannot_be_loaded_is_told_of(find, monkeypatch, tmp_path):
    path = tmp_path / "libdnnl.so.3.2"
    path.write_text("none")
    file = SimpleNamespace(name=path.name, locate=lambda: path)
    package = SimpleNamespace(version="2023.2.0", files=[file])
    monkeypatch.setattr(library.metadata, "distribution", lambda name: package)
    with pytest.warns(RuntimeWarning, match="onednn-cpu-gomp is installed and cannot be loaded"):
        assert find() is None


@needs_library
def test_layouts_tell_their_bytes_and_whether_they_are_alike():
    found = library.find()
    plain, last = found.plain((2, 3, 4, 5)), found.channels_last((2, 3, 4, 5))
    assert (plain.bytes, last.bytes) == (480, 480)
    assert plain.is_like(found.plain((2, 3, 4, 5)))
    assert not plain.is_like(last)


@needs_library
def test_what_the_library_does_not_do_is_refused():
    found = library.find()
    geometry = Geometry((3, 3), (1, 1), (1, 1), (0, 0), (0, 0))
    with pytest.raises(Refused, match="convolution"):
        found.convolution(
            found.free((1, 4, 8, 8)),
            found.free((4, 5, 3, 3)),
            None,
            found.free((1, 4, 6, 6)),
            geometry,
            (),
        )


@needs_library
def test_a_primitive_tells_the_layouts_of_its_arguments():
    found = library.find()
    made = found.eltwise(Post("relu"), found.plain((2, 3, 4)), ())
    assert made.layout(RESULT).is_like(found.plain((2, 3, 4)))
