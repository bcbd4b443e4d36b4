-- One list: hosts of a domain, by their best URL, then its URLs, over what the limits of hosts left.
-- reads:

-- step: host_places
SELECT
    host_key, host,
    row_number() OVER (PARTITION BY domain ORDER BY sort_value DESC, url_key) AS host_place
FROM within_hosts
WHERE list_rank = 1 AND host_cut IS NULL

-- step: placed
SELECT
    w.*,
    p.host_place,
    coalesce(
        w.host_cut,
        CASE WHEN w.domain_hosts >= 0 AND p.host_place > w.domain_hosts THEN 'hosts_per_domain' END
    ) AS place_cut
FROM within_hosts AS w
LEFT JOIN host_places AS p ON p.host_key = w.host_key AND p.host = w.host

-- step: domain_ranked
SELECT
    *,
    CASE
        WHEN place_cut IS NULL
            THEN row_number() OVER (
                PARTITION BY domain, place_cut IS NULL ORDER BY sort_value DESC, url_key
            )
    END AS domain_rank
FROM placed

-- step: decided
SELECT
    * EXCLUDE (host_cut, place_cut),
    coalesce(place_cut, CASE WHEN domain_limit >= 0 AND domain_rank > domain_limit THEN 'domain_limit' END) AS cut
FROM domain_ranked
