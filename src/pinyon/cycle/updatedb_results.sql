-- One segment: each page with what parsing made of it, as what is to be done about it.
-- A document belongs to the page of its own segment: the same URL may have been fetched for another one too.
-- reads: pages, docs

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
    ('crawl_delay_too_long', 'robots_denied'),
    ('rate_limited', 'retry'),
    ('server_error', 'retry'),
    ('dns_unknown', 'retry'),
    ('dns_failed', 'retry'),
    ('connect_failed', 'retry'),
    ('tls_failed', 'retry'),
    ('timeout', 'retry'),
    ('protocol_error', 'retry'),
    ('robots_unavailable', 'postponed'),
    ('host_failing', 'postponed'),
    ('blocked', 'unchanged')
) AS m(outcome, action)

-- step: parsed
-- A page that was fetched twice within a segment has two documents: one that could be read goes first.
SELECT url_key, url, parse_status, signature, language
FROM docs
QUALIFY row_number() OVER (
    PARTITION BY url_key, url ORDER BY parse_status = 'failed', signature NULLS LAST, language NULLS LAST
) = 1

-- step: segment_results (kept)
SELECT
    p.url, p.url_key, p.host, p.host_key, p.domain, p.bucket,
    CASE
        WHEN m.action = 'fetched' AND d.parse_status = 'failed' THEN 'parse_failed'
        ELSE coalesce(m.action, 'unchanged')
    END AS action,
    p.fetch_time, p.retry_at, p.etag, p.last_modified, p.content_type, d.signature, d.language
FROM pages AS p
LEFT JOIN meanings AS m ON m.outcome = p.outcome
LEFT JOIN parsed AS d ON d.url_key = p.url_key AND d.url = p.url
