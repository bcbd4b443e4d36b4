"""Score models: what a link gives to its target, as SQL.

`link` is what one link `l` gives; the job sums it up, over all links as `l.score` and over those of pages that
were fetched for the first time as `l.new_score`. `known` is the next score of a row `c` that is there already
(`l.…` is null where no link leads to it), `new` that of one that enters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pinyon.settings import Db


@dataclass(frozen=True, slots=True)
class ScoreModel:
    """Three SQL expressions; `{factor}` is that of the settings for links within a host, or out of it."""

    link: str
    known: str
    new: str


SCORE_MODELS: Mapping[str, ScoreModel] = {
    # Abiteboul, Preda, Cobéna: Adaptive On-Line Page Importance Computation (2003), as Nutch's scoring-opic has it,
    # but a page pays a URL that is known already only when it is fetched for the first time: Nutch's scores grow
    # with every refetch of the pages that link to them.
    "opic": ScoreModel(
        "CAST(l.from_score AS DOUBLE) / nullif(l.from_outlinks, 0) * {factor}",
        "c.score + coalesce(l.new_score, 0)",
        "l.score",
    ),
    # the first generator's: sorted by the number of links, which is exact where a linkdb is kept
    "links": ScoreModel(
        "CASE WHEN l.moved THEN 0 ELSE 1 END", "c.score + coalesce(l.new_score, 0)", "l.score"
    ),
    # nearest to the seeds first
    "depth": ScoreModel(
        "0",
        "greatest(c.score, 1.0 / (1 + least(c.depth, coalesce(l.depth, c.depth))))",
        "1.0 / (1 + l.depth)",
    ),
    "none": ScoreModel("0", "c.score", "1"),
}


def fragments(db: Db) -> dict[str, str]:
    """`link_score`, `known_score` and `new_score` of the model that is set."""
    model = SCORE_MODELS[db.scores]
    internal, external = float(db.score_internal), float(db.score_external)
    factor = f"{internal}"
    if internal != external:
        factor = f"CASE WHEN l.host = l.from_host THEN {internal} ELSE {external} END"
    return {
        "link_score": model.link.format(factor=factor),
        "known_score": model.known,
        "new_score": model.new,
    }
