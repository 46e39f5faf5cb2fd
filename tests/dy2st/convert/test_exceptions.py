"""Exceptions that a tensor decides on, in `try` and through calls, as Python has them."""

import pytest

import dy2st
from dy2st.errors import ArgumentError
from dy2st.jit import to_static
from tests.dy2st.convert.kinds.same import refused, same

CALLS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.0], [2.0, 1.5, 1.0])


def alike(function):
    same(function, *CALLS)


def test_a_raise_in_a_branch_is_caught_in_the_same_function():
    def f(x):
        y = 0
        try:
            if x.sum() > 5:
                raise ValueError("big")
            y = x * 2
        except ValueError:
            y = x - 1
        return y

    alike(f)


def test_what_a_called_function_raises_is_caught_with_its_arguments():
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

    alike(f)


def test_each_class_has_its_own_handler():
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

    alike(f)


def test_a_loop_over_a_tensor_continues_after_an_exception():
    def f(x):
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

    alike(f)


def test_an_exception_ends_a_loop_over_a_tensor():
    def f(x):
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

    alike(f)


def test_an_exception_goes_to_the_handler_that_fits():
    def f(x):
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

    alike(f)


def test_a_handler_may_raise_again():
    def f(x):
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

    alike(f)


def test_a_handler_may_raise_another_exception():
    def f(x):
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

    alike(f)


def test_what_nobody_catches_is_raised_by_the_program():
    def f(x):
        if x.sum() > 20:
            raise ValueError("big")
        try:
            if x.sum() < 0:
                raise ValueError("small")
        except KeyError:
            return x
        return x * 3

    alike(f)


def test_an_assert_is_caught():
    def f(x):
        try:
            assert x.sum() < 5, "no"
            y = x
        except AssertionError:
            y = x - 3
        return y

    alike(f)


def test_a_while_loop_ends_by_one_of_two_exceptions():
    def f(x):
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

    alike(f)


def test_the_test_of_a_while_loop_may_raise():
    def f(x):
        s = x.sum()

        def more(s):
            if s > 30:
                raise ValueError("big")
            return s < 20

        try:
            while more(s):
                s = s * 3 + 1
                if s < -40:
                    break
        except ValueError:
            s = s - 1000
        return s

    same(f, *CALLS, [4.0, 0.0, 0.0], [3.0, 0.5, 0.0])


def test_what_was_changed_before_the_exception_stays_changed():
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

    alike(f)


def test_a_try_in_a_loop_of_python_breaks_and_continues():
    def f(x):
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

    alike(f)


def test_a_variable_that_only_the_path_without_exception_sets():
    def f(x):
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

    alike(f)


def test_a_class_of_the_users_keeps_its_attributes():
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

    alike(f)


def test_an_error_of_the_code_is_caught():
    def f(x):
        try:
            if x.sum() > 5:
                undefined_thing(x)  # noqa: F821
            return x
        except NameError:
            return x * 2

    alike(f)


def test_two_exceptions_of_a_class_with_different_texts():
    def f(x):
        try:
            if x.sum() > 5:
                raise ValueError("one")
            if x.sum() < 0:
                raise ValueError("three")
            return 0
        except ValueError as error:
            return len(error.args[0])

    alike(f)


def test_a_raise_in_each_branch():
    def f(x):
        try:
            if x.sum() > 5:
                raise ValueError("one")
            else:
                raise KeyError("two")
        except ValueError:
            return x
        except KeyError:
            return x * 2

    alike(f)


def test_a_raise_in_loops_inside_each_other():
    def f(x):
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

    alike(f)


def test_else_is_not_guarded():
    def f(x):
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

    alike(f)


def test_a_recursive_function_raises():
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

    alike(f)


def test_a_raise_in_an_operand():
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

    alike(f)


def test_a_refusal_is_not_caught_by_the_user():
    def f(x):
        try:
            y = x.numpy() if x.sum() > 0 else x
            int(x.sum().numpy())
        except Exception:
            y = x
        finally:
            x = x + 1
        return y

    refused(f, "numpy", *CALLS)


def test_an_exception_in_a_generator_that_is_asked_for_items_is_refused():
    def items(x):
        try:
            if x.sum() > 5:
                raise ValueError("big")
            yield x
        except ValueError:
            yield x * 2

    def f(x):
        return list(zip(items(x), [1, 2], strict=False))

    refused(f, "may catch it and that stays Python's own", *CALLS)


def test_the_values_of_cells_are_those_at_the_exception():
    def f(x):
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

    alike(f)


def test_an_index_that_is_computed_is_out_of_range():
    def f(x):
        held = [v for v in x if v > 1]
        try:
            return held[1]
        except IndexError:
            return x[0]

    alike(f)


def test_unpacking_fails_on_some_paths():
    def f(x):
        held = [v for v in x if v > 1]
        try:
            a, b = held
        except ValueError:
            return x.sum()
        return a * b

    alike(f)


def test_pop_from_a_list_that_may_be_empty():
    def f(x):
        held = [v for v in x if v > 1]
        try:
            return held.pop() + held.pop()
        except IndexError:
            return x.sum()

    alike(f)


def test_division_of_numbers_by_zero():
    def f(x):
        n = int(x.sum())
        try:
            return 12 // n
        except ZeroDivisionError:
            return -1

    alike(f)


def test_a_raise_whose_text_a_tensor_chooses():
    def f(x):
        try:
            if x.sum() > 5:
                raise ValueError("high" if x.max() > 5 else "low")
            return "none"
        except ValueError as error:
            return str(error)

    alike(f)


def test_a_chain_of_exceptions_through_a_recursion():
    def f(x):
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

    alike(f)


def test_the_message_of_an_exception_may_be_one_of_several_texts_with_tensors():
    def f(x):
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

    alike(f)


def test_an_operator_that_refuses_one_of_several_values_raises_where_it_is_that_one():
    def f(x):
        c = None
        if x.sum() > 0:
            c = x * 2
        return x + c

    static = to_static(f)
    assert static(dy2st.ones([2])).tolist() == [3.0, 3.0]
    with pytest.raises(ArgumentError, match="None is not a tensor"):
        static(-dy2st.ones([2]))
