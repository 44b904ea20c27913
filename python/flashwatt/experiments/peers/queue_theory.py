"""Mean response of a server with Poisson arrivals and a constant service time."""

from __future__ import annotations


def mean_response(service: float, load: float) -> float:
    """Pollaczek and Khinchine: the service, and a wait of load × service / 2 (1 − load)."""
    return service * (1 + load / (2 * (1 - load)))
