# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Values of arguments, read from text."""

import argparse
import math

_MOST = 10**7  # of anything: more fill memories and days
_LARGEST = 1e50  # of any unit: products of more overflow
_DIGITS = 100  # Python reads no more than some thousands
_FASTEST = 10000  # Hz


def assignment(text: str) -> tuple[str, float]:
    """Read ``joint=value``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'"{text}" is not JOINT=VALUE, such as crank=0.6')
    return name, finite(value)


def named(text: str) -> tuple[str, str]:
    """Read ``name=value``, or xacro's own ``name:=value``."""
    name, equals, value = text.partition("=")
    name = name.removesuffix(":")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'"{text}" is not NAME=VALUE, such as arms=2')
    return name, value


def positive(text: str) -> float:
    """Read a number above zero, of a size that machines have."""
    number = finite(text)
    if number <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    if number < 1.0 / _LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is below {1.0 / _LARGEST:g}")
    return number


def part(text: str) -> float:
    """Read a number above zero and below one."""
    number = positive(text)
    if number >= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not below 1")
    return number


def count(text: str) -> int:
    """Read a whole number of at least zero that no memory is too small for."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number of at least 0')
    if len(text) > _DIGITS or int(text) > _MOST:
        raise argparse.ArgumentTypeError(f"{text} is more than {_MOST}")
    return int(text)


def finite(text: str) -> float:
    """Read a finite number of a size that machines have."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f'"{text}" is not a finite number')
    if abs(number) > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is beyond {_LARGEST:g}")
    return number


def rate(text: str) -> int:
    """Read a rate in Hz, a whole number."""
    try:
        rate = int(text)
    except ValueError:
        rate = 0
    if not 1 <= rate <= _FASTEST:
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number from 1 to {_FASTEST}')
    return rate
