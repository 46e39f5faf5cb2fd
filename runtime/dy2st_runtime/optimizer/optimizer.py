"""The base of all optimizers: groups of parameters, limits, weight decay, steps and state."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from dy2st_runtime import engine as engines
from dy2st_runtime.errors import ArgumentError, DTypeError, ParameterMismatch, WrongKind
from dy2st_runtime.ir import Tensor, current_tracer
from dy2st_runtime.ir.dispatch import announced
from dy2st_runtime.ir.grad_mode import no_grad
from dy2st_runtime.ir.location import without_own_frames
from dy2st_runtime.ir.promotion import autocasting
from dy2st_runtime.ir.types import is_floating
from dy2st_runtime.nn.clip import ClipGradBase
from dy2st_runtime.optimizer.lr import LRScheduler
from dy2st_runtime.optimizer.update_programs import (
    Compute,
    RecordedRule,
    RecordedRules,
    kind_of,
    plain_facts,
)
from dy2st_runtime.parameter_updates import (
    Changing,
    Value,
    full_like,
    gradient_of,
    is_spent,
    put,
    stays,
    tensor_of,
    value_of,
)
from dy2st_runtime.regularizer import L1Decay, L2Decay, WeightDecayRegularizer
from dy2st_runtime.tensor import EagerTensor

if TYPE_CHECKING:
    from typing_extensions import Self

State = dict[str, Value]
Rate = float | LRScheduler
Decay = float | WeightDecayRegularizer | None
Parameters = Iterable[Tensor] | Iterable[dict[str, Any]] | None

Array = np.ndarray[Any, Any]

_HALF = 2  # bytes
_BY_IDENTITY = ("_states", "_master_weights")  # of the parameter


_OF_TORCH = {
    "lr": "learning_rate",
    "params": "parameters",
    "betas": "beta1 and beta2",
    "eps": "epsilon",
}


class Optimizer:
    """Base: limits gradients, adds weight decay to them, and updates every parameter.

    With `multi_precision` parameters of 16 bits are updated in float32, of which a copy is kept.

    Parameters
    ----------
    learning_rate
        a number or a schedule, times the parameter's own `learning_rate`.
    parameters
        the Parameters to train, or groups of them: dicts with `params` and settings that stand
        before the optimizer's, `learning_rate` being a factor.
    weight_decay
        a coefficient of L2Decay, or a regulariser. A parameter's own stands before it.
    grad_clip
        a limit on the gradients, before weight decay is added.

    Examples
    --------
    >>> net = dy2st.nn.Linear(1, 1)
    >>> opt = dy2st.optimizer.SGD(0.1, net.parameters())
    >>> for _ in range(100):
    ...     loss = ((net(dy2st.ones([1, 1])) - 3.0) ** 2).sum()
    ...     loss.backward()
    ...     opt.step()
    ...     opt.clear_grad()
    >>> round(net(dy2st.ones([1, 1])).item(), 3)
    3.0
    """

    # What the optimizer remembers of each parameter: arrays of its shape, zeros at first.
    slots: tuple[str, ...] = ()
    # Said where `update` is written: that each element needs those at its own place alone, and
    # numbers of the settings. Such a rule is recorded once for all parameters.
    is_elementwise: bool
    # What a converted function takes as it is at each call, and never as a constant.
    _changing = Changing({"_learning_rate"})

    @without_own_frames
    def __new__(cls, *_: Any, **named: Any) -> Self:
        """Say what torch's names of the arguments are called here."""
        wrong = [name for name in named if name in _OF_TORCH]
        known = inspect.signature(cls).parameters if wrong else {}
        for name in wrong:
            if name not in known:
                raise WrongKind(f"{cls.__name__}() takes {_OF_TORCH[name]}, not {name}")
        return super().__new__(cls)

    def __init_subclass__(cls, **others: Any) -> None:
        """Let errors of our own constructors show the line of the user alone."""
        super().__init_subclass__(**others)
        if cls.__module__.startswith("dy2st_runtime.") and "__init__" in vars(cls):
            cls.__init__ = without_own_frames(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        parameters: Parameters = None,
        weight_decay: Decay = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        multi_precision: bool = False,
        **settings: Any,
    ):
        """Check and keep; ArgumentError without parameters. `settings` are those of the rule."""
        call = f"{type(self).__name__}(learning_rate, parameters=layer.parameters())"
        if isinstance(learning_rate, (list, tuple, dict, Iterator)):
            raise ArgumentError(
                "the first argument of an optimizer is its learning rate, and parameters were "
                f"given: write {call}"
            )
        if not isinstance(learning_rate, LRScheduler) and not hasattr(learning_rate, "__float__"):
            raise WrongKind(f"a learning rate is a number or a schedule, not {learning_rate!r:.80}")
        is_list = isinstance(parameters, Iterable) or parameters is None
        if isinstance(parameters, (dict, EagerTensor)) or not is_list:
            raise WrongKind(f"parameters is a list of parameters, or of dicts: write {call}")
        self._parameter_list: list[Any] = list(parameters or ())
        if not self._parameter_list:
            raise ArgumentError(f"an optimizer needs parameters to move: write {call}")
        self._learning_rate = learning_rate
        self.regularization = _as_decay(weight_decay)
        self._grad_clip, self._name = grad_clip, name
        self._multi_precision = multi_precision
        rule = {k: float(v) if isinstance(v, np.floating) else v for k, v in settings.items()}
        self._default_dict = {"weight_decay": weight_decay, "grad_clip": grad_clip, **rule}
        # By the identity of the parameter: tensors that stay, whose numbers every step replaces.
        # None before the first step, which a converted function may take on some paths alone.
        self._states: dict[int, dict[str, Any] | None] = {}
        self._master_weights: dict[int, Any] = {}
        self._recorded = RecordedRules()
        self._param_groups: list[Any] = self._parameter_list
        if isinstance(self._parameter_list[0], dict):
            self._param_groups = []
            for group in self._parameter_list:
                self._add_param_group(dict(group))
        for parameter in self._parameters:
            if not isinstance(parameter, EagerTensor):
                raise WrongKind(f"parameters are tensors, not {type(parameter).__name__}")
            self._states[id(parameter)] = None

    def __getstate__(self) -> dict[str, Any]:
        """All of it, for `copy` and `pickle`: a copy of a parameter has another identity."""
        kept = {
            name: [(p, held[id(p)]) for p in self._parameters if id(p) in held]
            for name, held in ((name, getattr(self, name)) for name in _BY_IDENTITY)
        }
        return {**self.__dict__, **kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take what `__getstate__` gave."""
        found = {name: {id(p): held for p, held in state[name]} for name in _BY_IDENTITY}
        self.__dict__.update({**state, **found})

    # -- parameters --------------------------------------------------------------------------

    def _add_param_group(self, param_group: dict[str, Any]) -> None:
        """One more group; ValueError if a parameter of it is in another one."""
        given = param_group["params"]
        members = [given] if isinstance(given, EagerTensor) else list(given)
        known = {id(parameter) for parameter in self._parameters}
        if any(id(parameter) in known for parameter in members):
            raise ArgumentError("a parameter is in more than one group")
        self._param_groups.append({**param_group, "params": members})

    @property
    def _groups(self) -> list[dict[str, Any]]:
        """Groups of parameters, one if none were made."""
        is_grouped = self._param_groups and isinstance(self._param_groups[0], dict)
        return self._param_groups if is_grouped else [{"params": self._param_groups}]

    @property
    def _parameters(self) -> list[Any]:
        """All parameters."""
        return [parameter for group in self._groups for parameter in group["params"]]

    # -- the learning rate -------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate now.

        >>> dy2st.optimizer.SGD(0.5, [dy2st.create_parameter([1], "float32")]).get_lr()
        0.5
        """
        rate = self._learning_rate
        return float(rate() if isinstance(rate, LRScheduler) else rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate; TypeError if a schedule decides it.

        >>> opt = dy2st.optimizer.SGD(0.5, [dy2st.create_parameter([1], "float32")])
        >>> opt.set_lr(0.25)
        >>> opt.get_lr()
        0.25
        """
        if isinstance(self._learning_rate, LRScheduler):
            raise WrongKind("the learning rate is decided by a schedule: set_lr_scheduler")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let a schedule decide the learning rate.

        >>> opt = dy2st.optimizer.SGD(0.5, [dy2st.create_parameter([1], "float32")])
        >>> opt.set_lr_scheduler(dy2st.optimizer.lr.StepDecay(2.0, step_size=1))
        >>> opt.get_lr()
        2.0
        """
        if not isinstance(scheduler, LRScheduler):
            raise WrongKind(f"a schedule is expected, not {type(scheduler).__name__}")
        self._learning_rate = scheduler

    # -- steps -------------------------------------------------------------------------------

    def step(self) -> None:
        """Update every parameter that has a gradient.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> (w * 3.0).backward()
        >>> dy2st.optimizer.SGD(0.5, [w]).step()
        >>> w.tolist()
        [-0.5]
        """
        for group in self._groups:
            pairs = [
                (parameter, gradient)
                for parameter in group["params"]
                if (gradient := gradient_of(parameter)) is not None and not parameter.stop_gradient
            ]
            self._step(pairs, {**self._default_dict, **group}, group)

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> list[Any]:
        """Update the parameters by the gradients that are given with them; an empty list.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> dy2st.optimizer.SGD(0.5, [w]).apply_gradients([(w, dy2st.to_tensor([3.0]))])
        []
        >>> w.tolist()
        [-0.5]
        """
        self._step(params_grads, self._default_dict, {})
        return []

    def _apply_optimize(
        self, loss: Any, startup_program: Any, params_grads: list[tuple[Any, Any]]
    ) -> list[Any]:
        """`apply_gradients`, as optimizers around an optimizer call it."""
        return self.apply_gradients(params_grads)

    def _step(
        self, pairs: list[tuple[Any, Any]], settings: dict[str, Any], group: dict[str, Any]
    ) -> None:
        # A trace reads no clock: its Program would be that of one moment.
        start = None if current_tracer() is not None else perf_counter()
        with no_grad(), autocasting(None), announced("step of an optimizer"):
            if settings["grad_clip"] is not None:
                pairs = settings["grad_clip"](pairs)
            rate = self.get_lr()
            settings = {**settings, "programs": self._programs(settings)}
            has_factor = "learning_rate" in group
            for parameter, gradient in pairs:
                factor = (
                    group["learning_rate"]
                    if has_factor
                    else float(getattr(parameter, "optimize_attr", {}).get("learning_rate", 1.0))
                )
                settings["parameter"] = parameter
                self._move(parameter, value_of(gradient), rate * factor, settings, group)
        if start is not None:
            self._recorded.seconds += perf_counter() - start

    def _move(
        self, parameter: Any, gradient: Value, rate: float, settings: Any, group: Any
    ) -> None:
        """One step of one parameter."""
        weight = self._long(parameter)
        if weight.dtype.kind == "c":
            raise DTypeError(
                f"an optimizer takes no parameter of {weight.dtype}: keep both parts in a real "
                "one, (..., 2), and compute with as_complex(it)"
            )
        if gradient.dtype != weight.dtype:
            gradient = gradient.astype(weight.dtype)
        decay = self._decay_of(parameter, settings, group)
        held = self._states.get(id(parameter))
        if held is None:
            first = self.first_state(weight, settings)
            held = self._states[id(parameter)] = {k: tensor_of(v) for k, v in first.items()}
        rate, settings = self._for_parameter(parameter, rate, settings)
        program = self._program(weight, held, decay, settings)
        new = None if program is None else program.moved(weight, gradient, rate, held)
        if new is None:
            state = {slot: value_of(tensor) for slot, tensor in held.items()}
            new = self._rule(decay, settings)(weight, gradient, rate, state)
            # Remember what a step has made of the state of a parameter.
            if not all(map(stays, held.values())):
                self._states[id(parameter)] = {slot: tensor_of(state[slot]) for slot in held}
            else:
                for slot, tensor in held.items():
                    put(tensor, state[slot])
        # Let a parameter be what it has been updated to.
        weight = new
        if self._is_short(parameter):
            master = self._master_weights.get(id(parameter))
            if master is None:
                self._master_weights[id(parameter)] = tensor_of(weight)
            else:
                put(master, weight)
            weight = weight.astype(parameter.dtype)
        put(parameter, weight)

    def _for_parameter(
        self, parameter: Any, rate: float, settings: dict[str, Any]
    ) -> tuple[float, dict[str, Any]]:
        """The rate and the settings for one parameter."""
        return rate, settings

    def _rule(self, decay: Any, settings: dict[str, Any]) -> Compute:
        """The step of a parameter that decays so."""

        def compute(weight: Value, gradient: Value, rate: Any, state: State) -> Value:
            if decay is not None:
                term = decay(weight)
                decay_term = value_of(term) if isinstance(term, Tensor) else np.asarray(term)
                gradient = gradient + decay_term
            return self.update(weight, gradient, rate, state, settings)

        return compute

    def _program(
        self, weight: Value, held: dict[str, Any], decay: Any, settings: dict[str, Any]
    ) -> RecordedRule | None:
        """The step of a parameter as a recorded Program, where there are any."""
        programs = settings["programs"]
        if programs is None or not weight.size:
            return None
        if decay is not None and type(decay) not in (L1Decay, L2Decay):
            return None
        own = decay and (type(decay), decay.coeff)
        key = own, settings["weight_decay"], kind_of(weight, held)
        if key not in programs:
            state = {slot: tensor.array for slot, tensor in held.items()}
            programs[key] = self._recorded.record(self._rule(decay, settings), weight, state)
        found: RecordedRule | None = programs[key]
        return found

    def _programs(self, settings: dict[str, Any]) -> dict[Any, RecordedRule | None] | None:
        """The Programs of the rule with these settings; None if it is not recorded."""
        if current_tracer() is not None or not engines.makes_code(self._recorded.seconds):
            return None
        owner = next(one for one in type(self).__mro__ if "update" in vars(one))
        if not vars(owner).get("is_elementwise"):  # a subclass of the user's has a rule of its own
            return None
        facts = plain_facts(settings, ("params", "learning_rate", "grad_clip", "weight_decay"))
        return None if facts is None else self._recorded.of(facts)

    def _is_short(self, parameter: Any) -> bool:
        """Whether a parameter is updated in float32, though it is shorter."""
        if not self._multi_precision:
            return False
        return is_floating(parameter.dtype) and bool(parameter.dtype.itemsize == _HALF)

    def _long(self, parameter: Any) -> Value:
        """What a parameter is updated as."""
        if not self._is_short(parameter):
            value = value_of(parameter)
            # NumPy computes with bfloat16 and numbers in float32: so does the Program.
            return value.astype("float32") if value.dtype.kind == "V" else value
        master = self._master_weights.get(id(parameter))
        return value_of(parameter).astype("float32") if master is None else value_of(master)

    def _decay_of(self, parameter: Any, settings: dict[str, Any], group: dict[str, Any]) -> Any:
        """What is added to a gradient: the group's, the parameter's own, or the optimizer's."""
        if "weight_decay" in group:
            return _as_decay(group["weight_decay"])
        own = getattr(parameter, "regularizer", None)
        return self.regularization if own is None else own

    def first_state(self, weight: Value, settings: dict[str, Any]) -> State:
        """What the optimizer remembers of a parameter before its first step.

        >>> opt = dy2st.optimizer.Momentum(0.5, parameters=[dy2st.create_parameter([2], "float32")])
        >>> opt.first_state(np.ones(2, "float32"), {})
        {'velocity': array([0., 0.], dtype=float32)}
        """
        return {slot: full_like(weight, 0.0) for slot in self.slots}

    def update(
        self, weight: Value, gradient: Value, rate: float, state: State, settings: dict[str, Any]
    ) -> Value:
        """The new weight; puts new values into `state`. A rule of one's own writes it.

        All are arrays, and in a converted function tensors: what `updating` has, and the operators
        of Python, compute with both. `settings` holds what the optimizer or the group was given,
        and the `parameter`.

        >>> class Signs(dy2st.optimizer.Optimizer):
        ...     def update(self, weight, gradient, rate, state, settings):
        ...         return weight - rate * (gradient > 0)
        >>> w = dy2st.to_tensor([1.0, 1.0], stop_gradient=False)
        >>> _ = Signs(0.5, [w]).apply_gradients([(w, dy2st.to_tensor([3.0, -3.0]))])
        >>> w.tolist()
        [0.5, 1.0]
        """
        raise NotImplementedError

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients to zero, or forget them.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> (w * 3.0).backward()
        >>> dy2st.optimizer.SGD(0.5, [w]).clear_grad()
        >>> w.grad.tolist()
        [0.0]
        """
        for parameter in self._parameters:
            if not parameter.stop_gradient:
                parameter.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or set them to zero.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> (w * 3.0).backward()
        >>> dy2st.optimizer.SGD(0.5, [w]).zero_grad()
        >>> w.grad is None
        True
        """
        self.clear_grad(not set_to_none)

    def backward(self, loss: Any, *ignored: Any, **named: Any) -> list[tuple[Any, Any]]:
        """`loss.backward()` unless that was done; pairs of parameters and gradients.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> [(_, gradient)] = dy2st.optimizer.SGD(0.5, [w]).backward(w * 3.0)
        >>> gradient.tolist()
        [3.0]
        """
        if not is_spent(loss):
            loss.backward()
        return [(p, p.grad) for p in self._parameters if p.grad is not None]

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: list[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """`loss.backward()` unless that was done, and `step()`, of all or the given parameters.

        Gives an empty list, and pairs of parameters and gradients.

        >>> w = dy2st.to_tensor([1.0], stop_gradient=False)
        >>> _, [(_, gradient)] = dy2st.optimizer.SGD(0.5, [w]).minimize(w * 3.0)
        >>> gradient.tolist(), w.tolist()
        ([3.0], [-0.5])
        """
        left_out = {id(p) for p in no_grad_set or ()}
        wanted = None if parameters is None else {id(p) for p in parameters}
        pairs = [
            (p, gradient)
            for p, gradient in self.backward(loss)
            if id(p) not in left_out and (wanted is None or id(p) in wanted)
        ]
        if parameters is None and not left_out:
            self.step()
        else:
            self.apply_gradients(pairs)
        return [], pairs

    # -- state -------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        """A name for each parameter, its own if no other has it."""
        own = [parameter.name for parameter in self._parameters]
        return [
            name if name and own.count(name) == 1 else f"{name or 'parameter'}_{i}"
            for i, name in enumerate(own)
        ]

    def state_dict(self) -> dict[str, Any]:
        """What is needed to go on later: what is remembered of each parameter, the schedule.

        Entries are called after the parameter: `linear_0.w_0_moment1_0`.

        >>> w = dy2st.create_parameter([1], "float32", name="w")
        >>> opt = dy2st.optimizer.Adam(parameters=[w])
        >>> _ = opt.minimize(w * 3.0)
        >>> list(opt.state_dict())
        ['w_moment1_0', 'w_moment2_0', 'w_beta1_pow_acc_0', 'w_beta2_pow_acc_0']
        """
        state = self.live_state_dict()
        tensors = {key: value for key, value in state.items() if isinstance(value, EagerTensor)}
        state.update({key: EagerTensor(one.array.copy()) for key, one in tensors.items()})
        if "master_weights" in state:
            masters = state["master_weights"].items()
            state["master_weights"] = {k: EagerTensor(one.array.copy()) for k, one in masters}
        return state

    def live_state_dict(self) -> dict[str, Any]:
        """As `state_dict`, with the tensors that the next step changes, which are not copied.

        >>> w = dy2st.create_parameter([1], "float32", name="w")
        >>> opt = dy2st.optimizer.Momentum(parameters=[w])
        >>> _ = opt.minimize(w * 3.0)
        >>> opt.live_state_dict()["w_velocity_0"].tolist()
        [3.0]
        """
        state: dict[str, Any] = {}
        masters: dict[str, Any] = {}
        for name, parameter in zip(self._names(), self._parameters, strict=True):
            for slot, tensor in (self._states.get(id(parameter)) or {}).items():
                state[f"{name}_{slot}_0"] = tensor
            if id(parameter) in self._master_weights:
                masters[name] = self._master_weights[id(parameter)]
        if masters:
            state["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from a `state_dict`; ParameterMismatch if it belongs to other parameters.

        Where the names are those of another model, parameters are taken in their order.

        >>> w = dy2st.create_parameter([1], "float32", name="w")
        >>> opt = dy2st.optimizer.Momentum(parameters=[w])
        >>> opt.set_state_dict({"w_velocity_0": np.full(1, 7.0, "float32")})
        >>> opt.state_dict()["w_velocity_0"].item()
        7.0
        """
        rest = dict(state_dict)
        schedule = rest.pop("LR_Scheduler", None)
        masters = rest.pop("master_weights", {})
        found: dict[int, dict[str, Array]] = {}
        for slot in list(self._state_of(self._parameters[0])):
            # The arrays of one slot by the identity of their parameter; they leave `rest`.
            ending = re.compile(rf"(.*)_{slot}_\d+")
            parameters = dict(zip(self._names(), self._parameters, strict=True))
            named = {m[1]: key for key in rest if (m := ending.fullmatch(key))}
            if not named.keys() <= parameters.keys():
                if len(named) != len(parameters):
                    unknown = next(key for name, key in named.items() if name not in parameters)
                    raise ParameterMismatch(f"{unknown!r} does not fit this optimizer")
                named = dict(zip(parameters, named.values(), strict=True))
            for name, entry in named.items():
                found.setdefault(id(parameters[name]), {})[slot] = np.array(rest.pop(entry))
        if rest:
            raise ParameterMismatch(f"{next(iter(rest))!r} does not fit this optimizer")
        by_id = {id(parameter): parameter for parameter in self._parameters}
        for key, arrays in found.items():
            first = self._state_of(by_id[key])
            for slot, array in arrays.items():
                if array.shape != first[slot].shape:
                    raise ParameterMismatch(
                        f"{by_id[key].name}_{slot} has shape {list(array.shape)} in the state, "
                        f"{list(first[slot].shape)} here: it does not fit this optimizer"
                    )
                first[slot] = array.astype(first[slot].dtype)
            self._states[key] = {slot: EagerTensor(array) for slot, array in first.items()}
        for name, parameter in zip(self._names(), self._parameters, strict=True):
            if name in masters:
                master = EagerTensor(np.array(masters[name], np.float32))
                self._master_weights[id(parameter)] = master
        if isinstance(self._learning_rate, LRScheduler) and schedule is not None:
            self._learning_rate.set_state_dict(schedule)

    load_state_dict = set_state_dict

    def _state_of(self, parameter: Any) -> State:
        """The state of a parameter before its first step."""
        return self.first_state(self._long(parameter), self._default_dict)

    def accumulators(self, parameter: Any) -> dict[str, Any]:
        """The tensors that stay with a parameter from step to step, by the names of their slots.

        >>> w = dy2st.create_parameter([1], "float32")
        >>> opt = dy2st.optimizer.Momentum(parameters=[w])
        >>> _ = opt.minimize(w * 3.0)
        >>> list(opt.accumulators(w))
        ['velocity']
        """
        held = self._states.get(id(parameter))
        if held is None:
            first = self._state_of(parameter).items()
            held = self._states[id(parameter)] = {k: EagerTensor(v) for k, v in first}
        masters = self._master_weights
        if self._is_short(parameter) and id(parameter) not in masters:
            masters[id(parameter)] = EagerTensor(self._long(parameter))
        master = masters.get(id(parameter))
        return held if master is None else {**held, "master_weight": master}


def _as_decay(decay: Any) -> Any:
    """A regulariser for a coefficient, None for zero."""
    if not isinstance(decay, (int, float, np.floating)):
        return decay
    return L2Decay(float(decay)) if decay else None


__all__ = ["Decay", "Optimizer", "Parameters", "Rate", "State"]
