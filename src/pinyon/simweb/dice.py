"""Draws that depend on their key alone: the same key gives the same draws, in every process and release."""

from __future__ import annotations

import random
from collections.abc import Callable

import xxhash

#: Each call gives the next number of a sequence, at least 0 and less than 1.
Dice = Callable[[], float]


def number(*key: object) -> int:
    """An unsigned 64-bit number made of the key's parts."""
    return xxhash.xxh3_64_intdigest("\0".join(map(str, key)).encode())


def dice(*key: object) -> Dice:
    """The sequence that belongs to a key.

    Of the `random` module only `random()` is promised to give the same numbers in later releases of Python,
    so nothing else of it is used.
    """
    return random.Random(number(*key)).random


def zipf(draw: float, n: int) -> int:
    """A rank from 0 to n - 1; rank r comes up about as often as 1 / (r + 1): few are popular, most are not."""
    return min(int((n + 1) ** draw) - 1, n - 1)


def pareto(draw: float, mean: float, most: int) -> int:
    """A size of at least 1 with a long tail: mean about `mean`, most sizes below it, none above `most`."""
    return max(1, min(int(0.4 * mean / (1.0 - draw) ** 0.6 + 0.5), most))


def shuffled(key: str, n: int) -> list[int]:
    """The numbers 0 to n - 1 in an order that belongs to the key."""
    return sorted(range(n), key=lambda i: number(key, i))
