"""Walks the tree of a Layer for its state, its dtype and its mode."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from dy2st_runtime.errors import ArgumentError, ParameterMismatch, ShapeError
from dy2st_runtime.ir import Tensor, current_tracer
from dy2st_runtime.ir.arguments import as_dtype
from dy2st_runtime.ir.location import warn_user, with_methods_without_own_frames
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.nn.tables import STORES, Table, attribute_changes, count_change
from dy2st_runtime.nn.torch_weights import in_our_layout, is_from_torch
from dy2st_runtime.place import as_place
from dy2st_runtime.tensor import EagerTensor, Parameter

Own = TypeVar("Own", bound="LayerTree")
State = dict[str, EagerTensor]


def note_change(layer: Any = None) -> None:
    """Count a change of an attribute of a Layer.

    Who traces is notified before, unless it was made in the Block that is recorded now.
    """
    count_change()
    tracer = None if layer is None else current_tracer()
    if tracer is not None and tracer.host is not None:
        _, block = tracer.made.get(id(layer), (None, None))
        if block is not tracer.block:
            tracer.host.before_changed(layer)


def store_of(value: Any) -> str:
    """The store in which a Layer registers a value that becomes an attribute; empty if in none."""
    if isinstance(value, (LayerTree, Parameter)):
        return "_parameters" if isinstance(value, Parameter) else "_sub_layers"
    is_tensor = isinstance(value, Tensor) and getattr(value, "number", None) is None
    return "_buffers" if is_tensor else ""


def with_written(store: str, held: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """What a store holds once attributes are set; None where one is none of this store any more."""
    found = dict(held)
    for name, value in written.items():
        if store_of(value) == store:
            found[name] = value
        elif name in found:
            found[name] = None  # it keeps its place, if it comes back
    return found


def stores_of(layer: Any) -> list[Table]:
    """The tables of a Layer, of what it holds."""
    names = (*STORES, "_forward_pre_hooks", "_forward_post_hooks")
    return [layer.__dict__[name] for name in names if name in layer.__dict__]


def hooks_of(layer: Any) -> tuple[Any, ...]:
    """The hooks of a Layer, in order, and which of them take keywords."""
    if not layer._forward_pre_hooks and not layer._forward_post_hooks:
        return ()
    hooks = (*layer._forward_pre_hooks.items(), *layer._forward_post_hooks.items())
    return (len(layer._forward_pre_hooks), *hooks, *sorted(layer._hooks_with_kwargs))


@with_methods_without_own_frames
class LayerTree:
    """The part of Layer that knows its stores and walks through them."""

    _parameters: Table
    _buffers: Table
    _sub_layers: Table
    _state_dict_hooks: Table
    _non_persistable_buffer_names_set: set[str]
    _transposed_in_torch: tuple[str, ...] = ()
    _names_in_torch: Mapping[str, tuple[str, ...]] = {}

    # -- walking -----------------------------------------------------------------------------

    def _held(self, store: str) -> Mapping[str, Any]:
        """What a store holds; while a function is traced, as its code has set it."""
        tracer = current_tracer()
        host = None if tracer is None else tracer.host
        held: Mapping[str, Any] = getattr(self, store)
        return held if host is None else host.stored(self, store)

    def named_sublayers(
        self,
        prefix: str = "",
        include_self: bool = False,
        layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        """Every Layer inside, outer before inner, with its dotted name.

        Each once, unless `remove_duplicate` is False; those in `layers_set` are left out and the
        others added to it.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Sequential(dy2st.nn.ReLU()))
        >>> [name for name, _ in net.named_sublayers()]
        ['0', '0.0']
        """
        seen = set() if layers_set is None else layers_set
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        if include_self:
            yield prefix, self
        for name, layer in self.named_children():
            inner = f"{prefix}.{name}" if prefix else name
            yield from layer.named_sublayers(inner, True, seen, remove_duplicate)

    def sublayers(self, include_self: bool = False) -> list[Any]:
        """Every Layer inside, each once.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Sequential(dy2st.nn.ReLU()), dy2st.nn.Tanh())
        >>> len(net.sublayers()), len(net.sublayers(include_self=True))
        (3, 4)
        """
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The Layers directly inside, with their names.

        >>> [name for name, _ in dy2st.nn.Sequential(dy2st.nn.ReLU()).named_children()]
        ['0']
        """
        held = [*self._held("_sub_layers").items()]
        yield from ((name, layer) for name, layer in held if layer is not None)

    def children(self) -> Iterator[Any]:
        """The Layers directly inside.

        >>> list(dy2st.nn.Sequential(dy2st.nn.ReLU()).children())
        [ReLU()]
        """
        return (layer for _, layer in self.named_children())

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Every Parameter once, with its dotted name.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Linear(2, 3))
        >>> [(name, one.shape) for name, one in net.named_parameters()]
        [('0.weight', [2, 3]), ('0.bias', [3])]
        """
        return self._named("_parameters", prefix, include_sublayers, remove_duplicate)

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, EagerTensor]]:
        """Every buffer once, with its dotted name.

        >>> [name for name, _ in dy2st.nn.BatchNorm1D(3).named_buffers()]
        ['_mean', '_variance']
        """
        return self._named("_buffers", prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """Every Parameter once.

        >>> sum(one.size for one in dy2st.nn.Linear(2, 3).parameters())
        9
        """
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def buffers(self, include_sublayers: bool = True) -> list[EagerTensor]:
        """Every buffer once.

        >>> len(dy2st.nn.BatchNorm1D(3).buffers())
        2
        """
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def _named(
        self, store: str, prefix: str, inside: bool, once: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        walk = self.named_sublayers(prefix, True, remove_duplicate=once)
        layers = walk if inside else iter([(prefix, self)])
        for path, layer in layers:
            for name in layer._held(store):
                tensor = layer._held(store).get(name)  # the loop around may have set it
                if tensor is not None and not (once and id(tensor) in seen):
                    seen.add(id(tensor))
                    yield (f"{path}.{name}" if path else name), tensor

    def get_sublayer(self, target: str) -> Any:
        """The Layer of a dotted name, this one for ''; AttributeError if there is none.

        >>> dy2st.nn.Sequential(dy2st.nn.Sequential(dy2st.nn.ReLU())).get_sublayer("0.0")
        ReLU()
        """
        layer: Any = self
        for name in target.split(".") if target else ():
            layer = getattr(layer, name)
            if not isinstance(layer, LayerTree):
                raise AttributeError(f"{name!r} in {target!r} is no Layer")
        return layer

    get_submodule = get_sublayer

    def get_parameter(self, target: str) -> Parameter:
        """The Parameter of a dotted name; AttributeError if there is none.

        >>> dy2st.nn.Sequential(dy2st.nn.Linear(2, 3)).get_parameter("0.bias").shape
        [3]
        """
        path, _, name = target.rpartition(".")
        found = getattr(self.get_sublayer(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"{target!r} is no Parameter")
        return found

    def get_buffer(self, target: str) -> EagerTensor:
        """The buffer of a dotted name; AttributeError if there is none.

        >>> dy2st.nn.BatchNorm1D(3).get_buffer("_mean").shape
        [3]
        """
        path, _, name = target.rpartition(".")
        owner = self.get_sublayer(path)
        buffer: EagerTensor | None = owner._held("_buffers").get(name)
        if buffer is None:
            raise AttributeError(f"{target!r} is no buffer")
        return buffer

    def modules(self) -> Iterator[Any]:
        """This Layer and every one inside, each once.

        >>> [type(one).__name__ for one in dy2st.nn.Sequential(dy2st.nn.ReLU()).modules()]
        ['Sequential', 'ReLU']
        """
        yield from self.sublayers(include_self=True)

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """`named_sublayers` with this Layer.

        >>> [name for name, _ in dy2st.nn.Sequential(dy2st.nn.ReLU()).named_modules()]
        ['', '0']
        """
        return self.named_sublayers(prefix, True, memo, remove_duplicate)

    # -- state -------------------------------------------------------------------------------

    def state_dict(
        self,
        destination: State | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> State:
        """Parameters and persistable buffers by dotted name: the live tensors, not copies.

        They are put into `destination` if one is given, with the prefix before their names. With
        `keep_vars=False` they are detached. Hooks of `register_state_dict_hook` see the result.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Linear(2, 3))
        >>> {name: tensor.shape for name, tensor in net.state_dict().items()}
        {'0.weight': [2, 3], '0.bias': [3]}
        """
        wanted = "persistable"
        return self._state(
            destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, wanted
        )

    def to_static_state_dict(
        self,
        destination: State | None = None,
        include_sublayers: bool = True,
        structured_name_prefix: str = "",
        use_hook: bool = True,
        keep_vars: bool = True,
    ) -> State:
        """`state_dict` with the buffers that are not persistable.

        >>> net = dy2st.nn.Layer()
        >>> net.register_buffer("seen", dy2st.zeros([]), persistable=False)
        >>> list(net.state_dict()), list(net.to_static_state_dict())
        ([], ['seen'])
        """
        return self._state(
            destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, "all"
        )

    def _state(
        self,
        destination: State | None,
        inside: bool,
        prefix: str,
        use_hook: bool,
        keep_vars: bool,
        wanted: str,
    ) -> State:
        state: State = {} if destination is None else destination
        for name, tensor in (*self._held("_parameters").items(), *self._held("_buffers").items()):
            kept = wanted == "all" or name not in self._non_persistable_buffer_names_set
            if tensor is not None and kept:
                state[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, layer in self.named_children() if inside else ():
            inner = f"{prefix}{name}."
            layer._state(state, inside, inner, use_hook, keep_vars, wanted)
        for hook in tuple(self._state_dict_hooks.values()) if use_hook else ():
            changed = hook(state)
            state = state if changed is None else changed
        return state

    def set_state_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """Copy values by name into this Layer's parameters and buffers.

        Gives the names that are missing from the state and those that are unknown here, with a
        warning if there are any. ShapeError if a shape differs; then nothing is changed. Without
        `use_structured_name` the names are those of the tensors. Tensors that `load` has read from
        a file of torch may have its names, and weights of a Linear lie as [out, in] there: they
        are transposed.

        >>> one, other = dy2st.nn.Linear(2, 3), dy2st.nn.Linear(2, 3)
        >>> other.set_state_dict(one.state_dict())
        ([], [])
        >>> bool((one.weight == other.weight).all())
        True
        """
        own = self.state_dict(use_hook=False)
        if use_structured_name:
            state_dict = in_our_layout(self, own, state_dict)
        elif any(map(is_from_torch, state_dict.values())):
            raise ArgumentError("a state of torch has the names of a structure, not of tensors")
        names = {n: n if use_structured_name else own[n].name for n in own}
        found = {n: state_dict[name] for n, name in names.items() if name in state_dict}
        for name, value in found.items():
            shape = list(np.shape(value))
            if shape != own[name].shape:
                wanted = own[name].shape
                misfit = f"{name!r} has shape {wanted}, the state has {shape}"
                if len(wanted) == 2 and shape == wanted[::-1]:
                    misfit += (
                        ": it lies the other way round, as torch keeps the weights of a Linear, "
                        "[out, in]; here they are [in, out], as in PaddlePaddle: "
                        f"give state[{name!r}].T"
                    )
                raise ShapeError(misfit)
        for name, value in found.items():
            own[name].set_value(value)
        known = set(names.values())
        filled = {id(own[name]) for name in found}  # under another of its names perhaps
        missing = [name for n, name in names.items() if id(own[n]) not in filled]
        unknown = [name for name in state_dict if name not in known]
        if missing or unknown:
            warn_user(
                f"the state does not fit {type(self).__name__} in all: "
                f"missing {missing or 'nothing'}, unknown {unknown or 'nothing'}"
            )
        return missing, unknown

    def transposed_in_torch(self) -> set[int]:
        """The parameters, by id, that torch's Layers of the same kinds have transposed."""
        return {
            id(layer._parameters.get(name))
            for layer in self.sublayers(include_self=True)
            for name in layer._transposed_in_torch
        }

    def set_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """`set_state_dict`.

        >>> one, other = dy2st.nn.Linear(2, 3), dy2st.nn.Linear(2, 3)
        >>> one.set_dict(other.state_dict())
        ([], [])
        """
        return self.set_state_dict(state_dict, use_structured_name)

    def load_dict(
        self, state_dict: Mapping[str, Any], use_structured_name: bool = True
    ) -> tuple[list[str], list[str]]:
        """`set_state_dict`.

        >>> one, other = dy2st.nn.Linear(2, 3), dy2st.nn.Linear(2, 3)
        >>> one.load_dict(other.state_dict())
        ([], [])
        """
        return self.set_state_dict(state_dict, use_structured_name)

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True
    ) -> tuple[list[str], list[str]]:
        """`set_state_dict`; ParameterMismatch if it is `strict` and names do not fit.

        >>> net = dy2st.nn.Linear(2, 3)
        >>> net.load_state_dict({"weight": np.ones((2, 3), "float32")})  # doctest: +ELLIPSIS
        Traceback (most recent call last):
            ...
        dy2st_runtime.errors.ParameterMismatch: the state does not fit Linear: missing ['bias']...
        """
        own = self.state_dict(use_hook=False)
        state_dict = in_our_layout(self, own, state_dict)
        given = {id(tensor) for name, tensor in own.items() if name in state_dict}
        missing = [name for name, tensor in own.items() if id(tensor) not in given]
        unknown = [name for name in state_dict if name not in own]
        if strict and (missing or unknown):
            raise ParameterMismatch(
                f"the state does not fit {type(self).__name__}: "
                f"missing {missing or 'nothing'}, unknown {unknown or 'nothing'}"
            )
        return self.set_state_dict(state_dict)

    # -- mode, device and dtype --------------------------------------------------------------

    def train(self: Own, mode: bool = True) -> Own:
        """Training mode, or inference mode, here and in all sublayers; gives the Layer.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Dropout(0.5))
        >>> net.train(False)[0].training
        False
        """
        return self._set_mode(bool(mode))

    def eval(self: Own) -> Own:
        """Inference mode, here and in all sublayers; gives the Layer.

        >>> dy2st.nn.Dropout(0.5).eval()(dy2st.ones([3])).tolist()
        [1.0, 1.0, 1.0]
        """
        return self._set_mode(False)  # a `train` of the user's may take no mode

    def _set_mode(self: Own, mode: bool) -> Own:
        others = [one for one in self.sublayers(include_self=True) if one.training is not mode]
        if others:
            note_change(self)
        for layer in others:
            object.__setattr__(layer, "training", mode)
        return self

    def apply(self: Own, fn: Callable[[Any], Any]) -> Own:
        """Call `fn` on every Layer inside, inner before outer, and on this one.

        >>> net = dy2st.nn.Sequential(dy2st.nn.ReLU())
        >>> _ = net.apply(lambda layer: print(type(layer).__name__))
        ReLU
        Sequential
        """
        for layer in self.sublayers(include_self=True)[::-1]:
            fn(layer)
        return self

    def to(
        self: Own,
        device: Any = None,
        dtype: Any = None,
        blocking: bool | None = None,
        non_blocking: bool | None = None,
    ) -> Own:
        """Change the dtype of all floating parameters and buffers; a device must be here.

        Converted functions bring them there. A dtype may be the first argument too. `blocking` and
        `non_blocking` have no effect.

        >>> dy2st.nn.Linear(2, 3).to(dtype="float64").weight.dtype
        dtype('float64')
        """
        if device is not None and dtype is None and not _is_device(device):
            device, dtype = None, device
        if device is not None:
            as_place(device)
        return self if dtype is None else self._cast(as_dtype(dtype), ())

    def astype(self: Own, dtype: Any = None) -> Own:
        """`to(dtype=dtype)`.

        >>> dy2st.nn.Linear(2, 3).astype("float64").weight.dtype
        dtype('float64')
        """
        return self.to(dtype=dtype)

    def float(self: Own, excluded_layers: Any = None) -> Own:
        """float32 for all floating parameters and buffers but those of the excluded classes.

        >>> dy2st.nn.Linear(2, 3).double().float().weight.dtype
        dtype('float32')
        """
        return self._cast(np.dtype("float32"), excluded_layers)

    def float16(self: Own, excluded_layers: Any = None) -> Own:
        """float16 for all floating parameters and buffers but those of the excluded classes.

        >>> net = dy2st.nn.Sequential(dy2st.nn.Linear(2, 3), dy2st.nn.LayerNorm(3))
        >>> net = net.float16(excluded_layers=dy2st.nn.LayerNorm)
        >>> net[0].weight.dtype, net[1].weight.dtype
        (dtype('float16'), dtype('float32'))
        """
        return self._cast(np.dtype("float16"), excluded_layers)

    def bfloat16(self: Own, excluded_layers: Any = None) -> Own:
        """bfloat16 for all floating parameters and buffers but those of the excluded classes."""
        return self._cast(as_dtype("bfloat16"), excluded_layers)

    def half(self: Own) -> Own:
        """`float16()`.

        >>> dy2st.nn.Linear(2, 3).half().weight.dtype
        dtype('float16')
        """
        return self.float16()

    def double(self: Own) -> Own:
        """float64 for all floating parameters and buffers.

        >>> dy2st.nn.Linear(2, 3).double().weight.dtype
        dtype('float64')
        """
        return self._cast(np.dtype("float64"), ())

    def cpu(self: Own) -> Own:
        """This Layer: tensors live on the CPU.

        >>> net = dy2st.nn.Linear(2, 3)
        >>> net.cpu() is net
        True
        """
        return self

    def cuda(self: Own, device: Any = None) -> Own:
        """ArgumentError: tensors live on the CPU."""
        return self.to("gpu")

    def xpu(self: Own, device: Any = None) -> Own:
        """ArgumentError: tensors live on the CPU."""
        return self.to("xpu")

    def type(self: Own, dst_type: Any) -> Own:
        """`to(dtype=dst_type)`.

        >>> dy2st.nn.Linear(2, 3).type("float64").weight.dtype
        dtype('float64')
        """
        return self._cast(as_dtype(dst_type), ())

    def _cast(self: Own, wanted: Any, excluded: Any) -> Own:
        note_change(self)
        # The classes that stand for Layers or classes of Layers.
        kinds = (
            excluded
            if isinstance(excluded, (list, tuple))
            else ()
            if excluded is None
            else (excluded,)
        )
        classes = [entry if isinstance(entry, type) else type(entry) for entry in kinds]
        kept = tuple(classes)
        for layer in self.sublayers(include_self=True):
            if isinstance(layer, kept):
                continue
            for tensor in (*layer._parameters.values(), *layer._buffers.values()):
                if tensor is not None and is_floating(tensor.array.dtype):
                    tensor.array = tensor.array.astype(wanted)
            object.__setattr__(layer, "_dtype", wanted)
        return self

    # -- gradients ---------------------------------------------------------------------------

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or forget them.

        >>> net = dy2st.nn.Linear(2, 1)
        >>> net(dy2st.ones([1, 2])).backward()
        >>> net.clear_gradients()
        >>> net.bias.grad.tolist()
        [0.0]
        """
        for parameter in self.parameters():
            parameter.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero.

        >>> net = dy2st.nn.Linear(2, 1)
        >>> net(dy2st.ones([1, 2])).backward()
        >>> net.zero_grad()
        >>> net.bias.grad is None
        True
        """
        self.clear_gradients(not set_to_none)

    def requires_grad_(self: Own, requires_grad: bool = True) -> Own:
        """Let all parameters need gradients, or none.

        >>> [one.stop_gradient for one in dy2st.nn.Linear(2, 3).requires_grad_(False).parameters()]
        [True, True]
        """
        for parameter in self.parameters():
            parameter.stop_gradient = not requires_grad
        return self


def _is_device(value: Any) -> bool:
    """Whether the first argument of `to` is a device and no dtype."""
    if not isinstance(value, str):
        return not isinstance(value, (type, np.dtype))
    return value.partition(":")[0] in ("cpu", "gpu", "cuda", "tpu", "xpu", "npu")


__all__ = ["LayerTree", "attribute_changes", "hooks_of", "note_change", "stores_of", "with_written"]
