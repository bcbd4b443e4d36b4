"""A web of real pages: Debian's documentation packages, served by an nginx of our own on loopback.

Every package is a host at an address of its own (127.0.0.2, .3, …) and one high port. nginx keeps its own log of what
it was asked for, and `reachable` works out from the files, with another parser, what a crawler that follows links
has to ask for: two witnesses that know nothing of pinyon. Tests and `benchmarks/crawl.py` share it.
"""

from __future__ import annotations

import functools
import gzip
import html
import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

from pinyon.settings import NOT_PAGES

#: Name, folder of its pages, start page. The mirror is a second host with the same pages, as the real web has them.
SETS = (
    ("python", Path("/usr/share/doc/python3-doc/html"), "/index.html"),
    ("postgresql", Path("/usr/share/doc/postgresql-doc-15/html"), "/index.html"),
    ("git", Path("/usr/share/doc/git-doc"), "/"),
    ("git-mirror", Path("/usr/share/doc/git-doc"), "/"),
)
PACKAGES = "nginx-light python3-doc postgresql-doc-15 git-doc"
_START_S = 10.0


class Hit(NamedTuple):
    """One line of nginx's log: when the answer was sent (seconds since the epoch), to whom, what, and how it went."""

    at_s: float
    url: str
    status: int


def missing() -> str | None:
    """Why this web cannot be served here; None if it can."""
    if nginx() is None:
        return f"nginx is not installed: apt-get install -y {PACKAGES}"
    absent = [name for name, folder, _ in SETS if not folder.is_dir()]
    if absent:
        return f"the documentation of {', '.join(absent)} is not installed: apt-get install -y {PACKAGES}"
    return None if _has_loopback_addresses() else "127.0.0.2 cannot be listened on: only Linux has it"


def nginx() -> str | None:
    """Path of the nginx program, also where /usr/sbin is not searched."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def _has_loopback_addresses() -> bool:
    try:
        with socket.create_server(("127.0.0.2", 0)):
            return True
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class DocHost:
    """One host: `root` holds its files."""

    name: str
    address: str
    root: Path
    start: str


class DocWeb:
    """Context manager: serves all sets from a folder under `directory`, pages packed beforehand as busy sites do."""

    def __init__(self, directory: Path, *, packed: bool = True) -> None:
        self.directory = directory
        self.log = directory / "access.log"
        self._packed = packed
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        self.hosts: list[DocHost] = []

    def __enter__(self) -> DocWeb:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.hosts = [
            DocHost(name, f"127.0.0.{2 + i}", self._root(name, folder), start)
            for i, (name, folder, start) in enumerate(SETS)
        ]
        self.port = _free_port([host.address for host in self.hosts])
        config = self.directory / "nginx.conf"
        config.write_text(_config(self), encoding="utf-8")
        command = [nginx() or "nginx", "-p", str(self.directory), "-c", str(config), "-e", "error.log"]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=_START_S)

    def _root(self, name: str, folder: Path) -> Path:
        """A folder with links to all files of a set, and beside every page its packed form."""
        root = self.directory / "www" / name
        if not root.exists():
            for path in sorted(p for p in folder.rglob("*") if p.is_file()):
                link = root / path.relative_to(folder)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path.resolve())
                if self._packed and path.suffix == ".html":
                    link.with_name(link.name + ".gz").write_bytes(gzip.compress(path.read_bytes(), 6))
        return root

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            assert self._process is not None
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection((self.hosts[-1].address, self.port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"nginx does not start: see {self.directory}/error.log")

    # -- what it is asked ------------------------------------------------------------------------------------

    def hits(self) -> list[Hit]:
        """Every request so far, in the order in which they ended."""
        if not self.log.exists():
            return []
        lines = [line.split() for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [
            Hit(float(at), f"http://{address}:{self.port}{uri}", int(status))
            for at, address, uri, status in lines
        ]

    def forget(self) -> None:
        """Empties the log: nginx goes on appending to it."""
        self.log.write_bytes(b"")

    # -- what there is ---------------------------------------------------------------------------------------

    def seeds(self) -> list[str]:
        """The start page of every host."""
        return [f"http://{host.address}:{self.port}{host.start}" for host in self.hosts]

    def html_files(self) -> int:
        """How many pages there are, reachable or not."""
        return sum(1 for host in self.hosts for _ in host.root.rglob("*.html"))

    def reachable(self) -> dict[str, int]:
        """Every URL that links lead to from the start pages, within the hosts, and the status it is answered with.

        Links marked nofollow and endings that are no pages are not followed, as pinyon's defaults have it.
        """
        by_place = {f"{host.address}:{self.port}": host for host in self.hosts}
        queue = deque(self.seeds())
        found: dict[str, int] = {}
        while queue:
            url = queue.popleft()
            if url in found:
                continue
            host = by_place[urlsplit(url).netloc]
            found[url], links = _answer(host, url)
            queue.extend(link for link in links if urlsplit(link).netloc == urlsplit(url).netloc)
        return found


def _answer(host: DocHost, url: str) -> tuple[int, list[str]]:
    """Status and links of a page, as the files have them."""
    path = unquote(urlsplit(url).path)
    file = host.root / path.lstrip("/")
    if file.is_dir() and not path.endswith("/"):
        return 301, [url + "/"]
    if file.is_dir():
        if not (file / "index.html").is_file():
            return 403, []
        file = file / "index.html"
    packed = file.with_name(file.name + ".gz")
    if not file.is_file() and not packed.is_file():
        return 404, []
    return 200, _links(file if file.is_file() else packed, url) if file.suffix == ".html" else []


def _links(file: Path, url: str) -> list[str]:
    base, hrefs = _hrefs(file.resolve())
    return [link for href in hrefs if (link := _joined(urljoin(url, base), href)) is not None]


@functools.cache
def _hrefs(file: Path) -> tuple[str, tuple[str, ...]]:
    """Base and hrefs that may be followed, without fragments, each once.

    These pages are written by programs, so that tags can be cut out of the text: 20 times as fast as html.parser, with
    the same result (`test_cycle_docweb.py` compares them).
    """
    data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    text = _NO_TAGS.sub("", data.decode("utf-8", "replace"))
    base, hrefs = "", {}
    for tag, inside in _TAG.findall(text):
        attributes = {name.lower(): value or other for name, value, other in _ATTRIBUTE.findall(inside)}
        if tag.lower() == "base":
            base = base or html.unescape(attributes.get("href", ""))
        elif "nofollow" not in attributes.get("rel", "").lower().split():
            hrefs[html.unescape(attributes.get("href") or attributes.get("src") or "").partition("#")[0]] = (
                None
            )
    return base, tuple(href for href in hrefs if href)


_NO_TAGS = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"<(a|area|frame|iframe|base)\s([^>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)


def _joined(base: str, href: str) -> str | None:
    try:
        parts = urlsplit(urljoin(base, href.strip()))
    except ValueError:
        return None
    ending = parts.path.rpartition("/")[2].rpartition(".")[2].lower() if "." in parts.path else ""
    if parts.scheme != "http" or ending in NOT_PAGES:
        return None
    query = f"?{parts.query}" if parts.query else ""
    return f"http://{parts.netloc}{quote(unquote(parts.path) or '/', safe=_UNESCAPED)}{query}"


#: What the URL Standard leaves as it is in a path.
_UNESCAPED = "/!$&'()*+,;=:@~[]|"


def _free_port(addresses: list[str]) -> int:
    """A port that is free at all of them at this moment."""
    while True:
        with socket.create_server((addresses[0], 0)) as first:
            port: int = first.getsockname()[1]
        try:
            for address in addresses:
                socket.create_server((address, port)).close()
            return port
        except OSError:
            continue


def _config(web: DocWeb) -> str:
    servers = "\n".join(
        f"  server {{ listen {host.address}:{web.port} backlog=512; root {host.root}; }}"
        for host in web.hosts
    )
    folders = "\n".join(
        f"  {name}_temp_path {web.directory}/tmp-{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return f"""\
daemon off;
worker_processes 1;
pid {web.directory}/nginx.pid;
error_log {web.directory}/error.log;
{_user()}
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  types {{ text/html html htm; text/css css; text/plain txt; application/javascript js; image/png png; }}
  default_type application/octet-stream;
  charset_types text/html text/plain;
  log_format crawl '$msec $server_addr $request_uri $status';
  access_log {web.log} crawl;
  index index.html;
  gzip_static {"on" if web._packed else "off"};
  gzip_vary on;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000;
  open_file_cache max=3000 inactive=600s;
  open_file_cache_valid 600s;
{folders}
{servers}
}}
"""


def _user() -> str:
    """Workers stay who we are: they must be able to look into a test's folder."""
    return "user root;" if os.geteuid() == 0 and pwd.getpwuid(0).pw_name == "root" else ""
