"""Learning rates of every schedule: those that PaddlePaddle 3.3.1 gives."""

from __future__ import annotations

import pytest

from dy2st_runtime.nn import Linear
from dy2st_runtime.optimizer import SGD, lr

CASES = {
    "Noam": (
        lambda: lr.NoamDecay(64, 5, 0.5),
        [
            0.0,
            0.0055902,
            0.0111803,
            0.0167705,
            0.0223607,
            0.0279508,
            0.0255155,
            0.0236228,
            0.0220971,
        ],
    ),
    "Inv": (
        lambda: lr.InverseTimeDecay(0.5, 0.1),
        [0.5, 0.4545455, 0.4166667, 0.3846154, 0.3571429, 0.3333333, 0.3125, 0.2941176, 0.2777778],
    ),
    "Mult": (
        lambda: lr.MultiplicativeDecay(0.5, lambda e: 1 - 0.02 * e),
        [0.5, 0.49, 0.4704, 0.442176, 0.4068019, 0.3661217, 0.3221871, 0.2770809, 0.232748],
    ),
    "Lin": (
        lambda: lr.LinearLR(0.5, 5),
        [0.1666667, 0.2333333, 0.3, 0.3666667, 0.4333333, 0.5, 0.5, 0.5, 0.5],
    ),
    "Lin2": (
        lambda: lr.LinearLR(0.5, 6, 0.9, 0.1),
        [0.45, 0.3833333, 0.3166667, 0.25, 0.1833333, 0.1166667, 0.05, 0.05, 0.05],
    ),
    "Warm": (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, 3, 2, 0.01),
        [0.5, 0.3775, 0.1325, 0.5, 0.4671762, 0.3775, 0.255, 0.1325, 0.0428238],
    ),
    "Warm1": (
        lambda: lr.CosineAnnealingWarmRestarts(0.5, 4),
        [0.5, 0.4267767, 0.25, 0.0732233, 0.5, 0.4267767, 0.25, 0.0732233, 0.5],
    ),
    "One": (
        lambda: lr.OneCycleLR(0.5, 12),
        [
            0.02,
            0.1748948,
            0.4396426,
            0.4972083,
            0.466513,
            0.4058913,
            0.3237241,
            0.2313712,
            0.1416008,
        ],
    ),
    "One3": (
        lambda: lr.OneCycleLR(0.5, 12, three_phase=True, anneal_strategy="linear"),
        [
            0.02,
            0.2046154,
            0.3892308,
            0.4261538,
            0.2415385,
            0.0569231,
            0.0172552,
            0.0138241,
            0.0103931,
        ],
    ),
    "Cyc": (
        lambda: lr.CyclicLR(0.1, 0.5, 3, 2),
        [0.1, 0.2333333, 0.3666667, 0.5, 0.3, 0.1, 0.2333333, 0.3666667, 0.5],
    ),
    "Cyc2": (
        lambda: lr.CyclicLR(0.1, 0.5, 3, mode="triangular2"),
        [0.1, 0.2333333, 0.3666667, 0.5, 0.3666667, 0.2333333, 0.1, 0.1666667, 0.2333333],
    ),
    "CycE": (
        lambda: lr.CyclicLR(0.1, 0.5, 2, 4, mode="exp_range", exp_gamma=0.9),
        [0.1, 0.28, 0.424, 0.3187, 0.23122, 0.159049, 0.1, 0.1956594, 0.2721869],
    ),
    "CycF": (
        lambda: lr.CyclicLR(
            0.1, 0.5, 2, 4, scale_fn=lambda x: 1 / (x + 1), scale_mode="iterations"
        ),
        [0.1, 0.2, 0.2333333, 0.175, 0.14, 0.1166667, 0.1, 0.125, 0.1444444],
    ),
    "Cos": (
        lambda: lr.CosineAnnealingDecay(0.5, 4, 0.1),
        [0.5, 0.4414214, 0.3, 0.1585786, 0.1, 0.1585786, 0.3, 0.4414214, 0.5],
    ),
    "Step": (lambda: lr.StepDecay(0.5, 3), [0.5, 0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005, 0.005]),
    "Multi": (
        lambda: lr.MultiStepDecay(0.5, [2, 5]),
        [0.5, 0.5, 0.05, 0.05, 0.05, 0.005, 0.005, 0.005, 0.005],
    ),
    "Exp": (
        lambda: lr.ExponentialDecay(0.5, 0.9),
        [0.5, 0.45, 0.405, 0.3645, 0.32805, 0.295245, 0.2657205, 0.2391485, 0.2152336],
    ),
    "Nat": (
        lambda: lr.NaturalExpDecay(0.5, 0.1),
        [0.5, 0.4524187, 0.4093654, 0.3704091, 0.33516, 0.3032653, 0.2744058, 0.2482927, 0.2246645],
    ),
    "Poly": (
        lambda: lr.PolynomialDecay(0.5, 5, 0.1, 2.0),
        [0.5, 0.356, 0.244, 0.164, 0.116, 0.1, 0.1, 0.1, 0.1],
    ),
    "PolyC": (
        lambda: lr.PolynomialDecay(0.5, 5, 0.1, 2.0, True),
        [0.5, 0.356, 0.244, 0.164, 0.116, 0.1, 0.164, 0.136, 0.116],
    ),
    "Piece": (
        lambda: lr.PiecewiseDecay([2, 5], [0.5, 0.3, 0.1]),
        [0.5, 0.5, 0.3, 0.3, 0.3, 0.1, 0.1, 0.1, 0.1],
    ),
    "LW": (
        lambda: lr.LinearWarmup(lr.StepDecay(0.5, 2), 4, 0.1, 0.5),
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.05, 0.05, 0.005],
    ),
    "LW2": (
        lambda: lr.LinearWarmup(0.5, 4, 0.1, 0.5),
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.5, 0.5],
    ),
    "Lam": (
        lambda: lr.LambdaDecay(0.5, lambda e: 0.9**e),
        [0.5, 0.45, 0.405, 0.3645, 0.32805, 0.295245, 0.2657205, 0.2391485, 0.2152336],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_rates_epoch_by_epoch(case):
    make, expected = CASES[case]
    schedule, found = make(), []
    for _ in expected:
        found.append(schedule())
        schedule.step()
    assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("case", CASES)
def test_a_schedule_goes_on_from_its_state(case):
    make, expected = CASES[case]
    one, two = make(), make()
    for _ in range(4):
        one.step()
    two.set_state_dict(one.state_dict())
    assert two() == one() == pytest.approx(expected[4], abs=1e-7)
    one.step()
    two.step()
    assert two() == one()


def test_a_schedule_of_an_optimizer_as_torch_has_it_is_told_from_a_rate():
    sgd = SGD(0.1, Linear(2, 2).parameters())
    with pytest.raises(TypeError, match=r"a number, and no SGD; .* SGD\(learning_rate=schedule\)"):
        lr.CosineAnnealingDecay(sgd, 10)


def test_a_plateau_lowers_the_rate_and_goes_on_from_its_state():
    schedule, found = lr.ReduceOnPlateau(0.5, patience=1, cooldown=1), []
    for metric in [1.0, 0.9, 0.95, 0.95, 0.96, 0.97, 0.98, 0.99, 1.0]:
        schedule.step(metric)
        found.append(schedule())
    assert found == pytest.approx(
        [
            0.5,
            0.5,
            0.5,
            0.05,
            0.05,
            0.05,
            0.005000000000000001,
            0.005000000000000001,
            0.005000000000000001,
        ]
    )
    other = lr.ReduceOnPlateau(0.5, patience=1, cooldown=1)
    other.set_dict(schedule.state_dict())
    assert other() == schedule() and other.best == 0.9


def test_an_epoch_may_be_given():
    schedule = lr.StepDecay(0.5, 3)
    schedule.step(7)
    assert schedule() == pytest.approx(0.005) and schedule.last_epoch == 7
