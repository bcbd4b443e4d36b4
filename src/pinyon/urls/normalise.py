"""One spelling for each URL: our policy on top of the URL Standard."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pinyon.urls.hosts import HostPatterns
from pinyon.urls.standard import host_and_port, resolve

#: Grows when the same text would be normalised to something else: tables carry it, `migrate` applies it.
NORMALISER_VERSION = 1

#: A longer text is taken for no URL, unread: no parser or pattern is for texts of a megabyte.
MAX_URL_CHARS = 65_536

_HEX = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*", re.IGNORECASE)
_SESSION_QUERY = re.compile(r";(?:jsessionid|phpsessid)=[^&;]*", re.IGNORECASE)
#: `sid` alone also numbers articles: it counts as a session only when its value is long.
_SESSION_PARAM = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|cfid|cftoken|zenid|osCsid)=.*|sid=\w{16,}",
    re.IGNORECASE,
)

#: An absolute name in the DNS: the same host, which one delay and one robots.txt must cover.
_FINAL_DOT = re.compile(r"(https?://(?:[^/?@]*@)?[^/?@:]*[^./?@:])\.(?=[:/])")


class Normaliser:
    """Callable: a URL (and the base it was found on) → its normalised form, or None if it is none.

    Only the scheme decides whether a URL can be fetched, so `mailto:` and the like come back normalised too.
    `drop_query_params` are names of query parameters, `*` for any characters; `https_hosts` as in `HostPatterns`.
    """

    def __init__(
        self,
        *,
        strip_session_ids: bool = True,
        drop_query_params: Sequence[str] = (),
        https_hosts: Iterable[str] = (),
    ) -> None:
        self._strip = strip_session_ids
        self._drop = _glob_matcher(drop_query_params)
        self._https = HostPatterns(https_hosts)

    def __call__(self, url: str, base: str | None = None) -> str | None:
        if len(url) > MAX_URL_CHARS:
            return None
        text = resolve(url, base)
        if text is None:
            return None
        if "#" in text:
            text = text[: text.index("#")]
        if not text.startswith(("http://", "https://")):
            return text
        if "./" in text or ".:" in text:
            text = _FINAL_DOT.sub(r"\1", text, count=1)
        if "%" in text:
            text = _one_spelling(text)
        if self._strip and ";" in text:
            text = _without_session(text)
        if "?" in text and (self._strip or self._drop):
            text = self._without_params(text)
        if self._https and text.startswith("http://"):
            text = self._upgraded(text)
        return text

    def _without_params(self, text: str) -> str:
        head, _, query = text.partition("?")
        params = query.split("&")
        kept = [p for p in params if not self._unwanted(p)]
        if len(kept) == len(params):
            return text
        return f"{head}?{'&'.join(kept)}" if kept else head

    def _unwanted(self, param: str) -> bool:
        if self._strip and _SESSION_PARAM.fullmatch(param):
            return True
        return self._drop is not None and bool(self._drop(param.partition("=")[0]))

    def _upgraded(self, text: str) -> str:
        """http → https for hosts that ask for it; a port of its own means another service, and stays."""
        host, port = host_and_port(text)
        return f"https{text[4:]}" if host is not None and not port and host in self._https else text


def _without_session(text: str) -> str:
    start = text.find("/", 8)  # a host may hold ';' and '=' too
    path, mark, query = text[start:].partition("?")
    shorter = text[:start] + _SESSION_PATH.sub("", path) + mark + _SESSION_QUERY.sub("", query)
    # resolved again, since `..;jsessionid=1` was no dot segment and is one now
    return text if shorter == text else resolve(shorter) or shorter


def _glob_matcher(globs: Sequence[str]) -> Callable[[str], Any] | None:
    """Parameter names come from the network: RE2 takes time linear in them whatever the globs."""
    if not globs:
        return None
    import re2

    pattern = "|".join(".*".join(re2.escape(piece) for piece in glob.split("*")) for glob in globs)
    return re2.compile(f"(?s:{pattern})").fullmatch  # type: ignore[no-any-return]


def _one_spelling(text: str) -> str:
    """A bare % becomes %25, escapes are upper case, unreserved characters stand unescaped (RFC 3986, 6.2.2)."""
    start = text.find("/", 8)
    return text[:start] + _HEX.sub(_escape, text[start:])


def _escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return "%25"
    char = chr(int(digits, 16))
    return char if char in _UNRESERVED else f"%{digits.upper()}"
