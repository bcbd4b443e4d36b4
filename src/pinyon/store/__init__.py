"""The store: tables as published versions, segments as folders, and one writer at a time.

A **table** (crawldb, hostdb) is Parquet files under a Delta log. Files are written first, aside, by an engine;
one commit then publishes them all, so that a reader sees the old version or the new one. A file that no kept
version names is litter, and the next publish sweeps it. The commit of a step that consumes a segment carries
the segment's name as a Delta app transaction: that, and nothing else, says whether a segment was applied.

A **segment** is one fetch list and all that came of it. It is born whole (a folder renamed into place), moves
generated → fetched → parsed in `segment.json`, and is done once the crawldb's log names it.

The **lock** belongs to a living process: the kernel drops it with the process, and the file beside it says
whose it was.

Invariant: at every moment, killed at any point, each table is exactly one of its published versions.
"""

from pinyon.store.delta import DeltaStore
from pinyon.store.lock import WriterLock, holder
from pinyon.store.published import DataFile, Published
from pinyon.store.segments import Segment, Segments

__all__ = ["DataFile", "DeltaStore", "Published", "Segment", "Segments", "WriterLock", "holder"]
