"""jit.save and jit.load: converted Layers and functions as files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dy2st.convert.kinds.tensors import PLACE
from dy2st.convert.replay.effects import Effect
from dy2st.convert.replay.keeping import Keeping
from dy2st.convert.replay.places import Source
from dy2st.convert.replay.result import Given, Out, is_computed
from dy2st.importers import paddle as paddle_files
from dy2st.jit.api import not_convertible, why_not
from dy2st.jit.concrete_program import ConcreteProgram, as_pass
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.objects_of_calls import OutputAliasing, check_apart
from dy2st.jit.static_function import StaticFunction
from dy2st.jit.trace import Subject, names_of
from dy2st_runtime import io
from dy2st_runtime.engine import check_name
from dy2st_runtime.errors import ArgumentError, ConversionError, Dy2stError, Location, WrongKind
from dy2st_runtime.ir import Program, Tensor
from dy2st_runtime.ir.aliasing import object_of
from dy2st_runtime.ir.clone import clone
from dy2st_runtime.ir.location import place_of, warn_user, without_own_frames
from dy2st_runtime.ir.structure import wrong_entries
from dy2st_runtime.ir.tracing.gradient_flow import SETTER
from dy2st_runtime.kept_inputs import as_arrays
from dy2st_runtime.lazy import load_module
from dy2st_runtime.limits import Limits
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.nn.layer_tree import hooks_of
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import put_back_after_errors

Traced = tuple[StaticFunction, ConcreteProgram]

_MOST_ROUNDS = 16
"""Traces, each of which finds something new that is kept, before it is no use."""

# PaddlePaddle's options of `save`, with the values that say what is done here.
_OPTIONS: dict[str, tuple[Any, ...]] = {
    "clip_extra": (True, False),
    "combine_params": (True,),
    "input_names_after_prune": (None,),
    "output_spec": (None,),
    "separate_parameters": (False,),
    "skip_forward": (False,),
    "skip_prune_program": (True, False),
    "with_hook": (True,),
}


_FOREIGN = {
    ".onnx": "ONNX",
    ".pdmodel": "model of PaddlePaddle's",
    ".pdiparams": "model of PaddlePaddle's",
}


@without_own_frames
@put_back_after_errors
def save(
    layer: Layer | StaticFunction | Callable[..., Any],
    path: str,
    input_spec: Sequence[Any] | None = None,
    pipeline: Any = None,
    **configs: Any,
) -> None:
    """Write `path.mlir` (the Programs) and `path.safetensors` (parameters and buffers).

    A Layer is saved as it is called, with its hooks, and with every other method that is
    converted, in its class or by `net.decode = to_static(net.decode)`; a loaded model with its
    parameters and buffers as they are now. Missing folders are made; both files are complete or as
    they were. Of PaddlePaddle's other options those are taken that say what is done anyway.

    Parameters
    ----------
    layer
        A Layer, a function, a converted function or a loaded model.
    path
        Where to write, without an ending.
    input_spec
        InputSpecs or example tensors for the forward, other methods have their own; without it
        the InputSpec of the conversion is taken, or the Program of the last call, in which sizes
        that have changed from call to call are unknown.
    pipeline
        The name of a pipeline, a pass or a list of passes that the Programs go through first:
        `"inference"` makes the model smaller and faster, and no longer trainable.

    Raises
    ------
    ArgumentError
        If the types of the inputs are not known.
    ConversionError
        If the code has no static form.
    FileAccessError
        An OSError: if the disk refuses.

    Examples
    --------
    >>> import os, tempfile
    >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), [dy2st.static.InputSpec(["n", 4])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy2st.jit.save(net, f"{folder}/net")
    ...     print(sorted(os.listdir(folder)))
    ['net.mlir', 'net.safetensors']
    """
    if str(configs.pop("format", "dy2st")) != "dy2st":
        raise ArgumentError(
            "save writes no format of other tools: PaddlePaddle reads the weights that "
            "dy2st.save(layer.state_dict(), 'net.pdparams') writes, and other runtimes read ONNX"
        )
    for name, value in configs.items():
        if name not in _OPTIONS:
            raise WrongKind(f"save() got an unexpected keyword argument {name!r}")
        if not any(value is known for known in _OPTIONS[name]):
            instead = "save a function that takes and returns what is wanted"
            raise ArgumentError(f"save: {name}={value!r} is not here: {instead}")
    if not isinstance(path, (str, os.PathLike)):
        raise WrongKind(f"save(model, path) takes a path second, not a {type(path).__name__}")
    for ending, what in _FOREIGN.items():
        if os.fspath(path).endswith(ending):
            raise ArgumentError(f"save writes {path}.mlir, and no {what}: leave the ending away")
    programs, state = programs_to_save(layer, input_spec)
    applied = as_pass(pipeline)
    if applied is not None:
        module = load_module("dy2st.passes.pipelines").transformed(applied, programs, state)
        module.drop_unused_state()
        programs, state = module.programs, module.state
    io.save_programs(path, programs, state)


@without_own_frames
def load(
    path: str,
    mmap: bool = True,
    *,
    engine: str | None = None,
    limits: Limits | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
) -> io.LoadedModel:
    """Load what `save` wrote, or PaddlePaddle's; the result is called like the Layer was.

    A model that PaddlePaddle has saved is read, too: `net.json` or `net.pdmodel`, beside
    `net.pdiparams`. Nothing in the files is run.

    Parameters
    ----------
    path
        That of the save, without an ending; or the folder of files with names of their own.
    mmap
        Map parameters from their file, or read them at once.
    engine
        What runs the model: files name none.
    limits
        Hold each call, and loading, to so many operators, bytes and seconds.
    model_filename, params_filename
        Names in the folder `path`; `model_filename="net.mlir"` says `net.safetensors` too.

    Raises
    ------
    FormatError
        If a file is damaged, foreign or too new.
    ParameterMismatch
        If the two files are of different saves.
    UnknownOperators
        With all operators of PaddlePaddle's model that are not read.
    FileAccessError
        If the disk refuses.
    ArgumentError
        For names without a folder.

    Examples
    --------
    >>> import tempfile
    >>> net = dy2st.to_static(dy2st.nn.Linear(4, 2), [dy2st.static.InputSpec(["n", 4])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dy2st.jit.save(net, f"{folder}/net")
    ...     loaded = dy2st.jit.load(f"{folder}/net", mmap=False)
    >>> x = dy2st.ones([3, 4])
    >>> bool((loaded(x) == net(x)).all())
    True
    """
    if model_filename is None and params_filename is None:
        # A model may have been saved under the very path `net.mlir`, as `net.mlir.mlir`.
        stem = os.fspath(path).removesuffix(".mlir")
        foreign = None if os.path.isfile(f"{stem}.mlir") else paddle_files.files_of(path)
        if foreign is not None:
            return _of_paddle(*foreign, engine, limits)
        is_text = os.path.isfile(path) and not os.path.isfile(f"{stem}.mlir.mlir")
        return io.load(stem if is_text else path, mmap, engine, limits)
    folder = Path(path)
    if not folder.is_dir() or model_filename is None:
        raise ArgumentError(
            "model_filename, and params_filename beside it, are names in a folder: "
            f"load(folder, model_filename='net.mlir'), or load({os.fspath(path)!r}) without them"
        )
    model = folder / model_filename
    is_paddles = model.suffix in (".json", ".pdmodel")
    ending = ".pdiparams" if is_paddles else ".safetensors"
    params = folder / params_filename if params_filename else model.with_suffix(ending)
    if is_paddles:
        return _of_paddle(model, params, engine, limits)
    return io.load_pair(model, params, mmap, engine, limits)


def _of_paddle(
    model: Path, params: Path, engine: str | None, limits: Limits | None
) -> io.LoadedModel:
    """The model of files that PaddlePaddle has written."""
    check_name(engine)
    found = paddle_files.read(model, params)
    return io.LoadedModel([found.program], found.arrays, engine, limits)


def programs_to_save(
    layer: Any, input_spec: Sequence[Any] | None, has_inputs: bool = True
) -> tuple[dict[str, Program], dict[str, Any]]:
    """The Programs of a file, and the arrays of what they keep, both by name.

    has_inputs: whether who runs them keeps inputs from call to call, too.
    """
    if isinstance(layer, io.LoadedModel):
        if input_spec is not None:
            raise ArgumentError("a loaded model has the Programs of its file: no input_spec")
        return dict(layer.programs), layer.arrays()
    # What is saved, by the name it gets in the file; the main one is `forward`
    if isinstance(layer, StaticFunction):
        functions = {"forward": layer}
    elif isinstance(layer, Layer):
        forward: Any = layer.forward
        if not isinstance(forward, StaticFunction):
            forward = StaticFunction(forward.__func__, layer=layer)
        held = {name: inspect.getattr_static(layer, name, None) for name in dir(layer)}
        names = [name for name, one in held.items() if isinstance(one, StaticFunction)]
        methods = {name: getattr(layer, name) for name in names}
        own = {name: one for name, one in methods.items() if one.class_instance is layer}
        functions = {"forward": forward, **own}
    elif inspect.isroutine(layer):
        functions = {"forward": StaticFunction(layer)}
    else:
        why = why_not(layer) or "only functions and Layers have an input_spec"
        raise not_convertible("jit.save takes a Layer or a function", layer, why)
    if input_spec is not None and not isinstance(input_spec, (list, tuple)):
        raise WrongKind(f"input_spec is a list of InputSpecs or tensors, not {input_spec!r}")
    programs: dict[str, Program] = {}
    state: dict[str, EagerTensor] = {}
    traced: dict[str, Traced] = {}
    for name, function in functions.items():
        is_own = type(layer).__call__ is not Layer.__call__
        if name == "forward" and isinstance(layer, Layer) and (is_own or hooks_of(layer)):
            traced[name] = _program_of_call(layer, function, input_spec)
        else:
            specs = input_spec if name == "forward" else None
            traced[name] = function, _program_of(function, specs)
    found = for_file([*traced.values()], has_inputs)
    changed = {name for concrete in found for name in concrete.main_program.updates}
    inputs = {name: value for one in found for name, value in one.finished.kept_inputs.items()}
    changed = changed.union(*(one.finished.changed_inputs for one in found))
    for name, concrete in zip(traced, found, strict=True):
        programs[name] = alone(concrete, changed)
        for key, tensor in concrete.state.items():
            known = state.setdefault(key, tensor)
            if known.array is not tensor.array:
                raise ArgumentError(f"method {name!r} uses another tensor under the name {key!r}")
            state[key] = tensor
    check_apart(programs.values(), state)
    arrays: dict[str, Any] = {name: tensor.array for name, tensor in state.items()}
    for name, value in inputs.items():
        arrays.update(as_arrays(name, value))
    return programs, arrays


def _program_of(function: StaticFunction, input_spec: Sequence[Any] | None) -> ConcreteProgram:
    if input_spec is None:
        last = function.concrete_program
        # One for all calls may know what the Program of a call has asked of its tensors. A step
        # of training stays that of the call: else backward() would reach its arguments, too.
        is_of_a_call = last.asked and not last.finished.has_gone_back
        return _like(function, last) if is_of_a_call and last.arguments else last
    specs = [
        InputSpec(list(one.shape), one.dtype) if isinstance(one, (Tensor, np.ndarray)) else one
        for one in input_spec
    ]
    return function.concrete_program_specify_input_spec(specs)


def _like(function: StaticFunction, concrete: ConcreteProgram) -> ConcreteProgram:
    """The Program for the arguments of another, with unknown sizes where that has them."""
    return function.programs.of_specs(Subject(function, dict(concrete.arguments or {})))


def _program_of_call(
    layer: Layer, forward: StaticFunction, input_spec: Sequence[Any] | None
) -> tuple[StaticFunction, ConcreteProgram]:
    """The Program of a call of the Layer: what it takes goes through the hooks first."""
    called = forward.as_called_by(layer)
    specs = forward.input_spec if input_spec is None else input_spec
    if specs is not None:
        return called, _program_of(called, specs)
    last = forward.concrete_program
    # Hooks after the forward leave its arguments alone.
    is_same = not layer._forward_pre_hooks and type(layer).__call__ is Layer.__call__
    if not (is_same and last.arguments is not None):
        raise ArgumentError(
            f"what {type(layer).__name__} was called with is not known, since its hooks see it "
            f"before {forward.__name__}() does: give save an input_spec"
        )
    return called, _like(called, last)


# -- Programs that run by themselves ------------------------------------------------------------


def for_file(functions: Sequence[Traced], has_inputs: bool = False) -> list[ConcreteProgram]:
    """The Programs of functions that go on by themselves, in a file of all of them.

    What calls read and write outside becomes buffers, and inputs that the model keeps if it
    `has_inputs`. The functions are traced again for that, until no trace finds anything new; those
    that write nothing outside stay what they are.

    Raises ConversionError if a place cannot be kept so.
    """
    found = [concrete for _, concrete in functions]
    if not any(_leaves_more(one, has_inputs) for one in found):
        return found
    names: dict[int, str] = {}
    tensors: set[str] = set()
    for layer in (function.class_instance for function, _ in functions):
        if isinstance(layer, Layer):
            inner = layer.named_sublayers(include_self=True)
            names = {**{id(one): name for name, one in inner}, **names}
            tensors |= {*names_of(layer).values()}
    arguments = frozenset(variable.name for one in found for variable in one.inputs)
    keeping = Keeping(names, frozenset(tensors), arguments, has_inputs)
    for _ in range(_MOST_ROUNDS):
        rises, size = keeping.rises, keeping.size
        found = [_again(function, concrete, keeping) for function, concrete in functions]
        is_all = keeping.size == size if len(functions) > 1 else keeping.rises == rises
        is_lost = any(one.finished.lost for one in found)
        if is_all and not (is_lost and keeping.begin_anew()):
            return found
    labels = ", ".join(f"`{one.label}`" for one in keeping.kept.values())
    raise ConversionError(
        f"one of {labels} has another form after every call",
        at=place_of(functions[0][1].function),
        why="a Program that is saved or compiled is one for all calls",
        hint="let each call leave it in the form that it has before",
    )


def _again(function: StaticFunction, concrete: ConcreteProgram, keeping: Keeping) -> Any:
    """The Program with what is kept so far as its state."""
    labels = ", ".join(f"`{one.label}`" for one in keeping.kept.values())
    try:
        return function.programs.for_file(function, concrete, keeping)
    except Dy2stError as error:
        if keeping.begin_anew():  # another path may have read what this one has written
            return concrete
        if not labels:
            raise
        raise ConversionError(
            f"{concrete.main_program.name}() changes {labels} for the next call, and what it does "
            "with that has no form in a Program that is saved or compiled",
            at=error.at if isinstance(error, ConversionError) else place_of(concrete.function),
            why=str(error).splitlines()[0],
            hint="return what changes, and pass it in again",
        ) from error


def _leaves_more(concrete: ConcreteProgram, has_inputs: bool) -> bool:
    """Whether a call leaves more outside than buffers, and what a step of training does."""
    read = _read_at(concrete) if concrete.finished.has_gone_back else (lambda effect: "")

    def is_known(effect: Effect) -> bool:
        buffer = concrete.buffers.get(id(effect.buffer))
        stays = buffer is not None and not (has_inputs and _becomes(concrete, effect, buffer))
        return bool(read(effect)) or effect.name == PLACE or stays

    return not all(map(is_known, concrete.finished.effects))


def _becomes(concrete: ConcreteProgram, effect: Effect, buffer: str) -> str:
    """What a buffer becomes that does not keep its type, in words."""
    program = concrete.main_program
    if not isinstance(effect.value, Out):
        return "one of several"
    after = program.outputs[effect.value.index].tensor_type
    return "" if program.state[buffer].tensor_type == after else str(after)


def _read_at(concrete: ConcreteProgram) -> Callable[[Effect], str]:
    """What gives the name of the state that is read where an effect writes; empty if none is."""
    places: Mapping[str, tuple[Any, Any]] = concrete.live.places
    found = {
        (id(source.owner()), attribute): name
        for name, (source, attribute) in places.items()
        if isinstance(source, Source)
    }
    return lambda effect: found.get((id(effect.owner_now()), effect.name), "")


def alone(concrete: ConcreteProgram, changed: Collection[str] = ()) -> Program:
    """The Program that is to run by itself: buffers that it assigns are updates of it.

    Refused where it writes anything else. `changed` are the buffers that other Programs of the
    same file change in place.

    >>> concrete = dy2st.to_static(lambda x: x * 2).get_concrete_program(dy2st.ones([2]))
    >>> alone(concrete) is concrete.main_program
    True
    """
    return _Alone(concrete, changed).made()


class _Alone:
    """Makes such a Program.

    assigned  the outputs that buffers become.
    changed   the buffers that calls change in place.
    """

    def __init__(self, concrete: ConcreteProgram, changed: Collection[str]):
        self.concrete, self.finished = concrete, concrete.finished
        self.program, self.at = concrete.main_program, place_of(concrete.function)
        self.is_step = self.finished.has_gone_back
        self.changed = {*self.program.updates, *self.finished.changed_inputs, *changed}
        self.assigned: dict[str, int] = {}

    def made(self) -> Program:
        program, concrete, finished = self.program, self.concrete, self.finished
        if finished.lost is not None and not self.is_step:
            raise finished.lost
        for what in concrete.effects:
            self.warn_of(what)
        for name, tensor in concrete.state.items():
            # A step of training has taken its gradients inside: none flow to who calls it.
            program.trainable[name] = not tensor.stopped and not self.is_step
        for at in () if self.is_step else concrete.asked:
            raise ConversionError(
                f"{program.name}() asks for the stop_gradient of what it is called with "
                "or has computed of it, or for is_grad_enabled()",
                at=at,
                why="a Program that is saved or compiled is one for all calls",
                hint="take a bool as an argument, or leave gradients to the caller: detach()",
            )
        read = _read_at(concrete)
        for effect in finished.effects:
            if effect.place not in finished.kept_places:
                self.take(effect, read(effect) if isinstance(effect.value, Out) else "")
        if finished.lost is not None:  # a step that has no better words for it
            raise finished.lost
        for name, index in finished.kept.items():
            self.check_names(name, index, name, self.at)
            self.assigned[name] = index
        own = [name for name in finished.kept_inputs if name in self.assigned]
        inputs = {name: self.assigned.pop(name) for name in own}
        for place, _ in finished.leaves:
            self.warn_of(f"it leaves a gradient in its argument `{concrete.inputs[place].name}`")
        self.check_result()
        if finished.effects or self.assigned or inputs or self.is_step:
            program = self.with_updates(inputs)
        check_apart([program], concrete.state, self.at)
        return program

    def take(self, effect: Effect, read: str) -> None:
        """Let an effect be the new value of a buffer: of the one that is `read` where it writes.

        Refused if there is none; warns of what is done to other objects.
        """
        if isinstance(effect.owner, Given):
            self.warn_of(effect.what)
            return
        if self.is_step and not read and effect.name == PLACE:
            return  # a gradient that the Program does not read
        buffer = read or self.concrete.buffers.get(id(effect.buffer))
        if buffer is not None:
            self.check_type(effect, buffer)
            index = effect.value.index
            if not read:
                self.check_names(effect.name, index, buffer, effect.at)
            self.assigned[buffer] = index
            return
        if self.is_step:
            self.check_step(effect)
        if not effect.what:
            raise ConversionError(
                f"{self.program.name}() assigns `{effect.name}`, a variable outside of it",
                at=effect.at,
                why="a Program that is saved or compiled has only its arguments and its results",
                hint=f"return the value, and assign `{effect.name}` outside",
            )
        self.warn_of(effect.what)

    def check_names(self, name: Any, index: int, buffer: str, at: Location | None) -> None:
        """Refuse to replace a tensor that has a second name, and to change one that gets one."""
        aliasing = self.concrete.aliasing or OutputAliasing()
        names = [*(variable.name for variable in self.program.inputs), *self.program.state]
        others = {names[place] for place in aliasing.places_of(index)}
        others |= {one for one, had in self.assigned.items() if aliasing.may_be_one(index, had)}
        others -= {buffer}
        if buffer in self.concrete.shared or (others and self.changed & {buffer, *others}):
            raise ConversionError(
                f"{self.program.name}() assigns the buffer `{name}`, and something "
                "else holds one of its tensors, too",
                at=at,
                why="a Program that is saved or compiled has a value of its own for each name",
                hint="give the other a copy: clone()",
            )

    def check_step(self, effect: Effect) -> None:
        """Refuse a step of training that would forget what it writes for the next one."""
        if not is_computed(effect.value):
            return
        name = self.program.name
        raise ConversionError(
            f"{name}() trains, and what it keeps of a call is not there yet: {effect.what}"
            if effect.what
            else f"{name}() trains, and assigns `{effect.name}`, a variable outside of it",
            at=effect.at or self.at,
            why="a Program that is saved or compiled goes on from what it has found outside",
            hint="call the function once before it is saved, which makes gradients and what the "
            "optimizer remembers; what it gathers in a list or dict, let it return",
        )

    def check_type(self, effect: Effect, buffer: str) -> None:
        """Refuse to give a buffer another type."""
        become = _becomes(self.concrete, effect, buffer)
        if become:
            kind, before = type(effect.owner_now()).__name__, self.program.state[buffer].tensor_type
            raise ConversionError(
                f"{self.program.name}() lets the buffer `{kind}.{effect.name}`, {before}, "
                f"become {become}",
                at=effect.at,
                why="a buffer of a Program that is saved or compiled has one dtype and shape",
                hint="register it as what it becomes, or cast and reshape what is assigned; if it "
                "keeps its type after a call, call the function once before; what grows from call "
                "to call, such as a cache, take as an argument and return",
            )

    def check_result(self) -> None:
        """Refuse a result that needs Python to be given back."""
        types = [output.type for output in self.program.outputs]
        wrong = next(wrong_entries(self.program.structure, types), "")
        if not wrong and not self.finished.not_plain:
            return
        who = "a saved Program" if wrong else "a Program alone"
        what = f"returns what {who} cannot give back: {wrong or self.finished.not_plain}"
        raise ConversionError(
            f"{self.program.name}() {what}",
            at=self.at,
            why="a Program gives back tensors, Python constants, and lists, tuples and "
            "dicts of them",
            hint="return the tensors, or lists of the keys and the values of a dict, and build "
            "the object outside",
        )

    def with_updates(self, inputs: Mapping[str, int]) -> Program:
        """A copy of the Program in which what is assigned is an update.

        `inputs`: the outputs that are new values of inputs that the model keeps.
        """
        made, end = clone(self.program), len(self.program.outputs)
        made.structure = self.program.structure
        outputs, updates = made.block.yields[:end], made.block.yields[end:]
        left = dict(zip(self.program.updates, updates, strict=True))
        # An assignment wins over a change in place: what the next call reads is what was assigned.
        left.update({name: outputs[index] for name, index in self.assigned.items()})
        made.updates = list(left)
        own = [*outputs[: self.finished.outputs_of_files]]
        for name, index in inputs.items():
            made.changes[name] = len(own)
            own.append(outputs[index])
        made.block.yields = [*own, *left.values()]
        if self.is_step:
            _drop_flags(made)
        return made

    def warn_of(self, what: str) -> None:
        warn_user(
            f"{self.program.name}() does something that its Program alone does not, since {what}",
            self.at,
        )


def _drop_flags(program: Program) -> None:
    """Strike out what sets `stop_gradient`: gradients end in the Program, so nobody asks."""
    inner = [block for operator in program.walk() for block in operator.blocks]
    for block in (*program.roots, *inner):
        block.operators = [one for one in block.operators if one.name != SETTER]
        for operator in block.operators:
            operator.operands = [*map(object_of, operator.operands)]
        block.yields = [*map(object_of, block.yields)]
