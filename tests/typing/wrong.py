"""Typical mistakes of a first day, one a line: checkers find them before anything runs."""

from __future__ import annotations

import dy2st
from dy2st import Tensor, nn
from dy2st.io import DataLoader, Dataset, TensorDataset
from dy2st.jit import to_static
from dy2st.nn import functional as F
from dy2st.static import Dim, InputSpec


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x: Tensor, times: int = 1) -> Tensor:
        return self.fc(x)


@to_static
def converted(x: Tensor, limit: float) -> Tensor:
    return x * limit


net, x, y = Net(), dy2st.ones([2, 4]), dy2st.zeros([2, 4])
adam = dy2st.optimizer.Adam(0.1, parameters=net.parameters())
data: Dataset[tuple[Tensor, Tensor]] = TensorDataset([x, y])

# BEGIN
x.summ()
x.shape()
x.nmupy()
x.resize(2, 4)
x.requires_gradient
x.mean(axis="0")
x.mean(keepdims_=True)
x.reshape("2, 4")
x.astype("float31")
x.cast("int")
x.topk()
x["a"]
x + "1"
x @ [1, 2]
x.transpose(perm="10")
x.numpy().foo()
x.grad.foo()
x.backward("all")
x.stop_gradient = "yes"
x.item().shape if x.shpe else None
x.split(num_or_sections="2")
dy2st.rleu(x)
dy2st.concatt([x, y])
dy2st.concat(x, y, 0)
dy2st.zeros("2, 4")
dy2st.zeros([2, 4], dtype="flaot32")
dy2st.matmul(x)
dy2st.matmul(x, y, transposed=True)
dy2st.to_tensor()
dy2st.to_tensor([1.0], dtype="real")
dy2st.ones([2], "float32", True, 1)
dy2st.sum(x, "rows")
dy2st.relu("x")
dy2st.linalg.qrr(x)
dy2st.fft.fft(x, axis="last")
dy2st.seed("0")
dy2st.grad(x)
F.sofmax(x)
F.softmax(x, axis="last")
F.cross_entropy(x)
F.cross_entropy(x, y, reduction=1)
F.dropout(x, training="no")
F.conv2d(x, weights=y)
nn.Lienar(4, 3)
nn.Linear(4)
nn.Linear("4", 3)
nn.Linear(4, 3, bias=False)
nn.Conv2D(3, 8)
nn.Dropout(p="half")
net()
net("x")
net(x, times="2")
net(x, 1, 2)
net.fc.weight.shpe
converted(x)
converted("x", 1.0)
converted(x, 1.0).foo
converted.main_porgram
converted.shapes().foo
to_static(net, inputspec=[])
to_static(net, backend="GPU")
to_static(net, full_graph="yes")
dy2st.jit.saev(net, "net")
dy2st.jit.save(net)
dy2st.jit.load(3)
InputSpec([2, 4], "flaot32")
InputSpec(2)
InputSpec([2, 4], nmae="x")
InputSpec([1.5])
Dim("n", minimum=2)
Dim(3)
dy2st.optimizer.Adamm(0.1)
dy2st.optimizer.Adam(0.1, params=net.parameters())
dy2st.optimizer.Adam(0.1, parameters=net.parameters).step(1)
adam.zero_gard()
adam.step(x)
DataLoader(data, batchsize=2)
DataLoader(data, batch_size="2")
DataLoader(data, shuffle="yes").foo
[batch.shape for batch in DataLoader(data)]
"a" * x
nn.Sequential(nn.Linear(4, 3)).foo(x)
net.fc.wieght
net.forwrd(x)
