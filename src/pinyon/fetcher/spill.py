"""Items of hosts that have to wait, put aside on disk: one file, in it one first-in-first-out chain a key.

The fetcher must look far into its list to find hosts it may ask now, and cannot hold in memory what it passes on the
way. Each record ends its chain until the next of its key is appended, whose offset is then written into it. Memory is
two offsets and a count a key. The file has no name: it is gone when the process is.
"""

from __future__ import annotations

import pickle
import struct
import tempfile
from typing import Generic, TypeVar

Item = TypeVar("Item")

_HEAD = struct.Struct("<qI")  # offset of the next record of the same key (-1: none), bytes of this one
_NEXT = struct.Struct("<q")


class Spill(Generic[Item]):
    """Chains of picklable items. Raises OSError when the disk is full."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="pinyon-fetch-")  # noqa: SIM115
        self._end = 0
        self._chains: dict[str, list[int]] = {}  # first offset, last offset, count
        self.count = 0

    def __contains__(self, key: str) -> bool:
        return key in self._chains

    def append(self, key: str, item: Item) -> None:
        data = pickle.dumps(item, pickle.HIGHEST_PROTOCOL)
        offset = self._end
        self._file.seek(offset)
        self._file.write(_HEAD.pack(-1, len(data)) + data)
        self._end += _HEAD.size + len(data)
        chain = self._chains.get(key)
        if chain is None:
            self._chains[key] = [offset, offset, 1]
        else:
            self._file.seek(chain[1])
            self._file.write(_NEXT.pack(offset))
            chain[1] = offset
            chain[2] += 1
        self.count += 1

    def take(self, key: str, most: int) -> list[Item]:
        """The next `most` items of `key` at most, in the order they were put aside; they are gone from here."""
        chain = self._chains.get(key)
        items: list[Item] = []
        while chain is not None and len(items) < most:
            self._file.seek(chain[0])
            following, size = _HEAD.unpack(self._file.read(_HEAD.size))
            items.append(pickle.loads(self._file.read(size)))
            chain[0] = following
            chain[2] -= 1
            if not chain[2]:
                del self._chains[key]
                chain = None
        self.count -= len(items)
        if not self.count:
            self._end = 0  # the file is used from its beginning again
        return items

    def close(self) -> None:
        self._file.close()
