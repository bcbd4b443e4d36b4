-- Of the URLs of one content the best one stays, the others are its duplicates; of one part of all signatures.
-- reads: candidates
-- params: part
-- fragments: best_first

-- step: placed
SELECT
    *,
    row_number() OVER (PARTITION BY signature ORDER BY {best_first}, url_key, url) AS place
FROM candidates
WHERE starts_with(hex(signature), :part)

-- step: changed_marks (kept)
SELECT url_key, url, bucket, CASE WHEN place > 1 THEN 'db_duplicate' ELSE 'db_fetched' END AS new_status
FROM placed
WHERE (place > 1) <> (status = 'db_duplicate')

-- step: verdict_counts (kept)
SELECT
    count(*) FILTER (WHERE place = 1) AS contents,
    count(*) FILTER (WHERE place > 1) AS duplicates,
    count(*) FILTER (WHERE place > 1 AND status <> 'db_duplicate') AS marked,
    count(*) FILTER (WHERE place = 1 AND status = 'db_duplicate') AS unmarked
FROM placed
