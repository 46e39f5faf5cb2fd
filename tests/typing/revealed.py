"""Expressions whose types checkers know: none of them is `Any`."""

from __future__ import annotations

from typing import reveal_type

import dy2st
import dy2st.paddle as paddle
from dy2st import Tensor, nn
from dy2st.io import DataLoader, TensorDataset
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st.static import Dim, InputSpec, freeze


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.own = self.create_parameter([3])

    @to_static(input_spec=[InputSpec(["batch", 4])])
    def forward(self, x: Tensor, times: int = 1) -> tuple[Tensor, Tensor]:
        return self.fc(x), x


class Plain(nn.Layer):
    def forward(self, x: Tensor) -> Tensor:
        return x


@to_static
def converted(x: Tensor, limit: float) -> Tensor:
    return x * limit


net, x = Net(), dy2st.ones([2, 4])
adam = dy2st.optimizer.Adam(0.1, parameters=net.parameters())
loader = DataLoader(TensorDataset([x, x]), batch_size=2)

reveal_type(x)
reveal_type(x + 1)
reveal_type(1 - x)
reveal_type(-x)
reveal_type(x @ x)
reveal_type(x > 0)
reveal_type(x == x)
reveal_type(x[0])
reveal_type(x[:, None, ..., ::2])
reveal_type(x.shape)
reveal_type(x.shape[0])
reveal_type(x.ndim)
reveal_type(x.size)
reveal_type(x.T)
reveal_type(x.grad)
reveal_type(x.name)
reveal_type(x.dtype)
reveal_type(x.stop_gradient)
reveal_type(len(x))
reveal_type(float(x))
reveal_type(list(x))
reveal_type(x.sum(axis=0))
reveal_type(x.reshape(2, -1))
reveal_type(x.topk(2))
reveal_type(x.split(2))
reveal_type(x.astype("int64"))
reveal_type(x.add_(x))
reveal_type(x.backward())
reveal_type(x.max())
reveal_type(x.register_hook(lambda g: g))
reveal_type(dy2st.zeros([2], "int64"))
reveal_type(dy2st.to_tensor([1.0]))
reveal_type(dy2st.concat([x, x]))
reveal_type(dy2st.where(x > 0, x, 0.0))
reveal_type(dy2st.einsum("ij->i", x))
reveal_type(dy2st.float32)
reveal_type(dy2st.grad(x, x))
reveal_type(dy2st.linalg.svd(x))
reveal_type(dy2st.fft.fft(x))
reveal_type(dy2st.logaddexp(x, x))
reveal_type(F.softmax(x))
reveal_type(F.cross_entropy(x, x))
reveal_type(F.max_pool2d(x, 2))
reveal_type(F.max_pool2d(x, 2, return_mask=True))
reveal_type(nn.Linear(4, 3))
reveal_type(nn.Linear(4, 3)(x))
reveal_type(nn.Linear(4, 3).weight)
reveal_type(nn.LSTM(4, 3)(x))
reveal_type(nn.Sequential(nn.ReLU(), nn.Linear(4, 3))(x))
reveal_type(net(x))
reveal_type(net.forward)
reveal_type(net.own)
reveal_type(net.fc)
reveal_type(net.forward.concrete_program)
reveal_type(net.state_dict())
reveal_type(net.named_parameters())
reveal_type(net.eval())
reveal_type(Plain()(x))
reveal_type(to_static(Plain())(x))
reveal_type(converted)
reveal_type(converted(x, 1.0))
reveal_type(converted.main_program)
reveal_type(converted.report())
reveal_type(converted.shapes())
reveal_type(converted.code)
reveal_type(converted.program_cache)
reveal_type(next(iter(loader)))
reveal_type(InputSpec([2]).shape)
reveal_type(Dim("n"))
reveal_type(freeze(converted.main_program, n=8))
reveal_type(dy2st.jit.load("net"))
reveal_type(adam.get_lr())
reveal_type(dy2st.optimizer.lr.StepDecay(0.1, 10))
reveal_type(paddle.vision.models.resnet18())
reveal_type(paddle.nn.functional.gelu(x))
reveal_type(paddle.distribution.Normal(0.0, 1.0))
reveal_type(dy2st.amp.GradScaler().scale(x))
reveal_type(dy2st.no_grad())
