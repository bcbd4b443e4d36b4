-- Whose policy is asked for: one host's, whether or not it has rows.
-- reads:
-- params: host, domain

-- step: hosts_asked
SELECT CAST(:host AS VARCHAR) AS host, CAST(:domain AS VARCHAR) AS domain
