"""NumPy arrays and eager tensors outside, changed in place or replaced."""

from __future__ import annotations

import copy

import numpy as np

import dy2st
from tests.dy2st.jit.outside.scenario import Box, change


@change
def an_array():
    held = np.array([2.0, 3.0], "float32")
    return lambda x: x * held, lambda: held.__setitem__(0, 9.0)


@change
def an_element_of_an_array():
    held = np.array([2.0, 3.0])
    return lambda x: x * float(held[0]), lambda: held.__setitem__(0, 9.0)


@change
def a_test_of_an_array():
    held = np.zeros(3)
    return lambda x: x * 2 if held.any() else x * 3, lambda: held.fill(1)


@change
def an_array_replaced():
    held = Box(scale=np.ones(2, "float32"))
    return lambda x: x * held.scale, lambda: setattr(held, "scale", np.ones(2, "float32") * 9)


@change
def an_array_of_another_dtype():
    held = Box(scale=np.ones(2, "float32"))
    return lambda x: x * held.scale, lambda: setattr(held, "scale", np.ones(2, "float64"))


@change
def the_base_of_a_view():
    base = np.ones((2, 2), "float32")
    held = base[0]
    return lambda x: x * held, lambda: base.fill(9)


@change
def the_shape_of_an_array():
    held = np.ones((2, 3))
    return lambda x: x * held.shape[0], lambda: setattr(held, "shape", (3, 2))


@change
def whether_an_array_is_writeable():
    held = np.ones(2)
    return lambda x: x * 2 if held.flags.writeable else x * 3, lambda: held.setflags(write=False)


@change
def a_large_array():
    held = np.ones(300_000)
    return lambda x: x * float(held[5]), lambda: held.__setitem__(5, 9.0)


@change
def a_large_array_summed():
    held = np.ones(300_000)
    return lambda x: x * float(held.sum()), lambda: held.__setitem__(5, 9.0)


@change
def an_array_of_objects():
    held = np.array([Box(scale=2.0)], dtype=object)
    return lambda x: x * held[0].scale, lambda: setattr(held[0], "scale", 9.0)


@change
def a_structured_array():
    held = np.zeros(1, dtype=[("scale", "f8"), ("shift", "f8")])
    return lambda x: x * float(held["scale"][0]) + 1, lambda: held["scale"].__setitem__(0, 9.0)


@change
def an_array_in_a_dict():
    held = {"scale": np.ones(2, "float32")}
    return lambda x: x * dy2st.to_tensor(held["scale"]), lambda: held["scale"].__setitem__(0, 9.0)


@change
def an_array_converted_by_numpy():
    held = [2.0, 3.0]
    return lambda x: x * np.asarray(held, "float32"), lambda: held.__setitem__(0, 9.0)


@change
def a_loop_over_an_array():
    held = np.array([2.0, 3.0])

    def f(x):
        for value in held:
            x = x * float(value)
        return x

    return f, lambda: held.__setitem__(0, 9.0)


@change
def a_nan_in_an_array():
    held = np.array([np.nan, 1.0])

    def f(x):
        return x * 2 if np.isnan(held[0]) else x * float(held[0])

    return f, lambda: held.__setitem__(0, 9.0)


@change
def a_matrix_that_numpy_computes_with():
    held = np.eye(2)
    return lambda x: x * float(np.linalg.det(held)), lambda: held.__setitem__((0, 0), 9.0)


@change
def a_tensor_replaced():
    held = Box(scale=dy2st.ones([2]))
    return lambda x: x * held.scale, lambda: setattr(held, "scale", dy2st.ones([2]) * 9)


@change
def a_tensor_set():
    held = dy2st.ones([2])
    return lambda x: x * held, lambda: held.set_value(np.array([9.0, 9.0], "float32"))


@change
def an_element_of_a_tensor_set():
    held = dy2st.ones([2])
    return lambda x: x * held, lambda: held.__setitem__(0, 9.0)


@change
def a_tensor_of_another_dtype():
    held = Box(scale=dy2st.ones([2]))
    return lambda x: x * held.scale, lambda: setattr(held, "scale", dy2st.ones([2], "float64"))


@change
def a_tensor_of_another_shape():
    held = Box(scale=dy2st.ones([2]))

    def f(x):
        return (x * held.scale).sum() * held.scale.ndim

    return f, lambda: setattr(held, "scale", dy2st.ones([2, 2]))


@change
def a_tensor_in_place_of_a_number():
    held = Box(scale=2.0)
    return lambda x: x * held.scale, lambda: setattr(held, "scale", dy2st.ones([2]) * 9)


@change
def a_number_in_place_of_a_tensor():
    held = Box(scale=dy2st.ones([2]))

    def f(x):
        return x * 2 if isinstance(held.scale, float) else x * held.scale * 3

    return f, lambda: setattr(held, "scale", 9.0)


@change
def a_list_of_tensors_grown():
    held = [dy2st.ones([2])]

    def f(x):
        for tensor in held:
            x = x + tensor
        return x

    return f, lambda: held.append(dy2st.ones([2]))


@change
def a_list_of_tensors_stacked():
    held = [dy2st.ones([2]), dy2st.zeros([2])]

    def f(x):
        return dy2st.stack(held).sum(0) * x

    return f, lambda: held.reverse() or held.append(dy2st.ones([2]))


@change
def tensors_swapped_in_a_list():
    held = [dy2st.ones([2]), dy2st.zeros([2])]
    return lambda x: x * held[0] + 1, held.reverse


@change
def a_tensor_in_a_tuple_of_an_attribute():
    held = Box(state=(dy2st.ones([2]), dy2st.zeros([2])))

    def f(x):
        h, c = held.state
        return x * h + c

    return f, lambda: setattr(held, "state", held.state[::-1])


@change
def identity_of_tensors():
    one = dy2st.ones([2])
    held = Box(one=one, two=dy2st.ones([2]))
    return lambda x: x * 2 if held.one is held.two else x * 3, lambda: setattr(held, "two", one)


@change
def the_number_that_a_tensor_outside_holds():
    held = dy2st.to_tensor([2.0, 3.0])

    def f(x):
        return x * 2 if held.sum() > 6 else x * 3

    return f, lambda: held.set_value(np.array([9.0, 9.0], "float32"))


@change
def a_python_number_of_a_tensor_outside():
    held = dy2st.to_tensor([2.0, 3.0])

    def f(x):
        return x * [1.0, 2.0, 3.0][int(held[0]) % 3]

    return f, lambda: held.set_value(np.array([9.0, 9.0], "float32"))


@change
def a_copy_of_what_holds_a_tensor():
    held = Box(scale=dy2st.ones([2]))
    return lambda x: x * copy.copy(held).scale, lambda: setattr(held, "scale", dy2st.ones([2]) * 9)


@change
def a_tensor_that_becomes_none():
    held = Box(mask=dy2st.ones([2]))

    def f(x):
        if held.mask is not None:
            x = x + held.mask
        return x

    return f, lambda: setattr(held, "mask", None)


@change
def an_array_beside_a_tensor_of_its_memory():
    array = np.ones(2, "float32")
    held = dy2st.to_tensor(array)
    return lambda x: x * held + dy2st.to_tensor(array), lambda: array.fill(9)
