"""Reinforcement learning: returns, advantages, replay, traces, tables of values, policies, bandits."""

from __future__ import annotations

import abc
import copy
import itertools
import math
import operator
from collections import Counter, deque
from collections.abc import Iterator, MutableMapping
from dataclasses import asdict, dataclass, field, fields
from types import SimpleNamespace
from typing import Any, NamedTuple

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

REWARDS = (
    [1.0, 0.0, 2.0, -1.0],
    [0.0, 0.0, 0.0, 5.0],
    [-1.0, -2.0, 0.5],
    [3.0],
)
EACH = [[None]]
TABLES = (ramp(4, 3), ramp(4, 3, step=0.2), ramp(4, 3, step=-0.3, period=7))
STATES = ([0.5, 0.1, 0.2], [0.1, 0.9, -0.2], [-0.5, -0.1, -0.9])


@on(*REWARDS, unknown=EACH)
def discounted_returns(rewards, gamma=0.9):
    total, returns = 0.0, deque()
    for r in reversed(rewards):
        total = r + gamma * total
        returns.appendleft(total)
    out = dy2st.stack(list(returns))
    if len(out) > 1 and out.std() > 1e-3:
        out = (out - out.mean()) / out.std()
    return out


@on(*REWARDS, unknown=EACH)
def generalised_advantages(rewards, gamma=0.9, lam=0.8):
    values = rewards * 0.5 + 0.1
    done = rewards < -0.5
    last, out = dy2st.zeros([]), []
    for t in range(len(rewards) - 1, -1, -1):
        following = values[t + 1] if t + 1 < len(rewards) else 0.0
        alive = 0.0 if done[t] else 1.0
        delta = rewards[t] + gamma * following * alive - values[t]
        last = delta + gamma * lam * alive * last
        out.insert(0, last)
    return dy2st.stack(out), dy2st.stack(out) + values


@on(*REWARDS, unknown=EACH)
def episodes_split_at_their_ends(rewards):
    episodes, current = [], []
    for r in rewards:
        current.append(r)
        if r < 0 or len(current) == 3:
            episodes.append(sum(current))
            current = []
    if current:
        episodes.append(sum(current))
    return len(episodes), max(episodes), min(episodes)


@on(*TABLES)
def q_learning(table, rate=0.5):
    q = table.clone()
    state, path = 0, []
    for step in range(4):
        action = int(q[state].argmax())
        following = (state + action + 1) % 4
        reward = 1.0 if following == 3 else -0.1
        target = reward + 0.9 * q[following].max()
        q[state, action] += rate * (target - q[state, action])
        path.append((state, action))
        if following == 3:
            break
        state = following
    return q, path, step


@on(*TABLES)
def traces_of_eligibility(table):
    values = table.mean(1)
    traces = dy2st.zeros([4])
    state = 0
    while state < 3:
        jump = 1 if table[state, 0] > table[state, 1] else 2
        following = min(state + jump, 3)
        delta = (1.0 if following == 3 else 0.0) + 0.9 * values[following] - values[state]
        traces = 0.72 * traces
        traces[state] = 1.0
        values = values + 0.5 * delta * traces
        state = following
    return values, traces


@on(*TABLES)
def policy_iteration(table):
    policy, rounds = [0] * 4, 0
    values = dy2st.zeros([4])
    while True:
        for _ in range(2):
            values = dy2st.stack(
                [table[s, a] + 0.5 * values[(s + a) % 4] for s, a in enumerate(policy)]
            )
        better = []
        for s in range(4):
            scores = [table[s, a] + 0.5 * values[(s + a) % 4] for a in range(3)]
            better.append(int(dy2st.stack(scores).argmax()))
        rounds += 1
        if better == policy or rounds == 3:
            return policy, values, rounds
        policy = better


class Transition(NamedTuple):
    """One step."""

    state: Any
    action: Any
    reward: Any
    done: bool = False


class Replay:
    """The last few transitions, overwritten in a circle."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.items = []
        self.place = 0

    def push(self, *parts, **options):
        item = Transition(*parts, **options)
        if len(self.items) < self.capacity:
            self.items.append(item)
        else:
            self.items[self.place] = item
        self.place = (self.place + 1) % self.capacity

    def batch(self):
        return Transition(*(dy2st.stack(list(part)) for part in zip(*(i[:3] for i in self.items))))

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __contains__(self, place):
        return 0 <= place < len(self.items)


@on(*REWARDS, unknown=EACH)
def replay_in_a_circle(rewards):
    replay = Replay(2)
    for t, r in enumerate(rewards):
        replay.push(r * 2, r.sign(), reward=r, done=t == 2)
    return replay.batch(), len(replay), replay.place, 1 in replay


@on(*REWARDS[:2], [2.0, -2.0, 2.0, -2.0])
def replay_of_what_surprises(rewards):
    replay = Replay(3)
    average = 0.0
    for r in rewards:
        if (r - average).abs() > 0.5:
            replay.push(average, average * 0, r)
        average = average + 0.5 * (r - average)
    total = sum((item.reward for item in replay), dy2st.zeros([]))
    return total, len(replay), replay.place


class SumTree:
    """Priorities in a heap of sums."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.nodes = dy2st.zeros([2 * capacity - 1])

    def set(self, place, priority):
        node = place + self.capacity - 1
        change = priority - self.nodes[node]
        while True:
            self.nodes[node] += change
            if node == 0:
                break
            node = (node - 1) // 2

    def find(self, value):
        node = 0
        while node < self.capacity - 1:
            left = 2 * node + 1
            if value <= self.nodes[left]:
                node = left
            else:
                value = value - self.nodes[left]
                node = left + 1
        return node - self.capacity + 1

    @property
    def total(self):
        return self.nodes[0]


@on([1.0, 0.5, 2.0, 0.25], [0.1, 3.0, 0.1, 0.1], [0.1, 0.1, 0.1, 4.0])
def sampled_from_a_sum_tree(priorities):
    tree = SumTree(4)
    for place, p in enumerate(priorities):
        tree.set(place, p)
    picks = [tree.find(tree.total * share) for share in (0.1, 0.5, 0.9)]
    tree.set(0, dy2st.zeros([]))
    return picks, tree.total


class Agent(abc.ABC):
    """What chooses."""

    registry: dict = {}

    def __init_subclass__(cls, /, label, **options):
        super().__init_subclass__(**options)
        Agent.registry[label] = cls

    def __init__(self, epsilon=0.1):
        self.epsilon = epsilon
        self.chosen = Counter()

    @abc.abstractmethod
    def scores(self, values): ...

    def act(self, values):
        action = int(self.scores(values).argmax())
        self.chosen[action] += 1
        return action


class Greedy(Agent, label="greedy"):
    def scores(self, values):
        return values


class Soft(Agent, label="soft"):
    def __init__(self, temperature=2.0, **options):
        super().__init__(**options)
        self.temperature = temperature

    def scores(self, values):
        scaled = super().scores(values) or values
        return F.softmax(scaled / self.temperature, axis=-1) * (1 - self.epsilon)


@on(*TABLES)
def agents_by_name(table):
    totals = {}
    for name, kind in sorted(Agent.registry.items()):
        agent = kind(epsilon=0.2)
        for row in table:
            agent.act(row)
        totals[name] = agent.chosen.total()
    return totals, len(agent.chosen)


@on(*STATES)
def actions_by_sampling(state):
    policy = F.softmax(state, axis=-1)
    edges = policy.cumsum(0)
    actions, entropy = [], -(policy * policy.log()).sum()
    for _ in range(3):
        u = dy2st.rand([])
        actions.append(int((edges < u).astype("int64").sum()))
    if entropy > 1.0:
        actions.append(-1)
    return actions, entropy


@on(*STATES)
def squashed_gaussian(state):
    mean, spread = state[0], state[1].exp()
    tries = 0
    while True:
        action = mean + spread * dy2st.randn([])
        tries += 1
        if action.abs() < 1.5 or tries > 4:
            break
    return dy2st.tanh(action), tries


@on(*REWARDS, unknown=EACH)
def clipped_surrogate(rewards, clip=0.2):
    old = dy2st.zeros_like(rewards)
    losses, kept = [], 0
    for epoch in range(4):
        ratio = ((rewards * 0.1 * epoch) - old).exp()
        limited = ratio.clip(1 - clip, 1 + clip)
        loss = -dy2st.minimum(ratio * rewards, limited * rewards).mean()
        divergence = (ratio - 1 - ratio.log()).mean()
        if divergence > 0.02:
            break
        losses.append(loss)
        kept = epoch
    return losses[-1], kept


@dataclass
class Config:
    """Settings of a run, with what is derived from them."""

    gamma: float = 0.9
    steps: int = 3
    schedule: tuple = (1.0, 0.5)
    extra: dict = field(default_factory=dict)

    def __post_init__(self):
        self.horizon = int(1 / (1 - self.gamma))

    @classmethod
    def of(cls, **options):
        known = {f.name for f in fields(cls)}
        own = {k: v for k, v in options.items() if k in known}
        return cls(**own, extra={k: v for k, v in options.items() if k not in known})


@on(*REWARDS, unknown=EACH)
def n_step_targets(rewards):
    config = Config.of(gamma=0.8, steps=2, seed=3)
    targets = []
    for t in range(len(rewards)):
        window = rewards[t : t + config.steps]
        discounts = dy2st.to_tensor([config.gamma**k for k in range(config.steps)])
        targets.append((window * discounts[: len(window)]).sum())
    return dy2st.stack(targets), asdict(config)["extra"], config.horizon


class Bandit(nn.Layer):
    """Keeps counts and means of arms over calls, and how long it has lived."""

    def __init__(self, arms=3):
        super().__init__()
        self.counts = [0] * arms
        self.means = [0.0] * arms
        self.register_buffer("last", dy2st.zeros([arms]))
        self.age = 0

    def forward(self, rewards):
        self.age += 1
        for arm, reward in enumerate(rewards):
            self.counts[arm] += 1
            self.means[arm] = self.means[arm] + (reward - self.means[arm]) / self.counts[arm]
        best = max(range(len(self.means)), key=lambda arm: self.means[arm])
        self.last = rewards * (1.0 / self.age)
        return best, self.means[0], self.age


on(STATES[0], STATES[1], STATES[2])(Bandit)


@on(STATES[0], STATES[1], STATES[2], STATES[0])
class ActorWithATarget(nn.Layer):
    """Two nets; the second follows the first, at every second call."""

    def __init__(self, tau=0.5):
        super().__init__()
        self.online = nn.Linear(3, 2)
        self.target = copy.deepcopy(self.online)
        for slow in self.target.parameters():
            slow.stop_gradient = True
        self.tau, self.calls = tau, 0
        self.losses = deque(maxlen=2)

    def forward(self, state):
        q = self.online(state)
        goal = self.target(state).max().detach()
        loss = (q.max() - goal) ** 2 + 0.1
        self.losses.append(loss)
        self.calls += 1
        if self.calls % 2 == 0:
            with dy2st.no_grad():
                for slow, fast in zip(self.target.parameters(), self.online.parameters()):
                    slow.set_value(slow * (1 - self.tau) + (fast + 0.1) * self.tau)
        return loss, sum(self.losses) / len(self.losses)


class Table(MutableMapping):
    """A table of values with a default, behind the interface of a dict."""

    def __init__(self, default=0.0):
        self.default = default
        self.held = {}

    def __getitem__(self, key):
        return self.held.get(key, self.default)

    def __setitem__(self, key, value):
        self.held[key] = value

    def __delitem__(self, key):
        del self.held[key]

    def __iter__(self):
        return iter(self.held)

    def __len__(self):
        return len(self.held)


@on(*REWARDS, unknown=EACH)
def table_behind_a_mapping(rewards):
    table = Table(default=1.0)
    for t, r in enumerate(rewards):
        key = ("even", "odd")[t % 2]
        table[key] += r
        if table[key] > 3:
            table.update(best=table[key])
    table.pop("odd", None)
    return dict(table), table["even"], "odd" in table


class GridWorld:
    """An environment with a step, used as an iterator and as a manager."""

    moves = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}

    def __init__(self, costs, size=2):
        self.costs, self.size = costs, size
        self.place = (0, 0)
        self.closed = False

    def __enter__(self):
        self.place = (0, 0)
        return self

    def __exit__(self, kind, error, trace):
        self.closed = True
        return kind is IndexError

    def step(self, move):
        r, c = (a + b for a, b in zip(self.place, self.moves[move]))
        if not (0 <= r < self.size and 0 <= c < self.size):
            raise IndexError("outside")
        self.place = r, c
        return -self.costs[r, c], self.place == (1, 1)


@on([[0.5, 1.0], [0.2, 0.0]], [[0.1, 0.1], [2.0, 3.0]], [[1.0, 2.0], [2.0, 1.0]])
def walk_in_a_grid(costs):
    world, total, steps = GridWorld(costs), 0.0, 0
    with world as env:
        for move in "rdd" if costs[0, 1] < costs[1, 0] else "drr":
            reward, done = env.step(move)
            total = total + reward
            steps += 1
            if done and total > -1.0:
                break
    return total, steps, world.closed, world.place


def episode(values) -> Iterator[tuple[int, Any]]:
    total = 0.0
    for t, v in enumerate(values):
        total = total + v
        feedback = yield t, total
        if feedback is not None and feedback > 2:
            return
    yield -1, total


@on(*(r for r in REWARDS if len(r) > 1))
def episode_with_feedback(rewards):
    run = episode(rewards)
    step, total = next(run)
    seen = [step]
    while True:
        try:
            step, total = run.send(total)
        except StopIteration:
            break
        seen.append(step)
    return seen, total


@on(*STATES)
def categorical_projection(state, atoms=5):
    support = [k - 2.0 for k in range(atoms)]
    out = [dy2st.zeros([])] * atoms
    for s, p in zip(state, F.softmax(state, axis=-1)):
        place = min(max(float(s) * 2 + 2.0, 0.0), atoms - 1.0)
        low, high = math.floor(place), math.ceil(place)
        if low == high:
            out[low] = out[low] + p
        else:
            out[low] = out[low] + p * (high - place)
            out[high] = out[high] + p * (place - low)
    return dy2st.stack(out), sum(a * b for a, b in zip(support, out))


@on(*REWARDS, [1.0, 1.0, 2.0], unknown=EACH)
def curriculum(rewards):
    level, streak, log = 1, 0, []
    for r in rewards:
        match (bool(r > 0), streak, level):
            case (True, 1, n) if n < 3:
                level, streak = n + 1, 0
            case (True, _, _):
                streak += 1
            case (False, 0, n):
                level = max(n - 1, 1)
            case (False, *_):
                streak = 0
        log.append(level)
    return log, streak


@on(*STATES)
def tile_coding(state, tilings=2, tiles=3):
    weights = dy2st.zeros([tilings, tiles, tiles])
    active = []
    for k in range(tilings):
        i, j = (
            int(((s + 1 + k / (2 * tilings)) * tiles / 2.5).floor().clip(0, tiles - 1))
            for s in state[:2]
        )
        weights[k, i, j] += 0.5
        active.append(k * tiles * tiles + i * tiles + j)
    return active, weights.flatten()[active].sum()


@on(*REWARDS, unknown=EACH)
def statistics_that_run(rewards):
    stats = SimpleNamespace(n=0, mean=0.0, m2=0.0, low=math.inf, high=-math.inf)
    for r in rewards:
        stats.n += 1
        change = r - stats.mean
        stats.mean += change / stats.n
        stats.m2 += change * (r - stats.mean)
        stats.low, stats.high = min(stats.low, r), max(stats.high, r)
    spread = (stats.m2 / (stats.n - 1)) ** 0.5 if stats.n > 1 else None
    return vars(stats), spread


@on(*TABLES)
def successors_by_accumulate(table):
    rewards = [row.max() for row in table]
    best = list(itertools.accumulate(rewards, max))
    sums = list(itertools.accumulate(rewards, lambda a, r: 0.9 * a + r, initial=0.0))
    drops = [operator.sub(a, b) for a, b in itertools.pairwise(best)]
    return best[-1], sums[-1], any(d < 0 for d in drops)


@on(*TABLES)
def options_that_end(table):
    class Option:
        def __init__(self, name, start, end):
            self.name, self.start, self.end = name, start, end

    options = [
        Option("up", lambda v: v.max() > 1, lambda v: v[0] > 0),
        Option("down", lambda v: True, lambda v: v.min() < -1),
    ]
    current, used = None, []
    for row in table:
        if current is None:
            current = next(o for o in options if o.start(row))
        used.append(current.name)
        if current.end(row):
            current = None
    return used, current is None


@on(*REWARDS, unknown=EACH)
def rollouts_of_workers(rewards):
    workers = {name: [] for name in ("a", "b")}
    for name, r in zip(itertools.cycle(workers), rewards):
        workers[name] += [r]
    totals = {name: sum(own) for name, own in workers.items() if own}
    first, *others = sorted(totals, key=totals.__getitem__, reverse=True)
    return totals[first], len(others)
