"""Speech and audio: prefix beams, transducers, pitch, filters, stretching, activity, alignment."""

from __future__ import annotations

import bisect
import cmath
import functools
import itertools
import math
import re
from collections import OrderedDict, defaultdict, deque, namedtuple
from contextlib import ExitStack, nullcontext
from dataclasses import astuple, dataclass, field
from statistics import mean
from typing import Any

import dy2st
import dy2st.nn.functional as F
from dy2st import nn
from tests.dy2st.catalogue.entry import on, ramp

BLANK = 0
NEG = -1e30
FRAMES = (
    [[0.1, 2.0, 0.3], [0.2, 0.1, 1.5], [3.0, 0.1, 0.2], [0.1, 0.2, 0.9]],
    [[2.0, 0.1, 0.3], [0.2, 1.1, 0.5], [0.3, 1.1, 0.2], [0.9, 0.2, 0.1]],
    [[0.1, 0.2, 2.3], [0.1, 0.2, 0.9], [0.3, 0.1, 2.2]],
    [[0.3, 0.9, 0.1]],
)
STEPS = [[None, 3]]
BELL = [0.1, 0.5, 0.9, 0.5, 0.1, -0.4, -0.9, -0.6, -0.1, 0.4, 0.9, 0.6, 0.1, -0.5, -0.9, -0.4]
WAVES = (
    ramp(24, step=0.1, start=-0.5),
    ramp(24, step=0.2, start=-1.0, period=5),
    ramp(18, step=0.1, start=0.0, period=3),
    ramp(30, step=0.0, start=0.0),
)
EACH = [[None]]
LABELS = ([1, 1, 0, 2, 2, 0, 0, 1], [0, 0, 0], [2, 1, 2, 1], [0, 2])


def log_add(a, b):
    if a < b:
        a, b = b, a
    if b <= NEG:
        return a
    return a + math.log1p(math.exp(b - a))


@on(*(f[:2] for f in FRAMES[:2]))
def prefix_beam_of_numbers(logits, width=2):
    beams = {(): (0.0, NEG)}
    for row in F.log_softmax(logits, axis=-1):
        grown = defaultdict(lambda: (NEG, NEG))
        for prefix, (blank, label) in beams.items():
            for token, p in enumerate(row.tolist()):
                if token == BLANK:
                    b, n = grown[prefix]
                    grown[prefix] = (log_add(b, log_add(blank, label) + p), n)
                    continue
                longer = (*prefix, token)
                b, n = grown[longer]
                if prefix and prefix[-1] == token:
                    grown[longer] = (b, log_add(n, blank + p))
                    b, n = grown[prefix]
                    grown[prefix] = (b, log_add(n, label + p))
                else:
                    grown[longer] = (b, log_add(n, log_add(blank, label) + p))
        beams = grown
    return max(log_add(*pair) for pair in beams.values()), len(beams), width


@on(*FRAMES, unknown=STEPS)
def collapsed_by_groupby(logits):
    path = logits.argmax(-1).tolist()
    return [k for k, _ in itertools.groupby(path) if k != BLANK]


@on(*FRAMES, unknown=STEPS)
def greedy_transducer(frames, most=2):
    table = dy2st.to_tensor([[0.5, 0.1, 0.2], [0.9, 0.3, -0.2], [0.4, 0.8, 0.1]])
    tokens, last = [], 0
    for frame in frames:
        emitted = 0
        while emitted < most:
            best = int((frame + table[last]).argmax())
            if best == BLANK:
                break
            tokens.append(best)
            last = best
            emitted += 1
    return tokens, last


@on(*FRAMES, unknown=STEPS)
def transducer_with_a_state(frames):
    state = dy2st.zeros([3])
    tokens = []
    t = 0
    emitted = 0
    while t < frames.shape[0]:
        scores = frames[t] + 0.5 * state
        token = scores.argmax()
        if token == BLANK or emitted == 2:
            t, emitted = t + 1, 0
            continue
        tokens.append((token, scores.max()))
        state = F.one_hot(token, 3) - 0.3 * state
        emitted += 1
    return [token for token, _ in tokens], sum(score for _, score in tokens), state


@on(*FRAMES, unknown=STEPS)
def words_with_times(logits):
    Word = namedtuple("Word", "label start end")
    words, current, start = [], BLANK, 0
    for t, label in enumerate([*logits.argmax(-1).tolist(), BLANK]):
        if label == current:
            continue
        if current != BLANK:
            words.append(Word(current, start, t))
        current, start = label, t
    return words, max((w.end - w.start for w in words), default=0)


@on(*FRAMES[:3], unknown=STEPS)
def forced_alignment(logits, labels=(1, 2)):
    logp = F.log_softmax(logits, axis=-1)
    steps, states = logp.shape[0], len(labels)
    score = [[NEG] * states for _ in range(steps)]
    back = [[0] * states for _ in range(steps)]
    score[0][0] = logp[0, labels[0]]
    for t in range(1, steps):
        for s, label in enumerate(labels):
            stay = score[t - 1][s]
            move = score[t - 1][s - 1] if s else NEG
            score[t][s] = max(stay, move) + logp[t, label]
            back[t][s] = 1 if move > stay else 0
    s, path = states - 1, []
    for t in reversed(range(steps)):
        path.append(s)
        s -= back[t][s]
    return path[::-1], score[-1][-1]


@on(*WAVES, BELL, unknown=EACH)
def pitch_by_autocorrelation(wave, low=2, high=8):
    wave = wave - wave.mean()
    energy = (wave * wave).sum()
    if energy < 1e-6:
        return 0, 0.0
    scores = dy2st.stack([(wave[:-lag] * wave[lag:]).sum() / energy for lag in range(low, high)])
    best = int(scores.argmax())
    if 0 < best < high - low - 1:
        a, b, c = (scores[best + k] for k in (-1, 0, 1))
        if (curve := a - 2 * b + c) != 0:
            return low + best + float(0.5 * (a - c) / curve), scores[best]
    return float(low + best), scores[best]


@on(*WAVES, BELL, unknown=EACH)
def pitch_by_differences(wave, threshold=0.8):
    differences = [((wave[lag:] - wave[: len(wave) - lag]) ** 2).sum() for lag in range(1, 8)]
    running, normal = 0.0, []
    for lag, d in enumerate(differences, start=1):
        running = running + d
        normal.append(d * lag / running if running > 0 else dy2st.ones([]))
    for lag, value in enumerate(normal, start=1):
        if value < threshold:
            while lag < len(normal) and normal[lag] < value:
                value = normal[lag]
                lag += 1
            return lag, value
    return None


@dataclass(frozen=True)
class Biquad:
    """A filter of the second order, in the transposed direct form."""

    b0: float
    b1: float
    b2: float
    a1: float
    a2: float

    @classmethod
    def low_pass(cls, cutoff, q=0.707):
        w = 2 * math.pi * cutoff
        alpha = math.sin(w) / (2 * q)
        a0 = 1 + alpha
        b = (1 - math.cos(w)) / 2 / a0
        return cls(b, 2 * b, b, -2 * math.cos(w) / a0, (1 - alpha) / a0)

    def __call__(self, wave):
        s1 = s2 = 0.0
        out = []
        for x in wave:
            y = self.b0 * x + s1
            s1, s2 = self.b1 * x - self.a1 * y + s2, self.b2 * x - self.a2 * y
            out.append(y)
        return dy2st.stack(out)

    def gain(self, frequency):
        z = cmath.exp(-2j * math.pi * frequency)
        return abs((self.b0 + self.b1 * z + self.b2 * z * z) / (1 + self.a1 * z + self.a2 * z * z))


@on(*WAVES, unknown=EACH)
def cascade_of_biquads(wave):
    filters = [Biquad.low_pass(0.1), Biquad.low_pass(0.25, q=1.0)]
    out = functools.reduce(lambda signal, one: one(signal), filters, wave)
    return out, [round(one.gain(0.2), 6) for one in filters], sum(astuple(filters[0])[:3])


@on(*WAVES, unknown=EACH)
def stretched_by_overlap(wave, size=6, hop=3, rate=1.5):
    window = 0.5 - 0.5 * dy2st.cos(2 * math.pi * dy2st.arange(size, dtype="float32") / size)
    out = dy2st.zeros([int(len(wave) / rate) + size])
    position, k = 0.0, 0
    while int(position) + size <= len(wave):
        frame = wave[int(position) : int(position) + size]
        out[k * hop : k * hop + size] += frame * window
        position += hop * rate
        k += 1
    return out, k


@on(WAVES[0], WAVES[1])
def aligned_by_similarity(wave, size=6, hop=4, tolerance=2):
    frames = [wave[:size]]
    natural = hop
    for start in range(hop, len(wave) - size - tolerance, hop):
        best, best_score = 0, None
        for offset in range(-tolerance, tolerance + 1):
            low = start + offset
            score = (wave[low : low + size] * wave[natural : natural + size]).sum()
            if best_score is None or score > best_score:
                best, best_score = offset, score
        frames.append(dy2st.roll(wave, -(start + best))[:size])
        natural = start + hop
    return dy2st.stack(frames)


@on(*WAVES, [*BELL, 0.0, 0.0, 0.0, 0.0, 0.0], unknown=EACH)
def segments_of_activity(wave, size=4):
    frames = [wave[k : k + size] for k in range(0, len(wave) - size + 1, size)]
    energies = [float((f * f).mean()) for f in frames]
    floor = sum(energies) / len(energies)
    segments, start = [], None
    for k, energy in enumerate(energies):
        if energy >= floor and start is None:
            start = k
        elif energy < floor and start is not None:
            segments.append((start, k))
            start = None
    if start is not None:
        segments.append((start, len(energies)))
    return segments


@on(*WAVES, unknown=EACH)
def zero_crossings(wave):
    signs = [v >= 0 for v in wave]
    crossings = [k for k, (a, b) in enumerate(itertools.pairwise(signs)) if a != b]
    gaps = [b - a for a, b in zip(crossings, crossings[1:])]
    return len(crossings), mean(gaps) if gaps else 0.0


@on(*WAVES, unknown=EACH)
def normalised_by_loudness(wave, target=0.5):
    loud = (wave * wave).mean().sqrt()
    with dy2st.no_grad() if len(wave) > 20 else nullcontext():
        gain = target / loud if loud > 1e-3 else 1.0
    scaled = wave * gain
    peak = scaled.abs().max()
    return scaled / peak if peak > 1 else scaled


@on(*WAVES, unknown=EACH)
def compressor(wave, threshold=0.3, ratio=4.0):
    level, out, reduced = 0.0, [], 0
    for x in wave:
        attack = 0.5 if x.abs() > level else 0.1
        level = level + attack * (x.abs() - level)
        gain = 1.0
        if level > threshold:
            gain = (threshold + (level - threshold) / ratio) / level
            reduced += 1
        out.append(x * gain)
    return dy2st.stack(out), reduced


@on(*WAVES[:3], unknown=EACH)
def echo_with_a_delay_line(wave, delay=3):
    line = deque([dy2st.zeros([])] * delay, maxlen=delay)
    out = []
    for x in wave:
        y = x + 0.5 * line[0]
        line.append(y)
        out.append(y)
    return dy2st.stack(out), line[-1]


@on(*LABELS, unknown=EACH)
def phones_in_text(labels, names=("_", "a", "b")):
    text = "".join(names[k] for k in labels.tolist())
    return len(text), text.count("a") if "b" in text else -1


@on([1.0, 2.0], [3.0, 4.0])
def pattern_of_a_name(x, name="layer.12.weight"):
    found = re.match(r"layer\.(\d+)\.(\w+)", name)
    number, kind = int(found.group(1)), found[2]
    return x * number if kind == "weight" and x.sum() > 4 else x + number


@on(*LABELS, unknown=EACH)
def run_lengths_and_back(labels):
    runs = []
    for label in labels.tolist():
        if runs and runs[-1][0] == label:
            runs[-1][1] += 1
        else:
            runs.append([label, 1])
    back = [label for label, n in runs for _ in range(n)]
    return runs, back == labels.tolist()


@on(*FRAMES[:2])
def dynamic_warping_with_a_band(frames, band=1):
    other = frames.flip([0])
    n = frames.shape[0]
    cost = dy2st.full([n + 1, n + 1], 1e9)
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - band), min(n, i + band) + 1):
            d = (frames[i - 1] - other[j - 1]).abs().sum()
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    i = j = n
    path = []
    while i > 0 and j > 0:
        path.append((i - 1, j - 1))
        step = dy2st.stack([cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]]).argmin()
        if step == 0:
            i, j = i - 1, j - 1
        elif step == 1:
            i -= 1
        else:
            j -= 1
    return cost[n, n], path[::-1]


class StreamingRecognizer(nn.Layer):
    """Takes chunks; keeps the rest of the last chunk, the tokens so far and the last label."""

    def __init__(self, size=4):
        super().__init__()
        self.size = size
        self.rest = None
        self.tokens = []
        self.last = BLANK
        self.weight = self.create_parameter([size, 3])

    def forward(self, chunk):
        if self.rest is not None:
            chunk = dy2st.concat([self.rest, chunk])
        count = chunk.shape[0] // self.size
        for k in range(count):
            frame = chunk[k * self.size : (k + 1) * self.size]
            label = int((frame @ self.weight + frame[:3]).argmax())
            if label not in (self.last, BLANK):
                self.tokens.append(label)
            self.last = label
        rest = chunk[count * self.size :]
        self.rest = rest if rest.shape[0] else None
        return len(self.tokens), self.last


on(ramp(6), ramp(6, step=0.3), ramp(6, step=-0.2))(StreamingRecognizer)


class Cmvn(nn.Layer):
    """Statistics in buffers and in a Python number, with a warm-up."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", dy2st.zeros([3]))
        self.register_buffer("squares", dy2st.zeros([3]))
        self.frames = 0
        self.log = OrderedDict()

    def forward(self, frames):
        self.total += frames.sum(0)
        self.squares += (frames**2).sum(0)
        self.frames += frames.shape[0]
        mean = self.total / self.frames
        std = (self.squares / self.frames - mean**2).clip(min=1e-4).sqrt()
        self.log[self.frames] = float(mean.max())
        if len(self.log) > 2:
            self.log.popitem(last=False)
        return (frames - mean) / std, list(self.log)


on(FRAMES[0], FRAMES[1], FRAMES[2], FRAMES[0])(Cmvn)


@dataclass
class Hypothesis:
    """A sequence with its score, by which beams are sorted."""

    tokens: tuple = ()
    score: Any = 0.0
    state: dict = field(default_factory=dict)

    def __lt__(self, other):
        return self.score < other.score

    def __len__(self):
        return len(self.tokens)

    @functools.cached_property
    def last(self):
        return self.tokens[-1] if self.tokens else BLANK


@on(*(f[:2] for f in FRAMES[:3]))
def beam_of_a_transducer(frames):
    beams = [Hypothesis()]
    for t, frame in enumerate(F.log_softmax(frames, axis=-1)):
        grown = []
        for beam in beams:
            for token in range(3):
                bonus = 0.1 if token == beam.last else 0.0
                tokens = beam.tokens + ((token,) if token != BLANK else ())
                grown.append(Hypothesis(tokens, beam.score + frame[token] + bonus, {"t": t}))
        beams = sorted(grown, reverse=True)[:2]
    return [beam.score for beam in beams], [len(beam) for beam in beams]


@on(*WAVES, unknown=EACH)
def resampled_linearly(wave, ratio=0.75):
    out = []
    for k in range(int(len(wave) * ratio)):
        left, share = divmod(k / ratio, 1)
        i = int(left)
        j = min(i + 1, len(wave) - 1)
        out.append((1 - share) * wave[i] + share * wave[j])
    return dy2st.stack(out)


@on(*WAVES, unknown=EACH)
def peaks_above_a_height(wave, height=0.2, distance=2):
    peaks = [
        k
        for k in range(1, len(wave) - 1)
        if wave[k] > height and wave[k] >= wave[k - 1] and wave[k] > wave[k + 1]
    ]
    kept = []
    for k in sorted(peaks, key=lambda k: -float(wave[k])):
        place = bisect.bisect(kept, k)
        near = kept[max(place - 1, 0) : place + 1]
        if all(abs(k - other) > distance for other in near):
            kept.insert(place, k)
    return kept


@on(*WAVES[:2], WAVES[3])
def levels_by_exit_stack(wave):
    closed = []
    with ExitStack() as stack:
        for k in range(3):
            stack.callback(closed.append, k)
            if wave[k] > 0.15:
                break
        total = wave[: k + 1].sum()
    return total, closed


@on(*WAVES[:3], [0.0] * 18)
def cepstrum(wave):
    n = len(wave)
    angles = dy2st.arange(n, dtype="float32").unsqueeze(-1) * dy2st.arange(4, dtype="float32")
    real, imag = (f(angles * (2 * math.pi / n)) for f in (dy2st.cos, dy2st.sin))
    power = (wave @ real) ** 2 + (wave @ imag) ** 2
    for attempt in range(3):
        floor = 10.0 ** (attempt - 6)
        logs = (power + floor).log()
        if dy2st.isfinite(logs).all() and logs.min() > -8:
            break
    else:
        return None, 0
    return logs, attempt


@on(*WAVES[:3], unknown=EACH)
def median_filter(wave, size=3):
    half = size // 2
    padded = [wave[0]] * half + list(wave) + [wave[-1]] * half
    return dy2st.stack([sorted(padded[k : k + size])[half] for k in range(len(wave))])


@on(*WAVES, unknown=EACH)
def onsets_with_a_refractory(wave):
    onsets, last = [], -10
    previous = None
    for k, x in enumerate(wave):
        if previous is not None and x - previous > 0.15 and k - last > 2:
            onsets.append(k)
            last = k
        previous = x
    tempo = None
    if len(onsets) >= 2:
        tempo = (onsets[-1] - onsets[0]) / (len(onsets) - 1)
    return onsets, tempo


DURATIONS = ([2, 0, 1, 3], [1, 1, 1], [1], [2])


@on(*zip(DURATIONS, FRAMES), unknown=[[None], [None, 3]])
def length_regulator_at_several_paces(durations, phonemes):
    def expanded(pace):
        carry = 0.0
        for row, n in zip(phonemes, durations.tolist()):
            exact = n / pace + carry
            frames = int(exact + 0.5)
            carry = exact - frames
            for k in range(frames):
                yield row, k / frames

    found, failed = {}, []
    for pace in (1.0, 4.0):
        frames = list(expanded(pace))
        if frames:
            places = dy2st.to_tensor([place for _, place in frames])
            found[pace] = dy2st.stack([row for row, _ in frames]) + places.unsqueeze(-1)
        else:
            failed.append(pace)
    return found[1.0], {pace: one.shape[0] for pace, one in found.items()}, failed
