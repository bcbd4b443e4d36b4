-- Where the rows lie that the reference placed, within one bucket.
-- reads: crawldb, placed_urls

-- step: placed
SELECT
    p.url_key, p.bucket, c.row_address, p.too_far, p.interval_now, p.fetch_delay_ms, p.not_before, p.list, p.part,
    p.position
FROM placed_urls AS p
JOIN crawldb AS c ON c.url_key = p.url_key AND c.url = p.url
