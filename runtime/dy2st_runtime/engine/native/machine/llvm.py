"""Compiles text by LLVM to object code, and that to addresses. No other file knows llvmlite.

The passes are the few that pay for loops that are vectors already, and what no loop changes is
written in front of them: LLVM's own choice takes five times as long, and its code is no faster.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from dy2st_runtime import limits
from dy2st_runtime.engine.native.machine import disk
from dy2st_runtime.engine.native.machine import interruptions as machine_interruptions
from dy2st_runtime.engine.native.math import tables
from dy2st_runtime.errors import ArgumentError
from dy2st_runtime.lazy import Lazy, cached_property, held_by_forks, once
from dy2st_runtime.thread_state import ThreadState

binding = Lazy("llvmlite.binding")

_PLAIN = ("sroa", "loop_rotate")
_PASSES = (
    "always_inliner",
    "global_dead_code_eliminate",
    "sroa",
    "simplify_cfg",
    "loop_rotate",
    "instruction_combine",
    "simplify_cfg",
)

_OLDER = {"haswell": "+avx2,+fma", "nehalem": "+sse4.2"}
"""Processors that `DY2ST_NATIVE_CPU` may name, and what code for them needs beside x86_64."""


@dataclass(frozen=True)
class Processor:
    """What code is made for: LLVM's names of a processor and of what it can do."""

    name: str
    features: str

    @cached_property
    def vector_bytes(self) -> int:
        """The width of a vector register."""
        if "+avx512f" in self.features.split(","):
            return 64
        return 32 if "+avx2" in self.features.split(",") else 16

    @property
    def stores_parts(self) -> bool:
        """Whether some lanes of a vector are stored as fast as all; Zen 3 takes ten times that."""
        return self.vector_bytes == 64

    @property
    def scales(self) -> bool:
        """Whether a vector is multiplied by powers of 2 in one instruction."""
        return self.vector_bytes == 64

    @classmethod
    def host(cls) -> Processor:
        """This machine's, or the older one of its family that `DY2ST_NATIVE_CPU` names."""
        own, named = _own(), os.environ.get("DY2ST_NATIVE_CPU", "")
        if not named:
            return own
        wanted = _OLDER.get(named)
        if wanted is None or not set(wanted.split(",")) <= set(own.features.split(",")):
            raise ArgumentError(
                f"DY2ST_NATIVE_CPU={named!r}: it names a processor that this one can do all of, "
                "'haswell' (AVX2) or 'nehalem' (SSE 4.2); without it code is made for this one"
            )
        return cls(named, wanted)


@once
def _own() -> Processor:
    with _way.using:
        _check_installed()
        return Processor(binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())


Compile = Callable[[str, Processor, bool], bytes]
"""Object code of a text for a processor, plainly or not."""


def compile_object(text: str, processor: Processor, is_plain: bool = False) -> bytes:
    """The object code of a module's text.

    Plain text is computed as it is written: the stack alone becomes registers, which is as fast
    for what is written with care.
    """
    with _way.using:
        return _compiled(text, processor, is_plain)


def _compiled(text: str, processor: Processor, is_plain: bool) -> bytes:
    _check_installed()
    # Of the small code model: a constant is an operand there, not an address of 10 bytes first.
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=processor.name, features=processor.features, opt=1, reloc="pic", codemodel="small"
    )
    # All code may ask whether to leave, and says nothing of that itself.
    is_asked = "@leave(" in text and not re.search(r"(define|declare) .*@leave\(", text)
    declared = "\ndeclare preserve_mostcc i32 @leave()\n" if is_asked else ""
    module = binding.parse_assembly(text + tables.texts(text) + declared)
    passes = binding.create_new_module_pass_manager()
    for name in _PLAIN if is_plain else _PASSES:
        getattr(passes, f"add_{name}_pass")()
    options = binding.create_pipeline_tuning_options()
    passes.run(module, binding.create_pass_builder(machine, options))
    code: bytes = machine.emit_object(module)
    return code


def library_of(
    text: str,
    processor: Processor,
    exports: Iterable[str],
    symbols: Mapping[str, int],
    is_plain: bool = False,
) -> Library:
    """The linked code of a module's text, from disk if it was made before: see `load`.

    What is found there may still be no code that can be linked: then it is made anew.
    """
    _check_installed()
    exports, versions = list(exports), ".".join(map(str, binding.llvm_version_info))
    name = disk.key(
        text + tables.texts(text), processor.name, processor.features, versions, str(is_plain)
    )
    found = disk.read(name)
    if found is not None:
        with suppress(RuntimeError):
            return load(found, exports, symbols)
    code = (_way.compile or compile_object)(text, processor, is_plain)
    disk.write(name, code)
    return load(code, exports, symbols)


class _Way(ThreadState):
    """How this thread compiles, and what it holds while it uses LLVM here."""

    compile: Compile | None = None  # None is for here
    using: AbstractContextManager[Any] = nullcontext()


_way = _Way()


@contextmanager
def compiling_by(compile: Compile, using: AbstractContextManager[Any]) -> Iterator[None]:
    """Let others compile what this thread asks for inside the `with`."""
    before = _way.compile, _way.using
    _way.compile, _way.using = compile, using
    try:
        yield
    finally:
        _way.compile, _way.using = before


@dataclass
class Library:
    """Object code in memory; it is gone when nobody holds this object."""

    _tracker: Any = field(repr=False)
    addresses: dict[str, int]


def load(code: bytes, exports: Iterable[str], symbols: Mapping[str, int]) -> Library:
    """Link object code: the addresses of its functions, given those of what it calls."""
    _check_installed()
    return _linked(code, exports, {**interruptions().addresses, **symbols})


def _linked(code: bytes, exports: Iterable[str], symbols: Mapping[str, int]) -> Library:
    library = binding.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in symbols.items():
        library.import_symbol(name, address)
    for name in exports:
        library.export_symbol(name)
    # A linker of its own: one for the process would keep some 9 kB of each library that is gone.
    # JITLink lays the parts of an object beside each other, which the small code model needs.
    with _way.using:
        linker = binding.create_lljit_compiler(use_jit_link=True)
        tracker = library.link(linker, "dy2st")
        return Library((tracker, linker), {name: tracker[name] for name in exports})


@once
def interruptions() -> Library:
    """The functions by which loops notice signals and limits; never freed, as other code is."""
    code = compile_object(machine_interruptions.TEXT, Processor.host(), is_plain=True)
    library = _linked(code, machine_interruptions.EXPORTS, machine_interruptions.symbols())
    machine_interruptions.begin(library, limits.look)
    return library


@once
def _check_installed() -> None:
    """Load llvmlite, whose lock no forked child may find taken."""
    try:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        held_by_forks(binding.ffi.lib._lock)
    except ImportError:
        raise ArgumentError(
            "the engine 'native' needs llvmlite, which is not installed: "
            "pip install 'dy2st[native]', or take the engine 'numpy'"
        ) from None
    except OSError as error:  # it is there, and its library is not, or is for another machine
        raise ArgumentError(
            f"the engine 'native' cannot load llvmlite: {error}; "
            "install it again, or take the engine 'numpy'"
        ) from None


__all__ = ["Library", "Processor", "compile_object", "compiling_by", "library_of", "load"]
