"""Experts, schedules, rollouts, graphs and metrics, written with objects, dicts and generators."""

from __future__ import annotations

import collections
import logging
import math
from dataclasses import dataclass

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

LOSSES = ([1.0, 0.8, 0.9, 0.85, 0.7], [2.0, 1.9, 1.8, 1.7, 1.6], [1.0, 1.2, 1.3, 1.4, 1.5], [0.5])
ROWS = (ramp(4, 2), ramp(4, 2, start=0.5), ramp(4, 2, step=-0.5), ramp(3, 2))
ROWS += (ramp(4, 2, step=0.05, start=0.0),)
EACH = [[None]]
MANY = [[None, 2]]
LOG = logging.getLogger(__name__)


class EarlyStopping:
    """Patience with a best value."""

    def __init__(self, patience=2, delta=0.0):
        self.patience, self.delta = patience, delta
        self.best, self.bad, self.stopped = None, 0, False

    def __call__(self, value):
        if self.best is None or value < self.best - self.delta:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
            if self.bad >= self.patience:
                self.stopped = True
        return self.stopped


@on(*LOSSES, unknown=EACH)
def stopped_by_an_object(losses):
    stopper = EarlyStopping()
    steps = 0
    for loss in losses:
        steps += 1
        if stopper(loss):
            break
    return steps, stopper.best, stopper.bad


@on(*LOSSES, unknown=EACH)
def plateau_with_a_message(losses):
    best, rate, wait = math.inf, 1.0, 0
    for epoch, loss in enumerate(losses):
        if loss < best:
            best, wait = loss, 0
            LOG.debug("epoch %d is best", epoch)
        else:
            wait += 1
            if wait > 1:
                rate, wait = rate * 0.5, 0
                LOG.debug(f"rate is {rate}")
    return rate, best


class Average:
    """A mean that is updated."""

    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum = self.sum + value * n
        self.count += n

    @property
    def mean(self):
        return self.sum / self.count if self.count else 0.0


@on(*LOSSES, unknown=EACH)
def meters_by_name(losses):
    meters = collections.defaultdict(lambda: Average("any"))
    for loss in losses:
        meters["all"].update(loss)
        if loss < 1.0:
            meters["good"].update(loss)
    return {name: meter.mean for name, meter in meters.items()}


@on(*LOSSES, unknown=EACH)
def history_of_events(losses):
    history = {"loss": [], "events": []}
    last = None
    for loss in losses:
        history["loss"].append(loss)
        if last is not None and loss > last:
            history["events"].append("worse")
        last = loss
    return history


@on(*LOSSES, unknown=EACH)
def schedule_of_a_generator(losses):
    def rates(first):
        rate = first
        while True:
            yield rate
            rate = rate * 0.5

    total = 0.0
    for loss, rate in zip(losses, rates(1.0)):
        total = total + loss * rate
    return total


@on(*LOSSES, unknown=EACH)
def milestones_that_are_passed(losses):
    milestones, rate = [1.5, 1.0, 0.75], 1.0
    for loss in losses:
        while milestones and loss < milestones[0]:
            milestones.pop(0)
            rate = rate * 0.1
    return rate, milestones


@on(*LOSSES, unknown=EACH)
def checkpoints_kept(losses):
    kept = []
    for step, loss in enumerate(losses):
        kept.append((loss, step))
        kept.sort(key=lambda pair: pair[0])
        if len(kept) > 2:
            kept.pop()
    return [step for _, step in kept]


@on(*ROWS, unknown=MANY)
def tokens_sent_to_experts(x):
    queues = {name: [] for name in ("left", "right", "dropped")}
    for row in x:
        name = "left" if row[0] > row[1] else "right"
        if len(queues[name]) >= 1:
            name = "dropped"
        queues[name].append(row)
    return {name: len(queue) for name, queue in queues.items()}


@on(*ROWS, unknown=MANY)
class RoutedThroughExperts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(2, 3)
        self.experts = nn.LayerList([nn.Linear(2, 2) for _ in range(3)])
        self.load = [0, 0, 0]

    def forward(self, x):
        weights, picks = self.gate(x).softmax(-1).topk(2)
        out = dy2st.zeros_like(x)
        load = collections.Counter()
        for e, expert in enumerate(self.experts):
            rows, slot = dy2st.where(picks == e)
            if len(rows) == 0:
                continue
            load[e] = len(rows)
            out = out.index_add(rows, 0, expert(x[rows]) * weights[rows, slot].unsqueeze(-1))
        return out, max(load.values())


@dataclass
class Transition:
    """A step of an episode."""

    state: object
    action: int
    reward: object
    done: bool = False


class Environment:
    """A point that walks on a line."""

    def __init__(self, position):
        self.position, self.steps = position, 0

    def step(self, action):
        self.position = self.position + action
        self.steps += 1
        done = self.position.abs() > 2 or self.steps >= 4
        return self.position, -self.position.abs(), done


@on([0.5], [1.5], [-0.75], [3.0])
def rollout_of_an_episode(x):
    environment = Environment(x[0])
    episode, state, done = [], x[0], False
    while not done:
        action = 1 if state >= 0 else -1
        state, reward, done = environment.step(action)
        episode.append(Transition(state, action, reward, done))
    gains, gain = [], 0.0
    for step in reversed(episode):
        gain = step.reward + 0.9 * gain
        gains.insert(0, gain)
    return gains[0], len(episode)


@on([0.5], [1.5], [-0.75], [3.0])
def rollout_of_a_generator(x):
    def episode(state):
        for _ in range(4):
            action = yield_action(state)
            state = state + action
            yield state, -state.abs()
            if state.abs() > 2:
                return

    def yield_action(state):
        return 1.0 if state >= 0 else -0.5

    return sum(reward for _, reward in episode(x[0]))


@on(*LOSSES, unknown=EACH)
def replay_buffer_by_priority(rewards):
    buffer = collections.deque(maxlen=3)
    for step, reward in enumerate(rewards):
        buffer.append((reward, step))
    best = max(buffer, key=lambda entry: entry[0])
    recent = [reward for reward, step in buffer if reward > best[0] * 0.5]
    return best[1], len(recent)


TREE = ("+", ("*", 0, 1), ("-", 2, ("neg", 0)))
LEAVES = ([1.0, 2.0, 3.0], [-1.0, 0.5, 4.0], [0.0, 0.0, -1.0])


@on(*LEAVES)
class TreeOfOperators(nn.Layer):
    def __init__(self):
        super().__init__()
        self.parts = nn.LayerDict({"+": nn.Tanh(), "*": nn.ReLU(), "-": nn.Identity()})

    def forward(self, leaves, tree=TREE):
        if isinstance(tree, int):
            return leaves[tree]
        name, *children = tree
        values = [self.forward(leaves, child) for child in children]
        if name == "neg":
            return -values[0]
        value = values[0] + values[1] if name == "+" else values[0] * values[1]
        return self.parts[name](value) if value > 0 else value


EDGES = ([[0, 1], [1, 2], [2, 0]], [[0, 1], [0, 2], [0, 1]], [[2, 1], [1, 1], [2, 1]], [[0, 1]])


@on(*EDGES, unknown=MANY)
def neighbours_of_each_node(edges):
    neighbours = {node: [] for node in range(3)}
    for edge in edges:
        a, b = int(edge[0]), int(edge[1])
        neighbours[a].append(b)
        neighbours[b].append(a)
    return {node: len(found) for node, found in neighbours.items()}


@on(*EDGES, unknown=MANY)
def nodes_reached_from_the_first(edges):
    pairs = edges.tolist()
    visited, queue = {0}, collections.deque([0])
    while queue:
        node = queue.popleft()
        for a, b in pairs:
            if a == node and b not in visited:
                visited.add(b)
                queue.append(b)
    return sorted(visited)


@on(*EDGES, unknown=MANY)
def edges_without_doubles(edges):
    seen = {}
    for a, b in edges.tolist():
        key = (min(a, b), max(a, b))
        seen.setdefault(key, 0)
        seen[key] += 1
    return len(seen), max(seen.values())


@on(*EDGES, unknown=MANY)
def sets_that_are_joined(edges):
    parent = list(range(3))

    def find(node):
        while parent[node] != node:
            node = parent[node]
        return node

    for edge in edges:
        a, b = find(int(edge[0])), find(int(edge[1]))
        if a != b:
            parent[a] = b
    return len({find(node) for node in range(3)}), parent


class Scheduler:
    """Timesteps and the noise of each."""

    def __init__(self, steps):
        self.timesteps = list(range(steps))[::-1]
        self.order, self.outputs = 1, []

    def step(self, noise, t, x):
        self.outputs.append(noise)
        if len(self.outputs) > 2:
            self.outputs.pop(0)
        if len(self.outputs) == 2 and self.order == 1:
            noise = (3 * self.outputs[-1] - self.outputs[-2]) / 2
        x = x - noise * 0.1
        if x.abs().max() > 4:
            x = x / x.abs().max() * 4
            self.order = 0
        return {"sample": x, "norm": x.norm()}


@on(*ROWS, unknown=MANY)
def sampler_of_a_scheduler(x):
    scheduler = Scheduler(4)
    for t in scheduler.timesteps:
        found = scheduler.step(dy2st.sin(x + t), t, x)
        x = found["sample"]
        if found["norm"] < 1.0:
            break
    return x, scheduler.order, len(scheduler.outputs)


@on(*ROWS, unknown=MANY)
def terms_of_a_loss_by_name(x):
    losses = {"main": x.mean()}
    if x.max() > 2:
        losses["peak"] = x.max()
    if x.min() < -1:
        losses["low"] = -x.min()
    return sum(losses.values()), list(losses)


@on(*ROWS, unknown=MANY)
def options_as_keywords(x):
    def loss(x, scale=1.0, reduction="mean", bias=0.0):
        value = x.mean() if reduction == "mean" else x.sum()
        return value * scale + bias

    options = {"reduction": "sum"}
    if x.mean() > 0:
        options["scale"] = 0.5
    if x.max() > 2:
        options.update(bias=1.0)
    return loss(x, **options)
