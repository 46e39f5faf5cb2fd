"""Games and search trees: boards, minimax, Monte Carlo trees, A*, k-d trees, cellular automata."""

from __future__ import annotations

import functools
import heapq
import itertools
import math
from collections import ChainMap, Counter, defaultdict, deque
from dataclasses import InitVar, dataclass, field
from enum import Enum, Flag, IntEnum, auto
from operator import attrgetter, itemgetter, methodcaller, mul
from types import MappingProxyType
from typing import Any, ClassVar

import dy2st
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

ROWS = (
    [2.0, 2.0, 0.0, 4.0],
    [0.0, 4.0, 4.0, 8.0],
    [2.0, 4.0, 8.0, 16.0],
    [2.0, 2.0, 2.0, 2.0, 4.0],
)
EACH = [[None]]
BOARDS = (
    [[1.0, -1.0, 1.0], [-1.0, 1.0, 0.0], [0.0, 0.0, -1.0]],
    [[1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
    [[1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, 1.0]],
)
GRIDS = (
    [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]],
    [[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]],
)
WORLDS = (
    [[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]],
    [[1, 1, 0], [1, 1, 0], [0, 0, 0]],
    [[0, 0, 0, 0], [0, 0, 1, 0]],
)
TABLES = [[None, None]]
LINES = tuple(
    [tuple((r, c) for c in range(3)) for r in range(3)]
    + [tuple((r, c) for r in range(3)) for c in range(3)]
    + [((0, 0), (1, 1), (2, 2)), ((0, 2), (1, 1), (2, 0))]
)
POINTS = (ramp(5, 2), ramp(5, 2, step=0.3, period=7), ramp(3, 2))


@on(*ROWS, unknown=EACH)
def slide_to_the_left(row):
    tiles = [v for v in row if v != 0]
    merged, score, k = [], 0.0, 0
    while k < len(tiles):
        if k + 1 < len(tiles) and tiles[k] == tiles[k + 1]:
            merged.append(tiles[k] * 2)
            score += tiles[k] * 2
            k += 2
        else:
            merged.append(tiles[k])
            k += 1
    merged += [dy2st.zeros([])] * (len(row) - len(merged))
    return dy2st.stack(merged), score


class Move(Enum):
    """What a player may do."""

    LEFT = (0, False)
    RIGHT = (0, True)
    UP = (1, False)
    DOWN = (1, True)

    @property
    def is_vertical(self):
        return self.value[0] == 1

    @property
    def is_reversed(self):
        return self.value[1]


def slide(board, move):
    if move.is_vertical:
        board = board.T
    if move.is_reversed:
        board = board.flip([1])
    moved = dy2st.stack([slide_to_the_left(row)[0] for row in board])
    gain = sum(slide_to_the_left(row)[1] for row in board)
    if move.is_reversed:
        moved = moved.flip([1])
    return (moved.T if move.is_vertical else moved), gain


@on(
    [[2.0, 2.0], [4.0, 0.0]],
    [[2.0, 4.0], [8.0, 4.0]],
    [[0.0, 2.0], [0.0, 2.0]],
    [[2.0, 4.0], [4.0, 2.0]],
)
def best_move(board):
    best, best_gain = None, -1.0
    for move in Move:
        after, gain = slide(board, move)
        if (after == board).all():
            continue
        if gain > best_gain:
            best, best_gain = move, gain
    if best is None:
        return "stuck", 0.0
    return best.name, best_gain


@on(*WORLDS, unknown=TABLES)
def generation_of_life(world):
    rows, cols = world.shape
    alive = {(r, c) for r in range(rows) for c in range(cols) if world[r, c]}
    around = Counter(
        (r + dr, c + dc)
        for r, c in alive
        for dr, dc in itertools.product((-1, 0, 1), repeat=2)
        if dr or dc
    )
    following = {cell for cell, n in around.items() if n == 3 or (n == 2 and cell in alive)}
    return sorted(following)


@on(*WORLDS, unknown=TABLES)
def life_by_shifts(world):
    for step in range(3):
        around = sum(
            dy2st.roll(world, [dr, dc], axis=[0, 1])
            for dr in (-1, 0, 1)
            for dc in (-1, 0, 1)
            if (dr, dc) != (0, 0)
        )
        following = ((around == 3) | ((around == 2) & (world == 1))).astype(world.dtype)
        if (following == world).all():
            return following, step
        world = following
    return world, -1


@on(*BOARDS, [[1.0, 1.0, 1.0], [-1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
def winner(board):
    for line in LINES:
        total = sum(board[r, c] for r, c in line)
        if abs(total) == 3:
            return "x" if total > 0 else "o"
    if not any(board[r, c] == 0 for r in range(3) for c in range(3)):
        return "draw"
    return None


@on(ramp(8), ramp(8, step=0.3, period=5), ramp(8, step=-0.4))
def alpha_beta(leaves):
    pruned = []

    def search(low, high, alpha, beta, is_max):
        if high - low == 1:
            return leaves[low]
        middle = (low + high) // 2
        value = -math.inf if is_max else math.inf
        for a, b in ((low, middle), (middle, high)):
            child = search(a, b, alpha, beta, not is_max)
            if is_max:
                value = max(value, child)
                alpha = max(alpha, value)
            else:
                value = min(value, child)
                beta = min(beta, value)
            if alpha >= beta:
                pruned.append(b)
                break
        return value

    return search(0, 8, -math.inf, math.inf, True), len(pruned)


class Node:
    """A node of a tree of moves, with visits and the sum of rewards."""

    __slots__ = ("children", "parent", "prior", "total", "visits")

    def __init__(self, prior, parent=None):
        self.prior = prior
        self.parent = parent
        self.children = {}
        self.visits = 0
        self.total = 0.0

    @property
    def mean(self):
        return self.total / self.visits if self.visits else 0.0

    def score(self, child):
        return child.mean + 1.5 * child.prior * math.sqrt(self.visits + 1) / (1 + child.visits)

    def select(self):
        return max(self.children.items(), key=lambda item: self.score(item[1]))


@on([0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7])
def monte_carlo_tree(priors):
    root = Node(1.0)
    for _ in range(3):
        node, path = root, []
        while node.children:
            action, node = node.select()
            path.append(action)
        for action, prior in enumerate(priors.tolist()):
            node.children[action] = Node(prior, parent=node)
        reward = sum(path) / 4.0
        while node is not None:
            node.visits += 1
            node.total += reward
            node = node.parent
    return [child.visits for child in root.children.values()], root.mean


@on([0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.2, 0.7])
def bandit_of_upper_bounds(rewards):
    counts, sums = dy2st.zeros([3]), dy2st.zeros([3])
    history = []
    for t in range(6):
        if t < 3:
            arm = t
        else:
            bounds = sums / counts + (2 * math.log(t + 1) / counts).sqrt()
            arm = int(bounds.argmax())
        counts[arm] += 1
        sums[arm] += rewards[arm]
        history.append(arm)
    return history, counts, sums


@on(*GRIDS)
def a_star(grid):
    rows, cols = grid.shape
    goal = (rows - 1, cols - 1)

    def guess(cell):
        return abs(cell[0] - goal[0]) + abs(cell[1] - goal[1])

    open_, came, cost = [(guess((0, 0)), (0, 0))], {}, {(0, 0): 0}
    while open_:
        _, cell = heapq.heappop(open_)
        if cell == goal:
            path = [cell]
            while (cell := came.get(cell)) is not None:
                path.append(cell)
            return path[::-1]
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            other = (cell[0] + dr, cell[1] + dc)
            if not (0 <= other[0] < rows and 0 <= other[1] < cols):
                continue
            if grid[other] > 0.5:
                continue
            if (new := cost[cell] + 1) < cost.get(other, math.inf):
                cost[other] = new
                came[other] = cell
                heapq.heappush(open_, (new + guess(other), other))
    return None


@on(*GRIDS)
def islands(grid):
    rows, cols = grid.shape
    seen, areas = set(), []
    for cell in itertools.product(range(rows), range(cols)):
        if cell in seen or grid[cell] == 0:
            continue
        queue, area = deque([cell]), 0
        seen.add(cell)
        while queue:
            r, c = queue.popleft()
            area += 1
            for other in ((r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)):
                r2, c2 = other
                if 0 <= r2 < rows and 0 <= c2 < cols and grid[other] and other not in seen:
                    seen.add(other)
                    queue.append(other)
        areas.append(area)
    return areas, len(seen)


@dataclass
class Split:
    """A node of a k-d tree."""

    point: Any
    axis: int
    left: Any = None
    right: Any = None

    def nearest(self, query, best=None):
        distance = ((self.point - query) ** 2).sum()
        if best is None or distance < best[0]:
            best = (distance, self.point)
        away = query[self.axis] - self.point[self.axis]
        near, far = (self.left, self.right) if away < 0 else (self.right, self.left)
        if near is not None:
            best = near.nearest(query, best)
        return best if far is None or away**2 >= best[0] else far.nearest(query, best)


def split(points, depth=0):
    if not points:
        return None
    axis = depth % 2
    points = sorted(points, key=itemgetter(axis))
    middle = len(points) // 2
    return Split(
        points[middle],
        axis,
        split(points[:middle], depth + 1),
        split(points[middle + 1 :], depth + 1),
    )


@on(*(p[:3] for p in POINTS))
def nearest_by_a_tree(points):
    tree = split(list(points[1:]))
    distance, point = tree.nearest(points[0])
    return distance, point


@on(*(p.tolist() for p in POINTS))
def nearest_by_a_tree_of_numbers(points):
    rows = [tuple(p) for p in points.tolist()]

    def build(items, depth=0):
        if not items:
            return None
        items = sorted(items, key=lambda p: p[depth % 2])
        m = len(items) // 2
        return items[m], build(items[:m], depth + 1), build(items[m + 1 :], depth + 1)

    def depth_of(tree):
        return 0 if tree is None else 1 + max(map(depth_of, tree[1:]))

    tree = build(rows)
    return tree[0], depth_of(tree)


class Piece(IntEnum):
    PAWN = 1
    ROOK = 5
    QUEEN = 9


class Rights(Flag):
    NONE = 0
    SHORT = auto()
    LONG = auto()
    BOTH = SHORT | LONG


@on(*BOARDS)
def material(board):
    worth = {piece: piece.value * (1 if piece > 1 else 0.5) for piece in Piece}
    rights = Rights.BOTH
    total = 0.0
    for row, piece in zip(board, Piece):
        total = total + worth[piece] * row.sum()
        if row[0] < 0:
            rights &= ~Rights.LONG
        elif row[1] > 0 and Rights.SHORT in rights:
            rights ^= Rights.SHORT
    return total, rights.value, rights is Rights.NONE


@dataclass
class Position:
    """A board that knows whose turn it is, made with a margin."""

    cells: Any
    turn: int = 1
    margin: InitVar[float] = 0.0
    history: list = field(default_factory=list, repr=False)
    names: ClassVar[dict] = {1: "x", -1: "o"}

    def __post_init__(self, margin):
        self.cells = self.cells + margin
        self.free = (self.cells == 0).sum()

    def play(self, r, c):
        if self.cells[r, c] != 0:
            raise ValueError(f"taken by {self.names[self.turn]}")
        self.cells[r, c] = float(self.turn)
        self.history.append((r, c))
        self.turn = -self.turn
        return self


@on(*BOARDS)
def moves_until_one_is_taken(board):
    position = Position(board.clone())
    try:
        position.play(1, 2).play(2, 1).play(2, 0)
    except ValueError:
        position.history.append("taken")
    else:
        position.history.append("done")
    return position.cells, position.turn, position.history, position.free


@on(*ROWS, [3.0, 1.0, 2.0, 0.0], unknown=EACH)
def nim_sum(heaps):
    sizes = [int(h) for h in heaps]
    total = functools.reduce(lambda a, b: a ^ b, sizes, 0)
    if total == 0:
        return "lost", None
    takes = [(k, size - (size ^ total)) for k, size in enumerate(sizes) if size ^ total < size]
    return "won", takes[0]


@on(*ROWS, unknown=EACH)
def sandpile(piles):
    piles, topples = piles.clone(), 0
    while topples < 20 and (piles > 4).any():
        for k in range(len(piles)):
            if piles[k] > 4:
                piles[k] -= 2
                if k > 0:
                    piles[k - 1] += 1
                if k + 1 < len(piles):
                    piles[k + 1] += 1
                topples += 1
    return piles, topples


@on([1, 0, 1, 1, 0], [0, 0, 0, 1, 0], [1, 1, 1, 1])
def elementary_automaton(cells, rule=110):
    table = tuple(rule >> k & 1 for k in range(8))
    lookup = dy2st.to_tensor(list(table))
    history = [cells]
    for _ in range(3):
        left, right = cells.roll(1), cells.roll(-1)
        cells = lookup[4 * left + 2 * cells + right]
        if any((cells == old).all() for old in history):
            break
        history.append(cells)
    return cells, len(history)


@on(*ROWS, unknown=EACH)
def elo_ratings(scores):
    ratings = defaultdict(lambda: 1000.0)
    for k, s in enumerate(scores):
        a, b = f"p{k % 2}", f"p{k % 2 + 1}"
        expected = 1 / (1 + 10 ** ((ratings[b] - ratings[a]) / 400))
        result = 1.0 if s > 3 else 0.5 if s == 2 else 0.0
        change = 32 * (result - expected)
        ratings[a] += change
        ratings[b] -= change
    return sorted(ratings.items(), key=itemgetter(1, 0))


@on(*ROWS, unknown=EACH)
def settings_in_layers(row):
    defaults = MappingProxyType({"depth": 2, "bonus": 0.5})
    chosen = ChainMap({}, {"bonus": 1.5}, defaults)
    if row.max() > 8:
        chosen["depth"] = 3
    total = row.sum() * chosen["bonus"]
    for _ in range(chosen["depth"]):
        total = total / 2
    return total, chosen["depth"], len(chosen)


@on(*ROWS, unknown=EACH)
def moves_as_methods(row):
    steps = [methodcaller("abs"), methodcaller("clip", 0.0, 8.0), attrgetter("T")]
    out = functools.reduce(lambda value, step: step(value), steps, row)
    return out, functools.reduce(mul, (int(v) or 1 for v in out), 1)


@on(*BOARDS)
def diagonals_of_queens(board):
    chosen = tuple(int(row.argmax()) for row in board)
    clashes = [
        (i, j)
        for (i, a), (j, b) in itertools.combinations(enumerate(chosen), 2)
        if a == b or abs(a - b) == j - i
    ]
    return chosen, clashes


@on([0.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.0, 0.0])
def queens_by_backtracking(start):
    first = int(start.argmax())
    n = 4
    solutions = []

    def place(row, columns):
        if row == n:
            solutions.append(columns)
            return True
        for c in range(n):
            if all(c != k and abs(c - k) != row - r for r, k in enumerate(columns)):
                if place(row + 1, (*columns, c)):
                    return True
        return False

    found = place(1, (first,))
    return found, solutions


@on([3.0, 1.0, 2.0], [1.0, 2.0, 3.0], [2.0, 2.0, 1.0])
def cards_in_hand(cards):
    hand = Counter(int(c) for c in cards)
    (best, count), *rest = hand.most_common()
    if count == 2:
        return "pair", best, len(rest)
    ordered = sorted(hand)
    is_run = all(b - a == 1 for a, b in itertools.pairwise(ordered))
    return "run" if is_run else "high", max(hand), len(rest)


@on([0, 13, 26, 1, 14], [12, 11, 10, 9, 8], [0, 13, 1, 14, 30], [3, 20, 7, 41], unknown=EACH)
def poker_hand(cards):
    ranks = sorted((c % 13 for c in cards.tolist()), reverse=True)
    is_flush = len({c // 13 for c in cards.tolist()}) == 1
    match sorted(Counter(ranks).items(), key=lambda pair: (-pair[1], -pair[0])):
        case [(rank, 4), *_] | [(rank, 3), (_, 2)]:
            return "full", rank
        case [(high, 1), *_] if is_flush:
            return "flush", high
        case [(a, 2), (b, 2), _]:
            return "two pairs", a, b
        case [(rank, n), *kickers]:
            return "kickers", rank, n, kickers


class Policy(nn.Layer):
    """Plays by a net, remembers the boards that it has seen and their values."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(9, 9)
        self.cache = {}
        self.hits = 0

    def forward(self, board):
        key = tuple(int(v) for v in board.flatten())
        if key in self.cache:
            self.hits += 1
            return self.cache[key]
        logits = self.net(board.flatten())
        legal = board.flatten() == 0
        move = dy2st.where(legal, logits, dy2st.full_like(logits, -1e9)).argmax()
        self.cache[key] = move
        return move


on(BOARDS[0], BOARDS[1], BOARDS[0])(Policy)


@on([1, 2, 0], [2, 2, 1], [0, 0, 0])
def turns_of_players(rolls):
    players = itertools.cycle(("red", "blue"))
    places = dict.fromkeys(("red", "blue"), 0)
    for player, roll in zip(players, rolls.tolist()):
        places[player] += roll
        if places[player] >= 3:
            break
    else:
        player = None
    return player, places


@on(ramp(3, 3), ramp(3, 3, step=0.2), ramp(3, 3, period=5))
def spiral(board):
    rows = [list(row) for row in board]
    out = []
    while rows:
        out.extend(rows.pop(0))
        rows = [list(r) for r in zip(*rows)][::-1]
    return dy2st.stack(out)


@on(ramp(2, 3), ramp(3, 2), ramp(2, 2), unknown=TABLES)
def path_of_least_cost(grid):
    rows, cols = grid.shape

    @functools.cache
    def cost(r, c):
        if r < 0 or c < 0:
            return math.inf
        if r == c == 0:
            return float(grid[0, 0])
        return float(grid[r, c]) + min(cost(r - 1, c), cost(r, c - 1))

    return cost(rows - 1, cols - 1)
