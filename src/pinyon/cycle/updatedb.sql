-- One bucket of the crawldb, with what was learned of its URLs and of the links that lead to them.
-- reads: crawldb, pages, docs, links
-- params: now, retry_max, retry_interval, interval_default, interval_max, additions, ignore_internal, ignore_external, by_domain, max_depth
-- fragments: link_score, new_score

-- step: meanings
-- The one place where what a fetch met (outcome) becomes what is done about it (action). Nutch's CrawlDbReducer
-- has one vocabulary for both; here the page log may grow words without touching the crawldb's.
SELECT * FROM (VALUES
    ('success', 'fetched'),
    ('not_modified', 'not_modified'),
    ('redir_temp', 'redir_temp'),
    ('redir_perm', 'redir_perm'),
    ('not_found', 'gone'),
    ('gone', 'gone'),
    ('access_denied', 'gone'),
    ('bad_redirect', 'gone'),
    ('filtered', 'gone'),
    ('address_denied', 'gone'),
    ('robots_denied', 'robots_denied'),
    ('rate_limited', 'retry'),
    ('server_error', 'retry'),
    ('dns_unknown', 'retry'),
    ('dns_failed', 'retry'),
    ('connect_failed', 'retry'),
    ('tls_failed', 'retry'),
    ('timeout', 'retry'),
    ('protocol_error', 'retry'),
    ('robots_unavailable', 'postponed'),
    ('crawl_delay_too_long', 'postponed'),
    ('host_failing', 'postponed'),
    ('blocked', 'unchanged')
) AS m(outcome, action)

-- step: latest_pages
-- A URL fetched twice: the latest result wins.
SELECT p.*
FROM pages AS p
QUALIFY row_number() OVER (PARTITION BY p.url_key, p.url ORDER BY p.fetch_time DESC, p.outcome) = 1

-- step: latest_docs
SELECT d.url_key, d.url, any_value(d.parse_status) AS parse_status, any_value(d.signature) AS signature
FROM docs AS d
GROUP BY d.url_key, d.url

-- step: results (kept)
SELECT
    p.url, p.url_key, p.fetch_time, p.etag, p.last_modified, p.retry_at, d.signature,
    CASE
        WHEN m.action = 'fetched' AND d.parse_status = 'failed' THEN 'parse_failed'
        ELSE coalesce(m.action, 'unchanged')
    END AS action
FROM latest_pages AS p
LEFT JOIN meanings AS m ON m.outcome = p.outcome
LEFT JOIN latest_docs AS d ON d.url_key = p.url_key AND d.url = p.url

-- step: counted_links
SELECT l.*, l.rel IN ('redirect', 'refresh') AS moved
FROM links AS l
WHERE NOT (:ignore_internal AND l.host = l.from_host)
    AND NOT (:ignore_external AND CASE WHEN :by_domain THEN l.domain IS DISTINCT FROM l.from_domain
        ELSE l.host IS DISTINCT FROM l.from_host END)

-- step: linked
-- All that links say of a target. A page that was linked from before adds no inlink when it is fetched again.
SELECT
    to_url AS url,
    any_value(url_key) AS url_key,
    any_value(host) AS host,
    any_value(host_key) AS host_key,
    any_value(domain) AS domain,
    any_value(bucket) AS bucket,
    CAST(count(DISTINCT from_url) FILTER (WHERE from_first AND NOT moved) AS INTEGER) AS inlinks,
    CAST(min(from_depth + CASE WHEN moved THEN 0 ELSE 1 END) AS SMALLINT) AS depth,
    -- decimals add up to the same whatever the order they come in, floats do not
    CAST(sum(CAST(least({link_score}, 1e15) AS DECIMAL(28, 12))) AS DOUBLE) AS added_score,
    min_by(from_metadata, (from_depth, from_url)) AS metadata
FROM counted_links AS l
GROUP BY to_url

-- step: joined
SELECT
    c.*,
    r.url IS NOT NULL AND (c.last_fetch_time IS NULL OR r.fetch_time > c.last_fetch_time) AS fetched_now,
    r.action,
    r.fetch_time AS result_time,
    r.etag AS result_etag,
    r.last_modified AS result_last_modified,
    r.retry_at,
    r.signature AS result_signature,
    l.inlinks AS new_inlinks,
    l.depth AS link_depth,
    l.added_score
FROM crawldb AS c
LEFT JOIN results AS r ON r.url_key = c.url_key AND r.url = c.url
LEFT JOIN linked AS l ON l.url_key = c.url_key AND l.url = c.url

-- step: decided
-- The same content again is not modified; a page that was a redirect in between starts anew (its signature went).
SELECT
    *,
    CASE
        WHEN NOT fetched_now OR action = 'unchanged' THEN 'none'
        WHEN action = 'fetched' AND signature IS NOT NULL AND result_signature = signature THEN 'not_modified'
        WHEN action = 'retry' AND retries + 1 >= :retry_max THEN 'gone_by_retries'
        ELSE action
    END AS what
FROM joined

-- step: known_rows
SELECT
    url, url_key, host, host_key, domain, bucket,
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
        WHEN what = 'none' THEN fetch_time
        WHEN what = 'retry' OR what = 'postponed'
            THEN greatest(result_time + to_seconds(:retry_interval), coalesce(retry_at, result_time))
        WHEN what IN ('gone', 'gone_by_retries')
            THEN result_time + to_seconds(CAST(least(fetch_interval * 1.5, :interval_max) AS INTEGER))
        ELSE result_time + to_seconds(fetch_interval)
    END AS fetch_time,
    CASE
        WHEN what IN ('gone', 'gone_by_retries') THEN CAST(least(fetch_interval * 1.5, :interval_max) AS INTEGER)
        ELSE fetch_interval
    END AS fetch_interval,
    CASE WHEN what IN ('none', 'postponed', 'robots_denied') THEN last_fetch_time ELSE result_time END AS last_fetch_time,
    CASE WHEN what IN ('fetched', 'parse_failed') THEN result_time ELSE modified_time END AS modified_time,
    first_seen,
    CAST(CASE
        WHEN what IN ('none', 'postponed') THEN retries
        WHEN what IN ('retry', 'gone_by_retries') THEN retries + 1
        ELSE 0
    END AS SMALLINT) AS retries,
    CAST(score + coalesce(added_score, 0) AS FLOAT) AS score,
    inlinks + coalesce(new_inlinks, 0) AS inlinks,
    CAST(least(depth, coalesce(link_depth, depth)) AS SMALLINT) AS depth,
    CASE
        WHEN what IN ('fetched', 'parse_failed') THEN coalesce(result_signature, signature)
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE signature
    END AS signature,
    CASE
        WHEN what IN ('fetched', 'not_modified', 'parse_failed') AND action <> 'not_modified' THEN result_etag
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE etag
    END AS etag,
    CASE
        WHEN what IN ('fetched', 'not_modified', 'parse_failed') AND action <> 'not_modified' THEN result_last_modified
        WHEN what IN ('redir_temp', 'redir_perm', 'gone', 'gone_by_retries') THEN NULL
        ELSE last_modified
    END AS last_modified,
    CASE WHEN what = 'none' THEN generate_time END AS generate_time,
    metadata,
    what
FROM decided

-- step: new_rows
-- URLs that only links know of enter, unless they may not.
SELECT
    l.url, l.url_key, l.host, l.host_key, l.domain, l.bucket,
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
    l.metadata,
    'new' AS what
FROM linked AS l
ANTI JOIN crawldb AS c ON c.url_key = l.url_key AND c.url = l.url
WHERE :additions AND l.depth <= :max_depth

-- step: updated (kept)
SELECT * FROM known_rows
UNION ALL
SELECT * FROM new_rows

-- step: update_counts (kept)
SELECT what, count(*) AS urls FROM updated GROUP BY what
