"""Durations and decimals as the API writes them: strings, because the API conventions know no floats."""

import re
from typing import Final

DURATION_PATTERN: Final = r"(?:[0-9]{1,6}(?:\.[0-9]{1,6})?(?:ms|s|m|h))+"
"""A non-negative Go duration, bounded so that no sum overflows; read alike by Python and RE2."""

_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION: Final = re.compile(DURATION_PATTERN)
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_DECIMAL: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?", re.ASCII)


def parse_duration(text: str) -> float:
    """Return the seconds in a Go duration such as "1h30m".

    Raises:
        ValueError: if `text` is no non-negative Go duration in h, m, s and ms.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is no duration; write a number with a unit, such as 90s, 5m or 1h30m")
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))


def parse_decimal(text: str) -> float:
    """Return the non-negative number in a decimal string such as "2.4".

    Raises:
        ValueError: if `text` is no plain decimal number.
    """
    if not _DECIMAL.fullmatch(text):
        raise ValueError(f"{text!r} is no decimal number; write it as a string such as '2.4'")
    return float(text)


def parse_fraction(text: str) -> float:
    """Return the number in a decimal string between 0 and 1.

    Raises:
        ValueError: if `text` is no decimal number or lies outside [0, 1].
    """
    value = parse_decimal(text)
    if value > 1:
        raise ValueError(f"{text!r} is above 1; write a fraction such as '0.9'")
    return value


def format_duration(seconds: float) -> str:
    """Return whole seconds as a short Go duration: 5400 gives "1h30m"."""
    whole = round(seconds)
    parts = [(whole // 3600, "h"), (whole % 3600 // 60, "m"), (whole % 60, "s")]
    text = "".join(f"{number}{unit}" for number, unit in parts if number)
    return text or "0s"
