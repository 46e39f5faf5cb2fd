"""Exceptions with values, handlers, clean-up and contexts around what a tensor decides."""

from __future__ import annotations

import contextlib

import dy2st
from tests.dy2st.catalogue.entry import on

VALUES = (
    [1.0, -2.0, 3.0],
    [-1.0, -2.0, -3.0],
    [2.0, 2.0, 0.0],
    [6.0, -1.0, 0.5],
    [6.0],
    [-1.0, 5.0],
)
EACH = [[None]]


class TooLarge(ValueError):
    def __init__(self, value, limit=4):
        super().__init__(f"too large for {limit}")
        self.value, self.limit = value, limit


class Stop(Exception):
    pass


@on(*VALUES, unknown=EACH)
def raised_with_a_number(x):
    for i, v in enumerate(x):
        if v < 0:
            raise ValueError(i)
    return x


@on(*VALUES, unknown=EACH)
def caught_with_its_number(x):
    try:
        for i, v in enumerate(x):
            if v < 0:
                raise ValueError(i)
    except ValueError as error:
        return error.args[0]
    return -1


@on(*VALUES, unknown=EACH)
def raised_with_attributes(x):
    if x.max() > 4:
        raise TooLarge(7)
    return x.sum()


@on(*VALUES, unknown=EACH)
def caught_with_its_attributes(x):
    try:
        if x.max() > 4:
            raise TooLarge(x.max(), limit=2)
        y = x.sum()
    except TooLarge as error:
        y = error.value * error.limit
    return y


@on(*VALUES, unknown=EACH)
def out_of_two_loops(x):
    total = 0.0
    try:
        for v in x:
            for k in range(3):
                total = total + v * k
                if total > 5:
                    raise Stop
    except Stop:
        total = total * 10
    return total


@on(*VALUES, unknown=EACH)
def handler_around_a_call(x):
    def checked(v):
        if v.sum() < 0:
            raise Stop("negative")
        return v * 2

    try:
        return checked(x)
    except Stop:
        return checked(-x)


@on(*VALUES, unknown=EACH)
def handler_in_a_loop(x):
    good, bad = [], 0
    for v in x:
        try:
            if v > 2:
                raise TooLarge(v)
            good.append(v)
        except ValueError:
            bad += 1
    return good, bad


@on(*VALUES, [20.0, 1.0, 1.0], unknown=EACH)
def tries_until_it_works(x):
    for scale in (1.0, 0.5, 0.25):
        try:
            if (x * scale).max() > 2:
                raise Stop
            break
        except Stop:
            continue
    else:
        scale = 0.0
    return x * scale


@on(*VALUES, unknown=EACH)
def finally_restores(x):
    settings = {"scale": 1.0}
    try:
        settings["scale"] = 3.0
        if x.sum() > 0:
            return x * settings["scale"], settings
        y = x - settings["scale"]
    finally:
        settings["scale"] = 1.0
    return y, settings


@on(*VALUES, unknown=EACH)
def finally_appends_to_the_result(x):
    out = [x.sum()]
    try:
        if x.sum() > 0:
            return out
        out.append(x.max())
    finally:
        out.append(x.min())
    return out


@on(*VALUES, unknown=EACH)
def finally_counts(x):
    attempts = 0
    for v in x:
        try:
            if v > 2:
                break
            if v < -1:
                continue
        finally:
            attempts += 1
    return attempts


@on(*VALUES, unknown=EACH)
def else_of_a_try(x):
    try:
        if x.sum() < 0:
            raise KeyError("sum")
    except KeyError:
        y = x.min()
    else:
        y = x.max()
    return y


@on(*VALUES, unknown=EACH)
def one_of_several_handlers(x):
    try:
        if x.max() > 4:
            raise TooLarge(1)
        if x.min() < -2:
            raise Stop
        if x.sum() == 2:
            raise KeyError(2)
        kind = "fine"
    except (Stop, KeyError) as error:
        kind = type(error).__name__
    except ValueError:
        kind = "large"
    return kind, x


@on(*VALUES, unknown=EACH)
def raised_again_as_another(x):
    try:
        if x.min() < -2:
            raise Stop(3)
    except Stop as error:
        raise RuntimeError(error.args[0] + 1) from error
    return x + 1


@on(*VALUES, unknown=EACH)
def assertion_with_a_number(x):
    assert x.max() < 4, 17
    return x * 2


@on(*VALUES, unknown=EACH)
def missing_key_by_a_tensor(x):
    table = {"up": 1.0}
    key = "up" if x.sum() > 0 else "down"
    try:
        return x * table[key]
    except KeyError:
        return x * 0


@on(*VALUES, unknown=EACH)
def division_that_may_fail(x):
    count = sum(1 for v in x if v > 0)
    try:
        return 6 / count
    except ZeroDivisionError:
        return 0.0


@on(*VALUES, unknown=EACH)
def index_that_may_fail(x):
    kept = [v for v in x if v > 0]
    try:
        return kept[1]
    except IndexError:
        return x.sum()


@on(*VALUES, unknown=EACH)
def pop_that_may_fail(x):
    kept = [v for v in x if v > 2]
    return kept.pop()


@on(*VALUES, unknown=EACH)
def suppressed(x):
    y = x * 2
    with contextlib.suppress(Stop):
        if x.sum() > 0:
            raise Stop
        y = y + 100
    return y


class Scope:
    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(f"enter {self.name}")
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(f"exit {self.name}" if kind is None else kind.__name__)
        return False


@on(*VALUES, unknown=EACH)
def scopes_and_a_return(x):
    log = []
    with Scope(log, "outer"):
        if x.sum() > 0:
            with Scope(log, "inner"):
                return x.max(), log
        x = x - 1
    return x.min(), log


@on(*VALUES, unknown=EACH)
def scope_that_sees_an_exception(x):
    log = []
    try:
        with Scope(log, "only"):
            if x.min() < -2:
                raise Stop
    except Stop:
        log.append("caught")
    return log


@contextlib.contextmanager
def scaled(settings, by):
    before = settings["scale"]
    settings["scale"] = before * by
    try:
        yield settings
    finally:
        settings["scale"] = before


@on(*VALUES, unknown=EACH)
def contextmanager_that_changes_a_dict(x):
    settings = {"scale": 2.0}
    with scaled(settings, 5.0) as s:
        y = x * s["scale"]
        if y.sum() > 0:
            return y, settings
    return y + settings["scale"], settings


@on(*VALUES, unknown=EACH)
def stack_of_contexts(x):
    log = []
    with contextlib.ExitStack() as stack:
        for name in ("a", "b"):
            stack.enter_context(Scope(log, name))
        y = x * 2 if x.sum() > 0 else x
    return y, log


@on(*VALUES, unknown=EACH)
def without_gradients_for_some(x):
    x = x * 1
    with dy2st.no_grad():
        scale = x.abs().max()
        if scale > 2:
            scale = scale * 0 + 2
    return x / scale


@on(*VALUES, [0.0, 0.0, 0.0], [], unknown=EACH)
def checks_of_arguments(x):
    if x.shape[0] == 0:
        raise ValueError("empty")
    if not x.abs().sum() > 0:
        raise ValueError("zero")
    if x.max() > 5:
        raise OverflowError(x.shape[0])
    return x / x.abs().sum()


@on(*VALUES, unknown=EACH)
def fallback_after_nan(x):
    try:
        y = (x - 2).log().sum()
        if dy2st.isnan(y):
            raise FloatingPointError
    except ArithmeticError:
        y = dy2st.zeros([])
    return y


@on([5.0, 1.0, 1.0, 1.0], [2.0, -1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0])
def raised_with_a_number_in_branches_that_all_raise(x):
    n = int(x[0])
    try:
        if x[1] > 0:
            if x[2] > 0:
                if x[3] > 0:
                    raise ValueError(f"at {n}")
                raise KeyError
            raise KeyError
    except ValueError as error:
        return error.args[0]
    return "none"


@on([1, 2, 3], [4], [0, 5], [1], unknown=EACH)
def raised_with_more_or_fewer_arguments(x):
    try:
        for v in x:
            if v == 2:
                raise ValueError(v)
            if v > 3:
                raise ValueError
            if v == 0:
                raise ValueError(v, v)
    except ValueError as error:
        return len(error.args), error.args[0] if error.args else 0
    return -1, 0


@on([1, 2, 4], [0, 2, 3], [9, 2, 3])
def a_position_that_the_tensor_has_not_on_one_path(x):
    y = x.clone()
    if x[0] > 8:
        y[3] = 2
    return y + x[3] if x[0] > 0 else y[-1]


@on(*VALUES, unknown=EACH)
def gathered_in_a_list(x):
    errors = []
    for i, v in enumerate(x.tolist()):
        try:
            if v < -1:
                raise ValueError(f"item {i} is {v:.1f}") from None
            if v < 0:
                raise ValueError(i)
            if v > 5:
                raise TypeError("large")
        except (ValueError, TypeError) as error:
            errors.append(error)
    hides = [error.__suppress_context__ for error in errors]
    return [type(error).__name__ for error in errors], [error.args for error in errors], hides


@on(*VALUES, [1.0, 2.0, 3.0], unknown=EACH)
def the_text_of_a_failed_unpacking(x):
    kept = [v for v in x.tolist() if v > 0]
    try:
        a, b, *_ = kept
    except ValueError as error:
        return str(error)
    try:
        (c,) = kept[2:]
    except ValueError as error:
        return str(error)
    return a + b + c
