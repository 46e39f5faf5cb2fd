"""What a branch or loop leaves alone on some paths is read: the next call sees it as it is then."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.static import InputSpec


class Model(nn.Layer):
    def __init__(self):
        super().__init__()
        self.memory = dy2st.zeros([3])
        self.cache = {}
        self.steps = [0, 0]
        self.count = 0

    def an_attribute(self, x):
        if x.sum() > 5:
            self.memory = x * 2
        return x

    def an_attribute_in_a_loop(self, x):
        for v in x:
            if v > 5:
                break
            self.memory = x + v
        return x

    def a_new_entry(self, x):
        if x.sum() > 5:
            self.cache["sum"] = x.sum()
        return x

    def an_entry_of_each_turn(self, x):
        for _ in x:
            self.cache["turns"] = self.cache.get("turns", 0) + 1
        return x

    def an_item(self, x):
        if x.sum() > 5:
            self.steps[0] = 7
        else:
            self.steps[1] = self.steps[1] + 1
        return x

    def a_number(self, x):
        if x.sum() > 5:
            self.count = 10
        return x


@pytest.mark.parametrize("name", [name for name in vars(Model) if name[0] == "a"])
def test_a_place_that_stays_as_it_is_on_some_paths_is_the_one_of_the_call(name):
    eager, static = Model(), Model()
    spec = [InputSpec([None], "float32", "x")]
    converted = to_static(getattr(static, name), input_spec=spec)
    for row in ([1.0, 2.0, 9.0], [1.0, 1.0, 1.0], [0.0, 0.0, -1.0], [6.0, 1.0, 1.0], [0.0]):
        for model, function in ((eager, getattr(eager, name)), (static, converted)):
            function(dy2st.to_tensor(row))
            model.count -= 1
            model.steps[0] += 1
        wanted, found = (
            [m.memory.tolist(), {k: float(v) for k, v in m.cache.items()}, m.steps, m.count]
            for m in (eager, static)
        )
        assert found == wanted


def test_an_entry_that_only_some_paths_set_or_delete_is_there_after_those():
    seen = {"gone": 1}

    def f(x):
        if x.sum() > 5:
            seen["last"] = x.sum()
        else:
            seen.pop("gone", None)
        return x

    converted = to_static(f, input_spec=[InputSpec([3], "float32", "x")])
    converted(dy2st.to_tensor([1.0, 1.0, 1.0]))
    assert seen == {}
    converted(dy2st.to_tensor([4.0, 1.0, 1.0]))
    assert list(seen) == ["last"]
