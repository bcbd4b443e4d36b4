-- One row with the answers of all rules, and the values of the names that expressions use.
-- reads:
-- fragments: names

-- step: judged_row (kept)
SELECT * FROM judged

-- step: names_of_row (kept)
SELECT {names} FROM seen_by_schedule AS c LEFT JOIN hostdb AS h ON h.host = c.host
