"""What `finally` and the exits of managers do with exceptions that a tensor decides on."""

from tests.dy2st.catalogue.entry import on

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])
alike = on(*CALLS, unknown=[[None]])
alike_made = on(*CALLS, unknown=[[None]], makes=True)


@alike
def finally_runs_on_both_paths(x):
    seen = []
    try:
        try:
            if x.sum() > 5:
                raise ValueError("big")
            seen.append(x.sum())
        finally:
            seen.append(x.max())
    except ValueError:
        seen.append(x.min())
    return seen


@alike
def break_continue_else_and_finally_around_a_raise_in_a_loop(x):
    total = x.sum() * 0
    for v in x:
        try:
            if v > 5:
                break
            if v < -1:
                raise ValueError
            total = total + v
        except ValueError:
            total = total - 1
            continue
        else:
            total = total + 100
        finally:
            total = total + 1000
    else:
        total = total + 5
    return total


@alike
def finally_may_raise_instead(x):
    try:
        try:
            if x.sum() > 5:
                raise ValueError("a")
        finally:
            if x.max() > 5:
                raise KeyError("b")
    except KeyError:
        return 1
    except ValueError:
        return 2
    return 3


@alike
def a_finally_that_catches_something_else_lets_an_unbound_variable_pass(x):
    try:
        if x.sum() > 5:
            y = x * 2
        x = x + y
    finally:
        try:
            {}["nothing"]
        except KeyError:
            x = x - 1
    return x


@alike_made
def an_exit_that_catches_something_else_lets_an_unbound_variable_pass():
    class Quiet:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            try:
                {}["nothing"]
            except KeyError:
                return False

    def f(x):
        with Quiet():
            if x.sum() > 5:
                y = x * 2
            x = x + y
        return x

    return f


@alike
def a_finally_uses_a_variable_that_its_body_has_found_unbound(x):
    if x.sum() > 5:
        y = x * 2
    try:
        kept = [y is None]
    finally:
        kept = [y * 3]
    return kept


@alike
def a_handler_uses_a_variable_that_its_body_has_found_unbound(x):
    if x.sum() > 5:
        y = x * 2
    try:
        x = x + y
    except UnboundLocalError:
        x = x - y
    return x


@alike
def an_exit_in_a_loop_uses_a_variable_that_its_body_has_found_unbound(x):
    total = x * 0
    for v in x:
        if v > 1:
            y = v * 2
        try:
            total = total + y
        finally:
            total = total - y
        if v > 2:
            del y
    return total
