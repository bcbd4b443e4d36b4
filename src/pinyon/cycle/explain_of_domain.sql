-- Whose rows are asked: all hosts' of one domain.
-- reads: crawldb
-- params: domain

-- step: scoped
SELECT * FROM crawldb WHERE domain = :domain
