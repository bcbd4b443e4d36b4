-- Whose rows are asked: everybody's.
-- reads: crawldb

-- step: scoped
SELECT * FROM crawldb
