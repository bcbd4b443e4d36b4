"""The archive of what was fetched: WARC 1.1 files and their index.

The nouns. An **exchange** is one request and its answer, as the fetcher's capture has them. A **record** is one entry
of a WARC file; an exchange becomes a `response` record (or a `revisit`, where the server said that nothing changed, or
where the same bytes are archived already) and a `request` record that names it. A **place** is file, offset and length
of a record's gzip member: with it one record is read without the rest. An **index** line leads from URL and time to a
place.

How a record is born, moves, ends. `WarcWriter` appends it to a file of its own run, named
`pinyon-SEGMENT-PART-SERIAL.warc.gz`, begins another when the file is large, and never opens a file again. `flush` hands
records to the system, `close` syncs them; whoever publishes a table of places does so after that. If the writer died,
`recover` cuts the torn record off. `read_record` and `iter_records` give back what was written, byte for byte.

The invariants: every record is a gzip member of its own; what was received is kept as received, only that chunks are
joined (the header that spoke of them is renamed) and what was cut says so in WARC-Truncated; the payload digest is that
of the bytes stored, so that the same body has one digest however it was sent.
"""

from pinyon.archive.cdxj import index_warc, url_key, write_index
from pinyon.archive.reader import Record, Recovery, iter_records, read_record, recover
from pinyon.archive.writer import Exchange, Original, RecordPlace, WarcWriter

__all__ = [
    "Exchange",
    "Original",
    "Record",
    "RecordPlace",
    "Recovery",
    "WarcWriter",
    "index_warc",
    "iter_records",
    "read_record",
    "recover",
    "url_key",
    "write_index",
]
