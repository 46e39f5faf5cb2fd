"""Functions of Python's library that are written in C, written in Python here, to be traced.

A polyfill is traced as the user's code is, so it is written as if tensors, and numbers that only
the run knows, were values of Python:

    @polyfill(itertools.batched)
    def batched(iterable, n):
        if n < 1:
            raise ValueError("n must be at least one")
        batch = []
        for item in iterable:
            batch = [*batch, item]
            if len(batch) == n:
                yield tuple(batch)
                batch = []
        if batch:
            yield tuple(batch)

It stands in the file of its module, which `convert/kinds/__init__.py` names. `registry.py` says
when Python's own function runs instead.
"""
