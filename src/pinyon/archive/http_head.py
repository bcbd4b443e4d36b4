"""HTTP heads as an archive keeps them: consistent with a body that has no transfer coding any more. Pure."""

from __future__ import annotations

import re

#: What named a coding that the stored body no longer has is kept under another name, as other archives do.
_RENAMED = {
    b"transfer-encoding": b"X-Crawler-Transfer-Encoding",
    b"content-length": b"X-Crawler-Content-Length",
}
_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")


def stored_head(head: bytes) -> bytes:
    """`head` as it is kept beside a body whose chunks were joined: a reader must not look for chunks in it.

    Without a Transfer-Encoding it comes back byte for byte. With one, that field is renamed, and a Content-Length
    beside it too: it never was the body's length (RFC 9112, section 6.3).
    """
    if b"transfer-encoding" not in head.lower():
        return head
    lines = [line.partition(b":") for line in head.split(b"\n")]
    names = [name.strip().lower() if colon else b"" for name, colon, _ in lines]
    if b"transfer-encoding" not in names:
        return head
    renamed = (_RENAMED.get(name, line[0]) for line, name in zip(lines, names, strict=True))
    return b"\n".join(name + colon + value for name, (_, colon, value) in zip(renamed, lines, strict=True))


def split_head(block: bytes) -> tuple[bytes, bytes]:
    """The head with the empty line that ends it, and the body behind it; all is head where there is no empty line."""
    ends = [(at, size) for at, size in ((block.find(b"\r\n\r\n"), 4), (block.find(b"\n\n"), 2)) if at >= 0]
    if not ends:
        return block, b""
    at, size = min(ends)
    return block[: at + size], block[at + size :]


def parse_head(head: bytes) -> tuple[int | None, tuple[tuple[str, str], ...]]:
    """Status code (None of a request, or of garbage) and fields in order; folded lines are joined to their field."""
    lines = head.replace(b"\r\n", b"\n").strip(b"\n").split(b"\n")
    match = _STATUS.match(lines[0])
    fields: list[tuple[str, str]] = []
    for line in lines[1:]:
        if line[:1] in b" \t" and line and fields:
            name, value = fields[-1]
            fields[-1] = (name, f"{value} {_text(line)}")
        elif b":" in line:
            name_bytes, _, value_bytes = line.partition(b":")
            fields.append((_text(name_bytes), _text(value_bytes)))
    return (int(match[1]) if match else None), tuple(fields)


def _text(data: bytes) -> str:
    """UTF-8 where it is, else the bytes one by one: a header is never lost to its encoding."""
    try:
        return data.decode("utf-8").strip()
    except UnicodeDecodeError:
        return data.decode("latin-1").strip()
