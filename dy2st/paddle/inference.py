"""Paddle Inference: models that PaddlePaddle's jit.save wrote, run by the engines of dy2st.

config = Config("net.json", "net.pdiparams")
predictor = create_predictor(config)
predictor.get_input_handle(predictor.get_input_names()[0]).copy_from_cpu(array)
predictor.run()
result = predictor.get_output_handle(predictor.get_output_names()[0]).copy_to_cpu()
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from dy2st.importers.paddle.reading import read
from dy2st.paddle.private_modules import private_modules
from dy2st.static.inference import InferenceProgram, model_files
from dy2st_runtime.errors import ArgumentError, SpecError
from dy2st_runtime.lazy import public_dir


class DataType(Enum):
    """Element types of inputs and outputs: FLOAT32, INT64, UINT8, ...

    >>> dy2st.inference.DataType.FLOAT32.name
    'FLOAT32'
    """

    FLOAT64, FLOAT32, FLOAT16, INT64, INT32, UINT8, INT8, BOOL, BFLOAT16 = range(9)


class PrecisionType(Enum):
    """Kinds of numbers that a predictor would compute with.

    >>> dy2st.inference.PrecisionType.Half.name
    'Half'
    """

    Float32, Int8, Half, Bfloat16 = range(4)


class PlaceType(Enum):
    """Where a predictor would compute.

    >>> dy2st.inference.PlaceType.CPU.name
    'CPU'
    """

    UNK, CPU, GPU, XPU, CUSTOM = range(-1, 4)


# Options that say how fast or how quietly, and change no result: they are taken, and do nothing.
_TAKEN = {
    "delete_pass", "disable_glog_info", "disable_mkldnn", "disable_onednn",
    "enable_memory_optim", "enable_mkldnn", "enable_mkldnn_bfloat16", "enable_new_executor",
    "enable_new_ir", "enable_onednn", "enable_profile", "exp_disable_mixed_precision_ops",
    "set_cpu_math_library_num_threads", "set_mkldnn_cache_capacity", "set_mkldnn_op",
    "set_model_buffer_", "set_optim_cache_dir", "set_optimization_level", "switch_ir_debug",
    "switch_ir_optim", "switch_specify_input_names", "switch_use_feed_fetch_ops",
    "disable_gpu", "enable_save_optim_model", "use_optimized_model",
}  # fmt: skip

_REFUSED = {
    "enable_custom_device", "enable_lite_engine", "enable_tensorrt_engine",
    "enable_use_gpu", "enable_xpu", "exp_enable_use_gpu_fp16", "set_model_buffer",
    "enable_mkldnn_int8", "enable_cinn", "enable_tuned_tensorrt_dynamic_shape",
}  # fmt: skip


class Config:
    """The files of a model, and how it shall run.

    `Config("net")` means net.json or net.pdmodel, beside net.pdiparams; `Config(folder)` the one
    model of a folder. Options that change no result are taken; those that ask for other devices
    are refused: `create_predictor(config, engine="xla")` names the engine.

    >>> config = dy2st.inference.Config()
    >>> config.set_model("net.json", "net.pdiparams")
    >>> config.prog_file(), config.params_file(), config.use_gpu(), config.ir_optim()
    ('net.json', 'net.pdiparams', False, True)
    >>> config.set_prog_file("other.json")
    >>> config.set_params_file("other.pdiparams")
    >>> config.model_dir(), "other.json" in config.summary()
    ('', True)
    """

    Precision = PrecisionType

    def __init__(self, model: Any = None, params: Any = None):
        """Take the path of a model, or of both files."""
        self._model, self._params = model, params

    def set_model(self, model: Any, params: Any = None) -> None:
        """Take other files."""
        self._model, self._params = model, params

    def set_prog_file(self, model: Any) -> None:
        """Take another file of the model."""
        self._model = model

    def set_params_file(self, params: Any) -> None:
        """Take another file of the parameters."""
        self._params = params

    def prog_file(self) -> str:
        """The file of the model."""
        return os.fspath(self._model or "")

    def params_file(self) -> str:
        """The file of the parameters."""
        return os.fspath(self._params or "")

    def model_dir(self) -> str:
        """The folder of the model."""
        return os.path.dirname(self.prog_file())

    def use_gpu(self) -> bool:
        """False: the engine decides."""
        return False

    def ir_optim(self) -> bool:
        """True: engines optimise."""
        return True

    def summary(self) -> str:
        """The two files."""
        return f"model {self.prog_file()}, parameters {self.params_file()}"

    def __getattr__(self, name: str) -> Any:
        """An option that changes nothing; ArgumentError for one that would."""
        if name in _TAKEN:
            return lambda *_, **__: None
        if name in _REFUSED:
            return lambda *_, **__: _refuse(f"Config.{name}")
        raise AttributeError(f"Config has no {name!r}")

    def _files(self) -> tuple[Any, Any]:
        if self._model is None:
            raise ArgumentError("Config has no model: Config('net.json', 'net.pdiparams')")
        path = os.fspath(self._model)
        if self._params is not None:
            return model_files("", path, os.fspath(self._params))
        if os.path.isdir(path):
            endings = (".json", ".pdmodel")
            found = [n for n in sorted(os.listdir(path)) if n.endswith(endings)]
            if len(found) != 1:
                raise ArgumentError(f"{path} has {len(found)} models: give the file of one")
            path = os.path.join(path, found[0])
        return model_files(path)


def _refuse(what: str) -> NoReturn:
    raise ArgumentError(
        f"inference.{what} is not here: engines run the model, and "
        'create_predictor(config, engine="native") names one'
    )


class Tensor:
    """An input or output of a predictor, which copies arrays in and out.

    >>> handle = dy2st.inference.Tensor("x")
    >>> handle.reshape([1, 2])
    >>> handle.copy_from_cpu(np.ones((1, 2), "float32"))
    >>> handle.name(), handle.shape(), handle.type().name, handle.lod()
    ('x', [1, 2], 'FLOAT32', [])
    >>> handle.copy_to_cpu()
    array([[1., 1.]], dtype=float32)
    """

    def __init__(self, name: str):
        """Empty at first."""
        self._name = name
        self._shape: list[int] | None = None
        self._array: Any = None

    def name(self) -> str:
        """Its name in the model."""
        return self._name

    def reshape(self, shape: Sequence[int]) -> None:
        """Say the shape of what will be copied in."""
        self._shape = [int(size) for size in shape]

    def copy_from_cpu(self, data: Any) -> None:
        """Take the values of an array; SpecError if `reshape` has said another shape.

        >>> handle = dy2st.inference.Tensor("x")
        >>> handle.copy_from_cpu(np.ones(2, "float32"))
        >>> handle.shape()
        [2]
        """
        array = np.array(data)
        if self._shape is not None and list(array.shape) != self._shape:
            if array.size != int(np.prod(self._shape)):
                raise SpecError(f"{self._name}: {list(array.shape)} is not {self._shape}")
            array = array.reshape(self._shape)
        self._array = array

    share_external_data = copy_from_cpu

    def copy_to_cpu(self) -> Any:
        """The values as an array; SpecError before a run."""
        if self._array is None:
            raise SpecError(f"{self._name} has no values yet: run the predictor")
        return np.array(self._array)

    def shape(self) -> list[int]:
        """Its sizes."""
        return list(self._array.shape) if self._array is not None else list(self._shape or [])

    def type(self) -> Any:
        """Its element type."""
        return DataType[str(self.copy_to_cpu().dtype).upper()]

    def lod(self) -> list[Any]:
        """No levels."""
        return []

    def set_lod(self, lod: Any) -> None:
        """Refuse levels.

        >>> dy2st.inference.Tensor("x").set_lod([])
        """
        if lod:
            _refuse("Tensor.set_lod")


class Predictor:
    """A model that runs on its handles, or on a list of arrays or tensors.

    `create_predictor` makes it of a Config.

    >>> config = dy2st.inference.Config("net")  # a model that PaddlePaddle has saved
    >>> predictor = dy2st.inference.create_predictor(config)  # doctest: +SKIP
    >>> handle = predictor.get_input_handle(predictor.get_input_names()[0])  # doctest: +SKIP
    >>> handle.copy_from_cpu(np.ones((1, 4), "float32"))  # doctest: +SKIP
    >>> predictor.run()  # doctest: +SKIP
    >>> name = predictor.get_output_names()[0]  # doctest: +SKIP
    >>> predictor.get_output_handle(name).copy_to_cpu().shape  # doctest: +SKIP
    (1, 2)
    >>> predictor.clear_intermediate_tensor(), predictor.try_shrink_memory()  # doctest: +SKIP
    >>> twin = predictor.clone()  # doctest: +SKIP
    """

    def __init__(self, config: Config, engine: str | None = None):
        """Load the model of a config."""
        self._program = InferenceProgram(read(*config._files()), engine)
        self._make_handles()

    def _make_handles(self) -> None:
        program = self._program
        self._inputs = {name: Tensor(name) for name in program.inputs}
        self._outputs = {name: Tensor(name) for name in program.outputs}

    def get_input_names(self) -> list[str]:
        """Names of the inputs, in order."""
        return list(self._inputs)

    def get_output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        return list(self._outputs)

    def get_input_handle(self, name: str) -> Tensor:
        """The input of a name; SpecError if there is none."""
        return _named(self._inputs, name)

    def get_output_handle(self, name: str) -> Tensor:
        """The output of a name; SpecError if there is none."""
        return _named(self._outputs, name)

    def run(self, inputs: Sequence[Any] | None = None) -> Any:
        """Compute the outputs of what the handles hold; of `inputs` the outputs as tensors."""
        if inputs is not None:
            return self._program.run(dict(zip(self._inputs, inputs, strict=False)))
        found = self._program.run({n: handle.copy_to_cpu() for n, handle in self._inputs.items()})
        for handle, value in zip(self._outputs.values(), found, strict=True):
            handle._array = value.numpy()
        return True

    def clone(self, stream: Any = None) -> Predictor:
        """Another predictor of the same parameters, with handles of its own."""
        made = object.__new__(Predictor)
        made._program = self._program
        made._make_handles()
        return made

    def clear_intermediate_tensor(self) -> None:
        """Nothing is kept."""

    def try_shrink_memory(self) -> bool:
        """Nothing is kept."""
        return True


def _named(handles: dict[str, Tensor], name: str) -> Tensor:
    if name not in handles:
        raise SpecError(f"the model has {', '.join(handles)}, not {name!r}")
    return handles[name]


class PredictorPool:
    """Several predictors of one model.

    >>> config = dy2st.inference.Config("net")  # a model that PaddlePaddle has saved
    >>> pool = dy2st.inference.PredictorPool(config, 2)  # doctest: +SKIP
    >>> outputs = pool.retrive(0).run([np.ones((1, 4), "float32")])  # doctest: +SKIP
    """

    def __init__(self, config: Config, size: int = 1):
        """Load the model once."""
        first = Predictor(config)
        self._all = [first, *(first.clone() for _ in range(size - 1))]

    def retrive(self, index: int) -> Predictor:
        """One of them, under the name that Paddle has for it."""
        return self._all[index]


def create_predictor(config: Config, engine: str | None = None) -> Predictor:
    """A predictor for the model of a config; `engine` names what runs it.

    >>> dy2st.inference.create_predictor(dy2st.inference.Config("missing"))
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.MissingFile: there is no missing.json, and no missing.pdmodel
    """
    return Predictor(config, engine)


def convert_to_mixed_precision(*_: Any, **__: Any) -> NoReturn:
    """Refuse: `dy2st opt -p mixed-precision` makes such models.

    >>> dy2st.inference.convert_to_mixed_precision("net.json")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    dy2st_runtime.errors.ArgumentError: inference.convert_to_mixed_precision is not...
    """
    raise ArgumentError(
        "inference.convert_to_mixed_precision is not here: `dy2st import net.json -o net`, then "
        "`dy2st opt net.mlir -p mixed-precision -o half`"
    )


def get_num_bytes_of_data_type(dtype: DataType) -> int:
    """How many bytes an element has.

    >>> dy2st.inference.get_num_bytes_of_data_type(dy2st.inference.DataType.FLOAT32)
    4
    """
    return {"BOOL": 1, "BFLOAT16": 2}.get(dtype.name) or np.dtype(dtype.name.lower()).itemsize


def get_version() -> str:
    """What this is like.

    >>> isinstance(dy2st.inference.get_version(), str)
    True
    """
    return "version: 3.3.1"


__all__ = [
    "Config",
    "DataType",
    "PlaceType",
    "PrecisionType",
    "Predictor",
    "PredictorPool",
    "Tensor",
    "convert_to_mixed_precision",
    "create_predictor",
    "get_num_bytes_of_data_type",
    "get_version",
]
__dir__ = public_dir(__name__)

private_modules(__name__)
