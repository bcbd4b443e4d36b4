"""Text for pages: plain English words in sentences that mean nothing, made from a few hundred ready ones."""

from __future__ import annotations

from functools import cache

from pinyon.simweb.dice import Dice, dice

WORDS: tuple[str, ...] = tuple(
    """acorn amber anchor apple arrow attic autumn badge bakery barley basin beacon berry birch blanket boat
    bottle branch bread bridge bronze brook bucket butter cabin candle canyon carbon castle cedar chalk
    cherry chimney cinder circle clay cliff clover coast cobalt compass copper coral cotton cradle creek
    crystal curtain dairy delta desert dune eagle echo elm ember engine falcon feather fence fern fiddle
    field flint forest fountain fox garden garnet gate ginger glacier glass granite grove gull hammer harbour
    harvest hazel heron hill hollow honey horizon iron island ivory ivy jasper jay juniper kettle lagoon
    lantern larch ledge lemon lilac linen lodge lupin maple marble marsh meadow mill mint mirror moss
    mountain needle nest nutmeg oak oat ocean olive onyx orchard otter paddle paper pear pebble pepper pine
    pinyon planet plum pocket poplar prairie quarry quartz quill rain raven reed ridge river robin rope rowan
    saddle saffron sail salt sand shell silver slate smoke snow sorrel spark spruce stone storm straw summit
    swallow tallow thistle thunder timber tinder trail tulip tunnel turf valley velvet village violet wagon
    walnut water wharf wheat willow window winter wool wren yarrow""".split()
)

_JOINTS = (
    "of the",
    "and a",
    "under the",
    "beside every",
    "for one",
    "without the",
    "near some",
    "against the",
)


@cache
def sentences() -> tuple[str, ...]:
    """The sentences all text is put together from, about 70 characters each."""
    draw = dice("sentences")
    return tuple(_sentence(draw) for _ in range(512))


def _sentence(draw: Dice) -> str:
    parts = [
        f"{_pick(WORDS, draw)} {_pick(_JOINTS, draw)} {_pick(WORDS, draw)}"
        for _ in range(2 + int(draw() * 3))
    ]
    return ", ".join(parts).capitalize() + "."


def _pick(choices: tuple[str, ...], draw: Dice) -> str:
    return choices[int(draw() * len(choices))]


def sentence(draw: Dice) -> str:
    """One sentence."""
    return _pick(sentences(), draw)


def title(draw: Dice) -> str:
    """Three words with capitals."""
    return " ".join(_pick(WORDS, draw).capitalize() for _ in range(3))
