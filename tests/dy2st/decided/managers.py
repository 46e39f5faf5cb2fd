"""`with` where a tensor decides whether its body raises, as Python has it."""

import contextlib

import dy2st
from tests.dy2st.catalogue.entry import on

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])
alike = on(*CALLS, unknown=[[None]])
alike_made = on(*CALLS, unknown=[[None]], makes=True)


class Noting:
    def __init__(self, notes, swallows=()):
        self.notes, self.swallows = notes, swallows

    def __enter__(self):
        self.notes.append(1)
        return self

    def __exit__(self, kind, error, place):
        self.notes.append(2 if kind is None else 3)
        return kind is not None and issubclass(kind, self.swallows)


@alike
def a_manager_of_the_users_is_entered_and_left(x):
    notes = []
    with Noting(notes) as entered:
        y = x * 2
        if x.sum() > 5:
            y = y + len(entered.notes)
    return y, notes


@alike
def a_manager_is_left_on_both_paths(x):
    notes = []
    try:
        with Noting(notes):
            if x.sum() > 5:
                raise ValueError("big")
            y = x * 2
    except ValueError:
        y = x
    return y, notes


@alike
def a_manager_swallows_an_exception(x):
    notes = []
    y = x
    with Noting(notes, (ValueError,)):
        y = y + 1
        if x.sum() > 5:
            raise ValueError("big")
        y = y * 2
    return y, notes


@alike_made
def a_manager_decides_by_the_tensor_whether_to_swallow():
    class Deciding:
        def __init__(self, x):
            self.x = x

        def __enter__(self):
            return self.x

        def __exit__(self, kind, error, place):
            return self.x.sum() < 20

    def f(x):
        y = x
        try:
            with Deciding(x) as held:
                if x.sum() > 5:
                    raise ValueError("big")
                y = held * 2
        except ValueError:
            y = x - 7
        return y

    return f


@alike
def several_managers_are_left_from_the_last_one_on(x):
    notes = []
    with contextlib.suppress(ValueError), Noting(notes) as a, Noting(a.notes):
        if x.sum() > 5:
            raise ValueError("big")
        notes.append(9)
    return notes


@alike
def suppress(x):
    y = x
    with contextlib.suppress(ValueError, KeyError):
        if x.sum() > 10:
            raise ValueError("big")
        if x.sum() < 0:
            raise KeyError("small")
        y = x * 3
    return y


@alike
def nullcontext(x):
    with contextlib.nullcontext(x * 2) as y:
        if x.sum() > 5:
            y = y + 1
    return y


@alike
def no_grad_and_an_exception(x):
    try:
        with dy2st.no_grad():
            y = x * 2
            if x.sum() > 5:
                raise ValueError("big")
    except ValueError:
        y = x
    return y


@alike
def a_return_in_with(x):
    notes = []
    with Noting(notes):
        if x.sum() > 5:
            return x
        notes.append(4)
    return x * len(notes)


@alike_made
def a_function_as_a_manager():
    @contextlib.contextmanager
    def scaled(x):
        yield x * 2

    def f(x):
        with scaled(x) as y:
            if x.sum() > 5:
                y = y + 1
        return y

    return f


@alike_made
def a_function_as_a_manager_sees_the_exception():
    @contextlib.contextmanager
    def noting(notes):
        notes.append(1)
        try:
            yield notes
        except ValueError:
            notes.append(2)
            raise
        finally:
            notes.append(3)

    def f(x):
        notes = []
        try:
            with noting(notes):
                if x.sum() > 5:
                    raise ValueError("big")
                notes.append(4)
        except ValueError:
            notes.append(5)
        return notes

    return f


@alike_made
def a_function_as_a_manager_swallows():
    @contextlib.contextmanager
    def quiet():
        with contextlib.suppress(ValueError):
            yield

    def f(x):
        y = x
        with quiet():
            y = y + 1
            if x.sum() > 5:
                raise ValueError("big")
            y = y + 2
        return y

    return f


@alike_made
def a_stop_iteration_of_a_body_passes_a_generator():
    @contextlib.contextmanager
    def wrapping():
        try:
            yield
        except Exception as error:
            raise RuntimeError("wrapped") from error

    @contextlib.contextmanager
    def ending():
        yield
        raise StopIteration("own")

    def f(x):
        notes = []
        for manager, given in ((wrapping, StopIteration), (wrapping, KeyError), (ending, None)):
            try:
                with manager():
                    if given is not None:
                        raise given("body")
            except Exception as error:
                notes.append((type(error).__name__, type(error.__context__).__name__))
        return x, notes

    return f


@alike
def an_exit_stack_closes_what_it_entered(x):
    notes = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(Noting(notes))
        stack.enter_context(Noting(notes))
        stack.callback(notes.append, 7)
        if x.sum() > 5:
            notes.append(8)
    return notes


@alike
def a_manager_in_a_loop_over_a_tensor(x):
    total = x.sum()
    for v in x:
        with contextlib.suppress(ValueError):
            if v > 2:
                raise ValueError("big")
            total = total + v
    return total


@alike
def a_manager_that_is_made_in_the_function_notes_in_its_list(x):
    notes = []

    @contextlib.contextmanager
    def noting(v):
        notes.append(1)
        yield v * 2
        notes.append(2)

    with noting(x) as y:
        y = y + 1
    return y, notes
