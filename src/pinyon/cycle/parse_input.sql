-- What is to be parsed, in the order it lies in the archive: pages with a body or a redirect, and what their
-- fetch list row says of them that links inherit.
-- reads: pages, fetchlist
-- params: wanted

-- step: to_parse (kept)
SELECT
    p.url, p.url_key, p.host, p.domain, p.bucket, p.outcome, p.content_type, p.charset, p.redirect_to, p.robots_tag,
    p.warc_file, p.warc_offset, p.warc_length,
    coalesce(f.score, CAST(0 AS FLOAT)) AS score,
    coalesce(f.depth, CAST(0 AS SMALLINT)) AS depth,
    -- nothing of it was seen before: neither content nor a redirect
    f.modified_time IS NULL AND coalesce(f.status, 'db_unfetched') NOT IN ('db_redir_temp', 'db_redir_perm') AS first,
    coalesce(f.metadata, CAST(MAP {} AS MAP(VARCHAR, VARCHAR))) AS metadata
FROM pages AS p
LEFT JOIN fetchlist AS f ON f.url = p.url
WHERE list_contains(:wanted, p.outcome)
