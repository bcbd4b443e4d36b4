-- Contenders with their rank in their host, without those that no list can take: the same for a host of any size.
-- reads:
-- params: lists, together, mine_host

-- step: host_ranked
SELECT *, row_number() OVER (PARTITION BY host_key, host ORDER BY sort_value DESC, url_key) AS host_rank
FROM policies

-- step: contenders
-- URLs of a host are dealt to the lists in runs of `together`; our host keeps all of its own, for the
-- ranks that are told.
SELECT
    url_key, host, host_key, domain, sort_value, mine, host_limit, host_budget, domain_limit, domain_hosts, delay_ms,
    host_rank
FROM host_ranked
WHERE host = :mine_host
    OR NOT (
        (host_limit >= 0 AND (host_rank - 1) // (:together * :lists) * :together >= host_limit)
        OR coalesce(
            (:lists = 1 OR host_limit < 0)
            AND (host_rank - 1) // (:together * :lists) * :together >= host_budget,
            false
        )
    )
