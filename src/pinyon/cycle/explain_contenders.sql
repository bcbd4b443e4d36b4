-- Candidates that come no later than the last of ours: what becomes of a row depends on those before it alone.
-- reads:
-- params: mine_host, mine_url_key, last_value, last_key

-- step: hosts_asked
-- isnan: column statistics know nothing of NaN, and a comparison may be decided by them alone
SELECT
    url_key, host, host_key, domain, sort_value,
    host = :mine_host AND url_key = coalesce(:mine_url_key, url_key) AS mine
FROM judged
WHERE reason IS NULL
    AND CASE
        WHEN isnan(CAST(:last_value AS DOUBLE)) THEN isnan(sort_value) AND url_key <= :last_key
        ELSE isnan(sort_value) OR sort_value > :last_value OR (sort_value = :last_value AND url_key <= :last_key)
    END
