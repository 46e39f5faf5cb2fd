"""The eager tensor: a tensor with data, on a NumPy array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from dy2st_runtime import autograd
from dy2st_runtime.autograd import Array, Hook, HookHandle, Node
from dy2st_runtime.errors import ArgumentError, MissingAttribute, ShapeError, TensorAsPython
from dy2st_runtime.exported_buffers import note_export
from dy2st_runtime.ir import ufuncs
from dy2st_runtime.ir.dispatch import F, stack
from dy2st_runtime.ir.grad_mode import is_grad_enabled, no_grad
from dy2st_runtime.ir.location import hide_own_frames, without_own_frames
from dy2st_runtime.ir.program import data_of_tensor
from dy2st_runtime.ir.tensor import Tensor
from dy2st_runtime.ir.tracing.gradient_flow import refuse_leaf
from dy2st_runtime.ir.tracing.tracer import current_tracer
from dy2st_runtime.ir.types import TensorType
from dy2st_runtime.lazy import Lazy
from dy2st_runtime.resident import Resident
from dy2st_runtime.size_list import SizeList
from dy2st_runtime.storage import Storage, VarType

_html_page, _hooks = Lazy("dy2st_runtime.html_page"), Lazy("dy2st_runtime.ir.hooks")
_STATE = ("_grad", "array", "hooks", "index", "name", "node", "stopped", "storage")


class EagerTensor(Tensor):
    """A tensor with data, which `dy2st.to_tensor` makes.

    The array is never changed in place: `x[i] = v` gives the tensor a new array, and those that
    share memory with it, its views, have theirs in the same new memory.

    >>> x = dy2st.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    >>> row = x[0]
    >>> x[0, 0] = 7.0
    >>> row.tolist()
    [7.0, 2.0]
    """

    # `stopped` is `stop_gradient` as it is, whatever is being traced; `storage` is None while the
    # tensor shares memory with no other one. `dist_attr` is set where it lies on a mesh alone, and
    # `resident` where an engine keeps its value: tensors are many.
    __slots__ = ("__weakref__", "dist_attr", "resident", *_STATE)
    dist_attr: Any
    resident: Resident | None

    def __init__(self, array: Array, stop_gradient: bool = True, name: str = ""):
        """Wrap an array; no copy is made."""
        self.array = array
        self.stopped = stop_gradient
        self.name = name
        self.node: Node | None = None
        self.index = 0
        self._grad: Any = None
        self.hooks: list[Hook] | None = None  # a list from the first one on: tensors are many
        self.storage: Storage | None = None
        self.resident = None

    def alias(self, array: Array, node: Node | None, index: int) -> EagerTensor:
        """Another tensor with this array and maker, which shares nothing else.

        >>> x = dy2st.to_tensor([1.0])
        >>> x.alias(x.array, None, 0).tolist()
        [1.0]
        """
        tensor = EagerTensor(array, stop_gradient=node is None)
        tensor.node, tensor.index = node, index
        return tensor

    # -- facts -------------------------------------------------------------------------------

    @property
    def tensor_type(self) -> TensorType:
        """Element type and sizes."""
        return TensorType(self.array.dtype, self.array.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type, a NumPy dtype."""
        dtype: np.dtype[Any] = self.array.dtype
        return dtype

    @property
    def type(self) -> VarType:
        """`VarType.DENSE_TENSOR`: no other kind is here.

        >>> dy2st.zeros([2]).type.name
        'DENSE_TENSOR'
        """
        return VarType.DENSE_TENSOR

    @property
    def shape(self) -> list[Any]:
        """The sizes, axis by axis."""
        sizes = self.array.shape
        return list(sizes) if stack.interpreters else SizeList(sizes)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def placements(self) -> Any:
        """How the tensor lies on each axis of its mesh of devices, None if it lies on none.

        >>> dy2st.zeros([2]).placements is None
        True
        """
        placed = getattr(self, "dist_attr", None)
        return None if placed is None else placed.placements

    @property
    def process_mesh(self) -> Any:
        """The mesh of devices that the tensor lies on, or None.

        >>> dy2st.zeros([2]).process_mesh is None
        True
        """
        placed = getattr(self, "dist_attr", None)
        return None if placed is None else placed.mesh

    def is_dist(self) -> bool:
        """Whether the tensor lies on a mesh of devices.

        >>> dy2st.zeros([2]).is_dist()
        False
        """
        return getattr(self, "dist_attr", None) is not None

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows through; True of what `to_tensor` makes, False of parameters.

        >>> x = dy2st.to_tensor([3.0])
        >>> x.stop_gradient = False
        >>> (x * x).backward()
        >>> x.grad.tolist()
        [6.0]
        """
        if not stack.interpreters:  # most calls are spared the next ones
            return self.stopped
        tracer = current_tracer()
        is_live = tracer is not None and tracer.reads_live_tensors
        return tracer.flags.get(self) if is_live and tracer else self.stopped

    @stop_gradient.setter
    def stop_gradient(self, value: bool) -> None:
        tracer = current_tracer()
        if tracer is not None and tracer.reads_live_tensors:
            tracer.flags.set(self, bool(value))
        else:
            self.stopped = value

    @property
    def grad(self) -> Any:
        """The gradient that `backward` has summed up, None before.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.grad.tolist()
        [6.0]
        """
        if stack.interpreters:
            self._refuse_while_traced("the gradient")
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if stack.interpreters:
            self._refuse_while_traced("the gradient")
        self._grad = value

    @property
    def is_leaf(self) -> bool:
        """Whether no operator that is recorded made the tensor, or no gradient flows through.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> x.is_leaf, (x * x).is_leaf
        (True, False)
        """
        self._refuse_while_traced("is_leaf")
        return self.node is None or self.stopped

    # -- leaving for Python and NumPy --------------------------------------------------------

    def _is_traced(self) -> bool:
        tracer = current_tracer()
        return tracer is not None and tracer.reads_live_tensors

    def _refuse_while_traced(self, what: str) -> None:
        """Keep the value of today out of a Program that reads the tensor when it runs."""
        if self._is_traced():
            raise TensorAsPython(
                f"{what} of a parameter or buffer while a function is traced",
                why="the Program reads the tensor when it runs; the value now would be frozen in",
                hint="use the tensor in operators, or keep a Python number in the Layer",
            )

    def numpy(self, blocking: bool = True) -> Array:
        """The data as a NumPy array of its own; `blocking` has no effect on a CPU.

        >>> dy2st.to_tensor([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        if stack.interpreters:  # most calls are spared the next one
            self._refuse_while_traced("numpy()")
        return self.array.copy()

    @without_own_frames
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The data for NumPy; read-only unless a copy is made."""
        self._refuse_while_traced("the array")
        is_other = dtype is not None and np.dtype(dtype) != self.array.dtype
        if copy is False and is_other:
            raise ArgumentError(
                f"the array of a tensor of {self.dtype} is no {dtype} without a copy"
            )
        if copy or is_other:
            return np.array(self.array, dtype=dtype)
        view = self.array.view()
        view.flags.writeable = False
        return view

    @without_own_frames
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """As that of all tensors; of arrays by NumPy where no function of dy2st computes it.

        NumPy writes into `out`, and its result has no gradient then.
        """
        has_out = "out" in options
        made = NotImplemented if has_out else ufuncs.apply_ufunc(ufunc, method, inputs, options)
        if made is not NotImplemented:
            return made
        tensors = [one for one in inputs if isinstance(one, EagerTensor)]
        if not has_out and not all(one.stop_gradient for one in tensors):
            raise ufuncs.refused_with_gradient(ufunc, method)
        arrays = [np.asarray(one) if isinstance(one, Tensor) else one for one in inputs]
        found = getattr(ufunc, method)(*arrays, **options)
        if has_out or found is None:
            return found
        several = [EagerTensor(one) for one in (found if isinstance(found, tuple) else (found,))]
        return tuple(several) if isinstance(found, tuple) else several[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """As that of all tensors; of arrays where NumPy asks more of our method than it takes."""
        try:
            return super().__array_function__(function, types, args, kwargs)
        except TypeError:
            arrays = [np.asarray(one) if isinstance(one, EagerTensor) else one for one in args]
            return function(*arrays, **kwargs)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """The data for any library that speaks DLPack, without a copy unless one is asked for."""
        options: dict[str, Any] = {
            "max_version": max_version,
            "dl_device": dl_device,
            "copy": copy,
        }
        given = {name: value for name, value in options.items() if value is not None}
        note_export(self.array)
        return self.array.__dlpack__(stream=stream, **given)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU."""
        device = self.array.__dlpack_device__()
        return int(device[0]), int(device[1])

    @without_own_frames
    def item(self, *index: int) -> Any:
        """The one element, or the one at `index`, as a Python number.

        Raises ShapeError if there are several and no index.

        >>> dy2st.to_tensor([[7]]).item(), dy2st.to_tensor([5, 6]).item(1)
        (7, 6)
        """
        self._refuse_while_traced("item()")
        if not index and self.array.size != 1:
            raise ShapeError(f"item() of a tensor of shape {self.shape}, which is not one number")
        return self.array.item(*index)

    def tolist(self) -> Any:
        """The data as nested lists of Python numbers.

        >>> dy2st.to_tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        self._refuse_while_traced("tolist()")
        return self.array.tolist()

    @without_own_frames
    def __bool__(self) -> bool:
        """The truth of a tensor with one element."""
        self._refuse_while_traced("the truth")
        if self.array.size != 1:
            raise ShapeError(
                f"the truth of a tensor of shape {self.shape} is ambiguous: use any() or all()"
            )
        return bool(self.array.reshape(()))

    @without_own_frames
    def __int__(self) -> int:
        """The one element as an int."""
        return int(self.item())

    @without_own_frames
    def __float__(self) -> float:
        """The one element as a float."""
        return float(self.item())

    @without_own_frames
    def __complex__(self) -> complex:
        """The one element as a complex number."""
        return complex(self.item())

    @without_own_frames
    def __index__(self) -> int:
        """The one element of an integer tensor, to index with."""
        self._refuse_while_traced("the number")
        if self.dtype.kind not in "iu":
            raise TypeError(f"only an integer tensor can be an index, not {self.dtype}")
        return int(self.item())

    @without_own_frames
    def __iter__(self) -> Iterator[Any]:
        """The tensors along the first axis."""
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return (F.getitem(self, i) for i in range(self.array.shape[0]))

    def __contains__(self, value: Any) -> bool:
        """Whether any element equals `value`."""
        return bool(np.any(self.array == np.asarray(value)))

    @without_own_frames
    def __format__(self, spec: str) -> str:
        """Format a 0-d tensor as its number."""
        return (
            format(self.item(), spec) if spec and self.array.size == 1 else format(str(self), spec)
        )

    def __str__(self) -> str:
        """The numbers, as NumPy writes them: what `print` shows."""
        self._refuse_while_traced("str()")
        return str(self.array)

    def __repr__(self) -> str:
        """`Tensor(shape=[2], dtype=float32, stop_gradient=True, [1. 2.])`."""
        text = np.array2string(self.array, separator=", ", prefix="       ")
        return (
            f"Tensor(shape={self.shape}, dtype={self.dtype}, "
            f"stop_gradient={self.stopped},\n       {text})"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the numbers, and what is known of them."""
        self._refuse_while_traced("_repr_html_()")
        return str(_html_page.of_text(repr(self)))

    def __buffer__(self, flags: int) -> memoryview:
        """The memory, not to be written to: what `memoryview(x)` gives since Python 3.12."""
        array: Any = self.__array__()
        return memoryview(array)

    def __bytes__(self) -> bytes:
        """The elements as they lie in memory, axis by axis."""
        self._refuse_while_traced("the bytes")
        return self.array.tobytes()

    def __getstate__(self) -> tuple[Any, dict[str, Any]]:
        """All but who shares the memory: a copy, or what a file gives, has memory of its own."""
        slots = {name: getattr(self, name) for name in _STATE} | {"storage": None}
        return getattr(self, "__dict__", None), slots

    @without_own_frames
    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        """A leaf with a copy of the data."""
        copied = type(self).__new__(type(self))
        EagerTensor.__init__(copied, self.array.copy(), self.stopped, self.name)
        memo[id(self)] = copied
        return copied

    # -- gradients ---------------------------------------------------------------------------

    @without_own_frames
    def backward(self, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Add the gradients of this tensor to `.grad` of the leaves behind it.

        `grad_tensor` is its own gradient, ones by default; `retain_graph` lets it be done again.

        >>> x = dy2st.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> (x * x).sum().backward()
        >>> x.grad.tolist()
        [2.0, 4.0]
        """
        self._refuse_while_traced("backward()")
        autograd.backward(self, grad_tensor, retain_graph)

    @without_own_frames
    def register_hook(self, hook: Callable[[Any], Any]) -> HookHandle:
        """Call `hook(gradient)` in backward; what it returns replaces the gradient.

        Returns what removes the hook.

        >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> hook = x.register_hook(lambda gradient: gradient * 10)
        >>> x.sum().backward()
        >>> x.grad.tolist()
        [10.0]
        """
        if self._is_traced():
            raise _hooks.refused("register_hook() of a parameter or buffer")
        if self.stopped:
            raise ArgumentError("a hook on a tensor that has stop_gradient=True never runs")
        if self.node is not None:
            hooks = self.node.hooks.setdefault(self.index, [])
        elif self.hooks is None:
            hooks = self.hooks = []
        else:
            hooks = self.hooks
        hooks.append(hook)
        return HookHandle(hooks, hook)

    def _register_backward_hook(self, hook: Callable[[], Any]) -> None:
        """Call `hook()` whenever a `backward` has added to `.grad` of this leaf."""
        if not self.is_leaf:
            raise ArgumentError("_register_backward_hook is for leaves: others have no .grad")
        self.register_hook(autograd.AfterBackward(hook))

    def retain_grads(self) -> None:
        """Keep the gradient of a tensor that is no leaf in `.grad` too; leaves have theirs.

        >>> y = dy2st.to_tensor([3.0], stop_gradient=False) * 2
        >>> y.retain_grads()
        >>> (y * y).backward()
        >>> y.grad.tolist()
        [12.0]
        """
        self._refuse_while_traced("retain_grads()")
        if self.stopped or self.node is None:
            return
        hooks = self.node.hooks.setdefault(self.index, [])
        if not any(isinstance(hook, _Retained) and hook.tensor is self for hook in hooks):
            hooks.append(_Retained(self))

    def clear_grad(self) -> None:
        """Forget the gradient: `.grad` is None again.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.clear_grad()
        >>> x.grad is None
        True
        """
        self.grad = None

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zero, or forget it; None stays None.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.clear_gradient()
        >>> x.grad.tolist()
        [0.0]
        """
        known, array = self.grad, self.array
        has_zeros = set_to_zero and known is not None
        self._grad = (
            EagerTensor(autograd.no_gradient(array.shape, array.dtype)) if has_zeros else None
        )

    def gradient(self) -> Array | None:
        """The gradient as a NumPy array, None before `backward`.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> (x * x).backward()
        >>> x.gradient()
        array([6.], dtype=float32)
        """
        return None if self.grad is None else np.asarray(self.grad)

    @property
    def grad_fn(self) -> Node | None:
        """What the tape has of the operator that made the tensor, None for leaves.

        >>> x = dy2st.to_tensor([3.0], stop_gradient=False)
        >>> x.grad_fn is None, (x * x).grad_fn is None
        (True, False)
        """
        self._refuse_while_traced("grad_fn")
        return None if self.stopped else self.node

    # -- the numbers alone -------------------------------------------------------------------

    @property
    def data(self) -> Any:
        """The numbers without gradients: a tensor that shares them with this one.

        >>> x = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> x.data.fill_(3.0) is not x, x.tolist()
        (True, [3.0])
        """
        return F.detach(self) if current_tracer() is None else data_of_tensor(self)

    @data.setter
    def data(self, value: Any) -> None:
        if current_tracer() is not None:
            self.set_value(value)
            return
        self.put(np.array(value.array if isinstance(value, EagerTensor) else value))

    # -- changes -----------------------------------------------------------------------------

    @without_own_frames
    def set_value(self, value: Any) -> None:
        """Replace the data by an array or tensor of the same shape; the dtype stays.

        Raises ShapeError for another shape.

        >>> x = dy2st.zeros([2])
        >>> x.set_value(np.array([1, 2]))
        >>> x.tolist(), x.dtype
        ([1.0, 2.0], dtype('float32'))
        """
        tracer = current_tracer()
        if tracer is not None:
            tracer.set_value(self, value)
            return
        array = np.asarray(value.array if isinstance(value, EagerTensor) else value)
        dtype, shape = form_of(self)
        if array.shape != shape:
            raise ShapeError(f"set_value: shape {list(array.shape)} does not fit {list(shape)}")
        self.put(array.astype(dtype, copy=True))
        if self.node is not None:  # it is no longer what was computed
            self.node, self.index, self.stopped = None, 0, True

    def __getattr__(self, name: str) -> Any:
        """The array of a tensor that an engine keeps, which is fetched now."""
        if name == "array":
            # The slot stays empty: a step of another thread may have another value by now.
            kept = self.resident
            assert kept is not None
            return kept.array
        if name == "resident":  # of a tensor that came out of a file
            return None
        try:
            reason = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise MissingAttribute(reason, name=name, known=partial(dir, type(self)))
        except AttributeError as error:  # goes on, without this frame
            hide_own_frames(error)
            raise

    def keep(self, resident: Resident) -> None:
        """Hold a value that an engine has, and fetch it when somebody looks at the array.

        >>> from dy2st_runtime.resident import Resident
        >>> x = dy2st.zeros([2])
        >>> x.keep(Resident(np.ones(2)))
        >>> x.tolist()
        [1.0, 1.0]
        """
        if self.storage is not None or resident.host_array is not None:
            self.put(resident.array)
        if self.storage is None:
            self.resident = resident
            if resident.host_array is None:
                try:
                    del self.array
                except AttributeError:  # the slot is empty, as it is at most steps
                    return

    def hold(self, result: Array | Resident) -> None:
        """Hold what a run has given: an array, or what an engine keeps.

        >>> x = dy2st.zeros([2])
        >>> x.hold(np.ones(2))
        >>> x.tolist()
        [1.0, 1.0]
        """
        if isinstance(result, Resident):
            self.keep(result)
        else:
            self.put(result)

    def as_resident(self) -> Resident:
        """What an engine has for the value, or what it is to make something of.

        >>> dy2st.ones([2]).as_resident().array.tolist()
        [1.0, 1.0]
        """
        known = self.resident
        # Where nobody has fetched the value the slot is empty: `put` alone writes what it has not
        # read. To look takes long: there may be hundreds of tensors.
        if known is not None and known.host_array is not None:
            array = _array_or_none(self)
            known = known if array is None or known.host_array is array else None
        if known is None:
            known = self.resident = Resident(self.array)
        return known

    def put(self, array: Array) -> None:
        """Hold the elements of another array; so do the tensors that share memory with this one.

        >>> x = dy2st.zeros([4])
        >>> y = x.reshape([2, 2])
        >>> x.put(np.arange(4, dtype="float32"))
        >>> y.tolist()
        [[0.0, 1.0], [2.0, 3.0]]
        """
        if self.storage is None:
            self.array = array
            if self.resident is not None:
                self.resident = Resident(array)
        else:
            self.storage.put(self, array)

    @without_own_frames
    def __setitem__(self, index: Any, value: Any) -> None:
        """Change elements in place, of this tensor and of all that share memory with it."""
        self.replace(lambda old: F.setitem(old, index, value))

    def replace(self, compute: Callable[[Any], Any], is_same_memory: bool = False) -> None:
        """Become what is computed of the tensor as it is; all names mean that from here on.

        What shares memory with it follows, but for the gradients, which stay those of its history.
        Under `no_grad` so they do for this one.
        `is_same_memory`: no element changes, the tensor looks at them in another way.

        >>> x = dy2st.to_tensor([1.0, 2.0])
        >>> x.replace(lambda old: old * 10)
        >>> x.tolist()
        [10.0, 20.0]
        """
        tracer = current_tracer()
        if tracer is not None:
            tracer.replace(self, compute, is_same_memory)
            return
        records = is_grad_enabled()
        if self.node is None and not self.stopped and records:
            refuse_leaf()
        # What was stopped is a constant, even if something was computed for it before.
        old = self.alias(self.array, None if self.stopped else self.node, self.index)
        result = compute(old)
        if records or self.tensor_type != result.tensor_type:
            self.stopped = self.stopped if self.node is None else True
            self.node, self.index = result.node, result.index
            self.stopped = self.stopped and result.stopped
        if is_same_memory:
            self.array = result.array
        else:
            self.put(result.array)

    @without_own_frames
    def _inplace_assign(self, other: Any) -> Any:
        """Become another tensor in place; a leaf takes one that needs no gradients as its value."""
        is_leaf = self.node is None and not self.stopped
        if is_leaf and current_tracer() is None and getattr(other, "stop_gradient", True):
            with no_grad():
                return super()._inplace_assign(other)
        return super()._inplace_assign(other)


class _Retained:
    """A hook that adds the gradient of what a tensor is to its `.grad`."""

    def __init__(self, tensor: EagerTensor) -> None:
        self.tensor = tensor
        self._node = tensor.node

    def __call__(self, gradient: Any) -> None:
        """Nothing if the tensor has been changed in place: it is another value by now."""
        if self.tensor.node is self._node:
            known = self.tensor.grad
            self.tensor.grad = gradient if known is None else F.add(known, gradient)


def _array_or_none(tensor: EagerTensor) -> Array | None:
    """The array, without fetching it."""
    try:
        array: Array = _ARRAY_SLOT.__get__(tensor)
    except AttributeError:
        return None
    return array


def form_of(tensor: EagerTensor) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype and the sizes, without fetching the array."""
    array, kept = _array_or_none(tensor), tensor.resident
    held: Any = kept.value if array is None and kept is not None else array
    return held.dtype, held.shape


def wrapped(result: Any) -> Any:
    """A tensor on an array, or a list of such results on a list: a result of an engine."""
    if isinstance(result, list):
        return [wrapped(entry) for entry in result]
    if isinstance(result, Resident):
        tensor = EagerTensor(_NO_ARRAY)
        tensor.keep(result)
        return tensor
    return EagerTensor(result)


_NO_ARRAY = np.empty(0)
_ARRAY_SLOT = vars(EagerTensor)["array"]
# Errors of Python's name the class of a value: users know it by this name.
EagerTensor.__name__ = "Tensor"
