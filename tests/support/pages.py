"""A web server for pages that a test writes itself: any host, whatever it likes to answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from pinyon.crawl import Crawl


@dataclass(frozen=True, slots=True)
class Page:
    """What is answered: HTML unless the headers say otherwise."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


#: URL, or its path alone, to what is answered for it, or a function called for each request.
Pages = Mapping[str, Page | str | Callable[[], Page]]


def redirect(target: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": target})


def links(*hrefs: str) -> str:
    return "<html><title>links</title><body>" + "".join(f'<a href="{h}">to {h}</a>\n' for h in hrefs)


class PageServer:
    """Context manager: serves `pages`, 404 for all others, and remembers what it was asked: (time, URL)."""

    def __init__(self, pages: Pages) -> None:
        self.requests: list[tuple[float, str]] = []
        requests = self.requests

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                url = f"http://{self.headers['Host']}{self.path}"
                requests.append((time.time(), url))
                page = pages.get(url, pages.get(self.path, Page(status=404)))
                page = page if isinstance(page, (Page, str)) else page()
                page = Page(page) if isinstance(page, str) else page
                body = page.body.encode() if isinstance(page.body, str) else page.body
                self.send_response(page.status)
                headers = {"Content-Type": "text/html", "Content-Length": str(len(body)), **page.headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def connect_to(self) -> str:
        """Every host is here."""
        return f"*:80:127.0.0.1:{self._server.server_port}\n"

    def asked(self, path: str = "") -> list[str]:
        """URLs asked for, in order, robots.txt left out; of these, those that end in `path`."""
        urls = [url for _, url in self.requests if not url.endswith("/robots.txt")]
        return [url for url in urls if url.endswith(path)]

    def opened(self, crawl: Crawl, **settings: object) -> Crawl:
        """The crawl with settings by which it finds this server, and quickly."""
        (crawl.root / "connect-to.txt").write_text(self.connect_to)
        return crawl.with_settings(
            **{
                "fetcher__server_delay": 0.0,
                "fetcher__read_timeout": 2.0,
                "fetcher__max_back_off": 0.2,
                "fetcher__allow_addresses": "127.0.0.0/8",
                "fetcher__connect_to_file": "connect-to.txt",
                "fetcher__min_free_disk": 0,
                "parse__processes": 1,
                **settings,
            }
        )
