"""jit.save and jit.load: converted Layers and functions as files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st.importers import paddle as paddle_files
from dy2st.jit.api import not_convertible, why_not
from dy2st.jit.input_spec import InputSpec
from dy2st.jit.objects_of_calls import check_apart
from dy2st.jit.program_passes import as_pass, transformed
from dy2st.jit.programs_of_files import for_file
from dy2st.jit.static_function import StaticFunction
from dy2st_runtime import io
from dy2st_runtime.engine import check_name
from dy2st_runtime.errors import ArgumentError, WrongKind
from dy2st_runtime.ir import Program, Tensor
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.limits import Limits
from dy2st_runtime.nn.layer import Layer
from dy2st_runtime.tensor import EagerTensor
from dy2st_runtime.thread_state import put_back_after_errors

if TYPE_CHECKING:
    from dy2st.jit.concrete_program import ConcreteProgram


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
    converted; a loaded model with its parameters and buffers as they are now. Missing folders are
    made; both files are complete or as they were. Of PaddlePaddle's other options those are taken
    that say what is done anyway.

    Parameters
    ----------
    layer
        A Layer, a function, a converted function or a loaded model.
    path
        Where to write, without an ending.
    input_spec
        InputSpecs or example tensors for the forward; without it the InputSpec of the conversion
        is taken, or the Program of the last call, in which sizes that have changed from call to
        call are unknown.
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
        module = transformed(applied, programs, state)
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
    layer: Any, input_spec: Sequence[Any] | None
) -> tuple[dict[str, Program], dict[str, Any]]:
    """The Programs of a file, and the arrays of their state, both by name."""
    if isinstance(layer, io.LoadedModel):
        if input_spec is not None:
            raise ArgumentError("a loaded model has the Programs of its file: no input_spec")
        tensors = {**layer._parameters, **layer._buffers}
        return dict(layer.programs), {name: one.array for name, one in tensors.items()}
    # What is saved, by the name it gets in the file; the main one is `forward`
    if isinstance(layer, StaticFunction):
        functions = {"forward": layer}
    elif isinstance(layer, Layer):
        forward: Any = layer.forward
        if not isinstance(forward, StaticFunction):
            forward = StaticFunction(forward.__func__, layer=layer)
        own = type(layer)
        held = {name: inspect.getattr_static(own, name, None) for name in dir(own)}
        names = [name for name, one in held.items() if isinstance(one, StaticFunction)]
        methods = {name: getattr(layer, name) for name in names if name != "forward"}
        functions = {"forward": forward, **methods}
    elif inspect.isroutine(layer):
        functions = {"forward": StaticFunction(layer)}
    else:
        why = why_not(layer) or "only functions and Layers have an input_spec"
        raise not_convertible("jit.save takes a Layer or a function", layer, why)
    if input_spec is not None:
        if not isinstance(input_spec, (list, tuple)):
            raise WrongKind(f"input_spec is a list of InputSpecs or tensors, not {input_spec!r}")
        if len(functions) > 1:
            raise ArgumentError(
                f"input_spec does not say for which of {', '.join(functions)} it is: give each "
                "its own in to_static(input_spec=...)"
            )
    programs: dict[str, Program] = {}
    state: dict[str, EagerTensor] = {}
    traced: dict[str, tuple[StaticFunction, ConcreteProgram]] = {}
    for name, function in functions.items():
        if name == "forward" and isinstance(layer, Layer) and _does_more(layer):
            traced[name] = _program_of_call(layer, function, input_spec)
        else:
            traced[name] = function, _program_of(function, input_spec)
    found = for_file([*traced.values()])
    changed = {name for concrete in found for name in concrete.main_program.updates}
    for name, concrete in zip(traced, found, strict=True):
        programs[name] = concrete.alone(changed)
        for key, tensor in concrete.state.items():
            known = state.setdefault(key, tensor)
            if known.array is not tensor.array:
                raise ArgumentError(f"method {name!r} uses another tensor under the name {key!r}")
            state[key] = tensor
    check_apart(programs.values(), state)
    return programs, {name: tensor.array for name, tensor in state.items()}


def _program_of(function: StaticFunction, input_spec: Sequence[Any] | None) -> ConcreteProgram:
    if input_spec is None:
        last = function.concrete_program
        # One for all calls may know what the Program of a call has asked of its tensors. A step
        # of training stays that of the call: else backward() would reach its arguments, too.
        is_of_a_call = last.asked and not last.finished.has_gone_back
        return function.like(last) if is_of_a_call and last.arguments else last
    specs = [
        InputSpec(list(one.shape), one.dtype) if isinstance(one, (Tensor, np.ndarray)) else one
        for one in input_spec
    ]
    return function.concrete_program_specify_input_spec(specs)


def _does_more(layer: Layer) -> bool:
    """Whether a call of the Layer does more than its forward."""
    has_own_call = type(layer).__call__ is not Layer.__call__
    return has_own_call or bool(layer._forward_pre_hooks or layer._forward_post_hooks)


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
    return called, called.like(last)
