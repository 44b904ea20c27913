"""What a table determines: which parameters it pins down, and which ones it cannot tell apart.

J holds the slopes of the fitted figures divided by their noise, with each parameter as a share of its range (of the
range's logarithm on that scale). The bounds are knowledge as well: without a measurement a parameter may be anywhere
between them, with a standard deviation of 1/√12 of the range. Near the optimum the covariance of the shares is
therefore C = (JᵀJ + 12 I)⁻¹: that of linear least squares with a prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

DETERMINED = 0.05
"""Greatest standard error of a parameter that counts as determined, as a share of its range (choice)."""
_PRIOR = 12.0
"""Inverse variance of a uniform distribution over a range of 1."""
_JOINED = 0.1
"""Least share of two parameters in a common direction, beside their own, that joins them (choice)."""
RULE = (
    "C = (JᵀJ + 12 I)⁻¹: J holds the slopes of the fitted figures in units of their noise, with each parameter as a "
    "share of its range; 12 is the inverse variance of a range without a measurement. A parameter is determined if "
    f"its standard error is at most {100 * DETERMINED:g} % of its range, and no other end of the search that fits as "
    "well has it elsewhere. Parameters that are not, and that move together along the directions with a standard "
    f"deviation above {100 * DETERMINED:g} %, cannot be told apart."
)


@dataclass(frozen=True)
class Identified:
    """The linear analysis at the optimum."""

    errors: Vector
    """Standard error of each parameter as a share of its range."""
    correlations: Vector
    singular_values: Vector
    """Of J, the largest first: the noises by which the table moves over the whole range along each direction."""
    groups: tuple[tuple[int, ...], ...]
    """Numbers of parameters that are not determined; several together cannot be told apart."""
    covariance: Vector

    def determined(self, number: int) -> bool:
        """Whether the table determines a parameter."""
        return all(number not in group for group in self.groups)


def identified(jacobian: Vector) -> Identified:
    """Analyse the slopes of the fitted figures: a row for each figure, a column for each parameter."""
    size = jacobian.shape[1]
    covariance = np.asarray(np.linalg.inv(jacobian.T @ jacobian + _PRIOR * np.eye(size)), dtype=float)
    errors = np.sqrt(np.diag(covariance))
    variances, directions = np.linalg.eigh(covariance)
    loose = directions[:, variances > DETERMINED**2]
    shared = np.abs(loose @ loose.T)
    open_ = [number for number in range(size) if errors[number] > DETERMINED]
    singular = np.asarray(np.linalg.svd(jacobian, compute_uv=False), dtype=float)
    return Identified(errors, covariance / np.outer(errors, errors), singular, _groups(open_, shared), covariance)


def _groups(numbers: list[int], shared: Vector) -> tuple[tuple[int, ...], ...]:
    """Join numbers that share a direction, directly or through others."""
    groups: list[set[int]] = []
    for number in numbers:
        own = shared[number, number]
        near = {other for other in numbers if shared[number, other] > _JOINED * np.sqrt(own * shared[other, other])}
        joined = [group for group in groups if group & near]
        groups = [group for group in groups if not group & near] + [{number} | near.union(*joined)]
    return tuple(tuple(sorted(group)) for group in groups)
