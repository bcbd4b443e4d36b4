-- Signatures that more than one URL has, or that had a duplicate before: of one part of all signatures.
-- reads: crawldb
-- params: part

-- step: shared_signatures (kept)
SELECT signature
FROM crawldb
WHERE signature IS NOT NULL
    AND status IN ('db_fetched', 'db_notmodified', 'db_duplicate')
    AND starts_with(hex(signature), :part)
GROUP BY signature
HAVING count(*) > 1 OR bool_or(status = 'db_duplicate')
