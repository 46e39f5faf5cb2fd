from __future__ import annotations

from dy2st.targets.opu.residency import CROWD, AccumulatorBanks, Buffer, Item, Ring, RoundRobinBanks


def buffer(uses: dict[str, list[int]], banks: int = 2, rows: int = 10) -> Buffer:
    """Every position takes ten cycles."""
    times = range(0, 10_000, 10)
    return Buffer(banks, rows, uses, list(times), [at + 10 for at in times])


def put(where: Buffer, key: str, rows: int, position: int, pinned: str = "") -> list[str]:
    item = Item(key, 0, 0, rows, rows, 0, position)
    return [other.key for other in where.put(item, position, list(pinned).__contains__)]


def test_banks_fill_before_anything_gives_way() -> None:
    where = buffer({"a": [0], "b": [1], "c": [2]})
    assert [put(where, key, 6, at) for at, key in enumerate("abc")] == [[], [], ["a"]]


def test_what_is_used_again_stays() -> None:
    where = buffer({"a": [0, 9], "b": [1], "c": [5]})
    put(where, "a", 10, 0)
    put(where, "b", 10, 1)
    assert put(where, "c", 10, 5) == ["b"]
    assert where.touch("a", 9) is not None
    assert where.touch("b", 9) is None


def test_what_was_just_read_stays_so_that_the_load_can_begin() -> None:
    where = buffer({"a": [0, 4], "b": [1, 5], "c": [2]})
    put(where, "a", 10, 0)
    put(where, "b", 10, 1)
    assert put(where, "c", 10, 2) == ["a"]


def test_what_is_used_together_does_not_give_way() -> None:
    where = buffer({"a": [0], "b": [1], "c": [1]}, banks=1)
    put(where, "a", 4, 0)
    put(where, "b", 6, 1)
    assert put(where, "c", 4, 1, pinned="bc") == ["a"]


def test_small_things_lie_beside_each_other() -> None:
    where = buffer({key: [0, 20] for key in "abcde"}, banks=1)
    assert [put(where, key, 2, 0) for key in "abcde"] == [[]] * 5
    assert sorted(where.items[key].row for key in "abcde") == [0, 2, 4, 6, 8]


def test_rows_used_no_more_are_joined() -> None:
    keys = [f"k{i}" for i in range(3 * CROWD)]
    where = buffer({key: [i] for i, key in enumerate(keys)}, banks=1, rows=3 * CROWD)
    for position, key in enumerate(keys):
        put(where, key, 1, position)
    assert len(where.banks[0]) <= 2 * CROWD
    covered = sum(item.rows for item in where.banks[0])
    assert covered == 3 * CROWD


def test_partial_sums_take_turns_and_wait_for_their_stores() -> None:
    ring = Ring(2, 5)
    assert ring.take(4, 0) == (0, -1)
    assert ring.take(4, 1) == (4, -1)
    assert ring.take(4, 2) == (0, 0)
    assert ring.take(6, 3) == (4, 1)


def test_the_public_tool_chain_fills_banks_in_turn() -> None:
    banks = RoundRobinBanks(2, is_kept=True)
    first, second, third = (Item(key, 0, 0, 4, 4, 0, at) for at, key in enumerate("abc"))
    never = [].__contains__
    assert banks.put(first, 0, never) == [] and banks.put(second, 1, never) == []
    assert banks.touch("a", 2) is first
    assert banks.put(third, 3, never) == [first] and third.bank == 0
    assert banks.touch("a", 4) is None


def test_the_public_tool_chain_loads_features_for_every_use() -> None:
    banks = RoundRobinBanks(2, is_kept=False)
    banks.put(Item("a", 0, 0, 4, 4, 0, 0), 0, [].__contains__)
    assert banks.touch("a", 1) is None


def test_a_bank_of_sums_waits_for_the_store_before() -> None:
    assert AccumulatorBanks(1, 100).take(50, 3) == (0, 2)
    assert AccumulatorBanks(2, 100).take(50, 3) == (100, 1)
    assert AccumulatorBanks(2, 100).take(50, 1) == (100, -1)
