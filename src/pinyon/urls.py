"""URLs where they enter: resolved as browsers do, normalised to one spelling, split, hashed, filtered.

`resolve` is the URL Standard (WHATWG) and nothing else. `Normaliser` is our policy on top: no fragment, one
spelling of percent escapes, no session ids. It is idempotent: a URL that went through it comes out the same.
`UrlFilter` looks at normalised URLs only, so a URL accepted once is accepted when it is looked at again.
"""

from __future__ import annotations

import functools
import hashlib
import ipaddress
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ada_url
import xxhash

from pinyon.errors import ExpressionError, SettingError
from pinyon.regexes import check_regex, translate

#: Grows when the same text would be normalised to something else: tables carry it, `migrate` applies it.
NORMALISER_VERSION = 1

_HEX = re.compile(r"%([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_SESSION_PATH = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
#: `sid` alone also numbers articles: it counts as a session only when its value is long.
_SESSION_PARAM = re.compile(
    r"(?:phpsessid|jsessionid|aspsessionid\w*|sessionid|session_id|cfid|cftoken|zenid|osCsid)=.*|sid=\w{16,}",
    re.IGNORECASE,
)


def resolve(url: str, base: str | None = None) -> str | None:
    """`url` as the URL Standard parses it, against `base` if given, fragment included; None if it is none."""
    try:
        text: str = ada_url.normalize_url(url) if base is None else ada_url.join_url(base, url)
    except (ValueError, UnicodeEncodeError):  # the latter: lone surrogates, as a hostile page may hold
        return None
    return text


class Normaliser:
    """Callable: a URL (and the base it was found on) → its normalised form, or None if it is none.

    Only the scheme decides whether a URL can be fetched, so `mailto:` and the like come back normalised too.
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
        text = resolve(url, base)
        if text is None:
            return None
        if "#" in text:
            text = text[: text.index("#")]
        if not text.startswith("http"):
            return text
        if "%" in text:
            text = _one_spelling(text)
        if self._strip and ";" in text:
            text = _SESSION_PATH.sub("", text)
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
        return self._drop is not None and self._drop(param.partition("=")[0])

    def _upgraded(self, text: str) -> str:
        """http → https for hosts that ask for it; a port of its own means another service, and stays."""
        host, port = _host_and_port(text)
        return f"https{text[4:]}" if host is not None and not port and host in self._https else text


def _glob_matcher(globs: Sequence[str]) -> Callable[[str], Any] | None:
    if not globs:
        return None
    return re.compile("|".join(re.escape(glob).replace(r"\*", ".*") for glob in globs)).fullmatch


def _one_spelling(text: str) -> str:
    """A bare % becomes %25, escapes are upper case, unreserved characters stand unescaped (RFC 3986, 6.2.2)."""
    start = text.find("/", 8)
    return text[:start] + _HEX.sub(_escape, text[start:]) if start > 0 else text


def _escape(match: re.Match[str]) -> str:
    digits = match[1]
    if digits is None:
        return "%25"
    char = chr(int(digits, 16))
    return char if char in _UNRESERVED else f"%{digits.upper()}"


# -- parts and keys -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """Where a URL lies: its keys and its host, as the tables hold them. Without a host all four are None."""

    url_key: int
    host: str | None
    host_key: int | None
    domain: str | None

    def bucket(self, buckets: int) -> int:
        """Bucket among `buckets` (a power of two): masking is the same for negative hashes everywhere."""
        return 0 if self.host_key is None else self.host_key & (buckets - 1)


def key_of(text: str) -> int:
    """xxh3_64 of the UTF-8 text, as a signed 64-bit integer."""
    value: int = xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
    return value - (1 << 64) if value >> 63 else value


def host_of(url: str) -> str | None:
    """Host of a URL in any spelling: lower-case ASCII without port, `[…]` for IPv6; None if it has none.

    A URL that is not normalised (an imported one) is parsed first; only http and https URLs have a host here.
    """
    plain = _PLAIN_HOST.match(url)
    if plain is not None and "xn--" not in plain[1]:
        return plain[1]
    text = resolve(url)
    if text is None or not text.startswith(("http://", "https://")):
        return None
    host, _ = _host_and_port(text)
    return host or None


#: A host that needs no parsing: lower-case labels, and a last one that cannot make it an IPv4 address.
_PLAIN_HOST = re.compile(r"https?://((?:[a-z0-9-]+\.)+[a-z]{2,63})(?:[/?]|$)")


def _host_and_port(href: str) -> tuple[str | None, str]:
    """Host and port of a serialised http(s) URL: text cuts, since the parser has done the thinking."""
    start = href.find("//") + 2
    end = len(href)
    for mark in "/?":
        at = href.find(mark, start)
        if 0 <= at < end:
            end = at
    authority = href[start:end]
    authority = authority[authority.rfind("@") + 1 :]
    if authority.startswith("["):
        close = authority.find("]") + 1
        return authority[:close] or None, authority[close + 1 :]
    host, _, port = authority.partition(":")
    return host or None, port


@functools.lru_cache(maxsize=1)
def _suffix_lists() -> tuple[Any, Any]:
    from publicsuffixlist import PublicSuffixList

    return (
        PublicSuffixList(only_icann=True, accept_unknown=False),
        PublicSuffixList(only_icann=False, accept_unknown=False),
    )


def suffix_list_version() -> str:
    """Version of the Public Suffix List in use, e.g. '1.1.2.20261023': domains are derived from it."""
    from importlib.metadata import version

    return version("publicsuffixlist")


@functools.lru_cache(maxsize=65_536)
def domain_of(host: str, private: bool = False) -> str:
    """Registered domain; an IP address, and a host under an unknown suffix, is its own domain."""
    if host.startswith("[") or host[-1].isdigit():
        return host
    icann, both = _suffix_lists()
    domain = (both if private else icann).privatesuffix(host.rstrip("."))
    return domain or host


@functools.lru_cache(maxsize=65_536)
def _host_key_and_domain(host: str, private: bool) -> tuple[int, str]:
    return key_of(host), domain_of(host, private)


def locate(url: str, private_suffixes: bool = False) -> Location:
    """Keys, host and domain of a URL, normalised or as an import found it. Never raises."""
    host = host_of(url)
    if host is None:
        return Location(key_of(url), None, None, None)
    host_key, domain = _host_key_and_domain(host, private_suffixes)
    return Location(key_of(url), host, host_key, domain)


def is_address(host: str) -> bool:
    """Whether a host is an IP address rather than a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


# -- filters --------------------------------------------------------------------------------------------------


class HostPatterns:
    """A set of hosts: 'a.example' is that host, '*.example' the domain itself and every host under it."""

    def __init__(self, patterns: Iterable[str]) -> None:
        hosts, suffixes = set(), set()
        for pattern in patterns:
            name = pattern.strip().lower()
            if name.startswith("*."):
                suffixes.add(_ascii_host(name[2:]))
            elif name:
                hosts.add(_ascii_host(name))
        self._hosts, self._suffixes = frozenset(hosts), frozenset(suffixes)

    def __bool__(self) -> bool:
        return bool(self._hosts or self._suffixes)

    def __contains__(self, host: str) -> bool:
        if host in self._hosts:
            return True
        if not self._suffixes:
            return False
        name = host
        while name:
            if name in self._suffixes:
                return True
            _, _, name = name.partition(".")
        return False

    def parts(self) -> tuple[list[str], list[str]]:
        """The hosts and the domains, sorted."""
        return sorted(self._hosts), sorted(self._suffixes)


def _ascii_host(name: str) -> str:
    return host_of(f"http://{name}/") or name


@dataclass(frozen=True, slots=True)
class Rule:
    """One filter rule: the first whose pattern is found anywhere in the URL decides."""

    accept: bool
    pattern: str

    @classmethod
    def parse(cls, text: str, origin: str) -> Rule:
        """'+regex' or '-regex'; `SettingError` if it is neither, or the expression is outside our subset."""
        if not text or text[0] not in "+-":
            raise SettingError(f"{origin}: '{text[:80]}': a rule begins with + (accept) or - (refuse)")
        try:
            check_regex(text[1:])
        except ExpressionError as error:
            raise SettingError(f"{origin}: rule '{text[:80]}': {error}") from error
        return cls(text[0] == "+", text[1:])


#: Why a filter refused a URL, in the order they are asked.
FILTER_REASONS = (
    "too_long",
    "scheme",
    "suffix",
    "host_denied",
    "host_not_allowed",
    "repeated_segments",
    "rule",
    "filter_error",
)


class UrlFilter:
    """Decides whether a normalised URL enters. Holds compiled rules, no state: ask it in any order."""

    def __init__(
        self,
        *,
        schemes: Sequence[str] = ("http", "https"),
        max_url_length: int = 2083,
        deny_suffixes: Sequence[str] = (),
        rules: Sequence[Rule] = (),
        allow_hosts: Sequence[str] = (),
        deny_hosts: Sequence[str] = (),
        max_repeated_segments: int = 2,
    ) -> None:
        self.schemes = tuple(schemes)
        self.max_url_length = max_url_length
        self.deny_suffixes = tuple(sorted({suffix.lower().lstrip(".") for suffix in deny_suffixes}))
        self.rules = tuple(rules)
        self.allow_hosts = HostPatterns(allow_hosts)
        self.deny_hosts = HostPatterns(deny_hosts)
        self.max_repeated_segments = max_repeated_segments
        self._prefixes = tuple(f"{scheme}:" for scheme in schemes)
        self._endings = frozenset(self.deny_suffixes)
        self._searches = [(rule.accept, _compiled(rule.pattern)) for rule in self.rules]

    def reason(self, url: str, host: str | None) -> str | None:
        """Why `url` is refused (one of `FILTER_REASONS`), or None if it is accepted. Never raises."""
        if len(url) > self.max_url_length:
            return "too_long"
        if not url.startswith(self._prefixes):
            return "scheme"
        try:
            return self._reason(url, host)
        except Exception:  # whatever a rule does to one URL, that URL stays out and is counted
            return "filter_error"

    def _reason(self, url: str, host: str | None) -> str | None:
        if self._endings and self._ending(url) in self._endings:
            return "suffix"
        if host is not None and self.deny_hosts and host in self.deny_hosts:
            return "host_denied"
        if self.allow_hosts and (host is None or host not in self.allow_hosts):
            return "host_not_allowed"
        if self.max_repeated_segments and self._repeats(url):
            return "repeated_segments"
        for accept, search in self._searches:
            if search(url):
                return None if accept else "rule"
        return "rule" if self._searches else None

    def _ending(self, url: str) -> str:
        name = url.partition("?")[0].rpartition("/")[2]
        return name.rpartition(".")[2].lower() if "." in name else ""

    def _repeats(self, url: str) -> bool:
        segments = [s for s in url.partition("?")[0].split("/")[3:] if s]
        if len(segments) <= self.max_repeated_segments:
            return False
        return any(segments.count(s) > self.max_repeated_segments for s in set(segments))

    def digest(self) -> str:
        """Of everything that decides: two filters with one digest refuse the same URLs."""
        parts = (
            self.schemes,
            self.max_url_length,
            self.deny_suffixes,
            [(r.accept, r.pattern) for r in self.rules],
            self.allow_hosts.parts(),
            self.deny_hosts.parts(),
            self.max_repeated_segments,
        )
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _compiled(pattern: str) -> Callable[[str], Any]:
    import re2

    return re2.compile(translate(pattern, "re2")).search  # type: ignore[no-any-return]
