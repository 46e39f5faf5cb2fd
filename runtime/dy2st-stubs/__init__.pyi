"""dy2st: plain Python models as static Programs. Public names follow PaddlePaddle."""

import builtins
import numpy as np
from collections.abc import Sequence
from dy2st import (
    amp as amp,
    errors as errors,
    io as io,
    jit as jit,
    nn as nn,
    optimizer as optimizer,
    paddle as paddle,
    passes as passes,
    static as static,
)
from dy2st.amp import (
    auto_cast as _autocast,
    get_autocast_dtype as _get_autocast_cpu_dtype,
    get_autocast_dtype as _get_autocast_gpu_dtype,
    get_autocast_dtype as get_autocast_dtype,
    is_autocast_enabled as is_autocast_enabled,
)
from dy2st.diagnostics.comparing import compare as compare
from dy2st.diagnostics.profiling import profile as profile
from dy2st.importers.torch.loading import from_torch as from_torch
from dy2st.jit.api import to_static as to_static
from dy2st.paddle import (
    as_paddle as as_paddle,
    audio as audio,
    autograd as autograd,
    base as base,
    callbacks as callbacks,
    common_ops_import as common_ops_import,
    dataset as dataset,
    device as device,
    distributed as distributed,
    distribution as distribution,
    fft as fft,
    framework as framework,
    geometric as geometric,
    hapi as hapi,
    hub as hub,
    incubate as incubate,
    inference as inference,
    linalg as linalg,
    metric as metric,
    onnx as onnx,
    porting as porting,
    profiler as profiler,
    regularizer as regularizer,
    signal as signal,
    tensor as tensor,
    text as text,
    utils as utils,
    version as version,
    vision as vision,
)
from dy2st.paddle.device import (
    _no as _is_compiled_with_cinn,
    _no as _is_compiled_with_distribute,
    _no as _is_compiled_with_ipu,
    _no as _is_compiled_with_xpu,
    get_cudnn_version as get_cudnn_version,
    get_device as get_device,
    is_compiled_with_cuda as is_compiled_with_cuda,
    is_compiled_with_custom_device as is_compiled_with_custom_device,
    is_compiled_with_rocm as is_compiled_with_rocm,
    set_device as set_device,
)
from dy2st.paddle.distributed.data_parallel import DataParallel as DataParallel
from dy2st.paddle.dtypes import finfo as finfo, iinfo as iinfo
from dy2st.paddle.hapi.model import Model as Model
from dy2st.paddle.model_summary import flops as flops, summary as summary
from dy2st.paddle.modes import (
    LazyGuard as LazyGuard,
    disable_signal_handler as disable_signal_handler,
    disable_static as disable_static,
    enable_static as enable_static,
    get_flags as get_flags,
    in_dynamic_mode as in_dynamic_mode,
    in_dynamic_or_pir_mode as in_dynamic_or_pir_mode,
    set_flags as set_flags,
    set_printoptions as set_printoptions,
)
from dy2st.paddle.reader import batch as batch
from dy2st.paddle.second_names import (
    clear_async_save_task_queue as clear_async_save_task_queue,
    get_default_device as get_default_device,
    manual_seed as manual_seed,
)
from dy2st.paddle.sizes import range as range
from dy2st.paddle.utils.dlpack import to_dlpack as to_dlpack
from dy2st_runtime import array_api as array_api, dims as dims, engine as engine, ops as ops
from dy2st_runtime.checkpoint.loading import load as load
from dy2st_runtime.checkpoint.saving import save as save
from dy2st_runtime.ir.grad_mode import (
    enable_grad as enable_grad,
    is_grad_enabled as is_grad_enabled,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from dy2st_runtime.ir.program import Program as Program
from dy2st_runtime.ir.promotion import (
    get_promotion as get_promotion,
    promotion as promotion,
    set_promotion as set_promotion,
)
from dy2st_runtime.ir.tensor import Index, ShapeLike, Tensor as Tensor, TensorLike
from dy2st_runtime.ir.types import ArrayType, DTypeLike
from dy2st_runtime.nn.initializer import Initializer
from dy2st_runtime.nn.parameters import ParamAttr as ParamAttr
from dy2st_runtime.ops.creation import get_default_dtype as get_default_dtype
from dy2st_runtime.ops.generator import seed as seed
from dy2st_runtime.ops.numeric import (
    broadcast_shape as broadcast_shape,
    broadcast_shapes as broadcast_shapes,
)
from dy2st_runtime.place import (
    CPUPlace as CPUPlace,
    CUDAPinnedPlace as CUDAPinnedPlace,
    CUDAPlace as CUDAPlace,
    CustomPlace as CustomPlace,
    IPUPlace as IPUPlace,
    Place,
    XPUPinnedPlace as XPUPinnedPlace,
    XPUPlace as XPUPlace,
)
from dy2st_runtime.size_list import SizeList as _Size
from dy2st_runtime.tensor import (
    Parameter as Parameter,
    from_dlpack as from_dlpack,
    from_numpy as from_numpy,
    is_tensor as is_tensor,
    to_tensor as to_tensor,
)
from numpy import dtype as dtype
from typing import Any, Literal, overload

Size = _Size
def abs(x: TensorLike, name: str | None = None) -> Tensor:
    """|x|, elementwise: (...,) -> (...,); the slope at 0 is 0."""
def abs_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `abs` of x, in place: for all who hold it."""
def acos(x: TensorLike, name: str | None = None) -> Tensor:
    """The arc cosine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1."""
def acos_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `acos` of x, in place: for all who hold it."""
def acosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of cosh, elementwise: (...,) -> (...,); NaN below 1."""
def acosh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `acosh` of x, in place: for all who hold it."""
def adaptive_avg_pool1d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], name: str | None = None) -> Tensor:
    """(n, c, l) -> (n, c, output_size): means of equal parts."""
def adaptive_avg_pool2d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, *output_size): means of equal parts; None keeps a size."""
def adaptive_avg_pool3d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """(n, c, d, h, w) -> (n, c, *output_size): means of equal parts; None keeps a size."""
@overload
def adaptive_max_pool1d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], return_mask: Literal[False] = False, name: str | None = None) -> Tensor:
    """(n, c, l) -> (n, c, output_size): the largest of equal parts; their places too if asked."""
@overload
def adaptive_max_pool1d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], *, return_mask: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, l) -> (n, c, output_size): the largest of equal parts; their places too if asked."""
@overload
def adaptive_max_pool2d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], return_mask: Literal[False] = False, name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size."""
@overload
def adaptive_max_pool2d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], *, return_mask: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size."""
@overload
def adaptive_max_pool3d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], return_mask: Literal[False] = False, name: str | None = None) -> Tensor:
    """(n, c, d, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size."""
@overload
def adaptive_max_pool3d(x: TensorLike, output_size: builtins.int | Sequence[builtins.int | None], *, return_mask: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, d, h, w) -> (n, c, *output_size): the largest of equal parts; None keeps a size."""
def add(x: TensorLike, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
    """x + alpha * y, elementwise with broadcasting: (...,) + (...,) -> (...,)."""
def add_(x: TensorLike, y: TensorLike, name: str | None = None, *, alpha: TensorLike = 1) -> Tensor:
    """x becomes `add` of x, in place: for all who hold it."""
def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of tensors of one shape: a list of (...,) -> (...,)."""
def addmm(input: TensorLike, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """beta * input + alpha * (x @ y): (n, m), (n, k), (k, m) -> (n, m)."""
def addmm_(input: TensorLike, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x becomes `addmm` of x, in place: for all who hold it."""
def all(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """Whether all elements are true (not 0) along axes, all by default: bools, True of no elements."""
def allclose(x: TensorLike, y: TensorLike, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False, name: str | None = None) -> Tensor:
    """Whether `isclose` holds for every element: a 0-d bool."""
def amax(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The largest element along axes: `max` under another name."""
def amin(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The smallest element along axes: `min` under another name."""
def angle(x: TensorLike, name: str | None = None) -> Tensor:
    """The angle to the right half of the axis, in (-pi, pi], elementwise; NaN of NaN."""
def any(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """Whether any element is true (not 0) along axes, all by default: bools, False of no elements."""
def arange(start: TensorLike = 0, end: TensorLike | None = None, step: TensorLike = 1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """start, start + step, ... before end; int64 for integers, float32 for floats."""
def argmax(x: TensorLike, axis: builtins.int | None = None, keepdim: builtins.bool = False, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
    """The index of the (first) largest element along an axis, or in the flattened tensor."""
def argmin(x: TensorLike, axis: builtins.int | None = None, keepdim: builtins.bool = False, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
    """The index of the (first) smallest element along an axis, or in the flattened tensor."""
def argsort(x: TensorLike, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False, name: str | None = None) -> Tensor:
    """The places of the elements in order along an axis; always stable, NaN the largest."""
def argwhere(input: TensorLike) -> Tensor:
    """The places of the elements that are not 0: (...,) -> (count, rank), int64."""
def array_append(array: Any, x: TensorLike) -> Tensor:
    """The list with one more element, a tensor or a list, at its end."""
def array_concat(array: Any, axis: builtins.int = 0) -> Tensor:
    """The tensors of the list one after the other along an axis."""
def array_delete(array: Any, index: TensorLike) -> Tensor:
    """The list without the element at a place; IndexError if there is none."""
def array_empty(type: ArrayType) -> Tensor:
    """An empty list of a type: what is read from it, or joined with it, has the type already."""
def array_extend(array: Any, behind: Any) -> Tensor:
    """The elements of a list, then those of another."""
def array_gather(array: Any, indices: TensorLike) -> Tensor:
    """The elements at the places that a 1-d tensor has, in that order; IndexError as in reading."""
def array_insert(array: Any, index: TensorLike, x: TensorLike) -> Tensor:
    """The list with one more element before a place, or at the end where there is no such place."""
def array_length(array: Any) -> Tensor:
    """How many elements the list has: a 0-d int64 tensor."""
def array_of(tensors: Sequence[Any] = ...) -> Tensor:
    """A list with these tensors; lists among them are lists of the Program too."""
def array_pop(array: Any, index: TensorLike = -1) -> tuple[Tensor, Tensor]:
    """The list without the element at a place, and that element; IndexError if there is none."""
def array_read(array: Any, index: TensorLike) -> Tensor:
    """The element at a place of the list, from the end if below 0; IndexError if there is none."""
def array_repeat(array: Any, times: Any) -> Tensor:
    """The elements of the list several times, one time after the other."""
def array_reverse(array: Any) -> Tensor:
    """The list from its end to its beginning."""
def array_slice(array: Any, start: TensorLike | None = None, stop: TensorLike | None = None, step: TensorLike | None = None) -> Tensor:
    """The elements that `array[start:stop:step]` takes; ValueError if the step is 0."""
def array_stack(array: Any, axis: builtins.int = 0) -> Tensor:
    """The tensors of the list, all of one shape, along a new axis: k of (n, ...) -> (k, n, ...)."""
def array_write(array: Any, index: TensorLike, x: TensorLike) -> Tensor:
    """The list with another element at a place; IndexError if there is no such place."""
def as_complex(x: TensorLike, name: str | None = None) -> Tensor:
    """The parts along the last axis as one complex number: (..., 2) -> (...)."""
def as_real(x: TensorLike, name: str | None = None) -> Tensor:
    """The parts of complex numbers along a new last axis: (...) -> (..., 2)."""
def as_strided(x: TensorLike, shape: ShapeLike, stride: builtins.int | Sequence[builtins.int], offset: builtins.int = 0, name: str | None = None) -> Tensor:
    """Elements of the flattened x, `stride[i]` apart along axis i, from `offset` bytes on."""
def as_tensor(data: TensorLike | Sequence[Any], dtype: DTypeLike | None = None, device: Place | str | None = None, requires_grad: builtins.bool = False, pin_memory: builtins.bool = False) -> Tensor:
    """A tensor of the data: itself if it is a tensor of the dtype, else a copy."""
def asarray(obj: Any, *, dtype: DTypeLike | None = None, device: Place | str | None = None, copy: builtins.bool | None = None, requires_grad: builtins.bool = False) -> Tensor:
    """A tensor of the data, a copy of it with `copy`; see as_tensor."""
def asin(x: TensorLike, name: str | None = None) -> Tensor:
    """The arc sine in radians, elementwise: (...,) -> (...,); NaN beyond -1 and 1."""
def asin_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `asin` of x, in place: for all who hold it."""
def asinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of sinh, elementwise: (...,) -> (...,)."""
def asinh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `asinh` of x, in place: for all who hold it."""
def assert_(condition: TensorLike, message: str = '') -> None:
    """AssertionError unless the condition (one element) holds when the Program runs."""
def assign(x: TensorLike, output: Tensor | None = None) -> Tensor:
    """The same value as a tensor of its own; `output` is another tensor that becomes it."""
def astype(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """x in another dtype: `cast` under another name."""
def async_save(obj: Any, path: Any, protocol: builtins.int = 4, sync_other_task: builtins.bool = False) -> None:
    """`save`; it is done when this returns."""
def atan(x: TensorLike, name: str | None = None) -> Tensor:
    """The arc tangent in radians, elementwise: (...,) -> (...,), between -pi/2 and pi/2."""
def atan2(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The angle of the point (y, x) in radians, in [-pi, pi], elementwise with broadcasting."""
def atan_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `atan` of x, in place: for all who hold it."""
def atanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of tanh, elementwise: (...,) -> (...,); inf at 1, NaN beyond."""
def atanh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `atanh` of x, in place: for all who hold it."""
def atleast_1d(*inputs: TensorLike, name: str | None = None) -> Tensor:
    """Tensors with at least one axis; a list of several."""
def atleast_2d(*inputs: TensorLike, name: str | None = None) -> Tensor:
    """Tensors with at least two axes, vectors as rows; a list of several."""
def atleast_3d(*inputs: TensorLike, name: str | None = None) -> Tensor:
    """Tensors with at least three axes: (n,) -> (1, n, 1), (n, m) -> (n, m, 1)."""
autocast = _autocast
def avg_pool1d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, exclusive: builtins.bool = True, ceil_mode: builtins.bool = False, name: str | None = None) -> Tensor:
    """(n, c, l) -> (n, c, l'): the mean of every window; `exclusive` does not count padding."""
def avg_pool2d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, ceil_mode: builtins.bool = False, exclusive: builtins.bool = True, divisor_override: builtins.int | None = None, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, h', w'): means of windows; `exclusive` does not count padding."""
def avg_pool3d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, ceil_mode: builtins.bool = False, exclusive: builtins.bool = True, divisor_override: builtins.int | None = None, data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """(n, c, d, h, w) -> (n, c, d', h', w'): means; `exclusive` does not count padding."""
def baddbmm(input: TensorLike, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """beta * input + alpha * x @ y: (b, n, m), (b, n, k), (b, k, m) -> (b, n, m)."""
def baddbmm_(input: TensorLike, x: TensorLike, y: TensorLike, beta: builtins.float = 1.0, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x becomes `baddbmm` of x, in place: for all who hold it."""
def bartlett_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: DTypeLike = 'float32', **options: Any) -> Tensor:
    """A triangle that begins at 0: (window_length,)."""
def batch_norm(x: TensorLike, running_mean: TensorLike, running_var: TensorLike, weight: TensorLike | None = None, bias: TensorLike | None = None, training: builtins.bool = False, momentum: builtins.float = 0.9, epsilon: builtins.float = 1e-05, data_format: str = 'NCHW', use_global_stats: builtins.bool | None = None, name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, channel by channel."""
def bernoulli(x: TensorLike, p: builtins.float | None = None, name: str | None = None) -> Tensor:
    """1 with probability x, else 0, elementwise; with probability p in the shape of x if given."""
def bernoulli_(x: TensorLike, p: builtins.float = 0.5, name: str | None = None) -> Tensor:
    """x becomes 1 with probability p, else 0, element by element, in place: for all who hold it."""
bfloat16: np.dtype[Any]
def binary_cross_entropy(input: TensorLike, label: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """-(label * log(input) + (1 - label) * log(1 - input)); logarithms from -100."""
def binary_cross_entropy_with_logits(logit: TensorLike, label: TensorLike, weight: TensorLike | None = None, reduction: str = 'mean', pos_weight: TensorLike | None = None, name: str | None = None) -> Tensor:
    """`binary_cross_entropy` of sigmoid(logit), computed without overflow."""
def bincount(x: TensorLike, weights: TensorLike | None = None, minlength: TensorLike = 0, name: str | None = None) -> Tensor:
    """How often each integer from 0 on occurs in a vector, or the sum of the weights there."""
def binomial(count: TensorLike, prob: TensorLike, name: str | None = None) -> Tensor:
    """How many of `count` tries succeed, each with probability `prob`: int64."""
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that both integers have, elementwise with broadcasting; `and` of bools."""
def bitwise_and_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `bitwise_and` of x, in place: for all who hold it."""
def bitwise_invert(x: TensorLike, name: str | None = None) -> Tensor:
    """All bits of an integer changed, elementwise, -x - 1 if it has a sign; `not` of bools."""
def bitwise_invert_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `bitwise_not` of x, in place: for all who hold it."""
def bitwise_left_shift(x: TensorLike, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x * 2**y of integers, without the bits that leave on the left: (...,), (...,) -> (...,)."""
def bitwise_left_shift_(x: TensorLike, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x becomes `bitwise_left_shift` of x, in place: for all who hold it."""
bitwise_not = bitwise_invert
bitwise_not_ = bitwise_invert_
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that one or both integers have, elementwise with broadcasting; `or` of bools."""
def bitwise_or_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `bitwise_or` of x, in place: for all who hold it."""
def bitwise_right_shift(x: TensorLike, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """floor(x / 2**y) of integers; without is_arithmetic zeros come in from the left."""
def bitwise_right_shift_(x: TensorLike, y: TensorLike, is_arithmetic: builtins.bool = True, out: Tensor | None = None, name: str | None = None) -> Tensor:
    """x becomes `bitwise_right_shift` of x, in place: for all who hold it."""
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The bits that one of two integers has, elementwise with broadcasting; unequal bools."""
def bitwise_xor_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `bitwise_xor` of x, in place: for all who hold it."""
def blackman_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: DTypeLike = 'float32', **options: Any) -> Tensor:
    """Blackman's window, of two cosines: (window_length,)."""
def block_diag(inputs: Sequence[Any], name: str | None = None) -> Tensor:
    """Matrices along a diagonal, with zeros around: (n, k), (m, l) -> (n + m, k + l)."""
def bmm(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The matrix products of a batch: (b, n, k) @ (b, k, m) -> (b, n, m)."""
bool: np.dtype[np.bool]
def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """All tensors repeated to the shape that they broadcast to: (n, 1), (m,) -> two of (n, m)."""
@overload
def broadcast_to(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """x repeated to a shape, by the rules of broadcasting: (m,) -> (n, m), (n, 1) -> (n, m)."""
@overload
def broadcast_to(x: TensorLike, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
    """x repeated to a shape, by the rules of broadcasting: (m,) -> (n, m), (n, 1) -> (n, m)."""
def bucketize(x: TensorLike, sorted_sequence: TensorLike, out_int32: builtins.bool = False, right: builtins.bool = False, name: str | None = None) -> Tensor:
    """How many elements of a sorted vector lie before each element of x."""
def cartesian_prod(x: Sequence[Any], name: str | None = None) -> Tensor:
    """All combinations of the elements of vectors: (n,), (m,) -> (n * m, 2)."""
def cast(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """x in another dtype; the same tensor if it has the dtype already."""
def cast_(x: TensorLike, dtype: DTypeLike) -> Tensor:
    """x becomes `cast` of x, in place: for all who hold it."""
def cat(x: Sequence[TensorLike], axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> Tensor:
    """Tensors one after the other along an axis: (n, k), (m, k) -> (n + m, k)."""
def cauchy_(x: TensorLike, loc: TensorLike | Sequence[Any] = 0, scale: TensorLike | Sequence[Any] = 1, name: str | None = None) -> Tensor:
    """x becomes random numbers of the Cauchy distribution around `loc`, in place: for all who hold it."""
def cdist(x: TensorLike, y: TensorLike, p: builtins.float = 2.0, compute_mode: str = 'use_mm_for_euclid_dist_if_necessary', name: str | None = None) -> Tensor:
    """The p-norms of the differences of all rows: (..., n, k), (..., m, k) -> (..., n, m)."""
cdouble: np.dtype[np.complex128]
def ceil(x: TensorLike, name: str | None = None) -> Tensor:
    """The smallest integer that is not below x, elementwise: (...,) -> (...,), in the dtype of x."""
def ceil_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `ceil` of x, in place: for all who hold it."""
def celu(x: TensorLike, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0) (Barron 2017): (...,) -> (...,)."""
cfloat: np.dtype[np.complex64]
def cholesky(x: TensorLike, upper: builtins.bool = False, name: str | None = None) -> Tensor:
    """The lower triangular L with L @ L.T = x, or with `upper` U with U.T @ U = x."""
def cholesky_inverse(x: TensorLike, upper: builtins.bool = False, name: str | None = None) -> Tensor:
    """The inverse of x @ x.T for a lower triangular x, or of x.T @ x with `upper`."""
def cholesky_solve(x: TensorLike, y: TensorLike, upper: builtins.bool = False, name: str | None = None) -> Tensor:
    """z with y @ y.T @ z = x for a lower triangular y, or y.T @ y @ z = x with `upper`."""
def chunk(x: TensorLike, chunks: builtins.int, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
    """`chunks` equal parts along an axis: (2 * n, ...) -> two of (n, ...)."""
def clamp(x: TensorLike, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """min(max(x, min), max), in the dtype of x: (...,) -> (...,); the slope at a limit is 1."""
def clamp_(x: TensorLike, min: Any = None, max: Any = None, name: str | None = None) -> Tensor:
    """x becomes `clip` of x, in place: for all who hold it."""
clip = clamp
clip_ = clamp_
def clone(x: TensorLike, name: str | None = None) -> Tensor:
    """The same value as a tensor of its own; gradients flow through."""
def column_stack(x: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors side by side, vectors as columns: (n,), (n, m) -> (n, 1 + m)."""
def combinations(x: TensorLike, r: builtins.int = 2, with_replacement: builtins.bool = False, name: str | None = None) -> Tensor:
    """All choices of r elements of a vector, in order: (n,) -> (count, r)."""
def complex(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    """real + i imag of two tensors of floats, which broadcast: (...,), (...,) -> (...,)."""
complex128: np.dtype[np.complex128]
complex64: np.dtype[np.complex64]
concat = cat
concatenate = cat
def cond(pred: TensorLike, true_fn: Any, false_fn: Any, names: Sequence[str] = ...) -> list[Tensor]:
    """Append a `cond` of two functions that take nothing and return as many values."""
def condition_number(x: TensorLike, p: builtins.float | str | None = None, name: str | None = None) -> Tensor:
    """The norm of a matrix times that of its inverse; without p that of the largest singular value over the smallest: (..., n, n) -> (...)."""
def conj(x: TensorLike, name: str | None = None) -> Tensor:
    """The conjugate, elementwise; x, if it is real."""
def conv1d(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, dilation: builtins.int | Sequence[builtins.int] = 1, groups: builtins.int = 1, data_format: str = 'NCL', name: str | None = None) -> Tensor:
    """(n, c, l), (o, c/groups, k) -> (n, o, l')."""
def conv1d_transpose(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, output_padding: builtins.int | Sequence[builtins.int] = 0, groups: builtins.int = 1, dilation: builtins.int | Sequence[builtins.int] = 1, output_size: builtins.int | Sequence[builtins.int | None] | None = None, data_format: str = 'NCL', name: str | None = None) -> Tensor:
    """(n, c, l), (c, o/groups, k) -> (n, o, l'), conv1d's gradient for its input."""
def conv2d(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, dilation: builtins.int | Sequence[builtins.int] = 1, groups: builtins.int = 1, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w), (o, c/groups, kh, kw) -> (n, o, h', w'); see conv1d for the sizes."""
def conv2d_transpose(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, output_padding: builtins.int | Sequence[builtins.int] = 0, dilation: builtins.int | Sequence[builtins.int] = 1, groups: builtins.int = 1, output_size: builtins.int | Sequence[builtins.int | None] | None = None, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w), (c, o/groups, kh, kw) -> (n, o, h', w'), the gradient of conv2d."""
def conv3d(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, dilation: builtins.int | Sequence[builtins.int] = 1, groups: builtins.int = 1, data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """(n, c, d, h, w), (o, c/groups, kd, kh, kw) -> (n, o, d', h', w')."""
def conv3d_transpose(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, stride: builtins.int | Sequence[builtins.int] = 1, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, output_padding: builtins.int | Sequence[builtins.int] = 0, groups: builtins.int = 1, dilation: builtins.int | Sequence[builtins.int] = 1, output_size: builtins.int | Sequence[builtins.int | None] | None = None, data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """(n, c, d, h, w), (c, o/groups, kd, kh, kw) -> (n, o, d', h', w'), the gradient of conv3d."""
def copy_(x: TensorLike, other: TensorLike, blocking: builtins.bool = False) -> Tensor:
    """x becomes a copy of another tensor, broadcast to its shape and in its dtype, in place: for all who hold it."""
def copysign(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """|x| with the sign of y, elementwise with broadcasting."""
def copysign_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `copysign` of x, in place: for all who hold it."""
def corrcoef(x: TensorLike, rowvar: builtins.bool = True, name: str | None = None) -> Tensor:
    """The coefficients of correlation of the rows (or columns): (n, k) -> (n, n)."""
def cos(x: TensorLike, name: str | None = None) -> Tensor:
    """The cosine of radians, elementwise: (...,) -> (...,)."""
def cos_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `cos` of x, in place: for all who hold it."""
def cosh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic cosine (e**x + e**-x) / 2, elementwise: (...,) -> (...,)."""
def cosh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `cosh` of x, in place: for all who hold it."""
def cosine_similarity(x1: TensorLike, x2: TensorLike, axis: builtins.int = 1, eps: builtins.float = 1e-08) -> Tensor:
    """x1 . x2 / max(|x1| |x2|, eps) along an axis: (n, k), (n, k) -> (n,)."""
def count_nonzero(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """How many elements are not 0 along axes, all by default: int64."""
def cov(x: TensorLike, rowvar: builtins.bool = True, ddof: builtins.bool = True, fweights: TensorLike | None = None, aweights: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The covariances of the rows (or columns): (n, k) -> (n, n), as `numpy.cov`."""
@overload
def create_parameter(shape: ShapeLike, dtype: DTypeLike, name: str | None = None, attr: ParamAttr | Initializer | str | builtins.bool | None = None, is_bias: builtins.bool = False, default_initializer: Initializer | None = None) -> Parameter:
    """A Parameter of a shape and dtype, with first values; None if `attr` is False."""
@overload
def create_parameter(*shape: builtins.int | Tensor, dtype: DTypeLike, name: str | None = None, attr: ParamAttr | Initializer | str | builtins.bool | None = None, is_bias: builtins.bool = False, default_initializer: Initializer | None = None) -> Parameter:
    """A Parameter of a shape and dtype, with first values; None if `attr` is False."""
def crop(x: TensorLike, shape: ShapeLike | None = None, offsets: Sequence[builtins.int | Tensor] | Tensor | None = None, name: str | None = None) -> Tensor:
    """The part of x of a shape that begins at `offsets`; -1 means all that is left."""
def cross(x: TensorLike, y: TensorLike, axis: builtins.int = 9, name: str | None = None) -> Tensor:
    """The cross products along an axis of size 3: the first such axis, if none is given."""
def cross_entropy(input: TensorLike, label: TensorLike, weight: TensorLike | None = None, ignore_index: builtins.int = -100, reduction: str = 'mean', soft_label: builtins.bool = False, axis: builtins.int = -1, use_softmax: builtins.bool = True, label_smoothing: builtins.float = 0.0, name: str | None = None) -> Tensor:
    """-log softmax(input)[label] along an axis."""
def cummax(x: TensorLike, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, Tensor]:
    """The maximum up to each place along an axis, and where it is; flattened without an axis."""
def cummin(x: TensorLike, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, Tensor]:
    """The minimum up to each place along an axis, and where it is; flattened without an axis."""
def cumprod(x: TensorLike, dim: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The product of the elements up to each place along an axis, or of the flattened tensor."""
def cumprod_(x: TensorLike, dim: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """x becomes `cumprod` of x, in place: for all who hold it."""
def cumsum(x: TensorLike, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The sum of the elements up to each place along an axis, or of the flattened tensor."""
def cumsum_(x: TensorLike, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """x becomes `cumsum` of x, in place: for all who hold it."""
def cumsum_of(x: TensorLike, axis: builtins.int, reverse: builtins.bool) -> Tensor:
    """The sum of the elements up to each place along an axis; from the end with `reverse`."""
def cumulative_trapezoid(y: TensorLike, x: TensorLike | None = None, dx: builtins.float | None = None, axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """The area under y up to each place but the first along an axis: (..., n) -> (..., n - 1)."""
def deg2rad(x: TensorLike, name: str | None = None) -> Tensor:
    """Degrees as radians: x * pi / 180."""
def det(x: TensorLike, name: str | None = None) -> Tensor:
    """The determinant of matrices: (..., n, n) -> (...)."""
def detach(x: TensorLike, name: str | None = None) -> Tensor:
    """The same value; gradients do not flow through."""
def diag(x: TensorLike, offset: TensorLike = 0, padding_value: TensorLike = 0, name: str | None = None) -> Tensor:
    """A matrix with x on a diagonal and `padding_value` elsewhere, or the diagonal of a matrix."""
def diag_embed(input: TensorLike, offset: TensorLike = 0, dim1: builtins.int = -2, dim2: builtins.int = -1) -> Tensor:
    """Matrices with the last axis on a diagonal and zeros around: (..., n) -> (..., n, n)."""
def diagflat(x: TensorLike, offset: TensorLike = 0, name: str | None = None) -> Tensor:
    """A matrix with all elements of x on a diagonal: (n,) -> (n, n)."""
def diagonal(x: TensorLike, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
    """The diagonal between two axes, as a new last axis: (n, n, ...) -> (..., n)."""
def diagonal_scatter(x: TensorLike, y: TensorLike, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
    """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n)."""
def diff(x: TensorLike, n: builtins.int = 1, axis: builtins.int = -1, prepend: TensorLike | None = None, append: TensorLike | None = None, name: str | None = None) -> Tensor:
    """The differences of neighbours along an axis, n times over; x alone for n = 0."""
def digamma(x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of `lgamma`, elementwise."""
def digamma_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `digamma` of x, in place: for all who hold it."""
def dist(x: TensorLike, y: TensorLike, p: builtins.float = 2, name: str | None = None) -> Tensor:
    """The p-norm of x - y, with broadcasting: a 0-d tensor."""
def div(x: TensorLike, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
    """x / y, elementwise with broadcasting; integers give a float."""
def div_(x: TensorLike, y: TensorLike, name: str | None = None, rounding_mode: str | None = None) -> Tensor:
    """x becomes `divide` of x, in place: for all who hold it."""
divide = div
divide_ = div_
def dot(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sum of products along the last axis: (..., n), (..., n) -> (...)."""
double: np.dtype[np.float64]
def dropout(x: TensorLike, p: builtins.float = 0.5, axis: builtins.int | Sequence[builtins.int] | None = None, training: builtins.bool = True, inplace: builtins.bool = False, mode: str = 'upscale_in_train', name: str | None = None) -> Tensor:
    """While training, zero with probability p: (...,) -> (...,)."""
def dropout2d(x: TensorLike, p: builtins.float = 0.5, training: builtins.bool = True, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """While training, zero whole channels with probability p: (...,) -> (...,)."""
def dsplit(x: TensorLike, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
    """`tensor_split` along the third axis: (n, m, 2 * k) -> two of (n, m, k)."""
def dstack(x: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors one behind the other along the third axis: two of (n, m) -> (n, m, 2)."""
e: builtins.float
def eig(x: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of square matrices, and their vectors of length 1 as columns."""
def eigh(x: TensorLike, UPLO: str = 'L', name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of symmetric matrices in order, and their vectors as columns."""
def eigvals(x: TensorLike, name: str | None = None) -> Tensor:
    """The eigenvalues of square matrices, complex, in no order: (..., n, n) -> (..., n)."""
def eigvalsh(x: TensorLike, UPLO: str = 'L', name: str | None = None) -> Tensor:
    """The eigenvalues of symmetric matrices in ascending order: (..., n, n) -> (..., n)."""
def einsum(equation: str, *operands: TensorLike) -> Tensor:
    """The sum of products that an equation names, such as "bij,bjk->bik"."""
def elu(x: TensorLike, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x where x > 0, else alpha * (exp(x) - 1) (Clevert 2015): (...,) -> (...,)."""
def elu_(x: TensorLike, alpha: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x becomes `elu` of x, in place: for all who hold it."""
def embedding(x: TensorLike, weight: TensorLike, padding_idx: builtins.int | None = None, max_norm: builtins.float | None = None, norm_type: builtins.float = 2.0, sparse: builtins.bool = False, scale_grad_by_freq: builtins.bool = False, name: str | None = None) -> Tensor:
    """weight[x]: integers (...), (rows, width) -> (..., width)."""
def emit_log(text: Any, logger: str, level: builtins.int, file: str, line: builtins.int, function: str) -> None:
    """A message to a logger, in which tensors may stand, when the Program runs."""
def emit_warning(text: Any, kind: str, file: str, line: builtins.int) -> None:
    """`warnings.warn` of a text, in which tensors may stand, when the Program runs."""
@overload
def empty(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor whose elements do not matter: zeros."""
@overload
def empty(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor whose elements do not matter: zeros."""
def empty_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of the shape and dtype of x whose elements do not matter: zeros."""
def eq(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x == y, elementwise with broadcasting: bools."""
equal = eq
def equal_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `equal` of x, in place: for all who hold it."""
def equal_all(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether two tensors have the same shape and elements: a 0-d bool tensor."""
def erf(x: TensorLike, name: str | None = None) -> Tensor:
    """2 / sqrt(pi) * integral of exp(-t**2) from 0 to x, elementwise: (...,) -> (...,)."""
def erf_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `erf` of x, in place: for all who hold it."""
def erfinv(x: TensorLike, name: str | None = None) -> Tensor:
    """y with erf(y) = x, elementwise: inf at 1, NaN beyond."""
def erfinv_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `erfinv` of x, in place: for all who hold it."""
def exp(x: TensorLike, name: str | None = None) -> Tensor:
    """e**x, elementwise: (...,) -> (...,); integers give floats."""
def exp_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `exp` of x, in place: for all who hold it."""
@overload
def expand(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """x repeated to a shape; -1 keeps the size of x."""
@overload
def expand(x: TensorLike, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
    """x repeated to a shape; -1 keeps the size of x."""
def expand_as(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x repeated to the shape of y: (m,), (n, m) -> (n, m)."""
def expm1(x: TensorLike, name: str | None = None) -> Tensor:
    """e**x - 1, elementwise: (...,) -> (...,); exact near 0, where exp(x) - 1 is not."""
def expm1_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `expm1` of x, in place: for all who hold it."""
def exponential_(x: TensorLike, lam: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x becomes random numbers of the density lam * exp(-lam * x), in place: for all who hold it."""
def eye(num_rows: builtins.int, num_columns: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones on the diagonal of a matrix, zeros elsewhere; float32 by default."""
def fill_(x: TensorLike, value: TensorLike) -> Tensor:
    """x becomes one number everywhere, in place: for all who hold it."""
def fill_diagonal_(x: TensorLike, value: TensorLike, offset: builtins.int = 0, wrap: builtins.bool = False, name: str | None = None) -> Tensor:
    """x becomes itself with one number on the diagonal of the matrix, in place: for all who hold it."""
def fill_diagonal_tensor(x: TensorLike, y: TensorLike, offset: TensorLike = 0, dim1: builtins.int = 0, dim2: builtins.int = 1, name: str | None = None) -> Tensor:
    """x with y as the diagonal between two axes: (n, n), (n,) -> (n, n)."""
def fill_diagonal_tensor_(x: TensorLike, y: TensorLike, offset: TensorLike = 0, dim1: builtins.int = 0, dim2: builtins.int = 1, name: str | None = None) -> Tensor:
    """x becomes `fill_diagonal_tensor` of x, in place: for all who hold it."""
def flatten(x: TensorLike, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """The axes from start_axis to stop_axis as one: (n, k, m) -> (n, k * m) for 1 and -1."""
def flatten_(x: TensorLike, start_axis: builtins.int = 0, stop_axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """x becomes `flatten` of x, in place: for all who hold it."""
def flip(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None, name: str | None = None) -> Tensor:
    """The elements along axes in reverse order: (..., n, ...) -> (..., n, ...)."""
float: np.dtype[np.float32]
float16: np.dtype[np.float16]
float32: np.dtype[np.float32]
float64: np.dtype[np.float64]
float8_e4m3fn: Any
float8_e5m2: Any
def floor(x: TensorLike, name: str | None = None) -> Tensor:
    """The largest integer that is not above x, elementwise: (...,) -> (...,), in the dtype of x."""
def floor_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `floor` of x, in place: for all who hold it."""
def floor_divide(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """floor(x / y), elementwise with broadcasting, in the dtype of the operands."""
def floor_divide_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `floor_divide` of x, in place: for all who hold it."""
def floor_mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x - floor(x / y) * y, elementwise with broadcasting: has the sign of y, as in Python."""
def floor_mod_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `remainder` of x, in place: for all who hold it."""
def fmax(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger one, elementwise; the other one where one is NaN, the first of equal ones."""
def fmin(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller one, elementwise; the other one where one is NaN, the first of equal ones."""
def fourier(x: TensorLike, axis: builtins.int, inverse: builtins.bool = False, norm: str = 'backward') -> Tensor:
    """The Fourier transform of complex numbers along an axis, or its inverse."""
def fourier_of_real(x: TensorLike, axis: builtins.int, norm: str = 'backward') -> Tensor:
    """The first n // 2 + 1 frequencies of real numbers along an axis."""
def fourier_to_real(x: TensorLike, axis: builtins.int, n: builtins.int | Sequence[builtins.int], norm: str = 'backward') -> Tensor:
    """The n real numbers along an axis that have the frequencies x; those left out are known."""
def frac(x: TensorLike, name: str | None = None) -> Tensor:
    """x without its whole part: x - trunc(x)."""
def frac_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `frac` of x, in place: for all who hold it."""
def frexp(x: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """m and e with x = m * 2**e and 0.5 <= |m| < 1; both have the dtype of x."""
def full(shape: ShapeLike, fill_value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of a shape whose elements are all `fill_value`, a number or a text such as "-inf"."""
def full_like(x: TensorLike, fill_value: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of the shape and dtype of x whose elements are all `fill_value`: (...,) -> (...,)."""
def gammainc(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The integral of t**(x-1) * exp(-t) from 0 to y, divided by gamma(x); elementwise."""
def gammainc_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `gammainc` of x, in place: for all who hold it."""
def gammaincc(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The integral of t**(x-1) * exp(-t) from y to inf, divided by gamma(x); elementwise."""
def gammaincc_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `gammaincc` of x, in place: for all who hold it."""
def gammaln(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of |gamma(x)|, elementwise; inf at 0, -1, -2, ..."""
def gammaln_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `lgamma` of x, in place: for all who hold it."""
def gather(x: TensorLike, index: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
    """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...)."""
def gather_nd(x: TensorLike, index: TensorLike, name: str | None = None) -> Tensor:
    """x[tuple(index[..., :])]: the last axis of `index` names a place along the first axes of x."""
def gcd(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The greatest common divisor of integers, elementwise with broadcasting."""
def gcd_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `gcd` of x, in place: for all who hold it."""
def ge(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x >= y, elementwise with broadcasting: bools."""
def gelu(x: TensorLike, approximate: builtins.bool = False, name: str | None = None) -> Tensor:
    """x * (1 + erf(x / sqrt(2))) / 2; `approximate` takes tanh for erf (Hendrycks 2016)."""
def geometric_(x: TensorLike, probs: TensorLike | Sequence[Any], name: str | None = None) -> Tensor:
    """x becomes how many tries the first success takes, each of probability `probs`, in place: for all who hold it."""
def ger(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """All products: (n,), (m,) -> (n, m)."""
get_autocast_cpu_dtype = _get_autocast_cpu_dtype
get_autocast_gpu_dtype = _get_autocast_gpu_dtype
def get_cuda_rng_state() -> list[Tensor]:
    """An empty list: `get_rng_state` is for all devices."""
def get_rng_state(device: Place | str | None = None) -> dict[str, Tensor]:
    """Where the one generator stands, for `set_rng_state`."""
def getitem(x: TensorLike, index: Index) -> Tensor:
    """x[index] by NumPy's rules: ints, slices, None, ..., and integer or bool tensors."""
def glu(x: TensorLike, axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """a * sigmoid(b), with a and b the halves of an axis: (..., 2 * n) -> (..., n) (Dauphin 2016)."""
def grad(outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], grad_outputs: Tensor | Sequence[Tensor] | None = None, retain_graph: builtins.bool | None = None, create_graph: builtins.bool = False, only_inputs: builtins.bool = True, allow_unused: builtins.bool = False, no_grad_vars: Tensor | Sequence[Tensor] | None = None) -> list[Tensor]:
    """Gradients of the sum of outputs with respect to each input, without touching `.grad`."""
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x > y, elementwise with broadcasting: bools."""
greater_equal = ge
def greater_equal_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `greater_equal` of x, in place: for all who hold it."""
greater_than = greater
def greater_than_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `greater_than` of x, in place: for all who hold it."""
def group_norm(x: TensorLike, num_groups: builtins.int, epsilon: builtins.float = 1e-05, weight: TensorLike | None = None, bias: TensorLike | None = None, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """Normalise groups of channels of (n, c, ...), then weight and bias by channel."""
gt = greater
half: np.dtype[np.float16]
def hamming_window(window_length: builtins.int, periodic: builtins.bool = True, alpha: builtins.float = 0.54, beta: builtins.float = 0.46, *, dtype: DTypeLike = 'float32', **options: Any) -> Tensor:
    """alpha - beta * cos(2 * pi * k / n): (window_length,)."""
def hann_window(window_length: builtins.int, periodic: builtins.bool = True, *, dtype: DTypeLike = 'float32', **options: Any) -> Tensor:
    """1/2 - cos(2 * pi * k / n) / 2: (window_length,)."""
def hardshrink(x: TensorLike, threshold: builtins.float = 0.5, name: str | None = None) -> Tensor:
    """x where |x| > threshold, else 0: (...,) -> (...,)."""
def hardsigmoid(x: TensorLike, slope: builtins.float = 0.16666666666666666, offset: builtins.float = 0.5, name: str | None = None) -> Tensor:
    """min(max(slope * x + offset, 0), 1): (...,) -> (...,)."""
def hardswish(x: TensorLike, name: str | None = None) -> Tensor:
    """x * min(max(x + 3, 0), 6) / 6 (Howard 2019): (...,) -> (...,)."""
def hardtanh(x: TensorLike, min: builtins.float = -1.0, max: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """min(max(x, min), max): (...,) -> (...,); the slope at a limit is 0."""
def hardtanh_(x: TensorLike, min: builtins.float = -1.0, max: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x becomes `hardtanh` of x, in place: for all who hold it."""
def heaviside(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """0 where x is below 0, y where x is 0, 1 above; NaN of NaN."""
def hinge_embedding_loss(input: TensorLike, label: TensorLike, margin: builtins.float = 1.0, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """input where the label is 1, max(0, margin - input) where it is -1."""
def histogram(input: TensorLike, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0, weight: TensorLike | None = None, density: builtins.bool = False, name: str | None = None) -> Tensor:
    """How many elements lie in each of `bins` equal bins from min to max; int64 without weights."""
def histogram_bin_edges(input: TensorLike, bins: builtins.int = 100, min: builtins.float = 0.0, max: builtins.float = 0.0, name: str | None = None) -> Tensor:
    """The ends of the bins that `histogram` makes: (bins + 1,), float32."""
def householder_product(x: TensorLike, tau: TensorLike, name: str | None = None) -> Tensor:
    """The first columns of H1 @ H2 @ ..., reflections at the columns of x: (..., n, m)."""
def hsplit(x: TensorLike, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
    """`tensor_split` along the second axis, or along the only one: (n, 2 * m) -> two of (n, m)."""
def hstack(x: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors side by side: along the second axis, vectors along their only one."""
def hypot(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """sqrt(x**2 + y**2), elementwise with broadcasting."""
def hypot_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `hypot` of x, in place: for all who hold it."""
def i0(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0, elementwise."""
def i0_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `i0` of x, in place: for all who hold it."""
def i0e(x: TensorLike, name: str | None = None) -> Tensor:
    """exp(-|x|) * i0(x), elementwise."""
def i1(x: TensorLike, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1, elementwise."""
def i1e(x: TensorLike, name: str | None = None) -> Tensor:
    """exp(-|x|) * i1(x), elementwise."""
def imag(x: TensorLike, name: str | None = None) -> Tensor:
    """The imaginary part, elementwise; 0 of real numbers."""
def increment(x: TensorLike, value: builtins.float = 1.0, name: str | None = None) -> Tensor:
    """x + value in the dtype of x: (...,) -> (...,)."""
def index_add(x: TensorLike, index: TensorLike, axis: builtins.int, value: TensorLike, alpha: TensorLike = 1, name: str | None = None) -> Tensor:
    """x with `alpha * value` added to its slices at the places `index` along an axis."""
def index_add_(x: TensorLike, index: TensorLike, axis: builtins.int, value: TensorLike, alpha: TensorLike = 1, name: str | None = None) -> Tensor:
    """x becomes `index_add` of x, in place: for all who hold it."""
def index_fill(x: TensorLike, index: TensorLike, axis: builtins.int, value: TensorLike, name: str | None = None) -> Tensor:
    """x with one number in its slices at the places `index` along an axis."""
def index_fill_(x: TensorLike, index: TensorLike, axis: builtins.int, value: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `index_fill` of x, in place: for all who hold it."""
def index_put(x: TensorLike, indices: Sequence[Tensor], value: TensorLike, accumulate: builtins.bool = False, name: str | None = None) -> Tensor:
    """x[indices] = value as a new tensor; added instead with `accumulate`."""
def index_put_(x: TensorLike, indices: Sequence[Tensor], value: TensorLike, accumulate: builtins.bool = False, name: str | None = None) -> Tensor:
    """x becomes `index_put` of x, in place: for all who hold it."""
def index_sample(x: TensorLike, index: TensorLike) -> Tensor:
    """x[i, index[i, j]]: (n, k), (n, m) -> (n, m)."""
def index_select(x: TensorLike, index: TensorLike, axis: builtins.int = 0, name: str | None = None) -> Tensor:
    """The slices of x at the places `index` along an axis: (n, ...), (m,) -> (m, ...)."""
inf: builtins.float
def inner(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The sums of products along the last axes: (..., n), (*, n) -> (..., *)."""
def instance_norm(x: TensorLike, running_mean: TensorLike | None = None, running_var: TensorLike | None = None, weight: TensorLike | None = None, bias: TensorLike | None = None, use_input_stats: builtins.bool = True, momentum: builtins.float = 0.9, eps: builtins.float = 1e-05, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """Normalise every channel of every sample, then weight and bias by channel."""
int: np.dtype[np.int32]
int16: np.dtype[np.int16]
int32: np.dtype[np.int32]
int64: np.dtype[np.int64]
int8: np.dtype[np.int8]
def interpolate(x: TensorLike, size: builtins.int | Sequence[builtins.int | Tensor] | Tensor | None = None, scale_factor: builtins.float | Sequence[builtins.float] | Tensor | None = None, mode: str = 'nearest', align_corners: builtins.bool = False, align_mode: builtins.int = 0, data_format: str | None = None, recompute_scale_factor: builtins.bool | None = None, antialias: builtins.bool = False, name: str | None = None) -> Tensor:
    """Images of another size: (n, c, h, w) -> (n, c, h', w'), and so with one or three axes."""
def inv(x: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of matrices: (..., n, n) -> (..., n, n); LinAlgError if one has none."""
inverse = inv
is_compiled_with_cinn = _is_compiled_with_cinn
is_compiled_with_distribute = _is_compiled_with_distribute
is_compiled_with_ipu = _is_compiled_with_ipu
is_compiled_with_xpu = _is_compiled_with_xpu
def is_complex(x: TensorLike) -> builtins.bool:
    """Whether the elements are complex numbers."""
def is_empty(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether there are no elements: a 0-d bool tensor."""
def is_floating_point(x: TensorLike) -> builtins.bool:
    """Whether the dtype is a float."""
def is_integer(x: TensorLike) -> builtins.bool:
    """Whether the dtype is an integer."""
def isclose(x: TensorLike, y: TensorLike, rtol: builtins.float = 1e-05, atol: builtins.float = 1e-08, equal_nan: builtins.bool = False, name: str | None = None) -> Tensor:
    """|x - y| <= atol + rtol * |y|, elementwise; an infinity is close to itself alone."""
def isfinite(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether x is neither infinite nor NaN, elementwise: bools."""
def isin(x: TensorLike, test_x: TensorLike, assume_unique: builtins.bool = False, invert: builtins.bool = False, name: str | None = None) -> Tensor:
    """Whether each element is one of those of `test_x`, or with `invert` whether it is none."""
def isinf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether x is infinite, elementwise: bools."""
def isnan(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether x is not a number, elementwise: bools."""
def isneginf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether an element is -inf: (...,) -> (...,), bool."""
def isposinf(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether an element is inf: (...,) -> (...,), bool."""
def isreal(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the imaginary part of an element is 0: (...,) -> (...,), bool."""
def kaiser_window(window_length: builtins.int, periodic: builtins.bool = True, beta: builtins.float = 12.0, *, dtype: DTypeLike = 'float32', **options: Any) -> Tensor:
    """Kaiser's window, of Bessel functions: (window_length,)."""
def kl_div(input: TensorLike, label: TensorLike, reduction: str = 'mean', log_target: builtins.bool = False, name: str | None = None) -> Tensor:
    """label * (log(label) - input), 0 where the label is 0; the input holds logarithms."""
def kron(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Every element of x times all of y: (n, m), (k, l) -> (n * k, m * l)."""
def kthvalue(x: TensorLike, k: builtins.int, axis: builtins.int | None = None, keepdim: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along an axis (k from 1), and its place."""
def l1_loss(input: TensorLike, label: TensorLike, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """|input - label|, elementwise; reduction: 'mean', 'sum' or 'none'."""
def layer_norm(x: TensorLike, normalized_shape: ShapeLike, weight: TensorLike | None = None, bias: TensorLike | None = None, epsilon: builtins.float = 1e-05, name: str | None = None) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias over the last axes."""
def lcm(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The least common multiple of integers, elementwise with broadcasting."""
def lcm_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `lcm` of x, in place: for all who hold it."""
def ldexp(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * 2**y, elementwise with broadcasting."""
def ldexp_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `ldexp` of x, in place: for all who hold it."""
def le(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x <= y, elementwise with broadcasting: bools."""
def leaky_relu(x: TensorLike, negative_slope: builtins.float = 0.01, name: str | None = None) -> Tensor:
    """x where x > 0, else negative_slope * x: (...,) -> (...,); the slope at 0 is 1."""
def leaky_relu_(x: TensorLike, negative_slope: builtins.float = 0.01, name: str | None = None) -> Tensor:
    """x becomes `leaky_relu` of x, in place: for all who hold it."""
def lerp(x: TensorLike, y: TensorLike, weight: TensorLike, name: str | None = None) -> Tensor:
    """x + weight * (y - x), and exactly y where the weight is 1: (...,), (...,), (...,) -> (...,)."""
def lerp_(x: TensorLike, y: TensorLike, weight: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `lerp` of x, in place: for all who hold it."""
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x < y, elementwise with broadcasting: bools."""
def less_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `less_than` of x, in place: for all who hold it."""
less_equal = le
def less_equal_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `less_equal` of x, in place: for all who hold it."""
less_than = less
less_than_ = less_
lgamma = gammaln
lgamma_ = gammaln_
def linear(x: TensorLike, weight: TensorLike, bias: TensorLike | None = None, name: str | None = None) -> Tensor:
    """x @ weight + bias: (..., in) @ (in, out) + (out,) -> (..., out)."""
def linspace(start: TensorLike, stop: TensorLike, num: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`num` numbers from start to stop at equal distances, both included; float32 by default."""
def log(x: TensorLike, name: str | None = None) -> Tensor:
    """The natural logarithm, elementwise: (...,) -> (...,); -inf at 0, NaN below."""
def log10(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm to base 10, elementwise: (...,) -> (...,)."""
def log10_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `log10` of x, in place: for all who hold it."""
def log1p(x: TensorLike, name: str | None = None) -> Tensor:
    """log(1 + x), elementwise: (...,) -> (...,); exact near 0, where 1 + x is not."""
def log1p_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `log1p` of x, in place: for all who hold it."""
def log2(x: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm to base 2, elementwise: (...,) -> (...,)."""
def log2_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `log2` of x, in place: for all who hold it."""
def log_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `log` of x, in place: for all who hold it."""
def log_normal(mean: TensorLike = 1.0, std: TensorLike = 2.0, shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """exp of normal random numbers of that mean and standard deviation."""
def log_normal_(x: TensorLike, mean: TensorLike = 1.0, std: TensorLike = 2.0, name: str | None = None) -> Tensor:
    """x becomes exp of normal random numbers, in place: for all who hold it."""
def log_sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """-log(1 + exp(-x)), elementwise, without overflow."""
def log_softmax(x: TensorLike, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """x - log(sum(exp(x))) along an axis: the shape of x."""
def logaddexp(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """log(exp(x) + exp(y)) without overflow, elementwise with broadcasting."""
def logcumsumexp(x: TensorLike, axis: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """log of the sum of exp(x) up to each place along an axis, without overflow."""
def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether both are true (not 0), elementwise with broadcasting."""
def logical_and_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `logical_and` of x, in place: for all who hold it."""
def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether x is false (0), elementwise: bools."""
def logical_not_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `logical_not` of x, in place: for all who hold it."""
def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether one or both are true (not 0), elementwise with broadcasting."""
def logical_or_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `logical_or` of x, in place: for all who hold it."""
def logical_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Whether exactly one is true (not 0), elementwise with broadcasting."""
def logical_xor_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `logical_xor` of x, in place: for all who hold it."""
def logit(x: TensorLike, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
    """log(x / (1 - x)); x is limited to [eps, 1 - eps] first if eps is given."""
def logit_(x: TensorLike, eps: builtins.float | None = None, name: str | None = None) -> Tensor:
    """x becomes `logit` of x, in place: for all who hold it."""
def logspace(start: TensorLike, stop: TensorLike, num: TensorLike, base: builtins.float = 10.0, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`num` powers of `base` with evenly spaced exponents from start to stop: (num,)."""
def logsumexp(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """log(sum(exp(x))) along axes, all by default; without overflow."""
long: np.dtype[np.int64]
def lstsq(x: TensorLike, y: TensorLike, rcond: builtins.float | None = None, driver: str | None = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """z with the least |x @ z - y|, the squared distances, the rank, the singular values."""
lt = less
@overload
def lu(x: TensorLike, pivot: builtins.bool = True, get_infos: Literal[False] = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """L below the diagonal and U in one, with x = P @ L @ U, and the rows exchanged (from 1)."""
@overload
def lu(x: TensorLike, pivot: builtins.bool = True, *, get_infos: Literal[True], name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """L below the diagonal and U in one, with x = P @ L @ U, and the rows exchanged (from 1)."""
def lu_solve(b: TensorLike, lu: TensorLike, pivots: TensorLike, trans: str = 'N', name: str | None = None) -> Tensor:
    """z with x @ z = b for the x of which `lu` gave the others; x.T @ z = b with trans 'T'."""
def lu_unpack(x: TensorLike, y: TensorLike, unpack_ludata: builtins.bool = True, unpack_pivots: builtins.bool = True, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """P, L and U with P @ L @ U = the matrix of which `lu` gave x and y; None of what is not asked for."""
def margin_ranking_loss(input: TensorLike, other: TensorLike, label: TensorLike, margin: builtins.float = 0.0, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """max(0, -label * (input - other) + margin)."""
def masked_fill(x: TensorLike, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """x with `value` where the mask is true, with broadcasting: (...,), (...,), () -> (...,)."""
def masked_fill_(x: TensorLike, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `masked_fill` of x, in place: for all who hold it."""
def masked_scatter(x: TensorLike, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """x with the elements of `value`, in order, where the mask is true; both broadcast."""
def masked_scatter_(x: TensorLike, mask: TensorLike, value: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `masked_scatter` of x, in place: for all who hold it."""
def masked_select(x: TensorLike, mask: TensorLike, name: str | None = None) -> Tensor:
    """The elements of x where the mask is true, as a vector; both broadcast."""
def matmul(x: TensorLike, y: TensorLike, transpose_x: builtins.bool = False, transpose_y: builtins.bool = False, name: str | None = None) -> Tensor:
    """x @ y, batches broadcast: (..., n, k) @ (..., k, m) -> (..., n, m)."""
def matrix_exp(x: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of matrices, sum of x**k / k! over all k: (..., n, n) -> (..., n, n)."""
def matrix_norm(x: TensorLike, p: builtins.float | str = 'fro', axis: builtins.int | Sequence[builtins.int] = ..., keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The norm of matrices along two axes: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf."""
def matrix_power(x: TensorLike, n: builtins.int, name: str | None = None) -> Tensor:
    """x @ x @ ..., n times; of the inverse for n below 0: (..., n, n) -> (..., n, n)."""
def matrix_rank(x: TensorLike, tol: builtins.float | Tensor | None = None, hermitian: builtins.bool = False, atol: builtins.float | Tensor | None = None, rtol: builtins.float | Tensor | None = None, name: str | None = None) -> Tensor:
    """How many singular values are above a tolerance: (..., n, m) -> (...), int64."""
def matrix_transpose(x: TensorLike, name: str | None = None) -> Tensor:
    """The last two axes exchanged: (..., n, m) -> (..., m, n)."""
def max(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The largest element along axes, all by default; equal ones share the gradient."""
@overload
def max_pool1d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, return_mask: Literal[False] = False, ceil_mode: builtins.bool = False, name: str | None = None) -> Tensor:
    """(n, c, l) -> (n, c, l'): the largest element of every window."""
@overload
def max_pool1d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, *, return_mask: Literal[True], ceil_mode: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, l) -> (n, c, l'): the largest element of every window."""
@overload
def max_pool2d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, return_mask: Literal[False] = False, ceil_mode: builtins.bool = False, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window."""
@overload
def max_pool2d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, *, return_mask: Literal[True], ceil_mode: builtins.bool = False, data_format: str = 'NCHW', name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, h, w) -> (n, c, h', w'): the largest element of every window."""
@overload
def max_pool3d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, return_mask: Literal[False] = False, ceil_mode: builtins.bool = False, data_format: str = 'NCDHW', name: str | None = None) -> Tensor:
    """(n, c, d, h, w) -> (n, c, d', h', w'): the largest element of every window."""
@overload
def max_pool3d(x: TensorLike, kernel_size: builtins.int | Sequence[builtins.int], stride: builtins.int | Sequence[builtins.int] | None = None, padding: builtins.int | str | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] = 0, *, return_mask: Literal[True], ceil_mode: builtins.bool = False, data_format: str = 'NCDHW', name: str | None = None) -> tuple[Tensor, Tensor]:
    """(n, c, d, h, w) -> (n, c, d', h', w'): the largest element of every window."""
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The larger of x and y, elementwise with broadcasting; equal ones share the gradient."""
def mean(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """The mean along axes, all by default; of integers a float."""
def median(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, mode: str = 'avg', name: str | None = None) -> Tensor:
    """The element in the middle along an axis; of two the mean, or with mode 'min' the smaller."""
def meshgrid(*args: Tensor | Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Each vector repeated along the axes of all others: (n,), (m,) -> two of (n, m)."""
def min(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The smallest element along axes, all by default; equal ones share the gradient."""
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The smaller of x and y, elementwise with broadcasting; equal ones share the gradient."""
def mish(x: TensorLike, name: str | None = None) -> Tensor:
    """x * tanh(softplus(x)) (Misra 2019): (...,) -> (...,)."""
def mm(input: TensorLike, mat2: TensorLike, name: str | None = None) -> Tensor:
    """(n, k) @ (k, m) -> (n, m): `matmul` under another name."""
def mod(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x - floor(x / y) * y: `remainder` under another name."""
mod_ = floor_mod_
def mode(x: TensorLike, axis: builtins.int = -1, keepdim: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis (the smallest of several), and its last place."""
def moveaxis(x: TensorLike, source: builtins.int | Sequence[builtins.int], destination: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
    """The axes `source` at the places `destination`, the others in order."""
def mse_loss(input: TensorLike, label: TensorLike, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """(input - label)**2, elementwise; reduction: 'mean', 'sum' or 'none'."""
def msort(input: TensorLike) -> Tensor:
    """The elements in order along the first axis: (n, ...) -> (n, ...)."""
def mul(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x * y, elementwise with broadcasting: (...,) * (...,) -> (...,)."""
def mul_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `multiply` of x, in place: for all who hold it."""
def multi_dot(x: Sequence[Any], name: str | None = None) -> Tensor:
    """The product of several matrices; the first and the last may be vectors."""
def multigammaln(x: TensorLike, p: builtins.int, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, elementwise."""
def multigammaln_(x: TensorLike, p: builtins.int, name: str | None = None) -> Tensor:
    """x becomes `multigammaln` of x, in place: for all who hold it."""
def multinomial(x: TensorLike, num_samples: TensorLike = 1, replacement: builtins.bool = False, name: str | None = None) -> Tensor:
    """Indices drawn with probabilities in proportion to x: (..., n) -> (..., num_samples)."""
def multiplex(inputs: Sequence[Tensor], index: TensorLike, name: str | None = None) -> Tensor:
    """Row i of the tensor that index[i] chooses: several of (n, ...), (n, 1) -> (n, ...)."""
multiply = mul
multiply_ = mul_
def mv(x: TensorLike, vec: TensorLike, name: str | None = None) -> Tensor:
    """A matrix times a vector: (n, k) @ (k,) -> (n,)."""
nan: builtins.float
def nan_to_num(x: TensorLike, nan: builtins.float = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, name: str | None = None) -> Tensor:
    """x with numbers in place of NaN, inf and -inf: the largest of the dtype if none is given."""
def nan_to_num_(x: TensorLike, nan: builtins.float = 0.0, posinf: builtins.float | None = None, neginf: builtins.float | None = None, name: str | None = None) -> Tensor:
    """x becomes `nan_to_num` of x, in place: for all who hold it."""
def nanmean(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The mean of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis."""
def nanmedian(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, mode: str = 'avg', name: str | None = None) -> Tensor:
    """`median` of the elements that are not NaN: (..., n) -> (...) along the last axis."""
def nanquantile(x: TensorLike, q: TensorLike | Sequence[builtins.float], axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, interpolation: str = 'linear') -> Tensor:
    """`quantile` of the elements that are not NaN, along axes."""
def nansum(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, dtype: DTypeLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The sum of the elements that are not NaN, along axes: (..., n) -> (...) along the last axis."""
def narrow(input: TensorLike, dim: builtins.int, start: TensorLike, length: builtins.int) -> Tensor:
    """`length` slices along an axis, from `start` on: x[start : start + length]."""
def ne(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x != y, elementwise with broadcasting: bools."""
def neg(x: TensorLike, name: str | None = None) -> Tensor:
    """-x, elementwise: (...,) -> (...,), in the dtype of x."""
def neg_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `neg` of x, in place: for all who hold it."""
negative = neg
newaxis: Any
def nextafter(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The next float from x towards y, elementwise with broadcasting."""
def nll_loss(input: TensorLike, label: TensorLike, weight: TensorLike | None = None, ignore_index: builtins.int = -100, reduction: str = 'mean', name: str | None = None) -> Tensor:
    """-input[label]: (n, classes, ...), (n, ...) -> scalar, or the shape of label."""
@overload
def nonzero(x: TensorLike, as_tuple: Literal[False] = False) -> Tensor:
    """The places of the elements that are not 0: (count, rank), or one vector an axis."""
@overload
def nonzero(x: TensorLike, *, as_tuple: Literal[True]) -> tuple[Tensor, ...]:
    """The places of the elements that are not 0: (count, rank), or one vector an axis."""
def norm(x: TensorLike, p: builtins.float | str | None = None, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """(sum |x|**p)**(1/p) along axes, all by default; p may be inf, -inf, 0, or "fro" for 2."""
def normal(mean: TensorLike = 0.0, std: TensorLike = 1.0, shape: ShapeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers of a shape; float32, or the dtype and shape of tensors given."""
def normal_(x: TensorLike, mean: TensorLike = 0.0, std: TensorLike = 1.0, name: str | None = None) -> Tensor:
    """x becomes normal random numbers, in place: for all who hold it."""
def normalize(x: TensorLike, p: builtins.float = 2, axis: builtins.int = 1, epsilon: builtins.float = 1e-12, name: str | None = None) -> Tensor:
    """x / max(|x|, epsilon) with the p-norm along an axis: (n, k) -> (n, k)."""
not_equal = ne
def not_equal_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `not_equal` of x, in place: for all who hold it."""
def numel(x: TensorLike, name: str | None = None) -> Tensor:
    """The number of elements as a 0-d int64 tensor; `x.size` is the number."""
def one_hot(x: TensorLike, num_classes: builtins.int = -1, name: str | None = None) -> Tensor:
    """1 at the place x of a new last axis, 0 elsewhere: (...,) -> (..., num_classes), float32."""
@overload
def ones(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of ones, float32 by default (`set_default_dtype`)."""
@overload
def ones(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of ones, float32 by default (`set_default_dtype`)."""
def ones_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Ones of the shape and dtype of x: (...,) -> (...,)."""
def ormqr(x: TensorLike, tau: TensorLike, y: TensorLike, left: builtins.bool = True, transpose: builtins.bool = False, name: str | None = None) -> Tensor:
    """Q @ y for the Q of `householder_product`, Q.T @ y with `transpose`, y @ Q without `left`."""
outer = ger
def pad(x: TensorLike, pad: builtins.int | Sequence[builtins.int] | Tensor, mode: str = 'constant', value: builtins.float | builtins.complex = 0.0, data_format: str | None = None, pad_from_left_axis: builtins.bool = True, name: str | None = None) -> Tensor:
    """More elements around x; mode: 'constant', 'reflect', 'replicate' or 'circular'."""
def pca_lowrank(x: TensorLike, q: builtins.int | None = None, center: builtins.bool = True, niter: builtins.int = 2, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of x less the mean of its rows, with `center`."""
def pdist(x: TensorLike, p: builtins.float = 2.0, name: str | None = None) -> Tensor:
    """The p-norms of the differences of each two rows: (n, k) -> (n * (n - 1) / 2,)."""
def permute(input: TensorLike, *order: Any, dims: builtins.int | Sequence[builtins.int] | None = None) -> Tensor:
    """The axes in another order, given as a list or one by one: axis order[i] is axis i then."""
pi: builtins.float
def pinv(x: TensorLike, rcond: builtins.float | Tensor = 1e-15, hermitian: builtins.bool = False, name: str | None = None) -> Tensor:
    """The pseudoinverse: (..., n, m) -> (..., m, n); singular values up to rcond * the largest count as 0."""
def pixel_shuffle(x: TensorLike, upscale_factor: builtins.int, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """(n, c*r*r, h, w) -> (n, c, h*r, w*r); with "NHWC" the channels come last."""
def poisson(x: TensorLike, name: str | None = None) -> Tensor:
    """Counts with the mean x, elementwise, in the dtype of x: (...,) -> (...,)."""
def polar(abs: TensorLike, angle: TensorLike, name: str | None = None) -> Tensor:
    """abs * exp(i angle) of two tensors of floats, which broadcast: (...,), (...,) -> (...,)."""
def polygamma(x: TensorLike, n: builtins.int, name: str | None = None) -> Tensor:
    """The derivative of order n of `digamma`, elementwise."""
def polygamma_(x: TensorLike, n: builtins.int, name: str | None = None) -> Tensor:
    """x becomes `polygamma` of x, in place: for all who hold it."""
def positive(x: TensorLike, name: str | None = None) -> Tensor:
    """+x, which is x: (...,) -> (...,)."""
def pow(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x**y, elementwise with broadcasting."""
def pow_(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `pow` of x, in place: for all who hold it."""
def prelu(x: TensorLike, weight: TensorLike, data_format: str = 'NCHW', name: str | None = None) -> Tensor:
    """x where x > 0, else weight * x; one weight, (1,), or one a channel, (c,)."""
def print_(*values: TensorLike, sep: Any = None, end: TensorLike | None = None, file: Any = None, flush: builtins.bool = False) -> None:
    """`print` of tensors, of lists and dicts of them, and of other values, when the Program runs."""
def prod(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The product along axes, all by default; 1 of no elements."""
def put_along_axis(arr: TensorLike, indices: TensorLike, values: TensorLike, axis: builtins.int, reduce: str = 'assign', include_self: builtins.bool = True, broadcast: builtins.bool = True) -> Tensor:
    """arr with values at places along an axis, element by element, or joined with them."""
def put_along_axis_(arr: TensorLike, indices: TensorLike, values: TensorLike, axis: builtins.int, reduce: str = 'assign', include_self: builtins.bool = True, broadcast: builtins.bool = True) -> Tensor:
    """x becomes `put_along_axis` of x, in place: for all who hold it."""
def put_reduced(x: TensorLike, index: TensorLike, values: TensorLike, axis: builtins.int, reduce: str, include_self: builtins.bool) -> Tensor:
    """x joined with values at places along an axis: mean, mul, amin or amax."""
def qr(x: TensorLike, mode: str = 'reduced', name: str | None = None) -> tuple[Tensor, Tensor]:
    """Q with orthonormal columns and the upper triangular R with Q @ R = x."""
def quantile(x: TensorLike, q: TensorLike | Sequence[builtins.float], axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, interpolation: str = 'linear', name: str | None = None) -> Tensor:
    """The element at q of the way (0 to 1) through the elements in order, along axes."""
def rad2deg(x: TensorLike, name: str | None = None) -> Tensor:
    """Radians as degrees: x * 180 / pi."""
def raise_(kind: str, message: str, state: TensorLike | None = None) -> None:
    """The exception called `kind`, when the Program runs."""
@overload
def rand(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Uniform random numbers in [0, 1); float32 by default."""
@overload
def rand(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Uniform random numbers in [0, 1); float32 by default."""
def rand_like(input: TensorLike, name: str | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Uniform random numbers in [0, 1) in the shape and dtype of a tensor: (...,) -> (...,)."""
def randint(low: TensorLike = 0, high: TensorLike | None = None, shape: ShapeLike = ..., dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Random integers from low to high - 1, or from 0 to low - 1; int64 by default."""
def randint_like(x: TensorLike, low: builtins.int = 0, high: builtins.int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Random integers from low to high - 1 (or 0 to low - 1) in the shape and dtype of a tensor."""
@overload
def randn(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers with mean 0 and standard deviation 1; float32 by default."""
@overload
def randn(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers with mean 0 and standard deviation 1; float32 by default."""
def randn_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers in the shape and dtype of a tensor: (...,) -> (...,)."""
def random_(x: TensorLike, from_: builtins.int = 0, to: builtins.int | None = None, generator: Any = None) -> Tensor:
    """Random integers from `from_` to to - 1 in place; by default all that the dtype has from 0."""
def randperm(n: builtins.int | Sequence[builtins.int], dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
    """The integers 0 to n - 1 in random order: (n,)."""
def rank(input: TensorLike) -> Tensor:
    """The number of axes as a 0-d int32 tensor; `x.ndim` is the number."""
def ravel(input: TensorLike) -> Tensor:
    """All elements as a vector: (...,) -> (count,)."""
def real(x: TensorLike, name: str | None = None) -> Tensor:
    """The real part, elementwise; x, if it is real."""
def reciprocal(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / x, elementwise: (...,) -> (...,); integers give floats."""
def reciprocal_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `reciprocal` of x, in place: for all who hold it."""
def reduce_as(x: TensorLike, target: TensorLike, name: str | None = None) -> Tensor:
    """The sums of x in the shape of `target`, which broadcasts to that of x: (n, m), (m,) -> (m,)."""
def relu(x: TensorLike, name: str | None = None) -> Tensor:
    """max(x, 0), elementwise: (...,) -> (...,); the slope at 0 is 0."""
def relu6(x: TensorLike, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6): (...,) -> (...,); the slope at 0 and 6 is 0."""
def relu_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `relu` of x, in place: for all who hold it."""
remainder = floor_mod
remainder_ = floor_mod_
def renorm(x: TensorLike, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
    """x with every slice along an axis scaled down to a p-norm of at most max_norm."""
def renorm_(x: TensorLike, p: builtins.float, axis: builtins.int, max_norm: builtins.float) -> Tensor:
    """x becomes `renorm` of x, in place: for all who hold it."""
def repeat_interleave(x: TensorLike, repeats: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | None = None, name: str | None = None, output_size: builtins.int | None = None) -> Tensor:
    """Every element along an axis `repeats` times in a row; a list has one number an element."""
@overload
def reshape(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """The same elements in another shape, row by row; the result is a view of x."""
@overload
def reshape(x: TensorLike, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
    """The same elements in another shape, row by row; the result is a view of x."""
@overload
def reshape_(x: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """x becomes `reshape` of x, in place: for all who hold it."""
@overload
def reshape_(x: TensorLike, *shape: builtins.int | Tensor, name: str | None = None) -> Tensor:
    """x becomes `reshape` of x, in place: for all who hold it."""
reverse = flip
def roll(x: TensorLike, shifts: builtins.int | Sequence[builtins.int], axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
    """The elements along axes shifted; what leaves at one end comes in at the other."""
def rot90(x: TensorLike, k: builtins.int = 1, axes: Sequence[builtins.int] = ..., name: str | None = None) -> Tensor:
    """The plane of two axes rotated by k quarters, from the first axis towards the second."""
def round(x: TensorLike, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
    """The nearest integer, halves to even, elementwise: (...,) -> (...,)."""
def round_(x: TensorLike, decimals: builtins.int = 0, name: str | None = None) -> Tensor:
    """x becomes `round` of x, in place: for all who hold it."""
def row_stack(x: Sequence[TensorLike], name: str | None = None) -> Tensor:
    """Tensors one below the other along the first axis: vectors are rows."""
def rsqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / sqrt(x), elementwise: (...,) -> (...,)."""
def rsqrt_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `rsqrt` of x, in place: for all who hold it."""
def scale(x: TensorLike, scale: builtins.float | Tensor = 1.0, bias: TensorLike = 0.0, bias_after_scale: builtins.bool = True, act: Any = None, name: str | None = None) -> Tensor:
    """x * scale + bias, or (x + bias) * scale without `bias_after_scale`; then `act` by its name."""
def scale_(x: TensorLike, scale: TensorLike | Sequence[Any] = 1.0, bias: TensorLike = 0.0, bias_after_scale: builtins.bool = True, act: Any = None, name: str | None = None) -> Tensor:
    """x becomes `scale` of x, in place: for all who hold it."""
def scaled_dot_product_attention(query: TensorLike, key: TensorLike, value: TensorLike, attn_mask: TensorLike | None = None, dropout_p: builtins.float = 0.0, is_causal: builtins.bool = False, training: builtins.bool = True, backend: str | None = None, scale: builtins.float | None = None, enable_gqa: builtins.bool = True, name: str | None = None) -> Tensor:
    """softmax(scale * q k' + mask) v: (n, l, heads, d) three times -> (n, l, heads, d)."""
def scatter(x: TensorLike, index: TensorLike, updates: TensorLike, overwrite: builtins.bool = True, name: str | None = None) -> Tensor:
    """x with the rows `index` replaced by `updates`, or, without overwrite, by sums of updates."""
def scatter_(x: TensorLike, index: TensorLike, updates: TensorLike, overwrite: builtins.bool = True, name: str | None = None) -> Tensor:
    """x becomes `scatter` of x, in place: for all who hold it."""
def scatter_add(input: TensorLike, dim: builtins.int, index: TensorLike, src: TensorLike) -> Tensor:
    """input with elements of src added at places along an axis, element by element."""
def scatter_add_(input: TensorLike, dim: builtins.int, index: TensorLike, src: TensorLike) -> Tensor:
    """x becomes `scatter_add` of x, in place: for all who hold it."""
def scatter_nd(index: TensorLike, updates: TensorLike, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Zeros with `updates` added at the places that the last axis of `index` names."""
def scatter_nd_add(x: TensorLike, index: TensorLike, updates: TensorLike, name: str | None = None) -> Tensor:
    """x with `updates` added at the places that the last axis of `index` names."""
def scatter_reduce(input: TensorLike, dim: builtins.int, index: TensorLike, src: TensorLike, reduce: str, *, include_self: builtins.bool = True) -> Tensor:
    """input joined with elements of src at places along an axis: sum, prod, mean, amin, amax."""
def searchsorted(sorted_sequence: TensorLike, values: TensorLike, out_int32: builtins.bool = False, right: builtins.bool = False, name: str | None = None, side: str | None = None, sorter: TensorLike | None = None) -> Tensor:
    """How many elements of a sorted vector lie before each value: (n,), (...,) -> (...,)."""
def select_scatter(x: TensorLike, values: TensorLike, axis: builtins.int, index: builtins.int, name: str | None = None) -> Tensor:
    """x with the slice at a place along an axis replaced: (n, m), (m,) -> (n, m) for axis 0."""
def selu(x: TensorLike, scale: builtins.float = 1.0507009873554805, alpha: builtins.float = 1.6732632423543772, name: str | None = None) -> Tensor:
    """scale * (x where x > 0, else alpha * (exp(x) - 1)) (Klambauer 2017): (...,) -> (...,)."""
def sequence_mask(x: TensorLike, maxlen: Any = None, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
    """1 before the place x of a new last axis, 0 from there on: (...,) -> (..., maxlen)."""
def set_(x: TensorLike, source: TensorLike | None = None, shape: ShapeLike | None = None, stride: builtins.int | Sequence[builtins.int] | None = None, offset: builtins.int = 0) -> Tensor:
    """x becomes `source`, in the given shape, or a tensor without elements, in place: for all who hold it."""
def set_cuda_rng_state(state_list: Any) -> None:
    """Take an empty list: `set_rng_state` is for all devices."""
def set_default_device(device: Place | str) -> None:
    """Compute converted functions on a device: `device.set_device(device)`."""
def set_default_dtype(d: DTypeLike) -> None:
    """Set the dtype of floats made without one: float16, float32 or float64."""
def set_rng_state(state_list: dict[str, Any], device: Place | str | None = None) -> None:
    """Go back to where the generator stood when `get_rng_state` gave the state."""
def setitem(x: TensorLike, index: Index, value: TensorLike) -> Tensor:
    """x with x[index] = value done: a new tensor. The value broadcasts and takes x's dtype."""
def sgn(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1; of complex numbers x / |x|, and 0 of 0."""
def shape(input: TensorLike) -> Tensor:
    """The sizes of a tensor as an int64 tensor; `x.shape` is the list."""
def shard_index(input: TensorLike, index_num: builtins.int, nshards: builtins.int, shard_id: builtins.int, ignore_value: builtins.int = -1) -> Tensor:
    """Places within shard `shard_id` of `nshards`; `ignore_value` for those of other shards."""
short: np.dtype[np.int16]
def sigmoid(x: TensorLike, name: str | None = None) -> Tensor:
    """1 / (1 + exp(-x)), elementwise: (...,) -> (...,)."""
def sigmoid_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `sigmoid` of x, in place: for all who hold it."""
def sign(x: TensorLike, name: str | None = None) -> Tensor:
    """-1, 0 or 1, elementwise: (...,) -> (...,); of complex numbers x / |x|, and 0 of 0."""
def signbit(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether the sign is a minus, that of -0.0 too: (...,) -> (...,), bool."""
def silu(x: TensorLike, inplace: builtins.bool = False, name: str | None = None) -> Tensor:
    """x * sigmoid(x): (...,) -> (...,)."""
def sin(x: TensorLike, name: str | None = None) -> Tensor:
    """The sine of radians, elementwise: (...,) -> (...,)."""
def sin_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `sin` of x, in place: for all who hold it."""
def sinc(x: TensorLike, name: str | None = None) -> Tensor:
    """sin(pi x) / (pi x), 1 at 0: (...,) -> (...,)."""
def sinc_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `sinc` of x, in place: for all who hold it."""
def sinh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic sine (e**x - e**-x) / 2, elementwise: (...,) -> (...,)."""
def sinh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `sinh` of x, in place: for all who hold it."""
def slice(input: TensorLike, axes: builtins.int | Sequence[builtins.int], starts: Sequence[builtins.int | Tensor] | Tensor, ends: Sequence[builtins.int | Tensor] | Tensor) -> Tensor:
    """input[start:end] along each of the axes."""
def slice_scatter(x: TensorLike, value: TensorLike, axes: Sequence[builtins.int], starts: Sequence[Any], ends: Sequence[Any], strides: Sequence[builtins.int], name: str | None = None) -> Tensor:
    """x with the elements between starts and ends along axes replaced."""
def slogdet(x: TensorLike, name: str | None = None) -> Tensor:
    """The sign of the determinant and the logarithm of its magnitude: (..., n, n) -> (2, ...)."""
def smooth_l1_loss(input: TensorLike, label: TensorLike, reduction: str = 'mean', delta: builtins.float = 1.0, is_huber: builtins.bool = True, name: str | None = None) -> Tensor:
    """d**2 / 2 where |d| < delta, else delta * (|d| - delta / 2), with d = input - label."""
def softmax(x: TensorLike, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """exp(x) / sum(exp(x)) along an axis, without overflow: the shape of x."""
def softmax_(x: TensorLike, axis: builtins.int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """x becomes `softmax` of x, in place: for all who hold it."""
@overload
def softmax_with_cross_entropy(logits: TensorLike, label: TensorLike, soft_label: builtins.bool = False, ignore_index: builtins.int = -100, numeric_stable_mode: builtins.bool = True, return_softmax: Literal[False] = False, axis: builtins.int = -1) -> Tensor:
    """`cross_entropy` without reduction, with the axis kept; also the softmax if it is wanted."""
@overload
def softmax_with_cross_entropy(logits: TensorLike, label: TensorLike, soft_label: builtins.bool = False, ignore_index: builtins.int = -100, numeric_stable_mode: builtins.bool = True, *, return_softmax: Literal[True], axis: builtins.int = -1) -> tuple[Tensor, Tensor]:
    """`cross_entropy` without reduction, with the axis kept; also the softmax if it is wanted."""
def softplus(x: TensorLike, beta: builtins.float = 1.0, threshold: builtins.float = 20.0, name: str | None = None) -> Tensor:
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""
def softshrink(x: TensorLike, threshold: builtins.float = 0.5, name: str | None = None) -> Tensor:
    """sign(x) * max(|x| - threshold, 0): (...,) -> (...,)."""
def softsign(x: TensorLike, name: str | None = None) -> Tensor:
    """x / (1 + |x|): (...,) -> (...,)."""
def solve(x: TensorLike, y: TensorLike, left: builtins.bool = True, name: str | None = None) -> Tensor:
    """z with x @ z = y, or z @ x = y without `left`: (..., n, n), (..., n, k) -> (..., n, k)."""
def sort(x: TensorLike, axis: builtins.int = -1, descending: builtins.bool = False, stable: builtins.bool = False, name: str | None = None) -> Tensor:
    """The elements in order along an axis; NaN are the largest."""
def split(x: TensorLike, num_or_sections: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
    """Parts along an axis: a number of equal ones, or of the given sizes (one may be -1)."""
def sqrt(x: TensorLike, name: str | None = None) -> Tensor:
    """The square root, elementwise: (...,) -> (...,); NaN of negative numbers."""
def sqrt_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `sqrt` of x, in place: for all who hold it."""
def square(x: TensorLike, name: str | None = None) -> Tensor:
    """x * x, elementwise: (...,) -> (...,), in the dtype of x."""
def square_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `square` of x, in place: for all who hold it."""
def square_error_cost(input: TensorLike, label: TensorLike) -> Tensor:
    """(input - label)**2, without reduction: (...,), (...,) -> (...,)."""
def squeeze(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
    """Without axes of size 1: all of them, or the given ones if their size is 1."""
def squeeze_(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, name: str | None = None) -> Tensor:
    """x becomes `squeeze` of x, in place: for all who hold it."""
def stack(x: Sequence[TensorLike], axis: builtins.int = 0, name: str | None = None) -> Tensor:
    """Tensors of one shape along a new axis: two of (n,) -> (2, n), or (n, 2) for axis 1."""
def standard_gamma(x: TensorLike, name: str | None = None) -> Tensor:
    """Drawn from gamma distributions of shape x and scale 1, elementwise: (...,) -> (...,)."""
@overload
def standard_normal(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers with mean 0 and standard deviation 1."""
@overload
def standard_normal(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Normal random numbers with mean 0 and standard deviation 1."""
def stanh(x: TensorLike, scale_a: builtins.float = 0.67, scale_b: builtins.float = 1.7159, name: str | None = None) -> Tensor:
    """scale_b * tanh(scale_a * x): (...,) -> (...,)."""
def std(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, keepdim: builtins.bool = False, name: str | None = None, correction: builtins.float = 1, dtype: DTypeLike | None = None) -> Tensor:
    """The square root of `var`, which divides by n - correction, along axes."""
def strided_slice(x: TensorLike, axes: builtins.int | Sequence[builtins.int], starts: Sequence[builtins.int | Tensor] | Tensor, ends: Sequence[builtins.int | Tensor] | Tensor, strides: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
    """x[start:end:stride] along each of the axes."""
def sub(x: TensorLike, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
    """x - alpha * y, elementwise with broadcasting: (...,) - (...,) -> (...,)."""
def sub_(x: TensorLike, y: TensorLike, name: str | None = None, alpha: TensorLike = 1) -> Tensor:
    """x becomes `subtract` of x, in place: for all who hold it."""
subtract = sub
subtract_ = sub_
def sum(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, dtype: DTypeLike | None = None, keepdim: builtins.bool = False, name: str | None = None) -> Tensor:
    """The sum along axes, all by default; integers and bools give int64 as in NumPy."""
def sum_to(x: TensorLike, shape: ShapeLike) -> Tensor:
    """The sum over the axes along which `shape` was broadcast to the shape of x: its gradient."""
def svd(x: TensorLike, full_matrices: builtins.bool = False, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """U, s and V.T with U @ diag(s) @ V.T = x: (..., n, m) -> (..., n, k), (..., k), (..., k, m)."""
def svd_lowrank(x: TensorLike, q: builtins.int | None = None, niter: builtins.int = 2, M: Any = None, name: str | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """The q (6) largest singular values of x - M with their vectors: U, s, V; computed exactly."""
def svdvals(x: TensorLike, name: str | None = None) -> Tensor:
    """The singular values of matrices in descending order: (..., n, m) -> (..., min(n, m))."""
def swapaxes(x: TensorLike, axis0: builtins.int, axis1: builtins.int, name: str | None = None) -> Tensor:
    """Two axes exchanged; the result is a view of x."""
def swapdims(x: TensorLike, perm: builtins.int | Sequence[builtins.int] | None = None, *more: Any, name: str | None = None, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
    """The axes in another order: axis i of the result is axis perm[i] of x."""
def swish(x: TensorLike, name: str | None = None) -> Tensor:
    """x * sigmoid(x): `silu` under another name."""
def t(input: TensorLike, name: str | None = None) -> Tensor:
    """The transposed matrix: (n, m) -> (m, n); vectors and numbers stay."""
def t_(input: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `t` of x, in place: for all who hold it."""
def take(x: TensorLike, index: TensorLike, mode: str = 'raise', name: str | None = None) -> Tensor:
    """The elements of the flattened x at the places `index`; the result has the index's shape."""
def take_along_axis(arr: TensorLike, indices: TensorLike, axis: builtins.int, broadcast: builtins.bool = True) -> Tensor:
    """arr[..., indices[..., i, ...], ...]: places along an axis, element by element."""
take_along_dim = take_along_axis
def tan(x: TensorLike, name: str | None = None) -> Tensor:
    """The tangent of radians, elementwise: (...,) -> (...,)."""
def tan_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `tan` of x, in place: for all who hold it."""
def tanh(x: TensorLike, name: str | None = None) -> Tensor:
    """The hyperbolic tangent sinh(x) / cosh(x), elementwise: (...,) -> (...,)."""
def tanh_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `tanh` of x, in place: for all who hold it."""
def tanhshrink(x: TensorLike, name: str | None = None) -> Tensor:
    """x - tanh(x): (...,) -> (...,)."""
def tensor_split(x: TensorLike, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, axis: builtins.int | Sequence[builtins.int] = 0, name: str | None = None) -> list[Tensor]:
    """Parts along an axis: so many, the first ones longer by 1, or up to the given places."""
def tensordot(x: TensorLike, y: TensorLike, axes: builtins.int | Sequence[builtins.int] | Sequence[Sequence[builtins.int]] | Tensor = 2, name: str | None = None) -> Tensor:
    """The sum of products over pairs of axes: the last n of x and the first n of y, or as given."""
def tile(x: TensorLike, repeat_times: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> Tensor:
    """x put together repeat_times[i] times along axis i; missing axes of either are in front."""
def tolist(x: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
def topk(x: TensorLike, k: builtins.int, axis: builtins.int | None = None, largest: builtins.bool = True, sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The k largest (or smallest) elements along an axis in order, and their places."""
def trace(x: TensorLike, offset: TensorLike = 0, axis1: builtins.int = 0, axis2: builtins.int = 1, name: str | None = None) -> Tensor:
    """The sum of the diagonal between two axes: (n, n, ...) -> (...)."""
transpose = swapdims
def transpose_(x: TensorLike, perm: builtins.int | Sequence[builtins.int] | None = None, *more: Any, name: str | None = None, dim0: builtins.int | None = None, dim1: builtins.int | None = None) -> Tensor:
    """x becomes `transpose` of x, in place: for all who hold it."""
def trapezoid(y: TensorLike, x: TensorLike | None = None, dx: builtins.float | None = None, axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """The area under y along an axis by trapezoids, at places x or `dx` (1) apart."""
def triangular_solve(x: TensorLike, y: TensorLike, upper: builtins.bool = True, transpose: builtins.bool = False, unitriangular: builtins.bool = False, name: str | None = None) -> Tensor:
    """z with x @ z = y for a triangular x, whose other triangle is not read."""
def tril(x: TensorLike, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
    """x below and on a diagonal of the last two axes, zeros above: (..., n, m) -> (..., n, m)."""
def tril_(x: TensorLike, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
    """x becomes `tril` of x, in place: for all who hold it."""
def tril_indices(row: builtins.int, col: builtins.int, offset: builtins.int = 0, dtype: DTypeLike = 'int64') -> Tensor:
    """The rows and columns of the elements on and below a diagonal: (2, count)."""
def triu(x: TensorLike, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
    """x above and on a diagonal of the last two axes, zeros below: (..., n, m) -> (..., n, m)."""
def triu_(x: TensorLike, diagonal: builtins.int = 0, name: str | None = None) -> Tensor:
    """x becomes `triu` of x, in place: for all who hold it."""
def triu_indices(row: builtins.int, col: builtins.int | None = None, offset: builtins.int = 0, dtype: DTypeLike = 'int64') -> Tensor:
    """The rows and columns of the elements on and above a diagonal: (2, count)."""
true_divide = div
def trunc(x: TensorLike, name: str | None = None) -> Tensor:
    """x without its fraction, elementwise: (...,) -> (...,), in the dtype of x."""
def trunc_(x: TensorLike, name: str | None = None) -> Tensor:
    """x becomes `trunc` of x, in place: for all who hold it."""
uint16: np.dtype[np.uint16]
uint32: np.dtype[np.uint32]
uint64: np.dtype[np.uint64]
uint8: np.dtype[np.uint8]
def unbind(input: TensorLike, axis: builtins.int = 0) -> list[Tensor]:
    """The tensors along an axis, without it: (2, n) -> two of (n,)."""
def unflatten(x: TensorLike, axis: builtins.int, shape: ShapeLike, name: str | None = None) -> Tensor:
    """One axis as several: (6, n) -> (2, 3, n) for axis 0 and shape [2, 3]; one may be -1."""
def unfold(x: TensorLike, axis: builtins.int, size: builtins.int, step: builtins.int, name: str | None = None) -> Tensor:
    """Windows along an axis, as a new last axis: (..., n, ...) -> (..., count, ..., size)."""
@overload
def uniform(shape: ShapeLike, dtype: DTypeLike | None = None, min: builtins.float = 0, max: builtins.float = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
    """Uniform random numbers in [min, max); float32 by default."""
@overload
def uniform(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, min: builtins.float = 0, max: builtins.float = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
    """Uniform random numbers in [min, max); float32 by default."""
def uniform_(x: TensorLike, min: builtins.float = 0, max: builtins.float = 1.0, seed: builtins.int = 0, name: str | None = None) -> Tensor:
    """x becomes uniform random numbers in [min, max), in place: for all who hold it."""
@overload
def unique(x: TensorLike, return_index: Literal[False] = False, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> Tensor:
    """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
@overload
def unique(x: TensorLike, *, return_index: Literal[True], return_inverse: builtins.bool = False, return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
    """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
@overload
def unique(x: TensorLike, return_index: builtins.bool = False, *, return_inverse: Literal[True], return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
    """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
@overload
def unique(x: TensorLike, return_index: builtins.bool = False, return_inverse: builtins.bool = False, *, return_counts: Literal[True], axis: builtins.int | None = None, dtype: DTypeLike = 'int64', sorted: builtins.bool = True, name: str | None = None) -> tuple[Tensor, ...]:
    """The distinct elements, always in order (or slices along an axis), and what else is asked for."""
@overload
def unique_consecutive(x: TensorLike, return_inverse: Literal[False] = False, return_counts: Literal[False] = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> Tensor:
    """One of each run of equal elements (or slices along an axis), and what else is asked for."""
@overload
def unique_consecutive(x: TensorLike, *, return_inverse: Literal[True], return_counts: builtins.bool = False, axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, ...]:
    """One of each run of equal elements (or slices along an axis), and what else is asked for."""
@overload
def unique_consecutive(x: TensorLike, return_inverse: builtins.bool = False, *, return_counts: Literal[True], axis: builtins.int | None = None, dtype: DTypeLike = 'int64', name: str | None = None) -> tuple[Tensor, ...]:
    """One of each run of equal elements (or slices along an axis), and what else is asked for."""
def unsqueeze(x: TensorLike, axis: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
    """With an axis of size 1 at a place of the result: (n, m) -> (n, 1, m) for axis 1."""
def unsqueeze_(x: TensorLike, axis: builtins.int | Sequence[builtins.int], name: str | None = None) -> Tensor:
    """x becomes `unsqueeze` of x, in place: for all who hold it."""
def unstack(x: TensorLike, axis: builtins.int = 0, num: builtins.int | None = None) -> list[Tensor]:
    """The tensors along an axis, without it; ShapeError if they are not `num`."""
def upsample(x: TensorLike, size: builtins.int | Sequence[builtins.int | Tensor] | Tensor | None = None, scale_factor: builtins.float | Sequence[builtins.float] | Tensor | None = None, mode: str = 'nearest', align_corners: builtins.bool = False, align_mode: builtins.int = 0, data_format: str | None = None, name: str | None = None) -> Tensor:
    """`interpolate` under another name."""
def vander(x: TensorLike, n: builtins.int | Sequence[builtins.int] | None = None, increasing: builtins.bool = False, name: str | None = None) -> Tensor:
    """The powers of the elements of a vector, one a column: (m,) -> (m, n), highest first."""
def var(x: TensorLike, axis: builtins.int | Sequence[builtins.int] | None = None, unbiased: builtins.bool | None = None, keepdim: builtins.bool = False, name: str | None = None, correction: builtins.float = 1, dtype: DTypeLike | None = None) -> Tensor:
    """The mean squared distance from the mean along axes, divided by n - correction."""
def vecdot(x: TensorLike, y: TensorLike, axis: builtins.int = -1, name: str | None = None) -> Tensor:
    """The sums of products conj(x) * y along an axis: (..., n), (..., n) -> (...)."""
def vector_norm(x: TensorLike, p: builtins.float = 2.0, axis: builtins.int | Sequence[builtins.int] | None = None, keepdim: builtins.bool = False, name: str | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """(sum |x|**p)**(1/p) along axes, all by default; p may be inf, -inf or 0."""
def view(x: TensorLike, shape_or_dtype: Sequence[builtins.int] | DTypeLike | None = None, *sizes: Any, name: str | None = None) -> Tensor:
    """The same elements in another shape; the bits in another dtype are refused."""
def view_as(x: TensorLike, other: TensorLike, name: str | None = None) -> Tensor:
    """The same elements in the shape of another tensor."""
view_as_complex = as_complex
view_as_real = as_real
def vsplit(x: TensorLike, num_or_indices: builtins.int | Sequence[builtins.int] | Tensor, name: str | None = None) -> list[Tensor]:
    """`tensor_split` along the first axis of a tensor of two or more: (2 * n, m) -> two of (n, m)."""
vstack = row_stack
@overload
def where(condition: TensorLike) -> tuple[Tensor, ...]:
    """x where the condition holds, else y, with broadcasting: (...,), (...,), (...,) -> (...,)."""
@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x where the condition holds, else y, with broadcasting: (...,), (...,), (...,) -> (...,)."""
def where_(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None) -> Tensor:
    """x becomes `where` of x, in place: for all who hold it."""
def while_loop(condition_fn: Any, body_fn: Any, initial: Sequence[Any], names: Sequence[str] = ...) -> list[Tensor]:
    """Append a `while`: the functions take the loop variables; the body returns the next ones."""
def zero_(x: TensorLike) -> Tensor:
    """x becomes 0 everywhere, in place: for all who hold it."""
@overload
def zeros(shape: ShapeLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of zeros, float32 by default (`set_default_dtype`)."""
@overload
def zeros(*shape: builtins.int | Tensor, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """A tensor of zeros, float32 by default (`set_default_dtype`)."""
def zeros_like(x: TensorLike, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """Zeros of the shape and dtype of x: (...,) -> (...,)."""
