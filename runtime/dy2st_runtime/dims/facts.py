"""Facts: what is known of sizes beside their ranges, sizes rewritten by it, and those in force.

An equality becomes a rewrite rule: a symbol, or a product, that another size stands for. So does
divisibility: `n % 8 == 0` makes n into 8*q for a symbol q that only the Facts know. Rules are used
when a size is asked about, never on all sizes at once, so a late equality costs nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import gcd

from dy2st_runtime.dims.assumptions import Question, note, solved_for_symbol
from dy2st_runtime.dims.conditions import Condition
from dy2st_runtime.dims.equations import (
    exactness,
    exchanged_quotient,
    lone_term,
    multiple_of,
    narrowed,
    newest_term,
    quotient_of_quotient,
    scaled_multiple,
    share_symbols,
    sharing,
    substitute_atom,
)
from dy2st_runtime.dims.expression import (
    Atom,
    Dim,
    Interval,
    Monomial,
    Size,
    factors_of,
    make_atom,
    of_atom,
)
from dy2st_runtime.dims.intervals import DECLARED, Inequalities, atom_interval, bounds
from dy2st_runtime.dims.operations import (
    broadcast_forms,
    broadcast_members,
    extreme,
    floordiv,
    operation,
)
from dy2st_runtime.dims.order import Proof, evident, never_negative, parts_never_negative
from dy2st_runtime.dims.polynomial import (
    add,
    common_factor,
    divided_exactly,
    least_multiple,
    monomial_quotient,
    multiply,
    of_term,
    split,
    subtract,
)
from dy2st_runtime.dims.samples import Values, deep_atoms, deep_symbols, sampled
from dy2st_runtime.thread_state import ThreadState

_MOST_STEPS = 200_000  # that the proofs of a trace may take: up to ten seconds
_ROUNDS, _DEEPEST, _MOST_TERMS = 8, 60, 20_000  # what rules make of rules may grow with each
_SEEN_INSIDE = (
    *("log", "assumed", "inequalities", "quotients", "_rules", "_products", "_ranges", "_nonzero"),
    *("_choices", "_pairs", "_wholes", "_broadcasts", "_touched", "age"),
)


class Contradiction(Exception):
    """A fact cannot hold together with what is known.

    >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
    >>> facts.assume(n > 3)
    >>> try:
    ...     facts.assume(n < 2)
    ... except dy2st.dims.Contradiction:
    ...     print("n cannot be both")
    n cannot be both
    """


class Facts:
    """What holds in one place of a Program: everywhere, in a branch, or in a bucket.

    >>> dims, n = dy2st.dims, dy2st.dims.symbol("n")
    >>> facts = dims.Facts()
    >>> facts.assume(n > 3)
    >>> inner = facts.inside()
    >>> inner.assume(dims.parse_condition("n <= 8", {"n": n}))
    >>> with dims.using(inner):
    ...     print(dims.less(n, 9), dims.less(n, 4), dims.less(n, 6))
    True False None
    """

    def __init__(self) -> None:
        """No facts."""
        self.log: list[tuple[Condition, str]] = []
        self.assumed: dict[Question, bool] = {}
        self.place: Callable[[], str] | None = None
        self.is_impossible = False  # facts contradict each other: nothing runs here
        self.inequalities = Inequalities()
        self.answers: dict[tuple[object, Size], bool | None] = {}
        self.examples: Sequence[Values] = ()
        self.mask: int = 0
        self._rules: dict[Monomial, Size] = {}
        self._products: list[Monomial] = []
        self._ranges: dict[Atom, Interval] = {}
        self.quotients: dict[Atom, tuple[Size, int]] = {}
        self._nonzero: dict[Dim, None] = {}  # in normal form, as it was last settled
        self._choices: list[Condition] = []
        self._pairs: set[frozenset[Size]] = set()
        self._wholes: list[tuple[Dim, Size, Size]] = []  # (P, Q, P // Q) where Q divides P
        self._broadcasts: list[Condition] = []
        self._touched: list[Dim] = []  # of their symbols something was learnt, and not settled
        self.age: dict[Atom, int] = {}
        self._iteration = self._nested = self._looked_at = 0
        self._normal: dict[Size, tuple[int, Size]] = {}
        self._intervals: dict[Atom, Interval] = {}
        self.steps_left = [_MOST_STEPS]  # one number for all facts of a trace

    def inside(self) -> Facts:
        """The facts of a place inside this one, which may have more."""
        inner = Facts()
        inner.place, inner.mask, inner._looked_at = self.place, self.mask, self._looked_at
        inner.is_impossible, inner.examples = self.is_impossible, self.examples
        inner.steps_left = self.steps_left
        for name in _SEEN_INSIDE:
            setattr(inner, name, getattr(self, name).copy())
        return inner

    def note(self, *sizes: Size) -> None:
        """Remember the order of symbols: of equal ones, those that were noted first stay.

        >>> dims, n, m = dy2st.dims, dy2st.dims.symbol("n"), dy2st.dims.symbol("m")
        >>> facts = dims.Facts()
        >>> facts.note(m, n)
        >>> facts.assume(dims.parse_condition("n == m", {"n": n, "m": m}))
        >>> facts.normal(n)
        m
        """
        for size in sizes:
            for atom in deep_symbols(size) if isinstance(size, Dim) else ():
                self.age.setdefault(atom, len(self.age))

    # -- what is known -----------------------------------------------------------------------

    def interval(self, atom: Atom) -> Interval:
        """The least and the largest value of an atom, None where there is no limit.

        >>> from dy2st_runtime.dims.expression import the_atom
        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(n > 3)
        >>> facts.interval(the_atom(n))
        (4, None)
        """
        known = self._intervals.get(atom)
        if known is None:
            known = atom_interval(atom, self) if atom.mask & self.mask else DECLARED.interval(atom)
            known = narrowed(known, self._ranges.get(atom))
            self._intervals[atom] = known
        return known

    @property
    def conditions(self) -> list[Condition]:
        """Which sizes broadcast, and which are one of several, as Conditions.

        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(dy2st.dims.parse_condition("n in (1, 4)", {"n": n}))
        >>> [*facts.conditions]
        [n in (1, 4)]
        """
        return [*self._choices, *self._broadcasts]

    def is_nonzero(self, size: Size) -> bool:
        """Whether a size in normal form was said not to be 0.

        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(dy2st.dims.parse_condition("n - 3 != 0", {"n": n}))
        >>> facts.is_nonzero(n - 3), facts.is_nonzero(n - 4)
        (True, False)
        """
        return size in self._nonzero or multiply(size, -1) in self._nonzero

    def is_chosen(self, size: Size, entries: Sequence[Size]) -> bool:
        """Whether the size is known to be one of some, all of which are among the entries.

        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(dy2st.dims.parse_condition("n in (1, 4)", {"n": n}))
        >>> facts.is_chosen(n, (1, 4, 7)), facts.is_chosen(n, (1, 7))
        (True, False)
        """
        size = self.normal(size)
        allowed = {self.normal(entry) for entry in entries}
        low, high = bounds(size, self)
        is_narrow = low is not None and high is not None and high - low < len(allowed)
        if is_narrow and allowed.issuperset(range(low, high + 1)):  # type: ignore[arg-type,operator]
            return True
        if any(
            self.normal(choice.left) is size
            and allowed.issuperset(self.normal(entry) for entry in choice.right)
            for choice in self._choices
        ):
            return True
        fitting = [entry for entry in allowed if self._differs(entry, 1)] if 1 in allowed else []
        return any(self.are_broadcast(size, entry) for entry in fitting)

    def are_broadcast(self, left: Size, right: Size) -> bool:
        """Whether two sizes are known to be equal, or one of them 1.

        >>> n, m, facts = dy2st.dims.symbol("n"), dy2st.dims.symbol("m"), dy2st.dims.Facts()
        >>> facts.assume(dy2st.dims.parse_condition("n broadcasts m", {"n": n, "m": m}))
        >>> facts.are_broadcast(n, m), facts.are_broadcast(n, 3)
        (True, False)
        """
        if not self._rules and not self._ranges:  # nothing is written otherwise than it was said
            return {left, right} in self._pairs
        wanted = {self.normal(left), self.normal(right)}
        pairs = [{self.normal(c.left), self.normal(c.right)} for c in self._broadcasts]
        return any(wanted == pair for pair in pairs)

    def normal(self, size: Size) -> Size:
        """The size after all rules; equal sizes mostly become the same object.

        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(dy2st.dims.parse_condition("n == 3", {"n": n}))
        >>> facts.normal(2 * n + 1)
        7
        """
        if not isinstance(size, Dim) or not size.mask & self.mask:
            return size
        iteration, value = self._normal.get(size, (-1, size))
        if iteration == self._iteration:
            return value
        if self._nested == _DEEPEST or self._looked_at > _MOST_TERMS:
            return value
        self._nested += 1
        self._normal[size] = (self._iteration, value)  # for rules that lead back to it
        for _ in range(_ROUNDS):
            constant, terms = split(value)
            self._looked_at += len(terms)
            result: Size = constant
            for atoms, factor in terms:
                term: Size = factor
                for atom in atoms:
                    term = multiply(term, self._atom(atom))
                result = add(result, term)
            before, value = value, self._without_products(result)
            if value is before or isinstance(value, int):
                break
            if value.is_long:
                value = size  # rules put into rules grow without limit
                break
        self._nested -= 1
        self._normal[size] = (self._iteration, value)
        return value

    def _atom(self, atom: Atom) -> Size:
        rule = self._rules.get((atom,))
        if rule is not None:
            latest = self.normal(rule)
            if latest is not rule:
                self._rules[(atom,)] = latest
            return latest
        if atom.kind == "symbol" or not atom.mask & self.mask:
            return of_atom(atom)
        args = tuple([self.normal(argument) for argument in atom.args])
        # The operation on sizes in normal form, simplified by the facts.
        kind = atom.kind
        if kind == "floordiv":
            above, below = args
            if isinstance(below, int) and below == 0:
                return of_atom(make_atom("floordiv", (above, below)))  # no number at all
            whole = self._whole_quotient(above, below)
            if whole is not None:
                return whole
            result = floordiv(above, below)
            for inner in factors_of(result) if isinstance(result, Dim) else []:
                low, high = self.interval(inner)
                if low is not None and low == high:
                    result = substitute_atom(result, inner, low)
                elif inner.kind == "floordiv" and self._is_small(*inner.args):
                    result = substitute_atom(result, inner, 0)
            return result
        if kind == "broadcast":
            for size in broadcast_members(args):
                if self._differs(size, 1):
                    return size
            return broadcast_forms(args)
        kept: list[Size] = []
        for size in args:
            if not any(self._beats(kind, other, size) for other in kept):
                kept = [other for other in kept if not self._beats(kind, size, other)] + [size]
        return extreme(kind, tuple(kept))

    def _beats(self, kind: str, one: Size, other: Size) -> bool:
        left, right = (one, other) if kind == "min" else (other, one)
        return never_negative(subtract(right, left), self)

    def _whole_quotient(self, above: Size, below: Size) -> Size | None:
        """above / below by a product or quotient that is known to be equal, or divisible."""
        if isinstance(below, int):
            return quotient_of_quotient(above, below, self._rules)
        for part, divisor, quotient in self._wholes:
            if self.normal(divisor) is not below:
                continue
            times = floordiv(above, part)
            rest = subtract(above, multiply(times, part))
            if isinstance(rest, int) and rest == 0:
                return multiply(times, quotient)
        found = [exchanged_quotient(above, below, self._rules[p], p) for p in self._products]
        return next((quotient for quotient in found if quotient is not None), None)

    def _is_small(self, above: Size, below: Size) -> bool:
        """Whether 0 <= above < below."""
        rest = subtract(subtract(below, above), 1)
        return never_negative(rest, self) and never_negative(above, self)

    def _without_products(self, size: Size) -> Size:
        """The size with every product that a rule is known for replaced."""
        for _ in range(_ROUNDS):
            found = self._matching(size)
            if found is None:
                return size
            (atoms, factor), lead, cofactor = found
            rest = subtract(size, of_term(atoms, factor))
            size = add(rest, multiply(of_term(cofactor, factor), self._rules[lead]))
        return size

    def _matching(self, size: Size) -> tuple[tuple[Monomial, int], Monomial, Monomial] | None:
        for term in split(size)[1] if self._products else ():
            for lead in [known for known in self._products if known[0] in term[0]]:
                cofactor = monomial_quotient(term[0], lead)
                if cofactor is not None:
                    return term, lead, cofactor
        return None

    # -- learning ----------------------------------------------------------------------------

    def assume(self, condition: Condition, origin: str = "") -> None:
        """Know from now on that a condition holds; Contradiction if it cannot.

        `origin` says in words where it comes from; `place` is asked for that by those who assume.
        """
        self.log.append((condition, origin))
        note(self.assumed, condition, self.normal)
        try:
            self._learn(condition)
        except Contradiction:
            self.is_impossible = True
            raise

    def _learn(self, condition: Condition) -> None:
        relation, left, right = condition.relation, condition.left, condition.right
        if relation == "==":
            self.note(left, right)
            self._equate(subtract(left, right))
        elif relation == "!=":
            self._separate(self.normal(subtract(left, right)))
        elif relation == "in":
            self._choose(condition)
        elif relation == "broadcasts":
            self.note(left, right)
            self._broadcasts.append(condition)
            self._pairs.add(frozenset((left, right)))
            self._changed(add(left, right))
        elif relation == "not broadcasts":
            for rest in (subtract(left, right), subtract(left, 1), subtract(right, 1)):
                self._separate(self.normal(rest))
        elif relation == "not in":
            for entry in right:
                self._separate(self.normal(subtract(left, entry)))
        elif relation in ("<", "<="):
            self._not_negative(subtract(subtract(right, left), int(relation == "<")))
        else:
            self._not_negative(subtract(subtract(left, right), int(relation == ">")))
        if condition.relation == "broadcasts":  # it says nothing of other pairs
            self._settle_broadcasts([condition])
            return
        for _ in range(_ROUNDS):
            iteration = self._iteration
            self._settle(condition)
            if iteration == self._iteration:
                return

    def _settle(self, condition: Condition) -> None:
        """Check anew what was open; an equality may touch what does not name its sizes."""
        is_equality = condition.relation == "=="
        mask = -1 if is_equality else condition.mask

        def near(size: Size) -> bool:
            return is_equality or share_symbols(condition, size)

        pending = [c for c in self._choices if c.mask & mask and near(c.left)]
        if pending:
            taken = set(map(id, pending))
            self._choices = [c for c in self._choices if id(c) not in taken]
        for choice in pending:
            self._choose(choice)
        touched, self._touched = self._touched, []
        for rest in sharing(self._nonzero, touched):
            del self._nonzero[rest]
            # What is not 0, and not on one side of it, is on the other.
            known = self.normal(rest)
            if isinstance(known, int):
                if known == 0:
                    raise Contradiction
            else:
                self._nonzero[known] = None
                low, high = bounds(known, self)
                if low == 0:
                    self._not_negative(subtract(known, 1))
                elif high == 0:
                    self._not_negative(subtract(-1, known))
        pairs = [c for c in self._broadcasts if c.mask & mask]
        self._settle_broadcasts([c for c in pairs if near(c.left) or near(c.right)])

    def _changed(self, size: Size) -> None:
        """Something is known of the symbols of a size: what was worked out may be too weak."""
        if isinstance(size, Dim):
            self.mask |= size.mask
            self._touched.append(size)
        self._iteration += 1
        self.answers.clear()
        self._intervals.clear()

    def _choose(self, condition: Condition) -> None:
        """One of several sizes: those that cannot be are dropped, one that is left is it."""
        left = self.normal(condition.left)
        entries = [e for e in condition.right if not self._differs(left, self.normal(e))]
        if not entries:
            raise Contradiction
        if len(entries) == 1:
            self._equate(subtract(left, entries[0]))
            return
        self._choices.append(Condition("in", condition.left, tuple(entries)))
        if all(isinstance(entry, int) for entry in entries):
            self._not_negative(subtract(left, min(entries)))
            self._not_negative(subtract(max(entries), left))

    def _settle_broadcasts(self, conditions: Sequence[Condition]) -> None:
        """Of sizes that broadcast, one that is not 1 is what the other is, unless that is 1."""
        for condition in conditions:
            left, right = self.normal(condition.left), self.normal(condition.right)
            if self._differs(left, 1) and self._differs(right, 1):
                self._equate(subtract(left, right))
            elif self._differs(left, right) and self._differs(left, 1):
                self._equate(subtract(right, 1))
            elif self._differs(left, right) and self._differs(right, 1):
                self._equate(subtract(left, 1))

    def _differs(self, left: Size, right: Size) -> bool:
        rest = subtract(left, right)
        if isinstance(rest, int):
            return rest != 0
        low, high = bounds(rest, self)
        if (low or 0) > 0 or (high or 0) < 0:
            return True
        return rest.constant % common_factor(rest) != 0 or self.is_nonzero(rest)

    def _separate(self, rest: Size) -> None:
        """rest != 0."""
        if isinstance(rest, int):
            if rest == 0:
                raise Contradiction
            return
        self._nonzero[rest] = None
        self._changed(rest)

    def _not_negative(self, size: Size, follows: Proof = never_negative) -> None:
        """size >= 0, which is nothing new where it follows from the rest."""
        size = least_multiple(self.normal(size))
        if isinstance(size, int) and size < 0:
            raise Contradiction
        if isinstance(size, int) or size in self.inequalities:
            return
        if never_negative(subtract(-1, size), self):
            raise Contradiction
        if follows(size, self):
            return
        self._changed(size)
        atoms, factor = size.terms[0]
        if len(size.terms) == 1 and len(atoms) == 1:
            # factor * atom + constant >= 0 as a limit of the atom.
            atom = atoms[0]
            limit: Interval = (-(size.constant // factor), None)
            if factor < 0:
                limit = (None, size.constant // -factor)
            low, high = narrowed(self.interval(atom), limit)
            self._ranges[atom] = (low, high)
            self._intervals.clear()
            if low is not None and high is not None and low > high:
                raise Contradiction
            if low is not None and low == high:
                self._equate(subtract(of_atom(atom), low))
        if len(size.terms) > 1 or len(atoms) > 1 or atoms[0].kind != "symbol":
            self.inequalities.append(size)
            self._not_negative(solved_for_symbol(size))  # n//3 >= 3 says n >= 9
        for part in parts_never_negative(size, self):
            self._not_negative(part)
        if never_negative(multiply(size, -1), self):
            self._equate(size)

    def _equate(self, rest: Size) -> None:
        """rest == 0."""
        for _ in range(_ROUNDS):
            rest = self.normal(rest)
            if isinstance(rest, int):
                if rest:
                    raise Contradiction
                return
            number = common_factor(rest)
            if rest.constant % number or self._differs(rest, 0):
                raise Contradiction
            rest = divided_exactly(rest, number)
            assert isinstance(rest, Dim)
            if not self._solve(rest):
                return

    def _solve(self, rest: Dim) -> bool:
        """Enter rest == 0 as a rule; True if a part was entered and the rest must follow."""
        chosen = newest_term(rest, self.age, lambda factor: abs(factor) == 1)
        if chosen is not None:
            self._enter(chosen, rest)
            return False
        # Keep that Q divides P, for a size Q: rest is P - Q * (P // Q) or its opposite.
        for atom in dict.fromkeys(factors_of(rest)):
            if atom.kind != "floordiv" or not isinstance(atom.args[1], Dim):
                continue
            above, below = atom.args
            remainder = subtract(above, multiply(below, of_atom(atom)))
            is_it = remainder is rest or remainder is multiply(rest, -1)
            if is_it and isinstance(above, Dim):
                self._wholes.append((above, below, of_atom(atom)))
                if never_negative(subtract(above, 1), self) and never_negative(below, self):
                    self._not_negative(subtract(above, below))
        exact = exactness(rest)
        if exact is not None and self._divide(*exact):
            return True
        chosen = newest_term(rest, self.age, lambda factor: True)
        if chosen is not None:
            others = subtract(rest, of_term(*chosen))
            if self._divide(others, abs(chosen[1])):
                return True
        product = lone_term(rest, lambda factor: abs(factor) == 1)
        if product is not None:
            self._enter(product, rest)
            return False
        self.inequalities.append(rest, -rest)
        self._changed(rest)
        return False

    def _enter(self, term: tuple[Monomial, int], rest: Dim) -> None:
        """The rule that a term with coefficient 1 or -1 is what rest == 0 makes it."""
        atoms, factor = term
        value = multiply(subtract(rest, of_term(atoms, factor)), -factor)
        self._rules[atoms] = value
        self._changed(rest)
        if len(atoms) > 1:
            self._products.append(atoms)
            near = self.inequalities.of(of_term(atoms, 1))
            self._restate([fact for fact in near if multiple_of(fact, atoms)])
            # A rule of a multiple would hide what this one says of it.
            self._equate_again(
                [one for one in self._products if one != atoms and monomial_quotient(one, atoms)]
            )
            return
        self.renew(atoms[0])
        # What was known of the range of an atom is known of the size that stands for it.
        atom = atoms[0]
        low, high = narrowed(DECLARED.interval(atom), self._ranges.get(atom))
        if low is not None:
            self._not_negative(subtract(value, low))
        if high is not None:
            self._not_negative(subtract(high, value))
        if atom.kind == "floordiv" and isinstance(atom.args[1], int):
            above, below = atom.args
            remainder = subtract(above, multiply(value, below))
            self._not_negative(remainder)
            self._not_negative(subtract(below - 1, remainder))
        elif atom.kind in ("min", "max"):
            sign = 1 if atom.kind == "min" else -1
            others = [multiply(subtract(argument, value), sign) for argument in atom.args]
            for other in others:
                self._not_negative(other)
            open_ = [other for other in others if not never_negative(subtract(other, 1), self)]
            if len(open_) == 1:  # one operand it is
                self._equate(open_[0])

    def renew(self, atom: Atom) -> None:
        """Restate what was known of an atom that is written otherwise now.

        >>> from dy2st_runtime.dims.expression import the_atom
        >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
        >>> facts.assume(n > 3)
        >>> facts.renew(the_atom(n))
        >>> facts.interval(the_atom(n))
        (4, None)
        """
        rules, mask = self._rules, atom.mask
        stale = [p for p in self._products if atom in p or getattr(rules[p], "mask", 0) & mask]
        # broadcast(m, k) is written with n in place of k now, and its rule with it.
        stale += [
            (a,)
            for a, *more in rules
            if not more and a.mask & mask and a is not atom and atom in deep_atoms(of_atom(a))
        ]
        self._equate_again(stale)
        near = self.inequalities.of(of_atom(atom))
        self._restate([fact for fact in near if not self._stands(fact, atom)])

    def _equate_again(self, stale: Sequence[Monomial]) -> None:
        """Enter rules of products once more, as they are written now."""
        self._products = [lead for lead in self._products if lead not in stale]
        rests = [subtract(of_term(lead, 1), self._rules.pop(lead)) for lead in stale]
        if stale:
            self._normal.clear()  # it was made with these rules
        for rest in rests:
            self._equate(rest)

    def _restate(self, facts: Sequence[Dim]) -> None:
        """Restate inequalities, as they are written now."""
        if not facts:
            return
        restated = set(facts)
        self.inequalities = Inequalities(fact for fact in self.inequalities if fact not in restated)
        for fact in facts:
            self._not_negative(fact, evident)  # it followed from nothing when it was said first

    def _stands(self, fact: Dim, atom: Atom) -> bool:
        """Whether an inequality is not of an atom, and an example shows that it is no equality."""
        if atom.kind == "floordiv" or atom in deep_atoms(fact):
            return False  # a quotient is a part of others, as n//2 is of n//4
        return any(value > 0 for value in sampled(fact, self))

    def _divide(self, size: Size, number: int) -> bool:
        """Know that `number` divides size; False if no rule could say so."""
        size = self.normal(size)
        constant, terms = split(size)
        rest = {atoms: factor % number for atoms, factor in terms if factor % number}
        common = gcd(number, *rest.values())
        if constant % common:
            raise Contradiction
        number //= common
        if number == 1:
            return True
        reduced: Size = constant // common % number
        for atoms, factor in rest.items():
            reduced = add(reduced, of_term(atoms, factor // common))
        assert isinstance(reduced, Dim)
        chosen = newest_term(reduced, self.age, lambda factor: gcd(factor, number) == 1)
        chosen = chosen or lone_term(reduced, lambda factor: gcd(factor, number) == 1)
        if chosen is None:
            return False
        # number divides size: size is number * q, solved for one of its terms.
        whole = scaled_multiple(reduced, chosen, number)
        low, high = bounds(whole, self)
        least = None if low is None else -(-low // number)
        most = None if high is None else high // number
        if most is not None and least is not None and most < least:
            raise Contradiction
        name = f"({whole})/{number}"
        quotient = make_atom("symbol", (), name, least, most)
        self.quotients[quotient] = (whole, number)
        self.age[quotient] = len(self.age)
        equation = subtract(whole, multiply(of_atom(quotient), number))
        assert isinstance(equation, Dim)
        self._enter((chosen[0], 1), equation)
        return True


def readable(size: Size, facts: Facts) -> Size:
    """The size in normal form, without symbols that only the Facts know."""
    if not isinstance(size, Dim) or not size.mask & facts.mask:
        return size
    return _without_quotients(facts.normal(size), facts)


def _without_quotients(size: Size, facts: Facts) -> Size:
    """8*q becomes n, q becomes n//8."""
    constant, terms = split(size)
    result: Size = constant
    for atoms, factor in terms:
        term: Size = factor
        for atom in sorted(atoms, key=lambda atom: atom not in facts.quotients):
            if atom in facts.quotients:
                above, below = facts.quotients[atom]
                above = _without_quotients(above, facts)
                if isinstance(term, int) and term % below == 0:
                    term = multiply(term // below, above)
                else:
                    term = multiply(term, floordiv(above, below))
            elif atom.kind == "symbol":
                term = multiply(term, of_atom(atom))
            else:
                args = tuple([_without_quotients(argument, facts) for argument in atom.args])
                term = multiply(term, operation(atom.kind, args))
        result = add(result, term)
    return result


class _InForce(ThreadState):
    def __init__(self) -> None:
        self.facts = Facts()
        self.facts.steps_left = [sys.maxsize]  # no trace that is to end: they are for good


_in_force = _InForce()


def current() -> Facts:
    """The facts in force in this thread.

    >>> facts = dy2st.dims.Facts()
    >>> with dy2st.dims.using(facts):
    ...     dy2st.dims.current() is facts
    True
    """
    return _in_force.facts


def count_steps() -> None:
    """Begin to count the steps that proofs take, for a trace: it has as many as others.

    >>> dy2st.dims.count_steps()
    """
    current().steps_left = Facts().steps_left


@contextmanager
def using(facts: Facts) -> Iterator[Facts]:
    """Let these facts be in force inside the `with`.

    >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
    >>> facts.assume(n > 3)
    >>> with dy2st.dims.using(facts):
    ...     inside = dy2st.dims.less(3, n)
    >>> inside, dy2st.dims.less(3, n)
    (True, None)
    """
    outer, _in_force.facts = _in_force.facts, facts
    try:
        yield facts
    finally:
        # Where Ctrl-C has left the `with` it ends at some later time, and others are in force.
        if _in_force.facts is facts:
            _in_force.facts = outer


def stages(facts: Facts) -> Iterator[Facts]:
    """The facts as they were learnt: none, the first, the first two, and so on.

    What is known can hide a proof, as it rewrites sizes: one that was found once may need fewer.

    >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
    >>> facts.assume(n > 3)
    >>> len([*dy2st.dims.stages(facts)])
    2
    """
    known = Facts()
    known.steps_left = facts.steps_left
    known.age = facts.age.copy()
    yield known
    for condition, _ in facts.log:
        known = known.inside()
        known.assume(condition)
        yield known


def conflict(facts: Facts, condition: Condition) -> str:
    """What a condition cannot hold beside, as few facts as it takes: lines with origins.

    >>> n, facts = dy2st.dims.symbol("n"), dy2st.dims.Facts()
    >>> facts.assume(n > 3, "line 7")
    >>> "n > 3  (line 7)" in dy2st.dims.conflict(facts, n < 2)
    True
    """
    kept = [entry for entry in facts.log if entry[0] != condition]
    if not _cannot_hold(kept, condition):
        return ""
    for entry in list(kept):
        rest = [other for other in kept if other is not entry]
        if _cannot_hold(rest, condition):
            kept = rest
    lines = [f"\n  {known}" + (f"  ({origin})" if origin else "") for known, origin in kept]
    return f" beside{''.join(lines)}"


def _cannot_hold(log: list[tuple[Condition, str]], condition: Condition) -> bool:
    facts = Facts()
    try:
        for known, _ in log:
            facts.assume(known)
        facts.assume(condition)
    except Contradiction:
        return True
    return False
