-- Whose rows are asked: one URL's.
-- reads: crawldb
-- params: url

-- step: scoped
SELECT * FROM crawldb WHERE url = :url
