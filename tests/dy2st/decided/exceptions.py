"""Exceptions that a tensor decides on, in `try` and through calls, as Python has them."""

from tests.dy2st.catalogue.entry import on

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])
alike = on(*CALLS, unknown=[[None]])
alike_made = on(*CALLS, unknown=[[None]], makes=True)


@alike
def a_raise_in_a_branch_is_caught_in_the_same_function(x):
    y = 0
    try:
        if x.sum() > 5:
            raise ValueError("big")
        y = x * 2
    except ValueError:
        y = x - 1
    return y


@alike_made
def what_a_called_function_raises_is_caught_with_its_arguments():
    def scaled(x):
        if x.sum() > 5:
            raise ValueError("big", x.sum())
        return x * 2

    def f(x):
        try:
            y = scaled(x)
        except ValueError as error:
            y = error.args[1] + 1
        return y

    return f


@alike_made
def each_class_has_its_own_handler():
    def checked(x):
        if x.sum() > 10:
            raise ValueError("big")
        if x.sum() < 0:
            raise KeyError("small")
        return x * 2

    def f(x):
        try:
            return checked(x)
        except ValueError:
            return x
        except KeyError:
            return -x

    return f


@alike
def a_loop_over_a_tensor_continues_after_an_exception(x):
    out = []
    for v in x:
        try:
            if v > 1.5:
                raise ValueError("big")
            out.append(v)
        except ValueError:
            continue
        out.append(v + 1)
    return out


@alike
def an_exception_ends_a_loop_over_a_tensor(x):
    out = []
    try:
        for v in x:
            if v > 2.5:
                raise ValueError("big")
            out.append(v)
    except ValueError:
        out.append(x.sum())
    else:
        out.append(x.sum() * 2)
    finally:
        out.append(x.sum() * 3)
    return out


@alike
def an_exception_goes_to_the_handler_that_fits(x):
    try:
        try:
            if x.sum() > 5:
                raise ValueError("big")
            y = 1
        except KeyError:
            y = 2
        y = y + 10
    except ValueError:
        y = 3
    return x * y


@alike
def a_handler_may_raise_again(x):
    try:
        try:
            if x.sum() > 5:
                raise ValueError("big")
            y = 1
        except ValueError:
            if x.sum() > 10:
                raise
            y = 2
    except ValueError:
        y = 3
    return x * y


@alike
def a_handler_may_raise_another_exception(x):
    try:
        try:
            if x.sum() > 5:
                raise ValueError(x.sum())
            y = x
        except ValueError as error:
            raise KeyError(error.args[0] * 2) from error
    except KeyError as error:
        y = error.args[0]
    return y


@alike
def what_nobody_catches_is_raised_by_the_program(x):
    if x.sum() > 20:
        raise ValueError("big")
    try:
        if x.sum() < 0:
            raise ValueError("small")
    except KeyError:
        return x
    return x * 3


@alike
def an_assert_is_caught(x):
    try:
        assert x.sum() < 5, "no"
        y = x
    except AssertionError:
        y = x - 3
    return y


@alike
def a_while_loop_ends_by_one_of_two_exceptions(x):
    s = x.sum()
    n = 0
    try:
        while s < 100:
            s = s * 2 + 1
            n = n + 1
            if s < -50:
                raise ValueError("negative")
            if s > 80:
                raise KeyError("eighty")
    except ValueError:
        return s, n
    except KeyError:
        n = n + 100
    return s, n


@alike_made
def what_was_changed_before_the_exception_stays_changed():
    class Box:
        pass

    def f(x):
        box, held = Box(), [1]
        box.v = x
        try:
            held.append(x.sum())
            box.v = box.v + 1
            if x.sum() > 5:
                held.append(x.sum() * 2)
                raise ValueError("big")
            box.v = box.v * 2
        except Exception:
            box.v = box.v - 100
        return held[-1], box.v, len(held)

    return f


@alike
def a_try_in_a_loop_of_python_breaks_and_continues(x):
    for i in range(3):
        try:
            if x.sum() > i * 3:
                raise ValueError("x")
            if x.sum() < 0:
                break
            x = x + 1
        except ValueError:
            x = x - 1
            continue
        x = x * 2
    return x


@alike
def a_variable_that_only_the_path_without_exception_sets(x):
    try:
        y = x * 2
        if x.sum() > 5:
            if x.sum() > 10:
                raise ValueError("a")
            z = 2
        else:
            z = 1
        y = y + z
    except ValueError:
        y = x
    return y


@alike_made
def a_class_of_the_users_keeps_its_attributes():
    class Failed(Exception):
        def __init__(self, v):
            super().__init__("failed")
            self.v = v

    def f(x):
        try:
            if x.sum() > 5:
                raise Failed(x)
            y = x * 2
        except Failed as error:
            y = error.v + 1
        return y

    return f


@alike
def an_error_of_the_code_is_caught(x):
    try:
        if x.sum() > 5:
            undefined_thing(x)  # noqa: F821
        return x
    except NameError:
        return x * 2


@alike
def two_exceptions_of_a_class_with_different_texts(x):
    try:
        if x.sum() > 5:
            raise ValueError("one")
        if x.sum() < 0:
            raise ValueError("three")
        return 0
    except ValueError as error:
        return len(error.args[0])


@alike
def a_raise_in_each_branch(x):
    try:
        if x.sum() > 5:
            raise ValueError("one")
        else:
            raise KeyError("two")
    except ValueError:
        return x
    except KeyError:
        return x * 2


@alike
def a_raise_in_loops_inside_each_other(x):
    total = x.sum()
    try:
        for a in x:
            for b in x:
                if a + b > 4:
                    raise ValueError(a)
                total = total + a * b
    except ValueError as error:
        total = total - error.args[0]
    return total


@alike
def else_is_not_guarded(x):
    try:
        try:
            y = x
        except ValueError:
            y = x - 1
        else:
            if x.sum() > 5:
                raise ValueError("big")
            y = x + 1
    except ValueError:
        y = x + 2
    return y


@alike_made
def a_recursive_function_raises():
    def down(x, n):
        if n == 0:
            if x.sum() > 5:
                raise ValueError(x)
            return x
        return down(x, n - 1) + 1

    def f(x):
        try:
            return down(x, 3)
        except ValueError as error:
            return error.args[0] * 10

    return f


@alike_made
def a_raise_in_an_operand():
    def check(x):
        if x.sum() > 10:
            raise ValueError("big")
        return x.sum()

    def f(x):
        try:
            if x.max() > 0 and check(x) > 2:
                return x
            return -x
        except ValueError:
            return x * 0

    return f


@alike
def the_values_of_cells_are_those_at_the_exception(x):
    total = 0

    def add(v):
        nonlocal total
        total = total + v
        if total > 5:
            raise ValueError("enough")

    try:
        for v in x:
            add(v)
    except ValueError:
        total = total + 100
    return total


@alike
def an_index_that_is_computed_is_out_of_range(x):
    held = [v for v in x if v > 1]
    try:
        return held[1]
    except IndexError:
        return x[0]


@alike
def unpacking_fails_on_some_paths(x):
    held = [v for v in x if v > 1]
    try:
        a, b = held
    except ValueError:
        return x.sum()
    return a * b


@alike
def pop_from_a_list_that_may_be_empty(x):
    held = [v for v in x if v > 1]
    try:
        return held.pop() + held.pop()
    except IndexError:
        return x.sum()


@alike
def division_of_numbers_by_zero(x):
    n = int(x.sum())
    try:
        return 12 // n
    except ZeroDivisionError:
        return -1


@alike
def a_raise_whose_text_a_tensor_chooses(x):
    try:
        if x.sum() > 5:
            raise ValueError("high" if x.max() > 5 else "low")
        return "none"
    except ValueError as error:
        return str(error)


@alike
def a_chain_of_exceptions_through_a_recursion(x):
    def inner(n):
        if n == 0:
            if x.sum() > 5:
                raise ValueError(n)
            return x.sum()
        try:
            return inner(n - 1)
        except ValueError as error:
            raise KeyError(n) from error

    try:
        return inner(2)
    except KeyError as error:
        return x.sum() * error.args[0]


@alike
def the_message_of_an_exception_may_be_one_of_several_texts_with_tensors(x):
    how = "high" if x.sum() > 3 else "low"
    error = ValueError(f"{how}: {x[0].item()}")
    try:
        if x.max() > 2:
            raise error
        if x.min() < -2:
            raise KeyError(how, f"{how} {x[0].item()}")
    except ValueError as caught:
        if x.sum() > 9:
            raise
        return x, str(caught), caught.args
    return x
