"""Numbers and foreign text as a person reads them.

What was spent is rounded up and what is left is rounded down, so that a figure that was read off
the screen never promises more than the service does.
"""

from __future__ import annotations

import decimal
import math

DIGITS = 3  # significant ones: a budget is not planned more finely


def _rounded(value: float | None, rounding: str) -> str:
    if value is None:  # how the service writes infinity
        return "infinity"
    if value == 0:
        return "0"
    exact = decimal.Decimal(repr(float(value)))
    place = decimal.Decimal(1).scaleb(exact.adjusted() - DIGITS + 1)
    return f"{exact.quantize(min(place, decimal.Decimal(1)), rounding=rounding).normalize():f}"


def up(value: float | None) -> str:
    """Three significant digits, never less than the value."""
    return _rounded(value, decimal.ROUND_CEILING)


def down(value: float | None) -> str:
    """Three significant digits, never more than the value."""
    return _rounded(value, decimal.ROUND_FLOOR)


def percent(share: float) -> str:
    """A share of what was spent, in whole percent, rounded up but for a double's last digits."""
    return f"{math.ceil(100 * share - 1e-9)} %"


def plain(text: object) -> str:
    """Text of the service without control characters: a terminal obeys them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
