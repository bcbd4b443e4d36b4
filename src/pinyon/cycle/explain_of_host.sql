-- Whose rows are asked: one host's.
-- reads: crawldb
-- params: host, host_key

-- step: scoped
SELECT * FROM crawldb WHERE host_key = :host_key AND host = :host
