"""Parameters, buffers and Layers that the code has set are found in the tables of a Layer."""

import pytest

import dy2st
from dy2st import nn
from dy2st.jit import not_to_static, to_static

ROWS = ([[1.0, 2.0]], [[-1.0, 0.0]], [[3.0, 3.0]])


class Counted(nn.Layer):
    """A Layer with two buffers, and an attribute that becomes one."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1D(2)
        self.norm.eval()
        self.register_buffer("seen", dy2st.zeros([2]))
        self.register_buffer("last", dy2st.zeros([2]))
        self.hidden = None

    def forward(self, x):
        self.seen = self.seen + x[0]
        return self.told(x)


class Named(Counted):
    def told(self, x):
        return {name: b * 1 for name, b in self.named_buffers()}


class NamedInABranch(Counted):
    def told(self, x):
        out = {}
        if x.sum() > 0:
            self.last = x[0] * 3
            for name, b in self.named_buffers():
                out[name] = b * 1
        return out


class SetWhileOneGoesThrough(Counted):
    def told(self, x):
        out = []
        for _, b in self.named_buffers(include_sublayers=False):
            self.last = x[0]
            out.append(b + 0)
        return out


class SetBetween(Counted):
    def told(self, x):
        walk = self.named_buffers()
        self.last = x[0] * 2
        return [b * 1 for _, b in walk]


class InABranchOfEachRow(Counted):
    def told(self, x):
        for v in x[0]:
            if sum(b.sum() for b in self.buffers()) > 4:
                self.last = self.last - v
        return self.last * 1


class Halved(Counted):
    def told(self, x):
        if self.seen.sum() > 2:
            for b in self.buffers():
                b.set_value(b * 0.5)
        return self.seen * 1


class State(Counted):
    def told(self, x):
        return {name: one * 1 for name, one in self.state_dict().items()}


class BecomesABuffer(Counted):
    def told(self, x):
        self.hidden = x[0]
        return [name for name, _ in self.named_buffers()], sorted(self.state_dict())


class GoesAndComesBack(Counted):
    def told(self, x):
        self.last = None
        without = [name for name, _ in self.named_buffers()]
        self.last = x[0]
        return without, [name for name, _ in self.named_buffers()]


class OwnTable(Counted):
    def told(self, x):
        return self._buffers["seen"] * 2, [*self._buffers]


class OfALibrary(Counted):
    def told(self, x):
        self.norm._mean = self.norm._mean * 0.5 + x.mean(0)
        return self.norm(x)


class SharedWeight(Counted):
    def __init__(self):
        super().__init__()
        self.other = nn.Linear(2, 2)

    def told(self, x):
        self.other.weight = self.net.weight
        return self.other(x)


class OtherLayer(Counted):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(nn.ReLU(), nn.Tanh())
        self.other = nn.Sigmoid()

    def told(self, x):
        setattr(self.steps, "0", self.other)
        return self.steps(x), [type(one).__name__ for one in self.steps.children()]


@not_to_static
def natively(layer):
    return layer.seen.sum() + layer.get_buffer("last").sum()


class GivenToNativeCode(Counted):
    def told(self, x):
        if x.sum() > 0:
            self.last = x[0] * 3
            return natively(self)
        return x.sum()


class Children(Counted):
    def told(self, x):
        total = 0.0
        if x.sum() > 0:
            for _, child in self.named_children():
                total = total + child(x).sum()
            for layer in self.modules():
                total = total + sum(p.sum() for p in layer.parameters())
        return total


def flat(value):
    if isinstance(value, dy2st.Tensor):
        return value.numpy().round(4).tolist()
    if isinstance(value, dict):
        return {key: flat(one) for key, one in value.items()}
    return [flat(one) for one in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize("kind", Counted.__subclasses__())
def test_the_tables_hold_what_the_code_has_set(kind):
    def found(makes):
        dy2st.seed(7)
        layer = makes(kind())
        told = [flat(layer(dy2st.to_tensor(row))) for row in ROWS]
        return (
            told,
            flat(dict(layer.named_buffers())),
            [name for name, _ in layer.named_parameters()],
        )

    assert found(to_static) == found(lambda layer: layer)


@pytest.mark.filterwarnings("ignore:.*traced anew")
def test_what_native_code_puts_into_a_table_stays():
    late = nn.Tanh()

    class Registers(Counted):
        def told(self, x):
            registered(self)
            return sum(b.sum() for b in self.buffers()), len(self.sublayers())

    @not_to_static
    def registered(layer):
        layer.add_sublayer("late", late)
        return layer.seen

    layer = to_static(Registers())
    for row in ROWS:
        total, count = layer(dy2st.to_tensor(row))
        assert layer.late is late and count == 3
        assert [*layer._buffers] == ["seen", "last"]
    assert total.item() == 10 and layer.seen.tolist() == [3, 5]
