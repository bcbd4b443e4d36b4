-- One list: hosts are ranked over what is left for it.
-- reads: remaining

-- step: reranked
SELECT
    r.* EXCLUDE (host_rank),
    row_number() OVER (PARTITION BY host_key, host ORDER BY sort_value DESC, url_key) AS host_rank
FROM remaining AS r

-- step: host_judged (kept)
SELECT
    *,
    CASE
        WHEN host_limit >= 0 AND host_rank > host_limit THEN 'host_limit'
        WHEN host_rank > host_budget THEN 'time_budget'
    END AS cut
FROM reranked

-- step: host_cut_counts (kept)
SELECT cut AS reason, count(*) AS urls FROM host_judged WHERE cut IS NOT NULL GROUP BY cut
