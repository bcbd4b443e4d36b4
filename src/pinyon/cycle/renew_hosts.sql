-- One bucket of the HostDb, with the domains that its hosts have now.
-- reads: hostdb, domains

-- step: renewed_hosts (kept)
SELECT h.* EXCLUDE (domain), coalesce(d.domain, h.domain) AS domain
FROM hostdb AS h
LEFT JOIN domains AS d ON d.host = h.host
