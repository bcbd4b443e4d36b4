-- One list: nothing is said of domains.
-- reads:

-- step: decided
SELECT * EXCLUDE (host_cut), CAST(NULL AS BIGINT) AS host_place, CAST(NULL AS BIGINT) AS domain_rank, host_cut AS cut
FROM within_hosts
