"""Formats numbers and text of the service for display.

Spent amounts are rounded up and remaining amounts are rounded down, so that a displayed figure never
promises more than the service does.
"""

from __future__ import annotations

import decimal
import math

DIGITS = 3  # significant digits: a budget is not planned more finely


def _rounded(value: float | None, rounding: str) -> str:
    if value is None:  # the service writes infinity as null
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
    """A spent share in whole percent, rounded up; rounding errors of a double are not rounded up."""
    return f"{math.ceil(100 * share - 1e-9)} %"


def plain(text: object) -> str:
    """Text of the service with control characters replaced, because a terminal would obey them."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
