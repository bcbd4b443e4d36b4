"""Every setting: one table of name, default, unit and help, and the reading of it from its sources.

A setting is a field of a section below; `docs/settings.md` is printed from the fields. Sources, later ones
win: defaults, `pinyon.toml` of the crawl, `--conf FILE` (TOML, or a Nutch `nutch-site.xml` whose property
names stand in the field's `nutch`), environment `PINYON_SECTION_NAME`, command line. An unknown key is an
error with the nearest name; an unknown Nutch property is listed, since such a file configures other things too.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pinyon.errors import SettingError, nearest


def _setting(
    default: Any,
    unit: str,
    help: str,
    *,
    nutch: str = "",
    nutch_factor: float = 1,
    choices: tuple[str, ...] = (),
) -> Any:
    """A field of a section: `nutch_factor` turns the unit of the Nutch property into ours."""
    metadata = {"unit": unit, "help": help, "nutch": nutch, "nutch_factor": nutch_factor, "choices": choices}
    return field(default=default, metadata=metadata)


_s = _setting

#: Endings that are never pages: images, media, archives, programs, styles and scripts.
NOT_PAGES = tuple(
    "gif jpg jpeg png ico bmp tif tiff svg webp avif css js mjs woff woff2 ttf eot otf mp3 m4a ogg oga wav flac "
    "mp4 m4v mpg mpeg avi mov mkv webm wmv flv swf zip tgz gz bz2 xz zst 7z rar tar jar exe msi dmg iso deb rpm "
    "apk bin class so dll".split()
)


@dataclass(frozen=True, slots=True)
class Urls:
    """Normalisation and filters, where URLs enter."""

    schemes: tuple[str, ...] = _s(
        ("http", "https"), "", "schemes that enter; generate selects no others than these"
    )
    max_url_length: int = _s(
        2083,
        "bytes",
        "longer URLs are refused, before anything else looks at them",
        nutch="db.max.outlink.length",
    )
    deny_suffixes: tuple[str, ...] = _s(NOT_PAGES, "", "endings of the path that are not fetched")
    rules: tuple[str, ...] = _s(
        (), "", "'+regex' accepts, '-regex' refuses, first match decides, no match accepts"
    )
    rules_file: str | None = _s(
        None,
        "path",
        "the same from a file, one a line, '#' comments; relative to the crawl",
        nutch="urlfilter.regex.file",
    )
    allow_hosts: tuple[str, ...] = _s((), "", "only these hosts, domains ('*.example.org'); empty: all")
    allow_hosts_file: str | None = _s(None, "path", "the same from a file, one a line")
    deny_hosts: tuple[str, ...] = _s((), "", "not these hosts, domains ('*.example.org')")
    deny_hosts_file: str | None = _s(None, "path", "the same from a file, one a line")
    max_repeated_segments: int = _s(
        2, "", "a path with one segment more often than this is a trap; 0: no limit"
    )
    strip_session_ids: bool = _s(True, "", "drop ;jsessionid=…, PHPSESSID=… and the like")
    drop_query_params: tuple[str, ...] = _s((), "", "query parameters to drop, e.g. 'utm_*'")
    https_hosts: tuple[str, ...] = _s(
        (), "", "hosts ('*.example.org') whose http URLs become https; a port stays"
    )
    private_suffixes: bool = _s(False, "", "domains by the private section of the Public Suffix List too")


@dataclass(frozen=True, slots=True)
class Inject:
    """Seeds."""

    mode: str = _s(
        "keep", "", "what a seed does to a row that is there", choices=("keep", "update", "overwrite")
    )
    score: float = _s(1.0, "", "score of a seed without score=", nutch="db.score.injected")


@dataclass(frozen=True, slots=True)
class Generate:
    """Choosing what to fetch."""

    top_n: int | None = _s(None, "URLs", "most URLs of a list; empty: no limit", nutch="generate.topN")
    max_count: int = _s(
        -1,
        "URLs",
        "most URLs of a host (or domain) in a list; negative: no limit",
        nutch="generate.max.count",
    )
    count_mode: str = _s(
        "host", "", "what max_count counts", nutch="generate.count.mode", choices=("host", "domain")
    )
    max_count_expr: str | None = _s(
        None, "URLs", "limit of a host, from its HostDb row", nutch="generate.max.count.expr"
    )
    fetch_delay_expr: str | None = _s(
        None, "ms", "delay of a host, from its HostDb row", nutch="generate.fetch.delay.expr"
    )
    max_per_domain: int = _s(-1, "URLs", "most URLs of a domain in a list; negative: no limit")
    max_hosts_per_domain: int = _s(-1, "hosts", "most hosts of a domain in a list; negative: no limit")
    hostdb: str = _s("auto", "", "auto, on, off, or the path of another HostDb", nutch="generate.hostdb")
    limits_file: str | None = _s(None, "path", "limits by domain or host, TSV or Parquet")
    expr: str | None = _s(None, "", "only URLs for which this holds", nutch="generate.expr")
    min_score: float = _s(0.0, "", "only URLs with at least this sort value", nutch="generate.min.score")
    interval_at_most: int | None = _s(
        None, "s", "only URLs fetched at least this often", nutch="generate.min.interval"
    )
    restrict_status: tuple[str, ...] = _s(
        (), "", "only these statuses; empty: all", nutch="generate.restrict.status"
    )
    exclude_status: tuple[str, ...] = _s((), "", "never these statuses")
    sort_by: str = _s("score", "", "numeric expression over the URL's row; highest first")
    segments: int = _s(
        1, "lists", "lists in one go, each with its own top_n and limits", nutch="generate.max.num.segments"
    )
    spread: bool = _s(False, "", "deal the URLs of a host over all lists instead of filling list by list")
    keep_together: int = _s(1, "URLs", "with spread: as many of a host go to one list")
    fetchers: int = _s(1, "parts", "parts of a list: one fetcher process each", nutch="mapreduce.job.maps")
    partition_by: str = _s(
        "host",
        "",
        "what is never split over parts",
        nutch="partition.url.mode",
        choices=("host", "domain", "ip"),
    )
    partition_mode: str = _s(
        "balanced", "", "by estimated time, or by a seeded hash", choices=("balanced", "hash")
    )
    seed: int | None = _s(
        None, "", "of the partitions; empty: random, and recorded", nutch="partition.url.seed"
    )
    time_budget: int | None = _s(None, "s", "no more URLs of a host than its delay allows in this time")
    gen_delay: int = _s(
        604_800,
        "s",
        "how long an open segment keeps its URLs from being generated again",
        nutch="crawl.gen.delay",
        nutch_factor=0.001,
    )
    add_days: float = _s(0.0, "days", "look this far ahead of now", nutch="generate.add.days")
    now: str | None = _s(
        None, "", "the time to go by: ISO 8601 or epoch milliseconds", nutch="generate.curTime"
    )
    filter: bool = _s(True, "", "apply the URL filters again", nutch="generate.filter")
    from_list: str | None = _s(None, "path", "only the URLs of this file, one a line")
    preset: str | None = _s(None, "", "a set of these settings by name: 'classic' is Nutch's first generator")
    plan: str = _s(
        "auto",
        "",
        "shape of the selection: join and windows, or one sort of both inputs",
        choices=("auto", "join", "secondary-sort"),
    )


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Politeness, limits and the network."""

    agent_name: str = _s("pinyon", "", "product token: what robots.txt is read for", nutch="http.agent.name")
    agent_contact: str | None = _s(
        None, "", "URL or mail address of who runs this crawl: needed off loopback", nutch="http.agent.url"
    )
    robots_agents: tuple[str, ...] = _s(
        (), "", "names to read robots.txt for, instead of agent_name", nutch="http.robots.agents"
    )
    server_delay: float = _s(5.0, "s", "between two requests to one host", nutch="fetcher.server.delay")
    min_delay: float = _s(0.0, "s", "never less than this", nutch="fetcher.server.min.delay")
    max_crawl_delay: float = _s(
        30.0, "s", "hosts that ask for more are left out, counted apart", nutch="fetcher.max.crawl.delay"
    )
    connections: int = _s(100, "", "requests at a time, in all", nutch="fetcher.threads.fetch")
    connections_per_host: int = _s(1, "", "requests at a time to one host", nutch="fetcher.threads.per.queue")
    queue_mode: str = _s(
        "host", "", "what the delay is kept for", nutch="fetcher.queue.mode", choices=("host", "domain", "ip")
    )
    max_failures: int = _s(
        10,
        "",
        "failures in a row that end a host's part of this list",
        nutch="fetcher.max.exceptions.per.queue",
    )
    max_back_off: float = _s(
        3600.0, "s", "longest pause, of doubling or of Retry-After, kept within one list"
    )
    obey_robots: bool = _s(True, "", "robots.txt is read and obeyed; off only for sites of your own")
    connect_timeout: float = _s(10.0, "s", "to connect")
    read_timeout: float = _s(30.0, "s", "between two reads", nutch="http.timeout", nutch_factor=0.001)
    total_timeout: float = _s(120.0, "s", "for one request in all")
    max_bytes: int = _s(
        4_194_304, "bytes", "of a body, as sent; what is longer is cut and marked", nutch="http.content.limit"
    )
    accept_types: tuple[str, ...] = _s((), "", "MIME types to keep ('text/*'); empty: all")
    redirect_max: int = _s(
        0,
        "",
        "redirects followed at once within a host; 0: all wait for the next round",
        nutch="http.redirect.max",
    )
    allow_addresses: tuple[str, ...] = _s(
        (), "", "private networks that may be fetched from, e.g. '127.0.0.0/8'"
    )
    connect_to_file: str | None = _s(None, "path", "lines HOST:PORT:ADDRESS:PORT, as curl's --connect-to")
    proxy: str | None = _s(None, "", "http://…, socks5://…")
    verify_tls: bool = _s(True, "", "certificates are checked")
    ca_file: str | None = _s(None, "path", "certificate authorities to trust besides the system's")
    time_limit: float | None = _s(
        None, "s", "stop after this time; the rest stays due", nutch="fetcher.timelimit.mins", nutch_factor=60
    )
    min_free_disk: int = _s(1_073_741_824, "bytes", "stop before the disk is fuller than this")


@dataclass(frozen=True, slots=True)
class Warc:
    """The archive of what was fetched."""

    max_file_bytes: int = _s(1_000_000_000, "bytes", "a new file is begun beyond this")
    write_requests: bool = _s(True, "", "request records beside the responses")


@dataclass(frozen=True, slots=True)
class Parse:
    """From bytes to links and text."""

    processes: int = _s(0, "", "0: one a core")
    text: str = _s("main", "", "text kept of a page", choices=("main", "all", "none"))
    max_text_chars: int = _s(1_000_000, "characters", "longer text is cut")
    max_decoded_bytes: int = _s(16_777_216, "bytes", "of a body after decompression; what is longer is cut")
    max_outlinks: int = _s(1000, "links", "kept of a page; negative: all", nutch="db.max.outlinks.per.page")
    max_anchor_chars: int = _s(100, "characters", "of a link's text", nutch="db.max.anchor.length")
    keep_nofollow: bool = _s(False, "", "keep links marked nofollow too")


@dataclass(frozen=True, slots=True)
class Db:
    """What updatedb makes of a round."""

    fetch_interval_default: int = _s(
        2_592_000, "s", "between fetches of a page", nutch="db.fetch.interval.default"
    )
    fetch_interval_max: int = _s(
        7_776_000,
        "s",
        "longest interval; a page is tried again then at the latest",
        nutch="db.fetch.interval.max",
    )
    fetch_retry_max: int = _s(3, "", "failed tries after which a URL is gone", nutch="db.fetch.retry.max")
    retry_interval: int = _s(86_400, "s", "until a failed URL is tried again")
    schedule: str = _s(
        "default",
        "",
        "default: the interval stays; adaptive: it shrinks when a page changed and grows when it did not",
        nutch="db.fetch.schedule.class",
        choices=("default", "adaptive"),
    )
    adaptive_inc_rate: float = _s(
        0.4,
        "",
        "an interval grows by this part of it when the page did not change",
        nutch="db.fetch.schedule.adaptive.inc_rate",
    )
    adaptive_dec_rate: float = _s(
        0.2,
        "",
        "an interval shrinks by this part of it when the page changed",
        nutch="db.fetch.schedule.adaptive.dec_rate",
    )
    adaptive_min_interval: float = _s(
        60.0, "s", "shortest adaptive interval", nutch="db.fetch.schedule.adaptive.min_interval"
    )
    adaptive_max_interval: float = _s(
        31_536_000.0,
        "s",
        "longest adaptive interval, within fetch_interval_max",
        nutch="db.fetch.schedule.adaptive.max_interval",
    )
    adaptive_sync: bool = _s(
        True,
        "",
        "adaptive: move the next fetch towards the time the page changes at",
        nutch="db.fetch.schedule.adaptive.sync_delta",
    )
    adaptive_sync_rate: float = _s(
        0.3,
        "",
        "by this part of the time since the page changed",
        nutch="db.fetch.schedule.adaptive.sync_delta_rate",
    )
    intervals_file: str | None = _s(
        None,
        "path",
        "lines NAME MIN MAX: bounds of intervals by host, domain ('*.example.org') or MIME type",
    )
    keep_facts: tuple[str, ...] = _s(
        (),
        "",
        "what is kept of a page as metadata of its row: content_type, language",
        nutch="db.parsemeta.to.crawldb",
    )
    additions: bool = _s(True, "", "new URLs enter", nutch="db.update.additions.allowed")
    ignore_internal: bool = _s(
        False, "", "links within a host do not count", nutch="db.ignore.internal.links"
    )
    ignore_external: bool = _s(
        False, "", "links that leave the host do not count", nutch="db.ignore.external.links"
    )
    ignore_external_mode: str = _s(
        "host",
        "",
        "what 'external' leaves",
        nutch="db.ignore.external.links.mode",
        choices=("host", "domain"),
    )
    scores: str = _s(
        "opic",
        "",
        "what links give: opic: the score of their page; links: one each; depth: by distance from the seeds; none",
        choices=("opic", "links", "depth", "none"),
    )
    score_internal: float = _s(1.0, "", "factor for links within a host", nutch="db.score.link.internal")
    score_external: float = _s(1.0, "", "factor for links that leave it", nutch="db.score.link.external")
    max_inlinks: int = _s(
        10_000,
        "links",
        "of those to one URL, as many count in one update, of the best pages",
        nutch="db.update.max.inlinks",
    )
    max_depth: int | None = _s(
        None,
        "links",
        "pages further from the nearest seed do not enter; a seed's max_depth=N goes before",
        nutch="scoring.depth.max",
    )
    max_new_per_host: int | None = _s(None, "URLs", "new ones of a host that enter in one update, best first")
    max_rows_per_host: int | None = _s(None, "URLs", "of a host beyond which no new ones enter")
    max_new_per_domain: int | None = _s(
        None, "URLs", "new ones of a domain that enter in one update, best first"
    )
    max_rows_per_domain: int | None = _s(None, "URLs", "of a domain beyond which no new ones enter")
    max_hosts_per_domain: int | None = _s(
        None, "hosts", "of a domain beyond which no URLs of new ones enter"
    )
    scope: str | None = _s(
        None,
        "",
        "prefix, host or domain: links out of that of their seed do not enter; +N: but N links out of it; "
        "a seed's scope=… goes before",
    )


@dataclass(frozen=True, slots=True)
class HostDb:
    """What updatehostdb keeps of hosts."""

    min_records: int = _s(0, "URLs", "hosts with fewer URLs in the crawldb are not kept")
    score: str = _s(
        "keep",
        "",
        "score of a host, from those of its URLs; keep: as it was",
        choices=("keep", "mean", "max", "sum"),
    )


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the SQL runs."""

    name: str = _s("duckdb", "", "engine", choices=("duckdb", "spark", "reference"))
    memory_limit_mb: int = _s(512, "MB", "of the engine's buffers; the rest goes to disk")
    threads: int = _s(0, "", "0: one a core")
    temp_limit_gb: int = _s(0, "GB", "of spilled data; 0: what the disk has")


@dataclass(frozen=True, slots=True)
class Store:
    """Versions of tables."""

    buckets: int = _s(16, "", "of crawldb and hostdb, a power of two; set once by init")
    keep_versions: int = _s(3, "versions", "of each table, the newest included")
    keep_hours: float = _s(0.0, "h", "versions younger than this are kept too")
    lock_wait: float = _s(0.0, "s", "wait this long for another writer to finish")


@dataclass(frozen=True, slots=True)
class Settings:
    """All sections. `origins` says where each setting that is not a default was set."""

    urls: Urls = field(default_factory=Urls)
    inject: Inject = field(default_factory=Inject)
    generate: Generate = field(default_factory=Generate)
    fetcher: Fetcher = field(default_factory=Fetcher)
    warc: Warc = field(default_factory=Warc)
    parse: Parse = field(default_factory=Parse)
    db: Db = field(default_factory=Db)
    hostdb: HostDb = field(default_factory=HostDb)
    engine: Engine = field(default_factory=Engine)
    store: Store = field(default_factory=Store)
    origins: Mapping[str, str] = field(default_factory=dict)

    def with_values(self, values: Mapping[str, Any], origin: str) -> Settings:
        """A copy with `values` ('section.name' → value or its text) set; `SettingError` names what is wrong."""
        sections: dict[str, dict[str, Any]] = {}
        for key, value in values.items():
            spec = known(key, origin)
            sections.setdefault(spec.section, {})[spec.name] = spec.convert(value, origin)
        changed: dict[str, Any] = {
            name: dataclasses.replace(getattr(self, name), **new) for name, new in sections.items()
        }
        origins = {**self.origins, **dict.fromkeys(values, origin)}
        return dataclasses.replace(self, **changed, origins=origins)

    def effective(self) -> dict[str, Any]:
        """Every setting and its value, as JSON takes it: what a segment records."""
        return {spec.key: getattr(getattr(self, spec.section), spec.name) for spec in specs()}


@dataclass(frozen=True, slots=True)
class Spec:
    """One row of the table of settings."""

    section: str
    name: str
    type: Any
    default: Any
    unit: str
    help: str
    nutch: str
    nutch_factor: float
    choices: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def env(self) -> str:
        return f"PINYON_{self.section}_{self.name}".upper()

    @property
    def kind(self) -> type:
        """The plain type: `int` of `int | None`, `tuple` of `tuple[str, ...]`."""
        if isinstance(self.type, types.UnionType):
            return next(t for t in typing.get_args(self.type) if t is not type(None))
        return typing.get_origin(self.type) or self.type

    @property
    def optional(self) -> bool:
        return isinstance(self.type, types.UnionType)

    def convert(self, value: Any, origin: str) -> Any:
        """`value`, or its text, as this setting's type; `SettingError` if it is not one."""
        if value is None or (value == "" and self.optional):
            if self.optional:
                return None
            raise SettingError(f"{origin}: {self.key} needs a value ({self._wanted()})")
        try:
            converted = self._converted(value)
        except (TypeError, ValueError) as error:
            raise SettingError(f"{origin}: {self.key} = {value!r}: wanted {self._wanted()}") from error
        if self.choices and converted not in self.choices:
            hint = nearest(str(converted), self.choices)
            raise SettingError(f"{origin}: {self.key} = {value!r}: wanted {self._wanted()}{hint}")
        return converted

    def _converted(self, value: Any) -> Any:
        kind = self.kind
        if kind is bool:
            return _as_bool(value)
        if kind is tuple:
            items = value.replace(",", " ").split() if isinstance(value, str) else value
            if not all(isinstance(item, str) for item in items):
                raise TypeError
            return tuple(items)
        if kind is str:
            if not isinstance(value, str):
                raise TypeError
            return value
        if isinstance(value, bool):
            raise TypeError
        if kind is int and not isinstance(value, str) and int(value) != value:
            raise ValueError
        return kind(value)

    def _wanted(self) -> str:
        if self.choices:
            return "one of " + ", ".join(self.choices)
        words = {
            int: "a whole number",
            float: "a number",
            bool: "true or false",
            str: "text",
            tuple: "a list of texts",
        }
        return words[self.kind] + (f" ({self.unit})" if self.unit else "")


def _as_bool(value: Any) -> bool:
    """`false` means off whatever wrote it: TOML, XML or the environment."""
    if isinstance(value, bool):
        return value
    words = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    return words[value.strip().lower()] if str(value).strip().lower() in words else _refuse()


def _refuse() -> bool:
    raise ValueError


@functools.cache
def specs() -> tuple[Spec, ...]:
    """The table of settings, in order."""
    return tuple(_specs())


def _specs() -> Iterator[Spec]:
    for section in dataclasses.fields(Settings):
        if section.name == "origins":
            continue
        cls = section.default_factory
        hints = typing.get_type_hints(cls)
        for f in dataclasses.fields(cls):  # type: ignore[arg-type]
            yield Spec(section.name, f.name, hints[f.name], f.default, **f.metadata)


def known(key: str, origin: str) -> Spec:
    """The row for 'section.name'; `SettingError` with the nearest name if there is none."""
    by_key = {spec.key: spec for spec in specs()}
    if key not in by_key:
        raise SettingError(f"{origin}: unknown setting '{key}'{nearest(key, by_key)}")
    return by_key[key]


def from_toml(path: Path) -> dict[str, Any]:
    """'section.name' → value of a TOML file; `SettingError` if it cannot be read or is not TOML."""
    import tomllib

    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from error
    values: dict[str, Any] = {}
    for section, content in document.items():
        if not isinstance(content, dict):
            raise SettingError(f"{path}: '{section}' stands outside a [section]")
        values.update({f"{section}.{name}": value for name, value in content.items()})
    return values


def from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    """'section.name' → text of the variables PINYON_SECTION_NAME; an unknown one is an error."""
    by_env = {spec.env: spec.key for spec in specs()}
    found = {name: text for name, text in environment.items() if name.startswith("PINYON_")}
    for name in found:
        if name not in by_env:
            raise SettingError(f"environment: unknown setting '{name}'{nearest(name, by_env)}")
    return {by_env[name]: text for name, text in found.items()}


def from_nutch(path: Path) -> tuple[dict[str, Any], list[str]]:
    """'section.name' → value of a Hadoop configuration file, and the properties that mean nothing here.

    Raises `SettingError` if the file cannot be read, is not XML, or a value cannot be used.
    """
    by_property = {spec.nutch: spec for spec in specs() if spec.nutch}
    values: dict[str, Any] = {}
    unknown: list[str] = []
    for name, text in _hadoop_properties(path):
        if name in by_property:
            spec = by_property[name]
            values[spec.key] = _from_nutch_value(spec, text, str(path))
        else:
            unknown.append(name)
    return values, unknown


def _from_nutch_value(spec: Spec, text: str, origin: str) -> Any:
    if spec.nutch == "partition.url.mode" or spec.nutch == "fetcher.queue.mode":
        return text.removeprefix("by").lower()
    if spec.nutch == "db.fetch.schedule.class":
        return "adaptive" if "Adaptive" in text else "default"
    if spec.nutch == "db.parsemeta.to.crawldb":
        known_as = {"content-type": "content_type", "language": "language", "lang": "language"}
        words = text.replace(",", " ").lower().split()
        return [known_as[word] for word in words if word in known_as]
    if spec.nutch == "generate.hostdb":
        return "on" if text else "off"
    if spec.kind in (int, float) and spec.nutch_factor != 1:
        try:
            return spec.kind(float(text) * spec.nutch_factor)
        except ValueError as error:
            raise SettingError(f"{origin}: {spec.nutch} = {text!r}: wanted a number") from error
    return text


def _hadoop_properties(path: Path) -> Iterator[tuple[str, str]]:
    """name, value of each property, in order: the last one of a name wins, as in Hadoop."""
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException, ElementTree

    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise SettingError(f"{path}: cannot be read: {error.strerror}") from error
    except (ParseError, DefusedXmlException) as error:
        raise SettingError(f"{path}: not a Hadoop configuration: {error}") from error
    for element in root.iter("property"):
        name, value = element.findtext("name"), element.findtext("value")
        if name:
            yield name.strip(), (value or "").strip()
