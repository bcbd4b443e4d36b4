-- What an expression gives for all rows.
-- reads: crawldb, hostdb
-- params: shown
-- fragments: relation, key, value

-- step: values_given
SELECT {key} AS key, {value} AS value FROM {relation}

-- step: totals (kept)
SELECT
    count(*) AS rows, count(*) - count(value) AS nulls,
    min(TRY_CAST(value AS DOUBLE)) AS minimum, avg(TRY_CAST(value AS DOUBLE)) AS mean, max(TRY_CAST(value AS DOUBLE)) AS maximum
FROM values_given

-- step: commonest (kept)
SELECT value, count(*) AS rows FROM values_given WHERE value IS NOT NULL
GROUP BY value ORDER BY rows DESC, value LIMIT :shown

-- step: first_rows (kept)
SELECT key, value FROM values_given ORDER BY key LIMIT :shown
