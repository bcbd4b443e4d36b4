-- One bucket of the crawldb, with what was learned of its URLs and of the links that lead to them.
-- reads: crawldb, results, links, fetchlist, hosts, hostdb, bounds
-- params: now, retry_max, retry_interval, interval_default, interval_max, interval_min, interval_most, additions, max_inlinks
-- fragments: delta, interval, gap, kept_facts, distinct_links, default_scope, placed_links, allowed, link_filter, capped_links, inherited, link_score, known_score, new_score

-- step: latest (kept)
-- A URL fetched twice: the latest result wins; one that was not even requested says nothing beside one that was.
SELECT *
FROM results
QUALIFY row_number() OVER (
    PARTITION BY url_key, url
    ORDER BY action IN ('postponed', 'unchanged'), fetch_time DESC, action, signature NULLS LAST, etag NULLS LAST
) = 1

-- step: matched (kept)
-- Rows that a result is for.
SELECT c.*
FROM crawldb AS c
SEMI JOIN latest AS r ON r.url_key = c.url_key AND r.url = c.url

-- == URLs that were fetched and that the crawldb does not know ==

-- step: unknown (kept)
-- From a list of somebody's own, or of a later version than the one that was restored.
SELECT r.*
FROM latest AS r
ANTI JOIN matched AS c ON c.url_key = r.url_key AND c.url = r.url
WHERE :additions AND r.action NOT IN ('postponed', 'unchanged')

-- step: listed
SELECT f.*
FROM fetchlist AS f
SEMI JOIN unknown AS u ON u.url_key = f.url_key AND u.url = f.url
QUALIFY row_number() OVER (PARTITION BY f.url_key, f.url ORDER BY f.generate_time DESC, f.list) = 1

-- step: entering (kept)
-- What the fetch list knew of them is not forgotten.
SELECT
    u.url, u.url_key, u.host, u.host_key, u.domain, u.bucket,
    coalesce(f.status, 'db_unfetched') AS status,
    coalesce(f.fetch_time, u.fetch_time) AS fetch_time,
    coalesce(f.fetch_interval, CAST(:interval_default AS INTEGER)) AS fetch_interval,
    f.last_fetch_time,
    f.modified_time,
    coalesce(f.first_seen, CAST(:now AS TIMESTAMPTZ)) AS first_seen,
    coalesce(f.retries, CAST(0 AS SMALLINT)) AS retries,
    coalesce(f.score, CAST(0 AS FLOAT)) AS score,
    coalesce(f.inlinks, 0) AS inlinks,
    coalesce(f.depth, CAST(0 AS SMALLINT)) AS depth,
    f.signature,
    f.etag,
    f.last_modified,
    CAST(NULL AS TIMESTAMPTZ) AS generate_time,
    coalesce(f.metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR))) AS metadata
FROM unknown AS u
LEFT JOIN listed AS f ON f.url_key = u.url_key AND f.url = u.url

-- step: known
SELECT
    url, url_key, host, host_key, domain, bucket, status, fetch_time, fetch_interval, last_fetch_time, modified_time,
    first_seen, retries, score, inlinks, depth, signature, etag, last_modified, generate_time, metadata
FROM matched
UNION ALL
SELECT * FROM entering

-- == what a result makes of its row ==

-- step: fetched_rows
-- A result that is not newer than the row's last one changes nothing.
SELECT
    c.*,
    r.action,
    r.fetch_time AS result_time,
    -- who asks for a year is asked again after the longest interval; least() passes over nulls
    CASE WHEN r.retry_at IS NOT NULL THEN least(r.retry_at, r.fetch_time + to_seconds(:interval_max)) END AS retry_at,
    r.signature AS result_signature,
    r.etag AS result_etag,
    r.last_modified AS result_last_modified,
    coalesce(r.content_type, c.metadata['content_type']) AS content_type,
    r.language
FROM known AS c
JOIN latest AS r ON r.url_key = c.url_key AND r.url = c.url
WHERE r.action <> 'unchanged' AND (c.last_fetch_time IS NULL OR r.fetch_time > c.last_fetch_time)

-- step: judged
-- The same content again is not modified. A page that was something else in between has no signature any more, and
-- starts anew.
SELECT
    *,
    CASE
        WHEN action = 'fetched' AND result_signature = signature THEN 'not_modified'
        WHEN action = 'retry' AND retries + 1 >= :retry_max THEN 'gone_by_retries'
        ELSE action
    END AS what,
    action = 'fetched' AND result_signature <> signature AS modified,
    -- as generate lowers it (AbstractFetchSchedule.forceRefetch); 0 as in Nutch: the default
    CASE
        WHEN fetch_interval <= 0 THEN :interval_default
        WHEN fetch_interval > :interval_max THEN round(:interval_max * 0.9)
        -- what was gone and is back is not punished for ever
        WHEN status = 'db_gone' AND action NOT IN ('gone', 'retry', 'postponed')
            THEN least(fetch_interval, :interval_default)
        ELSE fetch_interval
    END AS base_s
FROM fetched_rows

-- step: bounded
-- The nearest bound counts: of the host, its domain, the MIME type, its family.
SELECT
    j.*,
    coalesce(h.min_s, d.min_s, t.min_s, f.min_s, :interval_min) AS min_s,
    least(coalesce(h.max_s, d.max_s, t.max_s, f.max_s, :interval_most), :interval_max) AS max_s,
    {delta} AS delta_s
FROM judged AS j
LEFT JOIN bounds AS h ON h.kind = 'host' AND h.name = j.host
LEFT JOIN bounds AS d ON d.kind = 'domain' AND d.name = j.domain
LEFT JOIN bounds AS t ON t.kind = 'type' AND t.name = j.content_type
LEFT JOIN bounds AS f ON f.kind = 'types' AND f.name = split_part(j.content_type, '/', 1)

-- step: scheduled
SELECT
    *,
    CASE
        WHEN what IN ('retry', 'postponed') THEN fetch_interval
        WHEN what IN ('gone', 'gone_by_retries') THEN CAST(round(least(base_s * 1.5, max_s)) AS INTEGER)
        WHEN what IN ('fetched', 'not_modified')
            THEN CAST(round(least(greatest({interval}, min_s), max_s)) AS INTEGER)
        ELSE CAST(round(least(greatest(base_s, min_s), max_s)) AS INTEGER)
    END AS interval_s
FROM bounded

-- step: refetched
SELECT
    url, url_key, bucket, what,
    CASE WHEN action IN ('fetched', 'not_modified', 'parse_failed') THEN {kept_facts} ELSE metadata END AS metadata,
    CASE what
        WHEN 'fetched' THEN 'db_fetched'
        WHEN 'not_modified' THEN 'db_notmodified'
        WHEN 'redir_temp' THEN 'db_redir_temp'
        WHEN 'redir_perm' THEN 'db_redir_perm'
        WHEN 'gone' THEN 'db_gone'
        WHEN 'gone_by_retries' THEN 'db_gone'
        WHEN 'parse_failed' THEN 'db_parse_failed'
        WHEN 'robots_denied' THEN 'db_robots_denied'
        ELSE status
    END AS status,
    CASE
        WHEN what IN ('retry', 'postponed')
            THEN greatest(result_time + to_seconds(:retry_interval), coalesce(retry_at, result_time))
        WHEN what IN ('gone', 'gone_by_retries')
            THEN greatest(result_time + to_seconds(interval_s), coalesce(retry_at, result_time))
        WHEN what IN ('fetched', 'not_modified') THEN result_time + to_seconds(CAST(round({gap}) AS INTEGER))
        ELSE result_time + to_seconds(interval_s)
    END AS fetch_time,
    interval_s AS fetch_interval,
    CASE WHEN what IN ('postponed', 'robots_denied') THEN last_fetch_time ELSE result_time END AS last_fetch_time,
    CASE WHEN what IN ('fetched', 'parse_failed') THEN result_time ELSE modified_time END AS modified_time,
    CAST(CASE
        WHEN what = 'postponed' THEN retries
        WHEN what IN ('retry', 'gone_by_retries') THEN least(retries + 1, 32767)
        ELSE 0
    END AS SMALLINT) AS retries,
    CASE
        WHEN what IN ('fetched', 'parse_failed') THEN result_signature
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE signature
    END AS signature,
    CASE
        WHEN action IN ('fetched', 'parse_failed') THEN result_etag
        WHEN action = 'not_modified' THEN coalesce(result_etag, etag)
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE etag
    END AS etag,
    CASE
        WHEN action IN ('fetched', 'parse_failed') THEN result_last_modified
        WHEN action = 'not_modified' THEN coalesce(result_last_modified, last_modified)
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE last_modified
    END AS last_modified
FROM scheduled

-- == a robots.txt that changed frees what the old one denied ==

-- step: robots_met
SELECT host, checked_at, robots_digest
FROM hosts
WHERE robots_status <> 'unavailable'
QUALIFY row_number() OVER (PARTITION BY host ORDER BY checked_at DESC, robots_digest NULLS LAST) = 1

-- step: robots_changed (kept)
-- When the rules of a host were last seen to change: by these segments, or by those the HostDb has taken in before.
SELECT
    h.host,
    CASE
        WHEN m.robots_digest IS DISTINCT FROM h.robots_digest AND m.checked_at > h.last_check THEN m.checked_at
        ELSE CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ)
            + to_seconds(TRY_CAST(h.metadata['robots_changed'] AS BIGINT) // 1000)
    END AS changed_at
FROM hostdb AS h
LEFT JOIN robots_met AS m ON m.host = h.host
WHERE h.metadata['robots_changed'] IS NOT NULL OR m.host IS NOT NULL

-- step: freed
-- A row is denied at its due time less its interval.
SELECT c.*
FROM crawldb AS c
JOIN robots_changed AS r ON r.host = c.host
WHERE c.status = 'db_robots_denied'
    AND c.fetch_time > :now
    AND c.fetch_time - to_seconds(c.fetch_interval) < r.changed_at

-- step: changed (kept)
SELECT
    url, url_key, bucket, what, status, fetch_time, fetch_interval, last_fetch_time, modified_time, retries, signature, etag,
    last_modified, metadata
FROM refetched
UNION ALL
SELECT
    f.url, f.url_key, f.bucket, 'freed' AS what, f.status, CAST(:now AS TIMESTAMPTZ) AS fetch_time, f.fetch_interval,
    f.last_fetch_time, f.modified_time, f.retries, f.signature, f.etag, f.last_modified, f.metadata
FROM freed AS f
ANTI JOIN refetched AS r ON r.url_key = f.url_key AND r.url = f.url

-- == what links say ==

-- step: marked_links
SELECT *, rel IN ('redirect', 'refresh') AS moved
FROM {distinct_links} AS l
WHERE host_key IS NOT NULL

-- step: written_scopes
SELECT
    *,
    coalesce(from_metadata['scope'], {default_scope}) AS written,
    split_part(regexp_replace(coalesce(from_metadata['scope'], {default_scope}), '[+][0-9]+$', ''), ':', 1) AS kind,
    coalesce(TRY_CAST(regexp_extract(coalesce(from_metadata['scope'], {default_scope}), '[+]([0-9]+)$', 1) AS INTEGER), 0)
        AS hops,
    coalesce(TRY_CAST(from_metadata['scope_hops'] AS INTEGER), 0) AS hops_before
FROM marked_links

-- step: anchored_scopes
-- A scope as a seed has it ('host+1') is that of the seed itself; one that was inherited names it ('host:a.test+1').
SELECT
    *,
    CASE
        WHEN strpos(written, ':') > 0
            THEN regexp_replace(substr(written, strpos(written, ':') + 1), '[+][0-9]+$', '')
        WHEN kind = 'host' THEN from_host
        WHEN kind = 'domain' THEN from_domain
        WHEN kind = 'prefix' THEN regexp_extract(from_url, '^[^?]*/', 0)
    END AS home
FROM written_scopes

-- step: judged_scopes
-- The redirect of a seed takes the scope along: it is that of where the seed is now.
SELECT
    *,
    CASE
        WHEN home IS NULL OR (moved AND strpos(written, ':') = 0) THEN true
        WHEN kind = 'host' THEN host = home
        WHEN kind = 'domain' THEN domain = home
        ELSE starts_with(to_url, home)
    END AS in_scope
FROM anchored_scopes

-- step: scoped_links
SELECT
    *,
    CASE WHEN in_scope THEN 0 ELSE hops_before + 1 END AS next_hops,
    CASE
        WHEN home IS NULL THEN NULL
        WHEN moved AND strpos(written, ':') = 0 THEN written
        ELSE concat(kind, ':', home, CASE WHEN hops > 0 THEN concat('+', CAST(hops AS VARCHAR)) ELSE '' END)
    END AS scope
FROM judged_scopes

-- step: allowed_links
SELECT *, {allowed} AS allowed
FROM {placed_links} AS l

-- step: counted_links
SELECT *
FROM allowed_links
WHERE {link_filter}

-- step: best_links
-- Of a crowd of links to one URL, as many as count: those of the best pages.
SELECT *
FROM counted_links
QUALIFY row_number() OVER (PARTITION BY url_key, to_url ORDER BY moved DESC, from_score DESC, from_url) <= :max_inlinks

-- step: links_here (kept)
-- Read once: a bucket's links lie in the files of all pages.
SELECT
    url_key, to_url AS url, host, host_key, domain, bucket, from_url, from_first, moved, allowed,
    from_depth + CASE WHEN moved THEN 0 ELSE 1 END AS depth,
    -- decimals add up to the same whatever the order they come in, floats do not
    CAST(greatest(least({link_score}, 1e15), -1e15) AS DECIMAL(28, 12)) AS gives,
    {inherited} AS metadata
FROM {capped_links} AS l

-- step: linked (kept)
-- How many, how near, how much: of each target. What a page gives to a URL that is known already, it gave when it was
-- first fetched.
SELECT
    url_key,
    url,
    bucket,
    bool_or(allowed) AS allowed,
    CAST(count(*) FILTER (WHERE NOT moved) AS INTEGER) AS inlinks,
    CAST(count(*) FILTER (WHERE NOT moved AND from_first) AS INTEGER) AS new_inlinks,
    CAST(least(min(depth) FILTER (WHERE allowed), 32767) AS SMALLINT) AS depth,
    CAST(sum(gives) AS DOUBLE) AS score,
    CAST(sum(gives) FILTER (WHERE from_first) AS DOUBLE) AS new_score
FROM links_here
GROUP BY url_key, url, bucket

-- step: moved_here (kept)
-- What the target of a redirect inherits.
SELECT url_key, url, bucket, metadata
FROM links_here
WHERE moved AND allowed
QUALIFY row_number() OVER (PARTITION BY url_key, url ORDER BY depth, from_url) = 1

-- step: new_targets (kept)
-- URLs that only links know of enter, unless they may not.
SELECT l.*
FROM linked AS l
ANTI JOIN crawldb AS c ON c.url_key = l.url_key AND c.url = l.url
ANTI JOIN entering AS e ON e.url_key = l.url_key AND e.url = l.url
WHERE :additions AND l.allowed

-- step: arriving (kept)
-- Of all links to a new URL the one nearest to a seed says where it lies, and hands its metadata down.
SELECT
    l.url, l.url_key, f.host, f.host_key, f.domain, f.bucket,
    'db_unfetched' AS status,
    CAST(:now AS TIMESTAMPTZ) AS fetch_time,
    CAST(:interval_default AS INTEGER) AS fetch_interval,
    CAST(NULL AS TIMESTAMPTZ) AS last_fetch_time,
    CAST(NULL AS TIMESTAMPTZ) AS modified_time,
    CAST(:now AS TIMESTAMPTZ) AS first_seen,
    CAST(0 AS SMALLINT) AS retries,
    CAST({new_score} AS FLOAT) AS score,
    l.inlinks,
    l.depth,
    CAST(NULL AS BLOB) AS signature,
    CAST(NULL AS VARCHAR) AS etag,
    CAST(NULL AS VARCHAR) AS last_modified,
    CAST(NULL AS TIMESTAMPTZ) AS generate_time,
    f.metadata
FROM links_here AS f
JOIN new_targets AS l ON l.url_key = f.url_key AND l.url = f.url
WHERE f.allowed
QUALIFY row_number() OVER (PARTITION BY f.url_key, f.url ORDER BY f.depth, f.from_url) = 1

-- step: update_counts (kept)
SELECT what, count(*) AS urls FROM changed GROUP BY what
UNION ALL
SELECT 'new' AS what, count(*) AS urls FROM arriving

-- == the next version: never kept, it is written as it is read, however large the bucket ==

-- step: known_rows
SELECT
    url, url_key, host, host_key, domain, bucket, status, fetch_time, fetch_interval, last_fetch_time, modified_time,
    first_seen, retries, score, inlinks, depth, signature, etag, last_modified, generate_time, metadata
FROM crawldb
UNION ALL
SELECT * FROM entering

-- step: updated_rows
-- The target of a redirect has what its source had, unless it has it already.
SELECT
    c.url, c.url_key, c.host, c.host_key, c.domain, c.bucket,
    CASE WHEN d.url IS NULL THEN c.status ELSE d.status END AS status,
    CASE WHEN d.url IS NULL THEN c.fetch_time ELSE d.fetch_time END AS fetch_time,
    CASE WHEN d.url IS NULL THEN c.fetch_interval ELSE d.fetch_interval END AS fetch_interval,
    CASE WHEN d.url IS NULL THEN c.last_fetch_time ELSE d.last_fetch_time END AS last_fetch_time,
    CASE WHEN d.url IS NULL THEN c.modified_time ELSE d.modified_time END AS modified_time,
    c.first_seen,
    CASE WHEN d.url IS NULL THEN c.retries ELSE d.retries END AS retries,
    CAST({known_score} AS FLOAT) AS score,
    c.inlinks + coalesce(l.new_inlinks, 0) AS inlinks,
    CAST(least(c.depth, coalesce(l.depth, c.depth)) AS SMALLINT) AS depth,
    CASE WHEN d.url IS NULL THEN c.signature ELSE d.signature END AS signature,
    CASE WHEN d.url IS NULL THEN c.etag ELSE d.etag END AS etag,
    CASE WHEN d.url IS NULL THEN c.last_modified ELSE d.last_modified END AS last_modified,
    CASE WHEN d.url IS NULL THEN c.generate_time END AS generate_time,
    CASE
        WHEN m.url IS NOT NULL THEN map_concat(m.metadata, coalesce(d.metadata, c.metadata))
        ELSE coalesce(d.metadata, c.metadata)
    END AS metadata
FROM known_rows AS c
LEFT JOIN changed AS d ON d.url_key = c.url_key AND d.url = c.url AND d.bucket = c.bucket
LEFT JOIN linked AS l ON l.url_key = c.url_key AND l.url = c.url AND l.bucket = c.bucket
LEFT JOIN moved_here AS m ON m.url_key = c.url_key AND m.url = c.url AND m.bucket = c.bucket

-- step: updated
SELECT * FROM updated_rows
UNION ALL
SELECT * FROM arriving
