"""Loops as tokenizers and readers of text have them, over tensors of codes."""

from __future__ import annotations

import dy2st
from tests.dy2st.catalogue.entry import on

# 0 is a space, 1 to 9 are letters.
TEXTS = (
    [1, 2, 0, 3, 3, 0],
    [0, 0, 5, 5, 5, 1],
    [7, 8, 9, 1, 2, 3],
    [0, 0, 0, 0, 0, 0],
    [4],
    [2, 0, 2],
)
EACH = [[None]]
WORDS = ["<pad>", "a", "bb", "c", "d", "e", "f", "g", "h", "i"]
MERGES = [(1, 2), (3, 3), (5, 5)]


@on(*TEXTS, unknown=EACH)
def lengths_of_words(x):
    lengths, run = [], 0
    for c in x:
        if c == 0:
            if run > 0:
                lengths.append(run)
            run = 0
        else:
            run += 1
    if run > 0:
        lengths.append(run)
    return lengths


@on(*TEXTS, unknown=EACH)
def split_at_spaces(x):
    words, word = [], []
    for c in x:
        if c != 0:
            word.append(int(c))
        elif word:
            words.append(word)
            word = []
    if word:
        words.append(word)
    return words


@on(*TEXTS, unknown=EACH)
def stripped_of_padding(x):
    end = x.shape[0]
    while end > 0 and x[end - 1] == 0:
        end = end - 1
    return x[:end]


@on(*TEXTS, unknown=EACH)
def runs_with_lengths(x):
    runs = [(x[0], 1)]
    for c in x[1:]:
        last, n = runs[-1]
        if c == last:
            runs[-1] = (last, n + 1)
        else:
            runs.append((c, 1))
    return runs


@on(*TEXTS, unknown=EACH)
def text_of_codes(x):
    return " ".join(WORDS[int(c)] for c in x if c != 0)


@on(*TEXTS, unknown=EACH, slow=True)
def characters_joined(x):
    text = ""
    for c in x:
        text += "." if c == 0 else "x"
    return text


@on(*TEXTS, unknown=EACH)
def counts_by_code(x):
    counts = {}
    for c in x:
        k = int(c)
        counts[k] = counts.get(k, 0) + 1
    return counts


@on(*TEXTS, unknown=EACH)
def first_seen_numbers(x):
    ids = {}
    out = []
    for c in x:
        k = int(c)
        if k not in ids:
            ids[k] = len(ids)
        out.append(ids[k])
    return out


@on(*TEXTS, unknown=EACH)
def one_merge_of_pairs(x):
    out, i = [], 0
    while i < len(x):
        if i + 1 < len(x) and x[i] == x[i + 1] and x[i] != 0:
            out.append(x[i] + 10)
            i += 2
        else:
            out.append(x[i])
            i += 1
    return out


@on(*TEXTS, unknown=EACH)
def merges_until_there_are_none(x):
    merged = 0
    for a, b in MERGES:
        for i in range(x.shape[0] - 1):
            if x[i] == a and x[i + 1] == b:
                merged += 1
                break
    return merged


@on(*TEXTS, unknown=EACH)
def longest_match_in_a_vocabulary(x):
    vocabulary = {(1, 2): 20, (3, 3): 21, (5, 5, 5): 22}
    out, i = [], 0
    codes = [int(c) for c in x]
    while i < len(codes):
        for size in (3, 2):
            piece = tuple(codes[i : i + size])
            if piece in vocabulary:
                out.append(vocabulary[piece])
                i += size
                break
        else:
            out.append(codes[i])
            i += 1
    return out


@on(*TEXTS, unknown=EACH)
def brackets_that_match(x):
    depth = deepest = 0
    for c in x:
        if c == 1 or c == 5:
            depth += 1
        elif c == 2 and depth > 0:
            depth -= 1
        deepest = max(deepest, depth)
    return depth == 0, deepest


@on(*TEXTS, unknown=EACH)
def stack_of_operations(x):
    stack = []
    for c in x:
        if c > 0:
            stack.append(c)
        elif len(stack) >= 2:
            b, a = stack.pop(), stack.pop()
            stack.append(a + b)
    return stack


@on(*TEXTS, unknown=EACH)
def digits_to_a_number(x):
    number = 0
    for c in x:
        if c == 0:
            break
        number = number * 10 + int(c)
    return number


@on(*TEXTS, unknown=EACH)
def padded_and_cut(x, size=4):
    kept = [c for c in x if c != 0][:size]
    mask = [1] * len(kept) + [0] * (size - len(kept))
    return mask, len(kept)


@on(*TEXTS, unknown=EACH)
def hash_of_a_text(x):
    h = 7
    for c in x:
        h = (h * 31 + int(c)) % 1009
    return h


@on(*TEXTS, unknown=EACH)
def spans_of_tags(x):
    spans, start = [], -1
    for i, c in enumerate(x):
        if c == 1 or c == 5:
            start = i
        elif c == 0 and start >= 0:
            spans.append((start, i))
            start = -1
    return spans


@on(*TEXTS, unknown=EACH)
def position_restarts_at_spaces(x):
    positions, p = dy2st.zeros_like(x), 0
    for i in range(x.shape[0]):
        p = 0 if x[i] == 0 else p + 1
        positions[i] = p
    return positions


@on(*TEXTS, unknown=EACH)
def is_a_palindrome(x):
    i, j = 0, x.shape[0] - 1
    while i < j:
        if x[i] != x[j]:
            return False
        i, j = i + 1, j - 1
    return True


@on(*TEXTS, unknown=EACH)
def replaced_by_a_table(x):
    table = {1: 2, 2: 1, 5: 0}
    return [table.get(int(c), -1) for c in x]


@on(*TEXTS, unknown=EACH)
def masked_words(x):
    masked, labels = x * 1, []
    for i in range(len(x)):
        if x[i] == 3 or x[i] == 5:
            labels.append(int(x[i]))
            masked[i] = 99
        else:
            labels.append(-100)
    return masked, labels


@on(*TEXTS, unknown=EACH)
def states_of_an_automaton(x):
    moves = {("start", True): "word", ("word", True): "word"}
    state, visited = "start", 0
    for c in x:
        state = moves.get((state, bool(c > 0)), "start")
        if state == "word":
            visited += 1
    return state, visited
