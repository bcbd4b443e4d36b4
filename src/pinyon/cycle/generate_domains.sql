-- Limits of domains over what the limits of hosts left: hosts of a domain first, then its URLs.
-- A host's place among those of its domain is that of its best URL.
-- reads: within_hosts
-- params: max_hosts_per_domain, max_per_domain

-- step: host_places
SELECT
    host_key, host,
    row_number() OVER (PARTITION BY domain ORDER BY sort_value DESC, url_key) AS host_place
FROM within_hosts
WHERE host_rank = 1

-- step: placed
SELECT w.*, p.host_place
FROM within_hosts AS w
JOIN host_places AS p ON p.host_key = w.host_key AND p.host = w.host

-- step: domain_ranked
SELECT
    *,
    row_number() OVER (PARTITION BY domain ORDER BY sort_value DESC, url_key) AS domain_rank
FROM placed
WHERE :max_hosts_per_domain < 0 OR host_place <= :max_hosts_per_domain

-- step: within_domains (kept)
SELECT * EXCLUDE (host_place, domain_rank)
FROM domain_ranked
WHERE :max_per_domain < 0 OR domain_rank <= :max_per_domain

-- step: domain_cut_counts (kept)
SELECT
    (SELECT count(*) FROM placed WHERE :max_hosts_per_domain >= 0 AND host_place > :max_hosts_per_domain)
        AS hosts_per_domain,
    (SELECT count(*) FROM domain_ranked WHERE :max_per_domain >= 0 AND domain_rank > :max_per_domain) AS domain_limit
