-- One bucket of the crawldb, with the inlinks that its linkdb counts, and what nothing links to any more marked.
-- reads: crawldb, linkdb
-- params: orphaned_before

-- step: linked_to
SELECT url_key, to_url, CAST(count(*) FILTER (WHERE rel NOT IN ('redirect', 'refresh')) AS INTEGER) AS inlinks
FROM linkdb
GROUP BY url_key, to_url

-- step: counted_rows
SELECT
    c.*,
    coalesce(l.inlinks, 0) AS counted,
    -- neither a link nor a redirect leads to it, it is no seed, and it had its time
    l.to_url IS NULL AND c.depth > 0 AND c.first_seen < :orphaned_before AS unlinked
FROM crawldb AS c
LEFT JOIN linked_to AS l ON l.url_key = c.url_key AND l.to_url = c.url

-- step: recounted (kept)
-- An orphan that is found again is what its content says it is.
SELECT
    * EXCLUDE (inlinks, status, counted, unlinked),
    counted AS inlinks,
    CASE
        WHEN unlinked THEN 'db_orphan'
        WHEN status = 'db_orphan' AND counted > 0 AND signature IS NOT NULL THEN 'db_fetched'
        WHEN status = 'db_orphan' AND counted > 0 THEN 'db_unfetched'
        ELSE status
    END AS status,
    inlinks IS DISTINCT FROM counted AS inlinks_changed,
    unlinked AND status <> 'db_orphan' AS orphaned,
    status = 'db_orphan' AND counted > 0 AS found_again
FROM counted_rows

-- step: recount_counts (kept)
SELECT
    count(*) FILTER (WHERE inlinks_changed) AS changed,
    count(*) FILTER (WHERE orphaned) AS orphaned,
    count(*) FILTER (WHERE found_again) AS found_again
FROM recounted
