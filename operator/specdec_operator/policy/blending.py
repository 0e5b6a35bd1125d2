"""The exponential mean: weighted by time, so that a tick that comes twice or late changes nothing but its own share."""


def blend(old: float, new: float, *, elapsed: float, half: float) -> float:
    """Return the exponential mean after `elapsed` seconds at `new`."""
    kept = 0.5 ** (max(elapsed, 0.0) / half) if half > 0 else 0.0
    return new + (old - new) * kept
