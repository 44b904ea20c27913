"""Write amplification of a page-mapped drive under uniform writes of single pages, by theory, without a run.

Mean field (Van Houdt 2013): S_i is the share of blocks with at least i valid pages, of b; r the valid share of all
programmed pages; g the collections for each page that the host writes. Victims are the best of d drawn from the blocks
with something to gain: one has at least i valid pages with chance T_i^d, T_i = (S_i − S_b) / (1 − S_b). In balance

    S_i − S_(i+1) = g r b (1 − T_i^d) / i    and    g (b − Σ T_i^d) = 1,    WAF = g b
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from flashwatt import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAGES_PER_BLOCK = 128
_HALVINGS = 100


def greedy(rho: float, b: int = PAGES_PER_BLOCK) -> float:
    """The best of all blocks: j from b r (H_b − H_j) / (b − j) = 1, WAF = b / (b − j)."""
    top = _harmonic(b)
    j = _zero(0, b - 1e-6, lambda j: b * rho * (top - _harmonic(j)) / (b - j) - 1)
    return b / (b - j)


def d_choices(rho: float, d: int, b: int = PAGES_PER_BLOCK) -> float:
    """The best of d blocks drawn at random; d = 1 is a random one."""

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


class Theory(NamedTuple):
    """What theory says of a configuration."""

    policy: str
    spare_share: float
    """Of the flash, as configured."""
    effective_spare_share: float
    """Of the flash without the reserved blocks of each die, and half of the one that is being filled."""
    write_amplification: float


_OPEN = 0.5
"""Of a block that is being filled, a half is empty in the mean."""
_POLICIES = ("greedy", "random", "fifo", "d_choices")


def of_config(config: Mapping[str, Any]) -> Theory:
    """Apply theory to the resolved configuration of an SSD, as `flashwatt.resolve` or a report has it.

    Greedy collection, a random victim, first in first out, or the best of d drawn blocks; uniform writes of whole
    pages. Raises `FlashwattError` for another drive, layer, policy or workload: there is no closed form of it here.
    """
    device, policy = config["device"], _policy(config)
    blocks = device["planes"] * device["blocks_per_plane"]
    kept = config["gc"]["reserved_blocks"] + _OPEN
    spare = device["spare_fraction"]
    rho = (1 - spare) * blocks / max(1, blocks - kept)
    if not 0 < rho < 1:
        raise _core.FlashwattError(f"theory: found a spare share of {1 - rho:.3g} beside the free blocks; expected > 0")
    name, pages = policy["name"], device["pages_per_block"]
    if name == "greedy":
        factor = greedy(rho, pages)
    elif name == "fifo":
        factor = first_in_first_out(rho)
    else:
        factor = d_choices(rho, 1 if name == "random" else policy["parameters"]["d"], pages)
    return Theory(name, spare, 1 - rho, factor)


def _policy(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give the policy of a configuration that theory covers."""
    device = config.get("device") or {}
    if "blocks_per_plane" not in device:
        raise _core.FlashwattError("theory: not an SSD; expected one drive of flash")
    layer = next(iter(config["ftl"]))
    if layer != "page":
        raise _core.FlashwattError(f"theory: found the layer {layer}; expected page mapping")
    if (unit := config["ftl"]["page"]["map_unit_bytes"]) != device["page_bytes"]:
        found = f"theory: found ftl.page.map_unit_bytes = {unit}"
        raise _core.FlashwattError(f"{found}; expected whole pages, {device['page_bytes']} bytes")
    policy: Mapping[str, Any] = config["gc"]["policy"]
    if policy["name"] not in _POLICIES:
        expected = ", ".join(_POLICIES)
        raise _core.FlashwattError(f"theory: found gc.policy {policy['name']}; expected one of {expected}")
    workload = config["workload"].get("uniform")
    if workload is None or workload["range_bytes"] < device["logical_bytes"] // 100 * 99:
        found = next(iter(config["workload"]))
        raise _core.FlashwattError(f"theory: found the workload {found}; expected uniform, over the whole drive")
    sizes = {one["bytes"] for one in workload["sizes"]["write"]}
    if workload["trim_fraction"] or sizes != {device["page_bytes"]}:
        found = f"writes of {', '.join(map(str, sorted(sizes)))} bytes"
        raise _core.FlashwattError(
            f"theory: found {found}; expected whole pages, {device['page_bytes']} bytes, no trims"
        )
    return policy


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
