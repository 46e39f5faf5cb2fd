"""Saved models: `name.mlir` holds the Programs, `name.safetensors` parameters and buffers.

Loading and running needs this package alone. Nothing in the files is executed.

Both files hold a digest of the arrays (BLAKE2, made at saving), so that a mixture of two saves is
noticed. Loading compares the two digests and computes none: mapping 105 MB takes 11 ms, hashing
them ten times that. Arrays that another program wrote beside a text have no digest, and are taken
as they are. safetensors has no complex numbers: their parts stand along a last axis, and their
names in the metadata.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime import engine as engines
from dy2st_runtime.errors import (
    ArgumentError,
    FormatError,
    MissingFile,
    ParameterMismatch,
    ParseError,
    SpecError,
    VerifyError,
)
from dy2st_runtime.files import meant_file, named, naming, replacing, tidy
from dy2st_runtime.ir.checks.verifier import findings, verify, without
from dy2st_runtime.ir.dispatch import active
from dy2st_runtime.ir.grad_mode import is_grad_enabled
from dy2st_runtime.ir.interpret import interpret
from dy2st_runtime.ir.location import warn_user, without_own_frames
from dy2st_runtime.ir.program import Program, Variable
from dy2st_runtime.ir.rebuild import rebuild as made_anew
from dy2st_runtime.ir.structure import flatten, is_container, rebuild
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.text.parser import parse, parse_digest
from dy2st_runtime.ir.text.printer import to_text
from dy2st_runtime.ir.tracing.gradient_flow import refuse_leaf, settings_of
from dy2st_runtime.ir.types import ArrayType, TensorType, ValueType, own_dtype
from dy2st_runtime.kept_inputs import (
    ListOfTensors,
    array_names,
    as_arrays,
    from_arrays,
    held,
    kept_inputs,
    results_of,
)
from dy2st_runtime.lazy import Lazy, public_dir
from dy2st_runtime.limits import Limits, metered
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.progress import Progress
from dy2st_runtime.storage import shares_memory
from dy2st_runtime.tensor import EagerTensor, Parameter, wrapped
from dy2st_runtime.tensor_file import StoredArrays, digest_of, read_stored, store_arrays
from dy2st_runtime.thread_state import put_back_after_errors

if TYPE_CHECKING:
    from dy2st_runtime.trained_program import TrainedProgram

_trained = Lazy("dy2st_runtime.trained_program")
_metering = Lazy("dy2st_runtime.ir.metering")

Array = np.ndarray[Any, Any]
AnyPath = str | os.PathLike[str]
# Between its two files a writer needs a thousandth of it.
_PATIENCE = 0.5


# -- saving -----------------------------------------------------------------------------------


def save_programs(path: AnyPath, programs: Mapping[str, Program], state: Mapping[str, Any]) -> None:
    """Write `path.mlir`, the Programs by the name of their method, and `path.safetensors`.

    `state` has the array of every parameter and buffer. The same Programs and arrays give the same
    bytes, whatever the process or folder. Both files are complete or as they were, and `load` knows
    one that is not of the same save as the other; missing folders are made. Raises VerifyError if a
    Program is broken, ParameterMismatch if `state` does not fit, FileAccessError if the disk
    refuses.

    >>> import os, tempfile
    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_programs(f"{folder}/double", {"forward": double.main_program}, {})
    ...     print(sorted(os.listdir(folder)))
    ['double.mlir', 'double.safetensors']
    """
    text_file, array_file = _files(path)
    named = [replace(program, name=name) for name, program in programs.items()]
    for program in named:
        verify(program)
    check_state(named, state, "the state to save")
    with naming(text_file.parent):
        text_file.parent.mkdir(parents=True, exist_ok=True)
    write_pair(text_file, array_file, named, state)


def write_pair(
    text_file: Path,
    array_file: Path,
    programs: Sequence[Program],
    arrays: Mapping[str, Array],
    locations: bool = True,
) -> None:
    """Write a text and the arrays beside it, both with the digest of the arrays.

    >>> import tempfile
    >>> from pathlib import Path
    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = Path(folder, "a.mlir"), Path(folder, "b.safetensors")
    ...     write_pair(*files, [double.main_program], {})
    ...     load_pair(*files)(dy2st.ones([2])).tolist()
    [2.0, 2.0]
    """
    with (
        Progress(f"saving {text_file.with_suffix('')}"),
        replacing(array_file, text_file) as (new_arrays, new_text),
    ):
        digest = digest_of(arrays)
        text = to_text(programs, locations, digest=digest)
        with naming(array_file):
            store_arrays(new_arrays, arrays, digest)
        with naming(text_file):
            new_text.write_bytes(text.encode("utf-8"))


def _files(path: AnyPath) -> tuple[Path, Path]:
    text = os.fspath(path)
    if not text or text.endswith(("/", os.sep)):
        raise ArgumentError(f"a saved model is named like folder/name, not {text!r}")
    return named(f"{text}.mlir"), named(f"{text}.safetensors")


def check_state(programs: Sequence[Program], state: Mapping[str, Any], where: Any) -> None:
    """ParameterMismatch unless the arrays are those that the Programs name.

    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> check_state([double.main_program], {"w": np.ones(2)}, "the state")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ParameterMismatch: the state does not belong to the Program;...
    """
    wanted = {name: variable for program in programs for name, variable in program.state.items()}
    kept = array_names(programs, state)
    missing = [name for name in wanted if name not in state]
    unknown = [name for name in state if name not in wanted and name not in kept]
    if missing or unknown:
        found = [f"missing: {', '.join(missing)}"] * bool(missing)
        found += [f"not in the Program: {', '.join(unknown)}"] * bool(unknown)
        raise ParameterMismatch(f"{where} does not belong to the Program; {'; '.join(found)}")
    for program in programs:
        for name, variable in program.state.items():
            array = state[name]
            type = variable.tensor_type
            if type.dtype != array.dtype or type.shape != tuple(array.shape):
                raise ParameterMismatch(
                    f"{where}: {name!r} has dtype {array.dtype} and shape {list(array.shape)}; "
                    f"the Program takes {type.dtype} and {list(type.shape)}"
                )
        for variable in kept_inputs(program, state, programs):
            from_arrays(variable.name, variable.type, state, where)


# -- loading ----------------------------------------------------------------------------------


@without_own_frames
def load(
    path: AnyPath,
    mmap: bool = True,
    engine: str | None = None,
    limits: Limits | None = None,
) -> LoadedModel:
    """The model saved as `path.mlir` and `path.safetensors`.

    The arrays are mapped: they are loaded as they are used, and shared by all processes. If some
    program cuts the file meanwhile, the operating system ends the process (SIGBUS); `mmap=False`
    reads all at once. A pair that is just being replaced is waited for, half a second at most.
    `engine` names what runs the model: files name none. `limits` hold each call, and loading, to
    so many operators, bytes and seconds: for models of others. Such a model gives no gradients.

    Raises MissingFile if a file is missing, FormatError if one is damaged, foreign or of a newer
    version, ParameterMismatch if they do not belong together, FileAccessError if the disk refuses,
    LimitExceeded if loading takes longer than `limits` allow.

    >>> import tempfile
    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_programs(f"{folder}/double", {"forward": double.main_program}, {})
    ...     loaded = load(f"{folder}/double", mmap=False)
    >>> loaded(dy2st.ones([2])).tolist()
    [2.0, 2.0]
    """
    return load_pair(*_files(path), mmap, engine, limits)


@put_back_after_errors
def load_pair(
    text_file: Path,
    array_file: Path,
    mmap: bool = True,
    engine: str | None = None,
    limits: Limits | None = None,
) -> LoadedModel:
    """`load` of two files that may have any names.

    >>> from pathlib import Path
    >>> load_pair(Path("net.mlir"), Path("net.safetensors"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.MissingFile: there is no net.mlir: a saved model is two files,...
    """
    engines.check_name(engine)
    if limits is not None and not isinstance(limits, Limits):
        raise ArgumentError(
            f"limits are Limits(operators=..., bytes=..., seconds=...), not {limits!r}"
        )
    for file in (text_file, array_file):
        if not file.is_file():
            bare = text_file.with_suffix("")
            is_file = bare.suffix in (".mlir", ".safetensors")
            meant = meant_file(bare.with_suffix("") if is_file else bare, ".mlir")
            raise MissingFile(
                f"there is no {file}: a saved model is two files, {text_file} and {array_file}; "
                f"give their path without the ending{meant}"
            )
    with metered(limits):
        text, stored = read_pair(text_file, array_file, mmap)
        # The verified Programs of a file; FormatError says what is wrong with it.
        try:
            programs = [verified(p) for p in parse(text)]
        except FormatError as error:  # a newer version
            raise FormatError(f"{text_file}: {error}") from None
        except (ParseError, VerifyError) as error:
            raise FormatError(
                f"{text_file} is damaged, or was not written by dy2st; "
                f"save or copy the model again\n{error}"
            ) from None
        names = [program.name for program in programs]
        if not names or len(set(names)) != len(names):
            raise FormatError(f"{text_file} has no Program, or two of one name: {', '.join(names)}")
        check_state(programs, stored.arrays, array_file)
        check_pair(text_file, array_file, text, stored)
        return LoadedModel(programs, stored.arrays, engine, limits)


def read_pair(text_file: Path, array_file: Path, mmap: bool = True) -> tuple[str, StoredArrays]:
    """A text and what lies beside it; while they are of two saves, a writer is waited for.

    Raises FormatError if one is damaged.

    >>> import tempfile
    >>> from pathlib import Path
    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = Path(folder, "a.mlir"), Path(folder, "b.safetensors")
    ...     write_pair(*files, [double.main_program], {})
    ...     text, stored = read_pair(*files, mmap=False)
    ...     check_pair(*files, text, stored)
    >>> text.splitlines()[0].startswith('"dy2st.model"'), stored.arrays
    (True, {})
    """
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            with naming(text_file):
                read_text = text_file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"{text_file} is no text: it is damaged, or no saved model") from None
        text, stored = read_text, read_stored(array_file, mmap)
        if _is_pair(text, stored) or time.monotonic() > end:
            return text, stored
        tidy(text_file.parent)  # the writer may have been killed between the two
        time.sleep(_PATIENCE / 50)


def check_pair(text_file: Path, array_file: Path, text: str, stored: StoredArrays) -> None:
    """ParameterMismatch unless both files were written by one save.

    >>> import tempfile
    >>> from pathlib import Path
    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = Path(folder, "a.mlir"), Path(folder, "b.safetensors")
    ...     write_pair(*files, [double.main_program], {})
    ...     check_pair(*files, *read_pair(*files, mmap=False))
    """
    if not _is_pair(text, stored):
        raise ParameterMismatch(
            f"{text_file} and {array_file} are of two different saves: one of them was replaced "
            "without the other; save the model again, or copy both files"
        )


def _is_pair(text: str, stored: StoredArrays) -> bool:
    """Whether nothing speaks against it: other programs write arrays without a digest."""
    try:
        return stored.digest in ("", parse_digest(text))
    except (ParseError, FormatError):
        return True  # no text of ours: whoever reads it says what is wrong


def verified(program: Program) -> Program:
    """The Program; one that was saved when rules needed less now requires what they need.

    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"])])
    >>> verified(double.main_program) is double.main_program
    True
    """
    found = findings(program)
    if found and all(finding.rule == "needs are required" for finding in found):
        return verify(made_anew(program))
    return without(found, program)


class LoadedModel(Layer):
    """A saved Layer or function: call it as the original; other saved methods are attributes.

    Its parameters are frozen until `train()`, which lets go those that were trained when it was
    saved. The Programs stay what they are: whoever trains on saves a model in training mode, of
    which `eval()` warns if it drops values or updates statistics.

    >>> import tempfile
    >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), [dy2st.static.InputSpec(["n", 4])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy2st.jit.save(net, f"{folder}/net")
    ...     loaded = dy2st.jit.load(f"{folder}/net", mmap=False)
    ...     loaded.save(f"{folder}/again")
    >>> loaded(dy2st.ones([3, 4])).shape, list(loaded.programs), loaded.weight.shape
    ([3, 2], ['forward'], [4, 2])
    """

    def __init__(
        self,
        programs: Sequence[Program],
        arrays: Mapping[str, Array],
        engine: str | None = None,
        limits: Limits | None = None,
    ):
        """Make tensors of the arrays, which all methods share; `engine` names what runs them."""
        super().__init__()
        self.training, self.limits = False, limits
        self.programs = {program.name: program for program in programs}
        trained = {name for program in programs for name in program.parameters}
        names = dict.fromkeys(name for program in programs for name in program.state)
        # Engines know an array again only if its dtype is NumPy's own object.
        plain = {name: np.asarray(arrays[name], own_dtype(arrays[name].dtype)) for name in names}
        self._tensors = {
            name: (
                Parameter(plain[name], False, name)
                if name in trained
                else EagerTensor(plain[name], name=name)
            )
            for name in names
        }
        for name, tensor in self._tensors.items():
            store: Any = self._parameters if name in trained else self._buffers
            store[name] = tensor
        self._kept = {
            variable.name: from_arrays(variable.name, variable.type, arrays, "the model")
            for program in programs
            for variable in kept_inputs(program, arrays, programs)
        }
        self._methods = {
            name: LoadedMethod(program, self._tensors, engine, limits, self._kept)
            for name, program in self.programs.items()
        }
        # What was saved comes before what every Layer has, `forward` above all.
        own = {k: m for k, m in self._methods.items() if k not in vars(self) and k[0] != "_"}
        vars(self).update(own)

    @without_own_frames
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the `forward` that was saved, or the only method there is."""
        methods = self._methods
        if "forward" not in methods and len(methods) > 1:
            raise TypeError(f"the saved model has no forward; call one of {', '.join(methods)}")
        main = methods.get("forward") or next(iter(methods.values()))
        return main(*args, **kwargs)

    __call__ = forward

    def __getattr__(self, name: str) -> Any:
        """A saved method, a parameter or a buffer, by name."""
        methods: dict[str, LoadedMethod] = self.__dict__.get("_methods", {})
        if name in methods:
            return methods[name]
        if name in self.__dict__.get("_tensors", ()):
            return self._tensors[name]
        raise AttributeError(f"the saved model has the methods {', '.join(methods)}, no {name!r}")

    def _set_mode(self, mode: bool) -> LoadedModel:
        """Let parameters go that were trained; the Programs have one mode."""
        for program in self.programs.values():
            for name in program.parameters if mode else ():
                self._tensors[name].stop_gradient = not program.trainable.get(name, True)
            done = None if mode else _done_in_training(program)
            if done:
                warn_user(
                    f"eval() leaves the Program of {program.name}() as it was saved: it {done}, as "
                    "in training. For inference save the model after its own eval()"
                )
        return super()._set_mode(mode)

    def save(self, path: AnyPath) -> None:
        """Write the Programs, and what the model keeps as it is now: see `save_programs`."""
        save_programs(path, self.programs, self.arrays())

    def arrays(self) -> dict[str, Any]:
        """Parameters, buffers, and other things that calls change, as they are now.

        >>> import tempfile
        >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), [dy2st.static.InputSpec(["n", 4])])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     dy2st.jit.save(net, f"{folder}/net")
        ...     loaded = dy2st.jit.load(f"{folder}/net", mmap=False)
        >>> {name: array.shape for name, array in loaded.arrays().items()}
        {'weight': (4, 2), 'bias': (2,)}
        """
        found = {name: tensor.array for name, tensor in self._tensors.items()}
        for name, value in self._kept.items():
            found.update(as_arrays(name, value.array))
        return found

    def __repr__(self) -> str:
        """The methods and what they take."""
        return f"LoadedModel({'; '.join(map(repr, self._methods.values()))})"


def _done_in_training(program: Program) -> str | None:
    """What Layers of the library do in training mode alone, in words."""
    if any(name.endswith("_variance") for name in program.updates):
        return "normalises by each batch"
    if any(operator.name == "bernoulli" for operator in program.walk()):
        return "drops values at random"
    return None


class LoadedMethod:
    """One saved method: call it with tensors, arrays or numbers, by position or input name.

    >>> double = dy2st.to_static(lambda x: x * 2.0, [dy2st.static.InputSpec(["n"], name="x")])
    >>> method = LoadedMethod(double.main_program, {})
    >>> method(np.ones(2, "float32")).tolist(), method(x=np.full(1, 3.0, "float32")).tolist()
    ([2.0, 2.0], [6.0])
    """

    def __init__(
        self,
        program: Program,
        state: Mapping[str, EagerTensor],
        engine: str | None = None,
        limits: Limits | None = None,
        kept: dict[str, Any] | None = None,
    ):
        """Take the tensors of the model, the name of what runs it, and what it may take.

        `kept` are the inputs that the model keeps from call to call, which all its methods share.
        """
        self.program, self.engine, self._limits = program, engine, limits
        self._kept: dict[str, Any] = {} if kept is None else kept
        # What a call is given, and the places of the other inputs.
        self.inputs = [one for one in program.inputs if one.name not in self._kept]
        self._kept_places = {
            place: variable.name
            for place, variable in enumerate(program.inputs)
            if variable.name in self._kept
        }
        self._given_away = results_of(program) if self._kept_places else set()
        self._state = {name: state[name] for name in program.state}
        self._executable: engines.Executable | None = None
        self._trained: TrainedProgram | None = None
        self._settings = settings_of(program)
        # The inputs that a call changes, by place, and the outputs that are their new values.
        self._changed = {
            place: program.changes[variable.name]
            for place, variable in enumerate(program.inputs)
            if variable.name in program.changes and place not in self._kept_places
        }

    @without_own_frames
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs as tensors, nested as the original function returned them.

        Tensors that the function changes in place have changed then; arrays and numbers have not.
        Raises SpecError if the inputs are not those of the Program.
        """
        inputs: Sequence[EagerTensor] = args
        if kwargs or len(args) != len(self.inputs) or not _are_tensors(args):
            given = zip(self.inputs, self._in_order(args, kwargs), strict=True)
            inputs = [_input(variable, value) for variable, value in given]
        if self._kept_places:
            inputs = [*inputs]
            for place, name in self._kept_places.items():  # in the order of the inputs
                inputs.insert(place, self._kept[name])
        for place in self._changed:
            self._check_changed(place, inputs)
        if self._limits is not None:
            # Run the Program that counts what it takes.
            if self._executable is None:
                program = _metering.metered(self.program)
                self._executable = engines.compile(program, self.engine)
            with metered(self._limits):
                run_limited = self._run(self._executable, inputs)
            return self._finished(run_limited, inputs)
        if self._executable is None:
            self._executable = engines.compile(self.program, self.engine)
        tensors = (*inputs, *self._state.values())
        wants_grad = is_grad_enabled() and _is_any_open(tensors)
        if wants_grad or self._settings is None:
            outputs = self._run_taped(self._executable, inputs)
        else:
            outputs = self._run(self._executable, inputs)
        for place, value in self._settings or ():
            tensors[place].stop_gradient = value
        return self._finished(outputs, inputs)

    def _check_changed(self, place: int, inputs: Sequence[EagerTensor]) -> None:
        """Refuse to change a tensor that the call knows by a second name, or a leaf."""
        tensor = inputs[place]
        held = [one for one in (*inputs, *self._state.values()) if isinstance(one, EagerTensor)]
        views = () if tensor.storage is None else tensor.storage.others(tensor)
        shared = [one for one in held if any(one is view for view in views)]
        if sum(one is tensor for one in held) > 1 or any(shares_memory(o, tensor) for o in shared):
            raise SpecError(
                f"{self!r} changes `{self.program.inputs[place].name}`, which is given twice, or "
                "shares its memory with another tensor of the call: give a clone() of one"
            )
        if not tensor.stopped and tensor.node is None and is_grad_enabled():
            refuse_leaf()

    def _finished(self, outputs: list[Any], inputs: Sequence[EagerTensor]) -> Any:
        """The result, and the new values of the arguments in their place."""
        new = {place: outputs[index] for place, index in self._changed.items()}
        for place, index in self._changed.items():
            outputs[index] = inputs[place]
        for place, value in new.items():
            given = inputs[place]
            if is_grad_enabled():
                given.stopped = value.stopped and (given.stopped or given.node is not None)
                given.node, given.index = value.node, value.index
            given.put(value.array)
        for name in self._kept_places.values():
            if name in self.program.changes:
                index = self.program.changes[name]
                self._kept[name] = held(outputs[index], index in self._given_away)
        return rebuild(self.program.structure, outputs)

    def _run(self, executable: engines.Executable, inputs: Sequence[EagerTensor]) -> list[Any]:
        arrays = [tensor.array for tensor in inputs]
        results = engines.run_live(executable, arrays, self._state.values())
        if self.program.updates:
            count = len(self.program.outputs)
            for name, value in zip(self.program.updates, results[count:], strict=True):
                self._state[name].hold(value)
            del results[count:]
        return [wrapped(result) for result in results]

    def _run_taped(
        self, executable: engines.Executable, inputs: Sequence[EagerTensor]
    ) -> list[Any]:
        """Run so that gradients flow through what is really computed."""
        executable.check([tensor.array for tensor in inputs])
        # The two Programs that run for gradients, None where operators run one by one.
        takes_lists = any(isinstance(one, ListOfTensors) for one in inputs)
        if takes_lists or self._settings != [] or not is_grad_enabled():
            parts = None
        else:
            if self._trained is None:
                self._trained = _trained.TrainedProgram(self.program, self.engine)
            parts = self._trained.parts([*inputs, *self._state.values()])
        if parts is None:
            outputs, updates = interpret(self.program, inputs, self._state)
        else:
            outputs, updates = parts.run(inputs, self._state)
        changed = {id(self._state[name]) for name in updates}
        outputs = [o.alias(o.array, o.node, o.index) if id(o) in changed else o for o in outputs]
        arrays = {name: value.array for name, value in updates.items()}  # two may be exchanged
        for name, array in arrays.items():
            self._state[name].put(array)
        return outputs

    def _in_order(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[Any]:
        """What is given for each input; tensors in nested arguments count one by one."""
        names = [variable.name for variable in self.inputs]
        takes_lists = any(isinstance(one.type, ArrayType) for one in self.inputs)
        leaves = [*args]
        if not takes_lists:
            leaves, _ = flatten(args, lambda entry: not is_container(entry))
        if len(leaves) > len(names):
            wanted = len(names)
            tensors = "tensor" if wanted == 1 else "tensors"
            what = f"{self!r} takes {wanted} {tensors}, not {len(leaves)}"
            if all(isinstance(entry, (Tensor, np.ndarray)) for entry in leaves):
                too_many = what
            else:
                tensors_given = [one for one in leaves if isinstance(one, (Tensor, np.ndarray))]
                if len(tensors_given) == wanted and not any(map(is_container, args)):
                    too_many = (
                        f"{what}: all that was no tensor has its value since the model was saved"
                    )
                else:
                    too_many = (
                        f"{what}: a list of numbers counts number by number; "
                        "make one tensor of it, to_tensor(x), and give that"
                    )
            raise SpecError(too_many)
        given = dict(enumerate(leaves))
        for name, value in kwargs.items():
            if name not in names or names.index(name) in given:
                raise SpecError(f"{self!r}: `{name}` is no input, or is given twice")
            given[names.index(name)] = value
        for index, name in enumerate(names):
            if index not in given:
                raise SpecError(f"{self!r}: `{name}` is missing")
        return [given[index] for index in range(len(names))]

    def __repr__(self) -> str:
        """`forward(x: float32[batch, 3])`."""
        inputs = ", ".join(f"{variable.name}: {variable.type}" for variable in self.inputs)
        return f"{self.program.name}({inputs})"


def _are_tensors(values: Sequence[Any]) -> bool:
    for value in values:  # noqa: SIM110  twice as fast as all()
        if not isinstance(value, EagerTensor):
            return False
    return True


def _is_any_open(tensors: Sequence[EagerTensor]) -> bool:
    """Whether gradients flow through one of some tensors."""
    if active() is not None:
        return not all(tensor.stop_gradient for tensor in tensors)
    for tensor in tensors:  # noqa: SIM110  twice as fast as any()
        if not tensor.stopped:
            return True
    return False


def _input(variable: Variable, value: Any) -> Any:
    """An input as a tensor, or as a list of tensors."""
    return _value(variable.name, variable.type, value)


def _value(name: str, type: ValueType | None, value: Any) -> Any:
    if not isinstance(type, ArrayType):
        return _tensor(name, type, value)
    # None is a list of nothing, and what is nested less deep than the type a list of one.
    depth = _depth(value)
    value = [] if value is None else value if depth is None or depth >= type.depth else [value]
    return ListOfTensors(_value(name, type.element, entry) for entry in value)


def _depth(value: Any) -> int | None:
    """How deep lists are nested; None where they are empty, or where there is nothing."""
    if value is None or isinstance(value, (list, tuple)):
        inner = [_depth(entry) for entry in value or ()]
        known = [depth for depth in inner if depth is not None]
        return 1 + max(known) if known else None
    return 0


def _tensor(name: str, type: TensorType | None, value: Any) -> EagerTensor:
    """An input as a tensor; Python numbers take the dtype of the input."""
    if isinstance(value, EagerTensor):
        return value
    if isinstance(value, Tensor):
        raise SpecError(f"`{name}`: a saved model cannot be part of a traced function")
    if isinstance(value, (bool, int, float)):
        return EagerTensor(np.asarray(value, None if type is None else type.dtype))
    if not isinstance(value, (np.ndarray, np.generic)):
        raise SpecError(f"`{name}` is a tensor or array, not {value.__class__.__name__}")
    return EagerTensor(np.asarray(value))


__all__ = [
    "LoadedMethod",
    "LoadedModel",
    "check_pair",
    "check_state",
    "load",
    "load_pair",
    "read_pair",
    "save_programs",
    "verified",
    "write_pair",
]
__dir__ = public_dir(__name__)
