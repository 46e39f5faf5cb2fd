"""Right programs: both checkers accept all of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import dy2st
import dy2st.distributed as dist
import dy2st.paddle as paddle
import dy2st.paddle.nn.functional as PF
import dy2st_runtime
from dy2st import Tensor, nn
from dy2st.io import DataLoader, Dataset, IterableDataset, TensorDataset
from dy2st.jit import StaticFunction, not_to_static, to_static
from dy2st.nn import functional as F
from dy2st.static import Dim, InputSpec, bucket, freeze
from dy2st.vision.models import resnet18


class Block(nn.Layer):
    def __init__(self, width: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = nn.MultiHeadAttention(width, 2)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )
        self.dropout = nn.Dropout(dropout)
        self.conv = nn.Conv2D(3, 8, 3)
        self.scale = self.create_parameter([width])
        self.register_buffer("seen", dy2st.zeros([1]))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        y = self.norm(x)
        x = x + self.seen + self.norm._epsilon + self.conv.stride
        x = x + self.dropout(self.attention(y, y, y, mask)) * self.scale
        return x + self.mlp(self.norm(x))


class Model(nn.Layer):
    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.blocks = nn.LayerList([Block(width) for _ in range(2)])
        self.rnn = nn.LSTM(width, width)
        self.conv = nn.Conv2D(3, 8, kernel_size=3, padding=1, bias_attr=False)

    @to_static(input_spec=[InputSpec(["batch", None], "int64", "ids")])
    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        x = self.words(ids)
        for block in self.blocks:
            x = block(x)
        out, (hidden, cell) = self.rnn(x)
        if out.mean() > 0:
            out = out * 2
        while out.abs().max() > 1:
            out = out / 2
        return out.softmax(axis=-1), hidden + cell


class Unannotated(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.fc = nn.Linear(size, size)

    def forward(self, x, times=1):
        for _ in range(times):
            x = F.relu(self.fc(x))
        return x


class Digits(Dataset[tuple[np.ndarray, int]]):
    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        return np.zeros([8, 8], "float32"), index

    def __len__(self) -> int:
        return 10


class Pairs(Dataset):
    def __getitem__(self, index):
        return np.zeros([2]), index

    def __len__(self):
        return 4


class Named(Dataset[dict[str, int]]):
    def __getitem__(self, index: int) -> dict[str, int]:
        return {"label": index}


class Lines(IterableDataset[dict[str, int]]):
    def __iter__(self) -> Iterator[dict[str, int]]:
        yield {"a": 1}


def operators(x: Tensor) -> list[Tensor]:
    y = 1 - x + 2.5 * x / x**2 - x // 2 % 3
    y = -y @ x.T + abs(x) + (x > 0).astype("float32") + (~(x == 1) & (x != 2)).astype(dy2st.float32)
    y += np.ones([2, 2], "float32")
    y[0, :, ...] = 0.0
    y[y > 1] = x[0]
    rows = [row.sum() for row in y]
    first, *rest = y.split(2, axis=-1)
    if y.shape[0] > 1 and len(x) == x.ndim and bool(x.any()):
        rows.append(x[:, None, [0, 1], ::2])
    a, b = x.topk(2)
    total = float(x.sum()) + x.item() + int(x.max()) + x.numpy().sum()
    shape = [*x.shape, x.size, x.shape[-1] // 2]
    return [*rows, first, *rest, a, b, x.reshape([2, -1]).reshape(-1, 2), dy2st.full(shape, total)]


def methods(x: Tensor) -> Tensor:
    x = x.clip(0, 1).mean(axis=[0, 1], keepdim=True).transpose([1, 0]).unsqueeze(0).squeeze()
    x = x.cast("int64").to("cpu").detach().clone().flatten().cumsum(0).astype(dy2st.int32)
    x.add_(1.0).stop_gradient = False
    x.register_hook(lambda gradient: gradient * 2)
    x.backward()
    if x.grad is not None:
        x = x - 0.1 * x.grad
    x.clear_grad()
    x.set_value(np.zeros([3]))
    name: str = x.name
    return x.where(x > 0, dy2st.zeros_like(x)) if name else x.masked_fill(x > 0, -1e9).max(axis=1)


def functions(x: Tensor) -> Tensor:
    x = dy2st.concat([x, dy2st.ones([2, 3]), dy2st.randn([1, 3])], axis=0)
    x = dy2st.stack([x, x]).sum(0) + dy2st.arange(3) + dy2st.to_tensor([[1.0, 2.0, 3.0]])
    x = dy2st.where(x > 0, x, 0.0) + dy2st.einsum("ij,jk->ik", x, dy2st.eye(3))
    values, positions = dy2st.topk(x, k=2)
    pooled, mask = F.max_pool2d(x.reshape([1, 1, 3, 3]), 2, return_mask=True)
    x = F.softmax(x, axis=-1) + F.dropout(x, p=0.5, training=False) + F.pad(x, [1, 1])
    loss = F.cross_entropy(x, dy2st.zeros([3], "int64"), reduction="sum") + F.mse_loss(x, x)
    q, r = dy2st.linalg.qr(x)
    spectrum = dy2st.fft.fft(x, axis=-1)
    gradients = dy2st.grad(loss, [x], allow_unused=True)
    return values.sum() + positions + pooled + mask + q @ r + spectrum.abs() + gradients[0]


def layers(x: Tensor) -> Tensor:
    net = Unannotated(4).eval()
    x = net(x, times=2) + nn.ReLU()(x) + nn.BatchNorm2D(3)(x) + nn.CrossEntropyLoss()(x, x)
    out, state = nn.GRU(4, 8, num_layers=2, direction="bidirect")(x)
    x = nn.Sequential(nn.Conv2D(3, 8, (3, 3), stride=2), nn.AdaptiveAvgPool2D(1), nn.Flatten())(x)
    weight = net.fc.weight
    weight.set_value(weight.numpy() * 2)
    for name, parameter in net.named_parameters():
        parameter.trainable = "bias" not in name
    net.set_state_dict({key: value for key, value in net.state_dict().items()})
    net.train()
    return x + out + state


@to_static
def converted(x: Tensor, limit: float = 1.0) -> Tensor:
    """Halve."""
    while x.abs().max() > limit:
        x = x / 2
    return x


@to_static(build_strategy="inference", engine="numpy", full_graph=True)
def with_options(x: Tensor) -> Tensor:
    return helper(x) + 1


@not_to_static
def helper(x: Tensor) -> Tensor:
    return x * 2


def look(net: Model) -> None:
    print(converted.code, converted.report(), converted.main_program, len(converted.program_cache))
    print(converted(dy2st.ones([2]), limit=2.0).shape, converted.dygraph_function.__name__)
    forward = net.forward
    if isinstance(forward, StaticFunction):
        print(forward.concrete_program.main_program.operators, forward.shapes())
    rows = Dim("rows", min=2, max=512, multiple=2)
    added = to_static(
        lambda x, y: x + y, [InputSpec([rows, 4]), InputSpec([None, "width"], "bool")]
    )
    print(freeze(added.main_program, rows=8), bucket(added, rows=[2, 8]))


def train(net: Model) -> None:
    schedule = dy2st.optimizer.lr.CosineAnnealingDecay(0.1, T_max=10)
    adam = dy2st.optimizer.AdamW(
        schedule,
        parameters=net.parameters(),
        weight_decay=0.01,
        grad_clip=nn.ClipGradByGlobalNorm(1.0),
    )
    scaler = dy2st.amp.GradScaler(init_loss_scaling=1024.0)
    for pixels, labels in DataLoader(Digits(), batch_size=2, shuffle=True, num_workers=0):
        with dy2st.amp.auto_cast(), dy2st.no_grad():
            out, _ = net(pixels.cast("int64"))
        loss = F.cross_entropy(out, labels)
        scaler.scale(loss).backward()
        scaler.step(adam)
        adam.clear_grad()
        schedule.step()
    for (row,) in DataLoader(TensorDataset([dy2st.ones([4, 2])]), batch_size=None):
        print(row.shape, adam.get_lr())
    for x, y in DataLoader(Pairs(), batch_size=2):
        print(x.shape, y.max())
    for batch in DataLoader(Named(), batch_size=2):
        print(batch["label"].shape)
    for count in DataLoader([1, 2, 3], collate_fn=len):
        print(count + 1)
    dy2st.save(net.state_dict(), "net.pdparams")
    net.set_state_dict(dy2st.load("net.pdparams"))


def ship(net: Model) -> None:
    dy2st.jit.save(net, "saved/net", input_spec=[InputSpec([None, 4], "int64")])
    loaded = dy2st.jit.load("saved/net")
    print(loaded(dy2st.ones([5, 4])), dy2st_runtime.load("saved/net")(np.ones((5, 4), "float32")))


class Twice(dy2st.autograd.PyLayer):
    @staticmethod
    def forward(ctx: dy2st.autograd.PyLayerContext, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: dy2st.autograd.PyLayerContext, gradient: Tensor) -> Tensor:
        return gradient * 2


class Share(paddle.metric.Metric):
    def __init__(self) -> None:
        super().__init__()
        self.right, self.all = 0, 0

    def update(self, right: Tensor) -> None:
        self.right, self.all = self.right + int(right.sum()), self.all + right.size

    def reset(self) -> None:
        self.right, self.all = 0, 0

    def accumulate(self) -> float:
        return self.right / self.all

    def name(self) -> str:
        return "share"


def with_own_parts(net: Model, x: Tensor) -> None:
    model = paddle.Model(net, [InputSpec([None, 4])])
    model.prepare(dy2st.optimizer.SGD(0.1, [x]), nn.CrossEntropyLoss(), Share())
    print(Twice.apply(x), converted.concrete_program.executable.explain())


def as_paddle(x: paddle.Tensor) -> paddle.Tensor:
    paddle.seed(0)
    net = paddle.vision.models.resnet18(num_classes=10)
    normal = paddle.distribution.Normal(0.0, 1.0)
    print(normal.sample([2]), paddle.linalg.norm(x), paddle.nn.functional.gelu(x), net(x))
    print(dist.get_rank(), PF.gelu(x), resnet18()(x), paddle.nn.Linear(2, 2)(x))
    return paddle.to_tensor([1.0], dtype=paddle.float32) + x
