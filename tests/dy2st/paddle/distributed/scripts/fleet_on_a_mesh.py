"""Trains on the mesh of fleet.init as alone, one plain step of training; says whether both agree."""

import sys

import numpy as np

import dy2st
import dy2st.distributed as dist
from dy2st import nn, optimizer
from dy2st.distributed import fleet
from dy2st.distributed.fleet import meta_parallel as parallel

STEPS, ROWS, LENGTH, VOCABULARY, WIDTH = 20, 16, 6, 24, 16
RNG = np.random.default_rng(3)
TEXTS = RNG.integers(0, VOCABULARY, (STEPS * ROWS, LENGTH))
LABELS = RNG.integers(0, VOCABULARY, (STEPS * ROWS, 1))


class Text(dy2st.io.Dataset):
    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, index):
        return TEXTS[index], LABELS[index]


class Parallel(nn.Layer):
    """A small transformer of the layers that fleet has for it."""

    def __init__(self):
        super().__init__()
        dy2st.seed(5)
        self.table = parallel.VocabParallelEmbedding(VOCABULARY, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.parts = nn.LayerList(
            [parallel.ColumnParallelLinear(WIDTH, WIDTH, has_bias=True) for _ in range(3)]
        )
        self.out = parallel.RowParallelLinear(WIDTH, WIDTH)
        self.up = parallel.ColumnParallelLinear(WIDTH, 64, has_bias=True, gather_output=False)
        self.down = parallel.RowParallelLinear(64, WIDTH, input_is_parallel=True)
        self.head = parallel.ColumnParallelLinear(WIDTH, VOCABULARY, has_bias=False)

    def forward(self, text):
        x = self.table(text)
        heads = [part(self.norm(x)).reshape([0, 0, 4, WIDTH // 4]) for part in self.parts]
        mixed = nn.functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.reshape([0, 0, WIDTH]))
        x = x + self.down(nn.functional.gelu(self.up(x)))
        return self.head(x.mean(1))


def adam_of(model):
    clip = nn.ClipGradByGlobalNorm(1.0)
    return optimizer.AdamW(0.02, epsilon=1e-3, parameters=model.parameters(), grad_clip=clip)


def trained(model, adam, loader, convert):
    loss_of = parallel.ParallelCrossEntropy()

    def step(x, y):
        loss = loss_of(model(x), y).mean()
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    step = dy2st.to_static(step) if convert else step
    losses = [float(step(x, y)) for x, y in loader]
    return losses, [p.numpy() for p in model.parameters()]


def alone():
    batches = [slice(k * ROWS, (k + 1) * ROWS) for k in range(STEPS)]
    loader = [(dy2st.to_tensor(TEXTS[b]), dy2st.to_tensor(LABELS[b])) for b in batches]
    model = Parallel()
    return trained(model, adam_of(model), loader, False)


def main(dp, sharding, mp, stage):
    dist.init_parallel_env()
    wanted = alone()
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": dp, "sharding_degree": sharding, "mp_degree": mp}
    strategy.sharding_configs = {"stage": stage}
    fleet.init(is_collective=True, strategy=strategy)
    model = fleet.distributed_model(Parallel())
    adam = fleet.distributed_optimizer(adam_of(model))
    sampler = dy2st.io.DistributedBatchSampler(Text(), ROWS)
    found = trained(model, adam, dy2st.io.DataLoader(Text(), batch_sampler=sampler), True)
    apart = [float(np.abs(np.asarray(a) - b).max()) for a, b in zip(found[1], wanted[1])]
    print("equal", max(apart) < 1e-5 and np.allclose(found[0], wanted[0], rtol=1e-5))
    held = [model.up.weight, adam.accumulators(model.up.weight)["moment1"]]
    parts = [one.as_resident().value.addressable_shards[0].data.shape for one in held]
    print("parts", *parts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
