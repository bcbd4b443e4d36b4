-- One bucket of the linkdb, after one segment: what its pages linked to before goes, what they link to now comes.
-- reads: linkdb, links, pages
-- params: segment

-- step: read_again
-- Pages whose links are known anew: those that were there, or that are gone and link to nothing.
SELECT DISTINCT url
FROM pages
WHERE outcome IN ('success', 'redir_temp', 'redir_perm', 'not_found', 'gone', 'access_denied', 'bad_redirect')

-- step: current_links
SELECT
    to_url, url_key, host_key, bucket, from_url, from_host,
    -- one link a page and target: parse gives no more, but a segment may hold a page twice
    min_by(anchor, (anchor, rel)) AS anchor,
    min_by(rel, (anchor, rel)) AS rel
FROM links
GROUP BY to_url, url_key, host_key, bucket, from_url, from_host

-- step: inverted (kept)
SELECT k.to_url, k.url_key, k.host_key, k.bucket, k.from_url, k.from_host, k.anchor, k.rel, k.segment
FROM linkdb AS k
ANTI JOIN read_again AS r ON r.url = k.from_url
UNION ALL
SELECT to_url, url_key, host_key, bucket, from_url, from_host, anchor, rel, :segment AS segment
FROM current_links
