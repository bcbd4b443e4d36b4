-- Which of the new URLs do not enter, since their host or domain has enough: the best scores first.
-- Only the rows of hosts and domains that have too many are ever ranked.
-- reads: crawldb, entered
-- params: host_new, host_rows, domain_new, domain_rows, domain_hosts

-- step: population (kept)
-- What is there already, of the domains that new URLs belong to.
SELECT c.domain, c.host, count(*) AS urls
FROM crawldb AS c
SEMI JOIN entered AS e ON e.domain = c.domain
GROUP BY c.domain, c.host

-- step: host_room
SELECT
    e.host,
    least(
        coalesce(:host_new, count(*)),
        greatest(coalesce(:host_rows, 2 * count(*) + coalesce(max(p.urls), 0)) - coalesce(max(p.urls), 0), 0)
    ) AS room,
    count(*) AS entering
FROM entered AS e
LEFT JOIN population AS p ON p.host = e.host
GROUP BY e.host

-- step: ranked_in_hosts
SELECT
    e.url_key, e.url, e.bucket, r.room,
    row_number() OVER (PARTITION BY e.host ORDER BY e.score DESC, e.url_key, e.url) AS place
FROM entered AS e
JOIN host_room AS r ON r.host = e.host AND r.entering > r.room

-- step: over_hosts (kept)
SELECT url_key, url, bucket, CASE WHEN place > :host_new THEN 'host_new' ELSE 'host_rows' END AS reason
FROM ranked_in_hosts
WHERE place > room

-- step: left_by_hosts (kept)
SELECT e.*
FROM entered AS e
ANTI JOIN over_hosts AS o ON o.url_key = e.url_key AND o.url = e.url

-- step: new_hosts
-- A host's place among the new ones of its domain is that of its best URL.
SELECT
    w.domain, w.host,
    row_number() OVER (PARTITION BY w.domain ORDER BY max(w.score) DESC, w.host) AS place
FROM left_by_hosts AS w
ANTI JOIN population AS p ON p.host = w.host
GROUP BY w.domain, w.host

-- step: known_hosts
SELECT domain, count(*) AS hosts FROM population GROUP BY domain

-- step: surplus_hosts
SELECT n.host
FROM new_hosts AS n
LEFT JOIN known_hosts AS k ON k.domain = n.domain
WHERE n.place + coalesce(k.hosts, 0) > :domain_hosts

-- step: over_domain_hosts (kept)
SELECT w.url_key, w.url, w.bucket, 'domain_hosts' AS reason
FROM left_by_hosts AS w
SEMI JOIN surplus_hosts AS s ON s.host = w.host

-- step: left_by_domain_hosts (kept)
SELECT w.*
FROM left_by_hosts AS w
ANTI JOIN over_domain_hosts AS o ON o.url_key = w.url_key AND o.url = w.url

-- step: domain_population
SELECT domain, CAST(sum(urls) AS BIGINT) AS urls FROM population GROUP BY domain

-- step: domain_room
SELECT
    w.domain,
    least(
        coalesce(:domain_new, count(*)),
        greatest(coalesce(:domain_rows, 2 * count(*) + coalesce(max(p.urls), 0)) - coalesce(max(p.urls), 0), 0)
    ) AS room,
    count(*) AS entering
FROM left_by_domain_hosts AS w
LEFT JOIN domain_population AS p ON p.domain = w.domain
GROUP BY w.domain

-- step: ranked_in_domains
SELECT
    w.url_key, w.url, w.bucket, r.room,
    row_number() OVER (PARTITION BY w.domain ORDER BY w.score DESC, w.url_key, w.url) AS place
FROM left_by_domain_hosts AS w
JOIN domain_room AS r ON r.domain = w.domain AND r.entering > r.room

-- step: over_domains
SELECT url_key, url, bucket, CASE WHEN place > :domain_new THEN 'domain_new' ELSE 'domain_rows' END AS reason
FROM ranked_in_domains
WHERE place > room

-- step: surplus (kept)
SELECT * FROM over_hosts
UNION ALL
SELECT * FROM over_domain_hosts
UNION ALL
SELECT * FROM over_domains
