-- Records of another crawler meet what is known, within one bucket: an imported record replaces a row.
-- reads: known, imported
-- fragments: key

-- step: latest_imported
-- Of two records with one key (two spellings of a host, say), the later one counts.
SELECT * EXCLUDE (line) FROM imported
QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY line DESC) = 1

-- step: merged (kept)
SELECT * FROM latest_imported
UNION ALL
SELECT k.* FROM known AS k ANTI JOIN latest_imported AS i ON i.{key} = k.{key}
