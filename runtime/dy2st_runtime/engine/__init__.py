"""Engines make of a Program something that runs, and are chosen by name.

`numpy` needs NumPy alone; `native` makes machine code, and needs the extra `native`; `auto`, the
default, begins with `numpy`, and goes on with `native` where calls take long and that can be had;
`xla` is for GPUs and TPUs, by jax, and needs the extra `jax`; `onnxruntime` runs them as models of
ONNX, and needs the extra `onnx`. All of them compute the same. docs/engines.md shows how to write
another one.

>>> names()
['auto', 'native', 'numpy', 'onnxruntime', 'xla']
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from dy2st_runtime.errors import ArgumentError, Dy2stError, EngineError, did_you_mean
from dy2st_runtime.lazy import Lazy, lazy_names, load_module, public_dir
from dy2st_runtime.thread_state import put_back_after_errors

if TYPE_CHECKING:
    from importlib import metadata
    from importlib import util as import_util

    from dy2st_runtime.engine import background as _background
    from dy2st_runtime.engine.contract import Engine, Executable
    from dy2st_runtime.engine.native.machine.threads import get_num_threads, set_num_threads
    from dy2st_runtime.engine.runner import Runner
    from dy2st_runtime.ir import functions
    from dy2st_runtime.ir.program import Program
else:
    # Slow to load, and asked only where a name is none of ours.
    metadata, import_util = Lazy("importlib.metadata"), Lazy("importlib.util")
    _background = Lazy("dy2st_runtime.engine.background")
    functions = Lazy("dy2st_runtime.ir.functions")
    __getattr__ = lazy_names(
        __name__,
        {
            "Engine": "dy2st_runtime.engine.contract:Engine",
            "Executable": "dy2st_runtime.engine.contract:Executable",
            "Runner": "dy2st_runtime.engine.runner:Runner",
            "get_num_threads": "dy2st_runtime.engine.native.machine.threads:get_num_threads",
            "set_num_threads": "dy2st_runtime.engine.native.machine.threads:set_num_threads",
        },
    )

DEFAULT = "auto"
GROUP = "dy2st.engines"  # the entry points of other packages

# An engine, or where it is: `module:name`.
ENGINES: dict[str, Engine | str] = {
    "auto": "dy2st_runtime.engine.background:compile_when_it_pays",
    "native": "dy2st_runtime.engine.background:compile_program",
    "numpy": "dy2st_runtime.engine.numpy.executable:compile_program",
    "onnxruntime": "dy2st_runtime.engine.onnx.executable:compile_program",
    "xla": "dy2st_runtime.engine.xla.executable:compile_program",
}
_set: list[str | None] = [None]  # what this process has chosen for its default
# What an engine of ours needs beside NumPy, and the extra that installs it.
_NEEDED = {
    "native": ("llvmlite", "native"),
    "onnxruntime": ("onnxruntime", "onnx"),
    "xla": ("jax", "jax"),
}


class Compiled:
    """The executables that somebody holds, of all Programs of this process."""

    def __init__(self) -> None:
        """Start empty."""
        # Nothing of Python runs when one goes: see ByIdentity.
        self._held: dict[int, ref[Any]] = {}

    def add(self, executable: Any) -> None:
        """Note one; what takes no weak reference is not seen."""
        try:
            self._held[id(executable)] = ref(executable, partial(self._held.pop, id(executable)))
        except TypeError:
            return

    def now(self) -> list[Any]:
        """Those that there are."""
        found = [reference() for reference in list(self._held.values())]
        return [executable for executable in found if executable is not None]


COMPILED = Compiled()


def has_resident_state(executable: Executable) -> bool:
    """Whether an engine wants to keep the state; those that others wrote may not say.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> dy2st.engine.has_resident_state(dy2st.engine.compile(f.main_program, "numpy"))
    False
    """
    return getattr(executable, "has_resident_state", False)


def run_live(executable: Executable, inputs: list[Any], state: Iterable[Any]) -> list[Any]:
    """Run on arrays and on tensors as state, where nobody asks which arrays results are.

    Outputs, then new values of buffers: arrays, lists of them, or Residents of the engine.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> executable = dy2st.engine.compile(f.main_program, "numpy")
    >>> dy2st.engine.run_live(executable, [np.ones(2, "float32")], [])
    [array([2., 2.], dtype=float32)]
    """
    if has_resident_state(executable):
        return executable.run_resident(inputs, [tensor.as_resident() for tensor in state])
    return executable.run(inputs, [tensor.array for tensor in state])


@put_back_after_errors
def compile(program: Program, engine: str | None = None) -> Executable:
    """A callable for a Program, by the engine of a name; without one DY2ST_ENGINE names it.

    Raises ArgumentError if there is no engine of that name, or it cannot be loaded, and EngineError
    if it cannot compile the Program.

    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> executable = dy2st.engine.compile(f.main_program, "numpy")
    >>> executable.run([np.array([1.0, 2.0], "float32")], [])
    [array([2., 4.], dtype=float32)]
    """
    made = find(engine)
    if program.functions and not getattr(made, "takes_functions", False):
        program = functions.without_functions(program, f"the engine {engine or _default()!r}")
    try:
        executable = made(program)
    except (Dy2stError, MemoryError):
        raise
    except Exception as error:  # whatever it is: else who converts takes it for the Program's own
        name = engine or _default()
        raise EngineError(
            f"the engine {name!r} cannot compile {program.name!r}, which is a fault of that "
            f"engine: {type(error).__name__}: {error}; take another engine for it"
        ) from error
    COMPILED.add(executable)
    return executable


def find(name: str | None = None) -> Engine:
    """The engine of a name; ArgumentError says what is wrong with it.

    >>> dy2st.engine.find("numpy").__name__
    'compile_program'
    """
    chosen = check_name(name) or _default()
    known = ENGINES.get(chosen)
    if known is None:
        place = _of_packages().get(chosen)
        if place is None:
            raise _unknown(chosen, "" if name else ", which DY2ST_ENGINE names")
        return _loaded(chosen, place)
    return _loaded(chosen, known) if isinstance(known, str) else known


def is_installed(name: str) -> bool:
    """Whether an engine is there with all that it needs.

    >>> dy2st.engine.is_installed("numpy"), dy2st.engine.is_installed("abacus")
    (True, False)
    """
    needed, _ = _NEEDED.get(name, ("numpy", ""))
    return name in names() and import_util.find_spec(needed) is not None


def of_mesh(program: Program) -> str | None:
    """`xla` for a Program on a mesh, where it is installed and DY2ST_ENGINE names no other."""
    is_free = not os.environ.get("DY2ST_ENGINE") and program.mesh is not None
    return "xla" if is_free and is_installed("xla") else None


def makes_code(seconds: float) -> bool:
    """Whether the default engine compiles what runs so long each time, or has taken so long by now.

    NumPy's calls a function for each operator, and so does the best one at first.
    """
    chosen = _default()
    return _background.pays(seconds) if chosen == "auto" else chosen != "numpy"


def _default() -> str:
    return _set[0] or os.environ.get("DY2ST_ENGINE") or DEFAULT


def set_default(name: str | None) -> None:
    """Let an engine be the default of this process, before DY2ST_ENGINE; None undoes it."""
    _set[0] = check_name(name)


def check_name(name: str | None) -> str | None:
    """The name, if an engine has it; ArgumentError if none has. None is for the default.

    >>> dy2st.engine.check_name("numpy")
    'numpy'
    """
    is_known = name is None or (isinstance(name, str) and (name in ENGINES or name in names()))
    if not is_known:
        raise _unknown(name)
    return name


def names() -> list[str]:
    """What engines are called: ours, what was registered, and those of installed packages.

    >>> dy2st.engine.names()
    ['auto', 'native', 'numpy', 'onnxruntime', 'xla']
    """
    return sorted({*ENGINES, *_of_packages()})


def register_engine(name: str, engine: Engine) -> None:
    """Let an engine be chosen by its name; ArgumentError if another one has it.

    An engine is a function that takes a Program and gives an Executable. Functions of the Program
    are inlined before, unless it has an attribute `takes_functions` that is true.

    >>> def doubting(program):
    ...     print("compiled:", program.name)
    ...     return dy2st.engine.compile(program, "numpy")
    >>> dy2st.engine.register_engine("doubting", doubting)
    >>> f = dy2st.to_static(lambda x: x * 2)
    >>> y = f(dy2st.ones([2]))
    >>> executable = dy2st.engine.compile(f.main_program, "doubting")
    compiled: <lambda>
    >>> del dy2st.engine.ENGINES["doubting"]
    """
    if ENGINES.get(name, engine) != engine:
        raise ArgumentError(f"there is an engine {name!r} already: give yours another name")
    ENGINES[name] = engine


def _unknown(name: Any, why: str = "") -> ArgumentError:
    return ArgumentError(f"there is no engine {name!r}{why}{did_you_mean(str(name), names())}")


def _of_packages() -> dict[str, str]:
    return {entry.name: entry.value for entry in metadata.entry_points(group=GROUP)}


def _loaded(name: str, place: str) -> Engine:
    """What stands at a place; ArgumentError if it cannot be imported."""
    needed, extra = _NEEDED.get(name, ("", ""))
    if needed and import_util.find_spec(needed) is None:
        raise ArgumentError(
            f"the engine {name!r} needs {needed}, which is not installed: "
            f"pip install 'dy2st[{extra}]', or take the engine 'numpy'"
        )
    module, _, attribute = place.partition(":")
    try:
        engine: Engine = getattr(load_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"the engine {name!r} cannot be loaded from {place}: {error}") from None
    return engine


__all__ = [
    "ENGINES",
    "Engine",
    "Executable",
    "Runner",
    "check_name",
    "compile",
    "find",
    "get_num_threads",
    "has_resident_state",
    "is_installed",
    "names",
    "register_engine",
    "run_live",
    "set_num_threads",
]
__dir__ = public_dir(__name__)
