"""What becomes of one URL, or of all candidates of a host: the list that takes them, or the limit that refuses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pinyon.cycle.explain_lists import Ours, Round, rounds
from pinyon.cycle.explain_question import Question
from pinyon.cycle.selection import LIMITS


@dataclass(frozen=True, slots=True)
class Fate:
    """Of one URL: the list that takes it, or the reason the last list had; and its ranks there, as `DECIDED` says."""

    taken_by: int | None
    reason: str | None
    ranks: Mapping[str, Any]
    round: Round


def fate_of_url(question: Question, ours: Ours, scope: str) -> Fate:
    """What becomes of one candidate."""
    fate = None
    for found in rounds(question, ours, scope):
        sql = f"SELECT *, {found.taken} AS taken FROM decided WHERE mine"
        for row in question.crawl.engine.rows(sql, found.values):  # none in a list it is not dealt to
            if row["taken"]:
                return Fate(found.number, None, row, found)
            fate = Fate(None, row["cut"] or "top_n", row, found)
    if fate is None:
        raise LookupError(f"{ours} is no candidate")
    return fate


def fates_of_host(question: Question, ours: Ours, scope: str) -> tuple[dict[int, int], dict[str, int]]:
    """How many of a host's candidates each list takes, and how many none takes, by the reason the last list had."""
    taken: dict[int, int] = {}
    refused: Counter[str] = Counter()
    for found in rounds(question, ours, scope):
        reason = f"CASE WHEN NOT ({found.taken}) THEN coalesce(cut, 'top_n') END"
        sql = f"SELECT {reason} AS reason, count(*) AS urls FROM decided WHERE mine GROUP BY ALL"
        counts = {row["reason"]: row["urls"] for row in question.crawl.engine.rows(sql, found.values)}
        if None in counts:
            taken[found.number] = counts.pop(None)
        if not question.settings.spread:
            refused.clear()  # the next list will say
        refused.update(counts)
    return taken, {reason: refused[reason] for reason in LIMITS if refused[reason]}


def scope_of(question: Question, policy: Mapping[str, Any], cut: bool) -> str:
    """How far one must look: `host`, `domain` or `all`, given the policy of our host."""
    if cut and question.settings.top_n is not None:
        return "all"
    return "domain" if policy["domain_limit"] >= 0 or policy["domain_hosts"] >= 0 else "host"
