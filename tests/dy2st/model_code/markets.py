"""Markets: prices of options, ledgers, order of lots, portfolios, rates found by iteration."""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from dataclasses import dataclass

import dy2st
from tests.dy2st.catalogue.entry import on

EACH = [[None]]

PRICES = (
    [100.0, 102.0, 99.0, 105.0, 101.0],
    [50.0],
    [10.0, 9.0, 8.0, 7.5],
    [1.0, 1.0, 1.0],
    [20.0, 30.0],
)


FLOWS = (
    [-100.0, 60.0, 60.0],
    [-100.0, 10.0, 10.0, 110.0],
    [-50.0, 20.0],
    [-10.0, 5.0, 5.0, 5.0, 5.0],
)


def norm_cdf(v):
    return 0.5 * (1.0 + dy2st.erf(v / math.sqrt(2.0)))


@on(*PRICES, unknown=EACH)
def options_by_black_and_scholes(spot, strike=100.0, rate=0.02, vol=0.3, t=0.5):
    d1 = (dy2st.log(spot / strike) + (rate + vol**2 / 2) * t) / (vol * math.sqrt(t))
    d2 = d1 - vol * math.sqrt(t)
    call = spot * norm_cdf(d1) - strike * math.exp(-rate * t) * norm_cdf(d2)
    put = call - spot + strike * math.exp(-rate * t)
    return {"call": call, "put": put, "parity": (call - put).mean()}


@on(*PRICES, unknown=EACH)
def volatilities_by_newton(prices):
    t = 1.0
    vols = []
    for p in prices / prices.max() * 0.3:
        sigma = dy2st.full([], 0.5)
        for it in range(2):
            d1 = 0.5 * sigma**2 * t / (sigma * math.sqrt(t))
            price = norm_cdf(d1) - norm_cdf(d1 - sigma)
            vega = dy2st.exp(-d1 * d1 / 2) / math.sqrt(2 * math.pi)
            diff = price - p
            if diff.abs() < 0.001:
                break
            sigma = dy2st.clip(sigma - diff / vega, 0.01, 3.0)
        else:
            it = -1
        vols.append((sigma, it))
    return vols


def npv(rate, flows):
    total = 0.0
    for t, c in enumerate(flows):
        total += c / (1 + rate) ** t
    return total


@on(*FLOWS, unknown=EACH)
def rate_by_bisection(flows):
    lo, hi = -0.5, 1.0
    if npv(lo, flows) * npv(hi, flows) > 0:
        return None
    while hi - lo > 0.001:
        mid = (lo + hi) / 2
        if npv(mid, flows) > 0:
            lo = mid
        else:
            hi = mid
    return round(lo, 2), hi


@on(
    [1000.0, 0.05, 120.0],
    [100.0, 0.0, 30.0],
    [5000.0, 0.1, 1500.0],
    [100.0, 0.5, 40.0],
    [100.0, 0.1, 2.0],
    unknown=EACH,
)
def schedule_of_a_loan(loan):
    principal, rate, payment = loan[0], loan[1], loan[2]
    schedule = []
    month = 0
    while principal > 0 and month < 12:
        interest = principal * rate / 12
        paid = dy2st.minimum(payment, principal + interest)
        principal = principal + interest - paid
        schedule.append((month, paid, principal))
        month += 1
    if month == 12 and principal > 0:
        status = "unpaid"
    else:
        status = "paid"
    return status, month, schedule[-1]


@dataclass
class Position:
    symbol: str
    units: float = 0.0
    cost: float = 0.0

    @property
    def average(self):
        return self.cost / self.units if self.units else 0.0

    def trade(self, qty, price):
        realised = 0.0
        if qty >= 0:
            self.cost = self.cost + qty * price
            self.units = self.units + qty
        else:
            sold = min(-qty, self.units)
            realised = sold * (price - self.average)
            self.cost = self.cost - sold * self.average
            self.units = self.units - sold
        return realised


@on(*PRICES, unknown=EACH)
def ledger_of_a_position(prices):
    pos = Position("ABC")
    realised = 0.0
    for i, p in enumerate(prices):
        qty = 1.0 if i == 0 or p < prices[i - 1] else -0.5
        realised += pos.trade(qty, p)
    return pos.units, pos.average, realised, f"{pos.symbol}: {len(prices)} trades"


@on(*PRICES, unknown=EACH)
def rebalanced_outside_a_band(prices, target=(0.6, 0.3, 0.1), band=0.05):
    weights = dy2st.to_tensor(list(target))
    hold = weights * 100.0
    turns = 0
    for i in range(1, prices.shape[0]):
        r = prices[i] / prices[i - 1]
        hold = hold * dy2st.stack([r, r * 0.9 + 0.1, dy2st.ones([])])
        total = hold.sum()
        drift = (hold / total - weights).abs()
        if drift.max() > band * 0.1:
            hold = weights * total
            turns += 1
    return hold, turns


@on(*PRICES, unknown=EACH)
def value_at_risk(prices, level=0.9):
    if len(prices) < 2:
        return 0.0, 0.0
    returns = prices[1:] / prices[:-1] - 1
    losses = sorted(-returns, reverse=True)
    k = max(1, int((1 - level) * len(losses)))
    tail = losses[:k]
    return tail[-1], sum(tail) / k


@on(*PRICES, unknown=EACH)
def gains_of_lots_in_order(prices):
    lots = deque()
    gains = []
    for i, p in enumerate(prices):
        if i % 3 < 2:
            lots.append([1.0 + i % 2, p])
            continue
        need = 2.5
        while need > 0 and lots:
            qty, cost = lots[0]
            used = min(qty, need)
            gains.append(used * (p - cost))
            need -= used
            if used == qty:
                lots.popleft()
            else:
                lots[0][0] -= used
    return gains, [q for q, _ in lots]


class Account:
    class Overdrawn(Exception):
        pass

    def __init__(self, balance=0.0):
        self.balance = balance
        self.history = []

    def withdraw(self, amount):
        if amount > self.balance:
            raise Account.Overdrawn(amount)
        self.balance = self.balance - amount
        self.history.append(("w", amount))

    def deposit(self, amount):
        self.balance = self.balance + amount
        self.history.append(("d", amount))


@on([50.0, -20.0, -40.0, 10.0], [5.0], [-1.0, -1.0], [3.0, -3.0], unknown=EACH)
def account_that_bounces(moves):
    acc = Account()
    bounced = 0
    for m in moves:
        try:
            if m < 0:
                acc.withdraw(-m)
            else:
                acc.deposit(m)
        except Account.Overdrawn:
            bounced += 1
    return acc.balance, bounced, acc.history


@on(*PRICES, unknown=EACH)
def positions_by_match(prices, enter=1.0, leave=0.2):
    mean = prices.mean()
    std = prices.std() if prices.shape[0] > 1 else dy2st.ones([])
    position = 0
    trades = []
    for t, z in enumerate((prices - mean) / (std + 1e-06)):
        match position:
            case 0 if z > enter:
                position = -1
            case 0 if z < -enter:
                position = 1
            case 1 | -1 if abs(z) < leave:
                position = 0
            case _:
                continue
        trades.append((t, position))
    return trades


@on([0.01, 0.015, 0.02, 0.03], [0.05], [0.03, 0.02, 0.01], unknown=EACH)
def netted_flows_by_year(rates, fixed=0.02):
    flows = OrderedDict()
    for period, rate in enumerate(rates):
        year = f"y{period // 2}"
        flows[year] = flows.get(year, 0) + (rate - fixed)
    paid = {year: flow for year, flow in flows.items() if flow < 0}
    flows.move_to_end("y0")
    return paid, list(flows), flows["y0"]
