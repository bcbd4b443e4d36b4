-- The rows of one bucket that share their content.
-- reads: crawldb, shared

-- step: sharing_rows (kept)
SELECT c.url_key, c.url, c.bucket, c.status, c.score, c.first_seen, c.signature
FROM crawldb AS c
SEMI JOIN shared AS s ON s.signature = c.signature
WHERE c.status IN ('db_fetched', 'db_notmodified', 'db_duplicate')
