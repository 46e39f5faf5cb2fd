"""statistics: as Python has written it; where it adds fractions, by exact sums of floats."""

from __future__ import annotations

import math
import statistics
from typing import Any

from dy2st.convert.polyfills.registry import polyfill

for _function in (  # which are traced as they are
    *(statistics.fmean, statistics.geometric_mean, statistics.mode, statistics.multimode),
    *(statistics.median, statistics.median_low, statistics.median_high, statistics.quantiles),
    *(statistics.covariance, statistics.correlation, statistics.linear_regression),
):
    polyfill(_function)(_function)


@polyfill(statistics.mean)
def _mean(data: Any) -> Any:
    values = list(data)
    if len(values) < 1:
        raise statistics.StatisticsError("mean requires at least one data point")
    total = sum(values)
    if isinstance(total, int):
        return _quotient(total, len(values))
    _check_float(total)
    return math.fsum(values) / len(values)


@polyfill(statistics.variance)
def _variance(data: Any, xbar: Any = None) -> Any:
    return _spread("variance", list(data), xbar, 1)


@polyfill(statistics.pvariance)
def _pvariance(data: Any, mu: Any = None) -> Any:
    return _spread("pvariance", list(data), mu, 0)


@polyfill(statistics.stdev)
def _stdev(data: Any, xbar: Any = None) -> Any:
    return math.sqrt(_spread("stdev", list(data), xbar, 1))


@polyfill(statistics.pstdev)
def _pstdev(data: Any, mu: Any = None) -> Any:
    return math.sqrt(_spread("pstdev", list(data), mu, 0))


def _spread(name: str, values: Any, center: Any, lost: int) -> Any:
    """The mean of squares of what is between the values and their mean; `lost`: of n - lost."""
    count = len(values)
    if count < 1 + lost:
        least = "two data points" if lost else "one data point"
        raise statistics.StatisticsError(f"{name} requires at least {least}")
    total = sum(values)
    if isinstance(total, int) and center is None:
        squares = sum([value * value for value in values])
        return _quotient(count * squares - total * total, count * (count - lost))
    _check_float(total)
    middle = math.fsum(values) / count if center is None else center
    return math.fsum([(value - middle) ** 2 for value in values]) / (count - lost)


def _quotient(numerator: Any, divisor: Any) -> Any:
    """A quotient of ints, which is an int where it is whole, as fractions are given back."""
    return numerator // divisor if numerator % divisor == 0 else numerator / divisor


def _check_float(value: Any) -> None:
    if not isinstance(value, (int, float)):
        kind = type(value).__name__
        raise TypeError(f"can't convert type '{kind}' to numerator/denominator")
