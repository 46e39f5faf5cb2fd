"""Layer: parameters, buffers and sublayers under one roof, called like a function."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from dy2st_runtime.errors import ConversionError, ParameterMismatch, ShapeError
from dy2st_runtime.ir import Tensor, current_tracer, user_location
from dy2st_runtime.ir.choice import Choice
from dy2st_runtime.ir.location import warn_user
from dy2st_runtime.ir.tracebacks import hide_own_frames
from dy2st_runtime.nn.initializer import Constant, Initializer, XavierUniform
from dy2st_runtime.tensor import EagerTensor, Parameter

AnyLayer = TypeVar("AnyLayer", bound="Layer")
Hook = Callable[..., Any]

_changes = 0


def attribute_changes() -> int:
    """How often an attribute of any Layer was set: as long as it stays, no Layer has changed."""
    return _changes


def _note_change() -> None:
    global _changes
    _changes += 1


def note_other_buffers() -> None:
    """Note that buffers were set past the methods of their Layers, to tensors of another kind."""
    _note_change()


# What turns a user's function into its converted form while a function is traced. The compiler
# sets it; the runtime alone never traces.
_converter: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = [lambda function: function]


def install_converter(convert: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Set what converts forwards and hooks that a Layer calls while a function is traced."""
    _converter[0] = convert


def converted(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a Layer calls instead of the user's function: while one is traced, its own form."""
    return function if current_tracer() is None else _converter[0](function)


class ParamAttr:
    """Wishes about a parameter: its name, first values, and whether it is trained."""

    def __init__(
        self,
        name: str | None = None,
        initializer: Initializer | None = None,
        learning_rate: float = 1.0,
        trainable: bool = True,
    ):
        """Keep the wishes; `learning_rate` is a factor on the optimizer's."""
        self.name = name
        self.initializer = initializer
        self.learning_rate = learning_rate
        self.trainable = trainable


class HookRemover:
    """Takes a hook away again."""

    def __init__(self, hooks: dict[int, Hook], key: int):
        """Remember where the hook is."""
        self._hooks, self._key = hooks, key

    def remove(self) -> None:
        """Remove the hook; a second time does nothing."""
        if self._hooks.pop(self._key, None) is not None:
            _note_change()


def _misfit(name: str, own: list[Any], given: list[int]) -> str:
    what = f"{name!r} has shape {own}, the state has {given}"
    if len(own) != 2 or given != own[::-1]:
        return what
    return (
        f"{what}: it lies the other way round, as torch keeps the weights of a Linear, [out, in]; "
        f"here they are [in, out], as in PaddlePaddle: give state[{name!r}].T"
    )


class Layer:
    """Base of all layers and models.

    Assigning a Parameter, a Layer or a tensor to an attribute registers it: as parameter, sublayer
    or buffer.

    >>> class Double(Layer):
    ...     def forward(self, x):
    ...         return x * 2
    >>> Double()(3)
    6
    """

    training: bool

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32"):
        """Start empty and in training mode."""
        set_plain = object.__setattr__
        set_plain(self, "_parameters", OrderedDict())
        set_plain(self, "_buffers", OrderedDict())
        set_plain(self, "_sub_layers", OrderedDict())
        set_plain(self, "_not_persistable", set())
        set_plain(self, "_pre_hooks", OrderedDict())
        set_plain(self, "_post_hooks", OrderedDict())
        set_plain(self, "_hook_count", 0)
        set_plain(self, "_dtype", np.dtype(dtype))
        set_plain(self, "_name", name_scope or type(self).__name__.lower())
        set_plain(self, "training", True)

    # -- calling -----------------------------------------------------------------------------

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the outputs; every model writes its own."""
        raise NotImplementedError(f"{type(self).__name__} has no forward()")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        """Run the pre hooks, `forward`, and the post hooks."""
        if current_tracer() is not None:
            return self._call(inputs, kwargs)
        try:
            return self._call(inputs, kwargs)
        except BaseException as error:  # goes on, without our frames
            hide_own_frames(error)
            raise

    def _call(self, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        convert = _converter[0] if current_tracer() is not None else _unchanged
        for hook in tuple(self._pre_hooks.values()):
            changed = convert(hook)(self, inputs)
            if changed is not None:
                inputs = changed if isinstance(changed, tuple) else (changed,)
        outputs = convert(self.forward)(*inputs, **kwargs)
        for hook in tuple(self._post_hooks.values()):
            changed = convert(hook)(self, inputs, outputs)
            if changed is not None:
                outputs = changed
        return outputs

    def register_forward_pre_hook(self, hook: Hook) -> HookRemover:
        """Call `hook(layer, inputs)` before forward; what it returns replaces the inputs."""
        return self._register(self._pre_hooks, hook)

    def register_forward_post_hook(self, hook: Hook) -> HookRemover:
        """Call `hook(layer, inputs, outputs)` after; what it returns replaces the outputs."""
        return self._register(self._post_hooks, hook)

    def _register(self, hooks: dict[int, Hook], hook: Hook) -> HookRemover:
        object.__setattr__(self, "_hook_count", self._hook_count + 1)
        hooks[self._hook_count] = hook
        _note_change()
        return HookRemover(hooks, self._hook_count)

    # -- attributes --------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """Parameters, buffers and sublayers by name."""
        for store in ("_parameters", "_buffers", "_sub_layers"):
            entries = self.__dict__.get(store)
            if entries is not None and name in entries:
                return entries[name]
        hint = "" if "_parameters" in self.__dict__ else "; call super().__init__() first"
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        """Register Parameters, Layers and tensors; keep everything else as it is."""
        _note_change()
        store = self._store_for(value)
        if current_tracer() is not None:
            self._set_while_tracing(name, value)
            return
        if store is None and not (value is None and name in self._buffers):
            self._forget(name)
            object.__setattr__(self, name, value)
            return
        if value is None:
            self._buffers[name] = None
            return
        if store is not self._store_of(name):
            self._forget(name)
        self.__dict__.pop(name, None)
        assert store is not None
        store[name] = value

    def __delattr__(self, name: str) -> None:
        """Remove an attribute or what is registered under the name."""
        if self._store_of(name) is None:
            object.__delattr__(self, name)
        else:
            self._forget(name)

    def __dir__(self) -> list[str]:
        """Registered names too."""
        return [
            *super().__dir__(),
            *self._parameters,
            *self._buffers,
            *self._sub_layers,
        ]

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the attributes of a copied or loaded Layer; its converted methods become mine."""
        for name, value in state.items():
            rebind = getattr(value, "bound_to", None)
            self.__dict__[name] = value if rebind is None else rebind(self)

    def _store_for(self, value: Any) -> dict[str, Any] | None:
        """Where a value of this kind is registered, None for plain attributes."""
        if not isinstance(value, (EagerTensor, Layer)):
            return None
        if "_parameters" not in self.__dict__:
            raise AttributeError(
                f"{type(self).__name__}.__init__ assigns a tensor or Layer before "
                "super().__init__() is called"
            )
        if isinstance(value, Parameter):
            return self._parameters  # type: ignore[no-any-return]
        return self._sub_layers if isinstance(value, Layer) else self._buffers  # type: ignore[no-any-return]

    def _store_of(self, name: str) -> dict[str, Any] | None:
        """Where a name is registered now."""
        for store in (self._parameters, self._buffers, self._sub_layers):
            if name in store:
                return store  # type: ignore[no-any-return]
        return None

    def _forget(self, name: str) -> None:
        _note_change()
        store = self._store_of(name) if "_parameters" in self.__dict__ else None
        if store is None:
            return
        if store is self._buffers:
            self._announce(name)
        del store[name]
        self._not_persistable.discard(name)

    def _set_while_tracing(self, name: str, value: Any) -> None:
        """Buffers take traced tensors; anything else needs a trace for every call: say so."""
        is_tensor = isinstance(value, Tensor) and getattr(value, "number", None) is None
        if name in self._buffers and (is_tensor or value is None or isinstance(value, Choice)):
            self._announce(name)
            self._buffers[name] = value
            return
        if isinstance(value, (Tensor, Layer)) or name in self._buffers:
            kind = "Layer" if isinstance(value, Layer) else "tensor" if is_tensor else "number"
            raise ConversionError(
                f"the attribute {name!r} of {type(self).__name__} is set to a {kind} while the "
                "function is traced",
                at=user_location(),
                why="a Program keeps values between calls only in registered buffers",
                hint=f"register_buffer({name!r}, ...) in __init__, or return the value",
            )
        warn_user(
            f"the attribute {name!r} of {type(self).__name__} is set while the "
            "function is traced, so every call traces it anew, which takes long. "
            "Keep the value in a buffer (register_buffer) if it must change at every call."
        )
        object.__setattr__(self, name, value)

    def _announce(self, name: str) -> None:
        """Who traces is told that a buffer becomes another tensor, and has to put it back."""
        tracer = current_tracer()
        if tracer is not None and tracer.before_rebound is not None:
            tracer.before_rebound(self, name)

    # -- registering -------------------------------------------------------------------------

    def create_parameter(
        self,
        shape: Any,
        attr: ParamAttr | Initializer | bool | None = None,
        dtype: Any = None,
        is_bias: bool = False,
        default_initializer: Initializer | None = None,
    ) -> Parameter | None:
        """A new Parameter, not yet registered; None if `attr` is False.

        Without an initializer weights are Xavier-uniform and biases zero.
        """
        if attr is False:
            return None
        if current_tracer() is not None:
            raise ConversionError(
                "a Layer makes a parameter while the function is traced",
                at=user_location(),
                why="its first values would be drawn at conversion, not at every call",
                hint="make Layers in __init__",
            )
        if isinstance(attr, Initializer):
            attr = ParamAttr(initializer=attr)
        wishes = attr if isinstance(attr, ParamAttr) else ParamAttr()
        initializer = (
            wishes.initializer
            or default_initializer
            or (Constant(0.0) if is_bias else XavierUniform())
        )
        array = initializer(tuple(int(size) for size in shape), np.dtype(dtype or self._dtype))
        return Parameter(array, trainable=wishes.trainable, name=wishes.name or "")

    def add_parameter(self, name: str, parameter: Parameter | None) -> Parameter | None:
        """Register a Parameter under a name."""
        if parameter is not None and not isinstance(parameter, Parameter):
            raise TypeError(f"add_parameter takes a Parameter, not {type(parameter).__name__}")
        if parameter is None:
            object.__setattr__(self, name, None)
        else:
            setattr(self, name, parameter)
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Register a Layer under a name."""
        if not isinstance(sublayer, Layer):
            raise TypeError(f"add_sublayer takes a Layer, not {type(sublayer).__name__}")
        self._forget(name)
        self._sub_layers[name] = sublayer
        return sublayer

    def register_buffer(
        self, name: str, tensor: EagerTensor | None, persistable: bool = True
    ) -> None:
        """Register a tensor that is part of the model but not trained.

        With `persistable=False` it is not part of `state_dict`.
        """
        if tensor is not None and not isinstance(tensor, EagerTensor):
            raise TypeError(f"register_buffer takes a tensor, not {type(tensor).__name__}")
        if name in self.__dict__ or self._store_of(name) not in (None, self._buffers):
            raise KeyError(f"{type(self).__name__} has an attribute {name!r} already")
        self._buffers[name] = tensor
        if persistable:
            self._not_persistable.discard(name)
        else:
            self._not_persistable.add(name)

    # -- walking -----------------------------------------------------------------------------

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, _seen: set[int] | None = None
    ) -> Iterator[tuple[str, Layer]]:
        """Every Layer inside, outer before inner, each once, with its dotted name."""
        seen = set() if _seen is None else _seen
        if id(self) in seen:
            return
        seen.add(id(self))
        if include_self:
            yield prefix, self
        for name, layer in self._sub_layers.items():
            if layer is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from layer.named_sublayers(inner, True, seen)

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """Every Layer inside, each once."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The Layers directly inside, with their names."""
        return iter([(n, layer) for n, layer in self._sub_layers.items() if layer is not None])

    def children(self) -> Iterator[Layer]:
        """The Layers directly inside."""
        return (layer for _, layer in self.named_children())

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Every Parameter once, with its dotted name."""
        return self._named("_parameters", prefix, include_sublayers)

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True
    ) -> Iterator[tuple[str, EagerTensor]]:
        """Every buffer once, with its dotted name."""
        return self._named("_buffers", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Parameter]:
        """Every Parameter once."""
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def buffers(self, include_sublayers: bool = True) -> list[EagerTensor]:
        """Every buffer once."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def _named(self, store: str, prefix: str, inside: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        layers = self.named_sublayers(prefix, True) if inside else iter([(prefix, self)])
        for path, layer in layers:
            for name, tensor in getattr(layer, store).items():
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield (f"{path}.{name}" if path else name), tensor

    # -- state -------------------------------------------------------------------------------

    def state_dict(self, prefix: str = "") -> dict[str, EagerTensor]:
        """Parameters and persistable buffers by dotted name: the live tensors, not copies."""
        state: dict[str, EagerTensor] = {}
        for path, layer in self.named_sublayers(prefix, True):
            for name, tensor in (*layer._parameters.items(), *layer._buffers.items()):
                if tensor is not None and name not in layer._not_persistable:
                    state[f"{path}.{name}" if path else name] = tensor
        return state

    def set_state_dict(self, state: Mapping[str, Any]) -> None:
        """Copy values by name into this Layer's parameters and buffers.

        Raises ParameterMismatch if a name is missing or unknown, ShapeError if a shape differs;
        then nothing is changed.
        """
        own = self.state_dict()
        missing = [name for name in own if name not in state]
        unknown = [name for name in state if name not in own]
        if missing or unknown:
            raise ParameterMismatch(
                f"the state does not fit {type(self).__name__}: "
                f"missing {missing or 'nothing'}, unknown {unknown or 'nothing'}"
            )
        for name, tensor in own.items():
            shape = list(np.shape(state[name]))
            if shape != tensor.shape:
                raise ShapeError(_misfit(name, tensor.shape, shape))
        for name, tensor in own.items():
            tensor.set_value(state[name])

    load_dict = set_state_dict

    def train(self: AnyLayer) -> AnyLayer:
        """Training mode, here and in all sublayers."""
        return self._set_training(True)

    def eval(self: AnyLayer) -> AnyLayer:
        """Inference mode, here and in all sublayers."""
        return self._set_training(False)

    def _set_training(self: AnyLayer, training: bool) -> AnyLayer:
        for layer in self.sublayers(include_self=True):
            object.__setattr__(layer, "training", training)
        _note_change()
        return self

    def apply(self: AnyLayer, function: Callable[[Layer], Any]) -> AnyLayer:
        """Call `function` on every Layer inside, inner before outer, and on this one."""
        for layer in self.sublayers(include_self=True)[::-1]:
            function(layer)
        return self

    def to(self: AnyLayer, device: Any = None, dtype: Any = None) -> AnyLayer:
        """Change the dtype of all floating parameters and buffers; the only device is the CPU."""
        if device is not None and str(device) not in ("cpu", "Place(cpu)"):
            raise ValueError(f"there is no device {device!r}: tensors live on the CPU")
        if dtype is not None:
            wanted = np.dtype(dtype)
            for tensor in (*self.parameters(), *self.buffers()):
                if tensor.array.dtype.kind == "f":
                    tensor.array = tensor.array.astype(wanted)
            _note_change()
        return self

    def astype(self: AnyLayer, dtype: Any) -> AnyLayer:
        """`to(dtype=dtype)`."""
        return self.to(dtype=dtype)

    def clear_gradients(self) -> None:
        """Forget the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.clear_grad()

    # -- reading -----------------------------------------------------------------------------

    def full_name(self) -> str:
        """The name given to the Layer, or its class's."""
        return self._name  # type: ignore[no-any-return]

    def extra_repr(self) -> str:
        """What `repr` shows of a Layer's own settings."""
        return ""

    def __repr__(self) -> str:
        """The tree of Layers."""
        lines = [
            f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self.named_children()
        ]
        head = f"{type(self).__name__}({self.extra_repr()}"
        if not lines:
            return head + ")"
        return "\n  ".join([head, *lines]) + "\n)"


def _unchanged(function: Callable[..., Any]) -> Callable[..., Any]:
    return function
