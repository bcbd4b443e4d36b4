"""`Crawl`: the settings, store, engine and URL rules of one crawl directory, and nothing more.

Steps are functions that take a `Crawl`. It opens things when they are first needed and closes them at the end.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from pinyon.errors import InputError, LockedError, SettingError, StoreError
from pinyon.settings import Settings, as_toml, gather, keys
from pinyon.store import DeltaStore, Segments, WriterLock
from pinyon.store.files import write_atomically
from pinyon.tables import CRAWLDB, HOSTDB

if TYPE_CHECKING:
    from pinyon.engines.duckdb_engine import DuckDBEngine
    from pinyon.urls import Normaliser, UrlFilter

CONFIG_NAME = "pinyon.toml"
#: Rows of a bucket beyond which `rebucket` is advised, and that `init --expect` aims below.
ROWS_PER_BUCKET = 4_000_000


class Crawl:
    """One crawl directory, open. A context manager: closing it ends the engine and its workers."""

    def __init__(self, root: Path, settings: Settings, warnings: list[str] | None = None) -> None:
        self.root = root
        self.settings = settings
        self.warnings = warnings or []
        self.store = DeltaStore(root)
        self.segments = Segments(root)

    # -- made and opened ------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, root: Path | str, *, expect_urls: int = 0, conf: Path | str | None = None, **settings: Any
    ) -> Crawl:
        """A new crawl directory, empty tables and a commented `pinyon.toml`; raises if there is one already.

        `expect_urls` sets the number of buckets: at most 4 million rows in each, 16 buckets at least. The crawl keeps
        what `conf` (TOML, or a nutch-site.xml) and `settings` ('section__name') say: it goes into its `pinyon.toml`.
        """
        root = Path(root)
        if (root / CONFIG_NAME).exists():
            raise StoreError(f"{root}: there is a crawl here already; choose another directory")
        _refuse_foreign_directory(root)
        crawl = cls(root, *gather(None, conf, os.environ, settings))
        buckets = buckets_for(expect_urls) if expect_urls else crawl.settings.store.buckets
        if buckets < 1 or buckets & (buckets - 1):
            raise SettingError(f"store.buckets = {buckets}: wanted a power of two")
        facts = crawl.derivation() | {"filter": crawl.url_filter.digest(), "metadata": {}}
        _make_directory(root)
        for spec in (CRAWLDB, HOSTDB):
            # what an init that was killed has left may be a log without a first version
            if not any((root / spec.name / "_delta_log").glob("*.json")):
                crawl.store.create(spec, buckets=buckets, facts=facts)
        (root / "segments").mkdir(exist_ok=True)
        # last: a directory with this file is a whole crawl
        write_atomically(root / CONFIG_NAME, as_toml(crawl.settings))
        return crawl

    @classmethod
    def open(cls, root: Path | str, *, conf: Path | str | None = None, **settings: Any) -> Crawl:
        """The crawl in `root`. `conf` is a TOML file or a nutch-site.xml; `settings` are 'section__name' values.

        Raises `StoreError` if there is no crawl, `SettingError` for a setting that is unknown or wrong.
        """
        root = Path(root)
        if not (root / CONFIG_NAME).is_file():
            raise StoreError(f"{root}: not a crawl directory; 'pinyon init {root}' makes one")
        return cls(root, *gather(root / CONFIG_NAME, conf, os.environ, settings))

    def with_settings(self, **settings: Any) -> Crawl:
        """The same crawl with other values of 'section__name'; shares nothing that is open."""
        return Crawl(self.root, self.settings.with_values(keys(settings), "arguments"))

    # -- its parts -------------------------------------------------------------------------------------------

    @cached_property
    def engine(self) -> DuckDBEngine:
        return self._engine()

    @cached_property
    def confined_engine(self) -> DuckDBEngine:
        """Another one, for what somebody typed: it reads inside the crawl alone."""
        engine = self._engine()
        engine.confine(self.root)
        return engine

    def _engine(self) -> DuckDBEngine:
        from pinyon.engines.duckdb_engine import DuckDBEngine

        engine = self.settings.engine
        return DuckDBEngine(
            self._temporary / "spills",
            memory_limit_mb=engine.memory_limit_mb,
            threads=engine.threads,
            temp_limit_gb=engine.temp_limit_gb,
        )

    @property
    def _temporary(self) -> Path:
        return self.root / ".tmp"

    @cached_property
    def normalise(self) -> Normaliser:
        from pinyon.urls import Normaliser

        urls = self.settings.urls
        return Normaliser(
            strip_session_ids=urls.strip_session_ids,
            drop_query_params=urls.drop_query_params,
            https_hosts=urls.https_hosts,
        )

    @cached_property
    def url_filter(self) -> UrlFilter:
        from pinyon.urls import Rule, UrlFilter

        urls = self.settings.urls
        listed = [*urls.rules, *self._lines(urls.rules_file)]
        origin = urls.rules_file or "urls.rules"
        return UrlFilter(
            schemes=urls.schemes,
            max_url_length=urls.max_url_length,
            deny_suffixes=urls.deny_suffixes,
            rules=[Rule.parse(text, origin) for text in listed],
            allow_hosts=[*urls.allow_hosts, *self._lines(urls.allow_hosts_file)],
            deny_hosts=[*urls.deny_hosts, *self._lines(urls.deny_hosts_file)],
            max_repeated_segments=urls.max_repeated_segments,
        )

    def derivation(self) -> dict[str, Any]:
        """What the derived columns (url, domain) are made by: a change of it needs `migrate`."""
        from pinyon.urls import NORMALISER_VERSION, suffix_list_version

        private = self.settings.urls.private_suffixes
        return {"normaliser": NORMALISER_VERSION, "suffixes": suffix_list_version(), "private": private}

    def _lines(self, name: str | None) -> list[str]:
        """Lines of a list file, without comments and blank lines; paths are relative to the crawl."""
        if name is None:
            return []
        path = self.root / name
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from error
        return [
            line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
        ]

    # -- writing ---------------------------------------------------------------------------------------------

    @contextmanager
    def writing(self, command: str) -> Iterator[None]:
        """Holds the writer's lock; litter of a killed writer is swept first, that of a failed step at once.

        Raises `LockedError`.
        """
        with WriterLock(self.root, f"pinyon {command}", wait_s=self.settings.store.lock_wait):
            self._sweep()
            try:
                yield
            except LockedError:  # somebody writes all the same: what looks like litter may be theirs
                raise
            except BaseException:
                with suppress(StoreError, OSError):  # the disk may be full: what was written must not stay
                    self.sweep_versions()
                raise
            finally:
                shutil.rmtree(self._temporary / "work", ignore_errors=True)

    def _sweep(self) -> None:
        from pinyon.engines.spill import sweep_spills

        shutil.rmtree(self._temporary / "work", ignore_errors=True)
        sweep_spills(self._temporary / "spills")
        self.segments.sweep()

    def sweep_versions(self) -> int:
        """Deletes files of versions beyond `store.keep_versions` and litter of killed steps; how many."""
        store = self.settings.store
        return sum(
            self.store.sweep(spec, keep_versions=store.keep_versions, keep_hours=store.keep_hours)
            for spec in (CRAWLDB, HOSTDB)
        )

    def scratch(self, name: str) -> Path:
        """An empty folder for intermediate files of one step, gone when it ends (see `writing`)."""
        path = self._temporary / "work" / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def close(self) -> None:
        for name in ("engine", "confined_engine"):
            engine = self.__dict__.pop(name, None)
            if engine is not None:
                engine.close()

    def __enter__(self) -> Crawl:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def buckets_for(expect_urls: int) -> int:
    """Smallest power of two, 16 at least, that keeps the rows of a bucket below 4 million."""
    needed = max(16, -(-expect_urls // ROWS_PER_BUCKET))
    return 1 << (needed - 1).bit_length()


def utc_now() -> datetime:
    return datetime.now(UTC)


def parse_time(text: str) -> datetime:
    """ISO 8601 (UTC unless it says otherwise) or epoch milliseconds, as UTC; `SettingError` if it is neither."""
    try:
        if text.lstrip("-").isdigit():
            return datetime.fromtimestamp(int(text) / 1000, UTC)
        moment = datetime.fromisoformat(text)
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise SettingError(f"'{text}' is no time: wanted ISO 8601 or epoch milliseconds") from error


def _refuse_foreign_directory(root: Path) -> None:
    """Nothing that is not ours is mixed with a crawl."""
    if root.is_dir():
        ours = {CRAWLDB.name, HOSTDB.name, "segments"}
        foreign = [p.name for p in root.iterdir() if p.name not in ours and not p.name.startswith(".")]
        if foreign:
            raise StoreError(
                f"{root}: not empty ('{sorted(foreign)[0]}'); choose a new directory for the crawl"
            )


def _make_directory(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{root}: cannot be made: {error.strerror}") from error
