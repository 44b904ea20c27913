"""Write amplification under uniform writes of single pages, by theory.

Mean field (Van Houdt 2013): S_i is the share of blocks with at least i valid pages, of b; r the valid share of all
programmed pages; g the collections for each page that the host writes. Victims are the best of d drawn from the blocks
with something to gain: one has at least i valid pages with chance T_i^d, T_i = (S_i − S_b) / (1 − S_b). In balance

    S_i − S_(i+1) = g r b (1 − T_i^d) / i    and    g (b − Σ T_i^d) = 1,    WAF = g b
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES_PER_BLOCK = 128
_HALVINGS = 100


def greedy(rho: float, b: int = PAGES_PER_BLOCK) -> float:
    """The best of all blocks: j from b r (H_b − H_j) / (b − j) = 1, WAF = b / (b − j)."""
    top = _harmonic(b)
    j = _zero(0, b - 1e-6, lambda j: b * rho * (top - _harmonic(j)) / (b - j) - 1)
    return b / (b - j)


def d_choices(rho: float, d: int) -> float:
    """The best of d blocks drawn at random; d = 1 is a random one."""
    b = PAGES_PER_BLOCK

    def surplus(g: float) -> float:
        full = g * rho
        share, mean = full, 0.0
        for i in range(b - 1, 0, -1):
            flow, above = g * rho * b / i, share
            share = _zero(above, 1, partial(balance, flow, above, full))
            mean += drawn(share, full)
        return 1 - g * (b - mean)

    def balance(flow: float, above: float, full: float, share: float) -> float:
        return above + flow * (1 - drawn(share, full)) - share

    def drawn(share: float, full: float) -> float:
        return float(((share - full) / (1 - full)) ** d)

    return b * _zero(1 / b, 0.99 / rho, surplus)


def first_in_first_out(rho: float) -> float:
    """The block that was filled longest ago: u = exp(−(1 − u) / r), WAF = 1 / (1 − u)."""
    return 1 / (1 - _zero(0, rho, lambda u: math.exp(-(1 - u) / rho) - u))


def _harmonic(x: float) -> float:
    """H_x of a real x, Σ x / (k (k + x)); the tail beyond n is x / n to second order."""
    n = 20_000
    return sum(x / (k * (k + x)) for k in range(1, n + 1)) + x / (n + 0.5 + x / 2)


def _zero(low: float, high: float, function: Callable[[float], float]) -> float:
    """Where a function that falls from a positive to a negative value passes zero."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) > 0 else (low, middle)
    return (low + high) / 2
