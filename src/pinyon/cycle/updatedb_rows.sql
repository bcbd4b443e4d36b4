-- The rows of one bucket as they are now, with what the update job found kept beside them. Without parameters, and
-- never kept: it is written as it is read, however large the bucket.
-- reads: crawldb
-- fragments: known_score

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
LEFT JOIN changed AS d ON d.url_key = c.url_key AND d.url = c.url
LEFT JOIN linked AS l ON l.url_key = c.url_key AND l.url = c.url
LEFT JOIN moved_here AS m ON m.url_key = c.url_key AND m.url = c.url

-- step: updated (kept)
SELECT * FROM updated_rows
UNION ALL
SELECT * FROM arriving
