"""`dy2st doctor`: what is installed, what runs here, and what is missing for what."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dy2st.cli.bench import AUTO
from dy2st.cli.models import in_bytes
from dy2st.cli.parsers import add_command
from dy2st.jit import to_static
from dy2st.static import InputSpec
from dy2st_runtime import engine as engines
from dy2st_runtime.engine.native.machine import abi, disk
from dy2st_runtime.errors import Dy2stError, counted
from dy2st_runtime.ir import Program
from dy2st_runtime.version import VERSION


class Extra(NamedTuple):
    """What an extra installs, and what needs it."""

    name: str
    packages: tuple[str, ...]
    use: str


NEEDED = ("numpy", "safetensors", "gast", "astor", "typing-extensions")
EXTRAS = (
    Extra("native", ("llvmlite",), "the engine native: machine code; dy2st compile"),
    Extra("onednn", ("onednn-cpu-gomp",), "convolutions and pooling of the engine native"),
    Extra("onnx", ("onnx", "onnxruntime"), "models of ONNX, in and out; the engine onnxruntime"),
    Extra("jax", ("jax", "flatbuffers"), "GPUs and TPUs, the engine xla; several processes"),
    Extra("bf16", ("ml_dtypes",), "bfloat16, and floats of 8 bits and less"),
    Extra("examples", ("scikit-learn", "tqdm"), "the examples that train"),
)
# The compiler knows nothing of PaddlePaddle's further name spaces until somebody asks for them.
_OF_PADDLE = {
    "weights": ("dy2st.paddle.utils.download", "WEIGHTS_HOME"),
    "data sets": ("dy2st.paddle.dataset.common", "DATA_HOME"),
}
_WORKS, _FAILS = "works", "fails"


def add_doctor(commands: Any) -> None:
    """Add the command to those of `dy2st`."""
    about = "Say what is installed, which engines run here, where caches lie, and what is missing."
    usage = "example:\n  dy2st doctor\n\nexit status: 1 if an engine that is installed fails"
    add_command(
        commands, "doctor", doctor, "say what works here, and what is missing", usage, about
    )


def doctor(options: argparse.Namespace) -> int:
    """`dy2st doctor`."""
    system = f"{platform.system()} {platform.machine()}"
    own = getattr(os, "sched_getaffinity", None)
    cores = len(own(0)) if own else os.cpu_count() or 1
    print(f"dy2st {VERSION}, Python {platform.python_version()}, {system}, {cores} cores")
    print(f"  {Path(sys.modules['dy2st'].__file__ or '').parent}")
    needed = [f"{name} {installed(name) or '- missing'}" for name in NEEDED]
    print(f"  {', '.join(needed)}")
    if installed("dy2st") and installed("dy2st-runtime"):
        print("  dy2st-runtime is installed beside dy2st, which has the same files: see", end=" ")
        print("docs/dependencies.md; pip uninstall both, then install dy2st")
    print("\nextras")
    for extra in EXTRAS:
        versions = [f"{name} {installed(name) or '- missing'}" for name in extra.packages]
        print(f"  {extra.name:<10} {', '.join(versions):<40} {extra.use}")
    print("\nengines")
    results = dict(_tried())
    for name, result in results.items():
        print(f"  {name:<12} {result}")
    print("\nthreads")
    if engines.is_installed("native") and abi.is_known():
        count = engines.get_num_threads()
        print(f"  {count} of the engine native, {cores} cores; OMP_NUM_THREADS=n says how many")
    else:
        print(f"  of NumPy's own libraries, {cores} cores")
    print("\ncaches")
    for title, folder in _caches():
        print(f"  {title:<14} {folder}")
    settings = [name for name in sorted(os.environ) if name.startswith(("DY2ST_", "OMP_NUM"))]
    if settings:
        print("\nenvironment")
        print("\n".join(f"  {name}={os.environ[name]}" for name in settings))
    missing = [extra for extra in EXTRAS if not all(map(installed, extra.packages))]
    if missing:
        print("\nmissing")
        for extra in missing:
            print(f"  pip install 'dy2st[{extra.name}]'".ljust(36) + f" {extra.use}")
    return int(any(result.startswith(_FAILS) for result in results.values()))


def installed(package: str) -> str:
    """The version of a package, empty if it is not installed.

    >>> installed("no-package-of-this-name")
    ''
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _tried() -> Iterator[tuple[str, str]]:
    """Every engine, with what became of a small Program there."""
    program = to_static(_sample, input_spec=[InputSpec(["n"], "float32")]).main_program
    for name in engines.names():
        if name == AUTO:
            yield name, "numpy at first, native where it pays (the default)"
        elif engines.is_installed(name):
            yield name, _result(program, name)
        else:
            yield name, "not installed"


def _sample(x: Any) -> Any:
    return (x * 2 + 1) / x.sum()


def _result(program: Program, name: str) -> str:
    x = np.array([0.5, 1.5], np.float32)
    try:
        (result,) = engines.compile(program, name).run([x], [])
    except Dy2stError as error:
        return f"{_FAILS}: {error}".partition("\n")[0]
    is_right = np.allclose(result, _sample(x))
    return _WORKS if is_right else f"{_FAILS}: it computes {result.tolist()}"


def _caches() -> Iterator[tuple[str, str]]:
    """What lies outside of the package, with where and how much it is."""
    folder = disk.cache_folder()
    if folder is None:
        yield "machine code", "none is kept"
    else:
        yield "machine code", f"{_size_of(folder)}, at most {in_bytes(disk.MOST_BYTES)}"
    for title, (module, name) in _OF_PADDLE.items():
        place = Path(getattr(import_module(module), name))
        if place.is_dir():
            yield title, _size_of(place)


def _size_of(folder: Path) -> str:
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = in_bytes(sum(path.stat().st_size for path in files))
    return f"{folder}: {counted(len(files), 'file')}, {size}"


__all__ = ["EXTRAS", "add_doctor", "installed"]
