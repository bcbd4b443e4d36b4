"""generate once more, as the original's two MapReduce jobs: the executable specification of the selection.

What the SQL engines compute with joins and windows, this package computes as Nutch does, one row after another, in
plain streaming Python. It is slower, it is read more easily by who knows `Generator.java`, and the engines are
compared with it row by row.

    job 1    crawldb  ─SelectorMapper─┐ ScoreHostKey → Candidate                    ┌─▶ list 0
             hostdb   ─HostDbMapper───┼─▶ sorted runs, merged ─▶ SelectorReducer ───┼─▶ list 1   (merge, cut at top_n)
             limits   ─LimitsMapper───┘   by partition and key   one a partition    └─▶ …
    job 2    lists ─SelectorInverseMapper─▶ sorted runs, merged ─PartitionReducer─▶ parts, hosts interleaved

A **candidate** is born in the `SelectorMapper`, which drops every other row under the first reason that holds. It
carries a **key**: the sort value and no host. The rows of the HostDb, and of the limits file, carry the lowest score
and their host, and the comparator puts them first: when the first candidate of a partition arrives, the reducer knows
the **policy** of each of its hosts, and nobody ever holds the whole HostDb. Joined with its policy the candidate is a
`Selected` row that has no list yet. Candidates come best first, so that each is decided when it comes: it goes to the
first **list** in which its host and its domain have room and which is not full. That is the same as one generate for
list 0 over everything, one for list 1 over what list 0 left, and so on: what a list decides depends on nothing but the
rows it was offered before, in order. It ends in a list, or rejected under the reason the last list had.

A list is full at `top_n` URLs of all partitions together, which no reducer can see. Each cuts at `top_n` of its own;
the merge of their sorted output then cuts exactly. If it had to, the rows behind the cut, and all that no list took,
go through the reducers again, for the lists that follow: one more round a list that overflowed, none with one
partition, and none with `spread`, where every row belongs to one list from the start.

Invariants: a row is selected once or counted under one reason; a host (a domain, if domains are limited) lies in one
partition; memory is that of `spill_records` rows, of one partition's hosts, and of a buffer a run and a list.
"""

from pinyon.mapreduce.key import ScoreHostKey
from pinyon.mapreduce.partitioner import group_of
from pinyon.mapreduce.partitioning import Placed, partition
from pinyon.mapreduce.rows import Selected
from pinyon.mapreduce.rules import LIMITS, REASONS, Rules
from pinyon.mapreduce.selection import Selection, select

__all__ = [
    "LIMITS",
    "REASONS",
    "Placed",
    "Rules",
    "ScoreHostKey",
    "Selected",
    "Selection",
    "group_of",
    "partition",
    "select",
]
