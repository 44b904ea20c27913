"""The optimiser: SciPy's bounded least squares, and its Sobol sequence for the starts of several searches.

SciPy and not a general search for the best of many trials (Optuna): a calibration is a nonlinear least-squares problem
with bounds. The trust-region method uses the Jacobian, which the report needs anyway to say what a table determines,
and comes to the optimum in some ten steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares  # type: ignore[import-untyped]
from scipy.stats import qmc  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from flashwatt.calibration.space import Unit

    Vector = NDArray[np.float64]

_STEPS_MAX = 60
_F_TOLERANCE = 1e-8
"""Share of the sum of squares that a step gains at least."""
_X_TOLERANCE = 1e-6
"""Least step, as a share of the ranges: whole nanoseconds in ranges of milliseconds."""


def descend(residuals: Callable[[Unit], Vector], jacobian: Callable[[Unit], Vector], start: Unit) -> Unit:
    """Go from a start to the nearest minimum of the sum of squares within 0 to 1 (trust region reflective).

    Residuals that are not finite make a step shorter.
    """
    inside = np.clip(start, 1e-6, 1 - 1e-6)
    found = least_squares(
        residuals,
        inside,
        jac=jacobian,
        bounds=(0.0, 1.0),
        method="trf",
        ftol=_F_TOLERANCE,
        xtol=_X_TOLERANCE,
        gtol=_F_TOLERANCE,
        max_nfev=_STEPS_MAX,
    )
    return np.asarray(found.x, dtype=float)


def spread(dimensions: int, number: int, seed: int) -> Vector:
    """Give places, a row for each, of which any first few cover the space evenly: a scrambled Sobol sequence."""
    power = max(0, number - 1).bit_length()  # the sequence is balanced at powers of two
    return np.asarray(qmc.Sobol(dimensions, seed=seed).random_base2(power), dtype=float)
