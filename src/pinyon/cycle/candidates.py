"""Select, first half: what is due, and of each host what any list could take, bucket by bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from pinyon.crawl import parse_time
from pinyon.cycle.narrow import LIMITS, NARROW, URLS
from pinyon.cycle.seeds import read_seeds
from pinyon.cycle.selection import Selection
from pinyon.errors import EngineError, InputError
from pinyon.jobs import Files, Job, load
from pinyon.store import Published, Segment
from pinyon.tables import CRAWLDB, HOSTDB, TableSpec
from pinyon.urls import locate

NARROW_COLUMNS = ", ".join(NARROW.names)

#: The two shapes in which the HostDb's rows meet the URLs, as names of the .sql between policy and limits.
_SHAPES = {"join": "generate_join", "secondary-sort": "generate_sort"}
#: A crawl smaller than this is not worth a second look at what could reach top_n.
CUT_EARLY_FROM = 1_000_000


def job_of(plan: str) -> Job:
    """The job that selects candidates, in the shape asked for (`auto` is this engine's: join)."""
    shape = _SHAPES["join" if plan == "auto" else plan]
    return load("pinyon.cycle", "generate_judged", "generate_policy", shape, "generate_ranked")


def select_candidates(selection: Selection, crawldb: Published) -> list[str]:
    """Files of the candidates that any list could take, one a group of buckets; counts what fell out."""
    gathered = Gathered(selection, crawldb)
    cut = EarlyCut(selection, crawldb)
    found = _select(selection, crawldb, gathered, cut)
    if cut.below is not None and cut.found < cut.wanted:
        # the first bucket was better than the others: once more, with nothing cut
        selection.forget_counts()
        found = _select(selection, crawldb, gathered, EarlyCut(selection, crawldb, used=False))
    return found


def _select(selection: Selection, crawldb: Published, gathered: Gathered, cut: EarlyCut) -> list[str]:
    job = job_of(selection.settings.plan)
    engine = selection.crawl.engine
    files: list[str] = []
    for number, group in enumerate(engine.bucket_groups(crawldb.buckets)):
        if not crawldb.paths(group):
            continue
        params = {**gathered.params, "cut_below": cut.below}
        engine.run(job, gathered.sources(group), params, gathered.fragments | cut.fragments)
        cut.learn(sum(file.rows for bucket in group for file in crawldb.files.get(bucket, ())))
        _count(selection, cut)
        path = selection.scratch / "candidates" / f"{number}.parquet"
        file = engine.write(f"SELECT {NARROW_COLUMNS} FROM host_ranked WHERE {cut.keeps}", path)
        cut.found += file.rows
        if file.rows:
            files.append(str(path))
    return files


class EarlyCut:
    """Rows that will not reach top_n are left out before they are ranked: a guess from the first bucket, then checked.

    `below` is the sort value under which rows are left out, None before it is known or where it cannot be used: with
    several lists, or limits of domains, a row that was counted on may fall out later. If in the end fewer than
    `wanted` were `found`, the guess was wrong and the selection is made without it.
    """

    #: So many more rows than wanted are kept, since buckets differ.
    SLACK = 1.25

    def __init__(self, selection: Selection, crawldb: Published, used: bool = True) -> None:
        settings = selection.settings
        limits_domains = (
            selection.policy.domain_limit >= 0
            or settings.max_hosts_per_domain >= 0
            or settings.limits_file is not None
        )
        self.wanted = settings.top_n or 0
        self.found = 0
        self.below: float | None = None
        self._by_score = settings.sort_by.strip() == "score"
        self._engine = selection.crawl.engine
        self._rows = crawldb.rows
        self._used = used and self._rows >= CUT_EARLY_FROM and self.wanted > 0 and settings.segments == 1
        self._used = self._used and not limits_domains

    @property
    def fragments(self) -> dict[str, str]:
        """SQL: where the sort value is the score, a scan can leave rows out by its column alone (NaN is above all)."""
        by_score = self.below is not None and self._by_score
        return {"score_reaches": f"score >= CAST({self.below!r} AS FLOAT)" if by_score else "true"}

    @property
    def keeps(self) -> str:
        """SQL: what of `host_ranked` is kept."""
        late = f"AND (sort_value >= {self.below!r} OR isnan(sort_value))" if self.below is not None else ""
        return f"cut IS NULL {late}"

    def learn(self, rows: int) -> None:
        """Takes the cut from the bucket just ranked, of so many rows, if it is the first."""
        if not self._used or self.below is not None or not rows:
            return
        share = int(self.wanted * self.SLACK * rows / self._rows) + 1
        best = self._engine.rows(
            "SELECT sort_value AS v FROM host_ranked WHERE cut IS NULL AND NOT isnan(sort_value) "
            f"ORDER BY sort_value DESC LIMIT 1 OFFSET {share}"
        )
        self._used = bool(best)
        self.below = best[0]["v"] if best and abs(best[0]["v"]) != float("inf") else None


class Gathered:
    """All that the candidates of a bucket are judged by: parameters, SQL of expressions, and the other tables."""

    def __init__(self, selection: Selection, crawldb: Published) -> None:
        self._crawldb = crawldb
        self._hostdb = selection.policy.hostdb
        self._open = open_lists(selection)
        self.limits = limits_file(selection, crawldb)
        self._listed = listed_urls(selection, crawldb.buckets)
        self.params = _params(selection)
        self.fragments = self._fragments(selection)

    def _fragments(self, selection: Selection) -> dict[str, str]:
        policy = selection.policy
        fragments = dict(policy.fragments)
        fragments["host_join"] = "LEFT JOIN hostdb AS h ON h.host = c.host" if policy.needs_host else ""
        fragments["url_filter"] = _url_filter(selection, self._crawldb)
        # the URLs themselves are read only where they must be compared, each once: two open segments may lock the same
        locked = any(segment.files("lock") for segment in self._open)
        fragments["is_locked"] = "l.url IS NOT NULL" if locked else "false"
        fragments["lock_join"] = (
            "LEFT JOIN (SELECT DISTINCT * FROM locked) AS l ON l.url_key = c.url_key AND l.url = c.url"
            if locked
            else ""
        )
        listed = self._listed is not None
        fragments["is_listed"] = "g.url IS NULL" if listed else "false"
        fragments["list_join"] = (
            "LEFT JOIN (SELECT DISTINCT * FROM listed) AS g ON g.url_key = c.url_key AND g.url = c.url"
            if listed
            else ""
        )
        return fragments

    def sources(self, group: Sequence[int]) -> dict[str, Files]:
        """What the job reads for a group of buckets. Hosts of another HostDb may lie in other buckets."""
        hosts: Sequence[str] = ()
        if self._hostdb is not None:
            same = self._hostdb.buckets == self._crawldb.buckets
            hosts = self._hostdb.paths(group if same else None)
        listed = self._listed or {}
        return {
            "crawldb": Files.of(CRAWLDB, self._crawldb.paths(group)).with_addresses(),
            "hostdb": Files.of(HOSTDB, hosts),
            "locked": Files.of(URLS, _lock_files(self._open, group)),
            "listed": Files.of(URLS, [path for bucket in group for path in listed.get(bucket, ())]),
            "limits": Files.of(LIMITS, self.limits),
        }


def _params(selection: Selection) -> dict[str, Any]:
    settings, fetcher = selection.settings, selection.everything.fetcher
    return {
        "now": selection.now,
        "max_interval": selection.everything.db.fetch_interval_max,
        "gen_delay_from": selection.now - timedelta(seconds=settings.gen_delay),
        "restrict_status": list(settings.restrict_status),
        "exclude_status": list(settings.exclude_status),
        "min_score": settings.min_score,
        "interval_at_most": settings.interval_at_most,
        "max_count": selection.policy.host_limit,
        "lists": settings.segments,
        "together": settings.keep_together if settings.spread and settings.segments > 1 else 1,
        "time_budget_ms": None if settings.time_budget is None else settings.time_budget * 1000,
        "default_delay_ms": round(fetcher.server_delay * 1000),
        "min_delay_ms": round(fetcher.min_delay * 1000),
    }


def _url_filter(selection: Selection, crawldb: Published) -> str:
    """SQL of the reason a filter gives, or NULL. Rows that entered through these very rules need no second look."""
    rules = selection.crawl.url_filter
    if not selection.settings.filter or crawldb.facts.get("filter") == rules.digest():
        return "NULL"
    reason = rules.sql("c.url", "c.host")
    return f"CASE WHEN ({reason}) IS NOT NULL THEN 'url_filter' END"


def _count(selection: Selection, cut: EarlyCut) -> None:
    engine = selection.crawl.engine
    for row in engine.rows("SELECT reason, urls FROM reason_counts"):
        selection.rejected[row["reason"]] += row["urls"]
    if cut.below is not None:
        late = engine.rows(f"SELECT count(*) AS n FROM host_ranked WHERE cut IS NULL AND NOT ({cut.keeps})")
        selection.rejected["top_n"] += late[0]["n"]
    for row in engine.rows("SELECT reason, urls, hosts FROM cut_counts"):
        selection.rejected[row["reason"]] += row["urls"]
        if row["reason"] == "host_limit" and selection.settings.segments == 1:
            selection.over_limit_here += row["hosts"]  # a host lies in one bucket: these add up
        elif row["reason"] == "host_limit":
            note_hosts_over_limit(selection, "host_ranked")
    if selection.policy.hostdb is not None:
        _count_undecided(selection, engine.rows("SELECT * FROM undecided_hosts")[0])


def note_hosts_over_limit(selection: Selection, relation: str) -> None:
    """Puts aside the hosts of which rows were cut under their limit: a host may be met again in a later list."""
    path = selection.scratch / "over-limit" / f"{len(selection.over_limit)}.parquet"
    sql = f"SELECT DISTINCT host FROM {relation} WHERE cut = 'host_limit'"
    if selection.crawl.engine.write(sql, path).rows:
        selection.over_limit.append(str(path))


def _count_undecided(selection: Selection, row: Mapping[str, Any]) -> None:
    for setting, hosts, example in (
        ("max_count_expr", "without_limit", "limit_example"),
        ("fetch_delay_expr", "without_delay", "delay_example"),
    ):
        if getattr(selection.settings, setting) is not None and row[hosts]:
            selection.failing[setting] += row[hosts]
            selection.examples[setting] = min(selection.examples.get(setting, row[example]), row[example])


# -- locks ----------------------------------------------------------------------------------------------------


def open_lists(selection: Selection) -> list[Segment]:
    """Segments that the crawldb has not taken in, and that are younger than `gen_delay`."""
    segments = list(selection.crawl.segments)
    done = selection.crawl.store.applied(CRAWLDB, [segment.name for segment in segments])
    oldest = selection.made_at - timedelta(seconds=selection.settings.gen_delay)
    return [s for s in segments if s.name not in done and parse_time(s.info()["generate_time"]) > oldest]


def _lock_files(segments: Sequence[Segment], group: Sequence[int]) -> list[str]:
    paths = (segment.folder("lock") / f"bucket-{bucket}.parquet" for segment in segments for bucket in group)
    return [str(path) for path in paths if path.exists()]


# -- files that are given -------------------------------------------------------------------------------------


def listed_urls(selection: Selection, buckets: int) -> dict[int, list[str]] | None:
    """Files of the URLs of `from_list` by bucket, or None if no list is given. Raises `InputError`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if selection.settings.from_list is None:
        return None
    found: dict[int, list[tuple[int, str]]] = {}
    files: dict[int, list[str]] = {}

    def flush() -> None:
        for bucket, rows in found.items():
            path = selection.scratch / f"listed-{bucket}-{len(files.setdefault(bucket, []))}.parquet"
            columns = [[row[0] for row in rows], [row[1] for row in rows]]
            pq.write_table(pa.table(columns, schema=URLS.arrow_schema()), path)
            files[bucket].append(str(path))
        found.clear()

    for number, (bucket, key, url) in enumerate(_normalised(selection, buckets), 1):
        found.setdefault(bucket, []).append((key, url))
        if number % 100_000 == 0:
            flush()
    flush()
    return files


def _normalised(selection: Selection, buckets: int) -> Iterator[tuple[int, int, str]]:
    """Bucket, key and URL of each line, as it is and normalised: an import keeps URLs as they were found."""
    normalise = selection.crawl.normalise
    for seed in read_seeds([Path(selection.settings.from_list or "")]):
        if seed.problem:
            continue
        for url in {seed.url, normalise(seed.url) or seed.url}:
            place = locate(url)
            yield place.bucket(buckets), place.url_key, url


def limits_file(selection: Selection, crawldb: Published) -> list[str]:
    """The limits file as one Parquet file that is joined, never loaded; an empty list if none is given.

    A limit for a period is lowered by what was fetched in it. Raises `InputError` for a file that is none.
    """
    name = selection.settings.limits_file
    if name is None:
        return []
    engine = selection.crawl.engine
    path = Path(name)
    columns = _columns_of(selection, path)
    known = [c for c in LIMITS.names if c != "name" and c in columns]
    casts = [f"CAST({c if c in known else 'NULL'} AS BIGINT) AS {c}" for c in LIMITS.names[1:]]
    raw = selection.scratch / "limits.parquet"
    keys = ", ".join(c for c in _LIMITS_KEYS if c in columns)
    name_sql = f"rtrim(lower(trim(CAST(coalesce({keys}) AS VARCHAR))), '.') AS name"
    try:
        engine.write(f"SELECT {name_sql}, {', '.join(casts)} FROM {_scan(path)} WHERE name IS NOT NULL", raw)
    except EngineError as error:
        raise InputError(f"{path}: {error}") from error
    _check_limits(selection, path, raw)
    return [_without_used(selection, crawldb, raw)] if "interval" in known else [str(raw)]


#: Columns of a limits file that may name what a row is about.
_LIMITS_KEYS = ("name", "domain", "host", "domain_or_host")


def _check_limits(selection: Selection, path: Path, raw: Path) -> None:
    """A name that stands twice has no limit that could be told; a delay below zero is none."""
    selection.crawl.engine.bind({"limits": Files.of(LIMITS, [str(raw)])})
    wrong = selection.crawl.engine.rows(
        "SELECT name, count(*) AS n FROM limits GROUP BY name "
        "HAVING count(*) > 1 OR min(delay_ms) < 0 ORDER BY name LIMIT 1"
    )
    if wrong:
        slip = "stands there twice" if wrong[0]["n"] > 1 else "has a delay_ms below zero"
        raise InputError(f"{path}: '{wrong[0]['name']}' {slip}")


def _scan(path: Path) -> str:
    quoted = "'" + str(path).replace("'", "''") + "'"
    if path.suffix == ".parquet":
        return f"read_parquet({quoted})"
    return f"read_csv({quoted}, delim='\t', header=true, all_varchar=true, comment='#', null_padding=true)"


def _columns_of(selection: Selection, path: Path) -> list[str]:
    if not path.is_file():
        raise InputError(f"{path}: there is no such limits file (generate.limits_file)")
    found = [
        row["column_name"] for row in selection.crawl.engine.rows(f"DESCRIBE SELECT * FROM {_scan(path)}")
    ]
    if set(found) - set(LIMITS.names) - set(_LIMITS_KEYS) or not set(found) & set(_LIMITS_KEYS):
        raise InputError(
            f"{path}: wanted columns domain (or host), {', '.join(LIMITS.names[1:])}; found {', '.join(found)}"
        )
    return found


_USED = TableSpec("used", LIMITS.columns[:2], "URLs of a name that were fetched in its period, by bucket")


def _without_used(selection: Selection, crawldb: Published, raw: Path) -> str:
    engine = selection.crawl.engine
    limits = Files.of(LIMITS, [str(raw)])
    used = []
    for number, group in enumerate(engine.bucket_groups(crawldb.buckets)):
        tables = {"crawldb": Files.of(CRAWLDB, crawldb.paths(group)), "limits": limits}
        engine.run(load("pinyon.cycle", "generate_limits"), tables, {"now": selection.now})
        path = selection.scratch / f"used-{number}.parquet"
        if engine.write("SELECT * FROM fetched_lately", path).rows:
            used.append(str(path))
    if not used:
        return str(raw)
    engine.bind({"limits": limits, "used": Files.of(_USED, used)})
    left = selection.scratch / "limits-left.parquet"
    engine.write(
        "SELECT l.* REPLACE (CAST(CASE WHEN l.urls >= 0 THEN greatest(l.urls - coalesce(u.urls, 0), 0) ELSE l.urls END "
        "AS BIGINT) AS urls) FROM limits AS l "
        "LEFT JOIN (SELECT name, sum(urls) AS urls FROM used GROUP BY name) AS u ON u.name = l.name",
        left,
    )
    return str(left)
