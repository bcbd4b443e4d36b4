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
SELECT
    w.*,
    p.host_place,
    coalesce(w.domain_hosts, :max_hosts_per_domain) AS hosts_allowed,
    coalesce(w.domain_limit, :max_per_domain) AS urls_allowed
FROM within_hosts AS w
JOIN host_places AS p ON p.host_key = w.host_key AND p.host = w.host

-- step: domain_ranked
SELECT *, row_number() OVER (PARTITION BY domain ORDER BY sort_value DESC, url_key) AS domain_rank
FROM placed
WHERE hosts_allowed < 0 OR host_place <= hosts_allowed

-- step: within_domains (kept)
SELECT * EXCLUDE (host_place, domain_rank, hosts_allowed, urls_allowed)
FROM domain_ranked
WHERE urls_allowed < 0 OR domain_rank <= urls_allowed

-- step: domain_cut_counts (kept)
SELECT
    (SELECT count(*) FROM placed WHERE hosts_allowed >= 0 AND host_place > hosts_allowed) AS hosts_per_domain,
    (SELECT count(*) FROM domain_ranked WHERE urls_allowed >= 0 AND domain_rank > urls_allowed) AS domain_limit
