"""The Programs that are shown in the tests of pages."""

import dy2st
from dy2st import nn
from dy2st.jit import to_static
from dy2st.passes import Module, find
from dy2st.static import InputSpec


class Block(nn.Layer):
    def __init__(self, kernel):
        super().__init__()
        self.conv = nn.Conv2D(3, 3, kernel, padding=kernel // 2)
        self.norm = nn.BatchNorm2D(3)

    def forward(self, x):
        y = self.norm(self.conv(x))
        if y.sum() > 0:
            y = nn.functional.relu(y)
        return x + y


class Net(nn.Layer):
    """Layers, a branch and a loop."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.LayerList([Block(1), Block(3)])  # alike, they would be one function
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(48, 5), nn.ReLU())

    def forward(self, x, count):
        for block in self.blocks:
            x = block(x)
        steps = dy2st.zeros([], "int64")
        while steps < count:
            x = x * 0.5
            steps += 1
        return self.head(x)


def converted(n="n"):
    """The Layer in evaluation, and its Program."""
    net = Net()
    net.eval()
    specs = [InputSpec([n, 3, 4, 4], "float32", "x"), InputSpec([], "int64", "count")]
    return net, to_static(net, input_spec=specs).forward.main_program


def after(net, program, name):
    """The Program as a pass or pipeline makes it."""
    state = {key: one.numpy() for key, one in net.state_dict().items()}
    return find(name)(Module({program.name: program}, state)).programs[program.name]
